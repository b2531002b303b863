"""A preview of a built hierarchy, before it is in use."""

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.hierarchy.codes import parse_ranges, ranges_text
from kanon.hierarchy.files import text_of_file
from kanon.studio.session import state
from kanon.studio.session.choices import BUILDERS, HierarchyChoice, suggested
from kanon.studio.session.hierarchy_choices import built, with_choice
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets import tree_edits
from kanon.studio.widgets.controls import builder_fields, typed_fields, upload_field


def build_panel(work: Work, column: str) -> None:
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
    # The key holds the value: a closed popover would send an old one.
    st.selectbox(
        "Build from the values",
        [name for name in BUILDERS if name not in ("file", "drawn")],
        index=None,
        placeholder="Choose a builder",
        **bound(f"{_get_prefix(work, column)}-builder-{builder}", builder, _choose_builder, column),
        format_func=lambda name: BUILDERS[name].title,
    )


def preview_head(work: Work, column: str, preview: HierarchyChoice) -> None:
    prefix, builder = _get_prefix(work, column), BUILDERS[preview.builder]
    with st.container(border=True):
        text, buttons = st.columns([7, 2], vertical_alignment="center")
        about = f" {plain(tree_edits.summary(preview))}." if preview.tree is not None else ""
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
        builder_fields(preview, prefix, _update_preview, column, prefix)
        if preview.builder == "codes":
            _show_ranges_upload(work, column)
        st.caption(" ".join([builder.about, *map(plain, preview.remarks)]))
        if preview.problem:
            st.error(plain(preview.problem), icon=":material/error:")


def _get_prefix(work: Work, column: str) -> str:
    return f"build-{work.version}-{work.table.hierarchy_columns.index(column)}"


def _choose_builder(column: str, value: Any) -> None:
    builder, work = value, state.work()
    if builder is None:
        _drop_preview(column)
        return
    old = work.table.previews.get(column) or work.table.choices[column]
    _show_preview(column, built(work, column, old, builder, {}))


def _update_preview(column: str, prefix: str) -> None:
    work = state.work()
    old = work.table.previews.get(column)
    if old is not None:
        _show_preview(column, built(work, column, old, old.builder, typed_fields(prefix)))


def _show_ranges_upload(work: Work, column: str) -> None:
    # A new key after each upload: otherwise the uploader would return the earlier file again.
    key = f"{_get_prefix(work, column)}-ranges-file-{work.shared.uploads}"
    with st.popover("Ranges from a file", icon=":material/upload:", type="tertiary"):
        upload_field(
            "CSV with lines from;to;name, such as J40;J47;Chronic lower respiratory diseases",
            "hierarchies_megabytes",
            key=key,
            on_change=_take_ranges,
            args=(column, key),
        )


def _take_ranges(column: str, key: str) -> None:
    file, work = state.typed(key), state.work()
    old = work.table.previews.get(column)
    if file is None or old is None:
        return

    def set_ranges() -> Work:
        ranges = ranges_text(parse_ranges(text_of_file(file.getvalue(), file.name)))
        preview = built(work, column, old, old.builder, {"ranges": ranges})
        previews = {**work.table.previews, column: preview}
        return work.with_parts(
            replace(work.table, previews=previews),
            replace(work.shared, uploads=work.shared.uploads + 1),
        )

    state.attempt(set_ranges)


def _suggest_hierarchy(column: str) -> None:
    _show_preview(column, suggested(column, state.work().table.complete_records.counted(column)))


def _show_preview(column: str, preview: HierarchyChoice) -> None:
    state.change(
        replace(state.work().table, previews={**state.work().table.previews, column: preview})
    )


def _take_preview(column: str) -> None:
    preview = state.work().table.previews[column]
    _drop_preview(column)
    state.put(with_choice(state.work(), column, preview))


def _drop_preview(column: str) -> None:
    work = state.work()
    previews = {name: other for name, other in work.table.previews.items() if name != column}
    state.put(work.with_parts(replace(work.table, previews=previews), Message()))
