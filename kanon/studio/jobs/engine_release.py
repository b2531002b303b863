"""The release of a table whose classes stay in its engine: made, measured, written by one worker.

The engine's connection holds what was merged, and no other process can use it: so the worker that
ran the algorithm writes too, and the page gets numbers and sentences.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from kanon.base.progress import Progress, scale_progress
from kanon.errors import KanonError, TableError, quote
from kanon.plan import Plan
from kanon.report.explanations import (
    describe_met_models,
    describe_released_columns,
    list_class_guarantees,
)
from kanon.report.origin import build_recorder, compute_address_fingerprint
from kanon.run import Run, prepare, run_prepared, write_stored
from kanon.sources.addresses import Address, get_tables_folder, resolve_allowed_path
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import (
    StoredSource,
    check_outside,
    find_written_kind,
    get_part_path,
    remove_part,
)
from kanon.studio.session.findings import EngineRelease, EngineReleaseFacts
from kanon.studio.session.parts import StateSection
from kanon.studio.session.run_plan import build_plan, hash_release_inputs
from kanon.studio.session.server import get_login_name
from kanon.studio.session.work import JobRequest, SessionState


def write_engine_release(
    progress: Progress,
    content: dict[str, Any],
    table: StoredTable,
    target: Address,
    part: Path,
    who: str,
) -> tuple[StoredTable, EngineReleaseFacts]:
    """Anonymise a stored table in its engine; an incomplete release is called ``part``."""
    progress(0, "Counting the classes")
    plan = Plan.from_content(content)
    prepared = prepare(plan, table)
    run = run_prepared(prepared, scale_progress(progress, 0.05, 0.6))
    progress(0.6, "Measuring the release")
    findings = _describe_run(run)
    source = prepared.source
    assert isinstance(source, StoredSource)
    progress(0.7, "Writing the release")
    record = build_recorder(
        plan, lambda: compute_address_fingerprint(table.address), who, "dashboard"
    )
    write_stored(
        source, run.recoding, plan, target, scale_progress(progress, 0.7, 1), record, part=part,
        replaces=False,
    )  # fmt: skip
    return source.table, findings


def _describe_run(run: Run) -> EngineReleaseFacts:
    classes, recoding = run.prepared.classes, run.recoding
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    return EngineReleaseFacts(
        run.measures,
        run.alteration,
        classes.n_classes,
        {column: tree.height for column, tree in trees},
        # The nodes that a search counted are not shown.
        replace(recoding.trace, visited=recoding.trace.visited[:0], walk=()),
        run.about_parts,
        run.about_gap,
        describe_met_models(run, list_class_guarantees(run)) if recoding.n_classes else "",
        describe_released_columns(run),
        run.remarks,
    )


def request_engine_release(work: SessionState, suggested: str) -> JobRequest | None:
    """Anonymise and write to the typed place, else to ``suggested``; None of a table in memory."""
    table = work.table.records
    if not isinstance(table, StoredTable):
        return None
    plan = build_plan(work, in_engine=True)
    target = check_destination(work.view(Destination).typed or suggested, table.address)
    part = get_part_path(target.path)
    then = partial(_store_release, plan, hash_release_inputs(work, plan), target.shown)
    return JobRequest(
        "releasing",
        write_engine_release,
        (plan.model_dump(mode="json"), table, target, part, get_login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_set_target, target),
        after=partial(remove_part, part),
        handle_cancel=_describe_cancel,
        handle_failure=add_destination_problem,
    )


def _set_target(target: Address, work: SessionState) -> SessionState:
    return work.replace_sections(replace(work.view(Destination), problem="", target=target))


def add_destination_problem(work: SessionState, sentence: str) -> SessionState:
    wanted = replace(work.view(Destination), problem=sentence, written=None)
    return work.replace_sections(wanted, replace(work.message, problem=None))


def _store_release(
    plan: Plan,
    settings: str,
    place: str,
    work: SessionState,
    worker_answer: tuple[StoredTable, EngineReleaseFacts],
) -> SessionState:
    table, findings = worker_answer
    if isinstance(work.table.records, StoredTable):
        work.table.records.collect_answers(table)
    seconds = work.running["releasing"].job.seconds
    return work.replace_sections(
        Destination(),
        replace(
            work.findings, engine_release=EngineRelease(plan, settings, findings, place, seconds)
        ),
    )


def _describe_cancel(work: SessionState) -> SessionState:
    sentence = "The run was cancelled; nothing was written."
    if is_release_complete(work.view(Destination).target):
        sentence = (
            "The release was complete before the run could be cancelled. Its numbers are unknown."
        )
    return work.add_notice(sentence)


def has_outdated_engine_release(work: SessionState) -> bool:
    release = work.findings.engine_release
    try:
        return release is not None and hash_engine_release_inputs(work) != release.settings
    except KanonError:
        return True


def hash_engine_release_inputs(work: SessionState) -> str:
    return hash_release_inputs(work, build_plan(work, in_engine=True))


@dataclass(frozen=True)
class WrittenRelease:
    place: str  # Where it is
    k: int  # Its k and how many records it holds
    records: int
    seconds: float  # How long it took to write


@dataclass(frozen=True)
class Destination(StateSection):
    typed: str = ""  # A path; empty for the one that is suggested
    problem: str = ""  # Why nothing was written there
    written: WrittenRelease | None = None  # What was written last
    target: Address | None = None  # Where it is being written to, or was


def is_release_complete(target: Address | None) -> bool:
    """Whether a release stands where nothing, or an empty folder, was when writing began."""
    if target is None or target.table is not None:
        return False
    path = target.path
    return any(path.iterdir()) if path.is_dir() else path.exists()


def suggest_destination(
    address: Address, name: str, environment: Mapping[str, str] = os.environ
) -> str:
    """Suggest a new folder beside the table."""
    folder = get_tables_folder(environment) if address.is_url else address.path.parent
    paths = (folder / (name if n == 1 else f"{name}-{n}") for n in count(1))
    return str(next(path for path in paths if not os.path.lexists(path)))


def check_destination(
    typed: str, address: Address, environment: Mapping[str, str] = os.environ
) -> Address:
    """Check that a release may be written there and nothing is there yet."""
    if not typed.strip():
        raise TableError("Choose where the release goes: a new folder, or a file.")
    target = Address.parse(typed)
    if target.is_url:
        raise TableError("A release is written to a path, not to a URL.")
    path = resolve_allowed_path(target.path, environment)
    target = replace(target, place=str(path))
    check_outside(target, address)
    try:
        kind = find_written_kind(target)
        if kind != "duckdb" and path.exists() and not path.is_dir():
            raise TableError(f"{quote(path, 200)} already exists: choose another name.")
        if not path.parent.is_dir():
            raise TableError(f"The folder {quote(path.parent, 200)} does not exist.")
    except OSError as error:
        why = error.strerror or "not a usable path"
        raise TableError(f"{quote(path, 200)} cannot be written ({why}).") from None
    return target
