"""Small multiples: one small panel per configuration, with all the others in grey behind."""

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.charts.comparison_measures import (
    hover_number,
    measures_of,
    round_for_hover,
    scale_of,
    titled,
)
from kanon.charts.line_style import looks_of
from kanon.charts.panel_axes import k_range, k_ticks, tick_said
from kanon.charts.style import (
    INK,
    axes_at,
    axis_number,
    darkened,
    escaped,
    hide_axes,
    lay_out,
    translucent,
)
from kanon.experiments.comparison import Comparison

_MOST_COLUMNS, _PANEL, _HEAD, _FOOT = 5, 150, 66, 56  # pixels of height
_GREY = "#C4CBD1"


def small_multiples(comparison: Comparison, criterion: str, k: int | None = None) -> go.Figure:
    """A criterion over k, one small panel per configuration.

    All panels share their scales; the others stand in grey behind, so that each is seen against
    all. For more configurations than one panel can tell apart.
    """
    card = measures_of(comparison)[criterion]
    ks, lines, looks = comparison.ks, comparison.lines, looks_of(comparison)
    found = comparison.at(criterion, ks)
    rows = math.ceil(len(lines) / _MOST_COLUMNS)
    columns = math.ceil(len(lines) / rows)
    height = _HEAD + _FOOT + rows * _PANEL + (rows - 1) * 44
    drawn = height - _HEAD - _FOOT
    figure = make_subplots(
        rows=rows, cols=columns, shared_xaxes="all", shared_yaxes="all", horizontal_spacing=0.02,
        vertical_spacing=44 / drawn if rows > 1 else 0,
        subplot_titles=[escaped(line.title, 30) for line in lines],
    )  # fmt: skip
    lay_out(figure, escaped(f"{titled(card)}: each against all others", 90), height)
    shape = "vh" if comparison.every_k else "linear"
    # All lines as one trace, parted by gaps.
    behind = {
        "x": [*ks, None] * len(lines),
        "y": np.column_stack([found[:, 0], np.full(len(lines), np.nan)]).ravel(),
    }
    traces: list[dict[str, object]] = []
    dots = comparison.every_k and bool(np.isnan(found).any())  # known at some k: nothing between
    number = hover_number(card)
    for place, (line, runs) in enumerate(zip(lines, found, strict=True)):
        look = looks[line.name]
        mode = "markers" if dots else "lines"
        common = {"type": "scatter", **axes_at(place), "mode": mode}
        quiet = {"shape": shape, "width": 1, "color": _GREY}
        small = {"size": 4, "color": _GREY}
        traces.append({**common, **behind, "line": quiet, "marker": small, "hoverinfo": "skip"})
        if comparison.has_bands and not dots:
            for edge, fill in ((runs.min(axis=0), "none"), (runs.max(axis=0), "tonexty")):
                traces.append(
                    {**common, "x": ks, "y": edge, "line": {"shape": shape, "width": 0},
                     "fill": fill, "fillcolor": translucent(look.colour, 0.2),
                     "hoverinfo": "skip"}
                )  # fmt: skip
        own = {"shape": shape, "width": 2.5, "color": look.colour, "dash": look.dash}
        traces.append(
            {**common, "x": ks, "y": runs[0], "line": own,
             "marker": {"size": 7, "color": look.colour}, "name": escaped(line.title),
             "customdata": round_for_hover(runs[0], card),
             "meta": "line", "hovertemplate": f"k = %{{x:,}}: {number}<extra></extra>"}
        )  # fmt: skip
    figure.add_traces(traces)
    ticks = [tick for tick in k_ticks(comparison.n_records) if tick != 2 or len(ks) < 9]
    figure.update_xaxes(
        type="log", range=k_range(comparison), tickvals=ticks, tickangle=0,
        ticktext=[tick_said(tick, 10**5) for tick in ticks], tickfont={"size": 12},
    )  # fmt: skip
    scale, most = scale_of(card), max(103.0, 1.05 * float(np.nanmax(found, initial=0.0)))
    axes = {"percent": {"range": [0, most], "dtick": 50}, "log": {"type": "log", "dtick": 1}}
    axis = axes.get(scale, {"rangemode": "tozero", "nticks": 4})
    figure.update_yaxes(**axis, ticksuffix=" ", tickfont={"size": 12})
    if k is not None:
        figure.add_vline(x=k, line={"color": INK, "width": 1, "dash": "dot"})
    for place in range(len(lines), rows * columns):
        hide_axes(figure, place)
    for place in range(max(0, len(lines) - columns), len(lines)):  # the lowest of each column
        figure.layout[f"xaxis{axis_number(place)}"].showticklabels = True
    for annotation, line in zip(figure.layout.annotations, lines, strict=True):
        annotation.font = {"size": 13, "color": darkened(looks[line.name].colour)}
    figure.add_annotation(
        text=f"k, in {comparison.of} (log scale)", xref="paper", yref="paper", x=0.5, y=0,
        yshift=-26, yanchor="top", showarrow=False, font={"size": 13},
    )  # fmt: skip
    margin = {"l": 52, "r": 16, "t": _HEAD, "b": _FOOT}
    return figure.update_layout(margin=margin, hovermode="closest")
