"""The editor of the privacy models that every class has to meet beside k."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.classes import EquivalenceClasses
from kanon.errors import KanonError
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.model import Model, Range, SensitiveModel, ranges
from kanon.privacy.t_closeness import TCloseness
from kanon.studio.session import state
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets.requirements import (
    DISTANCES,
    RELEASE_KINDS,
    build_table_class,
    change_model,
    describe_models,
    describe_strictest,
    describe_unused_entry,
    explain_refusal,
    format_model_option,
    list_addable_cards,
    list_taken_columns,
    suggest_model,
)

_FOR_ALL = [name for name in DISTANCES if name not in ("emd-ordered", "hierarchical")]

_WIDTH = 520  # pixels of the popover: room for two numbers and a choice side by side


def get_table_class(work: SessionState) -> EquivalenceClasses | None:
    """The table as one class, cached until the table or its roles change; None if it has none."""
    key = (
        *(work.table.digest, work.version, work.table.missing, tuple(work.table.roles.items())),
        *(tuple(work.table.distance_trees.items()), work.looks_at_several),
    )

    def count_table() -> EquivalenceClasses | None:
        try:
            return build_table_class(work)
        except KanonError:  # said when it is run
            return None

    return state.get_or_compute("whole", key, count_table)


def get_model_key(work: SessionState, model: Model, part: str) -> str:
    """The key of a control; it holds the value, as a closed popover is not updated."""
    value = getattr(model, part, "")
    if not isinstance(model, SensitiveModel):
        return f"model-{work.version}-{model.card.name}-{part}-{value}"
    lost = model in work.unmeetable_models
    place = (
        f"lost-{work.settings.models.index(model)}"
        if lost
        else "+".join(str([*work.table.roles].index(c)) for c in model.columns or [model.column])
    )
    return f"model-{work.version}-{model.card.name}-{place}-{part}-{value}"


def draw_model_editor(work: SessionState) -> None:
    table_class = get_table_class(work)
    unfit = (
        (table_class is not None and explain_refusal(_list_fitting(work), table_class) is not None)
        or bool(work.unmeetable_models)
        or any(model in work.settings.models for model, _ in _get_unused_values(work))
    )
    required = describe_models(work.settings.models) or "nothing"
    with (
        st.popover(
            f"Also require: {escape_markdown(required)}", icon=":material/error:" if unfit else None
        ),
        st.container(width=_WIDTH),
    ):
        _draw_adding(work, table_class)
        if not work.settings.models:
            of = "persons" if work.table.person_for_k else "records"
            st.caption(
                f"k says how many {of} look alike, not whether they share a sensitive value. Every "
                "class, or the release as a whole, must also meet the models that you add here."
            )
        for model in work.settings.models:
            with st.container(border=True):
                _draw_model(work, model, table_class)


def _get_unused_values(work: SessionState) -> dict[tuple[Model, str], float | None]:
    return state.get_or_compute("mistyped", work.version, dict)


def _list_fitting(work: SessionState) -> list[SensitiveModel]:
    return [
        model
        for model in work.settings.models
        if isinstance(model, SensitiveModel) and model not in work.unmeetable_models
    ]


def _draw_model(work: SessionState, model: Model, table_class: EquivalenceClasses | None) -> None:
    _draw_heading(work, model)
    if model in work.unmeetable_models:
        st.error(
            f"{escape_markdown(model.subject)} is no longer sensitive. "
            "Make it sensitive again on the Data page, or remove this model.",
            icon=":material/error:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, allowed in ranges(type(model)).items():
            if name != "k":  # the one of the slider counts; that of the model is never more
                _draw_parameter_field(work, model, name, allowed)
        if isinstance(model, TCloseness):
            _draw_distance(work, model, table_class)
        if isinstance(model, SensitiveModel):
            _draw_column(work, model)
    _show_unused_entries(work, model)
    if isinstance(model, SensitiveModel):
        _draw_attacker_knowledge(work, model)
        _show_strictest(model, table_class)
    elif isinstance(model, KAmongKnown):
        st.caption(
            "k now holds for any so many quasi-identifiers. Someone who knows more of them may "
            "find fewer than k records, even a single one."
        )


def _draw_attacker_knowledge(work: SessionState, model: SensitiveModel) -> None:
    if len(work.table.sensitive_columns) > len(model.columns or [""]):
        st.checkbox(
            "Attackers know the other sensitive columns",
            **attach_widget(
                get_model_key(work, model, "others"),
                model.others is not None,
                _set_attacker_knowledge,
                model,
            ),
            help="Then the model has to hold among the records of a class that agree in them too.",
        )


def _show_strictest(model: SensitiveModel, table_class: EquivalenceClasses | None) -> None:
    if table_class is None:
        return
    reason = explain_refusal([model], table_class)
    if reason is None:
        st.caption(escape_markdown(f"{model.symbol}: {describe_strictest(model, table_class)}."))
    else:
        st.error(escape_markdown(reason), icon=":material/error:")


def _draw_heading(work: SessionState, model: Model) -> None:
    title, remove = st.columns([5, 2], vertical_alignment="center")
    title.markdown(f"**{escape_markdown(model.title)}**")
    remove.button(
        "Remove",
        icon=":material/delete:",
        type="tertiary",
        key=get_model_key(work, model, "remove"),
        on_click=_remove_model,
        args=(model,),
    )
    st.caption(escape_markdown(model.card.summary))


def _show_unused_entries(work: SessionState, model: Model) -> None:
    for (other, name), typed in _get_unused_values(work).items():
        if other == model:
            st.error(
                escape_markdown(describe_unused_entry(model, name, typed)), icon=":material/error:"
            )


def _draw_parameter_field(work: SessionState, model: Model, name: str, allowed: Range) -> None:
    """Draw a field without limits: the browser would hide values beyond them."""
    key, value = get_model_key(work, model, name), getattr(model, name)
    kind: Callable[[float], float] = int if allowed.whole else float
    number = _get_unused_values(work).get((model, name), value)
    st.number_input(
        name,
        value=None,  # else an empty field would be the least number
        step=kind(1 if allowed.whole else 0.1),
        format="%d" if allowed.whole else "%g",
        **attach_widget(key, None if number is None else kind(number), _apply_value, model, name),
        width=150,
    )


def _draw_distance(
    work: SessionState, model: TCloseness, table_class: EquivalenceClasses | None
) -> None:
    names = {model.distance, *_FOR_ALL}
    if table_class is not None and model.columns is None:
        column = table_class.sensitive_named(model.column)
        names |= {"emd-ordered"} if column.numeric else set()
        names |= {"hierarchical"} if column.tree is not None else set()
    st.selectbox(
        "Distance",
        [name for name in DISTANCES if name in names],
        **attach_widget(
            get_model_key(work, model, "distance"), model.distance, _apply_value, model, "distance"
        ),
        format_func=DISTANCES.__getitem__,
        help="How far apart two mixes of values are. The order of the values "
        "counts only for numbers.",
        width=220,
    )


def _draw_column(work: SessionState, model: SensitiveModel) -> None:
    if model.columns is not None:
        st.caption(escape_markdown(model.subject))
    if len(work.table.sensitive_columns) < 2 or model.columns is not None:
        return
    taken_columns = list_taken_columns(work, model.card.name) - {model.column}
    st.selectbox(
        "Sensitive column",
        [name for name in work.table.sensitive_columns if name not in taken_columns],
        **attach_widget(
            get_model_key(work, model, "column"), model.column, _apply_value, model, "column"
        ),
        width=180,
    )


def _draw_adding(work: SessionState, table_class: EquivalenceClasses | None) -> None:
    if not work.table.sensitive_columns:
        st.caption("Models about a sensitive column are not offered, because there is none yet.")
        st.page_link("pages/data.py", label="Choose roles", icon=":material/table:")
    cards = list_addable_cards(work)
    key = f"model-add-{work.version}-{len(work.settings.models)}"
    if cards and table_class is not None:
        st.selectbox(
            "Add a model",
            list(cards),
            index=None,
            placeholder="Choose a model",
            **attach_widget(key, None, _add_model, table_class, keep=True),
            format_func=lambda name: format_model_option(cards[name]),
        )


# --- what the controls do -------------------------------------------------------------------
def _add_model(table_class: EquivalenceClasses, name: str) -> None:
    work = state.get_session()
    model = RELEASE_KINDS.get(name) or suggest_model(work, name, table_class)
    state.update_sections(replace(work.settings, models=(*work.settings.models, model)))


def _remove_model(model: Model) -> None:
    _drop_values(model)
    _replace_model(model)


def _set_attacker_knowledge(model: SensitiveModel, known: bool) -> None:
    _apply_value(model, "others", "known" if known else "")


def _replace_model(model: Model, new: Model | None = None) -> None:
    settings = state.get_session().settings
    models = (new if other == model else other for other in settings.models)
    state.update_sections(replace(settings, models=tuple(filter(None, models))))


def _apply_value(model: Model, part: str, typed: Any) -> None:
    """Use a typed value; keep one that cannot be used for its field alone."""
    value = None if typed == "" else typed  # of others
    new = None if typed is None else change_model(model, **{part: value})
    if new is None:
        if part in ranges(type(model)):
            _get_unused_values(state.get_session())[model, part] = typed
        return
    _drop_values(model, part)
    for other, value in _drop_values(model).items():
        if getattr(new, other) == getattr(model, other):  # t is another one on another scale
            _get_unused_values(state.get_session())[new, other] = value
    _replace_model(model, new)


def _drop_values(model: Model, part: str | None = None) -> dict[str, float | None]:
    typed = _get_unused_values(state.get_session())
    keys = [key for key in typed if key[0] == model and part in (None, key[1])]
    return {name: typed.pop((key, name)) for key, name in keys}
