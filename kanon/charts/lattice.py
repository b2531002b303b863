"""The lattice of full-domain generalisations: its nodes and edges, and the walks of searches.

A node stands at the sum of its levels, in canonical order. A large lattice is drawn as a bar per
height, as wide as it has nodes; walks stand at the same places in both.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kanon.algorithms.lattice_size import Node
from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.charts.figure import build_figure
from kanon.charts.lesson_look import draw_lines_between
from kanon.charts.style import INK, SCALE, STAR, escape_label
from kanon.charts.walks import HALO, WALK_LOOKS, draw_walks
from kanon.experiments.exploration import Assessment, Exploration, rank_nodes

MOST_DRAWN_NODES = 2_000  # the largest lattice that is drawn with all its nodes and edges

Colouring = Literal["loss", "reached", "satisfying"]

COLOURINGS: Mapping[Colouring, str] = {
    "loss": "Loss",
    "reached": "k reached",
    "satisfying": "Satisfies or not",
}
"""What the colour of a node may say."""

_EDGE, _BAR, _YES, _NO = "rgba(27, 31, 36, 0.16)", "#C3CAD2", "#332288", "#8A939C"
_EDGE_OF_FEW = "rgba(27, 31, 36, 0.35)"
_QUIET = "#4A525A"
_RING = "#CC3399"
_MOST_LEVEL_LABELS = 12  # more would overlap, so they are written aslant
_WIDE = 900.0  # pixels of the drawing on a page, about
_NARROW, _HIGH = 520, 460  # pixels: the width in a window of 1024, the height of a lattice
_ABOVE = 104  # pixels: the title, and three lines of legend in a narrow window


def draw_lattice(
    exploration: Exploration,
    colouring: Colouring = "loss",
    walks: Sequence[str] = tuple(WALK_LOOKS),
    step: int | None = None,
    chosen: Node | None = None,
) -> go.Figure:
    """Every node and edge of a lattice, and the walks of the searches up to ``step``."""
    assessment = exploration.assessment
    nodes = _list_nodes(assessment)
    x, y = _place_nodes(exploration, nodes)
    at = dict(zip(nodes, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    widest = max(exploration.per_height)
    size = float(np.clip(0.8 * _WIDE / widest, 5, 13))
    pairs = find_edges(nodes)
    few = len(pairs) < 400
    edges = _draw_edge_path(pairs, at, _EDGE_OF_FEW if few else _EDGE, 1 if few else 0.6)
    data = _draw_nodes(exploration, assessment, x, y, colouring, size)
    data += [
        _draw_minimal_rings(exploration.minimal, at, size),
        *_draw_walks_and_marks(exploration, walks, step, at, size, chosen),
    ]
    return _build_lattice_figure(
        data, exploration, _describe_lattice(exploration), colouring, _HIGH, edges
    )


def draw_heights(
    exploration: Exploration,
    walks: Sequence[str] = tuple(WALK_LOOKS),
    step: int | None = None,
    chosen: Node | None = None,
) -> go.Figure:
    """A large lattice as a bar per height, as wide as it has nodes, with the walks over it."""
    counts, satisfying = np.array(exploration.per_height, float), exploration.satisfying_per_height
    marker: dict[str, Any] = {"color": _BAR}
    if satisfying is not None:
        shares = 100 * np.array(satisfying) / counts
        marker = {"color": shares, "coloraxis": "coloraxis"}
    bars = {
        "type": "bar", "orientation": "h", "y": np.arange(len(counts)), "x": counts,
        "base": -counts / 2, "marker": marker, "width": 0.86, "hoverinfo": "text",
        "hovertext": [
            f"height {h}: {text}" for h, text in enumerate(_format_node_counts(exploration))
        ],
        "showlegend": False,
    }  # fmt: skip
    node_set = {
        visit.node for name in walks for visit in exploration.walk(name).get_steps_until(step)
    }
    node_set |= {node for node in (chosen, exploration.least) if node is not None}
    nodes = sorted(node_set)
    x, y = _place_nodes(exploration, nodes)
    at = dict(zip(nodes, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    data = [bars, *_draw_walks_and_marks(exploration, walks, step, at, 9, chosen)]
    figure = _build_lattice_figure(data, exploration, _describe_lattice(exploration), None, _HIGH)
    figure.update_layout(
        coloraxis={
            "colorscale": [[0, "#DDE2E7"], [0.001, "#D5EDE4"], [1, "#00664B"]],
            "cmin": 0, "cmax": 100, "colorbar": _format_colour_bar("Nodes that qualify, %"),
        }
    )  # fmt: skip
    return figure


def draw_neighbours(
    exploration: Exploration, assessment: Assessment, chosen: Node, colouring: Colouring = "loss"
) -> go.Figure:
    """The nodes straight above and below one node, with what the first step raises or lowers."""
    nodes = _list_nodes(assessment)
    heights = assessment.heights
    x = np.zeros(len(nodes))
    for level in np.unique(heights):
        row = heights == level
        x[row] = (np.arange(row.sum()) - (row.sum() - 1) / 2) / row.sum()
    at = dict(zip(nodes, zip(x.tolist(), heights.tolist(), strict=True), strict=True))
    edges = _draw_edge_path(find_edges(nodes), at, _EDGE_OF_FEW, 1)
    data = _draw_nodes(exploration, assessment, x, heights, colouring, 13)
    data += _draw_marks(exploration, at, 13, chosen)
    neighbours = [node for node in nodes if abs(sum(node) - sum(chosen)) == 1]
    many = len(neighbours) > _MOST_LEVEL_LABELS
    title = "Around the chosen node: the column that each step raises or lowers"
    figure = _build_lattice_figure(data, exploration, title, colouring, 420, edges)
    ends = [int(heights.min()), int(heights.max())]
    for node in neighbours:
        above = sum(node) > sum(chosen)
        aslant = "left" if above else "right"
        figure.add_annotation(
            x=at[node][0], y=at[node][1], text=_format_changed_level(exploration, chosen, node),
            textangle=-40 if many else 0, showarrow=False,
            xanchor=aslant if many else "center", yanchor="bottom" if above else "top",
            yshift=8 if above else -8, font={"size": 12, "color": INK, "shadow": HALO},
        )  # fmt: skip
    figure.update_xaxes(range=[-0.56, 0.56])
    figure.update_yaxes(range=[ends[0] - 0.6, ends[1] + 0.6], dtick=1)
    return figure


def find_edges(nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    """The edges among some nodes: from each to those that raise one column by one level.

    >>> find_edges([(0, 0), (0, 1), (1, 1)])
    [((0, 0), (0, 1)), ((0, 1), (1, 1))]
    """
    node_set = set(nodes)
    pairs = (
        (node, (*node[:j], node[j] + 1, *node[j + 1 :])) for node in nodes for j in range(len(node))
    )
    return [(low, high) for low, high in pairs if high in node_set]


def build_lattice_table(
    exploration: Exploration, assessment: Assessment | None = None
) -> pd.DataFrame:
    """A row per counted node: levels, height, k, classes, loss in %, and the step of each walk."""
    assessment = exploration.assessment if assessment is None else assessment
    nodes = _list_nodes(assessment)
    minimal = set(exploration.minimal)
    table = pd.DataFrame(
        {f"level_{name}": assessment.nodes[:, j] for j, name in enumerate(exploration.attributes)}
    )
    table["height"] = assessment.heights
    table["satisfies"] = assessment.satisfying
    table["k_reached"] = assessment.reached
    table["classes"] = assessment.classes
    table["suppressed"] = assessment.suppressed
    table["loss_percent"] = assessment.loss
    table["loss_suppressed_percent"] = assessment.loss_suppressed
    if exploration.complete:
        table["minimal"] = [node in minimal for node in nodes]
    table["least_loss"] = [node == exploration.least for node in nodes]
    for walk in exploration.walks:
        steps = {step.node: walk.first + place for place, step in enumerate(walk.steps)}
        numbers = [steps.get(node) for node in nodes]
        table[f"step_{walk.algorithm}"] = pd.array(numbers, dtype="Int64")
    return table


def build_heights_table(exploration: Exploration) -> pd.DataFrame:
    """A row per height: how many nodes it has and, if known, how many satisfy."""
    table = pd.DataFrame(
        {"height": range(len(exploration.per_height)), "nodes": list(exploration.per_height)}
    )
    if exploration.satisfying_per_height is not None:
        table["satisfying"] = list(exploration.satisfying_per_height)
    return table


# --- what is drawn --------------------------------------------------------------------------
def _list_nodes(assessment: Assessment) -> list[Node]:
    return [tuple(node) for node in assessment.nodes.tolist()]


def _place_nodes(exploration: Exploration, nodes: Sequence[Node]) -> tuple[np.ndarray, np.ndarray]:
    heights = [sum(node) for node in nodes]
    across = [
        rank - (exploration.per_height[height] - 1) / 2
        for rank, height in zip(rank_nodes(exploration.tops, nodes), heights, strict=True)
    ]
    return np.array(across, dtype=float), np.array(heights, dtype=float)


def _draw_edge_path(
    pairs: Sequence[tuple[Node, Node]],
    at: Mapping[Node, tuple[float, float]],
    colour: str,
    width: float,
) -> dict[str, Any]:
    """Many edges as one path: a line with gaps is three times as slow in the browser."""
    lines = (
        f"M{at[low][0]:g},{at[low][1]:g}L{at[high][0]:g},{at[high][1]:g}" for low, high in pairs
    )
    line = {"color": colour, "width": width}
    return {"type": "path", "path": "".join(lines), "layer": "below", "line": line, "name": "edges"}


def _draw_nodes(
    exploration: Exploration,
    assessment: Assessment,
    x: np.ndarray,
    y: np.ndarray,
    colouring: Colouring,
    size: float,
) -> list[dict[str, Any]]:
    hovers = np.array(_format_hovers(exploration, assessment), dtype=object)
    # As text: of an array, a browser would tell Streamlit's selection something else.
    keys = np.array([" ".join(map(str, node)) for node in assessment.nodes.tolist()], dtype=object)
    kinds = (
        (~assessment.satisfying, "does not satisfy", "x", 0.8 * size, _NO),
        (assessment.satisfying, "satisfies", "circle", size, _YES),
    )
    log_k = np.log10(np.maximum(assessment.reached, 1))
    colours = assessment.loss if colouring == "loss" else log_k
    data = []
    for mask, name, symbol, mark_size, plain in kinds:
        # The lightest colours of a scale are seen by their rims.
        rim = {"width": 1 if symbol == "circle" else 0.6, "color": INK}
        marker: dict[str, Any] = {"symbol": symbol, "size": mark_size, "line": rim}
        if colouring == "satisfying":
            marker["color"] = plain
        else:
            marker["color"], marker["coloraxis"] = colours[mask], "coloraxis"
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name, "marker": marker,
                "x": x[mask], "y": y[mask], "customdata": keys[mask],
                "text": hovers[mask], "hovertemplate": "%{text}<extra></extra>",
                "unselected": {"marker": {"opacity": 1}},
            }
        )  # fmt: skip
    return data


def _format_hovers(exploration: Exploration, assessment: Assessment) -> list[str]:
    names = [escape_label(name, 24) for name in exploration.attributes]
    loss, suppressed = assessment.loss, assessment.loss_suppressed
    texts = []
    for place, node in enumerate(assessment.nodes.tolist()):
        levels = "<br>".join(
            f"{name} {level} of {top}"
            for name, level, top in zip(names, node, exploration.tops, strict=True)
        )
        in_small_classes = int(assessment.suppressed[place])
        if_suppressed = ""
        if not assessment.satisfying[place]:
            if_suppressed = (
                f"<br>if these are suppressed, loss {write_percent(float(suppressed[place]))}"
            )
        texts.append(
            f"{levels}<br><b>k {write_count(int(assessment.reached[place]))}, "
            f"loss {write_percent(float(loss[place]))}</b><br>"
            f"{count_noun(int(assessment.classes[place]), 'class', 'classes')}, "
            f"{count_noun(in_small_classes, 'record')} in classes that do not "
            f"meet the requirements{if_suppressed}"
        )
    return texts


def _draw_minimal_rings(
    minimal: Sequence[Node], at: Mapping[Node, tuple[float, float]], size: float
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "name": "minimal", "hoverinfo": "skip",
        "x": [at[node][0] for node in minimal], "y": [at[node][1] for node in minimal],
        "marker": {"symbol": "circle-open", "size": size + 7, "color": _RING,
                   "line": {"color": _RING, "width": 2.5}},
        "unselected": {"marker": {"opacity": 1}},
    }  # fmt: skip


def _draw_marks(
    exploration: Exploration,
    at: Mapping[Node, tuple[float, float]],
    size: float,
    chosen: Node | None,
) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = []
    common = {"type": "scatter", "mode": "markers", "hoverinfo": "skip",
              "unselected": {"marker": {"opacity": 1}}}  # fmt: skip
    if chosen is not None and chosen in at:
        edge_pairs = [pair for node in at for pair in ((chosen, node), (node, chosen))
                  if sum(abs(a - b) for a, b in zip(*pair, strict=True)) == 1]  # fmt: skip
        edges = draw_lines_between(edge_pairs, at, INK, 1.2, "solid")
        data.append({**edges, "name": "edges of the chosen"})
    if exploration.least is not None and exploration.least in at:
        x, y = at[exploration.least]
        star = {"symbol": "star", "size": size + 9, "color": STAR,
                "line": {"color": INK, "width": 1.2}}  # fmt: skip
        data.append({**common, "name": "least loss", "x": [x], "y": [y], "marker": star})
    if chosen is not None and chosen in at:
        x, y = at[chosen]
        square = {"symbol": "square-open", "size": size + 16, "color": INK,
                  "line": {"color": INK, "width": 3}}  # fmt: skip
        data.append({**common, "name": "chosen", "x": [x], "y": [y], "marker": square})
    return data


def _draw_walks_and_marks(
    exploration: Exploration,
    walks: Sequence[str],
    step: int | None,
    at: Mapping[Node, tuple[float, float]],
    size: float,
    chosen: Node | None,
) -> list[dict[str, Any]]:
    start, end = _get_x_range(exploration)
    scale = _NARROW / (end - start), (_HIGH - _ABOVE) / len(exploration.per_height)
    mark_sizes = {} if exploration.least is None else {exploration.least: size + 9}
    if chosen is not None:
        mark_sizes[chosen] = size + 22
    lines, labels = draw_walks(exploration, walks, step, at, scale, mark_sizes)
    return [
        *lines,
        *_draw_marks(exploration, at, size, chosen),
        *labels,
        _write_node_counts(exploration),
    ]


def _get_x_range(exploration: Exploration) -> tuple[float, float]:
    half = max(exploration.per_height) / 2
    return -half * 1.02 - 0.5, half * 1.18 + 0.6


def _write_node_counts(exploration: Exploration) -> dict[str, Any]:
    edge = max(exploration.per_height) / 2 * 1.04 + 0.2
    every = _choose_tick_step(exploration)
    texts = enumerate(_format_node_counts(exploration))
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip", "showlegend": False,
        "x": [edge] * len(exploration.per_height), "y": list(range(len(exploration.per_height))),
        "text": ["" if height % every else text for height, text in texts],
        "textposition": "middle right",
        "cliponaxis": False, "textfont": {"size": 12, "color": _QUIET}, "name": "counts",
        "unselected": {"textfont": {"color": _QUIET}},
    }  # fmt: skip


def _choose_tick_step(exploration: Exploration) -> int:
    return max(1, round(len(exploration.per_height) / 20))


def _format_node_counts(exploration: Exploration) -> list[str]:
    if exploration.satisfying_per_height is None:
        return [count_noun(count, "node") for count in exploration.per_height]
    counts = zip(exploration.satisfying_per_height, exploration.per_height, strict=True)
    return [f"{write_count(satisfying)} of {write_count(count)}" for satisfying, count in counts]


def _format_changed_level(exploration: Exploration, chosen: Node, node: Node) -> str:
    changed = next(j for j, level in enumerate(node) if level != chosen[j])
    return f"{escape_label(exploration.attributes[changed], 14)} {node[changed]}"


def _describe_lattice(exploration: Exploration) -> str:
    size = write_count(exploration.size)
    if not exploration.complete:
        has_counted = any(walk.steps for walk in exploration.walks)
        return f"{size} combinations of levels" + (
            ": too many to count them all" if has_counted else ", none of them counted yet"
        )
    satisfying = int(exploration.assessment.satisfying.sum())
    models = " and the other models" if exploration.others else ""
    limit = f" with at most {count_noun(exploration.limit, 'record')} suppressed"
    limit = limit if exploration.limit else ""
    sentence = (
        f"{write_count(satisfying)} of {size} combinations of levels satisfy "
        f"k = {write_count(exploration.k)}{models}"
    )
    minimal = len(exploration.minimal)
    verb = "is" if minimal == 1 else "are"
    return f"{sentence}{limit}" + (f"; {write_count(minimal)} {verb} minimal" if minimal else "")


def _build_lattice_figure(
    data: Sequence[Mapping[str, Any]],
    exploration: Exploration,
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
                               "colorbar": _format_colour_bar("Loss, %")}  # fmt: skip
    if colouring == "reached":
        powers = range(int(np.log10(max(exploration.n_records, 1))) + 1)
        layout["coloraxis"] = {
            "colorscale": SCALE, "cmin": 0, "cmax": float(np.log10(max(exploration.n_records, 2))),
            "colorbar": {**_format_colour_bar("k reached"), "tickvals": list(powers),
                         "ticktext": [write_count(10**power) for power in powers]},
        }  # fmt: skip
    figure = build_figure(
        data,
        title,
        height,
        x={"visible": False, "range": list(_get_x_range(exploration)), "fixedrange": True},
        y={
            "title": "Height: the sum of the levels",
            "range": [-0.6, len(exploration.per_height) - 0.4],
            "dtick": _choose_tick_step(exploration),
            "fixedrange": True,
            "showgrid": False,
        },
        **layout,
    )
    figure.update_layout(title={"y": 1, "yanchor": "top", "yref": "container", "pad": {"t": 6}})
    return figure


def _format_colour_bar(title: str) -> dict[str, Any]:
    # Above the bar, its title would touch the largest number beside it.
    return {
        "title": {"text": title, "font": {"size": 13}, "side": "right"},
        "thickness": 14,
        "x": 1.01,
        "len": 0.9,
    }
