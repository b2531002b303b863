"""The greatest k against alteration, where another model is given."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import percent, round_apart, thin
from kanon.charts.figure import drawn, k_layout
from kanon.charts.style import (
    INK,
    STRATEGY_COLOURS,
    STRATEGY_DASHES,
    STRATEGY_MARKERS,
    escaped,
    translucent,
    upright_line,
)
from kanon.experiments.greatest_k import WAYS, GreatestK
from kanon.metrics import Metric


def reverse_finding(found: GreatestK, asked: str, most: float) -> str:
    """The greatest k with at most so much alteration, or from where on there is any."""
    k = found.greatest_k(most)
    if k is None:
        least = percent(float(found.curve["alteration"].iloc[0]))
        return f"{asked} is not reached below an alteration of {least}"
    return f"With {asked}, at most {most:g} % alteration reaches k = {thin(k)}"


def reverse_chart(found: GreatestK, asked: str, metric: Metric, most: float) -> go.Figure:
    """The k that each way reaches with at most so much alteration, and the greatest of them."""
    curve = found.curve
    data: list[dict[str, Any]] = [
        {
            **_stairs(curve["alteration"].to_numpy(), curve["k"].to_numpy()),
            "line": {"shape": "hv", "color": translucent(INK, 0.16), "width": 14},
            "name": "Greatest k", "hoverinfo": "skip",
        }
    ]  # fmt: skip
    for way, rows in found.ways.groupby("way", sort=False):
        strategy = "k" if way == "k" else "s1"
        colour = STRATEGY_COLOURS[strategy]
        title = WAYS[str(way)].title
        x, y = rows["alteration"].to_numpy(), rows["k"].to_numpy()
        if way == "k-first":
            marks = {"symbol": "circle-open", "size": 8, "color": colour, "line": {"width": 2}}
            shape: dict[str, Any] = {"type": "scatter", "mode": "markers", "marker": marks}
            shape |= {"x": x, "y": y, "cliponaxis": False}
        else:
            line = {"shape": "hv", "color": colour, "width": 2, "dash": STRATEGY_DASHES[strategy]}
            shape = {**_stairs(x, y), "line": line}
        hover = f"{escaped(title)}: k = %{{y:,}} for %{{customdata:.1f}} %<extra></extra>"
        data.append(
            {
                **shape,
                "name": escaped(title),
                "hovertemplate": hover,
                "customdata": round_apart(x, 1),
            }
        )
    k = found.greatest_k(most)
    if k is not None:
        data.append(
            {
                "type": "scatter", "x": [most], "y": [k], "mode": "markers+text",
                "marker": {"size": 12, "color": INK, "symbol": STRATEGY_MARKERS["s1"]},
                "text": [f"  k = {thin(k)}  "],
                "textposition": "bottom right" if most < 70 else "top left",
                "textfont": {"size": 16, "color": INK}, "hoverinfo": "skip", "showlegend": False,
                "cliponaxis": False,
            }
        )  # fmt: skip
    least, largest = int(curve["k"].iloc[0]), int(curve["k"].iloc[-1])
    axis = k_layout(largest, of=found.of)
    low = math.log10(0.9) if least == 1 else axis["range"][0]
    return drawn(
        data,
        escaped(reverse_finding(found, asked, most), longest=120),
        360,
        {
            "title": f"Alteration, %, measured by {escaped(metric.card.title)} (↓ better)",
            "range": [0, 102],
        },
        {
            **axis, "range": [low, axis["range"][1]],
            "title": f"k: {found.of} in the smallest class (↑ better)",
        },
        hovermode="closest", shapes=[upright_line(most)], showlegend=True,
        legend={"x": 0.98, "xanchor": "right", "y": 0.04, "yanchor": "bottom"},
    )  # fmt: skip


def _stairs(alteration: np.ndarray, k: np.ndarray) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines",
        "x": np.append(alteration, 100.0), "y": np.append(k, k[-1]),
    }  # fmt: skip
