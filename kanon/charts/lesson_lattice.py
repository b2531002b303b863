"""The lattice as far as a search has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from kanon.algorithms.lattice_size import Node, nodes_per_height
from kanon.base.formatting import thin
from kanon.charts.figure import drawn
from kanon.charts.lattice import DRAWN, edges_between
from kanon.charts.lesson_heights import interval_of
from kanon.charts.lesson_look import EDGE, HALO, MET, ONE, OTHER, QUIET, enlarged, lines_between
from kanon.charts.style import INK, escaped
from kanon.experiments.exploration import ranks
from kanon.teaching.lesson import Lesson
from kanon.teaching.nodes import NodeView, known_by

_NAMED = 40
"""The nodes of a larger lattice are not named."""


def lattice_so_far(lesson: Lesson, step: int, large: bool = False) -> go.Figure:
    """The lattice as far as a search has come: looked at, known unseen, or not known yet.

    A full circle satisfies and a cross does not; a small one was not counted, but concluded; an
    open circle is not known yet. A square marks the node of the step, a star the released one;
    the line is the walk, with the number of each step at it. Of a search by height, a band shows
    between which heights it looks.

    Parameters
    ----------
    lesson
        A lesson of a search of the lattice.
    large
        Whether it is projected.

    Raises
    ------
    ValueError
        Nothing was looked at up to that step.
    """
    looks = [each.detail for each in lesson.steps[: step + 1] if isinstance(each.detail, NodeView)]
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
        lines_between(edges_between(nodes), at, EDGE, 1, "solid"),
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
    title = f"{thin(seen)} of {thin(size)} nodes counted, {thin(len(known))} known"
    interval = {} if last.heights is None else interval_of(last.heights, sum(last.node))
    half = max(per_height) / 2
    legend = {"orientation": "h", "x": 0, "y": -0.02, "yanchor": "top",
              "font": {"size": 13, "color": INK},
              "itemclick": False, "itemdoubleclick": False}  # fmt: skip
    figure = drawn(
        data, title, 440,
        x={"visible": False, "range": [-half - 0.6, half + 0.6], "fixedrange": True},
        y={"title": "Height: the sum of the levels", "range": [-0.6, len(per_height) - 0.4],
           "dtick": max(1, round(len(per_height) / 12)), "fixedrange": True, "showgrid": False},
        hovermode="closest", showlegend=True, legend=legend, dragmode=False,
        margin={"l": 64, "r": 96 if interval else 24, "t": 52, "b": 64}, **interval,
    )  # fmt: skip
    return enlarged(figure) if large else figure


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
        (None, "not known yet", "circle-open", QUIET, 11),
        ((False, True), "does not satisfy", "x", OTHER, 14),
        ((False, False), "so does not either", "x-thin-open", OTHER, 9),
        ((True, True), "satisfies", "circle", ONE, 16),
        ((True, False), "so does this", "circle-dot", ONE, 9),
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
                "textfont": {"size": 12, "color": INK, "shadow": HALO},
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
        "line": {"color": MET, "width": 5}, "marker": {"size": 16, "opacity": 0},
        "text": [f"{number} " for number in range(len(walk))], "textposition": "top left",
        "textfont": {"size": 14, "color": MET, "weight": 700, "shadow": HALO},
        "cliponaxis": False,
    }  # fmt: skip
