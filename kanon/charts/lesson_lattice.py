"""The lattice as far as a search has come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import plotly.graph_objects as go

from kanon.algorithms.lattice_size import Node, count_nodes_per_height
from kanon.base.formatting import write_count
from kanon.charts.figure import build_figure
from kanon.charts.labels import (
    Anchor,
    Box,
    Label,
    LabelPlace,
    Scale,
    estimate_text_width,
    place_labels,
)
from kanon.charts.lattice import MOST_DRAWN_NODES, find_edges
from kanon.charts.lesson_look import (
    EDGE,
    HALO,
    MET,
    ONE,
    OTHER,
    PAGE,
    QUIET,
    Room,
    draw_lines_between,
    scale_letters,
)
from kanon.charts.style import INK, LABEL, STAR, add_opacity, escape_label
from kanon.experiments.exploration import rank_nodes
from kanon.teaching.lesson import Lesson
from kanon.teaching.nodes import NodeView, collect_known_nodes


def draw_lattice_so_far(lesson: Lesson, step: int, room: Room = PAGE) -> go.Figure:
    views = [past.detail for past in lesson.steps[: step + 1] if isinstance(past.detail, NodeView)]
    if not views:
        raise ValueError("no node has been counted yet")
    trees = lesson.task.classes.hierarchies
    tops = tuple(int(tree.level[tree.root]) for tree in trees)
    state_by_node = collect_known_nodes(views)
    per_height = count_nodes_per_height(trees)
    size = sum(per_height)
    # Of a lattice with more nodes than can be told apart, those that were looked at.
    all_nodes = product(*(range(top + 1) for top in tops))
    nodes = list(all_nodes) if size <= MOST_DRAWN_NODES else sorted(state_by_node)
    at: dict[Any, tuple[float, float]] = {
        node: (rank - (per_height[sum(node)] - 1) / 2, float(sum(node)))
        for node, rank in zip(nodes, rank_nodes(tops, nodes), strict=True)
    }
    last = views[-1]
    by_height = any(getattr(past.detail, "heights", None) for past in lesson.steps)
    scale, height, margin, legend = _plan_lattice_layout(
        room, max(per_height), len(per_height), by_height
    )
    steps, names = _place_labels(scale, room.letters, at, state_by_node, last)
    data = [
        draw_lines_between(find_edges(nodes), at, EDGE, 1, "solid"),
        _draw_lesson_walk(last.walk, at, steps, room.letters),
        *_draw_known_nodes(lesson, nodes, at, state_by_node, names, room.letters),
    ]
    symbol = ("star", STAR, 18) if last.released else ("square-open", INK, _MARK_SIZE)
    data.append(
        {
            "type": "scatter", "mode": "markers", "hoverinfo": "skip",
            "name": _RELEASED_NODE if last.released else _CURRENT_NODE,
            "x": [at[last.node][0]], "y": [at[last.node][1]],
            "marker": {"symbol": symbol[0], "color": symbol[1], "size": symbol[2],
                       "line": {"color": INK, "width": 2}},
        }
    )  # fmt: skip
    n_counted = sum(looked_at for _, looked_at in state_by_node.values())
    known = write_count(len(state_by_node))
    title = f"{write_count(n_counted)} of {write_count(size)} nodes counted, {known} known"
    interval = {} if last.heights is None else _draw_interval(last.heights, sum(last.node))
    legend |= {"font": LABEL, "itemclick": False, "itemdoubleclick": False,
               "itemsizing": "constant"}  # fmt: skip
    figure = build_figure(
        data, title, height,
        x={"visible": False, "range": scale.x, "fixedrange": True},
        y={"title": "Height: the sum of the levels", "range": scale.y,
           "dtick": max(1, round(len(per_height) / 12)), "fixedrange": True, "showgrid": False},
        hovermode="closest", showlegend=not room.height, legend=legend, dragmode=False,
        margin=margin, **interval,
    )  # fmt: skip
    columns = ", ".join(escape_label(name, 16) for name in lesson.task.classes.attributes)
    figure.add_annotation(
        text=f"Numbers at a node: the levels of {columns}", font=LABEL, showarrow=False,
        xref="paper", yref="paper", x=0, y=1, xanchor="left", yanchor="bottom", yshift=_OVER,
    )  # fmt: skip
    return scale_letters(figure, room)


def _plan_lattice_layout(
    room: Room, widest: int, rows: int, by_height: bool
) -> tuple[Scale, int, dict[str, float], dict[str, Any]]:
    """Where the lattice stands in the picture; below it the legend, on projectors beside others."""
    longest = max(estimate_text_width(meaning, room.letters) for meaning in _LEGEND) + 48
    left_margin, top = 4.2 * room.letters, 58 + _OVER
    right = 12 + (estimate_text_width(_ENDS, max(room.letters, 14)) if by_height else 0)
    legend: dict[str, Any] = {}
    if room.height:
        height, below = round(room.height), 10
    else:
        in_a_row = max(int((room.width - left_margin) // longest), 1)
        below = 20 + 22 * math.ceil(len(_LEGEND) / in_a_row)
        height = 420 + below
        legend = {"orientation": "h", "x": 0, "y": -8 / (height - top - below),
                  "yanchor": "top", "entrywidth": longest - 40,
                  "entrywidthmode": "pixels"}  # fmt: skip
    half = widest / 2 + 0.3
    box = Box(left_margin, top, room.width - right, height - below)
    margin = {"l": left_margin, "r": right, "t": top, "b": below}
    return Scale((-half, half), (-0.5, rows - 0.5), box), height, margin, legend


def _place_labels(
    scale: Scale,
    letters: int,
    at: Mapping[Any, tuple[float, float]],
    state_by_node: Mapping[Node, tuple[bool, bool]],
    last: NodeView,
) -> tuple[list[LabelPlace], dict[Node, LabelPlace]]:
    """Where the numbers of the walk and the names of nodes stand, the node of the step first."""
    where = {node: scale.convert_to_pixels(*point) for node, point in at.items()}
    clear = {node: _NODE_LOOKS[state_by_node.get(node)].size for node in at}
    dots = [
        Box(x - half, y - half, x + half, y + half)
        for node, (x, y) in where.items()
        for half in [(_MARK_SIZE if node == last.node else clear[node]) / 2 - 1]
    ]

    def create_node_label(node: Node) -> Label:
        anchors = [Anchor(*where[node], side, clear[node]) for side in _SIDES]
        return Label([",".join(map(str, node))], anchors)

    def create_step_label(place: int) -> Label:
        node = last.walk[place]
        return Label([str(place)], [Anchor(*where[node], side, 16) for side in _SIDES[::-1]])

    rest = sorted(
        (node for node in at if node != last.node),
        key=lambda node: (
            node not in last.walk,
            not state_by_node.get(node, (False, False))[1],
            node,
        ),
    )
    order = [last.node, *rest]
    n = len(last.walk)
    label_places = place_labels(
        [
            create_node_label(last.node),
            *map(create_step_label, reversed(range(n))),
            *map(create_node_label, rest),
        ],
        letters,
        Box(scale.box.left, scale.box.top - _OVER, scale.box.right, scale.box.bottom + _OVER),
        dots,
    )
    return label_places[n:0:-1], dict(
        zip(order, [label_places[0], *label_places[n + 1 :]], strict=True)
    )


class _NodeLook(NamedTuple):
    meaning: str
    symbol: str
    colour: str
    size: int
    sign: str  # what looks like the symbol in a line of text


_NODE_LOOKS: Mapping[tuple[bool, bool] | None, _NodeLook] = {
    None: _NodeLook("not known yet", "circle-open", QUIET, 11, "○"),
    (False, True): _NodeLook("fails", "x", OTHER, 14, "✖"),
    (False, False): _NodeLook("fails, not counted", "x-thin-open", OTHER, 9, "×"),
    (True, True): _NodeLook("meets requirements", "circle", ONE, 16, "●"),
    (True, False): _NodeLook("meets them, not counted", "circle-dot", ONE, 9, "•"),
}
"""By whether it satisfies and was counted: symbol and size differ too, not colour alone."""

_ENDS = "low, middle 10"
_CURRENT_NODE, _RELEASED_NODE = "current node", "released"
_LEGEND = [*(look.meaning for look in _NODE_LOOKS.values()), "walk", _CURRENT_NODE]
SIGNS = (
    *((look.sign, look.colour, look.meaning) for look in _NODE_LOOKS.values()),
    ("□", INK, _CURRENT_NODE),
    ("★", INK, _RELEASED_NODE),
)
"""The legend of the nodes as text, for projectors: sign, colour and meaning."""

_OVER = 8  # how far labels of the first and last row may go beyond the axes, in pixels
_MARK_SIZE = 20  # how large the mark of the step's node is

_SIDES = ("middle right", "middle left", "top right", "bottom right", "bottom left", "top left")


def _draw_known_nodes(
    lesson: Lesson,
    nodes: Sequence[Node],
    at: Mapping[Any, tuple[float, float]],
    state_by_node: Mapping[Node, tuple[bool, bool]],
    names: Mapping[Node, LabelPlace],
    letters: int,
) -> list[dict[str, Any]]:
    """The nodes by what is known of them; all kinds stand in the legend, so that it stays."""
    columns = lesson.task.classes.attributes
    data: list[dict[str, Any]] = []
    for state, look in _NODE_LOOKS.items():
        in_state = [node for node in nodes if state_by_node.get(node) == state]
        data.append(
            {
                "type": "scatter", "mode": "markers+text", "name": look.meaning,
                "x": [at[node][0] for node in in_state] or [None],
                "y": [at[node][1] for node in in_state] or [None],
                "marker": {"symbol": look.symbol, "color": look.colour, "size": look.size,
                           "line": {"color": look.colour, "width": 2}},
                "text": [names[node].text for node in in_state],
                "textposition": [names[node].anchor.side for node in in_state],
                "textfont": {"size": letters, "color": INK, "shadow": HALO},
                "cliponaxis": False,
                "hovertext": [
                    "<br>".join(
                        f"{escape_label(column, 24)} {level}"
                        for column, level in zip(columns, node, strict=True)
                    )
                    for node in in_state
                ],
                "hovertemplate": f"%{{hovertext}}<br>{look.meaning}<extra></extra>",
            }
        )  # fmt: skip
    return data


def _draw_lesson_walk(
    walk: Sequence[Node],
    at: Mapping[Any, tuple[float, float]],
    steps: Sequence[LabelPlace],
    letters: int,
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers+text", "name": "walk", "hoverinfo": "skip",
        "x": [at[node][0] for node in walk] or [None],
        "y": [at[node][1] for node in walk] or [None],
        "line": {"color": MET, "width": 5}, "marker": {"size": 16, "opacity": 0},
        "text": [step.text for step in steps],
        "textposition": [step.anchor.side for step in steps],
        "textfont": {"size": letters, "color": MET, "weight": 700, "shadow": HALO},
        "cliponaxis": False,
    }  # fmt: skip


def _draw_interval(heights: tuple[int, int], looked_at: int) -> dict[str, Any]:
    """The layout that draws an interval: a band over its heights, its ends and middle at the right.

    >>> found = _draw_interval((4, 7), 5)
    >>> [each["text"] for each in found["annotations"]]
    ['high 7', 'middle 5', 'low 4']
    >>> [each["text"] for each in _draw_interval((4, 4), 4)["annotations"]]
    ['low = high 4']
    """
    low, high = heights
    ends = {high: "high", looked_at: "middle", low: "low"}
    if low == high:
        ends = {low: "low = high"}
    elif looked_at == low:
        ends[low] = "low, middle"
    band = {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": low - 0.4, "y1": high + 0.4,
        "fillcolor": add_opacity(MET, 0.1), "line": {"color": MET, "width": 2}, "layer": "below",
    }  # fmt: skip
    return {
        "shapes": [band],
        "annotations": [
            {
                "xref": "paper", "x": 1, "xanchor": "left", "y": height, "yanchor": "middle",
                "text": f"{name} {height}", "showarrow": False, "font": {"size": 14, "color": MET},
            }
            for height, name in ends.items()
        ],
    }  # fmt: skip
