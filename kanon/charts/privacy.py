"""What a release tells about a sensitive attribute: l and t against k, and distributions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import CountedUnit, count_noun, write_count, write_percent
from kanon.charts.curves import FEW, draw_chosen_point, get_step_style
from kanon.charts.figure import build_figure, find_drawn_k, get_k_axis
from kanon.charts.style import (
    BLUE,
    GREY,
    INK,
    K_TICKS,
    LABEL,
    LEGEND_ABOVE,
    TITLE_ON_TOP,
    VERMILION,
    draw_upright_line,
    escape_label,
)
from kanon.classes import EquivalenceClasses
from kanon.measures.along import Curves, Points
from kanon.measures.worst_classes import LEVELS
from kanon.privacy.model import rounded

BEFORE_COLOUR, AFTER_COLOUR = VERMILION, BLUE
"""Before and after a release, on every chart of the page; a legend names both."""

_SENSITIVE = "#7D3C98"

_TICKS = (2, 5, 20, 100, 500, 2000, 10000, 100000)
"""Ticks for k where two charts stand side by side."""


def draw_level(
    curves: Curves | Points,
    levels: np.ndarray,
    k: int,
    level: float,
    title: str,
    axis: str,
    highest: float,
    limit_level: float | None = None,
    of: CountedUnit = "records",
) -> go.Figure:
    """The level of the worst class at every k, with a cursor at the chosen k."""
    ks, rows = find_drawn_k(curves)
    largest = int(ks[-1])
    text = [
        "no class" if np.isnan(level) else rounded(level, up=limit_level is None)
        for level in levels.tolist()
    ]
    line = {
        **get_step_style(curves, largest, _SENSITIVE),
        "x": ks,
        "y": levels[rows],
        "customdata": [text[row] for row in rows],
        "hovertemplate": "k = %{x:,}: %{customdata}<extra></extra>",
    }
    shapes, notes = [draw_upright_line(k)], []
    if limit_level is not None:
        dashes = {"color": GREY, "width": 1.5, "dash": "dash"}
        limit_ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": limit_level, "y1": limit_level}
        shapes.append({"type": "line", **limit_ends, "line": dashes})
        notes.append({
            "x": 1, "xref": "x domain", "xanchor": "right", "y": limit_level, "yanchor": "bottom",
            "text": f"whole table: {rounded(limit_level, up=False)}", "showarrow": False,
            "font": {"color": INK},
        })  # fmt: skip
    return build_figure(
        [line, draw_chosen_point(k, level, _SENSITIVE)],
        title,
        260,
        get_k_axis(largest, _TICKS if largest > FEW else K_TICKS, of),
        {"title": axis, "range": [0, 1.2 * highest], "ticksuffix": " "},
        hovermode="x",
        margin={"l": 56, "r": 12, "t": 40, "b": 48},
        shapes=shapes,
        annotations=notes,
    )


def draw_worst_levels(
    curves: Curves | Points,
    levels: tuple[np.ndarray, np.ndarray],
    released: EquivalenceClasses,
    column: str,
    k: int,
) -> tuple[go.Figure, go.Figure]:
    """l and t of the worst class at every k, with a cursor at the k of a release."""
    diverse, distance = levels
    sensitive = released.sensitive_named(column)
    l_here = float(LEVELS["entropy_l"].each(sensitive).min())
    t_here = float(LEVELS["t_variational"].each(sensitive).max())
    best = float(LEVELS["entropy_l"].each(sensitive.whole())[0])
    return (
        draw_level(
            curves, diverse, k, l_here,
            f"k = {write_count(k)}: the worst class has l = {rounded(l_here, up=False)} of "
            f"{rounded(best, up=False)}",
            "l, values (↑ better)", best, best, released.of,
        ),
        draw_level(
            curves, distance, k, t_here,
            f"k = {write_count(k)}: the worst class has t = {rounded(t_here, up=True)} of 1",
            "t, 0 to 1 (↓ better)", 1.0, of=released.of,
        ),
    )  # fmt: skip


class Series(NamedTuple):
    name: str  # its columns in the table of :func:`build_distribution_table`
    colour: str  # ``#rrggbb``
    label: str = ""  # what the legend says, if not the name


def build_distribution_table(
    values: Sequence[str], numeric: bool, series: Mapping[str, np.ndarray], most: int = 20
) -> pd.DataFrame:
    """Distributions side by side, the rarest values put together.

    >>> series = {"all": np.array([1, 5, 4])}
    >>> found = build_distribution_table(["a", "b", "c"], False, series, most=2)
    >>> found["value"].tolist(), found["all, %"].tolist()
    (['b', 'c', '1 other value'], [50.0, 40.0, 10.0])
    """
    counts = np.stack(list(series.values()))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    frequent = np.sort(np.argsort(-shares.max(axis=0), kind="stable")[:most])
    if not numeric:
        frequent = frequent[np.argsort(-counts[0, frequent], kind="stable")]
    others = np.setdiff1d(np.arange(len(values)), frequent)
    others = others[counts[:, others].any(axis=0)]
    labels = [values[place] for place in frequent]
    if len(others):
        labels.append(count_noun(len(others), "other value"))
    table = pd.DataFrame({"value": pd.array(labels, dtype="str")})
    for name, row, share in zip(series, counts, shares, strict=True):
        rest = [row[others].sum()] if len(others) else []
        table[name] = [*row[frequent], *rest]
        rest = [share[others].sum()] if len(others) else []
        table[f"{name}, %"] = 100 * np.array([*share[frequent], *rest])
    return table


def draw_distribution_bars(
    table: pd.DataFrame, baseline: Series, series: Sequence[Series], title: str, axis: str
) -> go.Figure:
    """Bars per value in % of each series, and a mark at the share in the whole table."""
    # Positions, not names: two long values may be shortened to the same label.
    places = np.arange(len(table))
    marks = table[f"{baseline.name}, %"].to_numpy()
    width = 0.72 / max(len(series), 1)
    data: list[dict[str, Any]] = []
    for number, group in enumerate(series):
        shares = table[f"{group.name}, %"].to_numpy()
        texts = [write_percent(share) if share else "" for share in shares.tolist()]
        offset = -0.36 + number * width
        bars = {
            "type": "bar",
            "x": shares,
            "y": places,
            "orientation": "h",
            "width": width,
            "offset": offset,
            "name": escape_label(group.label or group.name, 60),
            "marker": {"color": group.colour},
            "customdata": list(
                zip(map(write_count, table[group.name].tolist()), texts, strict=True)
            ),
            "hovertemplate": "%{customdata[0]} records, %{customdata[1]}<extra></extra>",
        }
        bar_labels = {  # the bar and the mark, whichever ends later
            "type": "scatter",
            "x": np.maximum(shares, np.where(np.abs(marks - shares) < 12, marks, 0)),
            "y": places + offset + width / 2,
            "mode": "text",
            "text": [f"  {share}" for share in texts],
            "textposition": "middle right",
            "textfont": LABEL,
            "hoverinfo": "skip",
            "showlegend": False,
            "cliponaxis": False,
        }
        data += [bars, bar_labels]
    room = 14 + 14 * len(series)
    stroke = {
        "symbol": "line-ns",
        "size": 0.55 * room,  # of which Plotly draws 1.4 times as much
        "line": {"color": baseline.colour, "width": 3},
    }
    data.append({
        "type": "scatter",
        "x": marks,
        "y": places,
        "mode": "markers",
        "name": escape_label(baseline.label or baseline.name, 60),
        "marker": stroke,
        "customdata": [write_percent(mark) for mark in marks.tolist()],
        "hovertemplate": "%{customdata} in the whole table<extra></extra>",
        "cliponaxis": False,
    })  # fmt: skip
    largest = max(float(table[f"{group.name}, %"].max()) for group in (*series, baseline))
    end = max(10.0, 1.2 * largest)  # room for the number beside the longest bar
    step = next(step for step in (2, 5, 10, 20) if step * 6 >= end or step == 20)
    ticks = list(range(0, int(min(end, 100)) + 1, step))
    return build_figure(
        data,
        title,
        140 + room * len(table),
        {
            "title": axis,
            "range": [0, end],
            "tickvals": ticks,
            "ticktext": [f"{tick} %" for tick in ticks],
        },
        {
            "tickvals": places,
            "ticktext": [escape_label(value, 28) for value in table["value"]],
            "autorange": "reversed",  # the first value on top
            "automargin": True,
        },
        hovermode="closest",
        showlegend=True,
        legend={**LEGEND_ABOVE, "traceorder": "normal"},
        margin={"l": 10, "r": 24, "t": 92, "b": 48},
        **TITLE_ON_TOP,
    )
