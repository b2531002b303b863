"""The board with its cursor: a chart, and over it a slider for k that needs no round trip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kanon.studio import state

__all__ = ["board_with_cursor"]

_FOLDER = Path(__file__).parent
_KEY = "cursor"

_cursor = st.components.v2.component(
    "kanon_cursor",
    html="""<div class="cursor">
        <p class="headline" aria-live="polite"></p>
        <div class="row">
            <label for="k">Move k</label><input id="k" type="range" min="0" step="1">
        </div>
        <div class="overlay"><svg aria-hidden="true"></svg><table class="numbers"></table></div>
    </div>""",
    css=(_FOLDER / "board.css").read_text("utf-8"),
    js=(_FOLDER / "board.js").read_text("utf-8"),
)


def board_with_cursor(
    figure: go.Figure, cursor: dict[str, Any], k: int, moved: Callable[[int], None]
) -> None:
    """Draw a board and a cursor at k.

    Parameters
    ----------
    figure, cursor
        See :func:`kanon.charts.board.board` and :func:`kanon.charts.board.board_cursor`.
    k
        Where the cursor stands; one of those that the cursor knows.
    moved
        Told the new k, once the cursor has come to rest.
    """

    def rested() -> None:
        found = state.typed(_KEY).get("k")
        if found in cursor["ks"]:
            moved(found)

    _cursor(key=_KEY, data={**cursor, "k": k}, on_k_change=rested)
    st.plotly_chart(figure, config={"displayModeBar": False}, key="board")
