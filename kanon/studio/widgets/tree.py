"""The editor of a generalisation hierarchy: a tree, drawn and edited in the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from kanon.studio.session import state

_FOLDER = Path(__file__).parent

_tree = st.components.v2.component(
    "kanon_tree",
    html=(_FOLDER / "tree.html").read_text("utf-8"),
    css=(_FOLDER / "tree.css").read_text("utf-8"),
    js=(_FOLDER / "tree.js").read_text("utf-8"),
)


def draw_tree_editor(
    data: dict[str, Any], key: str, edited: Callable[[dict[str, Any]], None]
) -> None:
    def handle_operation() -> None:
        operation = state.get_widget_value(key).get("operation")
        if isinstance(operation, dict):
            edited(operation)

    _tree(key=key, data=data, on_operation_change=handle_operation)
