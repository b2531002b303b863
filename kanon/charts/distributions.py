"""How the values of columns are shared out, before and after, a small panel per column."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import count_noun, write_percent
from kanon.base.kinds import read_numbers
from kanon.charts.figure import build_figure
from kanon.charts.privacy import AFTER_COLOUR, BEFORE_COLOUR
from kanon.charts.style import (
    HEADING,
    LABEL,
    TITLE_ON_TOP,
    add_opacity,
    escape_label,
    get_axis_number,
)
from kanon.measures.distribution_change import Distribution

_BETWEEN = 0.06  # the space between two panels, of the width
_COLUMNS, _PANEL, _GAP, _HEAD, _FOOT = 3, 128, 74, 96, 44  # pixels of height but for the first
_BARS = 20  # up to so many values stand as pairs of bars, more as two outlines
_SMALL, _LARGE = 100, 400  # the most runs of values of an outline
_LARGE_HEIGHT = 360


class _Look(NamedTuple):
    number: str  # of its axes, as Plotly counts them
    runs: int
    room: int  # characters of labels under it
    most_rotated: int  # labels up to this number are turned where they do not fit
    legend: bool


def build_distributions_table(distributions: Sequence[Distribution]) -> pd.DataFrame:
    """A row per column and value, and one for suppressed records: counts and % of all records."""
    parts = []
    for distribution in distributions:
        before, after = distribution.before, distribution.after
        values = list(distribution.values)
        if distribution.suppressed:
            values.append("(suppressed)")
            before, after = np.append(before, 0.0), np.append(after, distribution.suppressed)
        share = 100.0 / max(distribution.n_records, 1)
        parts.append(
            pd.DataFrame(
                {
                    "column": distribution.name,
                    "value": pd.array(values, dtype="str"),
                    "records_before": before,
                    "records_after": after,
                    "before_percent": before * share,
                    "after_percent": after * share,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def draw_distribution_panels(distributions: Sequence[Distribution], title: str) -> go.Figure:
    """A small panel per column, in the order given, headed by its total variation in %."""
    columns = min(_COLUMNS, len(distributions))
    rows = math.ceil(len(distributions) / columns)
    height = _HEAD + _FOOT + rows * _PANEL + (rows - 1) * _GAP
    width = (1 - (columns - 1) * _BETWEEN) / columns
    inside = height - _HEAD - _FOOT
    data, axes, heads = [], {}, []
    for place, distribution in enumerate(distributions):
        row, column = divmod(place, columns)
        start, top = column * (width + _BETWEEN), 1 - row * (_PANEL + _GAP) / inside
        number = get_axis_number(place)
        look = _Look(number, _SMALL, 100 // columns, 0, place == 0)
        traces, x, y = _draw_distribution(distribution, look)
        data += traces
        axes[f"xaxis{number}"] = {**x, "domain": [start, start + width]}
        low = max(0.0, top - _PANEL / inside)
        axes[f"yaxis{number}"] = {**y, "domain": [low, top], "nticks": 4}
        heads.append({
            "text": f"<b>{escape_label(distribution.name, 24)}</b>: "
            f"{write_percent(100 * distribution.total_variation)}",
            "x": start, "xref": "paper", "xanchor": "left", "y": top, "yref": "paper",
            "yanchor": "bottom", "yshift": 2, "showarrow": False,
            "font": HEADING,
        })  # fmt: skip
    margin = {"l": 48, "r": 12, "t": _HEAD, "b": _FOOT}
    return _build_distribution_figure(data, title, height, margin, {**axes, "annotations": heads})


def draw_large_distribution(distribution: Distribution, title: str) -> go.Figure:
    """One column's values before and after in a chart of its own, as shares of the records."""
    data, x, y = _draw_distribution(distribution, _Look("", _LARGE, 110, 48, True))
    axes = {"xaxis": {**x, "automargin": True}, "yaxis": {**y, "title": "share of the records"}}
    margin = {"l": 64, "r": 12, "t": 92, "b": 56}
    return _build_distribution_figure(data, title, _LARGE_HEIGHT, margin, axes)


def _build_distribution_figure(
    data: list[dict[str, Any]],
    title: str,
    height: int,
    margin: dict[str, int],
    axes: dict[str, Any],
) -> go.Figure:
    legend = {
        "orientation": "h", "x": 0, "yanchor": "middle", "font": LABEL,
        "y": 1 + (margin["t"] - 58) / (height - margin["t"] - margin["b"]),
    }  # fmt: skip
    return build_figure(
        data, title, height, axes.pop("xaxis"), axes.pop("yaxis"), **axes, margin=margin,
        hovermode="x", showlegend=True, legend=legend, barmode="group", bargap=0.2, bargroupgap=0,
        **TITLE_ON_TOP,
    )  # fmt: skip


def _draw_distribution(
    distribution: Distribution, look: _Look
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    edges = _split_runs(len(distribution.values), look.runs)
    labels = _list_run_labels(distribution, edges)
    share = 100.0 / max(distribution.n_records, 1)
    before, after = (
        np.add.reduceat(counts, edges[:-1]) * share if len(counts) else counts
        for counts in (distribution.before, distribution.after)
    )
    if distribution.suppressed:
        labels = [*labels, "suppressed"]
        before, after = np.append(before, 0.0), np.append(after, share * distribution.suppressed)
    places = np.arange(len(labels))
    texts = [escape_label(label, 40) for label in labels]
    traces: list[dict[str, Any]] = []
    for name, values, colour in (("before", before, BEFORE_COLOUR), ("after", after, AFTER_COLOUR)):
        common = {
            "xaxis": f"x{look.number}",
            "yaxis": f"y{look.number}",
            "x": places,
            "y": values,
            "name": name,
            "legendgroup": name,
            "showlegend": look.legend,
            "customdata": [
                [label, write_percent(value)]
                for label, value in zip(texts, values.tolist(), strict=True)
            ],
            "hovertemplate": f"%{{customdata[0]}}: %{{customdata[1]}} {name}<extra></extra>",
        }
        if len(labels) <= _BARS:
            traces.append({**common, "type": "bar", "marker": {"color": colour}})
            continue
        traces.append(
            {
                **common, "type": "scatter", "mode": "lines",
                "line": {"color": colour, "width": 2, "shape": "hvh"},
                "fill": "tozeroy" if name == "before" else "none",
                "fillcolor": add_opacity(colour, 0.22),
            }
        )  # fmt: skip
    most = max([float(before.max(initial=0)), float(after.max(initial=0)), 0.5])
    x = {
        "range": [-0.6, len(labels) - 0.4], "fixedrange": True, "anchor": f"y{look.number}",
        **_choose_value_ticks(distribution, edges, labels, look),
    }  # fmt: skip
    y = {"range": [0, 1.08 * most], "ticksuffix": " %", "anchor": f"x{look.number}"}
    return traces, x, y


def _split_runs(n_values: int, runs: int) -> np.ndarray:
    """Where each run of neighbouring values begins, and where the last ends; as equal as can be.

    >>> _split_runs(7, 3).tolist(), _split_runs(2, 3).tolist()
    ([0, 2, 4, 7], [0, 1, 2])
    """
    number = min(n_values, runs)
    return np.arange(number + 1) * n_values // max(number, 1)


def _list_run_labels(distribution: Distribution, edges: np.ndarray) -> list[str]:
    values = distribution.values
    return [
        values[low] if high - low == 1 else f"{values[low]} to {values[high - 1]}"
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]


def _choose_value_ticks(
    distribution: Distribution, edges: np.ndarray, labels: Sequence[str], look: _Look
) -> dict[str, Any]:
    """As many labels as there is room for; of values without an order all of them or none."""
    values, angle = distribution.values, 0
    widest = max((len(label) for label in labels), default=1)
    places: Sequence[int] = range(len(labels))
    if len(labels) > look.room // (min(widest, 24) + 2):
        if read_numbers(list(values)) is not None:
            wide = max(map(len, values)) + 2
            step = math.ceil(len(labels) / max(look.room // wide, 2))
            places = [place for place in places if place % step == 0]
        elif len(labels) <= look.most_rotated:
            angle = -45
        elif look.most_rotated or look.room // (len(labels) + 1) < 5:  # not even shortened ones fit
            centre = (len(labels) - 1) / 2
            return {
                "tickvals": [centre],
                "ticktext": [count_noun(len(values), "value")],
                "ticks": "",
            }
    longest = 22 if look.most_rotated else max(4, look.room // max(len(places), 1) - 1)
    # A run of values is called by its first; what follows the runs are the suppressed records.
    runs = len(edges) - 1
    texts = [values[edges[place]] if place < runs else labels[place] for place in places]
    return {
        "tickvals": list(places),
        "ticktext": [escape_label(text, longest) for text in texts],
        "tickangle": angle,
    }
