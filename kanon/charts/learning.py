"""What can be learnt from releases: scores over k per representation, and what predicts them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.algorithms.catalogue import algorithm_named, short_title
from kanon.base.formatting import CountedUnit, write_count
from kanon.base.rounding import round_apart, write_decimals
from kanon.cards import Card
from kanon.charts.style import (
    ALGORITHM_COLOURS,
    FAMILY_MARKERS,
    GREY,
    add_opacity,
    escape_label,
    set_common_look,
    set_log_k_axis,
)
from kanon.learning.experiments import Band
from kanon.learning.representations import REPRESENTATIONS

REPRESENTATION_COLOURS: Mapping[str, str] = {
    "oneClass": "#C28A00",
    "fillParent": "#117755",
    "fillChild": "#BB5566",
    "proportional": "#004488",
}
"""One colour per representation, everywhere."""

_DASHES = {"oneClass": "2px,3px", "fillParent": "8px,3px", "fillChild": "8px,3px,2px,3px"}
_MARKERS = {
    "oneClass": "circle",
    "fillParent": "square",
    "fillChild": "triangle-up",
    "proportional": "diamond",
}
_DIGITS = 3
NOTHING = 0.005  # a score that is not higher than this above chance says nothing


def find_best_per_k(bands: Mapping[str, Band], chance: float = np.nan) -> list[set[str]]:
    """Per k the representations of the highest mean score; equal to three digits is equal."""
    means = np.round([band.mean for band in bands.values()], _DIGITS)
    names = list(bands)
    best: list[set[str]] = []
    for column in means.T:
        scores = column[~np.isnan(column)]
        most = scores.max() if len(scores) else np.nan
        if np.isnan(most) or most <= chance + NOTHING:
            best.append(set())
        else:
            best.append({name for name, mean in zip(names, column, strict=True) if mean == most})
    return best


def describe_scores(
    bands: Mapping[str, Band], ks: Sequence[int], score: Card, chance: float = np.nan
) -> str:
    """Which representation has the highest mean score, and at how many k.

    >>> two = {name: Band(np.array([mean]), np.zeros(1), 1) for name, mean in
    ...     (("oneClass", 0.6), ("fillParent", 0.7), ("fillChild", 0.5), ("proportional", 0.7))}
    >>> from kanon.learning.scores import SCORES
    >>> describe_scores(two, [5], SCORES["auc"])
    'Mean AUC is highest in fillParent and in proportional, each at 1 of 1 k'
    >>> describe_scores(two, [5], SCORES["auc"], chance=0.7)
    'Nothing is learnt at any k'
    """
    best = find_best_per_k(bands, chance)
    learnt = sum(bool(at) for at in best)
    if not learnt:
        return "Nothing is learnt at any k"
    tally = {name: sum(name in at for at in best) for name in bands}
    highest = max(tally.values())
    titles = [REPRESENTATIONS[name].title for name, at in tally.items() if at == highest]
    suffix = ", each" if len(titles) > 1 else ""
    extent = "" if learnt == len(ks) else " where anything is learnt"
    return (
        f"Mean {score.title} is highest in {' and in '.join(titles)}{suffix} at {highest} of "
        f"{write_count(learnt)} k{extent}"
    )


def draw_scores(
    panels: Mapping[str, Mapping[str, Band]],
    ks: Sequence[int],
    score: Card,
    title: str,
    reference: Mapping[str, float] | None = None,
    chance: float = np.nan,
    of: CountedUnit = "records",
) -> go.Figure:
    """The mean score over k ± its standard deviation: a line per representation."""
    several = len(panels) > 1
    columns = 2 if several else 1
    rows = -(-len(panels) // columns)
    figure = make_subplots(
        rows=rows, cols=columns, shared_xaxes=several, shared_yaxes=several,
        horizontal_spacing=0.05, vertical_spacing=0.11,
        subplot_titles=[escape_label(name, 60) for name in panels] if several else None,
    )  # fmt: skip
    set_common_look(figure, title, 640 if several else 400)
    for place, (name, bands) in enumerate(panels.items()):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        for representation, band in bands.items():
            for trace in _draw_band(representation, band, ks, place == 0):
                figure.add_trace(trace, **at)
        own_score = (reference or {}).get(name, np.nan)
        for value, dash, text in (
            (
                own_score,
                "7px,4px",
                f"as trained{'' if several else f': {write_decimals(own_score, 3)}'}",
            ),
            (chance, "1px,4px", f"knowing nothing: {write_decimals(chance, 3)}"),
        ):
            if not np.isnan(value):
                figure.add_trace(_draw_level_line(ks, value, dash, text, place == 0), **at)
    set_log_k_axis(figure, max(ks), tuple(_select_ticks(ks, 2.2 if several else 1.17)), of)
    figure.update_xaxes(range=[float(np.log10(min(ks) / 1.2)), float(np.log10(max(ks) * 1.2))])
    low, high = _compute_score_range(panels, [*(reference or {}).values(), chance])
    figure.update_yaxes(range=[low, high], hoverformat=".3f")
    figure.update_yaxes(title=_format_score_axis(score), col=1)
    figure.update_xaxes(title="", row=1) if rows > 1 else None
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1.01 if not several else 1.06, "yanchor": "bottom",
                "x": 1, "xanchor": "right"},
        margin={"l": 64, "r": 24, "t": 76 if not several else 116, "b": 52},
    )  # fmt: skip
    return figure


def _draw_band(name: str, band: Band, ks: Sequence[int], legend: bool) -> list[dict[str, Any]]:
    colour = REPRESENTATION_COLOURS[name]
    line = {
        "type": "scatter", "x": list(ks), "y": band.mean,
        "name": f"in {REPRESENTATIONS[name].title}",
        "mode": "lines+markers", "legendgroup": name, "showlegend": legend,
        "line": {"color": colour, "width": 2.5, "dash": _DASHES.get(name, "solid")},
        "marker": {"symbol": _MARKERS[name], "size": 8, "color": colour},
        "customdata": np.column_stack([round_apart(band.mean, 3), band.deviation]),
        "hovertemplate": "%{customdata[0]:.3f}"
        + (" ± %{customdata[1]:.3f}" if band.fits > 1 else ""),
    }  # fmt: skip
    if band.fits < 2:
        return [line]
    around = {
        "type": "scatter", "x": [*ks, *reversed(ks)],
        "y": [*(band.mean + band.deviation), *reversed(band.mean - band.deviation)],
        "fill": "toself", "fillcolor": add_opacity(colour, 0.14), "line": {"width": 0},
        "mode": "lines", "hoverinfo": "skip", "showlegend": False, "legendgroup": name,
    }  # fmt: skip
    return [around, line]


def _draw_level_line(
    ks: Sequence[int], value: float, dash: str, text: str, legend: bool
) -> dict[str, Any]:
    return {
        "type": "scatter", "x": [min(ks) / 1.2, max(ks) * 1.2], "y": [value, value], "name": text,
        "mode": "lines", "line": {"color": GREY, "width": 1.5, "dash": dash},
        "showlegend": legend, "legendgroup": text, "hoverinfo": "skip",
    }  # fmt: skip


def _select_ticks(ks: Sequence[int], ratio: float) -> list[int]:
    """As many k as have room for their labels: each at least so many times the last one.

    >>> _select_ticks([3, 4, 5, 10, 20], 2.2)
    [3, 10]
    """
    ticks: list[int] = []
    for k in ks:
        if not ticks or k >= ratio * ticks[-1]:
            ticks.append(k)
    return ticks


def _compute_score_range(
    panels: Mapping[str, Mapping[str, Band]], levels: Sequence[float]
) -> tuple[float, float]:
    ends = [
        side
        for bands in panels.values()
        for band in bands.values()
        for side in (band.mean, band.mean - band.deviation, band.mean + band.deviation)
    ]
    values = np.concatenate([*ends, np.array(levels, dtype=float)])
    values = values[~np.isnan(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.06 * max(high - low, 0.05)
    return max(0.0, low - room), min(1.02, high + room)


def _format_score_axis(score: Card) -> str:
    return f"{score.title}, 0 to 1 ({score.arrow})"


# --- which measure predicts -------------------------------------------------------------------
def draw_agreement(
    agreements: pd.DataFrame,
    measures: Mapping[str, Card],
    score_titles: Mapping[str, str],
    title: str,
) -> go.Figure:
    """A heat map: how well each measure agrees with each classifier's score."""
    names = [name for name in measures if name in set(agreements["measure"])]
    panels = [("over all releases", ("agreement", "low", "high"))]
    if agreements["at_equal_k"].notna().any():
        within = ("at_equal_k", "low_at_equal_k", "high_at_equal_k")
        panels.append(("among releases for one k, mean over k", within))
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03,
        subplot_titles=[name for name, _ in panels],
    )  # fmt: skip
    set_common_look(figure, title, 150 + 27 * max(len(names), 3))
    labels = [escape_label(measures[name].title, 44) for name in names]
    for column, (_, columns) in enumerate(panels, 1):
        grids = [
            agreements.pivot(index="measure", columns="score", values=value_column)
            .reindex(index=names, columns=list(score_titles))
            .to_numpy(dtype=float)
            for value_column in columns
        ]
        text = [
            ["–" if np.isnan(cell) else write_decimals(cell, 2) for cell in row] for row in grids[0]
        ]
        figure.add_trace(
            {
                "type": "heatmap", "z": grids[0], "y": labels,
                "x": [escape_label(cell).replace(" ", "<br>") for cell in score_titles.values()],
                "text": text, "texttemplate": "%{text}", "textfont": {"size": 12},
                "zmin": -1, "zmax": 1, "colorscale": "RdBu", "xgap": 1, "ygap": 1,
                "customdata": np.dstack(grids[1:]),
                "showscale": column == len(panels),
                "colorbar": {"title": {"text": "agreement"}, "tickvals": [-1, 0, 1], "len": 0.9},
                "hovertemplate": "%{y}, %{x}: %{z:.2f}"
                + (
                    ""
                    if np.isnan(grids[1]).all()
                    else " [%{customdata[0]:.2f}, %{customdata[1]:.2f}]"
                )
                + "<extra></extra>",
            },
            row=1, col=column,
        )  # fmt: skip
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", tickfont={"size": 13})
    figure.update_xaxes(side="bottom", showgrid=False, ticks="", tickangle=0, tickfont={"size": 12})
    figure.update_layout(hovermode="closest", margin={"l": 10, "r": 10, "t": 72, "b": 56})
    return figure


def draw_predictions(
    points: pd.DataFrame, measure: Card, column: str, score: Card, title: str
) -> go.Figure:
    """A dot per release: a measure on the x axis, a classifier's score on the y axis."""
    figure = set_common_look(go.Figure(), title, 400)
    for name, releases in points.groupby("algorithm", sort=False):
        family = algorithm_named(str(name)).CARD.family
        colour = ALGORITHM_COLOURS.get(str(name), GREY)
        by_k = releases.sort_values("k")
        figure.add_trace(
            {
                "type": "scatter", "x": by_k[measure.name], "y": by_k[column],
                "name": short_title(str(name)), "mode": "lines+markers",
                "line": {"color": add_opacity(colour, 0.35), "width": 1},
                "marker": {"symbol": FAMILY_MARKERS[family], "size": 9, "color": colour},
                "customdata": [write_count(k) for k in by_k["k"]],
                "hovertemplate": "k = %{customdata}: %{x:.4g}, %{y:.3f}",
            }
        )  # fmt: skip
    unit = f", {measure.unit}" if measure.unit else ""
    figure.update_xaxes(title=escape_label(f"{measure.title}{unit} ({measure.arrow})", 80))
    figure.update_yaxes(title=_format_score_axis(score), hoverformat=".3f")
    figure.update_layout(
        hovermode="closest", showlegend=True,
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin={"l": 64, "r": 24, "t": 76, "b": 52},
    )  # fmt: skip
    return figure
