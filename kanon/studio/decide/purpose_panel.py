"""The part *What is it for?*: purpose, verdict and thresholds."""

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.formatting import CountedUnit, count_noun, write_count
from kanon.base.how_texts import Sections
from kanon.base.sentences import write_records_or_persons
from kanon.charts.decision import draw_decision
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError
from kanon.privacy.model import SensitiveModel
from kanon.privacy.persons import IN_PERSONS
from kanon.release.attack_and_use import AttackAndUse
from kanon.release.context import (
    ATTACKERS,
    AUDIENCES,
    LONGEST,
    ChosenThreshold,
    Context,
    Threshold,
    check_threshold_number,
    compute_least_k,
    list_required_models,
    list_thresholds,
    replace_threshold,
)
from kanon.release.decision import (
    Decision,
    ReachedNumbers,
    build_decision_table,
    compare_with_thresholds,
    measure_reached_levels,
)
from kanon.release.threshold_cards import OF_COLUMNS, OF_EVIDENCE, OF_USEFULNESS
from kanon.run import Run
from kanon.studio.decide.recipients_panel import (
    get_attack_and_use,
    list_thresholds_to_measure,
    show_attack_button,
    show_recipient_questions,
    show_recipients_table,
)
from kanon.studio.decide.settings_undo import show_undo_button, take_settings
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs.anonymisation import has_outdated_result
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.shell.frame import show_classes_in_engine
from kanon.studio.widgets.controls import draw_segments, draw_upload_field
from kanon.studio.widgets.files import draw_code_buttons, draw_file_button
from kanon.studio.widgets.model_editor import get_table_class
from kanon.studio.widgets.picture import PictureSettings, show_picture
from kanon.studio.widgets.requirements import describe_strictest, explain_refusal
from kanon.studio.widgets.result import draw_k_slider, draw_renew_row, get_shown_release

IN_ENGINE = (
    "For a verdict the released rows are recounted, which needs the table in memory, but this "
    "table stays in its engine. Load it as a file on the Data page, or run python -m kanon decide "
    "with --engine memory."
)

_how = Sections(__file__)


def show_purpose_panel(work: SessionState) -> None:
    _show_purpose(work)
    decision = _show_verdict(work)
    _show_thresholds(work, decision)
    _show_files(work)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(_explain_thresholds(work))
        result, population = work.findings.result, work.purpose.counted_population
        if decision is not None and result is not None and population is None:
            plan = get_shown_release(work, result)[1].prepared.plan
            draw_code_buttons("purpose", lambda: plan, {"CONTEXT": work.purpose.context.content})


# --- the purpose ------------------------------------------------------------------------------
def _show_purpose(work: SessionState) -> None:
    context = work.purpose.context
    release_side, attacker_side, number_side = st.columns([9, 7, 5])
    with release_side:
        label = "Who gets the release?"
        draw_segments(
            label, AUDIENCES, "decide-release", context.release, "release", _change_context
        )
    with attacker_side:
        label = "An attacker knows"
        draw_segments(
            label, ATTACKERS, "decide-attacker", context.attacker, "attacker", _change_context
        )
    columns = max(1, len(work.table.quasi_identifiers))
    known_count = columns if context.known is None else min(context.known, columns)
    number_side.selectbox(
        "and how many quasi-identifiers",
        range(columns, 0, -1),
        **attach_widget(
            f"decide-known-{work.version}-{columns}-{known_count}",
            known_count,
            lambda value: _change_context(known=None if value == columns else value),
        ),
        format_func=lambda number: f"all {number}" if number == columns else f"any {number}",
        help="The most quasi-identifiers of a person that an attacker knows. Nobody can say which "
        "ones, so the most revealing choice counts.",
    )
    show_recipient_questions(context, _change_context)


def _change_context(**fields: object) -> None:
    context = state.get_session().purpose.context
    _set_context(Context.from_content({**context.content, **fields}))


def _set_context(context: Context) -> None:
    state.set_session(set_context(state.get_session(), context))


# --- the verdict ------------------------------------------------------------------------------
def _show_verdict(work: SessionState) -> Decision | None:
    if show_classes_in_engine(work):
        return None
    stale = has_outdated_result(work)
    draw_renew_row(work, stale, "decide-run")
    result = work.findings.result
    if result is None:
        return None
    with st.container(key="result"):
        if work.table.records.in_engine:
            st.info(IN_ENGINE)
            return None
        k, run = get_shown_release(work, result)
        draw_k_slider(work, result, k, "decide-k")
        try:
            reached = _measure_release(work, run, (result.settings, k))
        except KanonError as error:
            st.error(escape_markdown(error.sentence), icon=":material/error:")
            return None
        about, context = (result.settings, k), work.purpose.context
        release = result.compute_release_key(k)
        measured = get_attack_and_use(work, release) or AttackAndUse()
        decision = compare_with_thresholds(context, reached, *measured)
        text_side, chart_side = st.columns([4, 5], gap="medium")
        with text_side:
            _show_decision(decision)
            show_attack_button(work, run, release)
        if decision.parts:
            with chart_side:
                inputs = f"{about}|{context.to_json()}|{any(measured)}"
                met = sum(part.met for part in decision.parts)
                title = f"k = {write_count(k)}: {met} of {len(decision.parts)} thresholds met"
                show_picture(
                    draw_decision(decision, title),
                    lambda: build_decision_table(decision), "decide-thresholds", inputs,
                    PictureSettings.from_run(work, run.prepared, k),
                )  # fmt: skip
        show_recipients_table(context, reached, measured)
    return decision


def _measure_release(work: SessionState, run: Run, about: tuple[str, int]) -> ReachedNumbers:
    """The numbers that the release reached; measured again only if an input changed."""
    known, people = work.purpose.context.known, work.purpose.counted_population

    def measure() -> ReachedNumbers:
        with st.spinner("Counting the released rows"):
            return measure_reached_levels(run, known, people)

    # The name of a population says nothing about its rows.
    people_origin = None if people is None else work.purpose.population_origin
    return state.get_or_compute("reached", (*about, known, people_origin), measure)


def _show_decision(decision: Decision) -> None:
    first, *last = decision.apart
    st.markdown(f"**{escape_markdown(first)}**")
    parts = sorted(decision.parts, key=lambda part: part.met)
    st.markdown("\n".join(f"- {part.mark} {escape_markdown(part.sentence)}" for part in parts))
    for sentence in last:
        st.caption(escape_markdown(sentence))


# --- the thresholds ---------------------------------------------------------------------------
def _show_thresholds(work: SessionState, decision: Decision | None) -> None:
    reason = find_unreachable(work, get_table_class(work))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("Required thresholds", width="stretch")
        show_undo_button(work, "purpose")
        st.button(
            "Add as requirements",
            icon=":material/tune:",
            key="decide-use",
            disabled=reason is not None,
            help="Requires k, l and t for the next release, as on the Anonymise page. The mean "
            "risk cannot be required; it is measured afterwards.",
            on_click=lambda: state.set_session(require_thresholds(state.get_session())),
        )
    if reason is not None:
        st.caption(escape_markdown(reason), text_alignment="right")
    context = work.purpose.context
    limits = list_thresholds(context)
    more = {"What an attacker gains": OF_EVIDENCE, "Usefulness": OF_USEFULNESS}
    first = [name for name in limits if name not in (*OF_EVIDENCE, *OF_USEFULNESS)]
    for title, names in {"": first, **more}.items():
        is_open = any(limits[name].wanted is not None or limits[name].own for name in names)
        with st.expander(title, expanded=is_open) if title else st.container():
            for name in names:
                with st.container(border=True):
                    _show_threshold(work, name, limits[name], decision)


def _show_threshold(
    work: SessionState, name: str, limit: Threshold, decision: Decision | None
) -> None:
    title, number, reached, source = st.columns([5, 2, 3, 6], vertical_alignment="center")
    title.markdown(
        f"**{escape_markdown(limit.card.title)}**", help=escape_markdown(limit.card.summary)
    )
    key = f"decide-wanted-{work.version}-{name}-{limit.wanted}"
    value = _get_wrong_entries(work).get((name, limit.wanted), limit.wanted)
    unit = IN_PERSONS.unit if name == "k" and work.table.person_for_k else limit.card.unit
    with number:
        st.number_input(
            f"{unit} {limit.card.arrow}",
            value=None,  # otherwise an empty field would return the minimum
            step=0.05 if name == "t" else 1.0,
            format="%g",
            placeholder="none",
            **attach_widget(key, None if value is None else float(value), _set_threshold, name),
        )
    with reached:
        for line in _list_levels(work, name, limit, decision):
            st.markdown(line)
    with source:
        _show_source(work, name, limit)
    if value != limit.wanted:
        st.error(escape_markdown(_explain_refusal(limit, name, value)), icon=":material/error:")


def _list_levels(
    work: SessionState, name: str, limit: Threshold, decision: Decision | None
) -> list[str]:
    lines = []
    for part in () if decision is None else decision.parts:
        if part.threshold.card.name == name:
            about = escape_markdown(part.column) if part.column else "reached"
            lines.append(f"{part.mark} {about}: {part.shown[0]}")
    of_table = name == "k" or work.purpose.context.attacker == "prosecutor"
    of_table = of_table and name not in OF_COLUMNS
    if of_table and limit.wanted is not None and limit.wanted > work.table.highest_k:
        lines.append(f"No release can reach this: the table has {_write_highest_k(work)}.")
    if name in OF_COLUMNS and limit.wanted is not None:
        lines += _describe_out_of_reach(work, limit)
        if not work.table.sensitive_columns:
            lines.append("No column is sensitive.")
    return lines


def _describe_out_of_reach(work: SessionState, limit: Threshold) -> list[str]:
    """Say for which columns no release can meet a threshold, even with all records in one class."""
    table = get_table_class(work)
    if table is None:
        return []
    return [
        f"No release can reach this for {escape_markdown(model.column)}: "
        f"{escape_markdown(describe_strictest(model, table))}."
        for model in list_models_of_thresholds(work)
        if model.symbol == limit.card.name and not model.holds(table)
    ]


def _get_wrong_entries(work: SessionState) -> dict[tuple[str, float | None], float]:
    """The typed numbers that are not allowed, by threshold and the number that still holds."""
    return state.get_or_compute("refused thresholds", work.version, dict)


def _explain_refusal(limit: Threshold, name: str, value: float | None) -> str:
    name_in_error = f"The threshold for '{limit.card.title}'"
    try:
        if value is not None:
            check_threshold_number(name, value, name_in_error)
    except KanonError as error:
        if limit.wanted is None:
            return f"{error.sentence} There is still no threshold."
        return f"{error.sentence} The threshold is still {limit.wanted:.12g}."
    return ""


def _set_threshold(name: str, value: Any) -> None:
    """Set a threshold; a number that is not allowed stays in its field and changes nothing."""
    work, number = state.get_session(), value
    context = work.purpose.context
    limit, before = list_thresholds(context)[name], getattr(context.thresholds, name)
    refused_values = _get_wrong_entries(work)
    refused_values.pop((name, limit.wanted), None)
    if _explain_refusal(limit, name, number):
        refused_values[name, limit.wanted] = number
        return
    source = "" if before is None else before.source
    _set_context(replace_threshold(context, name, ChosenThreshold(wanted=number, source=source)))


def _reset_threshold(name: str) -> None:
    for place in [place for place in _get_wrong_entries(state.get_session()) if place[0] == name]:
        del _get_wrong_entries(state.get_session())[place]
    _set_context(replace_threshold(state.get_session().purpose.context, name, None))


def _show_source(work: SessionState, name: str, limit: Threshold) -> None:
    if not limit.own:
        st.caption(escape_markdown(limit.source))
        return
    own = getattr(work.purpose.context.thresholds, name)
    field, back = st.columns([4, 2], vertical_alignment="bottom")
    with field:
        st.text_input(
            "Source of your threshold",
            **attach_widget(f"decide-source-{work.version}-{name}", own.source, _set_source, name),
            max_chars=LONGEST,
            placeholder="A document, a decision, a date",
        )
    back.button(
        "Use the proposed value",
        icon=":material/undo:",
        type="tertiary",
        key=f"decide-back-{name}",
        on_click=_reset_threshold,
        args=(name,),
    )


def _set_source(name: str, value: Any) -> None:
    context = state.get_session().purpose.context
    own = getattr(context.thresholds, name)
    if own is not None:
        _set_context(
            replace_threshold(context, name, ChosenThreshold(wanted=own.wanted, source=value or ""))
        )


# --- the file ---------------------------------------------------------------------------------
def _show_files(work: SessionState) -> None:
    download_side, upload_side = st.columns([1, 2], vertical_alignment="bottom")
    text = work.purpose.context.to_json()
    with download_side:
        draw_file_button(
            "Purpose as a file", text, "context", "json", text, "decide-context",
            help="CONTEXT.json for python -m kanon decide and for a report. It contains no column "
            "names and no values from the table.",
        )  # fmt: skip
    key = f"decide-upload-{work.version}-{work.view(DecideView).uploads}"
    with upload_side:
        draw_upload_field(
            "Load a purpose file", "plan_megabytes", type=["json"], key=key,
            on_change=_load_context, args=(key,),
        )  # fmt: skip


def _load_context(key: str) -> None:
    file = state.get_widget_value(key)
    if file is not None:
        state.try_update(lambda: load_context(state.get_session(), file.getvalue()))


def _explain_thresholds(work: SessionState) -> str:
    context, person = work.purpose.context, work.table.person_for_k
    texts = [_how("thresholds")]
    if context.invasion is not None:
        texts.append(_how("invasion"))
    if list_thresholds_to_measure(context):
        texts.append(_how("measured"))
    texts.append(
        _how("risks")
        if person is None
        else _how("risks_of_persons", person=escape_markdown(person))
    )
    if context.known is not None:
        texts.append(_how("known", number=context.known))
    if context.attacker == "journalist":
        texts.append(_how("journalist"))
    return "\n\n".join(texts)


# --- changes of the session -------------------------------------------------------------------
def set_context(work: SessionState, context: Context) -> SessionState:
    return work.replace_sections(replace(work.purpose, context=context), Message())


def load_context(work: SessionState, content: bytes) -> SessionState:
    opened = set_context(work, Context.from_json(content))
    deciding = replace(opened.view(DecideView), uploads=work.view(DecideView).uploads + 1)
    return opened.replace_sections(
        deciding, replace(opened.message, notice="The purpose was loaded.")
    )


def list_models_of_thresholds(work: SessionState) -> list[SensitiveModel]:
    context, columns = work.purpose.context, work.table.sensitive_columns
    return [model for column in columns for model in list_required_models(context, column)]


def require_thresholds(work: SessionState) -> SessionState:
    wanted, k = list_models_of_thresholds(work), compute_least_k(work.purpose.context)
    replaced = {(model.card.name, model.column) for model in wanted}
    others = [
        model
        for model in work.settings.models
        if (model.card.name, getattr(model, "column", "")) not in replaced
    ]
    needed = f"k = {k} is"
    if wanted:
        needed = f"k = {k} and {count_noun(len(wanted), 'more model')} are"
    notice = f"{needed} now required; press Anonymise on the Anonymise page."
    return take_settings(
        work, "purpose", notice, replace(work.settings, k=k, models=(*others, *wanted))
    )


def _write_highest_k(work: SessionState) -> str:
    unit: CountedUnit = "records" if work.table.person_for_k is None else "persons"
    return write_records_or_persons(work.table.highest_k, unit)


def find_unreachable(work: SessionState, table: EquivalenceClasses | None) -> str | None:
    """Why no release can meet the thresholds; None if one can."""
    k, most = compute_least_k(work.purpose.context), work.table.highest_k
    if k > most:
        return f"No release can reach k = {k}: the table has {_write_highest_k(work)}."
    return None if table is None else explain_refusal(list_models_of_thresholds(work), table)
