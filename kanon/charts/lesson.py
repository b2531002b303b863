"""Pictures of a lesson: regions as rectangles, a merge in the trees, the lattice, its numbers.

Every picture is drawn large for a projector if asked for: then no text is smaller than 18 pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kanon.algorithms.lattice import Node, nodes_per_height
from kanon.charts.drawn import INK, drawn
from kanon.charts.lattice import DRAWN, edges_between
from kanon.charts.style import escaped, lay_out, translucent
from kanon.exploration import ranks
from kanon.hierarchy import Hierarchy
from kanon.lessons.cuts import Rectangle, Regions
from kanon.lessons.lesson import Held, Lesson, Step, written
from kanon.lessons.nodes import Look
from kanon.words import counted, percent, thin

__all__ = ["lattice_so_far", "meeting_chart", "merge_chart", "regions_chart", "running_chart"]

_ONE, _OTHER, _MET, _QUIET, _EDGE = "#0072B2", "#D55E00", "#332288", "#6B747D", "#C3CAD2"
_LARGE = 18
"""The smallest text of a picture that is projected, in pixels."""

_WHOLE = 16
"""A hierarchy with more leaves is drawn as the paths of the values alone."""

_NAMED = 40
"""The nodes of a larger lattice are not named."""


# --- Mondrian ---------------------------------------------------------------------------------
def regions_chart(
    step: Step, axes: tuple[int, int] | None = None, large: bool = False, height: int = 420
) -> go.Figure:
    """The regions after a step of Mondrian as rectangles, the records as dots.

    The region that is looked at has a thick rim, its parts are filled inside of it; a dot is as
    many records as its number says, one without a number. Of one quasi-identifier, a strip.

    Parameters
    ----------
    step
        A step with :class:`kanon.lessons.regions.Regions`.
    axes
        The quasi-identifiers across and upwards, as positions; by default that of the cut and the
        first other one.
    large
        Whether it is projected.
    height
        In pixels.

    Raises
    ------
    ValueError
        The step is none of Mondrian's, or both axes are one.
    """
    shown = step.detail
    if not isinstance(shown, Regions):
        raise ValueError("this step has no regions")
    across = shown.attribute or 0
    others = [j for j in range(len(shown.axes)) if j != across]
    x, y = axes or (across, others[0] if others else None)
    if x == y:
        raise ValueError("two different axes are drawn")
    room = [_gap(shown, x), 1.0 if y is None else _gap(shown, y)]
    inner = {id(part) for part in shown.parts} if shown.attribute is not None else set()
    shapes = []
    colours = [_ONE, _OTHER]
    for region in shown.regions:
        if id(region) in inner:
            continue
        line = {"color": _QUIET, "width": 1.5, "dash": "solid" if region.done else "dot"}
        shapes.append(_box(region, x, y, room, 0.34, line, "rgba(0, 0, 0, 0)"))
    shapes.append(
        _box(shown.region, x, y, room, 0.42, {"color": INK, "width": 3}, "rgba(0, 0, 0, 0)")
    )
    for place, part in enumerate(shown.parts if inner else ()):
        colour = colours[place % 2]
        line = {"color": colour, "width": 2, "dash": "solid" if place % 2 == 0 else "dash"}
        shapes.append(_box(part, x, y, room, 0.3, line, translucent(colour, 0.18)))
    title = escaped(step.heading, 90)
    if len(shown.axes) > 2:
        title += f"; two of {len(shown.axes)} columns"
    layout: dict[str, Any] = {
        "shapes": shapes, "hovermode": "closest", "dragmode": False,
        "margin": {"l": 84, "r": 24, "t": 52, "b": 64},
    }  # fmt: skip
    upwards: dict[str, Any] = {"visible": False, "range": [-1, 1]}
    if y is not None:
        upwards = _axis(shown, y)
    figure = drawn([_dots(step, shown, x, y)], title, height, _axis(shown, x), upwards, **layout)
    return _enlarged(figure) if large else figure


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


def _dots(step: Step, shown: Regions, x: int, y: int | None) -> dict[str, Any]:
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
    inside = set(shown.region.classes)
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


# --- a merge in the trees ---------------------------------------------------------------------
def merge_chart(lesson: Lesson, step: Step, large: bool = False) -> go.Figure:
    """The two that meet in a step, in the hierarchies: of a merge, or a cluster and what joins it.

    Parameters
    ----------
    lesson, step
        The lesson, and a step of it whose detail says who ``met``.
    large
        Whether it is projected.

    Raises
    ------
    ValueError
        Nobody meets in the step.
    """
    met = getattr(step.detail, "met", None)
    if met is None:
        raise ValueError("nobody meets in this step")
    one, other = met
    return meeting_chart(lesson, one, other, large)


def meeting_chart(lesson: Lesson, one: Held, other: Held, large: bool = False) -> go.Figure:
    """A small tree per quasi-identifier: the values of two classes, and where they meet.

    The first value is a circle, the second a square, their lowest common group a diamond. Beside
    each edge that a value climbs stands what that costs one record. Of a hierarchy with more than
    sixteen leaves only the way of both values to the root is drawn.

    Parameters
    ----------
    lesson
        The lesson.
    one, other
        Two classes of it.
    large
        Whether it is projected.
    """
    classes = lesson.task.classes
    m = len(classes.attributes)
    columns = min(m, 2 if large else 3)
    rows = math.ceil(m / columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[escaped(name, 30) for name in classes.attributes],
        horizontal_spacing=0.06,
        vertical_spacing=0.16 / rows,
    )
    title = f"Where do “{escaped(one.label)}” and “{escaped(other.label)}” meet?"
    lay_out(figure, title, 90 + rows * (330 if large else 250))
    for j, tree in enumerate(classes.hierarchies):
        where = {"row": j // columns + 1, "col": j % columns + 1}
        above = [(node, int(tree.parent[node])) for node in range(tree.root)]
        costs = {pair: lesson.paid(j, *pair) for pair in above}
        for trace in _tree(tree, one.nodes[j], other.nodes[j], costs):
            figure.add_trace(trace, **where)
    figure.update_xaxes(visible=False, fixedrange=True)
    figure.update_yaxes(visible=False, fixedrange=True)
    figure.update_layout(hovermode="closest", margin={"l": 24, "r": 24, "t": 84, "b": 24})
    return _enlarged(figure) if large else figure


def _tree(
    tree: Hierarchy, one: int, other: int, costs: Mapping[tuple[int, int], float]
) -> list[dict[str, Any]]:
    """A tree, the ways of both values to where they meet marked."""
    met = tree.lca(one, other)
    nodes = (
        set(range(tree.n_nodes))
        if tree.n_leaves <= _WHOLE
        else {*tree.path(one), *tree.path(other)}
    )
    at = _places(tree, nodes)
    pairs = [(low, high) for low, high in costs if low in nodes and high in nodes]
    paths = {
        name: list(pairwise(way))
        for name, way in (
            ("one", tree.path(one)[: tree.path(one).index(met) + 1]),
            ("other", tree.path(other)[: tree.path(other).index(met) + 1]),
        )
    }
    climbed = {*paths["one"], *paths["other"]}
    data = [_lines([pair for pair in pairs if pair not in climbed], at, _EDGE, 1.5, "solid")]
    data.append(_lines(paths["one"], at, _ONE, 4, "solid"))
    data.append(_lines(paths["other"], at, _OTHER, 4, "8px,3px"))
    shared = {"type": "scatter", "showlegend": False, "cliponaxis": False}
    middle = [((at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2) for a, b in sorted(climbed)]
    data.append(
        {
            **shared, "mode": "text", "name": "cost of an edge", "hoverinfo": "skip",
            "x": [each[0] for each in middle], "y": [each[1] for each in middle],
            "text": [f" {written(costs[pair])} " for pair in sorted(climbed)],
            "textposition": "middle right",
            "textfont": {"size": 14, "color": INK, "weight": 700,
                         "shadow": "0 0 3px white, 0 0 3px white"},
        }
    )  # fmt: skip
    looks = {
        met: ("diamond", _MET, 17), one: ("circle", _ONE, 15), other: ("square", _OTHER, 14)
    }  # fmt: skip
    if one == other:
        looks = {one: ("diamond", _MET, 17)}
    listed = sorted(nodes)
    few = len(nodes) <= 2 * _WHOLE
    data.append(
        {
            **shared, "mode": "markers+text", "name": "values",
            "x": [at[node][0] for node in listed], "y": [at[node][1] for node in listed],
            "marker": {
                "symbol": [looks.get(node, ("circle-open",))[0] for node in listed],
                "color": [looks.get(node, ("", _QUIET))[1] for node in listed],
                "size": [looks[node][2] if node in looks else 7 for node in listed],
            },
            "text": [
                escaped(tree.labels[node], 14) if few or node in looks else "" for node in listed
            ],
            "textposition": [
                "top center" if node >= tree.n_leaves else "bottom center" for node in listed
            ],
            "textfont": {"size": 13, "color": INK},
            "hovertext": [escaped(tree.labels[node]) for node in listed],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
    )  # fmt: skip
    return data


def _lines(
    pairs: Sequence[tuple[Any, Any]],
    at: Mapping[Any, tuple[float, float]],
    colour: str,
    width: float,
    dash: str,
) -> dict[str, Any]:
    x, y = ([each for a, b in pairs for each in (at[a][i], at[b][i], None)] for i in (0, 1))
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip",
        "showlegend": False, "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


def _places(tree: Hierarchy, nodes: set[int]) -> dict[int, tuple[float, float]]:
    """Where nodes stand: the lowest ones side by side, others over their middle, by level."""
    below: dict[int, list[int]] = {node: [] for node in nodes}
    for node in nodes:
        if node != tree.root:
            below[int(tree.parent[node])].append(node)
    across: dict[int, float] = {}
    for node in sorted(nodes, key=lambda each: (int(tree.first[each]), each)):
        if not below[node]:
            across[node] = float(len(across))
    for node in sorted(nodes):  # parents have larger numbers
        if below[node]:
            across[node] = sum(across[each] for each in below[node]) / len(below[node])
    return {node: (across[node], float(tree.level[node])) for node in nodes}


# --- the lattice ------------------------------------------------------------------------------
def lattice_so_far(lesson: Lesson, step: int, large: bool = False, height: int = 440) -> go.Figure:
    """The lattice as far as a search has come: looked at, known unseen, or not known yet.

    A full circle satisfies and a cross does not; a small one was not looked at, but concluded; an
    open circle is not known yet. A square marks the node of the step, a star the released one;
    the line is the walk, with the number of each step at it.

    Parameters
    ----------
    lesson
        A lesson of a search of the lattice.
    step
        The position of a step in it.
    large
        Whether it is projected.
    height
        In pixels.

    Raises
    ------
    ValueError
        Nothing was looked at up to that step.
    """
    looks = [each.detail for each in lesson.steps[: step + 1] if isinstance(each.detail, Look)]
    if not looks:
        raise ValueError("no node was looked at yet")
    trees = lesson.task.classes.hierarchies
    tops = tuple(int(tree.level[tree.root]) for tree in trees)
    known: dict[Node, tuple[bool, bool]] = {}
    for look in looks:
        known |= {node: (look.satisfies, False) for node in look.concluded if node not in known}
        known[look.node] = look.satisfies, True
    per_height = nodes_per_height(trees)
    size = sum(per_height)
    # Of a lattice with more nodes than can be told apart, those that were looked at.
    nodes = _every_node(tops) if size <= DRAWN else sorted(known)
    at: dict[Any, tuple[float, float]] = {
        node: (rank - (per_height[sum(node)] - 1) / 2, float(sum(node)))
        for node, rank in zip(nodes, ranks(tops, nodes), strict=True)
    }
    data = [
        _lines(edges_between(nodes), at, _EDGE, 1, "solid"),
        *_known_nodes(lesson, nodes, at, known),
    ]
    walk = looks[-1].walk
    if walk:
        data.append(_walk(walk, at))
    last = looks[-1]
    symbol = ("star", "#F0C808", 22) if last.released else ("square-open", INK, 28)
    data.append(
        {
            "type": "scatter", "mode": "markers", "hoverinfo": "skip",
            "name": "released" if last.released else "looked at now",
            "x": [at[last.node][0]], "y": [at[last.node][1]],
            "marker": {"symbol": symbol[0], "color": symbol[1], "size": symbol[2],
                       "line": {"color": INK, "width": 2}},
        }
    )  # fmt: skip
    seen = sum(looked_at for _, looked_at in known.values())
    title = f"{thin(seen)} of {thin(size)} nodes looked at, {thin(len(known))} known"
    half = max(per_height) / 2
    legend = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 13},
              "itemclick": False, "itemdoubleclick": False}  # fmt: skip
    figure = drawn(
        data, title, height,
        x={"visible": False, "range": [-half - 0.6, half + 0.6], "fixedrange": True},
        y={"title": "Height: the sum of the levels", "range": [-0.6, len(per_height) - 0.4],
           "dtick": max(1, round(len(per_height) / 12)), "fixedrange": True, "showgrid": False},
        hovermode="closest", showlegend=True, legend=legend, dragmode=False,
        margin={"l": 64, "r": 24, "t": 96, "b": 16},
    )  # fmt: skip
    return _enlarged(figure) if large else figure


def _every_node(tops: Node) -> list[Node]:
    found: list[Node] = [()]
    for top in tops:
        found = [(*node, level) for node in found for level in range(top + 1)]
    return found


def _known_nodes(
    lesson: Lesson,
    nodes: Sequence[Node],
    at: Mapping[Any, tuple[float, float]],
    known: Mapping[Node, tuple[bool, bool]],
) -> list[dict[str, Any]]:
    """The nodes by what is known of them, told by symbol and size and not by colour alone."""
    kinds = (
        (None, "not known yet", "circle-open", _QUIET, 11),
        ((False, True), "does not satisfy", "x", _OTHER, 14),
        ((False, False), "so does not either", "x-thin-open", _OTHER, 9),
        ((True, True), "satisfies", "circle", _ONE, 16),
        ((True, False), "so does this", "circle-dot", _ONE, 9),
    )
    names = lesson.task.classes.attributes
    data = []
    for state, name, symbol, colour, size in kinds:
        some = [node for node in nodes if known.get(node) == state]
        if not some:
            continue
        data.append(
            {
                "type": "scatter", "mode": "markers+text", "name": name,
                "x": [at[node][0] for node in some], "y": [at[node][1] for node in some],
                "marker": {"symbol": symbol, "color": colour, "size": size,
                           "line": {"color": colour, "width": 2}},
                "text": [
                    ", ".join(map(str, node)) if len(nodes) <= _NAMED else "" for node in some
                ],
                "textposition": "bottom center", "textfont": {"size": 12, "color": INK},
                "cliponaxis": False,
                "hovertext": [
                    "<br>".join(
                        f"{escaped(column, 24)} {level}"
                        for column, level in zip(names, node, strict=True)
                    )
                    for node in some
                ],
                "hovertemplate": f"%{{hovertext}}<br>{name}<extra></extra>",
            }
        )  # fmt: skip
    return data


def _walk(walk: Sequence[Node], at: Mapping[Any, tuple[float, float]]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+text", "name": "walk", "hoverinfo": "skip",
        "x": [at[node][0] for node in walk], "y": [at[node][1] for node in walk],
        "line": {"color": _MET, "width": 5}, "opacity": 0.75,
        "text": [f"{number} " for number in range(len(walk))], "textposition": "middle left",
        "textfont": {"size": 14, "color": _MET, "weight": 700}, "cliponaxis": False,
    }  # fmt: skip


# --- the running numbers ----------------------------------------------------------------------
def running_chart(lesson: Lesson, step: int | None = None, large: bool = False) -> go.Figure:
    """The minimum k, the alteration and, with a sensitive column, l and t after each step.

    Parameters
    ----------
    lesson
        The lesson.
    step
        The position of the step up to which they are drawn; None for all.
    large
        Whether it is projected.
    """
    steps = lesson.steps
    last = len(steps) - 1 if step is None else step
    now = steps[last].numbers
    rows: list[tuple[str, str, list[float | None]]] = [
        ("minimum k ↑", str(now.min_k), [each.numbers.min_k for each in steps]),
        ("alteration, % ↓", percent(now.alteration), [each.numbers.alteration for each in steps]),
    ]
    if lesson.sensitive is not None:
        rows += [
            ("entropy l ↑", written(now.l), [each.numbers.l for each in steps]),
            ("t, norm 1 ↓", written(now.t), [each.numbers.t for each in steps]),
        ]
    figure = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    title = f"After step {last}: minimum k {rows[0][1]}, alteration {rows[1][1]}"
    lay_out(figure, title, 110 + len(rows) * (150 if large else 100))
    for row, (name, said, values) in enumerate(rows, start=1):
        x = list(range(last + 1))
        figure.add_trace(
            {
                "type": "scatter", "mode": "lines", "x": x, "y": values[: last + 1],
                "name": name, "line": {"shape": "hv", "width": 3, "color": _ONE},
                "hovertemplate": f"step %{{x}}: %{{y:.3g}}<extra>{name}</extra>",
            },
            row=row, col=1,
        )  # fmt: skip
        figure.add_trace(
            {
                "type": "scatter", "mode": "markers+text", "x": [last], "y": [values[last]],
                "marker": {"size": 11, "color": _ONE}, "text": [f" {said}"], "name": name,
                "textposition": "top left", "cliponaxis": False, "hoverinfo": "skip",
                "textfont": {"size": 14, "color": INK, "weight": 700},
            },
            row=row, col=1,
        )  # fmt: skip
        most = max([value for value in values if value is not None], default=1) or 1
        figure.update_yaxes(
            title={"text": name, "font": {"size": 13}}, range=[0, 1.35 * most], nticks=4,
            row=row, col=1,
        )  # fmt: skip
    figure.update_xaxes(range=[-0.2, len(steps) - 0.8], fixedrange=True)
    figure.update_xaxes(title="step", nticks=min(len(steps), 12), row=len(rows), col=1)
    figure.update_yaxes(fixedrange=True)
    figure.update_layout(hovermode="closest", margin={"l": 84, "r": 40, "t": 52, "b": 52})
    return _enlarged(figure) if large else figure


def _enlarged(figure: go.Figure) -> go.Figure:
    """The same for a projector: no text is smaller than it can be read from the last row."""

    def grown(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                key: {**grown(each), "size": max(_LARGE, each.get("size", 0))}
                if key in ("font", "tickfont", "textfont") and isinstance(each, dict)
                else grown(each)
                for key, each in part.items()
            }
        return [grown(each) for each in part] if isinstance(part, list | tuple) else part

    found = grown(figure.to_plotly_json())
    margin = {side: 1.3 * room for side, room in found["layout"]["margin"].items()}
    found["layout"]["margin"] = margin
    found["layout"]["title"]["font"]["size"] = 24
    return go.Figure(found)
