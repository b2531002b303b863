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

from kanon.base.progress import Progress, stretch
from kanon.errors import KanonError, TableError, quoted
from kanon.plan import Plan
from kanon.report.explanations import guarantees_of_classes, what_is_met, what_leaves
from kanon.report.origin import fingerprint_of_address, recorder
from kanon.run import Run, prepare, run_prepared, write_stored
from kanon.sources.addresses import Address, allowed_folder, allowed_path
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource, check_outside, kind_written, part_of, remove
from kanon.studio.session.findings import EngineFindings, EngineRelease
from kanon.studio.session.parts import SessionPart
from kanon.studio.session.run_plan import plan_of, release_settings
from kanon.studio.session.server import login_name
from kanon.studio.session.work import Request, Work


def release_in_engine(
    progress: Progress,
    content: dict[str, Any],
    table: StoredTable,
    target: Address,
    part: Path,
    who: str,
) -> tuple[StoredTable, EngineFindings]:
    """Anonymise a stored table in its engine; an incomplete release is called ``part``."""
    progress(0, "Counting the classes")
    plan = Plan.from_content(content)
    prepared = prepare(plan, table)
    run = run_prepared(prepared, stretch(progress, 0.05, 0.6))
    progress(0.6, "Measuring the release")
    findings = _describe_run(run)
    source = prepared.source
    assert isinstance(source, StoredSource)
    progress(0.7, "Writing the release")
    record = recorder(plan, lambda: fingerprint_of_address(table.address), who, "dashboard")
    write_stored(
        source, run.recoding, plan, target, stretch(progress, 0.7, 1), record, part=part,
        replaces=False,
    )  # fmt: skip
    return source.table, findings


def _describe_run(run: Run) -> EngineFindings:
    classes, recoding = run.prepared.classes, run.recoding
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    return EngineFindings(
        run.measures,
        run.alteration,
        classes.n_classes,
        {column: tree.height for column, tree in trees},
        # The nodes that a search counted are not shown.
        replace(recoding.trace, visited=recoding.trace.visited[:0], walk=()),
        run.about_parts,
        run.about_gap,
        what_is_met(run, guarantees_of_classes(run)) if recoding.n_classes else "",
        what_leaves(run),
        run.remarks,
    )


def releasing_request(work: Work, suggested: str) -> Request | None:
    """Anonymise and write to the typed place, else to ``suggested``; None of a table in memory."""
    table = work.table.records
    if not isinstance(table, StoredTable):
        return None
    plan = plan_of(work, in_engine=True)
    target = checked_destination(work.view(Destination).typed or suggested, table.address)
    part = part_of(target.path)
    then = partial(_store_release, plan, release_settings(work, plan), target.shown)
    return Request(
        "releasing",
        release_in_engine,
        (plan.model_dump(mode="json"), table, target, part, login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_set_target, target),
        after=partial(remove, part),
        cancelled=_describe_cancel,
        failed=said_at_destination,
    )


def _set_target(target: Address, work: Work) -> Work:
    return work.with_parts(replace(work.view(Destination), problem="", target=target))


def said_at_destination(work: Work, sentence: str) -> Work:
    wanted = replace(work.view(Destination), problem=sentence, written=None)
    return work.with_parts(wanted, replace(work.message, problem=None))


def _store_release(
    plan: Plan,
    settings: str,
    place: str,
    work: Work,
    worker_answer: tuple[StoredTable, EngineFindings],
) -> Work:
    table, findings = worker_answer
    if isinstance(work.table.records, StoredTable):
        work.table.records.learn(table)
    seconds = work.running["releasing"].job.seconds
    return work.with_parts(
        Destination(),
        replace(
            work.findings, engine_release=EngineRelease(plan, settings, findings, place, seconds)
        ),
    )


def _describe_cancel(work: Work) -> Work:
    sentence = "The run was cancelled; nothing was written."
    if complete_at(work.view(Destination).target):
        sentence = (
            "The release was complete before the run could be cancelled. Its numbers are unknown."
        )
    return work.with_notice(sentence)


def engine_release_outdated(work: Work) -> bool:
    release = work.findings.engine_release
    try:
        return release is not None and engine_release_depends_on(work) != release.settings
    except KanonError:
        return True


def engine_release_depends_on(work: Work) -> str:
    return release_settings(work, plan_of(work, in_engine=True))


@dataclass(frozen=True)
class WrittenRelease:
    place: str  # Where it is
    k: int  # Its k and how many records it holds
    records: int
    seconds: float  # How long it took to write


@dataclass(frozen=True)
class Destination(SessionPart):
    typed: str = ""  # A path; empty for the one that is suggested
    problem: str = ""  # Why nothing was written there
    written: WrittenRelease | None = None  # What was written last
    target: Address | None = None  # Where it is being written to, or was


def complete_at(target: Address | None) -> bool:
    """Whether a release stands where nothing, or an empty folder, was when writing began."""
    if target is None or target.table is not None:
        return False
    path = target.path
    return any(path.iterdir()) if path.is_dir() else path.exists()


def suggested_destination(
    address: Address, name: str, environment: Mapping[str, str] = os.environ
) -> str:
    """Suggest a new folder beside the table."""
    folder = allowed_folder(environment) if address.is_url else address.path.parent
    paths = (folder / (name if n == 1 else f"{name}-{n}") for n in count(1))
    return str(next(path for path in paths if not os.path.lexists(path)))


def checked_destination(
    typed: str, address: Address, environment: Mapping[str, str] = os.environ
) -> Address:
    """Check that a release may be written there and nothing is there yet."""
    if not typed.strip():
        raise TableError("Say where the release goes: a new folder, or a file.")
    target = Address.parse(typed)
    if target.is_url:
        raise TableError("A release is written to a path, not to a URL.")
    path = allowed_path(target.path, environment)
    target = replace(target, place=str(path))
    check_outside(target, address)
    try:
        kind = kind_written(target)
        if kind != "duckdb" and path.exists() and not path.is_dir():
            raise TableError(f"{quoted(path, 200)} exists already: give another name.")
        if not path.parent.is_dir():
            raise TableError(f"The folder {quoted(path.parent, 200)} does not exist.")
    except OSError as error:
        why = error.strerror or "not a usable path"
        raise TableError(f"{quoted(path, 200)} cannot be written ({why}).") from None
    return target
