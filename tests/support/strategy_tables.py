"""Tables on which strategies choose differently, and the merges of a path."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from kanon.algorithms.task import Task
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import exact_potentials
from kanon.recoding import MergePath
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from support.random_tables import PlainTree, Problem, metric_of
from support.reference_tables import Labels


def source_of(problem: Problem, values: Sequence[str | None]) -> MemorySource:
    """The table with a sensitive column."""
    frame = problem.frame().assign(ill=pd.Series(list(values), dtype=object))
    roles = {**dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER), "ill": Role.SENSITIVE}
    return MemorySource(
        frame, Schema(roles), dict(zip(problem.columns, problem.hierarchies, strict=True))
    )


def task_of(
    problem: Problem,
    values: Sequence[str | None],
    strategy: str = "s1",
    scope: str = "table",
    k: int | None = None,
    **chosen: Any,
) -> Task:
    """A task as a plan with these choices gives it."""
    weights = chosen.get("attribute_weights", {})
    depths = scale_potentials(
        exact_potentials(metric_of(chosen.get("metric", "custom")), problem.hierarchies),
        len(problem.rows),
        [weights.get(column, 1.0) for column in problem.columns],
    )
    return Task(
        source_of(problem, values).classes,
        depths,
        k or len(problem.rows),
        chosen.get("cost", "weighted") == "weighted",
        chosen.get("tie_seed"),
        strategy,
        scope,
        "ill",
    )


def merges_of(problem: Problem, path: MergePath) -> list[tuple[Labels, Labels, Labels | None]]:
    """The merges of a path by labels."""

    def labels(each: int) -> Labels | None:
        if each < 0:
            return None
        return tuple(t.order[v] for t, v in zip(problem.trees, path.nodes[each], strict=True))

    return [tuple(map(labels, parts)) for parts in path.parts.tolist()]


ILLS = ("Cold", "Bronchitis", "Cold", "Conjunctivitis", "Broken paw", "Broken paw", "Angina",
        "Bronchitis")  # fmt: skip


def star(costs: dict[str, float], mixes: dict[str, str]) -> tuple[Problem, list[str]]:
    """Values under one root, each with a cost and the sensitive values of its records.

    With one representative per class a merge costs the sum of both: what they pay to the root.
    """
    tree = PlainTree({"*": None, **dict.fromkeys(costs, "*")}, costs)
    rows = [(name,) for name, mix in mixes.items() for _ in mix]
    return Problem((tree,), tuple(rows)), [value for mix in mixes.values() for value in mix]
