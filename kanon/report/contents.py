"""All that a report says, as data: what it is rendered from, and what tests compare."""

import datetime
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lower_bound import LowerBound
from kanon.base.formatting import percent, thin, write_number
from kanon.base.progress import Progress, no_progress, stretch
from kanon.charts.trees import TreeDrawing, tree_drawing
from kanon.errors import PlanError, TableError, on_one_line, quoted
from kanon.measures.overview import MeasureValue
from kanon.measures.privacy import risk_summary, sensitive_measures
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.privacy import k_anonymity
from kanon.privacy.plans import MODELS
from kanon.release.check import require
from kanon.release.context import Context
from kanon.release.decision import Decision, decide, levels_reached
from kanon.release.remark_kinds import Remark
from kanon.report.alternatives import (
    Alternatives,
    CurveSection,
    alternatives,
    curves_of,
    found_by,
)
from kanon.report.changes import ReportRecord, changes_between
from kanon.report.explanations import (
    LEVELS,
    Guarantee,
    SensitiveMeasure,
    fates,
    guarantees,
    in_plain_words,
    plan_in_words,
    verdict_sentence,
    what_leaves,
)
from kanon.report.loss import ends_of, overview_of
from kanon.report.optimality_gap import OptimalityGap, bound_found_soon, bound_of, why_no_bound
from kanon.report.origin import (
    Origin,
    canonical_plan,
    file_of,
    fingerprint_of_trees,
    hashes_of,
    origin_of_table,
    versions,
)
from kanon.report.public import PublicReport, figures_of, public_report
from kanon.report.words import Words
from kanon.run import Run, finished, prepare
from kanon.schema import SUPPRESSED, Role
from kanon.sources.memory import MemoryTable, as_table
from kanon.sources.rows import missing_named
from kanon.sources.tables import Table
from kanon.strategies import STRATEGIES

_EXAMPLES, _WIDEST, _LONGEST = 5, 9, 60
"""So many records are shown before and after; columns at most, and characters of a cell."""

_LOOKED_AT = 1000  # among so many records, those are looked for that were changed


@dataclass(frozen=True)
class ReportTime:
    """What differs between two reports of one release: when it was made, and how fast."""

    date: datetime.date  # the day
    seconds: float  # how long the algorithm took


@dataclass(frozen=True)
class ColumnProfile:
    """A column of the original table: its role, what becomes of it, and how many values it has."""

    name: str
    role: str
    fate: str
    distinct: int
    missing: int


@dataclass(frozen=True)
class HierarchyDrawing:
    column: str
    # its nodes, and its levels
    n_nodes: int
    height: int
    levels: tuple[int, ...]  # per level its nodes, from the values upwards
    # the drawing, and the SHA-256 of its nodes
    drawing: TreeDrawing
    fingerprint: str


@dataclass(frozen=True)
class LevelChange:
    """A number about the table as it was and as it is released; None stands for infinite."""

    level: SensitiveMeasure
    column: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Example:
    """Some records before and after: the names of their columns, and their cells as texts."""

    columns: tuple[str, ...]  # the names
    # the records, row by row the same
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]
    changed: bool  # whether all of them were changed
    left_out: int  # how many columns there was no room for


@dataclass(frozen=True, eq=False)
class Report:
    words: Words  # what the people behind the release say
    # when it was made and how fast: all that differs between two reports of one release
    made: ReportTime
    verdict: str  # what was checked, what was reached and what was not considered
    in_words: tuple[str, ...]  # what the release protects and what it costs, in plain words
    # records that were anonymised, and those left out before for missing values
    records: int
    dropped: int
    persons: int | None
    profile: tuple[ColumnProfile, ...]  # the columns of the original table
    # the hierarchies of the quasi-identifiers, and of what was coarsened
    hierarchies: tuple[HierarchyDrawing, ...]
    plan_said: tuple[tuple[str, str], ...]  # the plan in words
    plan: str  # the plan as JSON
    guarantees: tuple[Guarantee, ...]  # each model, and what the independent check found
    # the risk of being found and of values being learnt, before and after
    risks: tuple[LevelChange, ...]
    leaves: str  # what the release protects and what it does not, by columns
    remarks: tuple[Remark, ...]  # what no model looks at
    unnamed: str  # which columns the plan does not name
    lost: tuple[MeasureValue, ...]  # all measures of what was lost
    # pictures over k, and which k are known
    curves: tuple[CurveSection, ...]
    about_k: str
    alternatives: Alternatives  # what else could have been released
    # the measures as ``kanon run --measures`` writes them, but for the seconds
    measures: Mapping[str, Any]
    versions: tuple[tuple[str, str], ...]  # of kanon, Python and the libraries
    # the fingerprints of the input, the plan, the hierarchies and the release
    hashes: tuple[tuple[str, str], ...]
    name: str  # what the input is called
    example: Example  # some records before and after
    # the form for publication, and all figures that may be published in it by name
    public: PublicReport
    figures: Mapping[str, Any]
    # how far the release is at most from the least loss that is possible
    gap: OptimalityGap | None = None
    closely: bool = False  # whether the bound was looked for however long that takes
    # what is asked of the release by what it is for, and what it reached
    decision: Decision | None = None
    # what the last report of the same project said, and what changed since
    last: ReportRecord | None = None
    changes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was released: in the user's words, or by the name of the input."""
        return self.words.title or f"Release of {self.name}"


def gather(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    *,
    date: datetime.date,
    words: Words | None = None,
    origin: Origin | None = None,
    context: Context | None = None,
    people: pd.DataFrame | None = None,
    last: ReportRecord | None = None,
    bound: LowerBound | None = None,
    closely: bool = False,
    handed_out: Path | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Make the release of a plan, check it, and gather all that its report says.

    Nothing is asked but the plan and the table, so that the dashboard and the command line say the
    same. Two calls differ in the date and the seconds alone.

    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> report = gather(plan, table, date=datetime.date(2026, 1, 31))
    >>> report.guarantees[0].required, report.guarantees[0].reached
    ('k-anonymity with k = 2', '3')
    """
    original = as_table(table)
    if not isinstance(original, MemoryTable):
        raise TableError(
            "A report checks the released rows again, for which the table has to be in memory; add "
            "--engine memory, or make the report of a smaller table."
        )
    progress(0.0, "reading the plan")
    prepared = prepare(plan, original, folder)
    if closely and (said := why_no_bound(prepared.classes)):  # before what takes long
        raise PlanError(said)
    found = found_by(prepared, stretch(progress, 0.05, 0.4))
    done = finished(prepared, found.recoding, found.seconds)
    progress(0.4, "checking the release")
    require(done.verdicts)
    release = file_of(done, handed_out)  # before what takes long, too
    decision = None
    if context is not None:  # before what takes long: a population may not fit, for one
        decision = decide(context, levels_reached(done, context.known, people))
    progress(0.45, "measuring what was lost")
    lost = overview_of(done, ends_of(prepared))
    others = alternatives(done, stretch(progress, 0.6, 0.95))
    gap = None
    if done.recoding.n_classes:
        find = bound_of if closely else bound_found_soon
        least = bound or find(prepared, stretch(progress, 0.95, 1.0))
        gap = None if least is None else OptimalityGap.of(done, least)
    reached = guarantees(done)
    origin = origin or origin_of_table(original)
    nothing = "Nothing is released for the chosen k, so there is nothing to be drawn around it."
    report = Report(
        words=words or Words(),
        made=ReportTime(date, found.seconds),
        verdict=verdict_sentence(done, reached),
        in_words=(*in_plain_words(done), *([gap.sentence] if gap is not None else [])),
        records=prepared.classes.n_records,
        dropped=prepared.dropped,
        persons=None if prepared.classes.persons is None else prepared.classes.highest_k,
        profile=_profile(done, original),
        hierarchies=_hierarchies(done),
        plan_said=plan_in_words(done),
        plan=canonical_plan(plan),
        guarantees=reached,
        risks=_risks(done),
        leaves=what_leaves(done),
        remarks=done.remarks,
        unnamed=done.about_unnamed,
        lost=lost,
        curves=curves_of(prepared, found),
        about_k=found.about if done.recoding.n_classes else nothing,
        alternatives=others,
        measures={name: value for name, value in done.measures.items() if name != "seconds"},
        versions=versions(),
        hashes=hashes_of(done, origin, release),
        name=origin.name,
        example=_example(done),
        public=replace(
            public_report(done, release, date, words),
            # The file says neither who might be in the table nor whom its records are about.
            decision=decision if people is None and plan.person is None else None,
        ),
        figures=figures_of(done),
        gap=gap,
        closely=closely,
        decision=decision,
    )
    if last is not None:
        report = replace(report, last=last, changes=changes_between(last, record_of(report)))
    progress(1.0, "done")
    return report


def _profile(done: Run, original: Table) -> tuple[ColumnProfile, ...]:
    roles, fate = done.prepared.plan.roles.roles, fates(done)
    found = []
    for column in original.columns:
        distinct = original.distinct_of(column)
        role = roles.get(column, Role.INSENSITIVE)
        missing = original.n_records - distinct.filled
        found.append(ColumnProfile(column, str(role), fate[column], distinct.values, missing))
    return tuple(found)


def _hierarchies(done: Run) -> tuple[HierarchyDrawing, ...]:
    classes = done.prepared.classes
    trees = [*zip(classes.attributes, classes.hierarchies, strict=True)]
    trees += [(one.column, one.tree) for one in done.prepared.coarsened]
    return tuple(
        HierarchyDrawing(
            column, tree.n_nodes, tree.height, tuple(np.bincount(tree.level).tolist()),
            tree_drawing(tree), fingerprint_of_trees({column: tree}),
        )
        for column, tree in trees
    )  # fmt: skip


_FOUND = {
    "highest": SensitiveMeasure(
        "Highest risk of being found", "%", "lower",
        "Who knows that somebody is in the table picks the right record with at most this chance.",
    ),
    "mean": SensitiveMeasure(
        "Mean risk of being found", "%", "lower",
        "The share of the records that would be recognised on average.",
    ),
    "share_above": SensitiveMeasure(
        "Records with a risk above 20 %", "%", "lower",
        "The share of the records in classes of fewer than five: a round number to begin with, and "
        "no norm.",
    ),
}  # fmt: skip


def _risks(done: Run) -> tuple[LevelChange, ...]:
    before, after = done.prepared.classes, done.recoding.released
    if not after.n_classes:
        return ()
    alone = SensitiveMeasure(
        f"Unique {before.of}", before.of, "lower",
        "Records that share all quasi-identifiers with no other one."
        if before.of == "records"
        else "Persons who have a record that shares all quasi-identifiers with nobody else's.",
    )  # fmt: skip
    found = [LevelChange(alone, "", before.unique, after.unique)]
    prosecutors = [risk_summary(classes)["prosecutor"] for classes in (before, after)]
    found += [
        LevelChange(level, "", *(each[name] for each in prosecutors))
        for name, level in _FOUND.items()
    ]
    for old, new in zip(before.sensitive, after.sensitive, strict=True):
        levels = [sensitive_measures(old), sensitive_measures(new)]
        found += [
            LevelChange(level, old.name, *(each[name] for each in levels))
            for name, level in LEVELS.items()
            if name in levels[0]
        ]
    return tuple(found)


def _example(done: Run) -> Example:
    """The first records that were changed: quasi-identifiers first, never an identifier."""
    prepared = done.prepared
    seen = prepared.source.excerpt(done.recoding, _LOOKED_AT)
    found = np.flatnonzero(seen.rise.any(axis=1))[:_EXAMPLES]
    changed = len(found) == _EXAMPLES
    rows = found if changed else np.arange(min(_EXAMPLES, len(seen.rise)))
    hidden = {*prepared.plan.roles.columns(Role.IDENTIFIER), SUPPRESSED}
    first = [*prepared.classes.attributes, *prepared.plan.roles.columns(Role.SENSITIVE)]
    others = [name for name in seen.after.columns if name not in {*first, *hidden}]
    columns = [*first, *others]
    shown = columns[:_WIDEST]
    return Example(
        tuple(shown), _cells(seen.before.iloc[rows], shown), _cells(seen.after.iloc[rows], shown),
        changed, len(columns) - len(shown),
    )  # fmt: skip


def _cells(rows: pd.DataFrame, columns: list[str]) -> tuple[tuple[str, ...], ...]:
    named = missing_named(rows)
    found = [[on_one_line(cell)[:_LONGEST] for cell in named[column]] for column in columns]
    return tuple(zip(*found, strict=True))


# --- what the next report compares itself with ------------------------------------------------
def record_of(report: Report) -> ReportRecord:
    """What the next report compares itself with."""
    plan = json.loads(report.plan)
    fingerprints = {
        f"hierarchy of {quoted(each.column)}": each.fingerprint for each in report.hierarchies
    }
    return ReportRecord(
        date=report.made.date.isoformat(),
        settings=dict(_settings(plan, report)),
        figures=dict(_figures(plan, report)),
        fingerprints={"table": report.hashes[0][1], **fingerprints},
    )


_TERMS = {
    "name": "Algorithm",
    "metric": "Metric",
    "strategy": "Strategy",
    "scope": "Scope of the strategy",
    "sensitive": "Column of the strategy",
    "cost": "Cost of a merge",
    "attribute_weights": "Weights of columns",
    "tie_seed": "Tie seed",
    "seed": "Seed",
    "node": "Levels",
}
"""What the keys of a plan's algorithm are called."""


def _settings(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    k = max(part.get("k", 1) for part in plan["privacy"])
    yield "k", f"{k} {'persons' if plan.get('person') else 'records'}"
    required: dict[str, list[str]] = {}
    for part in plan["privacy"]:
        others = [f"{one} = {part[one]}" for one in part if one not in ("model", "column")]
        if part["model"] != k_anonymity.CARD.name:
            of = f" of {quoted(part['column'])}" if part.get("column") else ""
            title = f"{MODELS[part['model']].card.title}{of}"
            required.setdefault(title, []).append(", ".join(others))
    yield from ((title, "; ".join(asked)) for title, asked in required.items())
    for key, value in plan["algorithm"].items():
        yield _TERMS.get(key, key.capitalize()), _said(key, value)
    for name, made in plan["metrics"].items():
        yield f"Metric {quoted(name)}", f"{made['intermediate']}, {made['multiplier']}"
    limit = plan.get("suppression_limit")
    if isinstance(limit, dict):
        yield "Records that may be suppressed", thin(limit["records"])
    elif limit is not None:
        yield "Records that may be suppressed", percent(100 * limit)
    yield "Rows of suppressed records", plan["suppressed"]
    if plan["read"].get("missing"):
        yield "Records that lack a quasi-identifier", plan["read"]["missing"]
    if plan.get("person"):
        yield "Column of the person", quoted(plan["person"])
    yield "Version of kanon", dict(report.versions)["kanon"]
    for one in report.profile:
        yield f"Role of {quoted(one.name)}", f"{one.role}, {one.fate}"


def _said(key: str, value: Any) -> str:
    if key == "name":
        return short_title(value)
    if key == "metric":
        return METRICS[value].card.title if value in METRICS else quoted(value)
    if key == "strategy":
        return STRATEGIES[value].title
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each:g}" for name, each in value.items()) or "all alike"
    return str(value)


# --- what came of it ------------------------------------------------------------------------
_LEVELS = [LEVELS[name] for name in ("entropy_l", "distinct_l", "t_variational", "alpha")]
"""What is said of each sensitive column."""


def _figures(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    measures, metric = report.measures, plan["algorithm"]["metric"]
    yield "Records", thin(report.records)
    if report.persons is not None:
        yield "Persons", thin(report.persons)
    yield "Records left out for missing values", thin(report.dropped)
    yield "Suppressed records", thin(measures["suppressed"])
    yield "Classes", thin(measures["classes"])
    if measures["min_k"] is not None:
        yield "Records of the smallest class", thin(measures["min_k"])
    if measures.get("min_persons") is not None:
        yield "Persons of the smallest class", thin(measures["min_persons"])
    yield "Loss", f"{percent(measures['alteration'][metric])} ({_said('metric', metric)})"
    for change in report.risks:
        if change.column and change.after is not None and change.level in _LEVELS:
            yield f"{change.level.title} of {quoted(change.column)}", write_number(change.after)
