"""A representation as a picture: some classes, and the nodes of one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.colors
import plotly.graph_objects as go

from kanon.base.rounding import round_apart
from kanon.charts.style import (
    HEADING,
    INK,
    SCALE,
    VERMILION,
    escape_distinct_labels,
    escape_label,
    set_common_look,
)
from kanon.learning.representations import Matrix
from kanon.recoding import Recoding

MOST_CLASSES, MOST_NODES = 8, 40  # so many rows and columns can be read at 1280 × 720

_MOST_GROUPS = 5  # so many rows show groups or ranges, if others show single values

_EMPTY = "#EEF1F4"
_MOST_NUMBERED = 24  # up to so many columns, the numbers stand in the cells
_ROW = 30  # pixels
_LABEL = 22  # characters of a column's label


@dataclass(frozen=True, eq=False)
class MatrixPart:
    attribute: str  # the quasi-identifier
    classes: np.ndarray  # the positions of the released classes that are rows
    labels: tuple[str, ...]  # the nodes that are columns
    entries: np.ndarray
    # per row the column of the released value, or of the smallest group that covers a released
    # range
    released: np.ndarray
    n_leaves: int  # so many of the columns are values
    left_out: int  # the number of nodes that are not shown

    @classmethod
    def choose_part(cls, recoding: Recoding, matrix: Matrix, place: int) -> MatrixPart:
        hierarchy = recoding.hierarchies[place]
        nodes = recoding.nodes[:, place]
        classes = _choose_classes(nodes, recoding.counts, hierarchy.n_leaves)
        high = nodes[classes]
        released = np.where(high > hierarchy.root, hierarchy.parent[high], high)
        size = hierarchy.root + 1
        rank = recoding.original.records_below[place][:size].astype(float)
        rank[released] = np.inf
        most = np.argsort(-rank, kind="stable")[:MOST_NODES]
        columns = np.sort(most)
        first = sum(tree.root + 1 for tree in recoding.hierarchies[:place])
        entries = matrix.rows[classes].toarray()[:, first + columns]
        return cls(
            recoding.classes.attributes[place],
            classes,
            tuple(hierarchy.labels[node] for node in columns),
            entries,
            np.searchsorted(columns, released),
            int((columns < hierarchy.n_leaves).sum()),
            size - len(columns),
        )


def _choose_classes(nodes: np.ndarray, counts: np.ndarray, n_leaves: int) -> np.ndarray:
    by_size = np.argsort(-counts, kind="stable")
    values, largest = np.unique(nodes[by_size], return_index=True)
    records = np.bincount(np.searchsorted(values, nodes), weights=counts, minlength=len(values))
    often = np.argsort(-records, kind="stable")
    raised_values = often[values[often] >= n_leaves]
    order = [
        *raised_values[:_MOST_GROUPS],
        *often[values[often] < n_leaves],
        *raised_values[_MOST_GROUPS:],
    ]
    candidates = [*by_size[largest[order]].tolist(), *by_size[:MOST_CLASSES].tolist()]
    chosen_classes = np.array(list(dict.fromkeys(candidates))[:MOST_CLASSES], dtype=np.int64)
    return chosen_classes[np.lexsort([chosen_classes, nodes[chosen_classes]])]


def build_representation_table(
    part: MatrixPart, names: Sequence[str], sizes: Sequence[int]
) -> pd.DataFrame:
    """A row per released class: its name, its records, and an entry per column."""
    cells = pd.DataFrame(part.entries, columns=pd.Index(part.labels, dtype=object))
    cells.insert(0, "released class", list(names), allow_duplicates=True)
    cells.insert(1, "records in it", list(sizes), allow_duplicates=True)
    return cells


def draw_representation(
    part: MatrixPart, rows: Sequence[str], names: Sequence[str], title: str
) -> go.Figure:
    """The rows of some classes as a heat map from 0 to 1, with the released value outlined."""
    n_rows, n_columns = part.entries.shape
    labels = escape_distinct_labels(part.labels, _LABEL)
    places = [str(place) for place in range(n_columns)]
    font = 14 if n_columns <= _MOST_NUMBERED else 12
    scale = plotly.colors.get_colorscale(SCALE)
    figure = go.Figure(
        go.Heatmap(
            z=part.entries,
            x=places,
            y=[str(place) for place in range(n_rows)],
            customdata=[
                [[escape_label(name, 90), escape_label(label), at]
                 for label, at in zip(part.labels, row, strict=True)]
                for name, row in zip(names, round_apart(part.entries, 3).tolist(), strict=True)
            ],
            hovertemplate="%{customdata[0]}<br><b>%{customdata[1]}</b>: %{customdata[2]:.3f}"
            "<extra></extra>",
            colorscale=[[0, _EMPTY], *([max(1e-6, at), colour] for at, colour in scale)],
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=1,
            colorbar={
                "title": {"text": "entry", "side": "top"}, "thickness": 12, "outlinewidth": 0,
                "tickvals": [0, 0.5, 1], "ticktext": ["0", "½", "1"], "xpad": 6,
                "lenmode": "pixels", "len": max(120, _ROW * n_rows), "y": 1, "yanchor": "top",
            },
            showscale=n_columns > _MOST_NUMBERED,  # else the numbers are there
        )
    )  # fmt: skip
    if n_columns <= _MOST_NUMBERED:  # Plotly writes light on dark cells
        figure.data[0].text = [
            [_format_entry(value) for value in row] for row in part.entries.tolist()
        ]
        figure.data[0].texttemplate, figure.data[0].textfont.size = "%{text}", 14
    longest = min(_LABEL, max(len(label) for label in part.labels))
    is_rotated = longest * font * 0.56 > 600 / n_columns
    top_margin = 46 + (int(longest * font * 0.47) + 12 if is_rotated else 24)
    left_margin = int(max(len(row) for row in rows) * 7.4) + 14
    set_common_look(figure, escape_label(title, 110), top_margin + _ROW * n_rows + 30)
    figure.update_layout(
        margin={
            "l": min(left_margin, 340),
            "r": 64 if n_columns > _MOST_NUMBERED else 8,
            "t": top_margin,
            "b": 30,
            "autoexpand": False,
        },
        hovermode="closest",
        plot_bgcolor="white",
        title={"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 10}},
    )
    common = {"type": "category", "ticks": "", "showgrid": False, "showline": False}
    figure.update_xaxes(
        **common, side="top", tickmode="array", tickvals=places, ticktext=labels,
        tickangle=-90 if is_rotated else 0, tickfont={"size": font, "color": INK},
    )  # fmt: skip
    figure.update_yaxes(
        **common, autorange="reversed", tickmode="array",
        tickvals=[str(place) for place in range(n_rows)],
        ticktext=[escape_label(row, 60) for row in rows], tickfont=HEADING,
    )  # fmt: skip
    for row, column in enumerate(part.released.tolist()):
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": VERMILION, "width": 3},
        )  # fmt: skip
    if 0 < part.n_leaves < n_columns:
        at = part.n_leaves - 0.5
        figure.add_shape(
            type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line={"color": INK, "width": 2}
        )
    sides = [(-0.5, "values")] if part.n_leaves else []
    if part.n_leaves < len(part.labels):
        sides.append((part.n_leaves - 0.5, "groups"))
    for x, text in sides:
        figure.add_annotation(
            x=x, xanchor="left", y=0, yref="paper", yanchor="top", text=f"<b>{text}</b>",
            showarrow=False, font=HEADING,
        )  # fmt: skip
    return figure


def _format_entry(value: float) -> str:
    """An entry in its cell; what is not quite 0 or 1 does not look like it."""
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    return f"{min(max(value, 0.01), 0.99):.2f}"
