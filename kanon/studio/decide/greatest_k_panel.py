"""The greatest k for a given model, as the page Decide looks for it."""

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
        "Say first how well mixed the sensitive values have to be: **how large a k goes with "
        "that, and what does it cost?**"
    )
    if not work.table.sensitive_columns:
        st.info("No column is sensitive, and these models look at one.")
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
        return
    table = whole(work)
    if table is None:  # said when it is run
        st.info("The table has to be read without mistakes first: see the page Data.")
        return
    model = model_given(work, table)
    refused = refusal([model], table)
    found = _current(work, model)
    _given(work, model, table, found is None, refused is not None)
    if model in (mistyped := _mistyped(work)):
        said = not_used(model, model.symbol, mistyped[model])
        st.error(plain(said), icon=":material/error:")
    elif refused is not None:
        st.error(plain(refused), icon=":material/error:")
    else:
        st.caption(plain(f"{model.symbol}: {best(model, table)}."))
    if work.findings.greatest is None and "reverse" not in work.running:
        st.info("Nothing was looked for yet; on large tables it may take minutes.")
    if work.findings.greatest is not None:
        since = partial(
            changed_since,
            work,
            "reverse",
            lambda now: settings_of_reverse(now, model_given(now, table)),
        )
        fade("reverse-shown", START, found is None, "reverse" in work.running, since)
        with st.container(key="reverse-shown"):
            _results(work, work.findings.greatest)
    with st.expander("How it is computed", icon=":material/calculate:"):
        st.markdown(how_reversed())


def _current(work: Work, model: SensitiveModel) -> GreatestKResult | None:
    try:
        about = settings_of_reverse(work, model)
    except KanonError:  # said when it is run
        return None
    found = work.findings.greatest
    return found if found and found.settings == about else None


# --- what is given ----------------------------------------------------------------------------
def _given(
    work: Work, model: SensitiveModel, table: EquivalenceClasses, first: bool, refused: bool
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"reverse-model-{work.version}-{model.card.name}"
        st.selectbox(
            "Given",
            MODELS,
            **bound(
                key, model.card.name, lambda value: _give(model_named(state.work(), value, table))
            ),
            format_func=lambda name: glossed(KINDS[name].card),
            help=plain(model.card.summary),
            width=440,
        )
        _number(work, model)
        columns = work.table.sensitive_columns
        if len(columns) > 1:
            key_of_column = f"reverse-column-{work.version}-{model.column}"
            st.selectbox(
                "Sensitive column",
                columns,
                **bound(key_of_column, model.column, lambda value: _take(model, column=value)),
                width=180,
            )
        st.button(
            START,
            type="primary" if first else "secondary",
            icon=":material/play_arrow:",
            disabled="reverse" in work.running or refused,
            on_click=runner.run,
            args=(greatest_k_request, model),
            key="reverse-start",
        )


def _number(work: Work, model: SensitiveModel) -> None:
    """How much is asked for; without limits of its own, as what lies beyond has to be said."""
    allowed, value = ranges(type(model))[model.symbol], getattr(model, model.symbol)
    kind: Any = int if allowed.whole else float
    key = f"reverse-number-{work.version}-{model.card.name}-{model.column}-{value}"
    shown = _mistyped(work).get(model, value)
    st.number_input(
        f"{model.symbol} {'≤' if isinstance(model, TCloseness) else '≥'}",
        value=None,  # else an empty field would be the least number
        step=kind(1 if allowed.whole else 0.1),
        format="%d" if allowed.whole else "%g",
        **bound(
            key,
            None if shown is None else kind(shown),
            lambda value: _take(model, **{model.symbol: value}),
        ),
        width=130,
    )


def _give(model: SensitiveModel) -> None:
    state.change(replace(state.work().view(DecideView), given=model))


def _take(model: SensitiveModel, **typed: Any) -> None:
    """Use what was typed; a number that cannot be used stays in its field, and changes nothing."""
    ((part, value),) = typed.items()
    new = None if value is None else changed(model, **typed)
    mistyped = _mistyped(state.work())
    if new is None:
        mistyped[model] = value
        return
    if part == model.symbol:
        mistyped.pop(model, None)
    _give(new)


def _mistyped(work: Work) -> dict[SensitiveModel, float | None]:
    return state.remembered("mistyped given", work.version, dict)


# --- what was found ---------------------------------------------------------------------------
def _results(work: Work, greatest: GreatestKResult) -> None:
    left, right = st.columns([7, 3], gap="medium")
    most = work.view(DecideView).most
    with right:
        st.slider(
            "Alteration may be at most, %",
            0,
            100,
            **bound(f"reverse-most-{work.version}", most, "most", into=DecideView),
        )
        k = greatest.found.greatest_k(most)
        st.metric(
            "Greatest k found ↑ better",
            "none" if k is None else thin(k),
            help=_k_said(greatest.found.of),
        )
        st.markdown(plain(reached_said(greatest, most)))
        st.caption(plain(least_said(greatest)))
        st.button(
            "Use this k and model",
            icon=":material/tune:",
            key="reverse-use",
            disabled=k is None or k < 2,
            help="Require both of the next release, as on the page Anonymise.",
            on_click=lambda: state.put(with_reached(state.work(), greatest.model, k or 2)),
        )
        back_button(work, "reverse")
    with left:
        about = f"{greatest.settings}|{most}"
        asked = short(greatest.model)
        drawn = state.remembered(
            "reverse-chart", (greatest, most),
            lambda: reverse_chart(greatest.found, asked, greatest.metric, most),
        )  # fmt: skip
        settings = PictureSettings.of_table(
            begun_with(work, "reverse"),
            f"metric: {greatest.metric.card.title}", greatest.model.sentence,
        )  # fmt: skip
        picture(drawn, lambda: greatest.found.ways, "greatest-k", about, settings)


def _k_said(of: Counted) -> str:
    return (
        f"{of.capitalize()} in the smallest class: everybody looks like at least k − 1 others. "
        "Other releases may reach more."
    )
