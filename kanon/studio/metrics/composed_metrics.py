"""Metrics that the user composes of two phases, and weights of columns."""

from dataclasses import replace

import streamlit as st

from kanon.errors import HierarchyError, MetricError, quote
from kanon.hierarchy.intermediate_costs import COMPOSED, INTERMEDIATES
from kanon.hierarchy.tables import parse_weight
from kanon.metrics import MULTIPLIERS, PUBLISHED, Metric, check_metric_name
from kanon.plan_parts import MetricPlan, build_composed_metrics
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.text import escape_markdown, trim_title
from kanon.studio.session.work import SessionState, get_metric
from kanon.studio.widgets.how import format_metric_formula

MULTIPLIER_NAMES = {
    "none": "1 for every column",
    "w1": "w1: tall hierarchies weigh less",
    "w2": "w2: flat hierarchies weigh more",
}
LARGEST_ATTRIBUTE_WEIGHT = 1000  # a column can count so many times at most


def add_composed(work: SessionState, name: str, intermediate: str, multiplier: str) -> SessionState:
    name = " ".join(name.split())
    check_metric_name(name, work.settings.composed)
    notice = f"{quote(name)} can now be chosen as a metric on every page, and is compared too."
    return work.replace_sections(
        replace(
            work.settings,
            composed={**work.settings.composed, name: _build_metric_plan(intermediate, multiplier)},
        ),
        replace(work.compare, compared=(*work.compare.compared, name)),
        Message(notice=notice),
    )


def _build_metric_plan(intermediate: str, multiplier: str) -> MetricPlan:
    return MetricPlan.model_validate({"intermediate": intermediate, "multiplier": multiplier})


def set_attribute_weight(work: SessionState, column: str, text: str) -> SessionState:
    """Set how much a column counts in the search; the weight is 0 to 1000."""
    try:
        weight = parse_weight(text)
    except HierarchyError:
        weight = -1.0
    if not 0 <= weight <= LARGEST_ATTRIBUTE_WEIGHT:
        raise MetricError(
            f"The weight {quote(text)} of {quote(column)} is not allowed; enter a number from "
            f"0 to {LARGEST_ATTRIBUTE_WEIGHT}, with a decimal point if needed. The usual weight "
            "is 1."
        )
    weights = {**work.settings.attribute_weights, column: weight}
    return work.replace_sections(replace(work.settings, attribute_weights=weights), Message())


def remove_composed(work: SessionState, name: str) -> SessionState:
    """Remove one of the user's metrics; where it was chosen, the default takes its place."""
    result = work.findings.comparison
    lines = () if result is None else result.comparison.lines
    is_compared = any(line.configuration.metric == name for line in lines)
    notice = (
        f"Removed {quote(name)} and the comparison that used it."
        if is_compared
        else f"Removed {quote(name)}."
    )
    return work.replace_sections(
        replace(
            work.settings,
            composed={
                other: part for other, part in work.settings.composed.items() if other != name
            },
            metric="nllm" if work.settings.metric == name else work.settings.metric,
        ),
        replace(
            work.compare, compared=tuple(other for other in work.compare.compared if other != name)
        ),
        replace(work.shared, shown="" if work.shared.shown == name else work.shared.shown),
        replace(work.findings, comparison=None if is_compared else result, what_if=None),
        Message(notice=notice),
    )


def find_equal_metrics(work: SessionState, metric: Metric) -> list[str]:
    others = [get_metric(work, name) for name in (*PUBLISHED, *work.settings.composed)]
    phases = (metric.intermediate, metric.multiplier)
    return [
        other.card.title for other in others if (other.intermediate, other.multiplier) == phases
    ]


def show_composer(work: SessionState) -> None:
    st.subheader("Compose a metric")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        intermediate = st.selectbox(
            "Cost of one step up",
            COMPOSED,
            key="compose-intermediate",
            format_func=lambda name: INTERMEDIATES[name].title,
            width=220,
        )
        multiplier = st.selectbox(
            "times, per column",
            list(MULTIPLIERS),
            key="compose-multiplier",
            format_func=lambda name: MULTIPLIER_NAMES[name],
            width=260,
        )
        field = f"compose-name-{len(work.settings.composed)}"
        st.text_input("Name", key=field, width=180)
        st.button("Save metric", key="compose-keep", on_click=keep_metric, args=(field,))
    metric = build_composed_metrics({"": _build_metric_plan(intermediate, multiplier)})[""]
    same = find_equal_metrics(work, metric)
    sentence = escape_markdown(format_metric_formula(metric))
    if same:
        sentence = f"{sentence}, which is {escape_markdown(', '.join(same))}."
    st.markdown(sentence)
    for composed in work.settings.composed:
        with st.container(horizontal=True, vertical_alignment="center"):
            sentence = escape_markdown(format_metric_formula(get_metric(work, composed)))
            st.markdown(f"**{escape_markdown(composed)}**: {sentence}", width="content")
            st.button(
                "Remove",
                key=f"compose-remove-{composed}",
                type="tertiary",
                on_click=lambda name=composed: state.set_session(
                    remove_composed(state.get_session(), name)
                ),
            )


def keep_metric(field: str) -> None:
    phases = (
        state.get_widget_value("compose-intermediate"),
        state.get_widget_value("compose-multiplier"),
    )
    state.try_update(
        lambda: add_composed(state.get_session(), state.get_widget_value(field) or "", *phases)
    )


def show_attribute_weights(work: SessionState) -> None:
    st.subheader("How much does losing a column hurt?")
    st.caption(
        "A column with weight 2 counts twice in the search, so less of it is lost. With weight 0 "
        "its loss does not count. Weights guide the search only; alteration is measured without "
        "them."
    )
    columns = work.table.quasi_identifiers
    for start in range(0, len(columns), 5):
        places = st.columns(5)
        for place, name in zip(places, columns[start : start + 5], strict=False):
            weight = work.settings.attribute_weights.get(name, 1.0)
            # The key holds the value: a wrong entry stays in the field, to be corrected.
            key = f"attribute-weight-{work.version}-{columns.index(name)}-{weight:g}"
            place.text_input(
                escape_markdown(trim_title(name)),
                value=f"{weight:g}",
                key=key,
                on_change=take_weight,
                args=(name, key),
            )


def take_weight(name: str, key: str) -> None:
    state.try_update(
        lambda: set_attribute_weight(state.get_session(), name, state.get_widget_value(key))
    )
