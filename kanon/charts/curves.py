"""Curves against k."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from kanon.charts.style import colour_of_metric, escaped, k_axis, lay_out
from kanon.measures.along import Curves, Points
from kanon.metrics import Metric
from kanon.words import thin

__all__ = ["alteration_curve", "curves_table"]


def alteration_curve(
    curves: Curves | Points, metric: Metric, k: int, also: str = "", height: int = 270
) -> go.Figure:
    """The alteration at every k under one metric, with a cursor at the chosen k.

    Parameters
    ----------
    curves
        The criteria.
    metric
        What counts as a loss.
    k
        Where the cursor stands.
    also
        What else is required, in a few words.
    height
        In pixels.

    Notes
    -----
    The curve is a staircase: the release is the same for all k up to the minimum it reached.
    Where only some k were computed, they are points, and nothing is drawn between them.
    """
    column = f"alteration_{metric.name}"
    here = float(curves.at([k])[column][0])
    colour = colour_of_metric(metric.name)
    every_k = isinstance(curves, Curves)
    numbers = curves.columns() if isinstance(curves, Curves) else curves.numbers
    at, altered = numbers["min_k" if every_k else "k"], numbers[column]
    largest = int(at[-1])
    figure = go.Figure()
    figure.add_scatter(
        x=at,
        y=altered,
        mode="lines" if every_k else "markers",
        line={"shape": "vh", "color": colour, "width": 3},
        marker={"size": 7, "color": colour},
        hovertemplate="k = %{x:,}: %{y:.1f} %<extra></extra>",
    )
    figure.add_vline(x=k, line={"color": "#1B1F24", "width": 1.5, "dash": "dot"})
    # The curve rises: above and to the left of a point there is room.
    side = "left" if math.log(k) > 0.25 * math.log(max(largest, 2)) else "right"
    figure.add_scatter(
        x=[k],
        y=[here],
        mode="markers+text",
        marker={"size": 12, "color": colour, "line": {"color": "white", "width": 2}},
        text=[f"  k = {thin(k)}: {here:.1f} %  "],
        textposition=f"top {side}",
        textfont={"size": 16},
        hoverinfo="skip",
        cliponaxis=False,
    )
    cost = f"k = {thin(k)} and {escaped(also, 80)} cost" if also else f"k = {thin(k)} costs"
    title = f"{cost} {here:.1f} % of all that could be lost, as {metric.card.title} counts"
    lay_out(figure, title, height)
    figure.update_layout(hovermode="x")
    figure.update_yaxes(title="Alteration, % (↓ better)", range=[0, 112], ticksuffix=" ")
    return k_axis(figure, largest).update_xaxes(
        range=[math.log10(1.8), math.log10(max(largest, 2) * 1.1)]
    )


def curves_table(curves: Curves | Points) -> pd.DataFrame:
    """The numbers behind the curves: one row per release on the path, or per k."""
    if isinstance(curves, Points):
        return pd.DataFrame(curves.numbers)
    columns = curves.columns()
    return pd.DataFrame({"k_up_to": columns.pop("min_k"), **columns})
