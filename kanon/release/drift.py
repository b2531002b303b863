"""Find what is new in the next table for a plan, before anything is run.

The next delivery of a table may lack a column, have a value outside its hierarchy, or have other
counts. :func:`check_next_table` finds everything at once, where a run stops at the first problem.
:func:`build_pinned_plan` makes the plan that recodes the next table like the last one, so that
both can be compared.

>>> from kanon.plan import Plan
>>> plan = Plan.from_content({
...     "version": 2, "algorithm": {"name": "gaa"}, "privacy": [{"model": "k-anonymity", "k": 2}],
...     "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"nodes": [
...         {"name": "*"}, {"name": "F", "parent": "*"}, {"name": "M", "parent": "*"}]}}}})
>>> for finding in check_next_table(plan, pd.DataFrame({"sex": ["F", "X", "M", "X"]})):
...     print(finding.kind, finding.stops)
new-values True
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from kanon.algorithms.catalogue import algorithm_named, needs_hierarchies
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.kinds import has_dates, read_numbers
from kanon.base.values import MISSING_LABEL
from kanon.errors import HierarchyError, KanonError, quote
from kanon.hierarchy.plans import AgesPlan, DatesPlan, HierarchyPlan, IntervalsPlan, build_hierarchy
from kanon.plan import Plan
from kanon.plan_parts import AlgorithmPlan, RecordsPlan
from kanon.run import PreparedRun, Run, prepare
from kanon.run.preparation import list_distance_columns
from kanon.schema import Role, check_columns
from kanon.sources.coverage import find_uncovered_values
from kanon.sources.limits import require_records
from kanon.sources.memory import convert_to_table
from kanon.sources.repairs import describe_notes
from kanon.sources.tables import Table

_LEVELS = "levels"  # the algorithm that recodes by given levels, without a search


@dataclass(frozen=True)
class DriftFinding:
    # what it is about
    kind: Literal[
        "missing-column",
        "idle-repair",
        "unnamed-column",
        "missing-cells",
        "another-type",
        "new-values",
        "new-categories",
        "unfit",
        "models",
    ]
    column: str  # the column, or "" where it is about the whole table
    stops: bool  # whether the plan cannot be run on the table before that is mended
    sentence: str  # what was found, in figures, and what to do


def check_next_table(
    plan: Plan,
    table: Table | pd.DataFrame,
    folder: Path = Path(),
    before: Table | pd.DataFrame | None = None,
) -> tuple[DriftFinding, ...]:
    return find_changes(plan, convert_to_table(table), folder, before)[0]


def find_changes(
    plan: Plan, table: Table, folder: Path = Path(), before: Table | pd.DataFrame | None = None
) -> tuple[tuple[DriftFinding, ...], PreparedRun | None]:
    check_columns(table.columns, [])
    require_records(table.n_records)
    findings = [*_find_column_changes(plan, table)]
    try:
        table = table.repair(plan.repairs, plan.read.column_kinds)
    except KanonError as error:
        return (*findings, DriftFinding("unfit", "", True, str(error))), None
    findings += [
        DriftFinding("idle-repair", column, False, note)
        for column, note in describe_notes(table.repairs)
    ]
    quasi = [column for column in plan.roles.quasi_identifiers if column in table.columns]
    incomplete = table.incomplete(quasi) if quasi else 0
    drops, records = plan.read.missing == "drop-records", table
    if incomplete and (plan.read.missing is None or (drops and incomplete == table.n_records)):
        findings.append(_describe_missing_cells(incomplete, table))
    elif incomplete and drops:
        records = table.complete(quasi)
    earlier = None
    if before is not None:
        try:
            earlier = convert_to_table(before).repair(plan.repairs, plan.read.column_kinds)
        except KanonError as error:
            sentence = f"The earlier table cannot be compared: {error}"
            findings.append(DriftFinding("unfit", "", False, sentence))
    coarse = [column for column in plan.coarsened if column in table.columns]
    apart = [
        column
        for column in list_distance_columns(plan)
        if column in table.columns and plan.columns[column].hierarchy is not None
    ]
    for column in dict.fromkeys((*quasi, *coarse, *apart)):
        findings += _find_hierarchy_gaps(column, plan, records, folder)
    for column in plan.roles.columns(Role.SENSITIVE):
        if column in coarse:  # what is new of it is in a group of its hierarchy, or said above
            continue
        if earlier is not None and column in table.columns and column in earlier.columns:
            findings += _find_new_categories(column, records, earlier)
    if any(finding.stops for finding in findings):
        return tuple(findings), None
    unmet, prepared = _find_unmet_models(plan, table, folder)
    return (*findings, *unmet), prepared


def build_pinned_plan(run: Run) -> Plan | None:
    """The plan that raises every later table to the levels of a release; None without levels."""
    node, plan = run.recoding.trace.node, run.prepared.plan
    if node is None:
        return None
    limit = plan.suppression_limit
    if limit is None:
        limit = RecordsPlan(records=run.recoding.suppressed_records)
    levels = dict(zip(run.prepared.classes.attributes, node, strict=True))
    chosen = AlgorithmPlan(name=_LEVELS, metric=plan.algorithm.metric, node=levels)
    return plan.model_copy(update={"algorithm": chosen, "suppression_limit": limit})


def check_pinned_levels(
    plan: Plan, table: Table | pd.DataFrame, before: Table | pd.DataFrame, folder: Path = Path()
) -> tuple[DriftFinding, ...]:
    """Check whether the levels that a plan finds for an earlier table still meet its models."""
    module = algorithm_named(plan.algorithm.name)
    if module.CARD.family != _LEVELS or plan.algorithm.name == _LEVELS:
        return ()
    earlier = prepare(plan, before, folder)
    fixed = build_pinned_plan(Run(earlier, module.anonymise(earlier.check()), 0.0))
    if fixed is None:
        return ()
    return tuple(
        DriftFinding(
            "models", "", False,
            "The counts have shifted: at the levels of the earlier table, the models are not met. "
            f"{finding.sentence}",
        )
        for finding in _find_unmet_models(fixed, convert_to_table(table), folder)[0]
    )  # fmt: skip


def _find_column_changes(plan: Plan, table: Table) -> Iterator[DriftFinding]:
    for column, part in plan.columns.items():
        if column not in table.columns:
            yield DriftFinding(
                "missing-column", column, True,
                f"The column {quote(column)} is missing; in the plan its role is {part.role}.",
            )  # fmt: skip
    for column in table.columns:
        if column not in plan.columns:
            yield DriftFinding(
                "unnamed-column", column, False,
                f"The column {quote(column)} is new: the plan does not name it, so it passes into "
                "the release unchanged.",
            )  # fmt: skip


def _describe_missing_cells(incomplete: int, table: Table) -> DriftFinding:
    lack = "record lacks" if incomplete == 1 else "records lack"
    return DriftFinding(
        "missing-cells", "", True,
        f"{write_count(incomplete)} {lack} a quasi-identifier, "
        f"{write_percent(100 * incomplete / table.n_records)} of all: set read.missing in the plan "
        "to 'as-value', or to 'drop-records' if some records are complete.",
    )  # fmt: skip


def _find_hierarchy_gaps(
    column: str, plan: Plan, table: Table, folder: Path
) -> Iterator[DriftFinding]:
    chosen, counts = plan.columns[column].hierarchy, table.count_column_values(column).counts
    kind = plan.read.column_kinds.get(column)
    if chosen is None:
        if needs_hierarchies(plan.algorithm.name):
            yield DriftFinding(
                "unfit", column, True,
                f"The quasi-identifier {quote(column)} has no hierarchy; choose one for it.",
            )  # fmt: skip
        return
    try:
        tree = build_hierarchy(column, chosen, list(counts), folder, kind)
    except HierarchyError as error:
        sort = _get_expected_sort(chosen)
        strangers = _find_other_sorts(sort, counts)
        if strangers:
            yield DriftFinding(
                "another-type", column, True, _describe_other_type(column, sort, strangers, table)
            )
        else:
            yield DriftFinding("unfit", column, True, str(error))
        return
    lacking = find_uncovered_values(counts, tree)
    if not lacking:
        return
    sort = _find_sort([leaf for leaf in tree.labels[: tree.n_leaves] if leaf != MISSING_LABEL])
    strangers = _find_other_sorts(sort, lacking)
    if sum(strangers.values()) > table.n_records / 2:
        yield DriftFinding(
            "another-type", column, True, _describe_other_type(column, sort, strangers, table)
        )
        return
    records = sum(lacking.values())
    yield DriftFinding(
        "new-values", column, True,
        f"{quote(column)} has {count_noun(len(lacking), 'value')} that its hierarchy lacks, in "
        f"{count_noun(records, 'record')}, {write_percent(100 * records / table.n_records)} of "
        "all: add them on the Hierarchies page, or to the hierarchy file.",
    )  # fmt: skip


def _find_new_categories(column: str, table: Table, before: Table) -> Iterator[DriftFinding]:
    """Find new values of a sensitive column, or, among numbers, those that are not numbers."""
    now, then = table.count_column_values(column).counts, before.count_column_values(column).counts
    sort = _find_sort(list(then))
    if sort != "values" and (strange := _find_other_sorts(sort, now)):
        yield DriftFinding(
            "another-type", column, False, _describe_other_type(column, sort, strange, table)
        )
    new = {value: records for value, records in now.items() if value not in then}
    if sort == "values" and new:
        records = sum(new.values())
        yield DriftFinding(
            "new-categories", column, False,
            f"The sensitive column {quote(column)} has "
            f"{count_noun(len(new), 'new category', 'new categories')}, in "
            f"{count_noun(records, 'record')}, {write_percent(100 * records / table.n_records)} of "
            "all, so l and t are not comparable with those of the earlier table.",
        )  # fmt: skip


def _find_unmet_models(
    plan: Plan, table: Table, folder: Path
) -> tuple[tuple[DriftFinding, ...], PreparedRun | None]:
    prepared = None
    try:
        prepared = prepare(plan, table, folder)
        task = prepared.check()
        if plan.algorithm.name == _LEVELS:
            algorithm_named(_LEVELS).anonymise(task)
    except KanonError as error:
        return (DriftFinding("models", "", True, str(error)),), prepared
    return (), prepared


# --- types ----------------------------------------------------------------------------------
_Sort = Literal["numbers", "dates", "values"]


def _find_sort(texts: Sequence[str]) -> _Sort:
    if read_numbers(list(texts)) is not None:
        return "numbers"
    return "dates" if has_dates(texts) else "values"


def _get_expected_sort(hierarchy: HierarchyPlan) -> _Sort:
    if isinstance(hierarchy, IntervalsPlan):
        return "numbers"
    return "dates" if isinstance(hierarchy, DatesPlan | AgesPlan) else "values"


def _find_other_sorts(sort: _Sort, counts: Mapping[str, int]) -> dict[str, int]:
    if sort == "values":
        return {}
    return {value: records for value, records in counts.items() if _find_sort([value]) != sort}


def _describe_other_type(column: str, sort: _Sort, strange: Mapping[str, int], table: Table) -> str:
    records = sum(strange.values())
    return (
        f"{quote(column)} has another type: the plan expects {sort}, but "
        f"{count_noun(len(strange), 'value')} in {count_noun(records, 'record')}, "
        f"{write_percent(100 * records / table.n_records)} of all, "
        f"{'is' if len(strange) == 1 else 'are'} not."
    )
