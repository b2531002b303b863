"""A cost matrix whose cells can be chosen: a chart, and a listener to its clicks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

import plotly.graph_objects as go
import streamlit as st

from kanon.studio.session import state
from kanon.studio.widgets.picture import chart

_FOLDER = Path(__file__).parent

_HINT = "Click a cell to see how its cost adds up; drag to zoom in."

_cells = st.components.v2.component(
    "kanon_cells",
    html=f'<p class="cells">{_HINT}</p>',
    css=(_FOLDER / "matrix.css").read_text("utf-8"),
    js=(_FOLDER / "matrix.js").read_text("utf-8"),
)


def matrix_with_cells(figure: go.Figure, key: str, picked: Callable[[int, int], None]) -> None:
    """Draw a cost matrix; ``picked`` gets the row and column of a clicked cell, in either picture.

    ``key`` has letters, digits, ``-`` and ``_`` only.
    """
    listener, zoom = f"{key}-cells", f"{key}-zoom"
    size, shown = len(figure.data[0].z), figure.layout.uirevision

    def clicked() -> None:
        cell = (state.typed(listener) or {}).get("cell")
        if not isinstance(cell, dict):  # what a browser sends is not to be trusted
            return
        places = [cell.get("row"), cell.get("column")]
        row, column = (place if type(place) is int else -1 for place in places)
        if 0 <= row < size and 0 <= column < size:
            state.seeded(zoom, cell.get("view"))
            picked(row, column)

    def zoomed_out() -> None:
        state.seeded(zoom, None)

    ranges = _ranges(state.typed(zoom), shown, size)
    if ranges:
        figure = go.Figure(figure)
        figure.update_xaxes(range=ranges[0], autorange=False)
        figure.update_yaxes(range=ranges[1], autorange=False)
    _cells(
        key=listener,
        data={"chart": key, "of": shown, "zoomed": bool(ranges)},
        on_cell_change=clicked,
        on_out_change=zoomed_out,
    )
    chart(figure, key)


def _ranges(view: Any, shown: str, size: int) -> list[list[float]]:
    """Where the user had zoomed to, if that was in the same picture; else nothing.

    >>> _ranges({"of": "a", "x": [0.5, 2], "y": [3, 1]}, "a", 5)
    [[0.5, 2], [3, 1]]
    >>> _ranges({"of": "b", "x": [0.5, 2], "y": [3, 1]}, "a", 5)
    []
    """
    if not isinstance(view, dict) or view.get("of") != shown:
        return []
    ranges = [ends for ends in (view.get("x"), view.get("y")) if _is_range(ends, size)]
    return ranges if len(ranges) == 2 else []


def _is_range(ends: Any, size: int) -> TypeGuard[list[float]]:
    """Whether a browser has sent two places on an axis."""
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    return all(type(place) in (int, float) and -1 <= place <= size for place in ends)
