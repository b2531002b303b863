"""The part *Greatest k for a given l or t*."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.how_texts import Sections
from kanon.base.progress import Progress
from kanon.charts.decision import draw_greatest_k
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError
from kanon.experiments.greatest_k import GREATEST_K_SEARCHES, GreatestK, find_greatest_k
from kanon.plan import Plan
from kanon.privacy.model import SensitiveModel, ranges
from kanon.privacy.t_closeness import TCloseness
from kanon.sources.tables import Table
from kanon.strategies import STRATEGIES
from kanon.studio.decide.settings_undo import show_undo_button, take_settings
from kanon.studio.decide.state import DecideView
from kanon.studio.jobs import runner
from kanon.studio.jobs.durations import measure_job
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import GreatestKResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import JobRequest, SessionState
from kanon.studio.widgets.files import draw_code_buttons
from kanon.studio.widgets.model_editor import get_table_class
from kanon.studio.widgets.picture import PictureSettings, get_start_state, show_picture
from kanon.studio.widgets.progress import draw_duration
from kanon.studio.widgets.requirements import (
    KINDS,
    change_model,
    describe_strictest,
    describe_unused_entry,
    explain_refusal,
    format_model,
    format_model_option,
    suggest_model,
)
from kanon.studio.widgets.result import fade_old_result

START = "Find the greatest k"

_how = Sections(__file__)

MODELS = ("entropy-l-diversity", "t-closeness", "distinct-l-diversity")
"""The models that can be required, by name: each has one number."""


def get_required_model(work: SessionState, whole: EquivalenceClasses) -> SensitiveModel:
    chosen_model = work.view(DecideView).given
    if chosen_model is not None and chosen_model.column in work.table.sensitive_columns:
        return chosen_model
    return build_required_model(work, MODELS[0], whole)


def build_required_model(
    work: SessionState, name: str, whole: EquivalenceClasses
) -> SensitiveModel:
    """A model with its usual number, or half of the most that the table can meet."""
    return suggest_model(work.replace_sections(replace(work.settings, models=())), name, whole)


def plan_reverse(work: SessionState, model: SensitiveModel) -> Plan:
    return build_plan(
        work.replace_sections(
            replace(work.settings, algorithm="gaa", strategy="s1", models=(model,))
        )
    )


def get_reverse_settings(work: SessionState, model: SensitiveModel) -> str:
    return hash_run_inputs(work, plan_reverse(work, model))


def start_greatest_k(progress: Progress, content: Mapping[str, Any], table: Table) -> GreatestK:
    """Find the greatest k in a worker, which receives the plan as its content."""
    return find_greatest_k(Plan.from_content(content), table, progress=progress)


def build_greatest_k_request(work: SessionState, model: SensitiveModel) -> JobRequest:
    plan = plan_reverse(work, model)
    about, stays = get_reverse_settings(work, model), work.table.records.in_engine

    def store_greatest_k(work: SessionState, greatest: GreatestK) -> SessionState:
        result = GreatestKResult(greatest, model, plan.metric, about)
        return work.replace_sections(replace(work.findings, greatest_k=result))

    return JobRequest(
        "reverse", start_greatest_k, (plan.model_dump(mode="json"), work.table.records),
        store_greatest_k,
        limit="engine_minutes" if stays else "job_minutes",
    )  # fmt: skip


def require_found_model(work: SessionState, model: SensitiveModel, k: int) -> SessionState:
    others = [
        other
        for other in work.settings.models
        if (other.card, getattr(other, "column", "")) != (model.card, model.column)
    ]
    notice = (
        f"k = {write_count(k)} and {format_model(model)} are "
        "now required, with GAA and strategy S1: least cost. "
        "Press Anonymise on the Anonymise page. The alteration may differ from the curve."
    )
    return take_settings(
        work,
        "reverse",
        notice,
        replace(work.settings, k=k, models=(*others, model), algorithm="gaa", strategy="s1"),
    )


def describe_least(greatest: GreatestKResult) -> str:
    first = greatest.found.curve.iloc[0]
    least, k = write_percent(float(first["alteration"])), write_count(int(first["k"]))
    classes = count_noun(int(first["classes"]), "class", "classes")
    model = format_model(greatest.model)
    return f"The lowest alteration that meets {model} is {least}, with k = {k} in {classes}."


def describe_reached_k(greatest: GreatestKResult, most: float) -> str:
    curve = greatest.found.curve
    within = curve[curve["alteration"] <= most]
    if not len(within):
        return "No release that meets the model was found with so little alteration."
    last = within.iloc[-1]
    alteration, way = write_percent(float(last["alteration"])), GREATEST_K_SEARCHES[last["way"]]
    classes = count_noun(int(last["classes"]), "class", "classes")
    return f"This release loses {alteration} and has {classes}. It was found by “{way.title}”."


def explain_reverse() -> str:
    ways = "\n".join(
        f"- **{escape_markdown(card.title)}.** {escape_markdown(card.summary)}"
        for card in GREATEST_K_SEARCHES.values()
    )
    card = STRATEGIES["k"]
    strategy = f"**{escape_markdown(card.title)}.** {escape_markdown(card.summary)}"
    return _how("reversed", ways=ways, strategy=strategy, source=escape_markdown(card.source))


# --- on the page ------------------------------------------------------------------------------
def show_greatest_k_panel(work: SessionState) -> None:
    st.markdown(
        "First choose how well mixed the sensitive values must be. **How large can k be then, and "
        "what will it cost?**"
    )
    if not work.table.sensitive_columns:
        st.info("No column is sensitive, and these models need one.")
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
        return
    table = get_table_class(work)
    if table is None:  # the run says why
        st.info("The table has to be read without errors first: see the Data page.")
        return
    model = get_required_model(work, table)
    reason = explain_refusal([model], table)
    current = _get_current_result(work, model)
    _show_model_fields(work, model, table, current is None, reason is not None)
    if model in (mistyped := _get_wrong_entries(work)):
        sentence = describe_unused_entry(model, model.symbol, mistyped[model])
        st.error(escape_markdown(sentence), icon=":material/error:")
    elif reason is not None:
        st.error(escape_markdown(reason), icon=":material/error:")
    else:
        st.caption(escape_markdown(f"{model.symbol}: {describe_strictest(model, table)}."))
    if work.findings.greatest_k is None and "reverse" not in work.running:
        st.info(f"Press {START}. On large tables it may take minutes.")
    if work.findings.greatest_k is not None:
        since = partial(
            list_changed_labels,
            work,
            "reverse",
            lambda now: get_reverse_settings(now, get_required_model(now, table)),
        )
        fade_old_result("reverse-shown", START, current is None, "reverse" in work.running, since)
        with st.container(key="reverse-shown"):
            _show_results(work, work.findings.greatest_k)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(explain_reverse())
        if current is not None:
            most = work.view(DecideView).most
            settings = {"REQUIREMENT": format_model(model), "MOST_ALTERATION": most}
            draw_code_buttons("reverse", lambda: plan_reverse(work, model), settings)


def _get_current_result(work: SessionState, model: SensitiveModel) -> GreatestKResult | None:
    try:
        about = get_reverse_settings(work, model)
    except KanonError:  # the run says why
        return None
    greatest = work.findings.greatest_k
    return greatest if greatest and greatest.settings == about else None


# --- the required model -----------------------------------------------------------------------
def _show_model_fields(
    work: SessionState,
    model: SensitiveModel,
    table: EquivalenceClasses,
    first: bool,
    is_refused: bool,
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"reverse-model-{work.version}-{model.card.name}"
        st.selectbox(
            "Required model",
            MODELS,
            **attach_widget(
                key,
                model.card.name,
                lambda value: _set_model(build_required_model(state.get_session(), value, table)),
            ),
            format_func=lambda name: format_model_option(KINDS[name].card),
            help=escape_markdown(model.card.summary),
            width=440,
        )
        _show_number_field(work, model)
        columns = work.table.sensitive_columns
        if len(columns) > 1:
            key_of_column = f"reverse-column-{work.version}-{model.column}"
            st.selectbox(
                "Sensitive column",
                columns,
                **attach_widget(
                    key_of_column, model.column, lambda value: _set_part(model, column=value)
                ),
                width=180,
            )
        st.button(
            START,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled="reverse" in work.running or is_refused,
            on_click=runner.run_request,
            args=(build_greatest_k_request, model),
            kwargs={"effort": (effort := measure_job(work, "reverse"))},
            key="reverse-start",
        )
        draw_duration("reverse", effort)


def _show_number_field(work: SessionState, model: SensitiveModel) -> None:
    """The number of the model; the field has no limits, so that a message can explain them."""
    range_of_number, value = ranges(type(model))[model.symbol], getattr(model, model.symbol)
    kind: Any = int if range_of_number.whole else float
    key = f"reverse-number-{work.version}-{model.card.name}-{model.column}-{value}"
    number = _get_wrong_entries(work).get(model, value)
    st.number_input(
        f"{model.symbol} {'≤' if isinstance(model, TCloseness) else '≥'}",
        value=None,  # otherwise an empty field would return the minimum
        step=kind(1 if range_of_number.whole else 0.1),
        format="%d" if range_of_number.whole else "%g",
        **attach_widget(
            key,
            None if number is None else kind(number),
            lambda value: _set_part(model, **{model.symbol: value}),
        ),
        width=130,
    )


def _set_model(model: SensitiveModel) -> None:
    state.update_sections(replace(state.get_session().view(DecideView), given=model))


def _set_part(model: SensitiveModel, **typed: Any) -> None:
    """Use the typed number; one that cannot be used stays in its field and changes nothing."""
    ((part, value),) = typed.items()
    new = None if value is None else change_model(model, **typed)
    mistyped = _get_wrong_entries(state.get_session())
    if new is None:
        mistyped[model] = value
        return
    if part == model.symbol:
        mistyped.pop(model, None)
    _set_model(new)


def _get_wrong_entries(work: SessionState) -> dict[SensitiveModel, float | None]:
    return state.get_or_compute("mistyped given", work.version, dict)


# --- the result -------------------------------------------------------------------------------
def _show_results(work: SessionState, greatest: GreatestKResult) -> None:
    chart_side, result_side = st.columns([7, 3], gap="medium")
    most = work.view(DecideView).most
    with result_side:
        st.slider(
            "Highest alteration allowed, %",
            0,
            100,
            **attach_widget(f"reverse-most-{work.version}", most, "most", into=DecideView),
        )
        k = greatest.found.find_k(most)
        st.metric(
            "Greatest k found ↑ better",
            "none" if k is None else write_count(k),
            help=f"{greatest.found.of.capitalize()} in the smallest class: everyone looks like at "
            "least k − 1 others. Other releases may reach a larger k.",
        )
        st.markdown(escape_markdown(describe_reached_k(greatest, most)))
        st.caption(escape_markdown(describe_least(greatest)))
        st.button(
            "Use this k and model",
            icon=":material/tune:",
            key="reverse-use",
            disabled=k is None or k < 2,
            help="Requires both for the next release, as on the Anonymise page.",
            on_click=lambda: state.set_session(
                require_found_model(state.get_session(), greatest.model, k or 2)
            ),
        )
        show_undo_button(work, "reverse")
    with chart_side:
        about = f"{greatest.settings}|{most}"
        requirement = format_model(greatest.model)
        chart = state.get_or_compute(
            "reverse-chart", (greatest, most),
            lambda: draw_greatest_k(greatest.found, requirement, greatest.metric, most),
        )  # fmt: skip
        settings = PictureSettings.from_table(
            get_start_state(work, "reverse"),
            f"metric: {greatest.metric.card.title}", greatest.model.sentence,
        )  # fmt: skip
        show_picture(chart, lambda: greatest.found.ways, "greatest-k", about, settings)
