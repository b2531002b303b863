"""From a plan and a table to a release and its measures."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import anonymise_task
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError, PrivacyWarning, UtilityWarning, list_names, quote
from kanon.measures import alteration
from kanon.plan import Plan
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import rounded
from kanon.recoding import Recoding
from kanon.release.check import check_content, check_files, check_release, require_verdicts
from kanon.release.record import Recorder, compute_path_fingerprint
from kanon.release.released_rows import Verdict, find_labels_out_of_bounds
from kanon.release.remark_kinds import Remark, list_sentences
from kanon.release.remarks import (
    check_release_remarks,
    describe_coarsened_column,
    describe_written_column,
)
from kanon.run.preparation import PreparedRun, measured_metrics, prepare
from kanon.sources.addresses import Address
from kanon.sources.formats import find_format
from kanon.sources.memory import MemorySource
from kanon.sources.row_order import sort_rows
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Table
from kanon.sources.text_form import PLAIN, TextForm
from kanon.sources.writing import table_bytes, write_whole

if TYPE_CHECKING:
    from kanon.algorithms.solution import Solution

_FEW_LEFT = 0.1  # up to this share of the classes, merging for the models is warned of


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: what was planned, and the recoding that came out."""

    prepared: PreparedRun  # the plan and the table
    recoding: Recoding  # the release, as a recoding of the classes
    seconds: float  # how long the algorithm took

    @cached_property
    def alteration(self) -> float:
        """The alteration in percent, as the plan's metric counts."""
        return alteration.value(self.recoding, self.prepared.plan.metric)

    @cached_property
    def measures(self) -> dict[str, Any]:
        """The measures of the release, as in ``M.json``."""
        # Numba is not imported to show a help text.
        from kanon.measures.summary import measure_release

        plan = self.prepared.plan
        content = measure_release(self.recoding, measured_metrics(plan, [plan.metric.name]), plan.k)
        content |= self._collect_trace()
        if self.prepared.repairs:
            content["repairs"] = [result.figures for result in self.prepared.repairs]
        return {**content, "dropped": self.prepared.dropped, "seconds": round(self.seconds, 2)}

    def _collect_trace(self) -> dict[str, Any]:
        trace = self.recoding.trace
        content: dict[str, Any] = {"steps": trace.steps}
        if trace.node is not None:
            levels = zip(self.prepared.classes.attributes, trace.node, strict=True)
            content["node"] = dict(levels)
        if trace.evaluated:
            content["nodes_evaluated"] = trace.evaluated
        if trace.parts > 1:
            content["parts"] = trace.parts
            content["parts_sample"] = {"classes": trace.sampled, "loss_ratio": trace.loss_ratio}
        if trace.gap is not None:
            content["gap_percent"] = trace.gap if math.isfinite(trace.gap) else None
        return content

    @property
    def about_parts(self) -> str:
        """Into how many parts the classes were cut, and what that cost; nothing if they were not.

        For the middle of a sentence.
        """
        trace = self.recoding.trace
        if trace.parts == 1:
            return ""
        cut = f"the classes were merged in {write_count(trace.parts)} parts"
        if trace.loss_ratio is None:
            return f"{cut}, but how much that costs is not known for a k this large"
        return (
            f"{cut}, which lost {trace.loss_ratio:.3f} times as much as one part on a sample of "
            f"{count_noun(trace.sampled, 'class', 'classes')}"
        )

    @property
    def about_gap(self) -> str:
        """What is proved of the least loss possible; nothing where the algorithm proves nothing.

        For the middle of a sentence.
        """
        gap = self.recoding.trace.gap
        if gap is None:
            return ""
        within = " within the level bounds" if self.prepared.level_bounds else ""
        among = f"release{within} that keeps equal records together and suppresses none"
        if gap == 0:
            return f"it is proved that no {among} loses less by the metric and weights of the run"
        if math.isinf(gap) and self.recoding.trace.node is not None:
            return "these levels are the best found; that no others lose less is not proved"
        if math.isinf(gap):
            return f"how much less another {among} could lose is not known"
        return (
            f"it loses at most {rounded(gap, up=True)} % more than any other {among}, by the "
            "metric and weights of the run; the time ran out before more was proved"
        )

    @cached_property
    def row_order(self) -> np.ndarray:
        """The positions of the rows of the source's release in the order in which they leave."""
        rows = self._source.release(self.recoding)
        if self.prepared.plan.order == "table":
            return np.arange(len(rows))
        return sort_rows(rows, self._source.pseudonyms)

    @property
    def _source(self) -> MemorySource:
        source = self.prepared.source
        if not isinstance(source, MemorySource):
            raise TypeError("the rows are not in memory")
        return source

    def released(
        self, index: bool = False, order: Literal["released", "table"] | None = None
    ) -> pd.DataFrame:
        """The released table, of a table in memory.

        Parameters
        ----------
        index
            Whether the rows keep the index of the given table whatever it says of them: it tells
            which record each row is. Else rows in the table's order keep one that is a plain range,
            and all others are numbered from 0.
        order
            ``released``: sorted by the released cells, see :mod:`kanon.sources.row_order`;
            ``table``: as in the table, to be aligned with it; None for what the plan says.

        Raises
        ------
        TypeError
            The rows are elsewhere: the engine that has them writes the release.

        Warns
        -----
        PrivacyWarning
            The index is left out.
        """
        source, as_table = self._source, (order or self.prepared.plan.order) == "table"
        released = source.release(self.recoding)
        if not as_table:
            released = released.iloc[self.row_order]
        if index or (source.has_row_numbers and as_table):
            return released
        if not source.has_row_numbers:
            warnings.warn(_describe_index_left_out(released.index), PrivacyWarning, stacklevel=2)
        return released.reset_index(drop=True)

    def persons_released(self) -> pd.Series | None:
        """The person of each row of :meth:`released`; None where the plan names no persons."""
        source = self.prepared.source
        if not isinstance(source, MemorySource) or source.person is None:
            return None
        return source.persons_released(self.recoding).iloc[self.row_order]

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """What the release may give away although it meets its models."""
        plan = self.prepared.plan
        remarks = check_release_remarks(
            self.prepared.source,
            plan.roles.roles,
            self.recoding,
            plan.k,
            plan.person,
            plan.order,
            plan.models,
        )
        written = (
            describe_written_column(column, form)
            for column, form in plan.written.items()
            if form != "mean"
        )
        return (*remarks, *map(describe_coarsened_column, self.prepared.coarsened), *written)

    @property
    def about_unnamed(self) -> str:
        """Which columns the plan does not name, in a sentence; nothing if it names them all."""
        columns, plan = self.prepared.source.table.columns, self.prepared.plan
        unnamed = [str(column) for column in columns if column not in plan.columns]
        if not unnamed:
            return ""
        table = self.prepared.source.table
        blank = [name for name in unnamed if table.count_distinct(name).n_filled < table.n_records]
        exception = f", with cells that count as missing left blank ({list_names(blank)})"
        return (
            f"The plan does not name {list_names(unnamed)}. Columns that it does not name are "
            f"released{exception if blank else ' unchanged'}."
        )

    @property
    def about_models(self) -> str:
        """How few classes greedy merging left for the models, in a sentence; nothing if many."""
        share, n_classes = self.recoding.trace.share_left, self.recoding.n_classes
        if share > _FEW_LEFT:
            return ""
        return (
            "To meet the models beyond k-anonymity, nearly all classes had to be merged: "
            f"{count_noun(n_classes, 'class', 'classes')} {'is' if n_classes == 1 else 'are'} "
            f"left, {write_percent(100 * share)} of those for k alone. "
            "Under such models the algorithm 'lattice-sweep' usually loses less."
        )

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What an independent check finds in the released table, of a table in memory."""
        own, released = self.prepared, self.released(index=True)
        roots, persons = _get_root_labels(self.recoding), self.persons_released()
        people, trees, coarse = own.population_rows, own.plain_trees, self._coarse_labels
        return check_release(released, own.plan, roots, persons, coarse, people, trees)

    @property
    def _coarse_labels(self) -> dict[str, frozenset[str]]:
        return {
            coarsening.column: coarsening.group_labels for coarsening in self.prepared.coarsened
        } | find_labels_out_of_bounds(self.prepared.plan, self.prepared.classes)

    def content(self, kind: str, neutral: bool = False, form: TextForm = PLAIN) -> bytes:
        """The released table as :func:`kanon.sources.writing.table_bytes` writes it, checked.

        Raises
        ------
        TableError
            The table does not fit the kind, or the encoding lacks some of its characters.
        ReleaseError
            What is read back from the file does not meet the plan, or cannot be read back.
        """
        return self._build_file(kind, neutral, form)[0]

    def fitting(self, form: TextForm) -> TextForm:
        """A form of text files, in UTF-8 if its encoding lacks a character of a label.

        All other cells leave as they came, in that encoding.
        """
        labels = [*(tree.labels for tree in self.recoding.hierarchies),
                  *self._coarse_labels.values()]  # fmt: skip
        return form.choose_encoding_for(
            "".join(label for column_labels in labels for label in column_labels)
        )

    def _build_file(
        self, kind: str, neutral: bool, form: TextForm
    ) -> tuple[bytes, tuple[Verdict, ...]]:
        rows = self.released(index=True)
        content = table_bytes(rows, kind, form=form, neutral=neutral)
        roots = None if neutral else _get_root_labels(self.recoding)  # a root may be a formula
        persons, plan = self.persons_released(), self.prepared.plan
        verdicts = check_content(
            content, kind, rows, plan, roots, persons, self._coarse_labels,
            (form.separator, form.encoding),
            self.prepared.population_rows, self.prepared.plain_trees,
        )  # fmt: skip
        if not all(verdict.holds for verdict in verdicts):
            require_verdicts(self.verdicts)
        require_verdicts(verdicts, kind)
        return content, verdicts

    def write(
        self,
        target: Address,
        progress: Progress = ignore_progress,
        neutral: bool = False,
        record: Recorder | None = None,
        form: TextForm = PLAIN,
    ) -> None:
        """Write the released table where it is asked for; it appears complete or not at all.

        ``neutral`` and ``form`` are for a table in memory; see
        :func:`kanon.sources.writing.table_bytes`.
        ``record`` is called once the release is complete and checked, before it gets its name.

        Raises
        ------
        TableError
            The place cannot be written to, or not that kind of table.
        ReleaseError
            The release does not meet the plan, by a check that shares nothing with what made it.
        """
        source = self.prepared.source
        if isinstance(source, StoredSource):
            write_stored(source, self.recoding, self.prepared.plan, target, progress, record)
        else:
            content, verdicts = self._build_file(find_format(target.path.name).name, neutral, form)
            if record is not None:
                record(hashlib.sha256(content).hexdigest(), verdicts)
            write_whole(content, target.path)


def write_stored(
    source: StoredSource,
    recoding: Recoding,
    plan: Plan,
    target: Address,
    progress: Progress = ignore_progress,
    record: Recorder | None = None,
    **how: Any,
) -> None:
    """Have the engine write a release, check it, and record it, before it gets its name.

    ``how`` has further arguments of :meth:`kanon.sources.stored_source.StoredSource.write`.

    Raises
    ------
    TableError
        It cannot be written.
    ReleaseError
        It does not meet the plan.
    """

    def check_output(written: Any, kind: str) -> None:
        verdicts = check_files(written, kind, plan, _get_root_labels(recoding))
        require_verdicts(verdicts, kind if isinstance(written, Path) else "table of a database")
        if record is not None:  # a table of a DuckDB file has no bytes of its own
            record(
                compute_path_fingerprint(written) if isinstance(written, Path) else None, verdicts
            )

    source.write(recoding, target, progress, check=check_output, order=plan.order, **how)


def _get_root_labels(recoding: Recoding) -> dict[str, str]:
    trees = zip(recoding.classes.attributes, recoding.hierarchies, strict=True)
    return {column: tree.labels[tree.root] for column, tree in trees}


def _describe_index_left_out(index: pd.Index) -> str:
    index_names = [quote(name) for name in index.names if name is not None]
    named_so = f" {' and '.join(index_names)}" if index_names else ""
    levels = f" of {index.nlevels} levels" if index.nlevels > 1 else ""
    return (
        f"The table's index{named_so}{levels} is left out of the release, because it may show "
        "which record a row came from; released(index=True) keeps it."
    )


def run(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    progress: Progress = ignore_progress,
) -> Run:
    """Run a plan on a table; see :func:`prepare`.

    Raises
    ------
    Unsatisfiable
        No release of the table can meet the plan.
    KanonError
        See :func:`prepare`.

    Warns
    -----
    UtilityWarning
        Greedy merging had to merge nearly all classes to meet models beyond k-anonymity.
    PrivacyWarning
        The table has columns that the plan does not name, or the release may give something away
        although it meets its models: see :mod:`kanon.release.remarks`; or the table is no part of
        a population that a model names.

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
    finished_run = run_prepared(prepare(plan, table, folder), progress)
    if finished_run.about_unnamed:
        warnings.warn(finished_run.about_unnamed, PrivacyWarning, stacklevel=2)
    if finished_run.prepared.about_population:
        warnings.warn(finished_run.prepared.about_population, PrivacyWarning, stacklevel=2)
    if finished_run.about_models:
        warnings.warn(finished_run.about_models, UtilityWarning, stacklevel=2)
    for sentence in list_sentences(finished_run.remarks):
        warnings.warn(sentence, PrivacyWarning, stacklevel=2)
    return finished_run


def run_prepared(prepared: PreparedRun, progress: Progress = ignore_progress) -> Run:
    """Run the algorithm of a plan on the table that it was matched with.

    Raises
    ------
    Unsatisfiable
        No release of the table can meet the plan.
    PlanError
        See :meth:`PreparedRun.check`.
    """
    task = prepared.check()
    start = time.perf_counter()
    recoding = anonymise_task(prepared.plan.algorithm.name, task, progress)
    return finished(prepared, recoding, time.perf_counter() - start)


def release_at(prepared: PreparedRun, solution: Solution, k: int) -> Run:
    """The release for k of a solution: looked up and checked, not computed again."""
    plan = prepared.plan.with_k(k)
    return finished(replace(prepared, plan=plan), solution.at(k), solution.seconds)


def finished(prepared: PreparedRun, recoding: Recoding, seconds: float) -> Run:
    """A run, checked against the models of its plan.

    Raises
    ------
    PlanError
        The plan has ``written``, and what it shows breaks a model that the groups of the release
        meet: one that looks at more than classes.
    AssertionError
        The algorithm returned a release that breaks the plan: a fault of kanon, never released.
    """
    for model in prepared.models:
        if isinstance(model, KAnonymity):  # without its classes, which an engine may have
            holds = recoding.min_k is None or recoding.min_k >= model.k
        else:
            holds = model.holds(recoding.released)
        if not holds and prepared.plan.written:
            raise PlanError(
                f"What 'written' shows for the classes of {list_names(prepared.plan.written)} does "
                f"not meet {model.sentence}, although their groups do; leave it out."
            )
        if not holds:
            raise AssertionError(f"the release does not meet {model}")
    bounds = prepared.level_bounds  # empty where an engine may have the classes
    released = zip(recoding.hierarchies, recoding.nodes.T, strict=True) if bounds else ()
    for (least, most), (tree, nodes) in zip(bounds, released, strict=True):
        if ((tree.level[nodes] < least) | (tree.level[nodes] > most)).any():
            raise AssertionError("the release does not keep the level bounds")
    return Run(prepared, recoding, seconds)
