"""Cost matrices as heatmaps: one, two side by side in one scale, or the difference of two."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.base.formatting import counted
from kanon.charts.style import INK, escaped, lay_out
from kanon.hierarchy import Hierarchy
from kanon.matrices import (
    CostMatrix,
    as_share,
    cell_text,
    number_text,
)
from kanon.matrices import difference as minus

_COSTS, _DIFFERENCES = "Viridis_r", "PuOr"  # dark is more; orange below 0, purple above
_SHARE = "share of the cost of losing a value completely, in %"
_SHARE_SAID = "<br>%{z:.1f} % of the cost of losing a value completely"
_WRITTEN = {1: 15, 2: 12}  # up to so many nodes, the values stand in the cells
_ROW, _CELL = 11, 52  # pixels: a row that can just be labelled, the largest cell
_SIDE = {1: 500, 2: 400}  # pixels: the height of all cells, until rows would become too low
_SQUARE = {1: 46, 2: 36}  # of more nodes, square cells would be lower than a row in 3/5 of a page
_LABEL, _HOVERED = 20, 16  # characters: the longest labels of rows and columns, and in a hover
_STEPS = 4  # the most steps of a path in a hover
_TEXTS = 2_500_000  # bytes: the most that all hovers of a chart may take

Texts = Sequence[Sequence[str]]
"""A text for each cell of a matrix, safe for Plotly."""


def cost_hovers(
    tree: Hierarchy, weights: np.ndarray, matrix: CostMatrix, pictures: int = 1
) -> Texts:
    """What each cell says under the pointer: how its cost adds up to the common ancestor.

    Parameters
    ----------
    tree, weights
        The hierarchy and its part of :func:`kanon.metrics.edge_weights`.
    matrix
        The matrix, of that hierarchy and metric, in the metric's own unit.
    pictures
        How many matrices share the chart. If the texts of a large one would make it slow to
        load, they say only the common ancestor and the cost.
    """
    ancestors = tree.common_ancestors(matrix.nodes).tolist()
    texts = [_row_said(_path_said, tree, weights, matrix, *row) for row in enumerate(ancestors)]
    if sum(_sent(row) for row in texts) <= _TEXTS / pictures:
        return texts
    return [_row_said(_cost_said, tree, weights, matrix, *row) for row in enumerate(ancestors)]


def _row_said(
    say: Callable[[Hierarchy, np.ndarray, CostMatrix, int, int, int], str],
    tree: Hierarchy,
    weights: np.ndarray,
    matrix: CostMatrix,
    row: int,
    columns: list[int],
) -> list[str]:
    """The texts of a row. All columns with the same ancestor say the same: they are few."""
    said = {
        high: say(tree, weights, matrix, row, columns.index(high), high) for high in set(columns)
    }
    return [said[high] for high in columns]


def _path_said(
    tree: Hierarchy, weights: np.ndarray, matrix: CostMatrix, row: int, column: int, high: int
) -> str:
    """Every step; for a group, from the mean cost of raising its values to it."""
    text = cell_text(tree, weights, matrix, (row, column), longest=_HOVERED, most=_STEPS)
    return escaped(text, longest=len(text))


def _cost_said(
    tree: Hierarchy, weights: np.ndarray, matrix: CostMatrix, row: int, column: int, high: int
) -> str:
    """The common ancestor and the cost."""
    label = escaped(tree.labels[high], _HOVERED)
    return f"up to {label} = {number_text(float(matrix.values[row, column]))}"


def _sent(texts: Sequence[str]) -> int:
    """How many bytes some texts take in the JSON of a figure, which writes → as six."""
    return len(json.dumps(texts))


def difference_hovers(
    tree: Hierarchy, one: CostMatrix, other: CostMatrix, share: bool = False
) -> Texts:
    """What each cell of a difference says: the common ancestor, and both costs.

    Parameters
    ----------
    one, other
        The matrices, in their metrics' own units.
    share
        Say both as shares of the cost of losing a value completely, in percent.
    """
    labels = [escaped(label, _HOVERED) for label in tree.labels]
    ancestors = tree.common_ancestors(one.nodes).tolist()
    unit = " %" if share else ""
    first, second = (
        (as_share(matrix).values * 100 if share else matrix.values).tolist()
        for matrix in (one, other)
    )
    return [
        [
            f"up to {labels[high]}: {number_text(a)}{unit} − {number_text(b)}{unit}"
            for high, a, b in zip(*row, strict=True)
        ]
        for row in zip(ancestors, first, second, strict=True)
    ]


def matrix_chart(
    matrices: Sequence[CostMatrix],
    titles: Sequence[str],
    hovers: Sequence[Texts],
    difference: bool = False,
    marked: tuple[int, int] | None = None,
    share: bool = False,
) -> go.Figure:
    """Draw one cost matrix, two side by side in one colour scale, or the difference of two.

    Parameters
    ----------
    matrices
        One or two, in their metrics' own units; two have the same nodes.
    titles
        A title for each: the question or the finding for one, what tells them apart for two.
        They are escaped here.
    hovers
        A text per cell for each heatmap drawn; see :func:`cost_hovers` and, for the only heatmap
        of a difference, :func:`difference_hovers`.
    difference
        Draw the first minus the second.
    marked
        The row and column of a cell to outline.
    share
        Divide each matrix by the largest cost in its hierarchy: without that, metrics whose
        units differ much leave one of the two matrices blank.

    Raises
    ------
    ValueError
        There are not one or two matrices, their nodes differ, or a difference lacks its second.
    """
    if len(matrices) not in ((2,) if difference else (1, 2)):
        raise ValueError("One or two matrices are drawn, and a difference is that of two.")
    if any(matrix.nodes != matrices[0].nodes for matrix in matrices):
        raise ValueError("Two matrices have to be of the same nodes.")
    if share:
        matrices = [as_share(matrix) for matrix in matrices]
    drawn = [minus(*matrices)] if difference else matrices
    values = [matrix.values * (100 if share else 1) for matrix in drawn]
    names = [escaped(title, 90) for title in titles]
    notes = _notes(drawn[0])
    if difference and not drawn[0].values.any():
        notes = f"Both cost the same everywhere. {notes}"
    layout = _Layout(matrices[0].labels, len(values), bool(notes))
    figure = make_subplots(rows=1, cols=len(values), horizontal_spacing=0.03)
    lay_out(figure, "", layout.height)
    said = _SHARE_SAID if share and not difference else ""
    for column, (cells, texts) in enumerate(zip(values, hovers, strict=True), 1):
        figure.add_trace(_heatmap(cells, texts, said, layout), row=1, col=column)
    _axes(figure, layout)
    heads = [f"{names[0]} minus {names[1]}"] if difference else names
    heads = [f"{head}, as a share" for head in heads] if share else heads
    for axis, head in zip(("x", "x2"), heads, strict=False):
        _line(figure, f"<b>{head}</b>", layout.head, size=17, xref=f"{axis} domain")
    _line(figure, notes, layout.notes)
    if difference:
        unit = f"← {names[1]} costs more   ·   {names[0]} costs more →"
        _line(figure, unit + (f" ({_SHARE})" if share else ""), layout.unit)
        most = float(np.abs(values).max()) or 1.0
        _scale(figure, _DIFFERENCES, -most, most, layout)
    else:
        _line(figure, _SHARE if share else "cost, in the metric's own unit", layout.unit)
        most = 100.0 if share else float(np.max(values)) or 1.0
        _scale(figure, _COSTS, 0.0, most, layout)
    if marked is not None:
        _outline(figure, *marked)
    # What tells this picture from others, so that only the same one stays zoomed in.
    nodes = zlib.crc32(repr((matrices[0].labels, len(values))).encode())
    return figure.update_layout(uirevision=f"{nodes:x}")


def _notes(matrix: CostMatrix) -> str:
    """What a reader has to know of a matrix that does not show everything."""
    notes = []
    if matrix.grouped:
        notes.append("Rows and columns are groups: each cell is a mean over pairs of their values.")
    if matrix.left_out:
        notes.insert(0, f"{counted(matrix.left_out, 'more value')} left out.")
    return " ".join(notes)


class _Layout:
    """Where everything stands, in pixels above the cells; Plotly's own would let it overlap."""

    def __init__(self, labels: Sequence[str], pictures: int, notes: bool) -> None:
        self.labels = [escaped(label, _LABEL) for label in labels]
        n = len(labels)
        cell = min(_CELL, max(_ROW, _SIDE[pictures] / n))
        self.font = float(np.clip(cell * 0.82, 9, 14))
        self.square = n <= _SQUARE[pictures]
        self.written = n <= _WRITTEN[pictures]
        self.beside = int(max(min(len(label), _LABEL) for label in labels) * self.font * 0.56) + 10
        self.turned = self.beside > cell
        # From below: column labels, "to", the scale and its ticks, its unit, notes, the head.
        self.scale = (self.beside if self.turned else int(self.font) + 10) + 22 + 44
        self.unit = self.scale + 22
        self.notes = self.unit + (22 if notes else 0)
        self.head = self.notes + 28
        self.top = self.head + 8
        self.height = int(self.top + n * cell + 12)


def _written(value: float, nodes: int) -> str:
    """A cost in its cell: of more nodes, cells are too narrow for a third digit."""
    return (
        number_text(value) if nodes <= 8 or abs(value) >= 10 else number_text(float(f"{value:.2g}"))
    )


def _heatmap(cells: np.ndarray, texts: Texts, said: str, layout: _Layout) -> go.Heatmap:
    """One matrix. Its places are called by number: two labels may look alike once shortened."""
    places = [str(place) for place in range(len(cells))]
    written: dict[str, Any] = {}
    if layout.written:
        written = {
            "text": [[_written(value, len(cells)) for value in row] for row in cells.tolist()],
            "texttemplate": "%{text}",
            "textfont": {"size": layout.font},
        }
    return go.Heatmap(
        z=cells.astype(np.float32),  # half the size, and nobody sees the eighth digit
        x=places,
        y=places,
        customdata=texts,
        coloraxis="coloraxis",
        hovertemplate=f"from <b>%{{y}}</b> to <b>%{{x}}</b><br>%{{customdata}}{said}"
        "<extra></extra>",
        hoverlabel={"font": {"size": 14, "color": INK}, "align": "left", "bgcolor": "white"},
        **written,
    )


def _axes(figure: go.Figure, layout: _Layout) -> None:
    """Labels on the left and above; the rows run downwards, cells are square where they fit."""
    title = {"standoff": 2, "font": {"size": 14, "color": INK}}
    common = {
        "type": "category",
        "labelalias": {str(place): label for place, label in enumerate(layout.labels)},
        "tickfont": {"size": layout.font, "color": INK},
        "ticks": "",
        "showgrid": False,
        "showline": False,
        "constrain": "domain",
    }
    figure.update_xaxes(
        **common, side="top", title={"text": "to", **title}, matches="x",
        tickangle=-90 if layout.turned else 0, constraintoward="left",
    )  # fmt: skip
    figure.update_yaxes(
        **common, autorange="reversed", tickmode="linear", dtick=1, matches="y",
        constraintoward="top",
    )  # fmt: skip
    figure.update_yaxes(title={"text": "from", **title}, col=1)
    figure.update_yaxes(showticklabels=False, col=2)
    if layout.square:
        figure.update_xaxes(tickmode="linear", dtick=1)
        figure.update_yaxes(scaleanchor="x", col=1)
    margin = {"l": layout.beside + 24, "r": 8, "t": layout.top, "b": 12, "autoexpand": False}
    figure.update_layout(margin=margin, hovermode="closest", plot_bgcolor="rgba(0,0,0,0)")


def _line(figure: go.Figure, text: str, above: int, size: int = 14, xref: str = "paper") -> None:
    """A line of text that begins so many pixels above the cells."""
    if text:
        figure.add_annotation(
            text=text, xref=xref, x=0, xanchor="left", yref="paper", y=1, yanchor="top",
            yshift=above, showarrow=False, font={"size": size, "color": INK}, borderpad=0,
        )  # fmt: skip


def _scale(figure: go.Figure, colours: str, least: float, most: float, layout: _Layout) -> None:
    """One scale for all pictures, above the cells: below, a long matrix would hide it."""
    ticks = np.linspace(least, most, 5).tolist()
    bar = {
        "tickvals": ticks, "ticktext": [number_text(tick) for tick in ticks],
        "orientation": "h", "x": 0, "xanchor": "left", "xpad": 0, "ypad": 0,
        "y": 1 - (layout.top - layout.scale) / layout.height, "yref": "container",
        "yanchor": "top", "len": 260, "lenmode": "pixels", "thickness": 12, "outlinewidth": 0,
        "tickfont": {"size": 13, "color": INK},
    }  # fmt: skip
    figure.update_layout(
        coloraxis={"colorscale": colours, "cmin": least, "cmax": most, "colorbar": bar}
    )


def _outline(figure: go.Figure, row: int, column: int) -> None:
    """Mark a cell in every picture, visible on light and dark cells alike."""
    for colour, width in (("white", 6), (INK, 3)):
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": colour, "width": width}, row="all", col="all",
        )  # fmt: skip
