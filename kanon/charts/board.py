"""The board of a comparison: one panel per criterion, one cursor for k through all of them."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.cards import Card
from kanon.charts.style import colour_of_metric, escaped, k_axis, lay_out, translucent
from kanon.comparison import CRITERIA, Comparison
from kanon.measures.comparing import Standing
from kanon.words import thin

__all__ = ["board", "board_cursor"]

_COLUMNS, _HEIGHT = 3, 480
_NUMERALS = "①②③④⑤"


def _ticks(largest: int) -> list[int]:
    """Panels are narrow: fewer ticks than a chart of its own has, but several in a small table.

    >>> _ticks(8), _ticks(300), _ticks(30_000)
    ([2, 3, 4, 5, 6, 7, 8], [2, 5, 10, 20, 50, 100, 200], [2, 10, 100, 1000, 10000])
    """
    if largest <= 8:
        return list(range(2, largest + 1))
    powers = [10**power for power in range(1, 10)]
    if largest < 500:
        powers = sorted({5, *powers, *(2 * ten for ten in powers), *(5 * ten for ten in powers)})
    return [2, *(tick for tick in powers if tick <= largest)]


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
    ticks = _ticks(comparison.n_records)
    k_axis(figure, comparison.n_records, ticks)
    for place, card in enumerate(CRITERIA.values()):
        where = {"row": place // _COLUMNS + 1, "col": place % _COLUMNS + 1}
        _lines(figure, comparison, card, where)
        figure.update_xaxes(range=_k_range(comparison), fixedrange=True, **where)
        figure.update_yaxes(fixedrange=True, **where)
        if card.unit == "%":
            figure.update_yaxes(range=[0, 103], dtick=25, ticksuffix=" ", **where)
        else:
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
        values = comparison.at(name, ks)[:, 0]
        panels.append(
            {
                "title": card.title,
                "numeral": f"{_NUMERALS[place]}{card.arrow[0]}",
                "percent": card.unit == "%",
                "x": x,
                "y": y,
                "range": figure.layout[_axis("yaxis", place)].range,
                "values": values.round(2).tolist(),
                # Rounded once: the place of a dot may be rough, a number may not.
                "shown": [
                    [f"{value:.1f}" if card.unit == "%" else thin(value) for value in one]
                    for one in values.tolist()
                ],
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
    """The finding at each k, in a sentence."""
    titles = [line.guide.card.title for line in comparison.lines]
    means = comparison.means()
    return [f"k = {thin(k)}: {_sentence(titles, means, k)}" for k in comparison.ks]


def _sentence(titles: list[str], found: Standing, k: int) -> str:
    """Who loses least and most on average, or between whom ties decide; equal is what looks so."""
    means = found.values.loc[k].to_numpy()
    if found.low is not None and found.high is not None and found.undecided is not None:
        is_open = found.undecided.loc[k].to_numpy()
        if is_open.any():
            low, high = (ends.loc[k].to_numpy()[is_open] for ends in (found.low, found.high))
            between = f"{low.min():.1f} to {high.max():.1f} % is lost on average"
            if is_open.all():
                return f"ties decide who loses least: {between}"
            names = [title for title, one in zip(titles, is_open, strict=True) if one]
            return f"ties decide between {_listed(names)}: {between}"
    shown = [f"{value:.1f}" for value in means]
    least, most = f"{means.min():.1f}", f"{means.max():.1f}"
    if len(titles) == 1:
        return f"guided by {titles[0]}, {least} % is lost on average"
    if least == most:
        return f"whichever metric guides, {least} % is lost on average"
    best, worst = (
        _listed([title for title, text in zip(titles, shown, strict=True) if text == end])
        for end in (least, most)
    )
    first = f"guided by {best} the least is lost, {least} % on average"
    # With bands, who is last may be a matter of ties too, and that was not asked.
    return first if found.undecided is not None else f"{first}; by {worst} the most, {most} %"


def _listed(names: list[str]) -> str:
    """Names as one says them; of many, the first two.

    >>> _listed(["A"]), _listed(["A", "B"]), _listed(["A", "B", "C", "D"])
    ('A', 'A and B', 'A, B and 2 more')
    """
    names = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _k_range(comparison: Comparison) -> list[float]:
    return [math.log10(1.8), math.log10(max(comparison.ks[-1], 3) * 1.15)]


def _axis(kind: str, place: int) -> str:
    return kind if place == 0 else f"{kind}{place + 1}"


def _domains(figure: go.Figure, place: int) -> tuple[list[float], list[float]]:
    """Where a panel stands, as shares of the width and of the height from below."""
    x = figure.layout[_axis("xaxis", place)].domain
    y = figure.layout[_axis("yaxis", place)].domain
    return list(x), list(y)
