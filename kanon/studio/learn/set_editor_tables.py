"""The tables of an exercise set in the making: typed, or taken from what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from kanon.errors import KanonError
from kanon.hierarchy.outline import to_outline
from kanon.schema import Role
from kanon.settings import settings
from kanon.studio.learn.set_editor_state import (
    SetEditorView,
    change_draft,
    change_table,
    look,
    own_table,
)
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain, shortened
from kanon.studio.session.work import Work
from kanon.studio.widgets.popover import closing_popover
from kanon.studio.widgets.table_draft import typed_table
from kanon.teaching.exercise_draft import (
    ColumnDraft,
    SetDraft,
    TableDraft,
    free_name,
    put_at,
    table_draft,
    table_from,
    tree_of,
    with_column,
    with_records,
    with_table,
    without_column,
)
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.presets import PRESETS, preset_table
from kanon.teaching.small_tables import MOST_COLUMNS, MOST_RECORDS

_EMPTY = TableDraft("", (ColumnDraft(), ColumnDraft(role=Role.SENSITIVE)), ())


def tables_part(work: Work, view: SetEditorView, draft: SetDraft, opened: ExerciseSet) -> SetDraft:
    """Draw the tables; the draft with what was typed in the one that is shown."""
    place = min(view.table, len(draft.tables) - 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(draft.tables) > 1:
            st.segmented_control(
                "Table",
                range(len(draft.tables)),
                **bound(f"set-table-{len(draft.tables)}", place, "table", into=look, keep=True),
                format_func=lambda at: plain(shortened(draft.tables[at].name)),
                label_visibility="collapsed",
            )
        with closing_popover(
            "Add a table", f"set-add-{len(draft.tables)}-{view.began}", icon=":material/add:"
        ):
            _sources(work, view, draft, opened)
    if place < 0:
        st.caption("Add a table first: an empty one to type in, or one that there is.")
        return draft
    table = draft.tables[place]
    _columns(view, place, table)
    table = _records(view, place, table)
    _trees(view, place, table)
    return with_table(draft, place, table)


# --- where a table comes from ---------------------------------------------------------------
def _sources(work: Work, view: SetEditorView, draft: SetDraft, opened: ExerciseSet) -> None:
    """A button per table that can be taken."""
    st.button(
        "An empty table", key="set-add-empty", width="stretch",
        on_click=lambda: _add(replace(_EMPTY, name="table")),
    )  # fmt: skip
    st.caption("With its roles and hierarchies")
    for name, preset in PRESETS.items():
        st.button(
            plain(preset.title), key=f"set-add-{name}", width="stretch",
            on_click=lambda name=name: _add(table_from(name, preset_table(name))),
        )  # fmt: skip
    for at, (name, table) in enumerate(opened.tables.items()):
        if name in PRESETS:
            continue
        own = opened.fingerprint in view.own_sets
        st.button(
            plain(f"{name}, of the set that is open"),
            key=f"set-add-opened-{at}", width="stretch",
            on_click=lambda name=name, table=table, own=own: _add(
                table_draft(name, table, own)
            ),
        )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "First records",
            min_value=2,
            max_value=MOST_RECORDS,
            **bound(f"set-own-records-{view.records}", view.records, "records", into=SetEditorView),
            width=120,
        )
        allowed = settings().original_values_downloads
        st.button(
            "Of the table I work on",
            key="set-add-own",
            disabled=not allowed,
            on_click=_add_own,
            help=(
                "Its quasi-identifiers and sensitive columns, as they are: whoever gets the set "
                "gets these records."
            )
            if allowed
            else "Files with original values are switched off on this server.",
        )


def _add(table: TableDraft) -> None:
    view = state.work().view(SetEditorView)
    name = free_name(table.name, [each.name for each in (view.draft or SetDraft()).tables])
    change_draft(
        lambda draft: replace(draft, tables=(*draft.tables, replace(table, name=name))),
        table=len((view.draft or SetDraft()).tables),
        began=view.began + 1,
    )


def _add_own() -> None:
    work = state.work()
    try:
        table = own_table(work, work.view(SetEditorView).records)
    except KanonError as error:
        state.change(Message(problem=error.sentence))
        return
    _add(table)


# --- one table ------------------------------------------------------------------------------
def _columns(view: SetEditorView, place: int, table: TableDraft) -> None:
    """The name of the table, and name and role of each column."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name of the table",
            **_typed(view, "name", place, table.name, lambda one, name: replace(one, name=name)),
            max_chars=100,
            width=260,
        )
        st.button(
            "Add a column", icon=":material/add:", key="set-column-add",
            disabled=len(table.columns) >= MOST_COLUMNS,
            on_click=_restructure, args=(place, lambda one: with_column(one, ColumnDraft())),
        )  # fmt: skip
        st.button(
            "Remove this table", icon=":material/delete:", key="set-table-remove",
            on_click=_remove, args=(place,),
        )  # fmt: skip
    for at, column in enumerate(table.columns):
        number = at + 1
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                f"Name of column {number}",
                **_typed(view, f"column-{at}", place, column.name, _set(at, "name")),
                max_chars=100,
                placeholder=f"Name of column {number}",
                label_visibility="collapsed",
                width=260,
            )
            st.selectbox(
                f"Role of column {number}",
                list(Role),
                **_typed(view, f"role-{at}", place, column.role, _set(at, "role")),
                format_func=lambda role: role.value,
                label_visibility="collapsed",
                width=220,
            )
            st.button(
                f"Remove column {number}", type="tertiary",
                key=f"set-column-remove-{at}", disabled=len(table.columns) == 1,
                on_click=_restructure, args=(place, lambda one, at=at: without_column(one, at)),
            )  # fmt: skip


def _records(view: SetEditorView, place: int, table: TableDraft) -> TableDraft:
    """The records, to type or to paste from a spreadsheet; the table with them."""
    names = [str(at) for at in range(len(table.columns))]  # names that are typed may be equal
    typed = typed_table(
        "set-records", (view.began, place),
        lambda: pd.DataFrame(table.records, columns=names, dtype="str"),
        column_config={
            name: st.column_config.TextColumn(
                column.name or f"column {int(name) + 1}"
            )
            for name, column in zip(names, table.columns, strict=True)
        },
    )  # fmt: skip
    st.caption(f"A record a line, up to {MOST_RECORDS}; cells can be pasted from a spreadsheet.")
    found = with_records(table, typed.now)
    if found != table:
        change_table(place, lambda _: found)
    return found


def _trees(view: SetEditorView, place: int, table: TableDraft) -> None:
    """The tree of each quasi-identifier, as an outline."""
    chosen = [at for at, column in enumerate(table.columns) if column.role is Role.QUASI_IDENTIFIER]
    for first in range(0, len(chosen), 3):
        for cell, at in zip(st.columns(3), chosen[first : first + 3], strict=False):
            with cell:
                _tree(view, place, table, at)


def _tree(view: SetEditorView, place: int, table: TableDraft, at: int) -> None:
    column = table.columns[at]
    called = column.name or f"column {at + 1}"
    flat, problem = "", ""
    try:
        tree = tree_of(table, at)
        flat = "" if column.tree.strip() else to_outline(tree)
    except KanonError as error:
        problem = error.sentence
    st.text_area(
        f"Tree of {plain(called)}",
        **_typed(view, f"tree-{at}", place, column.tree, _set(at, "tree")),
        height=220,
        placeholder=flat,
        help="A node a line: the root first, what is below a node farther in. After = stands the "
        "weight of a step, for the metric Custom: Felid = 3. Empty for all values directly "
        "below *.",
    )
    if flat:
        st.button(
            "Begin with its values", key=f"set-flat-{at}", type="tertiary",
            help="Then put groups between the root and the values.",
            on_click=change_table, args=(place, lambda one: _set(at, "tree")(one, flat)),
        )  # fmt: skip
    if problem and table.records:
        st.error(plain(problem), icon=":material/error:")


# --- changes --------------------------------------------------------------------------------
def _typed(
    view: SetEditorView,
    what: str,
    place: int,
    value: object,
    make: Callable[[TableDraft, Any], TableDraft],
) -> dict[str, Any]:
    """What binds a widget to something of a table."""
    return bound(
        f"set-{what}-{place}-{view.began}",
        value,
        lambda typed: change_table(place, lambda table: make(table, typed)),
    )


def _set(at: int, field: str) -> Callable[[TableDraft, Any], TableDraft]:
    def made(table: TableDraft, value: Any) -> TableDraft:
        column = replace(table.columns[at], **{field: value})
        return replace(table, columns=put_at(table.columns, at, column))

    return made


def _restructure(place: int, make: Callable[[TableDraft], TableDraft]) -> None:
    """Change which columns there are: what edits the cells begins anew."""
    change_table(place, make, began=state.work().view(SetEditorView).began + 1)


def _remove(place: int) -> None:
    change_draft(
        lambda draft: replace(draft, tables=put_at(draft.tables, place)),
        table=max(place - 1, 0),
        began=state.work().view(SetEditorView).began + 1,
    )
