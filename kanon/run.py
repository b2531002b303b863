"""From a plan and a table to a release and its measures."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

import kanon.algorithms
from kanon.algorithms.lattice import n_nodes
from kanon.algorithms.merge_until_models_hold import repaired
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.base.formatting import counted, thin
from kanon.cards import parts_of
from kanon.classes import EquivalenceClasses
from kanon.errors import MetricError, PlanError, PrivacyWarning, Unsatisfiable, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import flat
from kanon.measures.along import Curves, Points, curves_along, points_of
from kanon.measures.cells import share, whole_potentials
from kanon.measures.summary import summary
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan import Plan, build_hierarchy
from kanon.privacy.conjunction import broken
from kanon.privacy.model import Model
from kanon.privacy.persons import KInPersons
from kanon.recoding import MergePath, Recoding
from kanon.release.check import Verdict, check_files, check_release, require
from kanon.release.remarks import Remark, release_remarks, sentences
from kanon.schema import Role
from kanon.sources.addresses import Address
from kanon.sources.memory import MemorySource, as_table, require_records
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source, Table
from kanon.sources.writing import write_table

__all__ = [
    "FAMILIES",
    "FINISHED_K",
    "PATIENCE",
    "Prepared",
    "Run",
    "Solution",
    "algorithm_named",
    "algorithms",
    "check_task",
    "finished",
    "finished_at",
    "measured_metrics",
    "needs_hierarchies",
    "prepare",
    "recodings_at",
    "release_at",
    "run",
    "serves_every_k",
    "short_title",
    "solve",
    "uses",
    "write_stored",
]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan that was matched with a table: ready to run.

    Attributes
    ----------
    plan
        The plan.
    source
        The table, its classes and hierarchies.
    dropped
        The number of records left out because a quasi-identifier was missing.
    """

    plan: Plan
    source: Source
    dropped: int

    @property
    def classes(self) -> EquivalenceClasses:
        """The equivalence classes of the original table."""
        return self.source.classes

    @property
    def attribute_weights(self) -> tuple[float, ...]:
        """What the costs of each quasi-identifier count; 1 where the algorithm takes no weights."""
        chosen = self.plan.algorithm
        taken = uses(chosen.name, "attribute_weights")
        given = chosen.attribute_weights if taken else {}
        return tuple(given.get(column, 1.0) for column in self.classes.attributes)

    def task(self) -> Task:
        """The task for the plan's algorithm.

        Raises
        ------
        MetricError
            The metric needs edge weights that a hierarchy lacks.
        """
        if self.plan.metric.name == "custom":
            names, trees = self.classes.attributes, self.classes.hierarchies
            _check_drawn(dict(zip(names, trees, strict=True)))
        chosen = self.plan.algorithm

        def taken(setting: str) -> bool:
            """Whether the algorithm takes a setting; what it does not take changes nothing."""
            return uses(chosen.name, setting)

        return Task(
            self.classes,
            whole_potentials(self.classes, self.plan.metric, self.attribute_weights),
            k=self.plan.k,
            weighted=chosen.cost == "weighted" or not taken("cost"),
            tie_seed=chosen.tie_seed if taken("tie_seed") else None,
            strategy=chosen.strategy if taken("strategy") else "s1",
            scope=chosen.scope,
            sensitive=self.plan.led_by,
            models=tuple(self._asked()),
            suppression=self.plan.suppression(self.classes.n_records),
            seed=chosen.seed,
            options=chosen.options,
            node=self._node(),
        )

    def _asked(self) -> Iterator[Model]:
        """The models of the plan, without k in persons where k in records is the same."""
        for model in self.plan.models:
            if not (isinstance(model, KInPersons) and self.classes.one_record_each):
                yield model

    def _node(self) -> tuple[int, ...] | None:
        """The node of the lattice that the plan names, in the order of the quasi-identifiers."""
        given = self.plan.algorithm.node
        if given is None:
            return None
        names, trees = self.classes.attributes, self.classes.hierarchies
        for column, tree in zip(names, trees, strict=True):
            if given[column] > tree.height - 1:
                raise PlanError(
                    f"Plan key algorithm.node.{column}: level {given[column]} is not allowed; the "
                    f"hierarchy has levels 0 to {tree.height - 1}."
                )
        return tuple(given[column] for column in names)

    def check(self) -> Task:
        """The task for the plan's algorithm, checked before it is run.

        Raises
        ------
        Unsatisfiable
            No release can meet k or a model.
        PlanError
            The algorithm cannot do what the plan asks for; the message says why.
        """
        task = self.task()
        task.check()
        check_task(self.plan.algorithm.name, task)
        return task

    def guided_by(self, **changes: Any) -> Prepared:
        """The same table and hierarchies, with something else to guide the algorithm.

        Parameters
        ----------
        **changes
            Keys of the plan's ``algorithm``, such as ``metric`` and ``strategy``.
        """
        chosen = self.plan.algorithm.model_copy(update=changes)
        return replace(self, plan=self.plan.model_copy(update={"algorithm": chosen}))


def measured_metrics(plan: Plan, guides: Iterable[str]) -> list[Metric]:
    """The metrics that releases are measured by: the seven, and those that guide."""
    names = dict.fromkeys([*PUBLISHED, *guides])
    return [metric_named(name, plan.composed_metrics) for name in names]


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: what was planned, and the recoding that came out.

    Attributes
    ----------
    prepared
        The plan and the table.
    recoding
        The release, as a recoding of the classes.
    seconds
        How long the algorithm took.
    """

    prepared: Prepared
    recoding: Recoding
    seconds: float

    @cached_property
    def measures(self) -> dict[str, Any]:
        """The measures of the release, as in ``M.json``."""
        plan = self.prepared.plan
        found = summary(self.recoding, measured_metrics(plan, [plan.metric.name]), plan.k)
        found |= self._trace()
        return {**found, "dropped": self.prepared.dropped, "seconds": round(self.seconds, 2)}

    def _trace(self) -> dict[str, Any]:
        """What the algorithm did: its steps, and where there are any its node and its parts."""
        trace = self.recoding.trace
        found: dict[str, Any] = {"steps": trace.steps}
        if trace.node is not None:
            levels = zip(self.prepared.classes.attributes, trace.node, strict=True)
            found["node"] = dict(levels)
        if trace.evaluated:
            found["nodes_evaluated"] = trace.evaluated
        if trace.parts > 1:
            found["parts"] = trace.parts
            found["parts_sample"] = {"classes": trace.sampled, "loss_ratio": trace.loss_ratio}
        return found

    @property
    def about_parts(self) -> str:
        """Into how many parts the classes were cut, and what that cost; nothing if they were not.

        For the middle of a sentence.
        """
        trace = self.recoding.trace
        if trace.parts == 1:
            return ""
        cut = f"the classes were merged in {thin(trace.parts)} parts"
        if trace.loss_ratio is None:
            return f"{cut}, and what that costs is not known for so large a k"
        return (
            f"{cut}, which on {counted(trace.sampled, 'of them', 'of them')} lost "
            f"{trace.loss_ratio:.3f} times what one part loses"
        )

    def released(self) -> pd.DataFrame:
        """The released table, of a table in memory.

        Raises
        ------
        TypeError
            The rows are elsewhere: the engine that has them writes the release.
        """
        if not isinstance(self.prepared.source, MemorySource):
            raise TypeError("the rows are not in memory")
        return self.prepared.source.release(self.recoding)

    def persons_released(self) -> pd.Series | None:
        """Whom each row of :meth:`released` is about; None where the plan does not ask."""
        source = self.prepared.source
        return source.persons_released(self.recoding) if isinstance(source, MemorySource) else None

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """What the release may give away although it meets its models."""
        plan = self.prepared.plan
        return release_remarks(
            self.prepared.source, plan.roles.roles, self.recoding, plan.k, plan.person
        )

    @property
    def about_unnamed(self) -> str:
        """Which columns the plan does not name, in a sentence; nothing if it names them all."""
        columns, plan = self.prepared.source.table.columns, self.prepared.plan
        unnamed = [str(column) for column in columns if column not in plan.columns]
        if not unnamed:
            return ""
        return (
            f"The plan does not name {listing(unnamed)}: what it does not name passes into the "
            "release unchanged."
        )

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What an independent check finds in the released table, of a table in memory."""
        released, roots = self.released(), _roots(self.recoding)
        return check_release(released, self.prepared.plan, roots, self.persons_released())

    def write(
        self, target: Address, progress: Progress = no_progress, neutral: bool = False
    ) -> None:
        """Write the released table where it is asked for; it appears complete or not at all.

        ``neutral`` is for a table in memory; see :func:`kanon.sources.writing.table_bytes`.

        Raises
        ------
        TableError
            The place cannot be written to, or not that kind of table.
        ReleaseError
            The release does not meet the plan, by a check that shares nothing with what made it.
        """
        source = self.prepared.source
        if isinstance(source, StoredSource):
            write_stored(source, self.recoding, self.prepared.plan, target, progress)
        else:
            require(self.verdicts)
            write_table(self.released(), target.path, neutral=neutral)


def write_stored(
    source: StoredSource,
    recoding: Recoding,
    plan: Plan,
    target: Address,
    progress: Progress = no_progress,
    **how: Any,
) -> None:
    """Have the engine write a release, and check it before it gets its name.

    Parameters
    ----------
    source, recoding, target, progress
        See :meth:`kanon.sources.stored_source.StoredSource.write`.
    plan
        What the release has to meet.
    **how
        Further arguments of that method.

    Raises
    ------
    TableError
        It cannot be written.
    ReleaseError
        It does not meet the plan.
    """
    source.write(
        recoding,
        target,
        progress,
        check=lambda part, kind: require(check_files(part, kind, plan, _roots(recoding))),
        **how,
    )


def _roots(recoding: Recoding) -> dict[str, str]:
    """What stands in each quasi-identifier of a suppressed record that keeps its row."""
    trees = zip(recoding.classes.attributes, recoding.hierarchies, strict=True)
    return {column: tree.labels[tree.root] for column, tree in trees}


def prepare(plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()) -> Prepared:
    """Match a plan with a table: roles, missing values, hierarchies, classes.

    Parameters
    ----------
    plan
        What to do.
    table
        The table, wherever its rows are; it is not changed.
    folder
        Where the plan's relative paths start.

    Raises
    ------
    PlanError
        The plan names a column that the table lacks, no quasi-identifier, or no rule for the
        missing values that there are; or it counts k in persons, and some records do not say whom
        they are about, or the rows are not in memory.
    HierarchyError
        A hierarchy is no tree, or lacks values of its column.
    """
    schema = plan.roles
    table = as_table(table)
    schema.check(table.columns)
    require_records(table.n_records)
    columns = schema.quasi_identifiers
    incomplete = table.incomplete(columns)
    if incomplete and plan.read.missing is None:
        raise PlanError(
            f"{counted(incomplete, 'record')} with a quasi-identifier missing: set read.missing to "
            "'drop-records' or 'as-value' to say what happens to them."
        )
    drops = plan.read.missing == "drop-records" and incomplete > 0
    kept = table.complete(columns) if drops else table
    trees = {}
    for column in columns:
        chosen = plan.columns[column].hierarchy
        if chosen is None and not needs_hierarchies(plan.algorithm.name):
            trees[column] = flat(kept.counted(column).texts)
            continue
        if chosen is None:
            raise PlanError(
                f"The quasi-identifier {quoted(column)} has no hierarchy; choose one for it."
            )
        trees[column] = build_hierarchy(column, chosen, kept.counted(column).texts, folder)
    pseudonyms = [
        name
        for name, column in plan.columns.items()
        if column.role is Role.IDENTIFIER and column.pseudonym
    ]
    keeps = plan.suppressed == "keep"
    source = kept.source(schema, trees, pseudonyms, keeps, plan.person)
    return Prepared(plan, source, incomplete if drops else 0)


def _check_drawn(trees: Mapping[str, Hierarchy]) -> None:
    """Check that every edge has a drawn weight, and that not all of them are 0."""
    inner = {column: tree for column, tree in trees.items() if tree.n_nodes > 1}
    for column, tree in inner.items():
        if tree.weight is None:
            raise MetricError(
                "The metric 'custom' counts drawn edge weights, and the hierarchy of "
                f"{quoted(column)} has none."
            )
    if inner and not any(tree.weight.any() for tree in inner.values() if tree.weight is not None):
        raise MetricError(
            "All drawn edge weights are 0, so the metric 'custom' counts nothing; give some edge a "
            "weight above 0."
        )


FINISHED_K = (
    *(2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 250, 350, 500, 750, 1000, 1500, 2000, 3000),
    *(5000, 7500, 10000, 15000, 20000, 30000, 50000, 100000, 200000, 500000, 1000000),
)
"""The k that a run with several models is finished for, beside the one asked for."""


FAMILIES: Mapping[str, str] = {
    "merging": "merging",
    "levels": "full-domain",
    "regions": "regions",
    "clusters": "clustering",
}
"""How an algorithm goes about it, in the order of the pick lists."""


@cache
def algorithms() -> Mapping[str, ModuleType]:
    """The modules of all algorithms by name, by family."""
    order = list(FAMILIES)
    found = parts_of(kanon.algorithms)
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].FAMILY)))


def algorithm_named(name: str) -> ModuleType:
    """The module of an algorithm."""
    return algorithms()[name]


def short_title(name: str) -> str:
    """What an algorithm is called where there is little room.

    >>> short_title("gaa")
    'GAA'
    """
    return str(algorithm_named(name).CARD.title).split(" (")[0]


def uses(name: str, setting: str) -> bool:
    """Whether an algorithm takes one of the settings that many share.

    >>> uses("gaa", "metric"), uses("datafly", "metric")
    (True, False)
    """
    return setting in algorithm_named(name).USES


def needs_hierarchies(name: str) -> bool:
    """Whether an algorithm needs a hierarchy for every quasi-identifier."""
    return bool(getattr(algorithm_named(name), "NEEDS_HIERARCHIES", True))


def check_task(name: str, task: Task) -> None:
    """Check that an algorithm can do what a task asks for.

    Raises
    ------
    PlanError
        It cannot; the message says why.
    """
    check = getattr(algorithm_named(name), "check", None)
    if check is not None:
        check(task)


def serves_every_k(name: str) -> bool:
    """Whether one run of an algorithm holds the release for every k."""
    return hasattr(algorithm_named(name), "merge_path")


@dataclass(frozen=True, eq=False)
class Solution:
    """What an algorithm found: the release at every k, or the one for the task's k.

    Attributes
    ----------
    path
        The merge path of an algorithm that serves every k, or None.
    recoding
        The recoding of any other algorithm, or None.
    curves
        The criteria along the path, or at the known k; None if only one k is known.
    seconds
        How long the algorithm took.
    finished
        Per k its release, where the path had to be merged on for other models than k-anonymity, or
        where there is no path and several k were computed.
    bound
        Of an algorithm that knows one, a cost for the task's k that no release without suppression
        can go below, in percent of all that could be lost, as what guided it counts; else None.
    """

    path: MergePath | None
    recoding: Recoding | None
    curves: Curves | Points | None
    seconds: float
    finished: Mapping[int, Recoding] = field(default_factory=dict)
    bound: float | None = None

    @property
    def known(self) -> tuple[int, ...] | None:
        """The k that were computed, rising; None if every k up to n can be looked up."""
        return tuple(sorted(self.finished)) if self.finished else None

    def at(self, k: int) -> Recoding:
        """The recoding for k; of an algorithm without a path, the only one there is.

        Raises
        ------
        ValueError
            It was not computed for that k.
        """
        if self.finished:
            if k not in self.finished:
                raise ValueError(f"k = {k} was not computed")
            return self.finished[k]
        if self.path is not None:
            return self.path.at(k)
        assert self.recoding is not None
        return self.recoding


def solve(progress: Progress, algorithm: str, task: Task, metrics: Sequence[Metric]) -> Solution:
    """Run an algorithm on a task: what a worker process is given.

    An algorithm that serves every k runs to the end, so that a slider over k only looks up. Where
    a model beyond k-anonymity needs more merges than the path has, the path is the same for all k,
    and is merged on from there for the task's k and those of :data:`FINISHED_K`. Any other
    algorithm runs for the task's k, and then for others of those as long as
    :data:`PATIENCE` allows, the nearest first.

    Parameters
    ----------
    progress
        Told how far the run is.
    algorithm
        Its name.
    task
        The classes, costs and k.
    metrics
        The metrics whose curves are wanted.
    """
    module = algorithm_named(algorithm)
    started = time.perf_counter()
    if not serves_every_k(algorithm):
        recoding = module.anonymise(task, progress)
        seconds = time.perf_counter() - started
        done = {task.k: recoding, **_others_near(progress, module, task, seconds)}
        several = dict(sorted(done.items())) if len(done) > 1 else {}
        points = points_of(several, metrics) if several else None
        return Solution(None, recoding, points, seconds, several, _bound(module, task, progress))
    task.check()
    merged = _MERGED if task.others else 1.0
    path = module.merge_path(
        replace(task, k=task.classes.n_records), lambda part, text: progress(merged * part, text)
    )
    done = finished_at(path, task, [task.k, *FINISHED_K], progress)
    seconds = time.perf_counter() - started
    curves = points_of(done, metrics) if done else curves_along(path, metrics)
    return Solution(path, None, curves, seconds, done)


_BOUNDED = 500_000_000
"""A lower bound is looked for up to so many nodes times classes: about ten seconds."""


def _bound(module: ModuleType, task: Task, progress: Progress) -> float | None:
    """The least cost of any release without suppression, if an algorithm knows a bound."""
    nodes = n_nodes(task.classes.hierarchies)
    if not hasattr(module, "lower_bound") or nodes * task.classes.n_classes > _BOUNDED:
        return None
    tuples, counts = task.classes.nodes, task.classes.counts
    possible = sum(int(depth[tuples[:, j]] @ counts) for j, depth in enumerate(task.potentials))
    return share(float(module.lower_bound(task, progress)), float(possible))


PATIENCE = 3.0
"""For so many seconds an algorithm that runs once per k goes on, for other k than the one asked."""


def _others_near(
    progress: Progress, module: ModuleType, task: Task, seconds: float
) -> dict[int, Recoding]:
    """The releases for other k, the nearest by ratio first, as many as there is time for.

    None if the run for the task's k, which took so many seconds, took too long already.
    """
    wanted = [k for k in FINISHED_K if k != task.k and k <= task.classes.highest_k]
    wanted.sort(key=lambda k: abs(math.log(k / task.k)))
    found: dict[int, Recoding] = {}
    started = time.perf_counter()
    slowest = seconds
    for k in wanted:
        spent = time.perf_counter() - started
        if spent + slowest > PATIENCE:
            break
        progress(min(1.0, spent / PATIENCE), f"the same for k = {thin(k)}")
        try:
            found[k] = module.anonymise(task.for_k(k))
        except Unsatisfiable:  # levels chosen for a smaller k
            continue
        slowest = max(slowest, time.perf_counter() - started - spent)
    return found


_MERGED = 0.5
"""The share of a run's time that passes before releases are finished for other models, about."""


def finished_at(
    path: MergePath, task: Task, ks: Iterable[int], progress: Progress
) -> dict[int, Recoding]:
    """The releases that meet all models of a task, per k; none if the path itself serves them.

    Parameters
    ----------
    path
        The run for k-anonymity alone.
    task
        Its task.
    ks
        For which k; those beyond n, or beyond the number of persons where k counts them, are
        left out.
    progress
        Told how far the work is.
    """
    # Merging never breaks a model, and who meets it for a large k does so for a smaller one.
    wanted = sorted({k for k in ks if k <= min(path.k_max, task.classes.highest_k)})
    hardest = task.for_k(max(wanted, default=1)).others
    if not broken(hardest, path.at(1).released).any():
        return {}
    found = {}
    for place, k in enumerate(wanted):
        done = _MERGED + (1 - _MERGED) * place / len(wanted)
        progress(done, f"finishing k = {thin(k)} for the other models")
        found[k] = repaired(path.at(k), task.for_k(k))
    return found


def recodings_at(
    progress: Progress, algorithm: str, task: Task, ks: Sequence[int]
) -> dict[int, Recoding]:
    """The releases for several k: from one run where that serves them all, else a run per k.

    Parameters
    ----------
    progress
        Told how far the work is.
    algorithm
        Its name.
    task
        What to run it on; its own k is not used.
    ks
        For which k, at least one; none above n.

    Raises
    ------
    Unsatisfiable
        One of them cannot be reached.
    """
    module = algorithm_named(algorithm)
    if serves_every_k(algorithm):
        path = module.merge_path(task.for_k(max(ks)), progress)
        return finished_at(path, task, ks, progress) or {k: path.at(k) for k in ks}

    def alone(place: int, k: int) -> Recoding:
        return module.anonymise(
            task.for_k(k), lambda part, text: progress((place + part) / len(ks), text)
        )

    return {k: alone(place, k) for place, k in enumerate(ks)}


def run(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    progress: Progress = no_progress,
) -> Run:
    """Run a plan on a table.

    Parameters
    ----------
    plan, table, folder
        See :func:`prepare`.
    progress
        Told how far the run is.

    Returns
    -------
    Run
        The release and its measures.

    Raises
    ------
    Unsatisfiable
        No release of the table can satisfy the plan.
    KanonError
        See :func:`prepare`.

    Warns
    -----
    PrivacyWarning
        The table has columns that the plan does not name, or the release may give something away
        although it meets its models: see :mod:`kanon.release.remarks`.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> done = run(plan, table)
    >>> done.released()["sex"].tolist(), done.measures["min_k"]
    (['*', '*', '*'], 3)
    """
    prepared = prepare(plan, table, folder)
    task = prepared.check()
    started = time.perf_counter()
    recoding = algorithm_named(plan.algorithm.name).anonymise(task, progress)
    done = finished(prepared, recoding, time.perf_counter() - started)
    if done.about_unnamed:
        warnings.warn(done.about_unnamed, PrivacyWarning, stacklevel=2)
    for sentence in sentences(done.remarks):
        warnings.warn(sentence, PrivacyWarning, stacklevel=2)
    return done


def release_at(prepared: Prepared, solution: Solution, k: int) -> Run:
    """The release for k of what :func:`solve` found: looked up and checked, not computed again."""
    plan = prepared.plan.with_k(k)
    return finished(replace(prepared, plan=plan), solution.at(k), solution.seconds)


def finished(prepared: Prepared, recoding: Recoding, seconds: float) -> Run:
    """A run, checked against the models of its plan.

    Raises
    ------
    AssertionError
        The algorithm returned a release that breaks the plan: a fault of kanon, never released.
    """
    for model in prepared.plan.models:
        if not model.holds(recoding.released):
            raise AssertionError(f"the release breaks {model}")
    return Run(prepared, recoding, seconds)
