"""The part *Greatest k for a given l or t*."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from kanon.base.formatting import Counted, thin
from kanon.charts.decision import reverse_chart
from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError
from kanon.privacy.model import SensitiveModel, ranges
from kanon.privacy.t_closeness import TCloseness
from kanon.studio.decide.greatest_k import (
    MODELS,
    greatest_k_request,
    how_reversed,
    least_said,
    model_given,
    model_named,
    reached_said,
    settings_of_reverse,
    with_reached,
)
from kanon.studio.decide.state import DecideView
from kanon.studio.decide.undo_button import back_button
from kanon.studio.jobs import runner
from kanon.studio.session import state
from kanon.studio.session.changed_settings import changed_since
from kanon.studio.session.findings import GreatestKResult
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.model_editor import whole
from kanon.studio.widgets.picture import PictureSettings, begun_with, picture
from kanon.studio.widgets.requirements import (
    KINDS,
    best,
    changed,
    glossed,
    not_used,
    refusal,
    short,
)
from kanon.studio.widgets.result import fade

START = "Find the greatest k"


def show(work: Work) -> None:
    st.markdown(
        "First choose how well mixed the sensitive values must be. **How large can k be then, and "
        "what does it cost?**"
    )
    if not work.table.sensitive_columns:
        st.info("No column is sensitive, and these models need one.")
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
        return
    table = whole(work)
    if table is None:  # the run says why
        st.info("The table must be read without mistakes first: see the page Data.")
        return
    model = model_given(work, table)
    reason = refusal([model], table)
    current = _get_current_result(work, model)
    _show_model_fields(work, model, table, current is None, reason is not None)
    if model in (mistyped := _get_wrong_entries(work)):
        sentence = not_used(model, model.symbol, mistyped[model])
        st.error(plain(sentence), icon=":material/error:")
    elif reason is not None:
        st.error(plain(reason), icon=":material/error:")
    else:
        st.caption(plain(f"{model.symbol}: {best(model, table)}."))
    if work.findings.greatest is None and "reverse" not in work.running:
        st.info(f"Press {START}. On large tables it may take minutes.")
    if work.findings.greatest is not None:
        since = partial(
            changed_since,
            work,
            "reverse",
            lambda now: settings_of_reverse(now, model_given(now, table)),
        )
        fade("reverse-shown", START, current is None, "reverse" in work.running, since)
        with st.container(key="reverse-shown"):
            _show_results(work, work.findings.greatest)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_reversed())


def _get_current_result(work: Work, model: SensitiveModel) -> GreatestKResult | None:
    try:
        about = settings_of_reverse(work, model)
    except KanonError:  # the run says why
        return None
    greatest = work.findings.greatest
    return greatest if greatest and greatest.settings == about else None


# --- the required model -----------------------------------------------------------------------
def _show_model_fields(
    work: Work, model: SensitiveModel, table: EquivalenceClasses, first: bool, is_refused: bool
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"reverse-model-{work.version}-{model.card.name}"
        st.selectbox(
            "Required model",
            MODELS,
            **bound(
                key,
                model.card.name,
                lambda value: _set_model(model_named(state.work(), value, table)),
            ),
            format_func=lambda name: glossed(KINDS[name].card),
            help=plain(model.card.summary),
            width=440,
        )
        _show_number_field(work, model)
        columns = work.table.sensitive_columns
        if len(columns) > 1:
            key_of_column = f"reverse-column-{work.version}-{model.column}"
            st.selectbox(
                "Sensitive column",
                columns,
                **bound(key_of_column, model.column, lambda value: _set_part(model, column=value)),
                width=180,
            )
        st.button(
            START,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled="reverse" in work.running or is_refused,
            on_click=runner.run,
            args=(greatest_k_request, model),
            key="reverse-start",
        )


def _show_number_field(work: Work, model: SensitiveModel) -> None:
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
        **bound(
            key,
            None if number is None else kind(number),
            lambda value: _set_part(model, **{model.symbol: value}),
        ),
        width=130,
    )


def _set_model(model: SensitiveModel) -> None:
    state.change(replace(state.work().view(DecideView), given=model))


def _set_part(model: SensitiveModel, **typed: Any) -> None:
    """Use the typed number; one that cannot be used stays in its field and changes nothing."""
    ((part, value),) = typed.items()
    new = None if value is None else changed(model, **typed)
    mistyped = _get_wrong_entries(state.work())
    if new is None:
        mistyped[model] = value
        return
    if part == model.symbol:
        mistyped.pop(model, None)
    _set_model(new)


def _get_wrong_entries(work: Work) -> dict[SensitiveModel, float | None]:
    return state.remembered("mistyped given", work.version, dict)


# --- the result -------------------------------------------------------------------------------
def _show_results(work: Work, greatest: GreatestKResult) -> None:
    chart_side, result_side = st.columns([7, 3], gap="medium")
    most = work.view(DecideView).most
    with result_side:
        st.slider(
            "Highest alteration allowed, %",
            0,
            100,
            **bound(f"reverse-most-{work.version}", most, "most", into=DecideView),
        )
        k = greatest.found.greatest_k(most)
        st.metric(
            "Greatest k found ↑ better",
            "none" if k is None else thin(k),
            help=_describe_k(greatest.found.of),
        )
        st.markdown(plain(reached_said(greatest, most)))
        st.caption(plain(least_said(greatest)))
        st.button(
            "Use this k and model",
            icon=":material/tune:",
            key="reverse-use",
            disabled=k is None or k < 2,
            help="Requires both of the next release, as on the page Anonymise.",
            on_click=lambda: state.put(with_reached(state.work(), greatest.model, k or 2)),
        )
        back_button(work, "reverse")
    with chart_side:
        about = f"{greatest.settings}|{most}"
        requirement = short(greatest.model)
        chart = state.remembered(
            "reverse-chart", (greatest, most),
            lambda: reverse_chart(greatest.found, requirement, greatest.metric, most),
        )  # fmt: skip
        settings = PictureSettings.of_table(
            begun_with(work, "reverse"),
            f"metric: {greatest.metric.card.title}", greatest.model.sentence,
        )  # fmt: skip
        picture(chart, lambda: greatest.found.ways, "greatest-k", about, settings)


def _describe_k(of: Counted) -> str:
    return (
        f"{of.capitalize()} in the smallest class: everyone looks like at least k − 1 others. "
        "Other releases may reach more."
    )
