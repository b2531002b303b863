"""Every algorithm on Adult and on a table of numbers; three searches over the papers' k."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from benchmarks.algorithms.shapes import shaped
from benchmarks.case import CaseError
from benchmarks.fresh import ROOT
from benchmarks.plans import adult_content, content
from benchmarks.provenance import machine
from kanon.algorithms.catalogue import algorithm_named, algorithms, check_task, short_title, uses
from kanon.algorithms.gaa import PARTS
from kanon.algorithms.lattice_size import count_lattice_nodes
from kanon.algorithms.mdav import RANGES
from kanon.algorithms.mondrian import SETS
from kanon.algorithms.search import LOSS
from kanon.base.progress import ignore_progress
from kanon.errors import PlanError
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.searches import Searches, measure_searches
from kanon.hierarchy.files import to_nodes
from kanon.measures import alteration, general_loss
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.plan_parts import get_own_parameters
from kanon.recoding import Recoding
from kanon.run import PreparedRun, prepare
from kanon.schema import Role
from kanon.sources.opening import open_table
from kanon.studio.session.samples import SAMPLES

__all__ = [
    "GUIDE",
    "KS",
    "LEAST_LOSS",
    "LIMITS",
    "MEASURED",
    "NUMBERS",
    "SEARCHED",
    "SEARCH_LIMITS",
    "Findings",
    "Result",
    "Side",
    "Way",
    "measure",
    "side_by_side",
    "ways",
]

KS = (2, 5, 10, 100, 1000)
LIMITS = (0.0, 0.05)
"""The shares of the records that searches may suppress."""

GUIDE = "nllm"
"""The metric that guides the algorithms that one guides."""

SEARCH_LIMITS = (0.0, 0.01, 0.05, 0.1)
"""The shares of the records that the three searches may suppress."""

SEARCHED = ("Adult", "Adult in the published heights", "Census sample")
"""What the three searches run on."""

SEARCHED_BY = "iloss"
_BY_ILOSS = {SEARCHED_BY: {"intermediate": "other-leaves-normalised", "multiplier": "none"}}
"""The metric of Samarati's choice in the experiment: it counts as iloss does."""

MEASURED = (*PUBLISHED, "entropy")

CENSUS = "census"
NUMBERS = ("age", "household-size")
"""The numeric columns of the census sample."""

LEAST_LOSS = ("flash", "incognito", "ola", "optimal")
"""The searches that all find the node of least loss."""

NOT_RUN = ("levels", "optimal-local")
"""One whose levels are chosen by hand, and one for small tables alone."""

TAKES_MINUTES = ("lattice-sweep", "closest")
"""A choice that takes minutes per k; the case adult-least-loss measures it."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Way:
    """An algorithm with its choices.

    Attributes
    ----------
    algorithm
        Its name.
    limit
        The share of the records that it may suppress; None where it suppresses nothing, or as many
        as it does if nobody says.
    parameter, choice
        One of its own parameters, chosen otherwise than it is by itself.
    """

    algorithm: str
    limit: float | None = None
    parameter: str = ""
    choice: str = ""

    @property
    def title(self) -> str:
        """What it is called in a table."""
        chosen = f", {self.parameter} {self.choice}" if self.parameter else ""
        return short_title(self.algorithm) + chosen

    @property
    def allowed(self) -> str:
        """How much it may suppress."""
        if self.limit is not None:
            return f"{100 * self.limit:g} %"
        return "k records" if self.suppresses else ""

    @property
    def suppresses(self) -> bool:
        """Whether it may suppress records."""
        return uses(self.algorithm, "suppression") and self.limit != 0

    @property
    def groups(self) -> bool:
        """Whether what it releases are groups of the hierarchies, not ranges."""
        return self.algorithm != "mdav" and self.choice != "ranges"


@dataclass(frozen=True)
class Result:
    """What one algorithm came to at one k.

    Attributes
    ----------
    alteration
        Per metric of :data:`MEASURED`, in percent.
    general_loss
        In percent.
    classes, min_k, suppressed
        Of the release; ``min_k`` is 0 if no class is left.
    seconds
        Of the algorithm alone.
    evaluated
        How many nodes of the lattice it counted the classes of; 0 if it searches none.
    node
        The level of each column, of a full-domain release.
    """

    alteration: Mapping[str, float]
    general_loss: float
    classes: int
    min_k: int
    suppressed: int
    seconds: float
    evaluated: int
    node: tuple[int, ...] | None

    @property
    def mean(self) -> float:
        """The mean alteration over the seven metrics."""
        return alteration.compute_mean_alteration(self.alteration)


@dataclass(frozen=True, eq=False)
class Side:
    """All algorithms on one table.

    Attributes
    ----------
    results
        Per way and k.
    refused
        Per algorithm that cannot run on the table the sentence that says why.
    records, classes, nodes
        Of the table and its lattice.
    """

    results: Mapping[tuple[Way, int], Result]
    refused: Mapping[str, str]
    records: int
    classes: int
    nodes: int

    @property
    def ways(self) -> list[Way]:
        """What was run, in its order."""
        return list(dict.fromkeys(way for way, _ in self.results))

    @property
    def ks(self) -> list[int]:
        """The k, rising."""
        return sorted({k for _, k in self.results})


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    adult, numbers
        All algorithms on Adult, and on the numeric columns of the census sample.
    searches
        Per table and share that may be suppressed: Improved greedy, Samarati and Datafly over k.
    seconds
        How long all that took.
    machine
        What it ran on, as busy as it was before.
    """

    adult: Side
    numbers: Side
    searches: Mapping[tuple[str, float], Searches]
    seconds: float
    machine: str


def measure(
    table: pd.DataFrame,
    ks: Sequence[int] = KS,
    paper_k: Sequence[int] = PAPER_K,
    progress: Tell = lambda doing: None,
) -> Findings:
    """Run all algorithms.

    Parameters
    ----------
    table
        Adult.
    ks, paper_k
        The k of the algorithms side by side, and of the three searches.
    progress
        Told what is run next.

    Raises
    ------
    CaseError
        Two searches that find the least loss disagree.
    """
    started, ran_on = time.perf_counter(), machine()
    adult = side_by_side(_prepared(adult_content(GUIDE, 2), table), "Adult", ks, progress)
    census = open_table(SAMPLES[CENSUS].path).table
    numbers = side_by_side(_prepared(_census(NUMBERS, GUIDE), census), "numbers", ks, progress)
    searches = _searches(table, census, paper_k, progress)
    return Findings(adult, numbers, searches, time.perf_counter() - started, ran_on)


def _searches(
    table: pd.DataFrame, census: pd.DataFrame, ks: Sequence[int], progress: Tell
) -> dict[tuple[str, float], Searches]:
    """The three searches, per table and share that may be suppressed."""
    trees = {name: {"nodes": to_nodes(tree)} for name, tree in shaped().items()}
    roles = SAMPLES[CENSUS].roles
    quasi = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    plans = (
        (adult_content(SEARCHED_BY, 2), table),
        (content(trees, SEARCHED_BY, 2), table[list(trees)]),
        (_census(quasi, SEARCHED_BY), census),
    )
    results = {}
    for name, (plan, rows) in zip(SEARCHED, plans, strict=True):
        prepared = _prepared({**plan, "metrics": _BY_ILOSS}, rows)
        for limit in SEARCH_LIMITS:
            progress(f"{name}: three searches, {100 * limit:g} % suppressed")
            task = _limited(prepared, limit).task()
            results[name, limit] = measure_searches(ignore_progress, task, prepared.plan.metric, ks)
    return results


def ways() -> list[Way]:
    """All algorithms with their choices: each by itself, then with one choice made otherwise.

    What a search minimises is no such choice: it would be held against what it did not look for.
    Nor is into how many parts GAA cuts a table, which is for tables too large for this page, how
    the bounds of ranges are written, what sets hold, and what :data:`TAKES_MINUTES`.
    """
    found = []
    for name in algorithms():
        if name in NOT_RUN:
            continue
        limits: list[float | None] = [*LIMITS] if uses(name, "suppression") else [None]
        if name == "datafly":
            limits.insert(1, None)
        found += [Way(name, limit) for limit in limits]
        found += [
            Way(name, None, parameter.name, choice)
            for parameter in get_own_parameters(name)
            if parameter.name not in (LOSS.name, PARTS.name, RANGES.name, SETS.name)
            for choice in parameter.choices
            if choice != parameter.default and (name, choice) != TAKES_MINUTES
        ]
    return found


def side_by_side(
    prepared: PreparedRun, about: str, ks: Sequence[int] = KS, progress: Tell = lambda doing: None
) -> Side:
    """Run all algorithms on one table.

    Parameters
    ----------
    prepared
        The table, its hierarchies, and what guides.
    about
        What the table is called while it runs.
    ks
        For which k.
    progress
        Told what is run next.

    Raises
    ------
    CaseError
        Two searches that find the least loss disagree.
    """
    results: dict[tuple[Way, int], Result] = {}
    refused: dict[str, str] = {}
    for way in ways():
        for k in ks:
            task = _limited(_with(prepared, way), way.limit).task()
            task = replace(task, k=k, models=())
            try:
                check_task(way.algorithm, task)
            except PlanError as error:
                refused[way.algorithm] = error.sentence
                break
            progress(f"{about}: {way.title} {way.allowed}, k = {k}")
            started = time.perf_counter()
            recoding = algorithm_named(way.algorithm).anonymise(task, ignore_progress)
            results[way, k] = _result(recoding, time.perf_counter() - started)
    classes = prepared.classes
    size = count_lattice_nodes(classes.hierarchies)
    found = Side(results, refused, classes.n_records, classes.n_classes, size)
    _check(found)
    return found


def _with(prepared: PreparedRun, way: Way) -> PreparedRun:
    """The table with an algorithm and its choices."""
    chosen: dict[str, Any] = prepared.plan.algorithm.model_dump()
    chosen["name"] = way.algorithm
    if way.parameter:
        chosen[way.parameter] = way.choice
    algorithm = type(prepared.plan.algorithm).model_validate(chosen)
    return replace(prepared, plan=prepared.plan.model_copy(update={"algorithm": algorithm}))


def _limited(prepared: PreparedRun, limit: float | None) -> PreparedRun:
    """The table with a share of the records that may be suppressed."""
    plan = prepared.plan.model_copy(update={"suppression_limit": limit})
    return replace(prepared, plan=plan)


def _result(recoding: Recoding, seconds: float) -> Result:
    return Result(
        alteration={name: alteration.value(recoding, metric_named(name)) for name in MEASURED},
        general_loss=100 * general_loss.value(recoding),
        classes=recoding.n_classes,
        min_k=recoding.min_k or 0,
        suppressed=recoding.suppressed_records,
        seconds=seconds,
        evaluated=recoding.trace.evaluated,
        node=recoding.trace.node,
    )


def _check(found: Side) -> None:
    """That k holds, and that the searches that find the least loss find the same."""
    for (way, k), result in found.results.items():
        if result.min_k and result.min_k < k:
            raise CaseError(f"{way.title} released a class below k = {k}.")
    for limit in LIMITS:
        for k in found.ks:
            nodes = {found.results[Way(name, limit), k].node for name in LEAST_LOSS}
            if len(nodes) > 1:
                raise CaseError(
                    f"Searches for the least loss disagree at k = {k}, {100 * limit:g} %."
                )


def _prepared(plan: dict[str, Any], table: pd.DataFrame) -> PreparedRun:
    return prepare(Plan.from_content(plan), table)


def _census(columns: Sequence[str], metric: str) -> dict[str, Any]:
    """A plan for some columns of the census sample."""
    folder = ROOT / "hierarchies" / CENSUS
    return content({name: str(folder / f"{name}.csv") for name in columns}, metric, 2)
