"""What goes on file about this release? The report."""

import json
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pandas as pd
import streamlit as st

from kanon.base.checked_json import write_json
from kanon.base.formatting import write_number
from kanon.errors import KanonError, SettingsError, TableError
from kanon.plan import Plan
from kanon.release.context import Context
from kanon.release.record import get_record_file, read_recorded_releases
from kanon.report.contents import Report, build_report_record
from kanon.report.origin import Origin, write_canonical_plan
from kanon.report.public import PublicReport
from kanon.report.rendering import render_report, write_measures_csv, write_numbers_json
from kanon.report.words import FIELD_HELP, Words, select_filled_words
from kanon.studio.jobs import runner
from kanon.studio.jobs.reporting import get_table_fingerprint, request_report
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import EvidenceResult
from kanon.studio.session.parts import TEXT_TITLES, Purpose, StateSection
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    JobRequest,
    SessionState,
    count_classes_in_engine,
    describe_classes_in_engine,
)
from kanon.studio.shell.frame import draw_page_head, show_unready
from kanon.studio.widgets.controls import draw_segments
from kanon.studio.widgets.files import (
    draw_file_button,
    draw_plan_button,
    draw_publish_choice,
    draw_save_button,
    get_file_name,
)
from kanon.studio.widgets.result import fade_old_result, format_plan_for_file

IN_ENGINE = (
    "A report checks the released rows again, which needs the table in memory, but this table "
    "stays in its engine. Load it as a file on the Data page, or run python -m kanon report with "
    "--engine memory."
)


@dataclass(frozen=True)
class ReportView(StateSection):
    public: bool = False  # the form for publication, else the internal one
    publish: tuple[str, ...] = ()  # the names of the published figures of the table
    preview: bool = False  # whether the report is shown on the page
    in_context: bool = False  # whether the release is checked against its purpose (page Decide)

    LABELS: ClassVar[Mapping[str, str]] = {"in_context": "Check the release against its purpose"}


FORMS = {False: "Internal", True: "For publication"}
ABOUT_FORM = {
    False: (
        "**Internal**: for your files. It shows labels of hierarchies and five records, so show "
        "it only to people who are allowed to see the table. Every printed page says so."
    ),
    True: (
        "**For publication**: for anyone. It reveals nothing about the table beyond the release, "
        "except the names of columns. Your texts appear as you type them."
    ),
}
LONG = ("purpose", "remarks")


def plan_report(work: SessionState) -> Plan:
    if work.table.records.in_engine:
        raise TableError(IN_ENGINE)
    return build_plan(work)


def build_report_request(work: SessionState) -> JobRequest:
    return request_report(work, plan_report(work), *get_report_context(work))


def needs_new_report(work: SessionState) -> bool:
    if work.findings.report is None:
        return False
    report = work.findings.report
    context = report.decision and report.decision.context
    try:
        return get_report_inputs(work) != (report.plan, context, work.findings.report_population)
    except KanonError:
        return True


def get_report_inputs(work: SessionState) -> tuple[str, Context | None, Origin | None]:
    context, _, people_origin = get_report_context(work)
    return write_canonical_plan(plan_report(work)), context, people_origin


def get_report_context(
    work: SessionState,
) -> tuple[Context | None, pd.DataFrame | None, Origin | None]:
    """What the release is checked against; the population with what it was read from."""
    if not work.view(ReportView).in_context:
        return None, None, None
    people = work.purpose.counted_population
    origin = None if people is None else work.purpose.population_origin
    return work.purpose.context, people, origin


def find_released_file(work: SessionState, report: Report) -> tuple[str, tuple[str, str]] | None:
    """The last downloaded file of the release, and its fingerprint; None without one."""
    releases = (*work.kept.earlier_releases, *work.kept.made)
    return next(
        (item.file for item in reversed(releases) if item.file and item.plan == report.plan), None
    )


def build_form(work: SessionState, report: Report, words: Words) -> Report | PublicReport:
    file, view = find_released_file(work, report), work.view(ReportView)
    release = report.public.release if file is None else file[1]
    if not view.public:
        test, measured = work.purpose.intruder_test, get_reported_evidence(work)
        report = replace(report, words=words, intruder_test=test)
        report = replace(report, hashes=(*report.hashes[:-1], release))
        if measured is None:
            return report
        return replace(report, evidence=measured.evidence, attacked_on=measured.date)
    public = replace(report.public, words=words, release=release)
    return public.add_figures(report.figures, view.publish)


def get_reported_evidence(work: SessionState) -> EvidenceResult | None:
    """What *Privacy* measured of the reported release, with the population that it counts."""
    measured = work.findings.get_evidence(work.findings.report_release)
    people = work.findings.report_population
    return measured if measured and people in (None, measured.options[2]) else None


def write_words(words: Words) -> str:
    """The user's texts as the file ``WORDS.json``; empty without any."""
    words_by_name = select_filled_words(words)
    return json.dumps(words_by_name, ensure_ascii=False, indent=1) + "\n" if words_by_name else ""


def export_report(work: SessionState, reported: Report, form: Report | PublicReport) -> bytes:
    record, records = build_report_record(reported), work.kept.reports
    if not records or records[-1] != record:
        records.append(record)
    return render_report(form)


def write_command(
    plan: str,
    table: str,
    public: bool,
    publish: Sequence[str] = (),
    further: Sequence[str] = (),
    **files: str,
) -> str:
    """The command that makes the same report again.

    >>> write_command("plan.json", "my table.csv", public=True, words="")
    "python -m kanon report plan.json --table 'my table.csv' --out report.html --public"
    """
    if table.startswith("-"):
        table = f"./{table}"
    parts = ["python", "-m", "kanon", "report", plan, "--table", table, "--out", "report.html"]
    parts += [part for name, file in files.items() if file for part in (f"--{name}", file)]
    if public:
        parts += ["--public", *(["--publish", ",".join(publish)] if publish else [])]
    return shlex.join([*parts, *further])


def take_text(name: str, value: str) -> None:
    state.update_fields(Purpose, texts={**state.get_session().purpose.texts, name: value or ""})


def show_field(name: str) -> None:
    text = state.get_session().purpose.texts.get(name, "")
    options = {**attach_widget(f"report-{name}", text, take_text, name), "help": FIELD_HELP[name]}
    if name in LONG:
        st.text_area(TEXT_TITLES[name], height=110, **options)
    else:
        st.text_input(TEXT_TITLES[name], **options)


def show_text_fields() -> Words | None:
    main_side, other_side = st.columns(2)
    with main_side:
        show_field("title")
        show_field("purpose")
        show_field("remarks")
    with other_side:
        for name in ("responsible", "recipient", "legal_basis", "retention"):
            show_field(name)
    try:
        return state.get_session().purpose.words()
    except KanonError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return None


def show_report_choices(work: SessionState, fresh: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        public = work.view(ReportView).public
        draw_segments("Form", FORMS, "report-public", public, "public", ReportView)
        st.button(
            "Make the report",
            type="secondary" if fresh else "primary",
            icon=":material/description:",
            disabled="reporting" in work.running or work.table.records.in_engine,
            on_click=runner.run_request,
            args=(build_report_request,),
            key="report-make",
        )
    view = work.view(ReportView)
    st.caption(ABOUT_FORM[view.public])
    if view.public:
        options = attach_widget(
            "report-publish", list(view.publish), "publish", into=ReportView, read=tuple
        )
        draw_publish_choice(**options)
    st.checkbox(
        "Check the release against its purpose",
        **attach_widget(
            "report-in-context", work.view(ReportView).in_context, "in_context", into=ReportView
        ),
        help="Choose the recipient, the thresholds and their sources on the Decide page.",
    )


def show_report_notice(work: SessionState, stale: bool) -> None:
    making = "reporting" in work.running
    with st.container():  # always there, so that the report stays where it is
        class_count = count_classes_in_engine(work)
        if class_count is not None:
            st.info(
                f"{describe_classes_in_engine(class_count)} "
                "A report needs all of them, so there is none. You can "
                "download the measures of the release and its plan on the Anonymise page."
            )
        elif work.table.records.in_engine:
            st.info(IN_ENGINE)
        elif work.findings.report is None and not making:
            st.info("There is no report of this table yet; press Make the report.")
        since = partial(list_changed_labels, work, "reporting", get_report_inputs)
        fade_old_result("report-shown", "Make the report", stale, making, since)


def show_report_verdict(report: Report | PublicReport) -> None:
    st.markdown(f"**{escape_markdown(report.title)}.** {escape_markdown(report.verdict)}")
    st.table(
        {
            "Required": [escape_markdown(rule.required) for rule in report.guarantees],
            "Reached": [escape_markdown(rule.reached) for rule in report.guarantees],
            "Unit": [escape_markdown(f"{rule.unit} {rule.arrow}") for rule in report.guarantees],
            "Verdict": ["met" if rule.holds else "not met" for rule in report.guarantees],
        }
    )
    st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in report.plain_sentences))
    if report.decision:
        st.markdown(escape_markdown(report.decision.sentence))
    if isinstance(report, Report) and report.changes:
        with st.expander("Changed since the last report", icon=":material/difference:"):
            st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in report.changes))


def show_report_downloads(
    work: SessionState, reported: Report, report: Report | PublicReport, words: Words, stale: bool
) -> None:
    view, file = work.view(ReportView), find_released_file(work, reported)
    made = f"{reported.date}|{reported.seconds}"
    measured = None if view.public else get_reported_evidence(work)
    test = work.purpose.intruder_test
    about = f"{reported.plan}|{made}|{words}|{view.public}|{view.publish}|{file}|{measured}|{test}"
    form = "publication" if view.public else "internal"
    plan, words_content = reported.plan, write_words(words)
    base_name = state.get_or_compute(
        "plan-called", plan, lambda: format_plan_for_file(Plan.from_json(plan))
    )
    plan_name = get_file_name(f"plan-{base_name}", "json", plan)  # as on every other page
    words_name = get_file_name("words", "json", words_content) if words_content else ""
    decision, since = report.decision, None if view.public else reported.last
    context = decision.context.to_json() if decision else ""
    context_name = get_file_name("context", "json", context) if decision else ""
    people = work.findings.report_population or (measured and measured.options[2])
    intruder = "" if view.public or not test.attempts else write_json(test.model_dump(mode="json"))
    intruder_name = get_file_name("intruder-test", "json", intruder) if intruder else ""
    last = since.model_dump_json(indent=1) + "\n" if since else ""
    last_name = get_file_name("last-report", "json", last) if last else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_file_button(
            "Report (old settings)" if stale else "Report",
            lambda: export_report(work, reported, report),
            f"report-{form}",
            "html",
            about,
            "report-html",
            type="secondary" if stale else "primary",
            help="One file that opens offline and prints on A4.",
        )
        if isinstance(report, Report):
            measures, stem = partial(write_measures_csv, report), f"measures-{form}"
            draw_file_button("Measures as CSV", measures, stem, "csv", about, "report-csv")
        numbers, stem = partial(write_numbers_json, report), f"numbers-{form}"
        draw_file_button("All numbers as JSON", numbers, stem, "json", about, "report-json")
        repeat = "With this plan and the table, you can make the release and its report again."
        draw_plan_button(plan, f"plan-{base_name}", "report-plan", help=repeat)
        for label, data, name, key, argument in (
            ("Your texts", words_content, words_name, "words", "WORDS"),
            ("Purpose file (JSON)", context, context_name, "context", "CONTEXT"),
            ("Numbers of the last report", last, last_name, "last", "LAST"),
            ("Intruder test", intruder, intruder_name, "intruder", "TEST"),
        ):
            if data:
                about_it = f"{argument}.json for the command line."
                draw_save_button(label, data, name, f"report-{key}", "description", help=about_it)
    files = {
        "words": words_name, "context": context_name, "last": last_name,
        "population": people.name if people and not view.public else "",
        "release": file[0] if file else "",
        "intruder": intruder_name,
    }  # fmt: skip
    further = ["--bound"] if reported.closely and not view.public else []
    further += [] if measured is None else measured.arguments
    st.caption("To make the same report from the command line, in the folder with these files:")
    st.code(
        write_command(plan_name, work.table.file.name, view.public, view.publish, further, **files),
        "bash",
        wrap_lines=True,
    )


def show_report_preview(work: SessionState, report: Report | PublicReport, about: Hashable) -> None:
    st.toggle(
        "Preview",
        **attach_widget(
            "report-preview", work.view(ReportView).preview, "preview", into=ReportView
        ),
        help="The report as it opens in a browser. Its security policy blocks all downloads.",
    )
    if work.view(ReportView).preview:
        page = state.get_or_compute(
            "report-page", about, lambda: render_report(report).decode("utf-8")
        )
        st.iframe(page, height=640, alt="The report")


def show_recorded_releases(work: SessionState) -> None:
    """The recorded releases of this table, newest first; nothing without a record."""
    if get_record_file() is None or work.table.records.in_engine:
        return
    table = state.get_or_compute(
        "table-fingerprint", work.table.digest, lambda: get_table_fingerprint(work)
    )
    st.subheader("Releases of this table")
    try:
        lines = read_recorded_releases(table)
    except SettingsError as error:
        st.error(escape_markdown(error.sentence), icon=":material/error:")
        return
    st.caption(
        "This server records releases: who received one, when, and what it reached, but no cells "
        "or names of columns. The list shows releases of this exact table, byte for byte. A line "
        "is added when a download is made, whether or not the browser saved it."
    )
    if not lines:
        st.info("No release of this table is recorded yet.")
        return
    st.table([_build_record_row(line) for line in reversed(lines)])


def _build_record_row(line: Mapping[str, Any]) -> dict[str, str]:
    return {
        "When (UTC)": escape_markdown(line["when"][:19].replace("T", " ")),
        "Who": escape_markdown(line["who"]),
        "By": escape_markdown(line["by"]),
        "k": str(line["k"]),
        "Required and reached": escape_markdown("; ".join(map(_describe_model, line["models"]))),
        "Release (SHA-256)": (line["release"] or "–")[:12],
        "Plan (SHA-256)": line["plan"][:12],
    }


def _describe_model(model: Mapping[str, Any]) -> str:
    level = "–" if model["found"] is None else write_number(model["found"], 6)
    return f"{model['model']} ({model['asked']}): {level}"


def page() -> None:
    work = draw_page_head("What goes on file about this release?")
    show_unready(work)
    stale = needs_new_report(work)
    words = show_text_fields()
    show_report_choices(work, work.findings.report is not None and not stale)
    show_report_notice(work, stale)
    if work.findings.report is not None and words is not None:
        with st.container(key="report-shown"):
            form = build_form(work, work.findings.report, words)
            show_report_verdict(form)
            show_report_downloads(work, work.findings.report, form, words, stale)
            file = find_released_file(work, work.findings.report)
            about = work.findings.report, words, work.view(ReportView), file
            further = work.findings.evidence, work.purpose.intruder_test
            show_report_preview(work, form, (*about, *further))
    show_recorded_releases(work)
