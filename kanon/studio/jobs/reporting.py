"""The report of a release, as a session makes it: in a worker, and as the command line would."""

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from kanon.base.progress import Progress
from kanon.plan import Plan
from kanon.release.attack_and_use import AttackAndUse, list_measured_thresholds
from kanon.release.context import Context
from kanon.report.changes import parse_record
from kanon.report.contents import Report, collect_report
from kanon.report.origin import Origin, get_content_origin, get_table_origin
from kanon.sources.tables import Table
from kanon.studio.jobs.lower_bounds import get_known_bound
from kanon.studio.session.findings import LowerBoundResult
from kanon.studio.session.run_plan import hash_release_inputs
from kanon.studio.session.work import JobRequest, SessionState


def describe_table_origin(work: SessionState) -> Origin | None:
    if work.table.content is None:
        return None
    return get_content_origin(work.table.content, work.table.file.name)


def get_table_fingerprint(work: SessionState) -> str:
    """The fingerprint of a table in memory, by its file if it has one, else by its cells."""
    return (describe_table_origin(work) or get_table_origin(work.table.records)).sha256


def build_report(
    progress: Progress,
    content: Mapping[str, Any],
    table: Table,
    name: str,
    origin: Origin | None,
    date: datetime.date,
    context: Mapping[str, Any] | None = None,
    people: pd.DataFrame | None = None,
    last: Mapping[str, Any] | None = None,
    bound: LowerBoundResult | None = None,
    measured: AttackAndUse | None = None,
) -> Report:
    """Gather a report in a worker; the user's own texts are added where it is shown."""
    origin = origin or get_table_origin(table, name)
    return collect_report(
        Plan.from_content(content), table, Path(), date=date, origin=origin,
        context=None if context is None else Context.from_content(context), people=people,
        last=None if last is None else parse_record(last),
        bound=None if bound is None else bound.bound, closely=bound is not None and bound.closely,
        measured=measured, progress=progress,
    )  # fmt: skip


def request_report(
    work: SessionState,
    plan: Plan,
    context: Context | None,
    people: pd.DataFrame | None,
    people_origin: Origin | None,
) -> JobRequest:
    release = hash_release_inputs(work, plan)
    names = [] if context is None else list_measured_thresholds([context])
    arguments = (
        plan.model_dump(mode="json"),
        work.table.records,
        work.table.file.name,
        describe_table_origin(work),
        datetime.date.today(),
        None if context is None else context.content,
        people,
        work.kept.reports[-1].model_dump() if work.kept.reports else None,
        get_known_bound(work, plan),
        work.findings.get_attack_and_use(release, names),
    )

    def store_report(work: SessionState, report: Report) -> SessionState:
        findings = replace(work.findings, report=report, report_release=release)
        return work.replace_sections(replace(findings, report_population=people_origin))

    return JobRequest("reporting", build_report, arguments, store_report)
