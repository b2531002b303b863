"""The part *Greatest k for a given l or t*."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from kanon.base.formatting import CountedUnit, write_count
from kanon.charts.decision import draw_greatest_k
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError
from kanon.privacy.model import SensitiveModel, ranges
from kanon.privacy.t_closeness import TCloseness
from kanon.studio.decide.greatest_k import (
    MODELS,
    build_greatest_k_request,
    build_required_model,
    describe_least,
    describe_reached_k,
    explain_reverse,
    get_required_model,
    get_reverse_settings,
    require_reached,
)
from kanon.studio.decide.state import DecideView
from kanon.studio.decide.undo_button import show_undo_button
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.changed_settings import list_changed_labels
from kanon.studio.session.findings import GreatestKResult
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.model_editor import get_table_class
from kanon.studio.widgets.picture import PictureSettings, get_start_state, show_picture
from kanon.studio.widgets.requirements import (
    KINDS,
    change_model,
    describe_strictest,
    describe_unused_entry,
    explain_refusal,
    format_model,
    format_model_option,
)
from kanon.studio.widgets.result import fade_old_result

START = "Find the greatest k"


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
            key="reverse-start",
        )


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
            help=_describe_k(greatest.found.of),
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
                require_reached(state.get_session(), greatest.model, k or 2)
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


def _describe_k(of: CountedUnit) -> str:
    return (
        f"{of.capitalize()} in the smallest class: everyone looks like at least k − 1 others. "
        "Other releases may reach a larger k."
    )
