"""The board of a comparison: one panel per criterion, one cursor for k through all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.cards import Card
from kanon.charts.style import colour_of_metric, escaped, k_axis, lay_out, translucent
from kanon.comparison import CRITERIA, Comparison
from kanon.words import thin

__all__ = ["board", "board_cursor"]

_COLUMNS, _HEIGHT = 3, 480
_NUMERALS = "①②③④⑤"
_TICKS = (2, 10, 100, 1000, 10000, 100000, 1000000)
"""Panels are narrow: fewer ticks than a chart of its own has."""


def board(comparison: Comparison) -> go.Figure:
    """The criteria of all configurations over k, one panel each.

    Percentages share one scale. The sixth place is left free for the numbers at the cursor.
    """
    titles = [
        f"{numeral} {card.title}, {card.unit} ({card.arrow})"
        for numeral, card in zip(_NUMERALS, CRITERIA.values(), strict=True)
    ]
    figure = make_subplots(
        rows=2, cols=_COLUMNS, subplot_titles=titles, horizontal_spacing=0.07, vertical_spacing=0.25
    )
    lay_out(figure, "", _HEIGHT)
    k_axis(figure, comparison.n_records, _TICKS)
    for place, card in enumerate(CRITERIA.values()):
        where = {"row": place // _COLUMNS + 1, "col": place % _COLUMNS + 1}
        _lines(figure, comparison, card, where)
        figure.update_xaxes(range=_k_range(comparison), fixedrange=True, **where)
        figure.update_yaxes(fixedrange=True, **where)
        if card.unit == "%":
            figure.update_yaxes(range=[0, 103], dtick=25, ticksuffix=" ", **where)
        else:
            ticks = [k for k in _TICKS if k <= comparison.n_records]
            figure.update_yaxes(
                type="log", range=_k_range(comparison), tickvals=ticks,
                ticktext=[thin(k) for k in ticks], **where,
            )  # fmt: skip
    figure.update_xaxes(title={"text": "k (log scale)", "standoff": 4, "font": {"size": 13}})
    figure.update_xaxes(visible=False, row=2, col=_COLUMNS)
    figure.update_yaxes(visible=False, row=2, col=_COLUMNS)
    figure.update_annotations(font={"size": 15}, x=None, xanchor="left")
    for place, annotation in enumerate(figure.layout.annotations):
        annotation.x = _domains(figure, place)[0][0]
    # Margins that stay as they are: the cursor is laid over the drawing.
    figure.update_xaxes(automargin=False)
    figure.update_yaxes(automargin=False)
    margin = {"l": 52, "r": 12, "t": 30, "b": 58, "autoexpand": False}
    return figure.update_layout(margin=margin, dragmode=False, hovermode="x unified")


def _lines(figure: go.Figure, comparison: Comparison, card: Card, where: dict[str, int]) -> None:
    """One line per configuration, and the band that ties leave open behind it."""
    ks = comparison.ks
    number = "%{y:.1f} %" if card.unit == "%" else "%{y:,}"
    if card.unit != "%":
        figure.add_scatter(
            x=ks, y=ks, mode="lines", line={"color": "#9AA3AB", "dash": "dot", "width": 1},
            hoverinfo="skip", **where,
        )  # fmt: skip
    # A staircase where every k is known: the release is the same up to the k it reaches.
    shape = "vh" if comparison.every_k else "linear"
    mode = "lines" if comparison.every_k else "lines+markers"
    for line, runs in zip(comparison.lines, comparison.at(card.name, ks), strict=True):
        colour = colour_of_metric(line.configuration.metric)
        if comparison.has_bands:
            for edge, fill in ((runs.min(axis=0), None), (runs.max(axis=0), "tonexty")):
                figure.add_scatter(
                    x=ks, y=edge, mode="lines", line={"shape": shape, "width": 0}, fill=fill,
                    fillcolor=translucent(colour, 0.18), hoverinfo="skip", **where,
                )  # fmt: skip
        figure.add_scatter(
            x=ks, y=runs[0], mode=mode, name=escaped(line.guide.card.title),
            line={"color": colour, "width": 2, "shape": shape}, hovertemplate=number, **where,
        )  # fmt: skip


def board_cursor(comparison: Comparison, figure: go.Figure) -> dict[str, Any]:
    """What a cursor over the board needs to follow the pointer without asking again.

    Returns
    -------
    dict
        The k that can be shown, a headline for each, the places and scales of the panels as
        shares of the drawing inside its margins, and every value.
    """
    ks = comparison.ks
    panels = []
    for place, (name, card) in enumerate(CRITERIA.items()):
        x, y = _domains(figure, place)
        panels.append(
            {
                "title": card.title,
                "numeral": _NUMERALS[place],
                "percent": card.unit == "%",
                "x": x,
                "y": y,
                "range": figure.layout[_axis("yaxis", place)].range,
                "values": comparison.at(name, ks)[:, 0].round(2).tolist(),
            }
        )
    x, y = _domains(figure, len(CRITERIA))
    margin = figure.layout.margin
    return {
        "ks": list(ks),
        "headlines": _headlines(comparison),
        "range": _k_range(comparison),
        "margin": {"left": margin.l, "right": margin.r, "top": margin.t, "bottom": margin.b},
        "panels": panels,
        "legend": {"x": x, "y": y},
        "lines": [
            {
                "name": line.guide.card.title,
                "colour": colour_of_metric(line.configuration.metric),
            }
            for line in comparison.lines
        ],
    }


def _headlines(comparison: Comparison) -> list[str]:
    """The finding at each k, in a sentence; what looks equal as shown is called equal."""
    titles = {line.configuration.metric: line.guide.card.title for line in comparison.lines}
    means = comparison.means(digits=1)
    return [
        f"k = {thin(k)}: {_sentence(here.rename(titles), comparison.has_bands, ahead.to_numpy())}"
        for k, here, ahead in zip(
            comparison.ks,
            (row for _, row in means.values.iterrows()),
            (row for _, row in means.ahead.iterrows()),
            strict=True,
        )
    ]


def _sentence(means: pd.Series, has_bands: bool, is_ahead: np.ndarray) -> str:
    """Who loses least and most in the mean; with bands, whether ties decide that."""
    ahead, worst = list(means.index[is_ahead]), str(means.idxmax())
    least, most = f"{means.min():.1f}", f"{means.max():.1f}"
    if len(means) == 1:
        return f"guided by {worst}, {least} % is lost in the mean"
    if least == most:
        return f"whichever guides, {least} % is lost in the mean"
    if len(ahead) == len(means):
        return f"ties decide who loses least; the means are {least} to {most} %"
    rest = "" if worst in ahead else f"; by {worst} the most, {most} %"
    names = ahead if len(ahead) <= 3 else [*ahead[:2], f"{len(ahead) - 2} more"]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    if has_bands and len(ahead) > 1:
        return f"ties decide between {listed}, from {least} % in the mean{rest}"
    return f"guided by {listed} the least is lost, {least} % in the mean{rest}"


def _k_range(comparison: Comparison) -> list[float]:
    return [math.log10(1.8), math.log10(max(comparison.ks[-1], 3) * 1.15)]


def _axis(kind: str, place: int) -> str:
    return kind if place == 0 else f"{kind}{place + 1}"


def _domains(figure: go.Figure, place: int) -> tuple[list[float], list[float]]:
    """Where a panel stands, as shares of the width and of the height from below."""
    x = figure.layout[_axis("xaxis", place)].domain
    y = figure.layout[_axis("yaxis", place)].domain
    return list(x), list(y)
