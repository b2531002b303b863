"""The release of a table whose classes stay in its engine: made, measured, written by one worker.

The engine's connection holds what was merged, and no other process can use it: so the worker that
ran the algorithm writes too, and the page gets numbers and sentences.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kanon.base.progress import Progress, stretch
from kanon.plan import Plan
from kanon.report.explanations import guarantees_of_classes, what_is_met, what_leaves
from kanon.report.origin import fingerprint_of_address, recorder
from kanon.run import Run, prepare, run_prepared, write_stored
from kanon.sources.addresses import Address
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource, part_of, remove
from kanon.studio.session.engine_release import EngineFindings, EngineRelease
from kanon.studio.session.places import Destination, checked_destination, complete_at
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
    """Anonymise a stored table where it is, and have its engine write the release to ``target``.

    ``content`` is the plan, which cannot be sent to a worker as it is; until the release is
    complete, its file is called ``part``. Returns the table with its counts, and the findings.
    """
    progress(0, "Counting the classes")
    plan = Plan.from_content(content)
    prepared = prepare(plan, table)
    done = run_prepared(prepared, stretch(progress, 0.05, 0.6))
    progress(0.6, "Measuring the release")
    found = _findings(done)
    source = prepared.source
    assert isinstance(source, StoredSource)
    progress(0.7, "Writing the release")
    record = recorder(plan, lambda: fingerprint_of_address(table.address), who, "dashboard")
    write_stored(
        source, done.recoding, plan, target, stretch(progress, 0.7, 1), record, part=part,
        replaces=False,
    )  # fmt: skip
    return source.table, found


def _findings(done: Run) -> EngineFindings:
    classes, recoding = done.prepared.classes, done.recoding
    trees = zip(classes.attributes, classes.hierarchies, strict=True)
    return EngineFindings(
        done.measures,
        done.alteration,
        classes.n_classes,
        {column: tree.height for column, tree in trees},
        # The nodes that a search counted are not shown.
        replace(recoding.trace, visited=recoding.trace.visited[:0], walk=()),
        done.about_parts,
        done.about_gap,
        what_is_met(done, guarantees_of_classes(done)) if recoding.n_classes else "",
        what_leaves(done),
        done.remarks,
    )


def releasing_request(work: Work, suggested: str) -> Request | None:
    """Anonymise and write where it was typed, else to ``suggested``; None of a table in memory."""
    table = work.table.records
    if not isinstance(table, StoredTable):
        return None
    plan = plan_of(work, in_engine=True)
    target = checked_destination(work.view(Destination).typed or suggested, table.address)
    part = part_of(target.path)
    then = partial(_with_release, plan, release_settings(work, plan), target.shown)
    return Request(
        "releasing",
        release_in_engine,
        (plan.model_dump(mode="json"), table, target, part, login_name()),
        then,
        limit="engine_minutes",
        lane="long",
        begins=partial(_with_target, target),
        after=partial(remove, part),
        cancelled=_cancelled,
        failed=said_at_destination,
    )


def _with_target(target: Address, work: Work) -> Work:
    return work.with_parts(replace(work.view(Destination), problem="", target=target))


def said_at_destination(work: Work, sentence: str) -> Work:
    """The work with what went wrong said at the field for the destination."""
    wanted = replace(work.view(Destination), problem=sentence, written=None)
    return work.with_parts(wanted, replace(work.message, problem=None))


def _with_release(
    plan: Plan, settings: str, place: str, work: Work, came: tuple[StoredTable, EngineFindings]
) -> Work:
    table, found = came
    if isinstance(work.table.records, StoredTable):
        work.table.records.learn(table)
    seconds = work.running["releasing"].job.seconds
    return work.with_parts(
        Destination(),
        replace(work.findings, engine_release=EngineRelease(plan, settings, found, place, seconds)),
    )


def _cancelled(work: Work) -> Work:
    said = "The run was cancelled; nothing was written."
    if complete_at(work.view(Destination).target):
        said = (
            "The release was complete before the run could be cancelled; its numbers are not "
            "known here."
        )
    return work.with_notice(said)
