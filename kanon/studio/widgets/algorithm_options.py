"""The options of one algorithm beside its metric and k: a popover with its card and its choices.

Keys of widgets in a popover hold their values.
"""

from collections.abc import Iterator

import streamlit as st

from kanon.algorithms.catalogue import algorithm_named, uses
from kanon.base.formatting import write_percent
from kanon.cards import Parameter
from kanon.plan_parts import get_own_parameters
from kanon.studio.session import state
from kanon.studio.session.parts import RunSettings
from kanon.studio.session.run_plan import can_suppress, get_picked_levels
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState, set_algorithm_option

_COST_TITLES = {"weighted": "every record", "representatives": "one per class"}


def describe_algorithm(name: str) -> str:
    module = algorithm_named(name)
    return "\n\n".join(
        [
            f"**{escape_markdown(module.CARD.title)}.** {escape_markdown(module.CARD.summary)}",
            f"**Guaranteed:** {escape_markdown(module.CARD.guarantees)}",
            f"**Slow:** {escape_markdown(module.CARD.slow)}",
            f"**Source:** {escape_markdown(module.CARD.source)}",
        ]
    )


def describe_k_strategy() -> str:
    return (
        "It is meant for releases that need a model other than k-anonymity. If only one class is "
        "the smallest, it is merged whatever that costs: on Adult, S1 reached a larger k for the "
        "same alteration."
    )


def draw_algorithm_details(work: SessionState) -> None:
    changes = ", ".join(_describe_changes(work))
    with st.popover(f"Details: {changes}" if changes else "Details"):
        st.markdown(describe_algorithm(work.settings.algorithm))
        for parameter in _get_strategy_parameters(work):
            _draw_parameter(work, parameter)
        if uses(work.settings.algorithm, "cost"):
            _draw_cost(work)
        if uses(work.settings.algorithm, "tie_seed"):
            _draw_ties(work)
        if uses(work.settings.algorithm, "seed"):
            _draw_seed(work)
        if uses(work.settings.algorithm, "node"):
            _draw_node(work)
        if uses(work.settings.algorithm, "outliers"):
            _draw_outliers(work)
        if can_suppress(work.settings.algorithm):
            _draw_suppressed_rows(work)


def draw_own_parameters(work: SessionState) -> None:
    parameters = get_own_parameters(work.settings.algorithm)
    suppresses = uses(work.settings.algorithm, "suppression")
    if not parameters and not suppresses:
        return
    places = iter(st.columns(len(parameters) + suppresses))
    for parameter in parameters:
        with next(places):
            _draw_parameter(work, parameter)
    if suppresses:
        with next(places):
            _draw_suppression(work)


def _get_strategy_parameters(work: SessionState) -> tuple[Parameter, ...]:
    return (
        get_own_parameters(work.settings.algorithm)
        if uses(work.settings.algorithm, "strategy")
        else ()
    )


def _describe_changes(work: SessionState) -> Iterator[str]:
    options = work.settings.options.get(work.settings.algorithm, {})
    for parameter in _get_strategy_parameters(work):
        value = options.get(parameter.name, parameter.default)
        if value != parameter.default:
            yield parameter.choices[value]
    if work.settings.tie_seed is not None and uses(work.settings.algorithm, "tie_seed"):
        yield f"seed {work.settings.tie_seed}"
    if work.settings.seed and uses(work.settings.algorithm, "seed"):
        yield f"seed {work.settings.seed}"
    if work.settings.outliers and uses(work.settings.algorithm, "outliers"):
        yield f"outliers up to {write_percent(100 * work.settings.outliers)}"
    if work.settings.keep_suppressed and can_suppress(work.settings.algorithm):
        yield "suppressed rows stay"
    if work.settings.cost == "representatives" and uses(work.settings.algorithm, "cost"):
        yield _COST_TITLES[work.settings.cost]


def _draw_parameter(work: SessionState, parameter: Parameter) -> None:
    name = work.settings.algorithm
    value = work.settings.options.get(name, {}).get(parameter.name, parameter.default)
    st.selectbox(
        parameter.title,
        list(parameter.choices),
        **attach_widget(
            f"run-{name}-{parameter.name}-{value}",  # a closed popover's field misses new values
            value,
            *(state.try_step, set_algorithm_option, name, parameter.name),
        ),
        format_func=lambda value: parameter.choices[value],  # options are no Markdown
        help=escape_markdown(parameter.help),
    )


def _draw_suppression(work: SessionState) -> None:
    usual = "k records" if work.settings.algorithm == "datafly" else "none"
    draw_suppression_field(
        work,
        "run-suppression",
        usual,
        f"That often saves many steps for the others. Empty: {usual}.",
    )


def draw_suppression_field(work: SessionState, name: str, usual: str, more: str) -> None:
    _draw_share_field(
        work,
        "suppression",
        name,
        usual,
        "Records in classes that do not meet the requirements, mostly because they are too "
        f"small, can be suppressed, up to this share. {more}",
    )


def _draw_outliers(work: SessionState) -> None:
    _draw_share_field(
        work,
        "outliers",
        "run-outliers",
        "none",
        "Outliers are the few records that make the rest of their class lose most. They are "
        "suppressed only if all records together then lose less; a suppressed record counts as "
        "lost. That needs up to 33 runs instead of one, and again for every k. Empty: none.",
    )


def _draw_share_field(work: SessionState, field: str, name: str, usual: str, text: str) -> None:
    share = getattr(work.settings, field)
    st.number_input(
        RunSettings.LABELS[field],
        min_value=0.0,
        max_value=100.0,
        value=None,  # else an empty field would be the least number
        step=0.5,
        format="%.2f",
        placeholder=usual,
        **attach_widget(
            f"{name}-{work.version}-{share}", None if share is None else round(100 * share, 6),
            field, into=RunSettings, read=lambda typed: None if typed is None else typed / 100,
        ),
        help=text,
    )  # fmt: skip


def _draw_suppressed_rows(work: SessionState) -> None:
    key = f"run-keep-{work.version}-{work.settings.keep_suppressed}"
    st.toggle(
        "Keep the rows of suppressed records, blanked",
        **attach_widget(
            key, work.settings.keep_suppressed, "keep_suppressed", into=RunSettings, read=bool
        ),
        help="Otherwise the release leaves them out. In a blanked row every quasi-identifier is "
        "at its root, the rest is empty, and a last column 'suppressed' is 1.",
    )


def _draw_cost(work: SessionState) -> None:
    key = f"run-cost-{work.version}-{work.settings.cost}"
    st.selectbox(
        "Count a merge as",
        list(_COST_TITLES),
        **attach_widget(key, work.settings.cost, "cost", into=RunSettings),
        format_func=lambda name: _COST_TITLES[name],
        help="Whether the cost of merging two classes counts each of their records, or one "
        "representative of each.",
    )


def _draw_ties(work: SessionState) -> None:
    key = f"run-ties-{work.version}-{work.settings.tie_seed}"
    st.number_input(
        "Tie seed; empty: tree order",
        min_value=0,
        max_value=2**31,
        value=None,
        step=1,
        placeholder="tree order",
        **attach_widget(key, work.settings.tie_seed, "tie_seed", into=RunSettings),
        help="Often several partners are equally good. Without a seed, the first in tree order is "
        "taken. A seed picks another one, the same each time; other seeds show how much is due to "
        "chance.",
    )


def _draw_seed(work: SessionState) -> None:
    seed = work.settings.seed
    key = f"run-seed-{work.version}-{seed}"
    st.number_input(
        "Seed",
        min_value=0,
        max_value=2**31,
        step=1,
        **attach_widget(key, seed, "seed", into=RunSettings, read=lambda value: int(value or 0)),
        help="The algorithm makes random choices. The same seed makes the same ones each time; "
        "other seeds show how much is due to chance.",
    )


def _draw_node(work: SessionState) -> None:
    levels = get_picked_levels(work)
    listed = (
        ", ".join(f"{escape_markdown(column)} {level}" for column, level in levels.items())
        if levels
        else "none yet"
    )
    st.markdown(f"**Levels that you picked:** {listed}. Pick them on the Lattice page.")
