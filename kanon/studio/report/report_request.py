"""Which report the page asks for, and what it says of the one that was made."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from kanon.base.formatting import counted
from kanon.errors import KanonError, TableError
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.report.contents import Report, record_of
from kanon.report.origin import Origin, canonical_plan
from kanon.report.public import PublicReport
from kanon.report.rendering import rendered
from kanon.report.words import Words, words_given
from kanon.studio.jobs.reporting import reporting
from kanon.studio.report.state import ReportView
from kanon.studio.session.run_plan import plan_of
from kanon.studio.session.work import Request, Work

IN_ENGINE = (
    "A report checks the released rows once more, for which the table has to be in memory, and "
    "this one stays where it is: load it as a file on the page Data, or run python -m kanon "
    "report with --engine memory."
)
"""Why there is no report of a table that stays in an engine."""


def plan_of_report(work: Work) -> Plan:
    """The plan that a report would be about; TableError for a table in an engine."""
    if work.table.records.in_engine:
        raise TableError(IN_ENGINE)
    return plan_of(work)


def report_request(work: Work) -> Request:
    context, people = context_of_report(work)
    plan = plan_of_report(work)
    return reporting(work, plan, context, people, people_of_report(work))


def outdated_report(work: Work) -> bool:
    if work.findings.reported is None:
        return False
    report = work.findings.reported
    told = report.decision and report.decision.context
    try:
        return report_depends_on(work) != (report.plan, told, work.findings.reported_people)
    except KanonError:
        return True


def report_depends_on(work: Work) -> tuple[str, Context | None, Origin | None]:
    context, _ = context_of_report(work)
    return canonical_plan(plan_of_report(work)), context, people_of_report(work)


def context_of_report(work: Work) -> tuple[Context | None, pd.DataFrame | None]:
    if not work.view(ReportView).in_context:
        return None, None
    return work.purpose.context, work.purpose.people_counted


def people_of_report(work: Work) -> Origin | None:
    """The fingerprint of the population that counts in the report; None where none does."""
    _, people = context_of_report(work)
    return None if people is None else work.purpose.population_origin


def handed_out(work: Work, report: Report) -> tuple[str, tuple[str, str]] | None:
    """The file of the release that was downloaded last, and its fingerprint; None without one."""
    made = (*work.kept.handed, *work.kept.made)
    return next((one.file for one in reversed(made) if one.file and one.plan == report.plan), None)


def form_of(work: Work, report: Report, words: Words) -> Report | PublicReport:
    """A report with the texts of people, in one of its two forms; nothing is computed again."""
    file, view = handed_out(work, report), work.view(ReportView)
    release = report.public.release if file is None else file[1]
    if not view.public:
        return replace(report, words=words, hashes=(*report.hashes[:-1], release))
    public = replace(report.public, words=words, release=release)
    return public.with_figures(report.figures, view.publish)


def words_file(words: Words) -> str:
    """The texts that were given as the file ``WORDS.json``; empty without any.

    >>> words_file(Words())
    ''
    """
    given = words_given(words)
    return json.dumps(given, ensure_ascii=False, indent=1) + "\n" if given else ""


def what_is_in_it(report: Report) -> str:
    tried = [*report.alternatives.metrics, *report.alternatives.algorithms]
    others = sum(not one.chosen for one in tried)
    hierarchies = counted(len(report.hierarchies), "hierarchy", "hierarchies")
    curves = counted(len(report.curves), "curve")
    return (
        f"In it: your texts; the table, {counted(len(report.profile), 'column')}; {hierarchies}, "
        "drawn; the plan; the guarantees; risks before and after; "
        f"{counted(len(report.lost), 'measure')} of what was lost; {curves} around k; "
        f"{counted(others, 'other release')} considered; versions and fingerprints."
    )


def handed_over(work: Work, reported: Report, form: Report | PublicReport) -> bytes:
    """The file of a report, in one of its forms; the next report of the project knows of it."""
    record, known = record_of(reported), work.kept.reports
    if not known or known[-1] != record:
        known.append(record)
    return rendered(form)


def command(
    plan: str,
    table: str,
    public: bool,
    publish: Sequence[str] = (),
    closely: bool = False,
    **files: str,
) -> str:
    """The command that makes the same report again.

    >>> command("plan.json", "my table.csv", public=True, words="")
    "python -m kanon report plan.json --table 'my table.csv' --out report.html --public"
    """
    if table.startswith("-"):
        table = f"./{table}"
    parts = ["python", "-m", "kanon", "report", plan, "--table", table, "--out", "report.html"]
    parts += [part for name, file in files.items() if file for part in (f"--{name}", file)]
    if public:
        parts += ["--public", *(["--publish", ",".join(publish)] if publish else [])]
    parts += ["--bound"] if closely and not public else []
    return shlex.join(parts)
