"""Clustering by its definitions, in lists of labels and Python's own integers: slow and obvious.

A cluster is the list of the tuples in it. What widening it costs is not a formula on its centre
here: it is the loss of all its records after less that before. Besides, the laws that all
clustering algorithms keep, and the best that any partition of a tiny table can do.

The draws are part of the definition: ``numpy.random.default_rng(seed)`` draws numbers of records,
which stand in canonical order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from support.random_tables import PlainTree, Problem, algorithms, problems
from support.reference_tables import (
    Cost,
    Labels,
    integer_cost,
    joined,
    moves_up,
    rank,
    result,
    scaled,
)

Cluster = list[Labels]


@dataclass
class Plain:
    """A table to cluster.

    Attributes
    ----------
    problem
        The table.
    cost
        What raising one record from a tuple to another costs.
    k, weighted, seed, tie_seed
        As in a task.
    """

    problem: Problem
    cost: Cost
    k: int
    weighted: bool = True
    seed: int = 0
    tie_seed: int | None = None
    generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng(self.seed)

    @cached_property
    def tuples(self) -> list[Labels]:
        """The classes in canonical order."""
        return list(self.problem.sizes)

    def records(self, cluster: Sequence[Labels]) -> int:
        return sum(self.problem.sizes[labels] for labels in cluster)

    def centre(self, cluster: Sequence[Labels]) -> Labels:
        return reduce(lambda one, other: joined(self.problem, one, other), cluster)

    def loss(self, cluster: Sequence[Labels]) -> Any:
        """What raising every record of a cluster to its centre costs."""
        centre = self.centre(cluster)
        return sum(self.cost(labels, centre) * self.problem.sizes[labels] for labels in cluster)

    def widening(self, cluster: Sequence[Labels], other: Sequence[Labels]) -> Any:
        """By how much the loss grows when two clusters become one."""
        if self.weighted:
            return self.loss([*cluster, *other]) - self.loss(cluster) - self.loss(other)
        return self.apart(self.centre(cluster), self.centre(other))

    def apart(self, one: Labels, other: Labels) -> Any:
        """The distance of two records."""
        met = joined(self.problem, one, other)
        return self.cost(one, met) + self.cost(other, met)

    def in_drawn_order(self, tuples: Sequence[Labels]) -> list[Labels]:
        """Tuples in the order in which their records come up when all are drawn."""
        records = [labels for labels in tuples for _ in range(self.problem.sizes[labels])]
        drawn = [records[i] for i in self.generator.permutation(len(records))]
        return list(dict.fromkeys(drawn))

    def nearest(self, clusters: Sequence[Cluster], other: Sequence[Labels]) -> Cluster:
        return min(clusters, key=lambda cluster: self.widening(cluster, other))

    def targets(self, clusters: Sequence[Cluster]) -> dict[Labels, Labels]:
        """Per tuple the centre of its cluster."""
        found = {labels: self.centre(cluster) for cluster in clusters for labels in cluster}
        return {labels: found[labels] for labels in self.tuples}

    # The algorithms

    def k_member(self) -> list[Cluster]:
        """The clusters in the order made, each with its tuples in the order taken."""
        records = [labels for labels in self.tuples for _ in range(self.problem.sizes[labels])]
        start = records[self.generator.integers(len(records))]
        left, clusters = list(self.tuples), []
        while self.records(left) >= self.k:
            start = max(left, key=lambda labels: self.apart(labels, start))
            cluster = [start]
            left.remove(start)
            while self.records(cluster) < self.k:
                best = min(left, key=lambda labels: self.widening(cluster, [labels]))
                cluster.append(best)
                left.remove(best)
            clusters.append(cluster)
        for labels in self.in_drawn_order(left):
            self.nearest(clusters, [labels]).append(labels)
        return clusters

    def one_pass(self) -> list[Cluster]:
        """OKA's clusters of any size."""
        drawn = self.in_drawn_order(self.tuples)[: len(self.problem.rows) // self.k]
        clusters = [[labels] for labels in drawn]
        for labels in self.tuples:
            if labels not in drawn:
                self.nearest(clusters, [labels]).append(labels)
        return clusters

    def given_away(self, clusters: list[Cluster]) -> list[Labels]:
        """What OKA's clusters above k lose; it is taken out of them."""
        gone = []
        for cluster in clusters:
            if self.records(cluster) <= self.k or len(cluster) == 1:
                continue
            members = sorted(cluster, key=self.problem.numbers)

            def far(one: Labels, members: Cluster = members) -> Any:
                return self.widening([x for x in members if x != one], [one])

            for labels in sorted(members, key=lambda one: -far(one)):
                if self.records(cluster) - self.problem.sizes[labels] >= self.k:
                    cluster.remove(labels)
                    gone.append(labels)
        return sorted(gone, key=self.problem.numbers)

    def oka(self) -> list[Cluster]:
        """The clusters in the order begun, without those merged into others."""
        clusters = self.one_pass()
        for labels in self.in_drawn_order(self.given_away(clusters)):
            small = [cluster for cluster in clusters if self.records(cluster) < self.k]
            self.nearest(small or clusters, [labels]).append(labels)
        for cluster in clusters:
            others = [each for each in clusters if each is not cluster and each]
            if self.records(cluster) < self.k and others:
                self.nearest(others, cluster).extend(cluster)
                cluster.clear()
        return [cluster for cluster in clusters if cluster]

    def kaca(self) -> tuple[list[tuple[Labels, Labels, Labels | None]], dict[Labels, Labels]]:
        """The merges (drawn, nearest, a third one of the same tuple), and per tuple its release."""
        classes = dict(self.problem.sizes)  # in canonical order; what is made goes to the end
        at = {labels: labels for labels in classes}
        merges = []
        while small := [labels for labels, size in classes.items() if size < self.k]:
            chosen = small[self.generator.integers(len(small))]

            def key(other: Labels, chosen: Labels = chosen) -> tuple[Any, Any]:
                met = joined(self.problem, chosen, other)
                own, its = (classes[chosen], classes[other]) if self.weighted else (1, 1)
                far = own * self.cost(chosen, met) + its * self.cost(other, met)
                return far, rank(self.problem, other, self.tie_seed)

            other = min((labels for labels in classes if labels != chosen), key=key)
            met = joined(self.problem, chosen, other)
            size = classes.pop(chosen) + classes.pop(other)
            third = met if met in classes else None
            size += classes.pop(met, 0)
            classes[met] = size
            at = {low: met if now in (chosen, other) else now for low, now in at.items()}
            merges.append((chosen, other, third))
        return merges, at


def plain(problem: Problem, chosen: dict[str, Any], k: int, seed: int = 0) -> Plain:
    """The plain version of :func:`task_of`."""
    cost = integer_cost(problem, scaled(problem, chosen))
    return Plain(problem, cost, k, chosen["cost"] == "weighted", seed, chosen["tie_seed"])


def task_of(problem: Problem, chosen: dict[str, Any], k: int, seed: int = 0) -> Task:
    """The task as kanon takes it."""
    return Task(
        problem.classes(),
        scaled(problem, chosen),
        k,
        chosen["cost"] == "weighted",
        chosen["tie_seed"],
        seed=seed,
    )


def clusters_of(problem: Problem, of: np.ndarray) -> list[set[Labels]]:
    """Per cluster, in their order, the tuples in it."""
    found: dict[int, set[Labels]] = {number: set() for number in sorted(set(of.tolist()))}
    for labels, number in zip(problem.sizes, of.tolist(), strict=True):
        found[number].add(labels)
    return list(found.values())


# Laws


def source_of(problem: Problem, frame: pd.DataFrame) -> MemorySource:
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    return MemorySource(frame, Schema(dict.fromkeys(trees, Role.QUASI_IDENTIFIER)), trees)


def check_release(problem: Problem, k: int, recoding: Recoding) -> None:
    """k records in every class, nobody lost, values only move up, whole classes stay together."""
    released = source_of(problem, problem.frame()).release(recoding)
    rows = [tuple(row) for row in released.itertuples(index=False, name=None)]
    assert len(rows) == len(problem.rows)
    assert min(Counter(rows).values()) >= k
    together: dict[Labels, Labels] = {}
    for low, high in zip(problem.rows, rows, strict=True):
        assert moves_up(problem, low, high)
        assert together.setdefault(low, high) == high, "a whole class moves"


def check_order_of_rows(
    module: ModuleType, problem: Problem, task: Task, order: Sequence[int]
) -> None:
    """The rows in another order, under the same seed: every row is released as before."""
    frame = problem.frame()
    one, two = source_of(problem, frame), source_of(problem, frame.iloc[list(order)])
    first, second = (
        source.release(
            module.anonymise(
                Task(source.classes, task.potentials, task.k, task.weighted, seed=task.seed)
            )
        ).to_numpy()
        for source in (one, two)
    )
    assert second.tolist() == first[list(order)].tolist()


def check_nothing_changes(module: ModuleType, task: Task) -> None:
    """What was handed over is as before, and a second run gives the same."""
    kept = [task.classes.nodes, task.classes.counts, *task.potentials]
    kept += [getattr(t, name) for t in task.classes.hierarchies for name in ("parent", "level")]
    copies = [array.copy() for array in kept]
    first, second = module.anonymise(task), module.anonymise(task)
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))
    assert np.array_equal(first.targets, second.targets)
    assert first.trace.steps == second.trace.steps


# The best that can be


def partitions(items: Sequence[Labels]) -> Iterator[list[Cluster]]:
    """Every way to put tuples together."""
    if not items:
        yield []
        return
    head, *rest = items
    for found in partitions(rest):
        yield [[head], *found]
        for i, block in enumerate(found):
            yield [*found[:i], [head, *block], *found[i + 1 :]]


def least_loss(plain: Plain) -> Any:
    """The loss of the best partition in which every part holds k records."""
    return min(
        sum(map(plain.loss, blocks))
        for blocks in partitions(plain.tuples)
        if all(plain.records(block) >= plain.k for block in blocks)
    )


def loss_of(plain: Plain, recoding: Recoding) -> Any:
    """The loss of a release."""
    return sum(
        plain.cost(low, high) * plain.problem.sizes[low]
        for low, high in result(plain.problem, recoding).items()
    )


def loss_by_task(task: Task, recoding: Recoding) -> int:
    """The loss of a release, for tables that are too large for the slow way."""
    return sum(
        int(((depth[low] - depth[high]) * task.classes.counts).sum())
        for depth, low, high in zip(
            task.potentials, task.classes.nodes.T, recoding.targets.T, strict=True
        )
    )


# Tables by hand


def worked_table() -> tuple[Problem, tuple[np.ndarray, ...]]:
    """Seven records, ``a`` once and ``b``, ``c``, ``d`` twice, with what raising each costs.

    ::

        *── 3 ──A── 1 ──a, b, c
        └── 5 ──B── 1 ──d, e (e does not occur)

    So two of a, b, c are 2 apart per record (1 + 1), and each of them is 10 from d (4 + 6).
    """
    tree = PlainTree(
        {"*": None, "A": "*", "B": "*", "a": "A", "b": "A", "c": "A", "d": "B", "e": "B"}
    )
    assert tree.order == ["a", "b", "c", "d", "e", "A", "B", "*"]
    problem = Problem((tree,), tuple((value,) for value in "abbccdd"))
    return problem, (np.array([4, 4, 4, 6, 6, 3, 5, 0], dtype=np.int64),)


def told(problem: Problem, recoding: Recoding) -> str:
    """Per value of a table of one column its release: ``a:A b:*``."""
    return " ".join(f"{low}:{high}" for (low,), (high,) in result(problem, recoding).items())


def seed_where(wanted: Callable[[np.random.Generator], bool]) -> int:
    """The first seed whose draws are as wanted."""
    return next(seed for seed in range(10**5) if wanted(np.random.default_rng(seed)))


def seed_that_draws(*draws: tuple[int, int]) -> int:
    """A seed that draws these, each given as (which one, of how many)."""
    return seed_where(lambda generator: all(generator.integers(of) == one for one, of in draws))


def seed_with_order(problem: Problem, *first: str) -> int:
    """A seed by which the values of a table of one column come up first in this order."""

    def fits(generator: np.random.Generator) -> bool:
        records = [label for (label,), size in problem.sizes.items() for _ in range(size)]
        drawn = dict.fromkeys(records[i] for i in generator.permutation(len(records)))
        return tuple(drawn)[: len(first)] == first

    return seed_where(fits)


@st.composite
def cases(draw: st.DrawFn, **kwargs: int) -> tuple[Problem, dict[str, Any], int, int]:
    """A table, the choices of an algorithm, a k and a seed."""
    problem = draw(problems(**kwargs))
    chosen = {**draw(algorithms(problem)), "tie_seed": None}
    return problem, chosen, draw(st.integers(1, len(problem.rows))), draw(st.integers(0, 99))


def many_tuples() -> tuple[Problem, dict[str, Any]]:
    """A hundred tuples of two columns."""
    values = {f"v{i}": f"g{i % 4}" for i in range(14)}
    tree = PlainTree({"*": None, **{f"g{i}": "*" for i in range(4)}, **values})
    rows = np.random.default_rng(1).integers(0, 14, (150, 2)).tolist()
    problem = Problem((tree, tree), tuple(tuple(f"v{i}" for i in row) for row in rows))
    return problem, {"metric": "nllm", "cost": "weighted", "tie_seed": None}


def check_other_models(name: str, problem: Problem, k: int, values: Sequence[str]) -> None:
    """A plan with two models more: every released class has two values, and none of 70 %."""
    plan = problem.plan(k, name=name, seed=7)
    plan["columns"]["ill"] = {"role": "sensitive"}
    plan["privacy"] += [
        {"model": "distinct-l-diversity", "l": 2},
        {"model": "alpha-k-anonymity", "alpha": 0.7, "k": 2},
    ]
    frame = problem.frame().assign(ill=list(values))
    done = run(Plan.from_content(plan), frame)
    released = done.released()
    assert len(released) == len(frame)
    for _, rows in released.groupby(problem.columns):
        shares = rows["ill"].value_counts(normalize=True)
        assert len(rows) >= k
        assert len(shares) >= 2
        assert shares.max() <= 0.7
