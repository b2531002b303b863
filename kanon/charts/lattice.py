"""The lattice of full-domain generalisations: nodes and edges, what they amount to, the walks.

A node stands at the height that is the sum of its levels, beside those of its height in canonical
order. A large lattice is drawn as bars, one per height, as wide as it has nodes; walks stand at the
same places in both.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.algorithms.lattice_size import Node
from kanon.base.formatting import counted, percent, thin
from kanon.charts.figure import drawn
from kanon.charts.lesson_look import lines_between
from kanon.charts.style import INK, SCALE, STAR, escaped
from kanon.charts.walks import HALO, WALK_LOOKS, walk_traces
from kanon.experiments.exploration import Assessment, Exploration, ranks

DRAWN = 2_000  # the largest lattice that is drawn with all its nodes and edges

Colouring = Literal["loss", "reached", "satisfying"]

COLOURINGS: Mapping[Colouring, str] = {
    "loss": "Loss",
    "reached": "k reached",
    "satisfying": "Satisfying or not",
}
"""What the colour of a node may say."""


_EDGE, _BAR, _YES, _NO = "rgba(27, 31, 36, 0.16)", "#C3CAD2", "#332288", "#8A939C"
_EDGE_OF_FEW = "rgba(27, 31, 36, 0.35)"
_QUIET = "#4A525A"
_RING = "#CC3399"
_WIDE = 900.0  # pixels of the drawing on a page, about
_NARROW, _HIGH = 520, 460  # pixels: the width in a window of 1024, the height of a lattice
_ABOVE = 104  # pixels: the title, and three lines of legend in a narrow window


def lattice_chart(
    explored: Exploration,
    colouring: Colouring = "loss",
    walks: Sequence[str] = tuple(WALK_LOOKS),
    step: int | None = None,
    chosen: Node | None = None,
) -> go.Figure:
    """Every node and edge of a lattice, and the walks of searches."""
    found = explored.assessed
    nodes = _tuples(found)
    x, y = _places(explored, nodes)
    at = dict(zip(nodes, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    widest = max(explored.per_height)
    size = float(np.clip(0.8 * _WIDE / widest, 5, 13))
    pairs = edges_between(nodes)
    few = len(pairs) < 400
    edges = _path(pairs, at, _EDGE_OF_FEW if few else _EDGE, 1 if few else 0.6)
    data = _nodes(explored, found, x, y, colouring, size)
    data += [
        _rings(explored.minimal, at, size),
        *_walks_and_marks(explored, walks, step, at, size, chosen),
    ]
    return _finished(data, explored, _finding(explored), colouring, _HIGH, edges)


def heights_chart(
    explored: Exploration,
    walks: Sequence[str] = tuple(WALK_LOOKS),
    step: int | None = None,
    chosen: Node | None = None,
) -> go.Figure:
    """A large lattice as a bar per height, as wide as it has nodes, and the walks in it."""
    counts, satisfying = np.array(explored.per_height, float), explored.satisfying_per_height
    marker: dict[str, Any] = {"color": _BAR}
    if satisfying is not None:
        shares = 100 * np.array(satisfying) / counts
        marker = {"color": shares, "coloraxis": "coloraxis"}
    bars = {
        "type": "bar", "orientation": "h", "y": np.arange(len(counts)), "x": counts,
        "base": -counts / 2, "marker": marker, "width": 0.86, "hoverinfo": "text",
        "hovertext": [f"height {h}: {said}" for h, said in enumerate(_said_per_height(explored))],
        "showlegend": False,
    }  # fmt: skip
    wanted = {s.node for name in walks for s in explored.walk(name).until(step)}
    wanted |= {node for node in (chosen, explored.least) if node is not None}
    listed = sorted(wanted)
    x, y = _places(explored, listed)
    at = dict(zip(listed, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    data = [bars, *_walks_and_marks(explored, walks, step, at, 9, chosen)]
    figure = _finished(data, explored, _finding(explored), None, _HIGH)
    figure.update_layout(
        coloraxis={
            "colorscale": [[0, "#DDE2E7"], [0.001, "#D5EDE4"], [1, "#00664B"]],
            "cmin": 0, "cmax": 100, "colorbar": _bar("Nodes that satisfy, %"),
        }
    )  # fmt: skip
    return figure


def neighbourhood_chart(
    explored: Exploration,
    found: Assessment,
    chosen: Node,
    colouring: Colouring = "loss",
) -> go.Figure:
    """The nodes straight above and below one node, with what the first step raises or lowers."""
    nodes = _tuples(found)
    heights = found.heights
    x = np.zeros(len(nodes))
    for level in np.unique(heights):
        row = heights == level
        x[row] = (np.arange(row.sum()) - (row.sum() - 1) / 2) / row.sum()
    at = dict(zip(nodes, zip(x.tolist(), heights.tolist(), strict=True), strict=True))
    edges = _path(edges_between(nodes), at, _EDGE_OF_FEW, 1)
    data = _nodes(explored, found, x, heights, colouring, 13)
    data += _marks(explored, at, 13, chosen)
    beside = [node for node in nodes if abs(sum(node) - sum(chosen)) == 1]
    data.append(
        {
            "type": "scatter", "mode": "markers+text", "hoverinfo": "skip", "showlegend": False,
            "marker": {"size": 20, "opacity": 0},
            "x": [at[node][0] for node in beside], "y": [at[node][1] for node in beside],
            "text": [_moved(explored, chosen, node) for node in beside], "cliponaxis": False,
            "textposition": [
                "top center" if sum(node) > sum(chosen) else "bottom center" for node in beside
            ],
            "textfont": {"size": 12, "color": INK, "shadow": HALO},
            "unselected": {"textfont": {"color": INK}},
        }
    )  # fmt: skip
    title = "Around the chosen node: what one step up raises, what one step down lowers"
    figure = _finished(data, explored, title, colouring, 420, edges)
    ends = [int(heights.min()), int(heights.max())]
    figure.update_xaxes(range=[-0.56, 0.56])
    figure.update_yaxes(range=[ends[0] - 0.6, ends[1] + 0.6], dtick=1)
    return figure


def edges_between(nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    """The edges among some nodes: from each to those that raise one column by one level.

    >>> edges_between([(0, 0), (0, 1), (1, 1)])
    [((0, 0), (0, 1)), ((0, 1), (1, 1))]
    """
    known = set(nodes)
    raised = (
        (node, (*node[:j], node[j] + 1, *node[j + 1 :])) for node in nodes for j in range(len(node))
    )
    return [(low, high) for low, high in raised if high in known]


def lattice_table(explored: Exploration, found: Assessment | None = None) -> pd.DataFrame:
    """The numbers behind the picture: a row per node that was counted."""
    found = explored.assessed if found is None else found
    nodes = _tuples(found)
    minimal = set(explored.minimal)
    table = pd.DataFrame(
        {f"level_{name}": found.nodes[:, j] for j, name in enumerate(explored.attributes)}
    )
    table["height"] = found.heights
    table["satisfies"] = found.satisfying
    table["k_reached"] = found.reached
    table["classes"] = found.classes
    table["suppressed"] = found.suppressed
    table["loss_percent"] = found.loss
    table["loss_suppressed_percent"] = found.loss_suppressed
    if explored.complete:
        table["minimal"] = [node in minimal for node in nodes]
    table["least_loss"] = [node == explored.least for node in nodes]
    for walk in explored.walks:
        steps = {step.node: walk.first + place for place, step in enumerate(walk.steps)}
        numbers = [steps.get(node) for node in nodes]
        table[f"step_{walk.algorithm}"] = pd.array(numbers, dtype="Int64")
    return table


def heights_table(explored: Exploration) -> pd.DataFrame:
    """The numbers behind the bars: per height how many nodes there are, and how many satisfy."""
    table = pd.DataFrame(
        {"height": range(len(explored.per_height)), "nodes": list(explored.per_height)}
    )
    if explored.satisfying_per_height is not None:
        table["satisfying"] = list(explored.satisfying_per_height)
    return table


# --- what is drawn --------------------------------------------------------------------------
def _tuples(found: Assessment) -> list[Node]:
    return [tuple(node) for node in found.nodes.tolist()]


def _places(explored: Exploration, nodes: Sequence[Node]) -> tuple[np.ndarray, np.ndarray]:
    """Where nodes stand: across by their rank, the middle at 0; up by their height."""
    heights = [sum(node) for node in nodes]
    across = [
        rank - (explored.per_height[height] - 1) / 2
        for rank, height in zip(ranks(explored.tops, nodes), heights, strict=True)
    ]
    return np.array(across, dtype=float), np.array(heights, dtype=float)


def _path(
    pairs: Sequence[tuple[Node, Node]],
    at: Mapping[Node, tuple[float, float]],
    colour: str,
    width: float,
) -> dict[str, Any]:
    """Many edges as one path below all else.

    A line with gaps would become an element per edge in the browser: three times as slow.
    """
    lines = (
        f"M{at[low][0]:g},{at[low][1]:g}L{at[high][0]:g},{at[high][1]:g}" for low, high in pairs
    )
    line = {"color": colour, "width": width}
    return {"type": "path", "path": "".join(lines), "layer": "below", "line": line, "name": "edges"}


def _nodes(
    explored: Exploration,
    found: Assessment,
    x: np.ndarray,
    y: np.ndarray,
    colouring: Colouring,
    size: float,
) -> list[dict[str, Any]]:
    """The nodes: circles satisfy, crosses do not."""
    hovers = np.array(_hovers(explored, found), dtype=object)
    # As text: of an array, a browser would tell Streamlit's selection something else.
    keys = np.array([" ".join(map(str, node)) for node in found.nodes.tolist()], dtype=object)
    kinds = (
        (~found.satisfying, "does not satisfy", "x", 0.8 * size, _NO),
        (found.satisfying, "satisfies", "circle", size, _YES),
    )
    reached = np.log10(np.maximum(found.reached, 1))
    colours = found.loss if colouring == "loss" else reached
    data = []
    for chosen, name, symbol, wide, plain in kinds:
        # The lightest colours of a scale are seen by their rims.
        rim = {"width": 1 if symbol == "circle" else 0.6, "color": INK}
        marker: dict[str, Any] = {"symbol": symbol, "size": wide, "line": rim}
        if colouring == "satisfying":
            marker["color"] = plain
        else:
            marker["color"], marker["coloraxis"] = colours[chosen], "coloraxis"
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name, "marker": marker,
                "x": x[chosen], "y": y[chosen], "customdata": keys[chosen],
                "text": hovers[chosen], "hovertemplate": "%{text}<extra></extra>",
                "unselected": {"marker": {"opacity": 1}},
            }
        )  # fmt: skip
    return data


def _hovers(explored: Exploration, found: Assessment) -> list[str]:
    names = [escaped(name, 24) for name in explored.attributes]
    loss, suppressed = found.loss, found.loss_suppressed
    said = []
    for place, node in enumerate(found.nodes.tolist()):
        levels = "<br>".join(
            f"{name} {level} of {top}"
            for name, level, top in zip(names, node, explored.tops, strict=True)
        )
        gone = int(found.suppressed[place])
        without = ""
        if not found.satisfying[place]:
            without = f"<br>with them suppressed, loss {percent(float(suppressed[place]))}"
        said.append(
            f"{levels}<br><b>k {thin(int(found.reached[place]))}, "
            f"loss {percent(float(loss[place]))}</b><br>"
            f"{counted(int(found.classes[place]), 'class', 'classes')}, "
            f"{counted(gone, 'record')} in others, which do not satisfy{without}"
        )
    return said


def _rings(
    minimal: Sequence[Node], at: Mapping[Node, tuple[float, float]], size: float
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "name": "minimal", "hoverinfo": "skip",
        "x": [at[node][0] for node in minimal], "y": [at[node][1] for node in minimal],
        "marker": {"symbol": "circle-open", "size": size + 7, "color": _RING,
                   "line": {"color": _RING, "width": 2.5}},
        "unselected": {"marker": {"opacity": 1}},
    }  # fmt: skip


def _marks(
    explored: Exploration, at: Mapping[Node, tuple[float, float]], size: float, chosen: Node | None
) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = []
    common = {"type": "scatter", "mode": "markers", "hoverinfo": "skip",
              "unselected": {"marker": {"opacity": 1}}}  # fmt: skip
    if chosen is not None and chosen in at:
        beside = [pair for node in at for pair in ((chosen, node), (node, chosen))
                  if sum(abs(a - b) for a, b in zip(*pair, strict=True)) == 1]  # fmt: skip
        edges = lines_between(beside, at, INK, 1.2, "solid")
        data.append({**edges, "name": "edges of the chosen"})
    if explored.least is not None and explored.least in at:
        x, y = at[explored.least]
        star = {"symbol": "star", "size": size + 9, "color": STAR,
                "line": {"color": INK, "width": 1.2}}  # fmt: skip
        data.append({**common, "name": "least loss", "x": [x], "y": [y], "marker": star})
    if chosen is not None and chosen in at:
        x, y = at[chosen]
        square = {"symbol": "square-open", "size": size + 16, "color": INK,
                  "line": {"color": INK, "width": 3}}  # fmt: skip
        data.append({**common, "name": "chosen", "x": [x], "y": [y], "marker": square})
    return data


def _walks_and_marks(
    explored: Exploration,
    walks: Sequence[str],
    step: int | None,
    at: Mapping[Node, tuple[float, float]],
    size: float,
    chosen: Node | None,
) -> list[dict[str, Any]]:
    left, right = _across(explored)
    scale = _NARROW / (right - left), (_HIGH - _ABOVE) / len(explored.per_height)
    marked = {} if explored.least is None else {explored.least: size + 9}
    if chosen is not None:
        marked[chosen] = size + 22
    lines, labels = walk_traces(explored, walks, step, at, scale, marked)
    return [*lines, *_marks(explored, at, size, chosen), *labels, _counts(explored)]


def _across(explored: Exploration) -> tuple[float, float]:
    half = max(explored.per_height) / 2
    return -half * 1.02 - 0.5, half * 1.18 + 0.6


def _counts(explored: Exploration) -> dict[str, Any]:
    edge = max(explored.per_height) / 2 * 1.04 + 0.2
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False,
        "x": [edge] * len(explored.per_height), "y": list(range(len(explored.per_height))),
        "text": _said_per_height(explored), "textposition": "middle right", "cliponaxis": False,
        "textfont": {"size": 12, "color": _QUIET}, "name": "counts",
        "unselected": {"textfont": {"color": _QUIET}},
    }  # fmt: skip


def _said_per_height(explored: Exploration) -> list[str]:
    if explored.satisfying_per_height is None:
        return [counted(count, "node") for count in explored.per_height]
    both = zip(explored.satisfying_per_height, explored.per_height, strict=True)
    return [f"{thin(some)} of {thin(count)}" for some, count in both]


def _moved(explored: Exploration, chosen: Node, node: Node) -> str:
    moved = next(j for j, level in enumerate(node) if level != chosen[j])
    return f"{escaped(explored.attributes[moved], 14)} {node[moved]}"


def _finding(explored: Exploration) -> str:
    size = thin(explored.size)
    if not explored.complete:
        counted_some = any(walk.steps for walk in explored.walks)
        return f"{size} combinations of levels" + (
            ": too many to count each" if counted_some else ", none of them counted yet"
        )
    some = int(explored.assessed.satisfying.sum())
    also = " and the other models" if explored.others else ""
    gone = f" with at most {counted(explored.limit, 'record')} suppressed" if explored.limit else ""
    found = f"{thin(some)} of {size} combinations of levels satisfy k = {thin(explored.k)}{also}"
    minimal = len(explored.minimal)
    are = "is" if minimal == 1 else "are"
    return f"{found}{gone}" + (f"; {thin(minimal)} {are} minimal" if minimal else "")


def _finished(
    data: Sequence[Mapping[str, Any]],
    explored: Exploration,
    title: str,
    colouring: Colouring | None,
    height: int,
    edges: Mapping[str, Any] | None = None,
) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 13},
              "entrywidth": 112, "itemclick": False, "itemdoubleclick": False}  # fmt: skip
    layout: dict[str, Any] = {"hovermode": "closest", "showlegend": True, "legend": legend,
                              "dragmode": False, "barmode": "overlay",
                              "shapes": [edges] if edges else [],
                              "margin": {"l": 56, "r": 96, "t": _ABOVE, "b": 12}}  # fmt: skip
    if colouring == "loss":
        layout["coloraxis"] = {"colorscale": SCALE, "cmin": 0, "cmax": 100,
                               "colorbar": _bar("Loss, %")}  # fmt: skip
    if colouring == "reached":
        powers = range(int(np.log10(max(explored.n_records, 1))) + 1)
        layout["coloraxis"] = {
            "colorscale": SCALE, "cmin": 0, "cmax": float(np.log10(max(explored.n_records, 2))),
            "colorbar": {**_bar("k reached"), "tickvals": list(powers),
                         "ticktext": [thin(10**power) for power in powers]},
        }  # fmt: skip
    figure = drawn(
        data,
        title,
        height,
        x={"visible": False, "range": list(_across(explored)), "fixedrange": True},
        y={
            "title": "Height: the sum of the levels",
            "range": [-0.6, len(explored.per_height) - 0.4],
            "dtick": max(1, round(len(explored.per_height) / 20)),
            "fixedrange": True,
            "showgrid": False,
        },
        **layout,
    )
    figure.update_layout(title={"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 6}})
    return figure


def _bar(title: str) -> dict[str, Any]:
    # Above the bar, its title would touch the largest number beside it.
    return {
        "title": {"text": title, "font": {"size": 13}, "side": "right"},
        "thickness": 14,
        "x": 1.01,
        "len": 0.9,
    }
