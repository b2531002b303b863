"""Greedy merging by its definition, with exact costs, and what a release has to be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.hierarchy.scaled_potentials import scaled_potentials
from kanon.kernels.hashing import tuple_hashes
from kanon.metrics import exact_potentials, metric_named
from kanon.recoding import Recoding
from support.random_tables import (
    PlainTree,
    Problem,
    algorithms,
    problems,
)

Labels = tuple[str, ...]


Cost = Callable[[Labels, Labels], int | Fraction]


def rank(problem: Problem, labels: Labels, tie_seed: int | None) -> tuple[int, Labels]:
    """The place of a class among ties: canonical order, or first the hash of seed and tuple."""
    numbers = problem.numbers(labels)
    if tie_seed is None:
        return 0, numbers
    return int(tuple_hashes(np.array([numbers], dtype=np.int32), tie_seed)[0]), numbers


def joined(problem: Problem, one: Labels, other: Labels) -> Labels:
    """The tuple of lowest common ancestors."""
    return tuple(t.lca(x, y) for t, x, y in zip(problem.trees, one, other, strict=True))


def merged(
    problem: Problem, cost: Cost, k: int, weighted: bool, tie_seed: int | None, small: bool = False
) -> dict[Labels, Labels]:
    """GAA by its definition: per original class the tuple it ends in.

    ``cost`` is what raising one record from a tuple to another costs.
    """
    classes = dict(problem.sizes)
    at = {labels: labels for labels in classes}

    def order(labels: Labels) -> tuple[int, Labels]:
        return rank(problem, labels, tie_seed)

    while any(size < k for size in classes.values()):
        below = [labels for labels, size in classes.items() if size < k]
        if small:
            chosen = min(below, key=order)
            others = [x for x in below if x != chosen] or [x for x in classes if x != chosen]
        else:
            chosen = min(classes, key=lambda x: (classes[x], order(x)))
            others = [x for x in classes if x != chosen]

        def merge_cost(other: Labels, chosen: Labels = chosen) -> int | Fraction:
            target = joined(problem, chosen, other)
            own, its = (classes[chosen], classes[other]) if weighted else (1, 1)
            return cost(chosen, target) * own + cost(other, target) * its

        partner = min(others, key=lambda x: (merge_cost(x), order(x)))
        target = joined(problem, chosen, partner)
        size = classes.pop(chosen) + classes.pop(partner)
        classes[target] = classes.get(target, 0) + size  # a third class of this tuple joins
        at = {x: target if now in (chosen, partner) else now for x, now in at.items()}
    return at


def scaled(problem: Problem, chosen: dict) -> tuple[np.ndarray, ...]:
    weights = chosen.get("attribute_weights", {})
    return scaled_potentials(
        exact_potentials(metric_named(chosen["metric"]), problem.hierarchies),
        len(problem.rows),
        [weights.get(column, 1.0) for column in problem.columns],
    )


def integer_cost(problem: Problem, depths: tuple[np.ndarray, ...]) -> Cost:
    """The cost by the scaled integers that kanon uses, with Python's own integers."""
    found = [
        dict(zip(tree.order, map(int, depth), strict=True))
        for tree, depth in zip(problem.trees, depths, strict=True)
    ]
    return lambda low, high: sum(d[x] - d[y] for d, x, y in zip(found, low, high, strict=True))


def task(problem: Problem, chosen: dict, k: int) -> Task:
    weighted = chosen["cost"] == "weighted"
    depths = scaled(problem, chosen)
    return Task(problem.classes(), depths, k, weighted, chosen["tie_seed"])


def result(problem: Problem, recoding: Recoding) -> dict[Labels, Labels]:
    """Per original class its released tuple, by labels."""
    return {
        labels: tuple(tree.order[v] for tree, v in zip(problem.trees, target, strict=True))
        for labels, target in zip(problem.sizes, recoding.targets.tolist(), strict=True)
    }


@st.composite
def cases(draw, **kwargs):
    problem = draw(problems(**kwargs))
    return problem, draw(algorithms(problem))


def worked() -> Problem:
    gender = PlainTree({"*": None, "F": "*", "M": "*"}, {"F": 5, "M": 5})
    race = PlainTree(
        {"Mammal": None, "Felid": "Mammal", "Dog": "Mammal", "Cat": "Felid", "Lion": "Felid"},
        {"Cat": 1, "Lion": 1, "Dog": 4, "Felid": 3},
    )
    rows = ["F Lion", "F Dog", "F Lion", "F Dog", "M Cat", "M Cat", "M Lion", "M Lion"]
    return Problem((gender, race), tuple(tuple(row.split()) for row in rows))


def moves_up(problem: Problem, low: Labels, high: Labels) -> bool:
    return all(y in tree.paths[x] for tree, x, y in zip(problem.trees, low, high, strict=True))
