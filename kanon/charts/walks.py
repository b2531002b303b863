"""The walks of searches through a lattice, as they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node
from kanon.charts.labels import Box
from kanon.charts.style import ALGORITHM_COLOURS, get_text_colour
from kanon.experiments.exploration import Exploration, Walk


@dataclass(frozen=True)
class WalkLook:
    # of its line
    colour: str
    dash: str
    width: float
    side: str  # where the numbers of its steps stand, so that those of walks that meet stay apart


WALK_LOOKS: Mapping[str, WalkLook] = {
    "datafly": WalkLook(ALGORITHM_COLOURS["datafly"], "solid", 8, "middle left"),
    "samarati": WalkLook(ALGORITHM_COLOURS["samarati"], "2px,3px", 3, "top center"),
    "improved-greedy": WalkLook(ALGORITHM_COLOURS["improved-greedy"], "9px,5px", 3, "middle right"),
}
"""The same colour, dash and side for a search wherever its walk is drawn."""

HALO = "0 0 3px white, 0 0 3px white, 0 0 2px white"

_SIDES = (
    *("middle left", "middle right", "top center", "bottom center"),
    *("top left", "top right", "bottom left", "bottom right"),
)
_DIGIT, _LINE, _NODE = 8, 16, 15  # pixels: a digit's width, its height, what a number stands beside


def draw_walks(
    exploration: Exploration,
    names: Sequence[str],
    step: int | None,
    at: Mapping[Node, tuple[float, float]],
    scale: tuple[float, float],
    mark_sizes: Mapping[Node, float],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rims: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    marks = [
        _get_node_box(at[node], scale, size / 2) for node, size in mark_sizes.items() if node in at
    ]
    number_boxes: list[Box] = []
    for name in names:
        walk, look = exploration.walk(name), WALK_LOOKS[name]
        nodes = [walk_step.node for walk_step in walk.get_steps_until(step)]
        if not nodes:
            continue
        line = {
            "type": "scatter", "x": [at[node][0] for node in nodes],
            "y": [at[node][1] for node in nodes], "hoverinfo": "skip",
        }  # fmt: skip
        rim = {"color": "rgba(255, 255, 255, 0.85)", "width": look.width + 4}
        rims.append({**line, "mode": "lines", "line": rim, "showlegend": False})
        lines.append(
            {
                **line, "mode": "lines+markers", "name": short_title(name),
                "line": {"color": look.colour, "width": look.width, "dash": look.dash},
                "marker": {"size": 5 + look.width / 2, "color": "white",
                           "line": {"color": look.colour, "width": 2.5}},
                "unselected": {"marker": {"opacity": 1}},
            }
        )  # fmt: skip
        ink, numbers, sides = get_text_colour(look.colour), _number_steps(walk, nodes), []
        sizes = [mark_sizes.get(node, _NODE) for node in nodes]
        for place, (node, size) in enumerate(zip(nodes, sizes, strict=True)):
            boxes = _list_number_boxes(
                _get_node_box(at[node], scale, size / 2), len(numbers[place])
            )
            side = _find_free_side(boxes, look.side, number_boxes, marks)
            sides.append(side or look.side)
            if side is None:
                numbers[place] = ""  # rather than over another one
            elif numbers[place]:
                number_boxes.append(boxes[side])
        labels.append(
            {
                **line, "mode": "markers+text", "marker": {"size": sizes, "opacity": 0},
                "text": numbers, "textposition": sides, "cliponaxis": False,
                "textfont": {"size": 13, "color": ink, "weight": 700, "shadow": HALO},
                "unselected": {"textfont": {"color": ink}},
                "showlegend": False, "name": f"steps of {short_title(name)}",
            }
        )  # fmt: skip
    return rims + lines, labels


def _get_node_box(place: tuple[float, float], scale: tuple[float, float], reach: float) -> Box:
    x, y = (value * by for value, by in zip(place, scale, strict=True))
    return Box(x - reach, y - reach, x + reach, y + reach)  # from below: its top is the lower end


def _list_number_boxes(node: Box, digits: int) -> dict[str, Box]:
    start, bottom, end, top = node  # as of `_get_node_box`
    width = _DIGIT * digits
    across = {"left": start - width, "center": (start + end - width) / 2, "right": end}
    up = {"bottom": bottom - _LINE, "middle": (bottom + top - _LINE) / 2, "top": top}
    return {
        side: Box(x := across[side.split()[1]], y := up[side.split()[0]], x + width, y + _LINE)
        for side in _SIDES
    }


def _find_free_side(
    boxes: Mapping[str, Box], preferred: str, number_boxes: Sequence[Box], marks: Sequence[Box]
) -> str | None:
    sides = sorted(_SIDES, key=lambda side: side != preferred)
    for others in ([*number_boxes, *marks], number_boxes):
        for side in sides:
            if not any(boxes[side].has_overlap(other) for other in others):
                return side
    return None


def _number_steps(walk: Walk, nodes: Sequence[Node]) -> list[str]:
    """The number of each step; of a node that a walk stays at, both, at the first.

    >>> _number_steps(Walk("samarati", False, (), 0, 0), [(1,), (0,), (0,)])
    ['1', '2, 3', '']
    """
    texts: list[str] = []
    for place, node in enumerate(nodes):
        number = str(walk.first + place)
        if place and node == nodes[place - 1]:
            texts[-1], number = f"{texts[-1]}, {number}", ""
        texts.append(number)
    return texts
