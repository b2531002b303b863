"""What a release tells about a sensitive attribute: l and t against k, and distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.charts.style import escaped, k_axis, lay_out
from kanon.measures.along import Curves, Points
from kanon.privacy.model import rounded
from kanon.words import counted

__all__ = [
    "AFTER_COLOUR",
    "BEFORE_COLOUR",
    "Series",
    "distribution_chart",
    "distribution_table",
    "level_chart",
]

BEFORE_COLOUR, AFTER_COLOUR = "#D55E00", "#0072B2"
"""Before and after a release, on every chart of the page; a legend names both."""

_INK, _SENSITIVE = "#1B1F24", "#7D3C98"


def level_chart(
    curves: Curves | Points,
    levels: np.ndarray,
    k: int,
    here: float,
    title: str,
    axis: str,
    highest: float,
    best: float | None = None,
) -> go.Figure:
    """The level of the worst class at every k, with a cursor at the chosen one.

    The curve is a staircase: the release is the same for all k up to the minimum it reached. Where
    only some k were computed, they are points, and nothing is drawn between them.

    Parameters
    ----------
    curves
        The criteria, for their k.
    levels
        The level of the worst class in each of their rows.
    k, here
        The chosen k, and the level there.
    title
        The finding.
    axis
        What the level is, with its unit and better direction.
    highest
        The upper end of the axis.
    best
        The level of the table as one class, which no release passes, drawn as a dashed line.
    """
    every_k = isinstance(curves, Curves)
    at = curves.min_k if isinstance(curves, Curves) else curves.numbers["k"]
    figure = go.Figure()
    figure.add_scatter(
        x=at,
        y=levels,
        mode="lines" if every_k else "markers",
        line={"shape": "vh", "color": _SENSITIVE, "width": 3},
        marker={"size": 7, "color": _SENSITIVE},
        hovertemplate="k = %{x:,}: %{y:.2f}<extra></extra>",
    )
    cursor = {"color": _INK, "width": 1.5, "dash": "dot"}
    shapes: list[dict[str, Any]] = [
        {"type": "line", "x0": k, "x1": k, "y0": 0, "y1": 1, "yref": "y domain", "line": cursor}
    ]
    notes: list[dict[str, Any]] = []
    if best is not None:
        limit = {"color": "#5B5B5B", "width": 1.5, "dash": "dash"}
        across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": best, "y1": best}
        shapes.append({"type": "line", **across, "line": limit})
        text = f"whole table: {rounded(best, up=False)}"
        place = {"x": 1, "xref": "x domain", "xanchor": "right", "y": best, "yanchor": "bottom"}
        notes.append({**place, "text": text, "showarrow": False})
    figure.add_scatter(
        x=[k],
        y=[here],
        mode="markers",
        marker={"size": 12, "color": _SENSITIVE, "line": {"color": "white", "width": 2}},
        hoverinfo="skip",
        cliponaxis=False,
    )
    largest = int(at[-1])
    lay_out(figure, title, height=250)
    figure.update_layout(hovermode="x", margin={"l": 52, "r": 12}, shapes=shapes, annotations=notes)
    figure.update_yaxes(title=axis, range=[0, 1.18 * highest], ticksuffix=" ")
    k_axis(figure, largest, at=(2, 5, 20, 100, 500, 2000, 10000, 100000))
    return figure.update_xaxes(range=[math.log10(1.8), math.log10(max(largest, 2) * 1.1)])


class Series(NamedTuple):
    """One distribution of a chart.

    Attributes
    ----------
    name
        Its columns in the table of :func:`distribution_table`.
    colour
        ``#rrggbb``.
    label
        What the legend says, if not the name.
    """

    name: str
    colour: str
    label: str = ""


def distribution_table(
    values: Sequence[str],
    numeric: bool,
    series: Mapping[str, np.ndarray],
    most: int = 20,
) -> pd.DataFrame:
    """Distributions side by side, the rarest values put together.

    Parameters
    ----------
    values, numeric
        The values of the attribute in their order, and whether they are numbers.
    series
        Per name the number of records that have each value; the first is that of the table.
    most
        So many values are kept; the others are one line in the end.

    Returns
    -------
    pandas.DataFrame
        Per value the records of each series, and their share in percent (``<name>, %``). Numbers
        rise; other values stand by their frequency in the table.

    >>> found = distribution_table(["a", "b", "c"], False, {"all": np.array([1, 5, 4])}, most=2)
    >>> found["value"].tolist(), found["all, %"].tolist()
    (['b', 'c', '1 other value'], [50.0, 40.0, 10.0])
    """
    counts = np.stack(list(series.values()))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    kept = np.sort(np.argsort(-shares.max(axis=0), kind="stable")[:most])
    if not numeric:
        kept = kept[np.argsort(-counts[0, kept], kind="stable")]
    others = np.setdiff1d(np.arange(len(values)), kept)
    others = others[counts[:, others].any(axis=0)]
    labels = [values[place] for place in kept]
    if len(others):
        labels.append(counted(len(others), "other value"))
    table = pd.DataFrame({"value": pd.array(labels, dtype="str")})
    for name, row, share in zip(series, counts, shares, strict=True):
        rest = [row[others].sum()] if len(others) else []
        table[name] = [*row[kept], *rest]
        rest = [share[others].sum()] if len(others) else []
        table[f"{name}, %"] = 100 * np.array([*share[kept], *rest])
    return table


def distribution_chart(
    table: pd.DataFrame, baseline: Series, series: Sequence[Series], title: str, axis: str
) -> go.Figure:
    """Bars per value, and a mark where the table as a whole stands.

    Parameters
    ----------
    table
        From :func:`distribution_table`.
    baseline
        The distribution of the table: a mark across the bars.
    series
        The distributions that are bars, in the order of the legend.
    title
        The finding.
    axis
        What is shared out.
    """
    figure = go.Figure()
    # Positions, not names: two long values may be shortened to the same label.
    places = np.arange(len(table))
    marks = table[f"{baseline.name}, %"]
    width = 0.72 / max(len(series), 1)
    for number, one in enumerate(series):
        shares = table[f"{one.name}, %"]
        offset = -0.36 + number * width
        figure.add_bar(
            x=shares,
            y=places,
            orientation="h",
            width=width,
            offset=offset,
            name=escaped(one.label or one.name, 60),
            marker_color=one.colour,
            customdata=table[one.name],
            hovertemplate="%{customdata:,} records, %{x:.1f} %<extra></extra>",
        )
        figure.add_scatter(  # beside the bar and the mark, whichever ends later
            x=np.maximum(shares, np.where(np.abs(marks - shares) < 12, marks, 0)),
            y=places + offset + width / 2,
            mode="text",
            text=[f"  {share:.1f} %" if share else "" for share in shares],
            textposition="middle right",
            textfont={"size": 12},
            hoverinfo="skip",
            showlegend=False,
            cliponaxis=False,
        )
    room = 14 + 14 * len(series)
    figure.add_scatter(
        x=marks,
        y=places,
        mode="markers",
        name=escaped(baseline.label or baseline.name, 60),
        marker={
            "symbol": "line-ns",
            "size": 0.55 * room,  # of which Plotly draws 1.4 times as much
            "line": {"color": baseline.colour, "width": 3},
        },
        hovertemplate="%{x:.1f} % in the table<extra></extra>",
        cliponaxis=False,
    )
    height = 120 + room * len(table)
    lay_out(figure, title, height=height)
    figure.update_layout(
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"l": 10, "r": 24, "t": 72},
    )
    largest = max(float(table[f"{one.name}, %"].max()) for one in (*series, baseline))
    end = max(10.0, 1.2 * largest)  # room for the number beside the longest bar
    step = next(step for step in (2, 5, 10, 20) if step * 6 >= end or step == 20)
    ticks = list(range(0, int(min(end, 100)) + 1, step))
    figure.update_xaxes(
        title=axis, range=[0, end], tickvals=ticks, ticktext=[f"{tick} %" for tick in ticks]
    )
    return figure.update_yaxes(
        tickvals=places,
        ticktext=[escaped(value, 28) for value in table["value"]],
        autorange="reversed",  # the first value on top
        automargin=True,
    )
