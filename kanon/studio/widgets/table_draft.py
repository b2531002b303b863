"""A table to edit: what was typed stays until it is applied, and after an error and a page too."""

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from kanon.studio.session import state

_numbers = itertools.count()


@dataclass
class TypedTable:
    """The table without edits, what the editor began with, and how it stands now."""

    fresh: pd.DataFrame
    began: pd.DataFrame
    now: pd.DataFrame
    key: str


def typed_table(
    name: str, key: Hashable, fresh: Callable[[], pd.DataFrame], **how: Any
) -> TypedTable:
    """Draw a table to edit, with rows to add and remove; a new ``key`` begins with a fresh one."""

    def begin() -> TypedTable:
        table = fresh()
        return TypedTable(table, table, table, f"draft-{next(_numbers)}")

    draft = state.remembered(f"draft-{name}", key, begin)
    # An editor keeps its edits under its key.
    if state.typed(draft.key) is None:
        # The editor is new on the page: it begins with what was typed before the page was left.
        draft.began = draft.now.reset_index(drop=True)
    draft.now = st.data_editor(
        draft.began, key=draft.key, num_rows="dynamic", hide_index=True, width="stretch", **how
    )
    return draft


def table_editor(
    name: str,
    key: Hashable,
    fresh: Callable[[], pd.DataFrame],
    apply: Callable[[pd.DataFrame], None],
) -> None:
    buttons = st.container(horizontal=True, vertical_alignment="center")
    draft = typed_table(name, key, fresh, height=420)
    changed = not draft.now.equals(draft.fresh)
    with buttons:
        st.button(
            "Apply the table",
            type="primary" if changed else "secondary",
            disabled=not changed,
            key=f"{draft.key}-apply",
            on_click=lambda: apply(draft.now),
        )
        st.button(
            "Forget the changes",
            disabled=not changed,
            key=f"{draft.key}-forget",
            on_click=state.forget,
            args=(f"draft-{name}",),
        )
