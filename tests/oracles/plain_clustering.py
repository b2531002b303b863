"""Clustering on random tables by labels, laws of all of it, and the best of a tiny table."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from kanon.algorithms.task import Task
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.reference.clustering import ClusterStep, k_member, oka
from kanon.reference.merging import kaca
from kanon.reference.table import PlainTable
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from support.random_tables import PlainTree, Problem, algorithms, problems
from support.reference_tables import (
    Labels,
    Merged,
    joined,
    moves_up,
    reference_table,
    result,
    scaled,
)

Cluster = list[Labels]


@dataclass
class Plain:
    """A table to cluster: the references by labels, and the loss of clusters by its definition."""

    problem: Problem
    depths: Sequence[Sequence]
    k: int
    weighted: bool = True
    seed: int = 0
    tie_seed: int | None = None

    @cached_property
    def table(self) -> PlainTable:
        how = self.k, self.weighted, self.tie_seed, self.seed
        return reference_table(self.problem, self.depths, *how)

    @cached_property
    def tuples(self) -> list[Labels]:
        """The classes in canonical order."""
        return list(self.problem.sizes)

    def cost(self, low: Labels, high: Labels) -> Any:
        """What raising one record from a tuple to another costs."""
        return self.table.cost(self.problem.numbers(low), self.problem.numbers(high))

    def records(self, cluster: Sequence[Labels]) -> int:
        return sum(self.problem.sizes[labels] for labels in cluster)

    def centre(self, cluster: Sequence[Labels]) -> Labels:
        return reduce(lambda one, other: joined(self.problem, one, other), cluster)

    def loss(self, cluster: Sequence[Labels]) -> Any:
        """What raising every record of a cluster to its centre costs."""
        centre = self.centre(cluster)
        return sum(self.cost(labels, centre) * self.problem.sizes[labels] for labels in cluster)

    def targets(self, clusters: Sequence[Cluster]) -> dict[Labels, Labels]:
        """Per tuple the centre of its cluster."""
        found = {labels: self.centre(cluster) for cluster in clusters for labels in cluster}
        return {labels: found[labels] for labels in self.tuples}

    # The algorithms

    def by_labels(self, clusters: Sequence[Sequence[int]]) -> list[Cluster]:
        """The clusters in the order begun, without those merged into others."""
        return [[self.tuples[each] for each in members] for members in clusters if members]

    @cached_property
    def steps_of_oka(self) -> list[ClusterStep]:
        return list(oka(self.table))

    def k_member(self) -> list[Cluster]:
        return self.by_labels([*k_member(self.table)][-1].clusters)

    def oka(self) -> list[Cluster]:
        return self.by_labels(self.steps_of_oka[-1].clusters)

    def one_pass(self) -> list[Cluster]:
        """OKA's clusters of any size."""
        passed = [step for step in self.steps_of_oka if step.kind in ("seeds", "pass")]
        return self.by_labels(passed[-1].clusters)

    def given_away(self) -> list[Labels]:
        """What OKA's clusters above k lose."""
        gone = [step.members[0] for step in self.steps_of_oka if step.kind == "leave"]
        return [self.tuples[each] for each in sorted(gone)]

    def kaca(self) -> Merged:
        return Merged(self.problem, self.table.originals, list(kaca(self.table)))


def plain(problem: Problem, chosen: dict[str, Any], k: int, seed: int = 0) -> Plain:
    """The plain version of :func:`task_of`."""
    how = chosen["cost"] == "weighted", seed, chosen["tie_seed"]
    return Plain(problem, scaled(problem, chosen), k, *how)


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


# --- Laws ---------------------------------------------------------------------------------------
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


def check_nothing_changes(module: ModuleType, task: Task) -> None:
    """What was handed over is as before, and a second run gives the same."""
    kept = [task.classes.nodes, task.classes.counts, *task.potentials]
    kept += [getattr(t, name) for t in task.classes.hierarchies for name in ("parent", "level")]
    copies = [array.copy() for array in kept]
    first, second = module.anonymise(task), module.anonymise(task)
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))
    assert np.array_equal(first.targets, second.targets)
    assert first.trace.steps == second.trace.steps


# --- The best that can be -----------------------------------------------------------------------
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


# --- Tables by hand -----------------------------------------------------------------------------
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
