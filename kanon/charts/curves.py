"""Curves against k."""

import math
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import Counted, percent, thin
from kanon.charts.figure import drawn, k_layout, whole_k
from kanon.charts.style import INK, colour_of_metric, escaped, upright_line
from kanon.measures.along import Curves, Points, by_total_variation, numbers_table
from kanon.metrics import Metric

FEW = 50  # up to so many k, each has a dot of its own


def alteration_curve(
    curves: Curves | Points, metric: Metric, k: int, models: str = "", of: Counted = "records"
) -> go.Figure:
    column = f"alteration_{metric.name}"
    alteration = float(curves.at([k])[column][0])
    colour = colour_of_metric(metric.name)
    ks, rows = whole_k(curves)
    numbers = curves.columns() if isinstance(curves, Curves) else curves.numbers
    alterations, largest = numbers[column][rows], int(ks[-1])
    axis = k_layout(largest, of=of)
    first, last = axis["range"]
    # The curve rises: there is room above and to the left of a point, or below and to the right.
    if (math.log10(k) - first) / (last - first) > 0.25:
        side = "top left"
    else:
        side = "bottom right" if alteration > 18 else "top right"
    line = {
        **steps(curves, largest, colour),
        "x": ks,
        "y": alterations,
        "customdata": [percent(value) for value in alterations.tolist()],
        "hovertemplate": "k = %{x:,}: %{customdata}<extra></extra>",
    }
    cursor = {
        **point_at(k, alteration, colour),
        "mode": "markers+text",
        "text": [f"  k = {thin(k)}: {percent(alteration)}  "],
        "textposition": side,
        "textfont": {"size": 16, "color": INK},
    }
    cost = f"k = {thin(k)} and {escaped(models, 80)} cost" if models else f"k = {thin(k)} costs"
    return drawn(
        [line, cursor],
        f"{cost} {percent(alteration)} of all that could be lost, measured by "
        f"{escaped(metric.card.title)}",
        270,
        axis,
        {"title": "Alteration, % (↓ better)", "range": [0, 112], "ticksuffix": " "},
        hovermode="x",
        shapes=[upright_line(k)],
    )


def steps(curves: Curves | Points, largest: int, colour: str) -> dict[str, Any]:
    """How a curve over k is drawn whose points are those of :func:`whole_k`."""
    line = {"shape": "hvh", "color": colour, "width": 3}
    if isinstance(curves, Points):
        mode = "markers"
    elif largest > FEW:
        mode = "lines"
    else:
        mode, line["width"] = "lines+markers", 1
    dots = {"size": 7, "color": colour}
    return {"type": "scatter", "mode": mode, "line": line, "marker": dots, "cliponaxis": False}


def point_at(k: int, y: float, colour: str) -> dict[str, Any]:
    marker = {"size": 12, "color": colour, "line": {"color": "white", "width": 2}}
    return {
        "type": "scatter", "mode": "markers", "x": [k], "y": [y], "marker": marker,
        "hoverinfo": "skip", "cliponaxis": False,
    }  # fmt: skip


def curves_table(curves: Curves | Points) -> pd.DataFrame:
    if isinstance(curves, Points):
        return numbers_table(by_total_variation(curves.numbers))
    columns = by_total_variation(curves.columns())
    return pd.DataFrame({"k_up_to": columns.pop("min_k"), **columns})
