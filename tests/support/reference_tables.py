"""Random tables as tasks of the fast algorithms and as tables of the references."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.kernels.hashing import hash_tuples
from kanon.metrics import exact_potentials, metric_named
from kanon.recoding import Recoding
from kanon.reference.merging import PlainMerge, merge, pick_first, pick_smallest
from kanon.reference.table import Group, PlainTable
from support.random_tables import PlainTree, Problem, algorithms, edge_weights, path_cost, problems

Labels = tuple[str, ...]
Rows = tuple[int, ...]
Cost = Callable[[Labels, Labels], int | Fraction]


def rank(problem: Problem, labels: Labels, tie_seed: int | None) -> tuple[int, Labels]:
    """The place of a class among ties: canonical order, or first the hash of seed and tuple."""
    numbers = problem.numbers(labels)
    if tie_seed is None:
        return 0, numbers
    return int(hash_tuples(np.array([numbers], dtype=np.int32), tie_seed)[0]), numbers


def joined(problem: Problem, one: Labels, other: Labels) -> Labels:
    """The tuple of lowest common ancestors."""
    return tuple(t.lca(x, y) for t, x, y in zip(problem.trees, one, other, strict=True))


def scaled(problem: Problem, chosen: dict) -> tuple[np.ndarray, ...]:
    weights = chosen.get("attribute_weights", {})
    return scale_potentials(
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


def chosen_task(problem: Problem, chosen: dict, k: int, **more: Any) -> Task:
    return Task(problem.classes(), scaled(problem, chosen), k, **more)


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


# --- As the references take them ----------------------------------------------------------------
def labels_of(problem: Problem, nodes: Iterable[int]) -> Labels:
    return tuple(tree.order[node] for tree, node in zip(problem.trees, nodes, strict=True))


def exact_depths(
    problem: Problem, metric: str, weights: Sequence[float] | None = None
) -> list[list[Fraction]]:
    """Per quasi-identifier and node what a record pays to be raised to the root, by definition."""
    columns = zip(
        problem.trees, edge_weights(metric, problem.trees), weights or [1] * 99, strict=False
    )
    return [
        [Fraction(weight) * path_cost(tree, edges, node, tree.root) for node in tree.order]
        for tree, edges, weight in columns
    ]


def rows_of_classes(problem: Problem, members: Iterable[int]) -> Rows:
    """The rows of some classes."""
    labels = list(problem.sizes)
    chosen = {labels[each] for each in members}
    return tuple(row for row, own in enumerate(problem.rows) if own in chosen)


def reference_table(
    problem: Problem, depths: Sequence[Sequence], k: int, weighted: bool = True,
    tie_seed: int | None = None, seed: int = 0, values: Sequence[Hashable] = (),
    breaks: Callable[[Rows], bool] = lambda rows: False,
) -> PlainTable:  # fmt: skip
    """A table; what the rows of a class break, and their sensitive values, if they have some."""
    classes = range(len(problem.sizes)) if values else ()
    return PlainTable(
        problem.hierarchies,
        [problem.numbers(labels) for labels in problem.sizes],
        list(problem.sizes.values()),
        [[cost if isinstance(cost, Fraction) else int(cost) for cost in row] for row in depths],
        k,
        weighted,
        seed,
        lambda nodes: rank(problem, labels_of(problem, nodes), tie_seed),
        lambda members: breaks(rows_of_classes(problem, members)),
        [Counter(values[row] for row in rows_of_classes(problem, [size])) for size in classes],
    )


@dataclass
class Merged:
    """The merges of a reference, and what came out, by labels."""

    problem: Problem
    begun: Sequence[Group]
    steps: Sequence[PlainMerge]

    @property
    def groups(self) -> Sequence[Group]:
        return self.steps[-1].after if self.steps else self.begun

    @property
    def merges(self) -> list[tuple[Labels | None, ...]]:
        """The tuples that were merged: the chosen one, its partner, a third one or None."""
        return [
            tuple(each and labels_of(self.problem, each.nodes)
                  for each in (step.picked, step.partner, step.third))
            for step in self.steps
        ]  # fmt: skip

    @property
    def ties(self) -> bool:
        """Whether a choice was made by the order of ties alone."""
        return any(
            [each.records for each in step.breaking_classes].count(step.picked.records) > 1
            or [each.key[:-1] for each in step.partners].count(
                min(step.partners, key=lambda each: each.key).key[:-1]
            )
            > 1
            for step in self.steps
        )

    @property
    def at(self) -> dict[Labels, Labels]:
        """Per original class its released tuple."""
        now = {each: group.nodes for group in self.groups for each in group.members}
        classes = enumerate(self.problem.sizes)
        return {labels: labels_of(self.problem, now[each]) for each, labels in classes}

    @property
    def released(self) -> dict[int, Labels]:
        """Per record its tuple."""
        return {row: self.at[labels] for row, labels in enumerate(self.problem.rows)}


@dataclass(frozen=True)
class Greedy:
    """What guides the merging of a table; as in a task."""

    problem: Problem
    values: Sequence[Hashable]
    strategy: str = "s1"
    scope: str = "table"
    weighted: bool = True
    tie_seed: int | None = None
    attribute_weights: Sequence[float] | None = None
    metric: str = "custom"

    def table(self, k: int = 0) -> PlainTable:
        depths = exact_depths(self.problem, self.metric, self.attribute_weights)
        how = k, self.weighted, self.tie_seed
        return reference_table(self.problem, depths, *how, values=self.values)

    def merge(
        self, breaks: Callable[[Rows], bool], small: int = 0, begun: Sequence[Group] = ()
    ) -> Merged:
        """Merge while a class breaks what has to hold; among those below ``small`` as in 2020."""
        table = self.table(small)
        steps = merge(
            table,
            begun or table.originals,
            lambda group: breaks(rows_of_classes(self.problem, group.members)),
            pick_first(table) if small else pick_smallest(table),
            self.strategy,
            self.scope,
            bool(small),
        )
        return Merged(self.problem, begun or table.originals, list(steps))
