"""A preview of a built hierarchy, before it is in use."""

from typing import Any

import streamlit as st

from kanon.algorithms.mdav import describe_content
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, HierarchyChoice, suggest_choice
from kanon.studio.session.hierarchy_choices import build_with_builder, set_hierarchy
from kanon.studio.session.state import attach_widget
from kanon.studio.session.table_state import TableState
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.studio.widgets import tree_edits
from kanon.studio.widgets.controls import (
    draw_builder_fields,
    get_builder_entries,
)


def show_build_panel(work: SessionState, column: str) -> None:
    preview = work.table.previews.get(column)
    builder = preview.builder if preview is not None else None
    st.button(
        "Suggest one from the data",
        icon=":material/lightbulb:",
        key="build-suggest",
        on_click=_suggest_hierarchy,
        args=(column,),
        width="stretch",
    )
    tree = work.table.choices[column].tree
    if tree is not None and not describe_content(tree, plain=False):
        for name, share, label in (
            ("highest", "99 %", "above the"),
            ("lowest", "1 %", "below the"),
        ):
            st.button(
                f"One group {label} {share}",
                key=f"build-{name}",
                on_click=_set_bound,
                args=(column, name, share),
                width="stretch",
            )
    # The key holds the value: a closed popover would send an old one.
    st.selectbox(
        "Build from the values",
        [name for name in BUILDERS if name not in ("file", "drawn")],
        index=None,
        placeholder="Choose a builder",
        **attach_widget(
            f"{_get_prefix(work, column)}-builder-{builder}", builder, _choose_builder, column
        ),
        format_func=lambda name: BUILDERS[name].title,
    )


def show_preview_head(work: SessionState, column: str, preview: HierarchyChoice) -> None:
    prefix, builder = _get_prefix(work, column), BUILDERS[preview.builder]
    with st.container(border=True):
        text, buttons = st.columns([7, 2], vertical_alignment="center")
        about = (
            f" {escape_markdown(tree_edits.describe_tree(preview))}."
            if preview.tree is not None
            else ""
        )
        head = f"**Preview, not in use yet:** {builder.title}."
        text.markdown(f":orange[:material/visibility: {head}]{about}")
        with buttons.container(horizontal=True, horizontal_alignment="right"):
            st.button(
                "Use it",
                type="primary",
                key="preview-use",
                disabled=preview.tree is None,
                on_click=_take_preview,
                args=(column,),
            )
            st.button("Discard", key="preview-discard", on_click=_drop_preview, args=(column,))
        draw_builder_fields(preview, prefix, _update_preview, column, prefix)
        st.caption(" ".join([builder.description, *map(escape_markdown, preview.remarks)]))
        if preview.problem:
            st.error(escape_markdown(preview.problem), icon=":material/error:")


def _get_prefix(work: SessionState, column: str) -> str:
    return f"build-{work.version}-{work.table.hierarchy_columns.index(column)}"


def _choose_builder(column: str, value: Any) -> None:
    builder, work = value, state.get_session()
    if builder is None:
        _drop_preview(column)
        return
    old = work.table.previews.get(column) or work.table.choices[column]
    _show_preview(column, build_with_builder(work, column, old, builder, {}))


def _update_preview(column: str, prefix: str) -> None:
    work = state.get_session()
    old = work.table.previews.get(column)
    if old is not None:
        _show_preview(
            column, build_with_builder(work, column, old, old.builder, get_builder_entries(prefix))
        )


def _suggest_hierarchy(column: str) -> None:
    values = state.get_session().table.complete_records.count_column_values(column)
    _show_preview(column, suggest_choice(column, values))


def _set_bound(column: str, name: str, share: str) -> None:
    """Preview intervals with a bound: those of the column, or just the bound."""
    work = state.get_session()
    old = work.table.previews.get(column) or work.table.choices[column]
    typed = {name: share} if old.builder == "intervals" else {"widths": "", name: share}
    preview = build_with_builder(work, column, old, "intervals", {})
    _show_preview(column, build_with_builder(work, column, preview, "intervals", typed))


def _show_preview(column: str, preview: HierarchyChoice) -> None:
    previews = {**state.get_session().table.previews, column: preview}
    state.update_fields(TableState, previews=previews)


def _take_preview(column: str) -> None:
    preview = state.get_session().table.previews[column]
    _drop_preview(column)
    state.try_step(set_hierarchy, column, preview)


def _drop_preview(column: str) -> None:
    previews = dict(state.get_session().table.previews)
    previews.pop(column, None)
    state.update_fields(TableState, previews=previews)
