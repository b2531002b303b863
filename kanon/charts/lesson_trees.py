"""Trees of a lesson: where two classes meet, and where the values of the table stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import plotly.graph_objects as go

from kanon.base.formatting import counted
from kanon.charts.figure import drawn
from kanon.charts.lesson_look import EDGE, HALO, MET, ONE, OTHER, QUIET, enlarged, lines_between
from kanon.charts.style import INK, escaped
from kanon.hierarchy import Hierarchy
from kanon.teaching.lesson import ClassState, Lesson, Step, written

_WHOLE = 8
"""A hierarchy with more leaves is drawn as the paths of the values alone."""

_LOW = 3
"""Trees of no more levels are drawn side by side."""

_FEW = 6
"""So few lines stand further apart."""


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


def meeting_chart(
    lesson: Lesson, one: ClassState, other: ClassState, large: bool = False
) -> go.Figure:
    """A small tree per quasi-identifier: the values of two classes, and where they meet.

    The first value is a circle, the second a square, their lowest common group a diamond. Beside
    each edge that a value climbs stands what that costs one record. Of a hierarchy with more than
    eight leaves only the way of both values to the root is drawn.

    Parameters
    ----------
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
        ways = [(_way(tree, a, top), ONE, "solid"), (_way(tree, b, top), OTHER, "8px,3px")]
        marks = {top: _Mark("diamond", MET, 17)}
        if a != b:
            marks |= {a: _Mark("circle", ONE, 15), b: _Mark("square", OTHER, 14)}
        shown.append(_Shown(marks, ways))
    return _forest(lesson, title, shown, large)


def standing_chart(lesson: Lesson, step: Step, large: bool = False) -> go.Figure:
    """A small tree per quasi-identifier: the values that the table has after a step, as dots.

    A dot is as large as its records are many. Beside each edge stands what it costs one record to
    climb it. Ranges beside a tree are not drawn.

    Parameters
    ----------
    large
        Whether it is projected.
    """
    shown = []
    for j, records in enumerate(standing(step)):
        tree = lesson.task.classes.hierarchies[j]
        marks = {
            node: _Mark("circle", ONE, 10 + 2.5 * math.sqrt(count), count)
            for node, count in records.items()
        }
        shown.append(_Shown(marks, [(_edges(tree, marks), EDGE, "solid")]))
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
    return enlarged(figure) if large else figure


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
    data = [lines_between(others, at, EDGE, 1.5, "solid")]
    data += [
        lines_between(way, at, colour, 1.5 if colour == EDGE else 4, dash)
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
            "textfont": {"size": 14, "color": INK, "weight": 700, "shadow": HALO},
        }
    )  # fmt: skip
    plain = _Mark("circle-open", QUIET, 7)
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
            "textfont": {"size": 13, "color": INK, "shadow": HALO},
            "hovertext": [
                escaped(tree.labels[node])
                + ("" if look.records is None else f"<br>{counted(look.records, 'record')}")
                for node, look in zip(at, looks, strict=True)
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
    )  # fmt: skip
    return data


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
