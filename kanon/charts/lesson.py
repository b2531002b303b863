"""Pictures of a lesson: regions as rectangles, a merge in the trees, the lattice, its numbers.

Every picture is drawn large for a projector if asked for: then no text is smaller than 18 pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import plotly.graph_objects as go

from kanon.algorithms.lattice import Node, nodes_per_height
from kanon.charts.drawn import INK, drawn
from kanon.charts.lattice import DRAWN, edges_between
from kanon.charts.style import escaped, translucent
from kanon.exploration import ranks
from kanon.hierarchy import Hierarchy
from kanon.lessons.cuts import Rectangle, Regions
from kanon.lessons.growing import Growing
from kanon.lessons.lesson import Held, Lesson, Step, written
from kanon.lessons.nodes import Look, known_by
from kanon.words import counted, percent, thin

__all__ = [
    "lattice_so_far",
    "meeting_chart",
    "merge_chart",
    "regions_chart",
    "regions_in",
    "running_chart",
    "standing",
    "standing_chart",
]

_ONE, _OTHER, _MET, _QUIET, _EDGE = "#0072B2", "#D55E00", "#332288", "#6B747D", "#C3CAD2"
_LARGE = 18
"""The smallest text of a picture that is projected, in pixels."""

_WHOLE = 8
"""A hierarchy with more leaves is drawn as the paths of the values alone."""

_LOW = 3
"""Trees of no more levels are drawn side by side."""

_FEW = 6
"""So few lines stand further apart."""

_HALO = "0 0 3px white, 0 0 3px white, 0 0 3px white"
"""What keeps letters readable where a line runs behind them."""

_NAMED = 40
"""The nodes of a larger lattice are not named."""


# --- Mondrian and MDAV ------------------------------------------------------------------------
def regions_in(step: Step) -> Regions | None:
    """The regions that a step of Mondrian shows, or the groups of MDAV; None of others."""
    shown = step.detail.regions if isinstance(step.detail, Growing) else step.detail
    return shown if isinstance(shown, Regions) else None


def regions_chart(
    step: Step,
    axes: tuple[int, int] | None = None,
    large: bool = False,
    height: int = 420,
    settled: bool = False,
) -> go.Figure:
    """The regions after a step of Mondrian, or the groups of MDAV, as rectangles, records as dots.

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
    colours = [_ONE, _OTHER]
    for region in shown.regions:
        if id(region) in inner:
            continue
        line = {"color": _QUIET, "width": 1.5, "dash": "solid" if region.done else "dot"}
        shapes.append(_box(region, x, y, room, 0.34, line, "rgba(0, 0, 0, 0)"))
    if not settled:
        rim = {"color": INK, "width": 3}
        shapes.append(_box(shown.region, x, y, room, 0.42, rim, "rgba(0, 0, 0, 0)"))
    for place, part in enumerate(shown.parts if inner else ()):
        colour = colours[place % 2]
        line = {"color": colour, "width": 2, "dash": "solid" if place % 2 == 0 else "dash"}
        shapes.append(_box(part, x, y, room, 0.3, line, translucent(colour, 0.18)))
    what = "groups" if isinstance(step.detail, Growing) else "regions"
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
        [_dots(step, shown, inside, x, y)], title, height, _axis(shown, x), upwards, **layout
    )
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
    eight leaves only the way of both values to the root is drawn.

    Parameters
    ----------
    lesson
        The lesson.
    one, other
        Two classes of it.
    large
        Whether it is projected.
    """
    met = [
        tree.lca(*pair)
        for tree, *pair in zip(lesson.task.classes.hierarchies, one.nodes, other.nodes, strict=True)
    ]
    title = f"Where do “{escaped(one.label, 20)}” and “{escaped(other.label, 20)}” meet?"
    shown = []
    for tree, a, b, top in zip(
        lesson.task.classes.hierarchies, one.nodes, other.nodes, met, strict=True
    ):
        ways = [(_way(tree, a, top), _ONE, "solid"), (_way(tree, b, top), _OTHER, "8px,3px")]
        marks = {top: _Mark("diamond", _MET, 17)}
        if a != b:
            marks |= {a: _Mark("circle", _ONE, 15), b: _Mark("square", _OTHER, 14)}
        shown.append(_Shown(marks, ways))
    return _forest(lesson, title, shown, large)


def standing_chart(lesson: Lesson, step: Step, large: bool = False) -> go.Figure:
    """A small tree per quasi-identifier: the values that the table has after a step, as dots.

    A dot is as large as its records are many. Beside each edge stands what it costs one record to
    climb it. Ranges beside a tree are not drawn.

    Parameters
    ----------
    lesson, step
        The lesson, and a step of it.
    large
        Whether it is projected.
    """
    shown = []
    for j, records in enumerate(standing(step)):
        tree = lesson.task.classes.hierarchies[j]
        marks = {
            node: _Mark("circle", _ONE, 10 + 2.5 * math.sqrt(count), count)
            for node, count in records.items()
        }
        shown.append(_Shown(marks, [(_edges(tree, marks), _EDGE, "solid")]))
    return _forest(lesson, "Where do the values of the table stand?", shown, large)


def standing(step: Step) -> list[dict[int, int]]:
    """Per quasi-identifier the nodes of its tree that the table has after a step, with records."""
    found = []
    recoding = step.recoding
    for tree, column in zip(recoding.classes.hierarchies, recoding.targets.T, strict=True):
        counts: dict[int, int] = {}
        for node, records, into in zip(
            column.tolist(), recoding.classes.counts.tolist(), recoding.assigned, strict=True
        ):
            if node <= tree.root and into >= 0:
                counts[node] = counts.get(node, 0) + records
        found.append(counts)
    return found


@dataclass(frozen=True)
class _Mark:
    """How a node of a tree looks; how many records stand there, where that is told."""

    symbol: str
    colour: str
    size: float
    records: int | None = None


@dataclass(frozen=True)
class _Shown:
    """What a tree shows: its marked nodes, and edges that are told what they cost."""

    marks: Mapping[int, _Mark]
    ways: Sequence[tuple[Sequence[tuple[int, int]], str, str]]


def _forest(lesson: Lesson, title: str, shown: Sequence[_Shown], large: bool) -> go.Figure:
    """A small tree per quasi-identifier: two side by side where all are low."""
    classes = lesson.task.classes
    m = len(classes.attributes)
    columns = 2 if m > 1 and all(tree.height <= _LOW for tree in classes.hierarchies) else 1
    places = [
        _places(tree, {tree.root, *chain(*_edges(tree, one.marks))})
        for tree, one in zip(classes.hierarchies, shown, strict=True)
    ]
    lines = [1 + round(max(-y for _, y in at.values())) for at in places]
    rows = [max(lines[start : start + columns]) for start in range(0, m, columns)]
    line, gap = (36, 70) if large else (26, 52)
    if sum(rows) <= _FEW:
        line += 16
    room = line * sum(rows) + gap * len(rows)
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    titles = []
    for j, (name, tree, one) in enumerate(
        zip(classes.attributes, classes.hierarchies, shown, strict=True)
    ):
        number, row, column = str(j + 1) if j else "", j // columns, j % columns
        top = float(tree.level[tree.root])
        upper = 1 - (line * sum(rows[:row]) + gap * (row + 0.6)) / room
        across = (0.0, 1.0) if columns == 1 else ((0.0, 0.44), (0.56, 1.0))[column]
        # Room for the labels of leaves on the right, of the root on the left.
        axes[f"xaxis{number}"] = {
            "domain": across, "range": [-0.25 * top, 1.45 * top],
            "anchor": f"y{number}", "visible": False, "fixedrange": True,
        }  # fmt: skip
        axes[f"yaxis{number}"] = {
            "domain": (max(upper - line * rows[row] / room, 0), upper),
            "range": [0.6 - rows[row], 0.6],
            "anchor": f"x{number}", "visible": False, "fixedrange": True,
        }  # fmt: skip
        titles.append(
            {"text": escaped(name, 30), "xref": "paper", "yref": "paper", "showarrow": False,
             "x": across[0], "xanchor": "left", "y": upper, "yanchor": "bottom",
             "font": {"size": 16, "color": INK}}
        )  # fmt: skip
        where = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        data += [
            {**trace, **where} for trace in _tree(tree, one, places[j], partial(lesson.paid, j))
        ]
    figure = drawn(
        data, title, 60 + room, axes.pop("xaxis"), axes.pop("yaxis"), **axes,
        annotations=titles, hovermode="closest", margin={"l": 8, "r": 8, "t": 52, "b": 8},
    )  # fmt: skip
    return _enlarged(figure) if large else figure


def _way(tree: Hierarchy, low: int, high: int) -> list[tuple[int, int]]:
    """The edges from a node up to another."""
    path = tree.path(low)
    return list(pairwise(path[: path.index(high) + 1]))


def _edges(tree: Hierarchy, marked: Collection[int]) -> list[tuple[int, int]]:
    """The edges of a tree that are drawn: all of a small one, else the ways to the root."""
    if tree.n_leaves <= _WHOLE:
        return [(node, int(tree.parent[node])) for node in range(tree.root)]
    return sorted({edge for node in marked for edge in _way(tree, node, tree.root)})


def _tree(
    tree: Hierarchy,
    shown: _Shown,
    at: Mapping[int, tuple[float, float]],
    paid: Callable[[int, int], float],
) -> list[dict[str, Any]]:
    """A tree with its marks, and the cost beside each edge of its ways."""
    told = sorted({pair for way, _, _ in shown.ways for pair in way})
    others = [pair for pair in _edges(tree, shown.marks) if pair not in told]
    data = [_lines(others, at, _EDGE, 1.5, "solid")]
    data += [
        _lines(way, at, colour, 1.5 if colour == _EDGE else 4, dash)
        for way, colour, dash in shown.ways
    ]
    shared = {"type": "scatter", "showlegend": False, "cliponaxis": False}
    # Beside a leaf, where edges that meet above are apart; else half-way, clear of both labels.
    near = [(at[low], at[high], 0.65 if low < tree.n_leaves else 0.5) for low, high in told]
    beside = [(x * a + u * (1 - a), y * a + v * (1 - a)) for (x, y), (u, v), a in near]
    data.append(
        {
            **shared, "mode": "text", "name": "cost of an edge", "hoverinfo": "skip",
            "x": [each[0] for each in beside], "y": [each[1] for each in beside],
            "text": [written(paid(*pair)) for pair in told],
            "textfont": {"size": 14, "color": INK, "weight": 700, "shadow": _HALO},
        }
    )  # fmt: skip
    plain = _Mark("circle-open", _QUIET, 7)
    looks = [shown.marks.get(node, plain) for node in at]
    data.append(
        {
            **shared, "mode": "markers+text", "name": "values",
            "x": [x for x, _ in at.values()], "y": [y for _, y in at.values()],
            "marker": {
                "symbol": [look.symbol for look in looks],
                "color": [look.colour for look in looks],
                "size": [look.size for look in looks],
                "opacity": 1,
            },
            "text": [escaped(tree.labels[node], 16) for node in at],
            "textposition": [
                "top center" if node >= tree.n_leaves else "middle right" for node in at
            ],
            "textfont": {"size": 13, "color": INK, "shadow": _HALO},
            "hovertext": [
                escaped(tree.labels[node])
                + ("" if look.records is None else f"<br>{counted(look.records, 'record')}")
                for node, look in zip(at, looks, strict=True)
            ],
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
    """Where nodes stand, the root on the left: the lowest ones in lines of their own, others over
    their middle, by level."""
    below: dict[int, list[int]] = {node: [] for node in sorted(nodes)}
    for node in sorted(nodes - {tree.root}):
        below[int(tree.parent[node])].append(node)
    down: dict[int, float] = {}
    for node in sorted(nodes, key=lambda each: (int(tree.first[each]), each)):
        if not below[node]:
            down[node] = -float(len(down))
    for node in sorted(nodes):  # parents have larger numbers
        if below[node]:
            down[node] = sum(down[each] for each in below[node]) / len(below[node])
    top = int(tree.level[tree.root])
    return {node: (float(top - tree.level[node]), down[node]) for node in below}


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
    known = known_by(looks)
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
        *([_walk(looks[-1].walk, at)] if looks[-1].walk else []),
        *_known_nodes(lesson, nodes, at, known),
    ]
    last = looks[-1]
    symbol = ("star", "#F0C808", 22) if last.released else ("square-open", INK, 24)
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
    legend = {"orientation": "h", "x": 0, "y": -0.02, "yanchor": "top",
              "font": {"size": 13, "color": INK},
              "itemclick": False, "itemdoubleclick": False}  # fmt: skip
    figure = drawn(
        data, title, height,
        x={"visible": False, "range": [-half - 0.6, half + 0.6], "fixedrange": True},
        y={"title": "Height: the sum of the levels", "range": [-0.6, len(per_height) - 0.4],
           "dtick": max(1, round(len(per_height) / 12)), "fixedrange": True, "showgrid": False},
        hovermode="closest", showlegend=True, legend=legend, dragmode=False,
        margin={"l": 64, "r": 24, "t": 52, "b": 64},
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
                    ', '.join(map(str, node)) if len(nodes) <= _NAMED else ""
                    for node in some
                ],
                "textposition": "middle right",
                "textfont": {"size": 12, "color": INK, "shadow": _HALO},
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
        "type": "scatter", "mode": "lines+markers+text", "name": "walk", "hoverinfo": "skip",
        "x": [at[node][0] for node in walk], "y": [at[node][1] for node in walk],
        "line": {"color": _MET, "width": 5}, "marker": {"size": 16, "opacity": 0},
        "text": [f"{number} " for number in range(len(walk))], "textposition": "top left",
        "textfont": {"size": 14, "color": _MET, "weight": 700, "shadow": _HALO},
        "cliponaxis": False,
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
    title = f"After step {last}: minimum k {rows[0][1]}, alteration {rows[1][1]}"
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    for row, (name, said, values) in enumerate(rows):
        number = str(row + 1) if row else ""
        shared = {"type": "scatter", "name": name, "xaxis": "x", "yaxis": f"y{number}"}
        data.append(
            {
                **shared, "mode": "lines", "x": list(range(last + 1)), "y": values[: last + 1],
                "line": {"shape": "hv", "width": 3, "color": _ONE},
                "hovertemplate": f"step %{{x}}: %{{y:.3g}}<extra>{name}</extra>",
            }
        )  # fmt: skip
        data.append(
            {
                **shared, "mode": "markers+text", "x": [last], "y": [values[last]],
                "marker": {"size": 11, "color": _ONE}, "text": [f" {said}"],
                "textposition": "middle right", "cliponaxis": False, "hoverinfo": "skip",
                "textfont": {"size": 14, "color": INK, "weight": 700, "shadow": _HALO},
            }
        )  # fmt: skip
        most = max([value for value in values if value is not None], default=1) or 1
        upper = 1 - row / len(rows)
        axes[f"yaxis{number}"] = {
            "title": name, "range": [0, 1.35 * most], "nticks": 4, "fixedrange": True,
            "domain": (upper - 0.8 / len(rows), upper),
        }  # fmt: skip
    across = {
        # Room for what is said right of the last step.
        "title": "step", "range": [-0.2, 1.15 * (len(steps) - 1) + 0.2], "fixedrange": True,
        "tickvals": list(range(0, len(steps), math.ceil(len(steps) / 12))),
        "anchor": f"y{len(rows)}",
    }  # fmt: skip
    cursor = {
        "type": "line", "xref": "x", "yref": "paper", "x0": last, "x1": last, "y0": 0, "y1": 1,
        "line": {"color": _QUIET, "width": 1, "dash": "dot"},
    }  # fmt: skip
    figure = drawn(
        data, title, 110 + len(rows) * (150 if large else 100), across, axes.pop("yaxis"), **axes,
        shapes=[cursor], hovermode="closest", margin={"l": 84, "r": 40, "t": 52, "b": 52},
    )  # fmt: skip
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
