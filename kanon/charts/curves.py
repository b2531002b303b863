"""Curves against k."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from kanon.charts.style import colour_of_metric, k_axis, lay_out
from kanon.measures.along import Curves
from kanon.metrics import Metric
from kanon.words import thin

__all__ = ["alteration_curve", "curves_table"]


def alteration_curve(curves: Curves, metric: Metric, k: int, height: int = 270) -> go.Figure:
    """The alteration at every k under one metric, with a cursor at the chosen k.

    The curve is a staircase: the release is the same for all k up to the minimum it reached.
    """
    altered = curves.alteration[metric.name]
    here = float(altered[curves.row(k)])
    colour = colour_of_metric(metric.name)
    largest = int(curves.min_k[-1])
    figure = go.Figure()
    figure.add_scatter(
        x=curves.min_k,
        y=altered,
        mode="lines",
        line={"shape": "vh", "color": colour, "width": 3},
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
    title = (
        f"k = {thin(k)} costs {here:.1f} % of all that could be lost, as {metric.card.title} counts"
    )
    lay_out(figure, title, height)
    figure.update_layout(hovermode="x")
    figure.update_yaxes(title="Alteration, % (↓ better)", range=[0, 112], ticksuffix=" ")
    return k_axis(figure, largest).update_xaxes(
        range=[math.log10(1.8), math.log10(max(largest, 2) * 1.1)]
    )


def curves_table(curves: Curves) -> pd.DataFrame:
    """The numbers behind the curves: one row per release on the path."""
    columns = curves.columns()
    return pd.DataFrame({"k_up_to": columns.pop("min_k"), **columns})
