"""The editor of the privacy models that every class has to meet beside k."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError, quoted
from kanon.privacy.model import Range, SensitiveModel, ranges
from kanon.privacy.t_closeness import TCloseness
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.requirements import (
    DISTANCES,
    best,
    cards_to_add,
    changed,
    glossed,
    not_used,
    refusal,
    suggested,
    summary,
    whole_table,
)

_UNORDERED = [name for name in DISTANCES if name != "emd-ordered"]

_WIDTH = 520  # pixels of the popover: room for two numbers and a choice side by side


def whole(work: Work) -> EquivalenceClasses | None:
    """The table as one class, cached until the table or its roles change; None if it has none."""
    key = work.table.digest, work.version, work.table.missing, tuple(work.table.roles.items())

    def count_table() -> EquivalenceClasses | None:
        try:
            return whole_table(work)
        except KanonError:  # said when it is run
            return None

    return state.remembered("whole", key, count_table)


def key_of_model(work: Work, model: SensitiveModel, part: str) -> str:
    """The key of a control; it holds the value, as a closed popover is not updated."""
    lost = model in work.models_lost
    place = (
        f"lost-{work.settings.models.index(model)}"
        if lost
        else list(work.table.roles).index(model.column)
    )
    value = getattr(model, part, "")
    return f"model-{work.version}-{model.card.name}-{place}-{part}-{value}"


def also_require(work: Work) -> None:
    table_class = whole(work)
    refused = (
        bool(work.settings.models)
        and table_class is not None
        and refusal(_list_fitting(work), table_class) is not None
    )
    unfit = (
        refused
        or bool(work.models_lost)
        or any(model in work.settings.models for model, _ in _get_unused_values(work))
    )
    required = summary(work.settings.models) or "nothing"
    with (
        st.popover(f"Also require: {plain(required)}", icon=":material/error:" if unfit else None),
        st.container(width=_WIDTH),
    ):
        _draw_adding(work, table_class)
        if not work.settings.models:
            of = "persons" if work.table.person_counted else "records"
            st.caption(
                f"k says how many {of} look alike, not whether they share a sensitive value. Every "
                "class has to meet the models that you add here too."
            )
        for model in work.settings.models:
            with st.container(border=True):
                _draw_model(work, model, table_class)


def _get_unused_values(work: Work) -> dict[tuple[SensitiveModel, str], float | None]:
    return state.remembered("mistyped", work.version, dict)


def _list_fitting(work: Work) -> list[SensitiveModel]:
    return [model for model in work.settings.models if model not in work.models_lost]


def _draw_model(work: Work, model: SensitiveModel, table_class: EquivalenceClasses | None) -> None:
    title, remove = st.columns([5, 2], vertical_alignment="center")
    title.markdown(f"**{plain(model.title)}**")
    remove.button(
        "Remove",
        icon=":material/delete:",
        type="tertiary",
        key=key_of_model(work, model, "remove"),
        on_click=_remove_model,
        args=(model,),
    )
    st.caption(plain(model.card.summary))
    if model in work.models_lost:
        st.error(
            f"{plain(quoted(model.column))} is no longer sensitive. Make it sensitive again on the "
            "page Data, or remove this model.",
            icon=":material/error:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, allowed in ranges(type(model)).items():
            if name == "k":  # the one of the slider counts; that of the model is never more
                continue
            _draw_parameter_field(work, model, name, allowed)
        if isinstance(model, TCloseness):
            _draw_distance(work, model, table_class)
        _draw_column(work, model)
    for (other, name), typed in _get_unused_values(work).items():
        if other == model:
            st.error(plain(not_used(model, name, typed)), icon=":material/error:")
    if table_class is None:
        return
    reason = refusal([model], table_class)
    if reason is None:
        st.caption(plain(f"{model.symbol}: {best(model, table_class)}."))
    else:
        st.error(plain(reason), icon=":material/error:")


def _draw_parameter_field(work: Work, model: SensitiveModel, name: str, allowed: Range) -> None:
    """Draw a field without limits: the browser would hide values beyond them."""
    key, value = key_of_model(work, model, name), getattr(model, name)
    kind: Callable[[float], float] = int if allowed.whole else float
    number = _get_unused_values(work).get((model, name), value)
    st.number_input(
        name,
        value=None,  # else an empty field would be the least number
        step=kind(1 if allowed.whole else 0.1),
        format="%d" if allowed.whole else "%g",
        **bound(key, None if number is None else kind(number), _apply_value, model, name),
        width=150,
    )


def _draw_distance(work: Work, model: TCloseness, table_class: EquivalenceClasses | None) -> None:
    numeric = table_class is not None and table_class.sensitive_named(model.column).numeric
    st.selectbox(
        "Distance",
        [name for name in DISTANCES if numeric or name in (model.distance, *_UNORDERED)],
        **bound(
            key_of_model(work, model, "distance"), model.distance, _apply_value, model, "distance"
        ),
        format_func=DISTANCES.__getitem__,
        help="How far apart two mixes of values are. Their order counts only for numbers.",
        width=220,
    )


def _draw_column(work: Work, model: SensitiveModel) -> None:
    if len(work.table.sensitive_columns) < 2:
        return
    taken_columns = {other.column for other in work.settings.models if other.card == model.card} - {
        model.column
    }
    st.selectbox(
        "Sensitive column",
        [name for name in work.table.sensitive_columns if name not in taken_columns],
        **bound(key_of_model(work, model, "column"), model.column, _apply_value, model, "column"),
        width=180,
    )


def _draw_adding(work: Work, table_class: EquivalenceClasses | None) -> None:
    if not work.table.sensitive_columns:
        st.caption("These models need a sensitive column, and there is none yet.")
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
        return
    cards = cards_to_add(work)
    key = f"model-add-{work.version}-{len(work.settings.models)}"
    if cards and table_class is not None:
        st.selectbox(
            "Add a model",
            list(cards),
            index=None,
            placeholder="Choose a model",
            **bound(key, None, _add_model, table_class, keep=True),
            format_func=lambda name: glossed(cards[name]),
        )


# --- what the controls do -------------------------------------------------------------------
def _add_model(table_class: EquivalenceClasses, name: str) -> None:
    work = state.work()
    models = (*work.settings.models, suggested(work, name, table_class))
    state.change(replace(work.settings, models=models))


def _remove_model(model: SensitiveModel) -> None:
    _drop_values(model)
    models = tuple(other for other in state.work().settings.models if other != model)
    state.change(replace(state.work().settings, models=models))


def _apply_value(model: SensitiveModel, part: str, typed: Any) -> None:
    """Use a typed value; keep one that cannot be used for its field alone."""
    new = None if typed is None else changed(model, **{part: typed})
    if new is None:
        if part in ranges(type(model)):
            _get_unused_values(state.work())[model, part] = typed
        return
    _drop_values(model, part)
    for other, value in _drop_values(model).items():
        if getattr(new, other) == getattr(model, other):  # t is another one on another scale
            _get_unused_values(state.work())[new, other] = value
    models = tuple(new if old == model else old for old in state.work().settings.models)
    state.change(replace(state.work().settings, models=models))


def _drop_values(model: SensitiveModel, part: str | None = None) -> dict[str, float | None]:
    typed = _get_unused_values(state.work())
    keys = [key for key in typed if key[0] == model and part in (None, key[1])]
    return {name: typed.pop((key, name)) for key, name in keys}
