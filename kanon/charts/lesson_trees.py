"""Trees of a lesson: where two classes meet, and where the values of the table stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kanon.base.formatting import count_noun
from kanon.charts.figure import build_figure
from kanon.charts.labels import (
    Anchor,
    Box,
    Label,
    LabelPlace,
    Scale,
    compute_text_box,
    estimate_text_width,
    list_shortened,
    place_labels,
)
from kanon.charts.lesson_look import (
    EDGE,
    HALO,
    PAGE,
    QUIET,
    Room,
    draw_lines_between,
    get_class_colour,
    scale_letters,
)
from kanon.charts.style import INK, escape_label
from kanon.hierarchy import Hierarchy
from kanon.teaching.lesson import Lesson, Step, write_number

_WHOLE = 8  # a hierarchy with more leaves is drawn as the paths of the values alone

_LOW = 3  # trees of no more levels are drawn side by side

_FEW = 6  # so few lines stand further apart


def draw_merge(
    lesson: Lesson, step: Step, room: Room = PAGE, numbers: Sequence[int] = ()
) -> go.Figure:
    """The merge of a step: a small tree per quasi-identifier, with the node where both meet."""
    met = getattr(step.detail, "met", None)
    if met is None:
        raise ValueError("this step merges nothing")
    first, second = met
    colours = [
        get_class_colour(numbers[side.classes[0]] if numbers else side.classes[0] + 1)
        for side in (first, second)
    ]
    title = (
        f"Where do “{escape_label(first.label, 20)}” and “{escape_label(second.label, 20)}” meet?"
    )
    views = []
    for tree, a, b in zip(lesson.task.classes.hierarchies, first.nodes, second.nodes, strict=True):
        top = tree.lca(a, b)
        cost_paths = [
            (_list_path_edges(tree, a, top), colours[0], "solid"),
            (_list_path_edges(tree, b, top), colours[1], "8px,3px"),
        ]
        marks = {top: _Mark("diamond", INK, 17)}
        if a != b:
            marks |= {a: _Mark("circle", colours[0], 15), b: _Mark("square", colours[1], 14)}
        views.append(_TreeView(marks, cost_paths, tree.n_leaves if _is_small(tree) else 2))
    return _draw_forest(lesson, title, views, room)


def draw_table_values(lesson: Lesson, step: Step, room: Room = PAGE) -> go.Figure:
    """A small tree per quasi-identifier, with the table's values after a step as dots."""
    views = []
    for j, records in enumerate(count_records_per_node(step)):
        tree = lesson.task.classes.hierarchies[j]
        marks = {
            node: _Mark("circle", INK, 10 + 2.5 * math.sqrt(count), count)
            for node, count in records.items()
        }
        values = len(np.unique(lesson.task.classes.nodes[:, j]))
        views.append(_TreeView(marks, None, tree.n_leaves if _is_small(tree) else values))
    return _draw_forest(lesson, "Where are the table's values in the trees?", views, room)


def count_records_per_node(step: Step) -> list[dict[int, int]]:
    """Per quasi-identifier the records at each node of its tree after a step, by node."""
    records_by_node = []
    recoding = step.recoding
    for tree, column in zip(recoding.classes.hierarchies, recoding.targets.T, strict=True):
        counts: dict[int, int] = {}
        for node, records, into in zip(
            column.tolist(), recoding.classes.counts.tolist(), recoding.assigned, strict=True
        ):
            if node <= tree.root and into >= 0:
                counts[node] = counts.get(node, 0) + records
        records_by_node.append(counts)
    return records_by_node


@dataclass(frozen=True)
class _Mark:
    symbol: str
    colour: str
    size: float
    records: int | None = None


@dataclass(frozen=True)
class _TreeView:
    marks: Mapping[int, _Mark]  # its marked nodes
    # edges that are told what they cost, with a colour and a dash
    cost_paths: Sequence[tuple[Sequence[tuple[int, int]], str, str]] | None
    # how many values stand below each other, at any step of the lesson: so nothing moves
    lines: int
    whole: bool = True  # whether a small tree is drawn as a whole
    left_out: int = 0  # how many marked nodes had no room

    def list_edges(self, tree: Hierarchy) -> list[tuple[int, int]]:
        if self.whole and _is_small(tree):
            return [(n, int(tree.parent[n])) for n in range(tree.root)]
        return sorted({edge for n in self.marks for edge in _list_path_edges(tree, n, tree.root)})

    def trim_lines(self, lines: int) -> _TreeView:
        if self.lines <= lines:
            return self
        by_records = sorted(self.marks, key=lambda node: -(self.marks[node].records or math.inf))
        marks = {node: self.marks[node] for node in by_records[:lines]}
        return _TreeView(marks, self.cost_paths, lines, False, len(self.marks) - len(marks))


@dataclass(frozen=True)
class _Grid:
    columns: int
    line: float
    rows: tuple[int, ...]
    room: Room

    @property
    def head(self) -> float:
        return 2.4 * self.room.letters + (0 if self.room.height else 22)

    @property
    def above(self) -> float:
        return 4 if self.room.height else 52

    @property
    def height(self) -> float:
        return self.room.height or self.above + 8 + self.used_height

    @property
    def used_height(self) -> float:
        return self.line * sum(self.rows) + self.head * len(self.rows)

    def box(self, place: int, lines: int) -> Box:
        row, column = divmod(place, self.columns)
        total_width = self.room.width - 2 * _SIDE + _APART
        start = _SIDE + column * total_width / self.columns
        top = self.above + self.line * sum(self.rows[:row]) + self.head * (row + 1)
        return Box(start, top, start + total_width / self.columns - _APART, top + self.line * lines)


_SIDE, _APART = 8, 16  # the room beside all trees, and between two, in pixels

_MOST_BESIDE = 4  # so many trees beside each other at most


def _choose_grid(lines: Sequence[int], is_flat: bool, room: Room) -> _Grid:
    def count_rows(columns: int) -> tuple[int, ...]:
        starts = range(0, len(lines), columns)
        return tuple(max(lines[start : start + columns]) for start in starts)

    if room.height is None:
        columns = 2 if len(lines) > 1 and is_flat else 1
        return _Grid(
            columns, 26 + 16 * (sum(count_rows(columns)) <= _FEW), count_rows(columns), room
        )
    least = 1.25 * room.letters
    for columns in range(1, min(len(lines), _MOST_BESIDE) + 1):
        grid = _Grid(columns, least, count_rows(columns), room)
        free = room.height - grid.above - grid.head * len(grid.rows)
        if grid.used_height + grid.above <= room.height:
            return _Grid(columns, min(free / sum(grid.rows), 2.6 * room.letters), grid.rows, room)
    most = max(int(free / least / len(grid.rows)), 1)
    few = tuple(min(row, most) for row in grid.rows)
    return _Grid(columns, max(free, 1) / sum(few), few, room)


def _draw_forest(lesson: Lesson, title: str, views: Sequence[_TreeView], room: Room) -> go.Figure:
    classes = lesson.task.classes
    is_flat = all(tree.height <= _LOW for tree in classes.hierarchies)
    grid = _choose_grid([view.lines for view in views], is_flat, room)
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    titles = []
    tall = grid.height - grid.above
    for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        view = views[j].trim_lines(grid.rows[j // grid.columns])
        box = grid.box(j, view.lines)
        number = str(j + 1) if j else ""
        at = _place_tree_nodes(tree, {tree.root, *chain(*view.list_edges(tree))})
        scale = _compute_tree_scale(tree, at, box, view.lines, room.letters)
        ends = [(x - _SIDE) / (room.width - 2 * _SIDE) for x in (box.left, box.right)]
        low, high = (max(1 - (y - grid.above) / tall, 0) for y in (box.bottom, box.top))
        axes[f"xaxis{number}"] = {
            "domain": ends, "range": scale.x, "anchor": f"y{number}", "visible": False,
            "fixedrange": True,
        }  # fmt: skip
        axes[f"yaxis{number}"] = {
            "domain": (low, high), "range": scale.y, "anchor": f"x{number}", "visible": False,
            "fixedrange": True,
        }  # fmt: skip
        more = f", {view.left_out} more values" if view.left_out else ""
        heading = _trim_to_width(name, box.right - box.left - estimate_text_width(more, 16)) + more
        above = Anchor(box.left, box.top - grid.head + 16, "middle right")
        titles.append(
            {"text": escape_label(heading, 60), "xref": "paper", "yref": "paper",
             "showarrow": False, "x": ends[0], "xanchor": "left", "yanchor": "middle",
             "y": 1 - (above.y - grid.above) / tall, "font": {"size": 16, "color": INK}}
        )  # fmt: skip
        where = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        cell = Box(box.left, box.top - grid.head, box.right + _APART / 2, box.bottom)
        drawing = _Drawing(
            tree, view, at, scale, cell, compute_text_box(heading, above, 16), room.letters
        )
        data += [{**trace, **where} for trace in drawing.draw_traces(partial(lesson.get_cost, j))]
    figure = build_figure(
        data, "" if room.height else title, round(grid.height), axes.pop("xaxis"),
        axes.pop("yaxis"), **axes, annotations=titles, hovermode="closest",
        margin={"l": _SIDE, "r": _SIDE, "t": grid.above, "b": 0},
    )  # fmt: skip
    return scale_letters(figure, room)


def _compute_tree_scale(
    tree: Hierarchy, at: Mapping[int, tuple[float, float]], box: Box, lines: int, letters: int
) -> Scale:
    width, depth = box.right - box.left, int(tree.level[tree.root])
    lowest = [node for node, (x, _) in at.items() if x == depth]
    right_room = 14 + max(
        (estimate_text_width(tree.labels[node][:_LONGEST], letters) for node in lowest), default=0
    )
    left_room = max(estimate_text_width(tree.labels[tree.root][:_LONGEST], letters) / 2, 10)
    left_room, right_room = min(left_room, 0.25 * width), min(right_room, 0.4 * width)
    unit = depth / (width - left_room - right_room)
    return Scale((-left_room * unit, (width - left_room) * unit), (0.5 - lines, 0.5), box)


def _trim_to_width(text: str, width: float) -> str:
    words = " ".join(text.split())
    lengths = range(len(words) - 1, 1, -1)
    return next(
        (cut for cut in list_shortened(words, *lengths) if estimate_text_width(cut, 16) <= width),
        "…",
    )


_LONGEST = 16  # longer labels are cut


def _list_path_edges(tree: Hierarchy, low: int, high: int) -> list[tuple[int, int]]:
    path = tree.path(low)
    return list(pairwise(path[: path.index(high) + 1]))


def _is_small(tree: Hierarchy) -> bool:
    return tree.n_leaves <= _WHOLE


@dataclass(frozen=True)
class _Drawing:
    """A tree with its marks, its labels and the cost beside each edge of its ways."""

    tree: Hierarchy
    view: _TreeView
    at: Mapping[int, tuple[float, float]]
    scale: Scale
    cell: Box
    name: Box
    letters: int

    def draw_traces(self, paid: Callable[[int, int], float]) -> list[dict[str, Any]]:
        tree, at, marks = self.tree, self.at, self.view.marks
        edges = self.view.list_edges(tree)
        cost_paths = self.view.cost_paths
        if cost_paths is None:
            cost_paths = [(edges, EDGE, "solid")]
        priced_edges = sorted({pair for path, _, _ in cost_paths for pair in path})
        others = [pair for pair in edges if pair not in priced_edges]
        data = [draw_lines_between(others, at, EDGE, 1.5, "solid")]
        data += [
            draw_lines_between(path, at, colour, 1.5 if colour == EDGE else 4, dash)
            for path, colour, dash in cost_paths
        ]
        costs, labels = self._place_texts(
            priced_edges, [write_number(paid(*pair)) for pair in priced_edges]
        )
        common = {"type": "scatter", "showlegend": False, "cliponaxis": False}
        cost_points = [self.scale.convert_to_point(cost.anchor.x, cost.anchor.y) for cost in costs]
        data.append(
            {
                **common, "mode": "text", "name": "cost of an edge", "hoverinfo": "skip",
                "x": [x for x, _ in cost_points], "y": [y for _, y in cost_points],
                "text": [cost.text for cost in costs],
                "textfont": {"size": self.letters, "color": INK, "weight": 700, "shadow": HALO},
            }
        )  # fmt: skip
        looks = [marks.get(node, _PLAIN) for node in at]
        data.append(
            {
                **common, "mode": "markers+text", "name": "values",
                "x": [x for x, _ in at.values()], "y": [y for _, y in at.values()],
                "marker": {
                    "symbol": [look.symbol for look in looks],
                    "color": [look.colour for look in looks],
                    "size": [look.size for look in looks],
                    "opacity": 1,
                },
                "text": [escape_label(labels[node].text) for node in at],
                "textposition": [labels[node].anchor.side for node in at],
                "textfont": {"size": self.letters, "color": INK, "shadow": HALO},
                "hovertext": [
                    escape_label(tree.labels[node])
                    + ("" if look.records is None else f"<br>{count_noun(look.records, 'record')}")
                    for node, look in zip(at, looks, strict=True)
                ],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )  # fmt: skip
        return data

    def _place_texts(
        self, priced_edges: Sequence[tuple[int, int]], costs: Sequence[str]
    ) -> tuple[list[LabelPlace], dict[int, LabelPlace]]:
        """Where costs and labels stand: of marked nodes first, then costs, then other nodes."""
        where = {node: self.scale.convert_to_pixels(*point) for node, point in self.at.items()}
        sizes = {node: self.view.marks.get(node, _PLAIN).size for node in self.at}
        dots = [
            Box(x - half, y - half, x + half, y + half)
            for node, (x, y) in where.items()
            for half in [sizes[node] / 2]
        ]
        nodes = sorted(self.at, key=lambda node: (node not in self.view.marks, node))
        n_marks = sum(node in self.view.marks for node in nodes)

        def create_node_label(node: int) -> Label:
            sides = _SIDES if node >= self.tree.n_leaves else (_SIDES[1], *_SIDES)
            anchors = [Anchor(*where[node], side, sizes[node]) for side in sides]
            return Label(list_shortened(self.tree.labels[node], _LONGEST, 9, 5)[-3:], anchors)

        def create_cost_label(pair: tuple[int, int], text: str) -> Label:
            (x, y), (u, v) = where[pair[0]], where[pair[1]]
            # Beside a leaf, where edges that meet above are apart; else half-way.
            first = 0.65 if pair[0] < self.tree.n_leaves else 0.5
            return Label(
                [text],
                [
                    Anchor(x * a + u * (1 - a), y * a + v * (1 - a), "middle center")
                    for a in (first, 0.5, 0.65, 0.35, 0.75, 0.25)
                ],
            )

        labels = [create_node_label(node) for node in nodes]
        all_labels = [
            *labels[:n_marks],
            *map(create_cost_label, priced_edges, costs),
            *labels[n_marks:],
        ]
        label_places = place_labels(all_labels, self.letters, self.cell, [self.name, *dots])
        after = n_marks + len(priced_edges)
        of_nodes = [*label_places[:n_marks], *label_places[after:]]
        return label_places[n_marks:after], dict(zip(nodes, of_nodes, strict=True))


_PLAIN = _Mark("circle-open", QUIET, 7)
_SIDES = ("top center", "middle right", "bottom center", "middle left", "top right", "bottom right")


def _place_tree_nodes(tree: Hierarchy, nodes: set[int]) -> dict[int, tuple[float, float]]:
    """Where nodes stand: the root left, leaves on their own lines, others in their middle."""
    below: dict[int, list[int]] = {node: [] for node in sorted(nodes)}
    for node in sorted(nodes - {tree.root}):
        below[int(tree.parent[node])].append(node)
    down: dict[int, float] = {}
    for node in sorted(nodes, key=lambda child: (int(tree.first[child]), child)):
        if not below[node]:
            down[node] = -float(len(down))
    for node in sorted(nodes):  # parents have larger numbers
        if below[node]:
            down[node] = sum(down[child] for child in below[node]) / len(below[node])
    top = int(tree.level[tree.root])
    return {node: (float(top - tree.level[node]), down[node]) for node in below}
