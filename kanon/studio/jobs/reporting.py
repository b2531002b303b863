"""The report of a release, as a session makes it: in a worker, and as the command line would."""

import datetime
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from kanon.base.progress import Progress
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.report.changes import parse_record
from kanon.report.contents import Report, gather
from kanon.report.origin import Origin, origin_of_content, origin_of_table
from kanon.sources.tables import Table
from kanon.studio.jobs.lower_bounds import known_bound
from kanon.studio.session.findings import FoundBound
from kanon.studio.session.work import Request, Work


def origin_of(work: Work) -> Origin | None:
    if work.table.content is None:
        return None
    return origin_of_content(work.table.content, work.table.file.name)


def fingerprint_of_table(work: Work) -> str:
    """The fingerprint of a table in memory, by its file if it has one, else by its cells."""
    return (origin_of(work) or origin_of_table(work.table.records)).sha256


def make_report(
    progress: Progress,
    content: Mapping[str, Any],
    table: Table,
    name: str,
    origin: Origin | None,
    date: datetime.date,
    context: Mapping[str, Any] | None = None,
    people: pd.DataFrame | None = None,
    last: Mapping[str, Any] | None = None,
    bound: FoundBound | None = None,
) -> Report:
    """Gather a report in a worker; the user's own texts are added where it is shown."""
    origin = origin or origin_of_table(table, name)
    return gather(
        Plan.from_content(content), table, Path(), date=date, origin=origin,
        context=None if context is None else Context.from_content(context), people=people,
        last=None if last is None else parse_record(last),
        bound=None if bound is None else bound.bound, closely=bound is not None and bound.closely,
        progress=progress,
    )  # fmt: skip


def reporting(
    work: Work,
    plan: Plan,
    context: Context | None = None,
    people: pd.DataFrame | None = None,
    people_origin: Origin | None = None,
) -> Request:
    arguments = (
        plan.model_dump(mode="json"),
        work.table.records,
        work.table.file.name,
        origin_of(work),
        datetime.date.today(),
        None if context is None else context.content,
        people,
        work.kept.reports[-1].model_dump() if work.kept.reports else None,
        known_bound(work, plan),
    )
    return Request(
        "reporting", make_report, arguments, partial(_store_report, people_origin),
        cancelled=lambda work: work.with_notice("The report was cancelled; nothing was changed."),
    )  # fmt: skip


def _store_report(people: Origin | None, work: Work, report: Report) -> Work:
    return work.with_parts(replace(work.findings, reported=report, reported_people=people))
