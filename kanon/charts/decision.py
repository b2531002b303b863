"""How far each threshold of a release is met, and the greatest k beside another model."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.data_files import read_data
from kanon.base.formatting import write_count, write_percent
from kanon.base.rounding import round_apart
from kanon.charts.figure import build_figure, get_k_axis
from kanon.charts.style import (
    BLUE,
    INK,
    LABEL,
    STRATEGY_COLOURS,
    STRATEGY_DASHES,
    STRATEGY_MARKERS,
    VERMILION,
    add_opacity,
    draw_upright_line,
    escape_label,
)
from kanon.experiments.greatest_k import GREATEST_K_SEARCHES, GreatestK
from kanon.metrics import Metric
from kanon.release.decision import Decision, ThresholdResult
from kanon.release.threshold_cards import OF_USEFULNESS

_FURTHEST = 8.0  # times: what lies beyond is said, not drawn

_SHORT = read_data(__file__)


def compute_times_reached(part: ThresholdResult) -> float:
    """How many times the requirement was reached: 1 is just enough, above 1 is better.

    >>> from kanon.release.context import Context, list_thresholds
    >>> asked = list_thresholds(Context(release="research"))
    >>> results = ThresholdResult(asked["k"], "", 10), ThresholdResult(asked["t"], "ill", 0.8)
    >>> [compute_times_reached(result) for result in results]
    [2.0, 0.5]
    """
    threshold = part.threshold.wanted
    assert threshold is not None and part.reached is not None
    above, below = part.reached, threshold
    if part.threshold.card.direction == "lower":
        above, below = below, above
    return above / below if below > 0 else math.inf


def draw_decision(decision: Decision, title: str) -> go.Figure:
    """A bar per threshold, from the wanted level to the level reached; to the right is better.

    Protection is above usefulness, with a heading each where there are both.
    """
    parts = decision.parts[::-1]  # the first one on top
    names = [_format_threshold_name(part) for part in parts]
    ends = [
        1.0 if part.reached is None
        else min(max(compute_times_reached(part), 1 / _FURTHEST), _FURTHEST)
        for part in parts
    ]  # fmt: skip
    n_useful = sum(part.threshold.card.name in OF_USEFULNESS for part in parts)
    lines = names
    if 0 < n_useful < len(parts):
        headings = ("<b>Useful</b>", "<b>Protected</b>")
        lines = [*names[:n_useful], headings[0], *names[n_useful:], headings[1]]
    data: list[dict[str, Any]] = []
    for met, colour, name in ((True, BLUE, "✓ met"), (False, VERMILION, "✗ not met")):
        verdict = "met" if met else "not met"
        rows = [place for place, part in enumerate(parts) if part.verdict == verdict]
        data.append(
            {
                "type": "bar", "orientation": "h", "name": name,
                "y": [names[place] for place in rows],
                # From just enough, drawn as a thin bar where it is exactly that.
                "base": [min(1.0, ends[place]) for place in rows],
                "x": [max(abs(ends[place] - 1.0), 0.015) for place in rows],
                "marker": {"color": colour}, "width": 0.55,
                "hovertext": [_format_result(parts[place]) for place in rows],
                "hovertemplate": "%{y}: %{hovertext}<extra></extra>",
            }
        )  # fmt: skip
    notes = [
        {
            "x": 1, "xref": "paper", "xanchor": "left", "y": name, "showarrow": False,
            "text": f" {part.mark} {_format_result(part)}",
            "font": LABEL,
        }
        for name, part in zip(names, parts, strict=True)
    ]  # fmt: skip
    longest = 20 + 6.5 * max(map(len, names))  # pixels
    right = max(112.0, 14 + 6.2 * max(len(_format_result(part)) for part in parts))
    ticks = [0.125, 0.25, 0.5, 1, 2, 4, 8]
    return build_figure(
        data, title, 110 + 44 * len(parts) + 30 * (len(lines) - len(parts)),
        {
            "title": "times the requirement: 1 is just enough (→ better)", "type": "log",
            "range": [math.log10(0.1), math.log10(10)], "tickvals": ticks,
            "ticktext": ["⅛", "¼", "½", "1", "2", "4", "8"],
        },
        {"categoryorder": "array", "categoryarray": lines, "range": [-0.5, len(lines) - 0.5]},
        hovermode="closest", showlegend=False, annotations=notes, barmode="overlay",
        shapes=[draw_upright_line(1)], margin={"l": longest, "r": right, "t": 44, "b": 52},
    )  # fmt: skip


def _format_threshold_name(part: ThresholdResult) -> str:
    name = _SHORT.get(part.threshold.card.name, f"{part.of} alike")
    return f"{escape_label(part.column, 14)}: {name}" if part.column else name


def _format_result(part: ThresholdResult) -> str:
    result, requirement = part.shown
    return f"{result}, required {requirement}"


def describe_greatest_k(study: GreatestK, requirement: str, most: float) -> str:
    """The greatest k for at most ``most`` % alteration, or the least alteration that is needed."""
    k = study.find_k(most)
    if k is None:
        least = write_percent(float(study.curve["alteration"].iloc[0]))
        return f"{requirement} needs an alteration of at least {least}"
    return (
        f"With {requirement} and at most {most:g} % alteration, the greatest k is {write_count(k)}"
    )


def draw_greatest_k(study: GreatestK, requirement: str, metric: Metric, most: float) -> go.Figure:
    """The greatest k that each search reaches for an alteration in %, and the greatest of all."""
    curve = study.curve
    data: list[dict[str, Any]] = [
        {
            **_build_stairs(curve["alteration"].to_numpy(), curve["k"].to_numpy()),
            "line": {"shape": "hv", "color": add_opacity(INK, 0.16), "width": 14},
            "name": "Greatest k", "hoverinfo": "skip",
        }
    ]  # fmt: skip
    for search, rows in study.ways.groupby("way", sort=False):
        strategy = "k" if search == "k" else "s1"
        colour = STRATEGY_COLOURS[strategy]
        title = GREATEST_K_SEARCHES[str(search)].title
        x, y = rows["alteration"].to_numpy(), rows["k"].to_numpy()
        if search == "k-first":
            marks = {"symbol": "circle-open", "size": 8, "color": colour, "line": {"width": 2}}
            shape: dict[str, Any] = {"type": "scatter", "mode": "markers", "marker": marks}
            shape |= {"x": x, "y": y, "cliponaxis": False}
        else:
            line = {"shape": "hv", "color": colour, "width": 2, "dash": STRATEGY_DASHES[strategy]}
            shape = {**_build_stairs(x, y), "line": line}
        hover = f"{escape_label(title)}: k = %{{y:,}} for %{{customdata:.1f}} %<extra></extra>"
        data.append(
            {
                **shape,
                "name": escape_label(title),
                "hovertemplate": hover,
                "customdata": round_apart(x, 1),
            }
        )
    k = study.find_k(most)
    if k is not None:
        data.append(
            {
                "type": "scatter", "x": [most], "y": [k], "mode": "markers+text",
                "marker": {"size": 12, "color": INK, "symbol": STRATEGY_MARKERS["s1"]},
                "text": [f"  k = {write_count(k)}  "],
                "textposition": "bottom right" if most < 70 else "top left",
                "textfont": {"size": 16, "color": INK}, "hoverinfo": "skip", "showlegend": False,
                "cliponaxis": False,
            }
        )  # fmt: skip
    least, largest = int(curve["k"].iloc[0]), int(curve["k"].iloc[-1])
    axis = get_k_axis(largest, of=study.of)
    low = math.log10(0.9) if least == 1 else axis["range"][0]
    return build_figure(
        data,
        escape_label(describe_greatest_k(study, requirement, most), longest=120),
        360,
        {
            "title": f"Alteration, %, measured by {escape_label(metric.card.title)} (↓ better)",
            "range": [0, 102],
        },
        {
            **axis, "range": [low, axis["range"][1]],
            "title": f"k: {study.of} in the smallest class (↑ better)",
        },
        hovermode="closest", shapes=[draw_upright_line(most)], showlegend=True,
        legend={"x": 0.98, "xanchor": "right", "y": 0.04, "yanchor": "bottom"},
    )  # fmt: skip


def _build_stairs(alteration: np.ndarray, k: np.ndarray) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines",
        "x": np.append(alteration, 100.0), "y": np.append(k, k[-1]),
    }  # fmt: skip
