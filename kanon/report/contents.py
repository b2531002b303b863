"""Everything that a report says, as data: it is rendered from this, and tests compare it."""

import datetime
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lower_bound import LowerBound
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import write_count, write_number, write_percent
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.cards import Card
from kanon.charts.trees import TreeDrawing, place_tree
from kanon.errors import PlanError, TableError, join_lines, quote
from kanon.evidence.attack import Evidence
from kanon.measures.overview import MeasureValue
from kanon.measures.privacy import risk_summary, sensitive_measures
from kanon.metrics import METRICS
from kanon.plan import Plan
from kanon.privacy import k_anonymity
from kanon.privacy.plans import MODELS
from kanon.release import attack_and_use
from kanon.release.check import require_verdicts
from kanon.release.context import Context
from kanon.release.decision import Decision, compare_with_thresholds, measure_reached_levels
from kanon.release.remark_kinds import Remark
from kanon.report.alternatives import (
    Alternatives,
    CurveSection,
    collect_alternatives,
    draw_curve_sections,
    run_plan,
)
from kanon.report.changes import ReportRecord, list_report_changes
from kanon.report.explanations import (
    SENSITIVE_MEASURES,
    ColumnProfile,
    Guarantee,
    describe_check_verdict,
    describe_columns,
    describe_plainly,
    describe_plan,
    describe_released_columns,
    list_guarantees,
)
from kanon.report.intruder_test import NO_ATTEMPTS, IntruderTest
from kanon.report.loss import list_loss_measures, measure_loss_ends
from kanon.report.optimality_gap import (
    OptimalityGap,
    compute_close_bound,
    compute_quick_bound,
    explain_no_bound,
)
from kanon.report.origin import (
    Origin,
    build_released_file,
    collect_fingerprints,
    compute_hierarchies_fingerprint,
    get_table_origin,
    list_versions,
    write_canonical_plan,
)
from kanon.report.public import PublicReport, build_public_report, list_publishable_figures
from kanon.report.words import Words
from kanon.run import Run, finished, prepare
from kanon.schema import SUPPRESSED, Role
from kanon.sources.memory import MemoryTable, convert_to_table
from kanon.sources.repairs import RepairResult, describe_repair_kinds
from kanon.sources.rows import name_missing_cells
from kanon.sources.tables import Table
from kanon.strategies import STRATEGIES

_N_EXAMPLES, _MOST_COLUMNS, _MOST_CHARACTERS = 5, 9, 60
"""The records shown before and after; the most columns, and the most characters of a cell."""

_N_SEARCHED = 1000  # the records among which changed ones are looked for


@dataclass(frozen=True)
class HierarchyDrawing:
    column: str
    n_nodes: int
    height: int
    levels: tuple[int, ...]  # per level its nodes, from the values upwards
    drawing: TreeDrawing
    fingerprint: str  # the SHA-256 of its nodes


@dataclass(frozen=True)
class LevelChange:
    """A number about the original table and the release; None stands for infinite."""

    level: Card
    column: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Example:
    """Some records before and after, their cells as texts."""

    columns: tuple[str, ...]  # the names
    # the records, row by row the same
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]
    changed: bool  # whether all of them were changed
    left_out: int  # how many columns there was no room for


@dataclass(frozen=True, eq=False)
class Report:
    words: Words  # what the people behind the release say
    # all that differs between two reports of one release: the day, and the time of the algorithm
    date: datetime.date
    seconds: float
    verdict: str  # what was checked, what was reached and what was not considered
    plain_sentences: tuple[str, ...]  # what the release protects and what it costs, in plain words
    # records that were anonymised, and those left out before for missing values
    records: int
    dropped: int
    repairs: tuple[RepairResult, ...]  # the steps on the table before anything was counted
    persons: int | None
    profile: tuple[ColumnProfile, ...]  # the columns of the original table
    # the hierarchies of the quasi-identifiers, of what was coarsened and of distances
    hierarchies: tuple[HierarchyDrawing, ...]
    plan_terms: tuple[tuple[str, str], ...]  # the plan in words
    plan: str  # the plan as JSON
    guarantees: tuple[Guarantee, ...]  # each model, and what the independent check found
    # the risk of being found and of values being learnt, before and after
    risks: tuple[LevelChange, ...]
    leaves: str  # what the release protects and what it does not, by columns
    remarks: tuple[Remark, ...]  # what no model looks at
    unnamed_sentence: str  # which columns the plan does not name
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
    # the thresholds of its purpose, and what it reached
    decision: Decision | None = None
    # what the last report of the same project said, and what changed since
    last: ReportRecord | None = None
    changes: tuple[str, ...] = ()
    # added to a report: what an attacker gains, the day that was measured, and attempts of people
    evidence: Evidence | None = None
    attacked_on: str = ""
    intruder_test: IntruderTest = NO_ATTEMPTS

    @property
    def release_fingerprint(self) -> str:
        """That of the table and the plan: attempts of the motivated intruder test have it."""
        return compute_fingerprint(self.hashes[0][1], self.hashes[1][1])

    @property
    def title(self) -> str:
        """The user's title of the release, or the name of the input."""
        return self.words.title or f"Release of {self.name}"


def collect_report(
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
    measured: attack_and_use.AttackAndUse | None = None,
    attack: Callable[[Run, Progress], Evidence] | None = None,
    intruder_test: IntruderTest = NO_ATTEMPTS,
    progress: Progress = ignore_progress,
) -> Report:
    """Make the release of a plan, check it, and gather everything that its report says.

    Only the plan and the table count, so the dashboard and the command line say the same. Two calls
    differ only in the date and the seconds. ``measured`` is what an attack on the release and its
    use showed, where that is known for all that ``context`` needs: it is not measured again.
    ``attack`` measures what an attacker gains from the release, for the report to say it.

    >>> table = pd.DataFrame({"sex": ["F", "F", "M"]})
    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "gaa"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> report = collect_report(plan, table, date=datetime.date(2026, 1, 31))
    >>> report.guarantees[0].required, report.guarantees[0].reached
    ('k-anonymity with k = 2', '3')
    """
    original = convert_to_table(table)
    if not isinstance(original, MemoryTable):
        raise TableError(
            "A report rechecks the released rows, which needs the table in memory; add --engine "
            "memory, or use a smaller table."
        )
    progress(0.0, "reading the plan")
    prepared = prepare(plan, original, folder)
    repaired = original.repair(plan.repairs, plan.read.column_kinds)
    if closely and (reason := explain_no_bound(prepared.classes)):  # before what takes long
        raise PlanError(reason)
    plan_result = run_plan(prepared, scale_progress(progress, 0.05, 0.4))
    release_run = finished(prepared, plan_result.recoding, plan_result.seconds)
    progress(0.4, "checking the release")
    require_verdicts(release_run.verdicts)
    release = build_released_file(release_run, handed_out)  # before what takes long, too
    names: list[str] = []
    evidence = None if attack is None else attack(release_run, scale_progress(progress, 0.4, 0.45))
    decision = None
    if context is not None:  # before what takes long: a population may not fit, for one
        reached = measure_reached_levels(release_run, context.known, people)
        names = attack_and_use.list_measured_thresholds([context])
        measured = measured or attack_and_use.measure_attack_and_use(
            release_run, names, evidence=evidence
        )
        decision = compare_with_thresholds(context, reached, *measured)
    progress(0.45, "measuring what was lost")
    losses = list_loss_measures(release_run, measure_loss_ends(prepared))
    other_releases = collect_alternatives(release_run, scale_progress(progress, 0.6, 0.95))
    gap = None
    if release_run.recoding.n_classes:
        find_bound = compute_close_bound if closely else compute_quick_bound
        bound_or_none = bound or find_bound(prepared, scale_progress(progress, 0.95, 1.0))
        gap = None if bound_or_none is None else OptimalityGap.from_run(release_run, bound_or_none)
    reached_levels = list_guarantees(release_run)
    origin = origin or get_table_origin(original)
    nothing = "Nothing is released at the chosen k, so there are no curves around it."
    report = Report(
        words=words or Words(),
        date=date,
        seconds=plan_result.seconds,
        verdict=describe_check_verdict(release_run, reached_levels),
        plain_sentences=(
            *describe_plainly(release_run),
            *([gap.sentence] if gap is not None else []),
        ),
        records=prepared.classes.n_records,
        dropped=prepared.dropped,
        repairs=prepared.repairs,
        persons=None if prepared.classes.persons is None else prepared.classes.highest_k,
        profile=describe_columns(release_run, repaired),
        hierarchies=_draw_hierarchies(release_run),
        plan_terms=describe_plan(release_run),
        plan=write_canonical_plan(plan),
        guarantees=reached_levels,
        risks=_measure_risks(release_run),
        leaves=describe_released_columns(release_run),
        remarks=release_run.remarks,
        unnamed_sentence=release_run.about_unnamed,
        lost=losses,
        curves=draw_curve_sections(prepared, plan_result),
        about_k=plan_result.about_k if release_run.recoding.n_classes else nothing,
        alternatives=other_releases,
        measures={name: value for name, value in release_run.measures.items() if name != "seconds"},
        versions=list_versions(),
        hashes=collect_fingerprints(release_run, origin, release),
        name=origin.name,
        example=_choose_examples(release_run),
        public=replace(
            build_public_report(release_run, release, date, words),
            # The file says neither who might be in the table nor whom its records are about, and
            # what an attack or its use shows needs the table as well.
            decision=None if people is not None or plan.person or names else decision,
        ),
        figures=list_publishable_figures(release_run),
        gap=gap,
        closely=closely,
        decision=decision,
        evidence=evidence,
        attacked_on="" if evidence is None else date.isoformat(),
        intruder_test=intruder_test,
    )
    if last is not None:
        report = replace(
            report, last=last, changes=list_report_changes(last, build_report_record(report))
        )
    progress(1.0, "done")
    return report


def _draw_hierarchies(run: Run) -> tuple[HierarchyDrawing, ...]:
    classes = run.prepared.classes
    coarsened = {coarsening.column: coarsening.tree for coarsening in run.prepared.coarsened}
    trees = [
        *zip(classes.attributes, classes.hierarchies, strict=True),
        *{**run.prepared.distances, **coarsened}.items(),
    ]
    return tuple(
        HierarchyDrawing(
            column, tree.n_nodes, tree.height, tuple(np.bincount(tree.level).tolist()),
            place_tree(tree), compute_hierarchies_fingerprint({column: tree}),
        )
        for column, tree in trees
    )  # fmt: skip


_RISKS = (
    Card(
        "highest", "Highest risk of being found",
        "The highest chance that someone who knows that a person is in the table picks the "
        "right record.", "", "%", "lower",
    ),
    Card(
        "mean", "Mean risk of being found",
        "The chance of picking the right record, on average over all records.", "", "%", "lower",
    ),
    Card(
        "share_above", "Records with a risk above 20 %",
        "The share of the records in classes of fewer than five. 20 % is a round number, not a "
        "standard.", "", "%", "lower",
    ),
)  # fmt: skip


def _measure_risks(run: Run) -> tuple[LevelChange, ...]:
    before, after = run.prepared.classes, run.recoding.released
    if not after.n_classes:
        return ()
    uniqueness = Card(
        "unique", f"Unique {before.of}",
        "Records whose quasi-identifiers match those of no other record."
        if before.of == "records"
        else "Persons with a record whose quasi-identifiers match those of no other person.",
        "", before.of, "lower",
    )  # fmt: skip
    changes = [LevelChange(uniqueness, "", before.unique, after.unique)]
    prosecutors = [risk_summary(classes)["prosecutor"] for classes in (before, after)]
    changes += [
        LevelChange(risk, "", *(values[risk.name] for values in prosecutors)) for risk in _RISKS
    ]
    for old, new in zip(before.sensitive, after.sensitive, strict=True):
        levels = [sensitive_measures(old), sensitive_measures(new)]
        changes += [
            LevelChange(level, old.name, *(values[name] for values in levels))
            for name, level in SENSITIVE_MEASURES.items()
            if name in levels[0]
        ]
    return tuple(changes)


def _choose_examples(run: Run) -> Example:
    """The first records that were changed: quasi-identifiers first, never an identifier."""
    prepared = run.prepared
    excerpt = prepared.source.get_excerpt(run.recoding, _N_SEARCHED)
    changed_rows = np.flatnonzero(excerpt.rise.any(axis=1))[:_N_EXAMPLES]
    all_changed = len(changed_rows) == _N_EXAMPLES
    rows = changed_rows if all_changed else np.arange(min(_N_EXAMPLES, len(excerpt.rise)))
    hidden = {*prepared.plan.roles.columns(Role.IDENTIFIER), SUPPRESSED}
    first_columns = [*prepared.classes.attributes, *prepared.plan.roles.columns(Role.SENSITIVE)]
    others = [name for name in excerpt.after.columns if name not in {*first_columns, *hidden}]
    columns = [*first_columns, *others]
    visible_columns = columns[:_MOST_COLUMNS]
    return Example(
        tuple(visible_columns),
        _format_cells(excerpt.before.iloc[rows], visible_columns),
        _format_cells(excerpt.after.iloc[rows], visible_columns),
        all_changed, len(columns) - len(visible_columns),
    )  # fmt: skip


def _format_cells(rows: pd.DataFrame, columns: list[str]) -> tuple[tuple[str, ...], ...]:
    texts = name_missing_cells(rows)
    cells = ([join_lines(cell)[:_MOST_CHARACTERS] for cell in texts[name]] for name in columns)
    return tuple(zip(*cells, strict=True))


# --- what the next report compares itself with ------------------------------------------------
def build_report_record(report: Report) -> ReportRecord:
    """What the next report compares itself with."""
    plan = json.loads(report.plan)
    trees = report.hierarchies
    fingerprints = {f"hierarchy of {quote(tree.column)}": tree.fingerprint for tree in trees}
    return ReportRecord(
        date=report.date.isoformat(),
        settings=dict(_list_settings(plan, report)),
        figures=dict(_list_figures(plan, report)),
        fingerprints={"table": report.hashes[0][1], **fingerprints},
    )


_ALGORITHM_TERMS = {
    "name": "Algorithm",
    "scope": "Scope of the strategy",
    "sensitive": "Column of the strategy",
    "cost": "Cost of a merge",
    "attribute_weights": "Weights of columns",
    "node": "Levels",
}
"""What the keys of a plan's algorithm are called, where that is another word."""


def _list_settings(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    k = max(part.get("k", 1) for part in plan["privacy"])
    yield "k", f"{k} {'persons' if plan.get('person') else 'records'}"
    required: dict[str, list[str]] = {}
    for part in plan["privacy"]:
        keys = [key for key in part if key not in ("model", "column", "columns")]
        if part["model"] != k_anonymity.CARD.name:
            columns = part.get("columns") or [part.get("column")]
            of = f" of {' and '.join(map(quote, columns))}" if any(columns) else ""
            title = f"{MODELS[part['model']].card.title}{of}"
            required.setdefault(title, []).append(", ".join(f"{key} = {part[key]}" for key in keys))
    yield from ((title, "; ".join(parameters)) for title, parameters in required.items())
    for key, value in plan["algorithm"].items():
        term = _ALGORITHM_TERMS.get(key, key.replace("_", " ").capitalize())
        yield term, _describe_setting(key, value)
    for name, metric in plan["metrics"].items():
        yield f"Metric {quote(name)}", f"{metric['intermediate']}, {metric['multiplier']}"
    for key, term in (
        ("suppression_limit", "Records that may be suppressed"),
        ("outliers", "Outliers that may be suppressed"),
    ):
        limit = plan.get(key)
        if isinstance(limit, dict):
            yield term, write_count(limit["records"])
        elif limit is not None:
            yield term, write_percent(100 * limit)
    yield "Rows of suppressed records", plan["suppressed"]
    if plan["read"].get("missing"):
        yield "Records that lack a quasi-identifier", plan["read"]["missing"]
    if plan.get("person"):
        yield "Column of the person", quote(plan["person"])
    if report.repairs:
        yield "Repairs of the table", describe_repair_kinds(part.step for part in report.repairs)
    yield "Version of kanon", dict(report.versions)["kanon"]
    for column in report.profile:
        yield f"Role of {quote(column.name)}", f"{column.role}, {column.fate}"


def _describe_setting(key: str, value: Any) -> str:
    if key == "name":
        return short_title(value)
    if key == "metric":
        return METRICS[value].card.title if value in METRICS else quote(value)
    if key == "strategy":
        return STRATEGIES[value].title
    if isinstance(value, dict):
        return ", ".join(f"{name}: {weight:g}" for name, weight in value.items()) or "all alike"
    return str(value)


# --- what came of it ------------------------------------------------------------------------
_RECORDED_LEVELS = [
    SENSITIVE_MEASURES[name] for name in ("entropy_l", "distinct_l", "t_variational", "alpha")
]
"""The measures of each sensitive column that two reports are compared by."""


def _list_figures(plan: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    measures, metric = report.measures, plan["algorithm"]["metric"]
    yield "Records", write_count(report.records)
    if report.persons is not None:
        yield "Persons", write_count(report.persons)
    yield "Records left out for missing values", write_count(report.dropped)
    yield "Suppressed records", write_count(measures["suppressed"])
    yield "Classes", write_count(measures["classes"])
    if measures["min_k"] is not None:
        yield "Records of the smallest class", write_count(measures["min_k"])
    if measures.get("min_persons") is not None:
        yield "Persons of the smallest class", write_count(measures["min_persons"])
    loss = write_percent(measures["alteration"][metric])
    yield "Loss", f"{loss} ({_describe_setting('metric', metric)})"
    for change in report.risks:
        if change.column and change.after is not None and change.level in _RECORDED_LEVELS:
            yield f"{change.level.title} of {quote(change.column)}", write_number(change.after)
