"""Cost matrices as heatmaps: one, two side by side in one scale, or the difference of two."""

import json
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.base.formatting import count_noun
from kanon.charts.style import (
    DIFFERENCES,
    HEADING,
    INK,
    LABEL,
    SCALE,
    escape_distinct_labels,
    escape_label,
    set_common_look,
)
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.cost_matrices import CostMatrix, as_share, cell_text, cost_text, decimals_of
from kanon.hierarchy.cost_matrices import difference as minus

_SHARE = "in % of what losing a value completely costs"
_ROW, _CELL = 11, 52  # pixels: a row that can just be labelled, the largest cell
_SMALL, _LARGE = 9, 14  # pixels: the letters of labels and of costs in cells
_PAGE = 684  # pixels: what a page is wide at least, in a window of 1024
_ONE = 548  # pixels: one matrix leaves room for a tree beside it in a window of 1280
_RIGHT, _APART = 8, 20  # pixels: to the right of cells, between two pictures
_CHARACTER = 0.56  # the width of a character, as a part of its height
_READ = 40  # the most nodes of a matrix whose cells have room for a cost
_LEAST = 400  # pixels: what the head and the scale need
_LABEL, _HOVERED = 20, 16  # characters: the longest labels of rows and columns, and in a hover
_STEPS = 4  # the most steps of a path in a hover
_TEXTS = 2_500_000  # bytes: the most that all hovers of a chart may take

Texts = Sequence[Sequence[str]]  # a text for each cell of a matrix, safe for Plotly


def format_cost_hovers(
    tree: Hierarchy, weights: np.ndarray, matrix: CostMatrix, pictures: int = 1
) -> Texts:
    """What each cell says under the pointer: how its cost adds up to the common ancestor."""
    ancestors = tree.common_ancestors(matrix.nodes).tolist()

    def fill_texts(format_cell: Callable[[int, int], str]) -> list[list[str]]:
        texts = []
        for row, columns in enumerate(ancestors):
            # All columns with the same ancestor say the same: they are few.
            text_by_ancestor = {
                high: format_cell(row, columns.index(high)) for high in set(columns)
            }
            texts.append([text_by_ancestor[high] for high in columns])
        return texts

    def format_path(row: int, column: int) -> str:
        text = cell_text(tree, weights, matrix, (row, column), longest=_HOVERED, most=_STEPS)
        lines = escape_label(text, longest=len(text)).replace(" → ", "<br>→ ")
        return ":<br>".join(lines.rsplit(": ", 1))  # short lines, which no side of the chart cuts

    def format_cost(row: int, column: int) -> str:
        label = escape_label(tree.labels[ancestors[row][column]], _HOVERED)
        return f"up to {label} = {matrix.written(float(matrix.values[row, column]))}"

    texts = fill_texts(format_path)
    if sum(len(json.dumps(row)) for row in texts) <= _TEXTS / pictures:  # → is six bytes in JSON
        return texts
    return fill_texts(format_cost)


def format_difference_hovers(
    tree: Hierarchy, first: CostMatrix, second: CostMatrix, share: bool = False
) -> Texts:
    """Per cell of a difference its hover text: the common ancestor, both costs, the difference."""
    labels = [escape_label(label, _HOVERED) for label in tree.labels]
    ancestors = tree.common_ancestors(first.nodes).tolist()
    if share:
        first, second = as_share(first), as_share(second)
    difference = minus(first, second)
    format_value, unit = partial(difference.written, percent=share), " %" if share else ""
    return [
        [
            f"up to {labels[high]}:<br>"
            f"{format_value(a)}{unit} − {format_value(b)}{unit} = {format_value(d)}{unit}"
            for high, a, b, d in zip(*row, strict=True)
        ]
        for row in zip(
            ancestors,
            first.values.tolist(),
            second.values.tolist(),
            difference.values.tolist(),
            strict=True,
        )
    ]


def draw_matrices(
    matrices: Sequence[CostMatrix],
    titles: Sequence[str],
    hovers: Sequence[Texts],
    difference: bool = False,
    marked_cell: tuple[int, int] | None = None,
    share: bool = False,
) -> go.Figure:
    """Draw one cost matrix, two side by side in one colour scale, or the difference of two."""
    if len(matrices) not in ((2,) if difference else (1, 2)):
        raise ValueError("Pass one or two matrices; a difference needs exactly two.")
    if any(matrix.nodes != matrices[0].nodes for matrix in matrices):
        raise ValueError("Two matrices must have the same nodes.")
    if share:
        matrices = [as_share(matrix) for matrix in matrices]
    pictures = [minus(*matrices)] if difference else matrices
    values = [matrix.values * (100 if share else 1) for matrix in pictures]
    notes = _describe_matrix_limits(pictures[0])
    if difference and not pictures[0].values.any():
        notes = f"Both cost the same everywhere. {notes}"
    cell_texts: list[Texts] = [
        [[matrix.written(cost, share) for cost in row] for row in matrix.values.tolist()]
        if len(matrix.nodes) <= _READ
        else []
        for matrix in pictures
    ]
    layout = _Layout(
        matrices[0].labels, cell_texts, _PAGE if len(pictures) > 1 else _ONE, notes, titles
    )
    figure = make_subplots(
        rows=1, cols=len(values), horizontal_spacing=_APART / (layout.width - layout.left - _RIGHT)
    )
    set_common_look(figure, "", layout.height)
    figure.update_layout(width=layout.width)
    for column, (cells, texts, costs) in enumerate(zip(values, hovers, cell_texts, strict=True), 1):
        places = max(0, pictures[column - 1].decimals - 2)
        share_text = (
            f"<br>%{{z:.{places}f}} % of losing it completely" if share and not difference else ""
        )
        figure.add_trace(_draw_matrix(cells, texts, costs, share_text, layout), row=1, col=column)
    _set_matrix_axes(figure, layout)
    names = layout.titles
    heads = [f"{names[0]} minus {names[1]}"] if difference else names
    heads = [f"{head}, as a share" for head in heads] if share else heads
    _write_above_cells(figure, f"<b>{heads[0]}</b>", layout.head, layout, size=17)
    if len(heads) > 1:
        _write_above_cells(
            figure, f"<b>{heads[1]}</b>", layout.head, layout, size=17, xref="x2 domain"
        )
    _write_above_cells(figure, "<br>".join(layout.note_lines), layout.notes, layout)
    if difference:
        unit = f"← {names[1]} costs more   ·   {names[0]} costs more →"
        unit += "   in percentage points" if share else ""
        most = float(np.abs(values).max()) or 1.0
        _draw_colour_scale(figure, DIFFERENCES, -most, most, layout)
    else:
        unit = _SHARE if share else "cost, in the metric's own unit"
        most = 100.0 if share else float(np.max(values)) or 1.0
        _draw_colour_scale(figure, SCALE, 0.0, most, layout)
    _write_above_cells(figure, unit, layout.unit, layout)
    if marked_cell is not None:
        _highlight_cell(figure, *marked_cell)
    # What tells this picture from others, so that only the same one stays zoomed in.
    nodes = zlib.crc32(repr((matrices[0].labels, len(values))).encode())
    return figure.update_layout(uirevision=f"{nodes:x}")


def _describe_matrix_limits(matrix: CostMatrix) -> str:
    notes = []
    if matrix.grouped:
        notes.append("Rows and columns are groups: each cell is a mean over pairs of their values.")
    if matrix.left_out:
        notes.insert(0, f"{count_noun(matrix.left_out, 'more value')} left out.")
    return " ".join(notes)


class _Layout:
    """Where everything stands, in pixels above the cells; Plotly's own would let it overlap."""

    def __init__(
        self,
        labels: Sequence[str],
        costs: Sequence[Texts],
        wide: int,
        notes: str,
        titles: Sequence[str],
    ) -> None:
        self.labels = escape_distinct_labels(labels, _LABEL)
        longest, n = max(min(len(label), _LABEL) for label in labels), len(labels)
        # The largest letters whose lines fit into the rows of square cells.
        for self.font in range(_LARGE, _SMALL - 1, -1):
            self.beside = int(longest * self.font * _CHARACTER) + 10
            self.left = self.beside + 24
            room = wide - self.left - _RIGHT - _APART * (len(costs) - 1)
            cell = min(_CELL, room / len(costs) / n)
            if cell * 0.82 >= self.font:
                break
        self.square = cell >= _ROW
        digits = max((len(cost) for matrix in costs for row in matrix for cost in row), default=0)
        self.cost_font = min(self.font, int((cell - 4) / (max(digits, 1) * _CHARACTER)))
        self.numbered = digits > 0 and self.cost_font >= _SMALL
        self.turned = self.beside > cell
        cells_width = len(costs) * n * cell + _APART * (len(costs) - 1)
        self.width = int(self.left + max(cells_width, _LEAST) + _RIGHT)
        self.note_lines = wrap(notes, int(self.width / 7.2))
        # Of two titles each has its half; one that is longer than its line gets another.
        room = int(self.width / 9.6) - len(" minus , as a share")
        self.titles = (
            [escape_label(title, room // 2) for title in titles]
            if len(titles) > 1
            else ["<br>".join(escape_label(part, room) for part in wrap(titles[0], room))]
        )
        # From below: column labels, "to", the scale and its ticks, its unit, notes, the head.
        self.scale = (self.beside if self.turned else self.font + 10) + 22 + 44
        self.unit = self.scale + 22
        self.notes = self.unit + 20 * len(self.note_lines)
        self.head = self.notes + 28 + 22 * max(head.count("<br>") for head in self.titles)
        self.top = self.head + 8
        self.height = int(self.top + n * max(cell, _ROW) + 12)


def _draw_matrix(
    cells: np.ndarray, texts: Texts, costs: Texts, share_text: str, layout: _Layout
) -> go.Heatmap:
    """One matrix, its places by number: two labels may look alike once shortened."""
    places = [str(place) for place in range(len(cells))]
    text_style: dict[str, Any] = {}
    if layout.numbered:
        font = {"size": layout.cost_font}
        text_style = {"text": costs, "texttemplate": "%{text}", "textfont": font}
    return go.Heatmap(
        z=cells.astype(np.float32),  # half the size; eight digits are not visible
        x=places,
        y=places,
        customdata=texts,
        coloraxis="coloraxis",
        hovertemplate=f"from <b>%{{y}}</b><br>to <b>%{{x}}</b><br>%{{customdata}}{share_text}"
        "<extra></extra>",
        hoverlabel={"font": HEADING, "align": "left", "bgcolor": "white"},
        **text_style,
    )


def _set_matrix_axes(figure: go.Figure, layout: _Layout) -> None:
    title = {"standoff": 2, "font": HEADING}
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
    margin = {"l": layout.left, "r": _RIGHT, "t": layout.top, "b": 12, "autoexpand": False}
    figure.update_layout(margin=margin, hovermode="closest", plot_bgcolor="rgba(0,0,0,0)")


def _write_above_cells(
    figure: go.Figure, text: str, above: int, layout: _Layout, size: int = 14, xref: str = "paper"
) -> None:
    if text:
        figure.add_annotation(
            text=text, xref=xref, x=0, xanchor="left", yref="paper", y=1, yanchor="top",
            xshift=4 - layout.left if xref == "paper" else 0, yshift=above, showarrow=False,
            align="left", font={"size": size, "color": INK}, borderpad=0,
        )  # fmt: skip


def _draw_colour_scale(
    figure: go.Figure, colours: str, least: float, most: float, layout: _Layout
) -> None:
    """One scale for all pictures, above the cells: below, a long matrix would hide it."""
    ticks = np.linspace(least, most, 5)
    decimals = decimals_of(ticks)
    bar = {
        "tickvals": ticks, "ticktext": [cost_text(tick, decimals) for tick in ticks],
        "orientation": "h", "x": 0, "xanchor": "left", "xpad": 0, "ypad": 0,
        "y": 1 - (layout.top - layout.scale) / layout.height, "yref": "container",
        "yanchor": "top", "len": 260, "lenmode": "pixels", "thickness": 12, "outlinewidth": 0,
        "tickfont": LABEL,
    }  # fmt: skip
    figure.update_layout(
        coloraxis={"colorscale": colours, "cmin": least, "cmax": most, "colorbar": bar}
    )


def _highlight_cell(figure: go.Figure, row: int, column: int) -> None:
    """Mark a cell in every picture, visible on light and dark cells alike."""
    for colour, width in (("white", 6), (INK, 3)):
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": colour, "width": width}, row="all", col="all",
        )  # fmt: skip
