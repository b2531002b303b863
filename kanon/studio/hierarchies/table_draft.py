"""A table to edit: what was typed stays until it is applied, and after an error and a page too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kanon.base.language import say
from kanon.studio.session import state

_numbers = itertools.count()


@dataclass
class _Draft:
    """The table without edits, what the editor began with, and how it stands now."""

    fresh: pd.DataFrame
    began: pd.DataFrame
    now: pd.DataFrame
    number: int


def table_editor(
    name: str,
    key: Hashable,
    fresh: Callable[[], pd.DataFrame],
    apply: Callable[[pd.DataFrame], None],
) -> None:
    """Draw a table to edit, and the buttons that apply or forget what was edited.

    Parameters
    ----------
    name
        What is edited; each has a draft of its own.
    fresh
        Makes the table without edits.
    """

    def begin() -> _Draft:
        table = fresh()
        return _Draft(table, table, table, next(_numbers))

    draft = state.remembered(f"draft-{name}", key, begin)
    widget = f"draft-{draft.number}"  # an editor keeps its edits under its key
    if state.typed(widget) is None:
        # The editor is new on the page: it begins with what was typed before the page was left.
        draft.began = draft.now
    buttons = st.container(horizontal=True, vertical_alignment="center")
    draft.now = st.data_editor(
        draft.began, key=widget, num_rows="dynamic", hide_index=True, height=420, width="stretch"
    )
    changed = not draft.now.equals(draft.fresh)
    with buttons:
        st.button(
            say("Apply the table"),
            type="primary" if changed else "secondary",
            disabled=not changed,
            key=f"{widget}-apply",
            on_click=lambda: apply(draft.now),
        )
        st.button(
            say("Forget the changes"),
            disabled=not changed,
            key=f"{widget}-forget",
            on_click=state.forget,
            args=(f"draft-{name}",),
        )
