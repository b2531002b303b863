"""What a worker does with a stored table: open it, run on it, write a release."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon.algorithms.solution import Solution, run_algorithm
from kanon.base.kinds import ColumnKind
from kanon.base.progress import Progress, scale_progress
from kanon.errors import KanonError, TableError
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.report.origin import build_recorder, compute_address_fingerprint
from kanon.run import measured_metrics, prepare, write_stored
from kanon.sources.addresses import Address
from kanon.sources.exposure import (
    Exposure,
    build_exposure,
    count_unique_without_each,
    find_suppressed,
    measure_exposure,
)
from kanon.sources.opening import open_in_doubt, open_stored_file
from kanon.sources.read_settings import ReadSettings
from kanon.sources.repairs import Repair, check_repairs
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource
from kanon.studio.session.table_loading import set_repairs, start_with_table
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
    count_classes_in_engine,
    needs_class_count,
)


def open_stored_work(
    progress: Progress, address: Address, engine: str | None, settings: ReadSettings
) -> SessionState:
    first = scale_progress(progress, 0, 0.7)
    file = open_in_doubt(lambda how: open_stored_file(address, engine, how, first), settings)
    progress(0.7, "Looking at its columns")
    work = start_with_table(file, 0)
    file.records.head(count_preview_rows(file.records.n_records, len(work.table.roles)))
    progress(0.8, "Counting how exposed its records are")
    if work.table.quasi_identifiers:
        with contextlib.suppress(KanonError):  # the page will say it
            if needs_class_count(work):
                work.table.complete_records.count_class_sizes(work.table.quasi_identifiers)
            start_exposure(work)
    return work


def prepare_and_solve(
    progress: Progress, content: dict[str, Any], table: StoredTable
) -> tuple[StoredSource, int, Solution]:
    """Count a stored table's classes and run a plan: source, dropped records, solution."""
    progress(0, "Counting the classes")
    plan = Plan.from_content(content)
    prepared = prepare(plan, table)
    task = prepared.check()
    assert isinstance(prepared.source, StoredSource)
    for (
        column
    ) in prepared.source.list_unchanged_columns():  # the page tells how rare its values are
        with contextlib.suppress(TableError):
            prepared.source.table.frequencies(column)
    metrics = measured_metrics(plan, [plan.metric.name])
    solution = run_algorithm(progress, plan.algorithm.name, task, metrics)
    return prepared.source, prepared.dropped, solution


def write_release(
    progress: Progress,
    source: StoredSource,
    recoding: Recoding,
    content: dict[str, Any],
    target: Address,
    part: Path,
    who: str,
) -> None:
    progress(0, "Writing the release")
    plan = Plan.from_content(content)
    address = source.table.address
    record = build_recorder(plan, lambda: compute_address_fingerprint(address), who, "dashboard")
    write_stored(source, recoding, plan, target, progress, record, part=part, replaces=False)


@dataclass(frozen=True)
class ExposureNumbers:
    """The class sizes by all quasi-identifiers, and the unique records without each of them."""

    exposure: Exposure
    unique_without: Mapping[str, int]
    suppressed: int = 0  # by whoever made the table: they are in none of the numbers


def start_exposure(work: SessionState) -> ExposureNumbers:
    """Measure the table as it is, without the records that a run would drop."""
    table = work.table
    if count_classes_in_engine(work) is not None:
        sizes = table.complete_records.count_class_sizes(table.quasi_identifiers)
        return ExposureNumbers(build_exposure(sizes), {})
    classes = table.complete_records.build_classes(
        table.quasi_identifiers, person=table.person_for_k
    )
    silent = find_suppressed(table.complete_records, classes)
    suppressed, classes = int(classes.counts[silent].sum()), classes.without(silent)
    return ExposureNumbers(
        measure_exposure(classes), count_unique_without_each(classes), suppressed
    )


def request_repairs(work: SessionState, steps: Sequence[Repair]) -> JobRequest:
    """Request to repair a table whose rows an engine has."""
    table = work.table.file.records
    check_repairs(steps, work.table.file.settings.missing_markers)

    def store_repaired(work: SessionState, repaired: StoredTable) -> SessionState:
        table.latest = repaired
        return set_repairs(work, steps)

    return JobRequest(
        "reading",
        repair_stored,
        (table, steps, dict(work.table.kinds), tuple(work.table.hierarchy_columns)),
        store_repaired,
        limit="engine_minutes",
        keep_user_items=False,
    )


def repair_stored(
    progress: Progress,
    table: StoredTable,
    steps: Sequence[Repair],
    kinds: Mapping[str, ColumnKind],
    columns: Sequence[str],
) -> StoredTable:
    progress(0, "Repairing the table")
    repaired = table.repair(steps, kinds)
    for column in columns:  # their hierarchies are built again
        repaired.count_column_values(column)
    return repaired


def count_preview_rows(records: int, columns: int) -> int:
    """The rows of a preview: at most 100, and fewer of a wide table.

    >>> count_preview_rows(30_000, 10), count_preview_rows(30_000, 300), count_preview_rows(3, 2)
    (100, 33, 3)
    """
    return min(records, 100, max(10, 10_000 // columns))


def count_classes(progress: Progress, table: StoredTable, columns: Sequence[str]) -> StoredTable:
    progress(0, "Grouping the records")
    table.count_class_sizes(columns)
    return table
