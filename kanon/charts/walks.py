"""The walks of searches through a lattice, as they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon.algorithms.catalogue import short_title
from kanon.algorithms.lattice_size import Node
from kanon.charts.style import ALGORITHM_COLOURS, darkened
from kanon.experiments.exploration import Exploration, Walk


@dataclass(frozen=True)
class WalkLook:
    """How the walk of a search is drawn.

    Attributes
    ----------
    colour, dash, width
        Of its line; a wide one is seen under a narrow one where walks share a way.
    side
        Where the numbers of its steps stand, so that those of walks that meet stay apart.
    """

    colour: str
    dash: str
    width: float
    side: str


WALK_LOOKS: Mapping[str, WalkLook] = {
    "datafly": WalkLook(ALGORITHM_COLOURS["datafly"], "solid", 8, "middle left"),
    "samarati": WalkLook(ALGORITHM_COLOURS["samarati"], "2px,3px", 3, "top center"),
    "improved-greedy": WalkLook(ALGORITHM_COLOURS["improved-greedy"], "9px,5px", 3, "middle right"),
}
"""The same colour, dash and side for a search wherever its walk is drawn."""


HALO = "0 0 3px white, 0 0 3px white, 0 0 2px white"


def walk_traces(
    explored: Exploration,
    names: Sequence[str],
    step: int | None,
    at: Mapping[Node, tuple[float, float]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The walks as thick lines with a white rim, and the numbers of their steps."""
    rims: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for name in names:
        walk, look = explored.walk(name), WALK_LOOKS[name]
        nodes = [one.node for one in walk.until(step)]
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
        ink = darkened(look.colour)
        labels.append(
            {
                **line, "mode": "markers+text", "marker": {"size": 15, "opacity": 0},
                "text": _numbers(walk, nodes), "textposition": look.side, "cliponaxis": False,
                "textfont": {"size": 13, "color": ink, "weight": 700, "shadow": HALO},
                "unselected": {"textfont": {"color": ink}},
                "showlegend": False, "name": f"steps of {short_title(name)}",
            }
        )  # fmt: skip
    return rims + lines, labels


def _numbers(walk: Walk, nodes: Sequence[Node]) -> list[str]:
    """The number of each step; of a node that a walk stays at, both, at the first.

    >>> _numbers(Walk("samarati", False, (), 0, 0), [(1,), (0,), (0,)])
    ['1', '2, 3', '']
    """
    found: list[str] = []
    for place, node in enumerate(nodes):
        number = str(walk.first + place)
        if place and node == nodes[place - 1]:
            found[-1], number = f"{found[-1]}, {number}", ""
        found.append(number)
    return found
