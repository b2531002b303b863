"""The regions of Mondrian and the groups of MDAV, as rectangles."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from kanon.base.formatting import counted
from kanon.charts.figure import drawn
from kanon.charts.lesson_look import ONE, OTHER, QUIET, enlarged
from kanon.charts.style import INK, escaped, translucent
from kanon.teaching.cluster_steps import ClusterView
from kanon.teaching.cuts import Rectangle, Regions
from kanon.teaching.lesson import Step


def regions_in(step: Step) -> Regions | None:
    """The regions that a step of Mondrian shows, or the groups of MDAV; None of others."""
    shown = step.detail.regions if isinstance(step.detail, ClusterView) else step.detail
    return shown if isinstance(shown, Regions) else None


def regions_chart(
    step: Step,
    axes: tuple[int, int] | None = None,
    large: bool = False,
    settled: bool = False,
) -> go.Figure:
    """The regions after a step of Mondrian, or the groups of MDAV, as rectangles, records as dots.

    The region that is looked at has a thick rim, its parts are filled inside of it; a dot is as
    many records as its number says, one without a number. Of one quasi-identifier, a strip.

    Parameters
    ----------
    step
        A step with :class:`kanon.teaching.regions.Regions`.
    axes
        The quasi-identifiers across and upwards, as positions; by default that of the cut and the
        first other one.
    large
        Whether it is projected.
    settled
        Whether no region is looked at any more.

    Raises
    ------
    ValueError
        The step has neither regions nor groups, or both axes are one.
    """
    shown = regions_in(step)
    if shown is None:
        raise ValueError("this step has no regions")
    across = shown.attribute or 0
    others = [j for j in range(len(shown.axes)) if j != across]
    x, y = axes or (across, others[0] if others else None)
    if x == y:
        raise ValueError("two different axes are drawn")
    room = [_gap(shown, x), 1.0 if y is None else _gap(shown, y)]
    inner = {id(part) for part in shown.parts} if shown.attribute is not None else set()
    shapes = []
    colours = [ONE, OTHER]
    for region in shown.regions:
        if id(region) in inner:
            continue
        line = {"color": QUIET, "width": 1.5, "dash": "solid" if region.done else "dot"}
        shapes.append(_box(region, x, y, room, 0.34, line, "rgba(0, 0, 0, 0)"))
    if not settled:
        rim = {"color": INK, "width": 3}
        shapes.append(_box(shown.region, x, y, room, 0.42, rim, "rgba(0, 0, 0, 0)"))
    for place, part in enumerate(shown.parts if inner else ()):
        colour = colours[place % 2]
        line = {"color": colour, "width": 2, "dash": "solid" if place % 2 == 0 else "dash"}
        shapes.append(_box(part, x, y, room, 0.3, line, translucent(colour, 0.18)))
    what = "groups" if isinstance(step.detail, ClusterView) else "regions"
    title = f"The {what} that are released" if settled else escaped(step.heading, 90)
    if len(shown.axes) > 2:
        title += f"; two of {len(shown.axes)} columns"
    layout: dict[str, Any] = {
        "shapes": shapes, "hovermode": "closest", "dragmode": False,
        "margin": {"l": 84, "r": 24, "t": 52, "b": 64},
    }  # fmt: skip
    upwards: dict[str, Any] = {"visible": False, "range": [-1, 1]}
    if y is not None:
        upwards = _axis(shown, y)
    inside = range(step.recoding.classes.n_classes) if settled else shown.region.classes
    figure = drawn(
        [_dots(step, shown, inside, x, y)], title, 420, _axis(shown, x), upwards, **layout
    )
    return enlarged(figure) if large else figure


def _gap(shown: Regions, j: int) -> float:
    """The least distance of two values on an axis; rectangles are wider by a share of it."""
    places = [at for at, _ in shown.axes[j].marks]
    gaps = [high - low for low, high in pairwise(places)]
    span = places[-1] - places[0]
    return max(min(gaps), span / 30) if gaps else 1.0


def _box(
    region: Rectangle,
    x: int,
    y: int | None,
    room: Sequence[float],
    share: float,
    line: Mapping[str, Any],
    fill: str,
) -> dict[str, Any]:
    """A region as a rectangle, a little wider than its values."""
    low, high = (0.0, 0.0) if y is None else (region.low[y], region.high[y])
    return {
        "type": "rect", "layer": "below", "line": line, "fillcolor": fill,
        "x0": region.low[x] - share * room[0], "x1": region.high[x] + share * room[0],
        "y0": low - share * room[1], "y1": high + share * room[1],
    }  # fmt: skip


def _dots(
    step: Step, shown: Regions, inside: Collection[int], x: int, y: int | None
) -> dict[str, Any]:
    """The records: a dot per class, dark in the region that is looked at."""
    counts = step.recoding.classes.counts.tolist()
    names = [
        "<br>".join(
            f"{escaped(axis.attribute, 24)}: "
            f"{escaped(next(label for at, label in axis.marks if at == axis.at[each]))}"
            for axis in shown.axes
        )
        for each in range(len(counts))
    ]
    return {
        "type": "scatter", "mode": "markers+text", "name": "records",
        "x": list(shown.axes[x].at),
        "y": [0.0] * len(counts) if y is None else list(shown.axes[y].at),
        "marker": {
            "size": [11 + 5 * math.sqrt(count - 1) for count in counts],
            "color": [INK if each in inside else "#8A939C" for each in range(len(counts))],
        },
        "text": [str(count) if count > 1 else "" for count in counts],
        "textposition": "top center", "textfont": {"size": 13, "color": INK}, "cliponaxis": False,
        "hovertext": [
            f"{name}<br>{counted(count, 'record')}"
            for name, count in zip(names, counts, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }  # fmt: skip


def _axis(shown: Regions, j: int) -> dict[str, Any]:
    """An axis with the values of the table."""
    axis, room = shown.axes[j], _gap(shown, j)
    marks = axis.marks[:: max(1, math.ceil(len(axis.marks) / 14))]
    return {
        "title": escaped(axis.attribute), "showgrid": False, "fixedrange": True,
        "tickvals": [at for at, _ in marks], "ticktext": [escaped(label, 14) for _, label in marks],
        "range": [axis.marks[0][0] - 0.7 * room, axis.marks[-1][0] + 0.7 * room],
    }  # fmt: skip
