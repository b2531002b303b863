"""What goes on file about this release? The report."""

import json
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import counted, write_number
from kanon.errors import KanonError, SettingsError, TableError
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.release.record import record_file, recorded
from kanon.report.contents import Report, record_of
from kanon.report.origin import Origin, canonical_plan
from kanon.report.public import PublicReport
from kanon.report.rendering import measures_csv, numbers_json, rendered
from kanon.report.words import ASKED, Words, words_given
from kanon.studio.jobs import runner
from kanon.studio.jobs.reporting import fingerprint_of_table, reporting
from kanon.studio.report.state import ReportView
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.parts import TEXT_TITLES, RunSettings
from kanon.studio.session.run_plan import plan_of
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Request, Work, classes_kept, said_kept
from kanon.studio.shell.frame import head, unready
from kanon.studio.widgets.controls import segments
from kanon.studio.widgets.files import (
    file_button,
    file_name,
    plan_button,
    publish_choice,
    save_button,
)
from kanon.studio.widgets.result import fade, name_in_files

IN_ENGINE = (
    "A report checks the released rows again, which needs the table in memory, but this table "
    "stays in its engine. Load it as a file on the page Data, or run python -m kanon report with "
    "--engine memory."
)

FORMS = {False: "Internal", True: "For publication"}
ABOUT_FORM = {
    False: (
        "**Internal**: for your files. It shows labels of hierarchies and five records, so only "
        "people who may see the table may see it. Every printed page says so."
    ),
    True: (
        "**For publication**: for anyone. Of the table it reveals nothing beyond the release "
        "except the names of columns. Your texts appear as you type them."
    ),
}
LONG = ("purpose", "remarks")


def plan_of_report(work: Work) -> Plan:
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
    context = report.decision and report.decision.context
    try:
        return report_depends_on(work) != (report.plan, context, work.findings.reported_people)
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
    """The fingerprint of the population that the report uses; None without one."""
    _, people = context_of_report(work)
    return None if people is None else work.purpose.population_origin


def handed_out(work: Work, report: Report) -> tuple[str, tuple[str, str]] | None:
    """The last downloaded file of the release, and its fingerprint; None without one."""
    releases = (*work.kept.handed, *work.kept.made)
    return next(
        (item.file for item in reversed(releases) if item.file and item.plan == report.plan), None
    )


def form_of(work: Work, report: Report, words: Words) -> Report | PublicReport:
    file, view = handed_out(work, report), work.view(ReportView)
    release = report.public.release if file is None else file[1]
    if not view.public:
        return replace(report, words=words, hashes=(*report.hashes[:-1], release))
    public = replace(report.public, words=words, release=release)
    return public.with_figures(report.figures, view.publish)


def words_file(words: Words) -> str:
    """The user's texts as the file ``WORDS.json``; empty without any.

    >>> words_file(Words())
    ''
    """
    words_by_name = words_given(words)
    return json.dumps(words_by_name, ensure_ascii=False, indent=1) + "\n" if words_by_name else ""


def what_is_in_it(report: Report) -> str:
    attempts = [*report.alternatives.metrics, *report.alternatives.algorithms]
    others = sum(not attempt.chosen for attempt in attempts)
    hierarchies = counted(len(report.hierarchies), "hierarchy", "hierarchies")
    curves = counted(len(report.curves), "curve")
    return (
        f"Contents: your texts; the table, {counted(len(report.profile), 'column')}; "
        f"{hierarchies}, drawn; the plan; the guarantees; risks before and after; "
        f"{counted(len(report.lost), 'measure')} of loss; {curves} around k; "
        f"{counted(others, 'other release')} for comparison; versions and fingerprints."
    )


def handed_over(work: Work, reported: Report, form: Report | PublicReport) -> bytes:
    record, records = record_of(reported), work.kept.reports
    if not records or records[-1] != record:
        records.append(record)
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


def take_text(name: str, value: str) -> None:
    state.change(
        replace(state.work().purpose, texts={**state.work().purpose.texts, name: value or ""})
    )


def field(name: str) -> None:
    text = state.work().purpose.texts.get(name, "")
    options = {**bound(f"report-{name}", text, take_text, name), "help": ASKED[name]}
    if name in LONG:
        st.text_area(TEXT_TITLES[name], height=110, **options)
    else:
        st.text_input(TEXT_TITLES[name], **options)


def texts() -> Words | None:
    main_side, other_side = st.columns(2)
    with main_side:
        field("title")
        field("purpose")
        field("remarks")
    with other_side:
        for name in ("responsible", "recipient", "legal_basis", "retention"):
            field(name)
    try:
        return state.work().purpose.words()
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return None


def choices(work: Work, fresh: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        public = work.view(ReportView).public
        segments("Form", FORMS, "report-public", public, "public", ReportView)
        most = max(2, work.table.records.n_records)
        st.number_input(
            "k, records per class at least"
            if work.table.person is None
            else "k, persons per class at least",
            min_value=2,
            max_value=most,
            **bound("report-k", min(work.settings.k, most), "k", into=RunSettings, read=int),
            width=240,
            help="The report describes the release for this k.",
        )
        st.button(
            "Make the report",
            type="secondary" if fresh else "primary",
            icon=":material/description:",
            disabled="reporting" in work.running or work.table.records.in_engine,
            on_click=runner.run,
            args=(report_request,),
            key="report-make",
        )
    view = work.view(ReportView)
    st.caption(ABOUT_FORM[view.public])
    if view.public:
        options = bound(
            "report-publish", list(view.publish), "publish", into=ReportView, read=tuple
        )
        publish_choice(**options)
    st.checkbox(
        "Check the release against its purpose",
        **bound(
            "report-in-context", work.view(ReportView).in_context, "in_context", into=ReportView
        ),
        help="Choose the recipient, the thresholds and their sources on the page Decide.",
    )


def notice(work: Work, stale: bool) -> None:
    making = "reporting" in work.running
    with st.container():  # always there, so that the report stays where it is
        class_count = classes_kept(work)
        if class_count is not None:
            st.info(
                f"{said_kept(class_count)} A report needs all of them, so there is none. You can "
                "download the measures of the release and its plan on the page Anonymise."
            )
        elif work.table.records.in_engine:
            st.info(IN_ENGINE)
        elif work.findings.reported is None and not making:
            st.info("There is no report of this table yet; press Make the report.")
        since = partial(changed_since, work, "reporting", report_depends_on)
        fade("report-shown", "Make the report", stale, making, since)


def verdict(report: Report | PublicReport) -> None:
    st.markdown(f"**{plain(report.title)}.** {plain(report.verdict)}")
    st.table(
        {
            "Required": [plain(rule.required) for rule in report.guarantees],
            "Reached": [plain(rule.reached) for rule in report.guarantees],
            "Unit": [plain(f"{rule.unit} {rule.arrow}") for rule in report.guarantees],
            "Verdict": ["met" if rule.holds else "not met" for rule in report.guarantees],
        }
    )
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.in_words))
    if report.decision:
        st.markdown(plain(report.decision.sentence))
    if isinstance(report, PublicReport):
        return
    if report.changes:
        with st.expander("Changed since the last report", icon=":material/difference:"):
            st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.changes))
    st.caption(plain(what_is_in_it(report)))


def downloads(
    work: Work, reported: Report, report: Report | PublicReport, words: Words, stale: bool
) -> None:
    view, file = work.view(ReportView), handed_out(work, reported)
    about = f"{reported.plan}|{reported.made}|{words}|{view.public}|{view.publish}|{file}"
    form = "publication" if view.public else "internal"
    plan, words_content = reported.plan, words_file(words)
    base_name = state.remembered("plan-called", plan, lambda: name_in_files(Plan.from_json(plan)))
    plan_name = file_name(f"plan-{base_name}", "json", plan)  # as on every other page
    words_name = file_name("words", "json", words_content) if words_content else ""
    decision, since = report.decision, None if view.public else reported.last
    context = decision.context.to_json() if decision else ""
    context_name = file_name("context", "json", context) if decision else ""
    people = work.findings.reported_people
    last = since.model_dump_json(indent=1) + "\n" if since else ""
    last_name = file_name("last-report", "json", last) if last else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        file_button(
            "Report (old settings)" if stale else "Report",
            lambda: handed_over(work, reported, report),
            f"report-{form}",
            "html",
            about,
            "report-html",
            type="secondary" if stale else "primary",
            help="One file that opens offline and prints on A4.",
        )
        if isinstance(report, Report):
            measures, stem = partial(measures_csv, report), f"measures-{form}"
            file_button("Measures as CSV", measures, stem, "csv", about, "report-csv")
        numbers, stem = partial(numbers_json, report), f"numbers-{form}"
        file_button("All numbers as JSON", numbers, stem, "json", about, "report-json")
        repeat = "With this plan and the table, you can make the release and its report again."
        plan_button(plan, f"plan-{base_name}", "report-plan", help=repeat)
        for label, data, name, key, argument in (
            ("Your texts", words_content, words_name, "words", "WORDS"),
            ("Purpose file (JSON)", context, context_name, "context", "CONTEXT"),
            ("Numbers of the last report", last, last_name, "last", "LAST"),
        ):
            if data:
                about_it = f"{argument}.json for the command line."
                save_button(label, data, name, f"report-{key}", "description", help=about_it)
    files = {
        "words": words_name, "context": context_name, "last": last_name,
        "population": people.name if people and not view.public else "",
        "release": file[0] if file else "",
    }  # fmt: skip
    st.caption("To make the same report from the command line, in the folder with these files:")
    st.code(
        command(
            plan_name, work.table.file.name, view.public, view.publish, reported.closely, **files
        ),
        "bash",
        wrap_lines=True,
    )


def preview(work: Work, report: Report | PublicReport, about: Hashable) -> None:
    st.toggle(
        "Preview",
        **bound("report-preview", work.view(ReportView).preview, "preview", into=ReportView),
        help="The report as it opens in a browser. Its security policy blocks all downloads.",
    )
    if work.view(ReportView).preview:
        page = state.remembered("report-page", about, lambda: rendered(report).decode("utf-8"))
        st.iframe(page, height=640, alt="The report")


def earlier_releases(work: Work) -> None:
    """The recorded releases of this table, newest first; nothing without a record."""
    if record_file() is None or work.table.records.in_engine:
        return
    table = state.remembered(
        "table-fingerprint", work.table.digest, lambda: fingerprint_of_table(work)
    )
    st.subheader("Releases of this table")
    try:
        lines = recorded(table)
    except SettingsError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.caption(
        "This server records releases: who had one, when, and what was reached, but no cells and "
        "no names of columns. The list shows releases of tables with the same bytes. A line is "
        "written when a download is made, whether or not the browser saved it."
    )
    if not lines:
        st.info("No release of this table is recorded yet.")
        return
    st.table([_build_record_row(line) for line in reversed(lines)])


def _build_record_row(line: Mapping[str, Any]) -> dict[str, str]:
    return {
        "When (UTC)": plain(line["when"][:19].replace("T", " ")),
        "Who": plain(line["who"]),
        "By": plain(line["by"]),
        "k": str(line["k"]),
        "Required and reached": plain("; ".join(map(_describe_model, line["models"]))),
        "Release (SHA-256)": (line["release"] or "–")[:12],
        "Plan (SHA-256)": line["plan"][:12],
    }


def _describe_model(model: Mapping[str, Any]) -> str:
    level = "–" if model["found"] is None else write_number(model["found"], 6)
    return f"{model['model']} ({model['asked']}): {level}"


def page() -> None:
    work = head("What goes on file about this release?")
    unready(work)
    stale = outdated_report(work)
    words = texts()
    choices(work, work.findings.reported is not None and not stale)
    notice(work, stale)
    if work.findings.reported is not None and words is not None:
        with st.container(key="report-shown"):
            form = form_of(work, work.findings.reported, words)
            verdict(form)
            downloads(work, work.findings.reported, form, words, stale)
            file = handed_out(work, work.findings.reported)
            preview(work, form, (work.findings.reported, words, work.view(ReportView), file))
    earlier_releases(work)
