"""The picture of a step of a lesson, the numbers behind it, and the running numbers."""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from kanon.base.formatting import count_noun, write_percent
from kanon.charts.figure import build_figure
from kanon.charts.labels import estimate_text_width
from kanon.charts.lesson_lattice import draw_lattice_so_far
from kanon.charts.lesson_look import HALO, ONE, PAGE, QUIET, Room, get_class_colour, scale_letters
from kanon.charts.lesson_trees import count_records_per_node, draw_merge, draw_table_values
from kanon.charts.style import INK, LABEL, add_opacity, escape_label
from kanon.teaching.cuts import Rectangle, RegionView
from kanon.teaching.grouping import ClusterView
from kanon.teaching.lesson import Lesson, Step, write_number
from kanon.teaching.nodes import NodeView, collect_known_nodes


def draw_step(
    lesson: Lesson,
    position: int,
    room: Room = PAGE,
    before: Sequence[int] = (),
    after: Sequence[int] = (),
) -> go.Figure:
    """The picture of a step: its regions, its merge, the lattice so far, or the trees."""
    step, drawn_step = lesson.steps[position], _choose_drawn_step(lesson, position)
    if (regions := get_regions(drawn_step)) is not None:
        # The same axes at every step, as long as they show the cut.
        up = max(regions.attribute or 0, 1)
        axes = (0, up) if len(regions.axes) > 1 else None
        return draw_regions(drawn_step, axes, room, after, settled=drawn_step is not step)
    if isinstance(drawn_step.detail, NodeView):
        return draw_lattice_so_far(lesson, position, room)
    if getattr(step.detail, "met", None):
        return draw_merge(lesson, step, room, before)
    return draw_table_values(lesson, step, room)


def build_picture_table(lesson: Lesson, position: int) -> pd.DataFrame:
    """The numbers behind :func:`draw_step`: a row per region, node or value."""
    step, drawn_step = lesson.steps[position], _choose_drawn_step(lesson, position)
    names = lesson.task.classes.attributes
    if (regions := get_regions(drawn_step)) is not None:
        rows = []
        for region in regions.regions:
            row: dict[str, object] = {"records": region.records}
            for name, low, high in zip(names, region.low, region.high, strict=True):
                row |= {f"{name}, low": low, f"{name}, high": high}
            rows.append(row)
        return pd.DataFrame(rows)
    if isinstance(drawn_step.detail, NodeView):
        node_views = [earlier.detail for earlier in lesson.steps[: position + 1]]
        state_by_node = collect_known_nodes(
            view for view in node_views if isinstance(view, NodeView)
        )
        return pd.DataFrame(
            [
                {
                    **dict(zip(names, node, strict=True)),
                    "satisfies": int(satisfies), "counted": int(counted_flag),
                }
                for node, (satisfies, counted_flag) in sorted(state_by_node.items())
            ]
        )  # fmt: skip
    if getattr(step.detail, "met", None):
        return _list_climbs(lesson, step)
    return pd.DataFrame(
        [
            {"column": name, "value": tree.labels[node], "records": records}
            for name, tree, counts in zip(
                names, lesson.task.classes.hierarchies, count_records_per_node(step), strict=True
            )
            for node, records in sorted(counts.items())
        ],
        columns=["column", "value", "records"],
    )


def _list_climbs(lesson: Lesson, step: Step) -> pd.DataFrame:
    rows = []
    first, second = step.detail.met
    for j, (name, tree) in enumerate(
        zip(lesson.task.classes.attributes, lesson.task.classes.hierarchies, strict=True)
    ):
        top = tree.lca(first.nodes[j], second.nodes[j])
        for side in (first, second):
            node = side.nodes[j]
            while node != top:
                above = int(tree.parent[node])
                ends = tree.labels[node], tree.labels[above]
                rows.append((side.label, name, *ends, lesson.get_cost(j, node, above)))
                node = above
    return pd.DataFrame(rows, columns=["class", "column", "from", "to", "cost per record"])


def _choose_drawn_step(lesson: Lesson, position: int) -> Step:
    """The step whose picture is drawn: itself, or at the end the last one that has one to keep."""
    step = lesson.steps[position]
    if position < len(lesson.steps) - 1:
        return step
    drawable = [
        past for past in lesson.steps if get_regions(past) or isinstance(past.detail, NodeView)
    ]
    return drawable[-1] if drawable else step


def get_regions(step: Step) -> RegionView | None:
    """The regions that a step of Mondrian shows, or the groups of MDAV; None of others."""
    regions = step.detail.regions if isinstance(step.detail, ClusterView) else step.detail
    return regions if isinstance(regions, RegionView) else None


def draw_regions(
    step: Step,
    axes: tuple[int, int] | None = None,
    room: Room = PAGE,
    numbers: Sequence[int] = (),
    settled: bool = False,
) -> go.Figure:
    """The regions after a step of Mondrian, or the groups of MDAV, as rectangles, records as dots.

    The current region has a thick rim, its parts are filled; a dot says how many records it is.
    """
    regions = get_regions(step)
    if regions is None:
        raise ValueError("this step has no regions")
    across = regions.attribute or 0
    others = [j for j in range(len(regions.axes)) if j != across]
    x, y = axes or (across, others[0] if others else None)
    if x == y:
        raise ValueError("two different axes are drawn")
    gaps = [_compute_gap(regions, x), 1.0 if y is None else _compute_gap(regions, y)]
    inner = {id(part) for part in regions.parts} if regions.attribute is not None else set()

    def get_colour(part: Rectangle) -> str:
        first = part.classes[0]
        return get_class_colour(numbers[first] if numbers else first + 1)

    shapes = []
    for region in regions.regions:
        if id(region) in inner or not region.classes:
            continue
        line = {
            "color": get_colour(region),
            "width": 1.5,
            "dash": "solid" if region.done else "dot",
        }
        shapes.append(_draw_region(region, x, y, gaps, 0.34, line, "rgba(0, 0, 0, 0)"))
    if not settled:
        rim = {"color": INK, "width": 3}
        shapes.append(_draw_region(regions.region, x, y, gaps, 0.42, rim, "rgba(0, 0, 0, 0)"))
    for place, part in enumerate(regions.parts if inner else ()):
        line = {"color": get_colour(part), "width": 2, "dash": "dash" if place % 2 else "solid"}
        shapes.append(
            _draw_region(part, x, y, gaps, 0.3, line, add_opacity(get_colour(part), 0.18))
        )
    kind = "groups" if isinstance(step.detail, ClusterView) else "regions"
    title = f"The released {kind}" if settled else escape_label(step.heading, 90)
    if len(regions.axes) > 2:
        title += f"; two of {len(regions.axes)} columns"
    size = room.letters
    margin = {"l": 24, "r": 24, "t": 12 if room.height else 52, "b": 64}
    upwards: dict[str, Any] = {"visible": False, "range": [-1, 1]}
    height = round(room.height or 420)
    if y is not None:
        labels = (label[:_LONGEST] for _, label in regions.axes[y].marks)
        margin["l"] = round(3 * size + max(estimate_text_width(label, size) for label in labels))
        upwards = _build_region_axis(regions, y, height - margin["t"] - margin["b"], size, up=True)
    inside = range(step.recoding.classes.n_classes) if settled else regions.region.classes
    figure = build_figure(
        [_draw_records(step, regions, inside, x, y)],
        "" if room.height else title,
        height,
        _build_region_axis(regions, x, room.width - margin["l"] - margin["r"], size, up=False),
        upwards,
        shapes=shapes,
        hovermode="closest",
        dragmode=False,
        margin=margin,
    )
    return scale_letters(figure, room)


def _compute_gap(regions: RegionView, j: int) -> float:
    places = [at for at, _ in regions.axes[j].marks]
    gaps = [high - low for low, high in pairwise(places)]
    span = places[-1] - places[0]
    return max(min(gaps), span / 30) if gaps else 1.0


def _draw_region(
    region: Rectangle,
    x: int,
    y: int | None,
    gaps: Sequence[float],
    share: float,
    line: Mapping[str, Any],
    fill: str,
) -> dict[str, Any]:
    low, high = (0.0, 0.0) if y is None else (region.low[y], region.high[y])
    return {
        "type": "rect", "layer": "below", "line": line, "fillcolor": fill,
        "x0": region.low[x] - share * gaps[0], "x1": region.high[x] + share * gaps[0],
        "y0": low - share * gaps[1], "y1": high + share * gaps[1],
    }  # fmt: skip


def _draw_records(
    step: Step, regions: RegionView, inside: Collection[int], x: int, y: int | None
) -> dict[str, Any]:
    counts = step.recoding.classes.counts.tolist()
    names = [
        "<br>".join(
            f"{escape_label(axis.attribute, 24)}: "
            f"{escape_label(next(label for at, label in axis.marks if at == axis.at[place]))}"
            for axis in regions.axes
        )
        for place in range(len(counts))
    ]
    return {
        "type": "scatter", "mode": "markers+text", "name": "records",
        "x": list(regions.axes[x].at),
        "y": [0.0] * len(counts) if y is None else list(regions.axes[y].at),
        "marker": {
            "size": [11 + 5 * math.sqrt(count - 1) for count in counts],
            "color": [INK if place in inside else "#8A939C" for place in range(len(counts))],
        },
        "text": [str(count) if count > 1 else "" for count in counts],
        "textposition": "top center", "textfont": LABEL, "cliponaxis": False,
        "hovertext": [
            f"{name}<br>{count_noun(count, 'record')}"
            for name, count in zip(names, counts, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }  # fmt: skip


def _build_region_axis(
    regions: RegionView, j: int, pixels: float, letters: int, up: bool
) -> dict[str, Any]:
    axis, gap = regions.axes[j], _compute_gap(regions, j)
    low, high = axis.marks[0][0] - 0.7 * gap, axis.marks[-1][0] + 0.7 * gap
    marks: list[tuple[float, str]] = []
    free = -math.inf
    for at, label in axis.marks:
        half = (
            1.3 * letters if up else estimate_text_width(label[:_LONGEST], letters) + letters
        ) / 2
        place = (at - low) / (high - low) * pixels
        if place - half >= free:
            marks.append((at, label))
            free = place + half
    return {
        "title": escape_label(axis.attribute, 30), "showgrid": False, "fixedrange": True,
        "tickvals": [at for at, _ in marks], "tickangle": 0,
        "ticktext": [escape_label(label, _LONGEST) for _, label in marks],
        "range": [low, high],
    }  # fmt: skip


_LONGEST = 14  # longer labels of an axis are cut


def draw_running_numbers(lesson: Lesson, step: int | None = None) -> go.Figure:
    """Minimum k, alteration in % and, with a sensitive column, l and t after each step."""
    steps = lesson.steps
    last = len(steps) - 1 if step is None else step
    now = steps[last].numbers
    rows: list[tuple[str, str, list[float | None]]] = [
        ("minimum k ↑", str(now.min_k), [past.numbers.min_k for past in steps]),
        (
            "alteration, % ↓",
            write_percent(now.alteration),
            [past.numbers.alteration for past in steps],
        ),
    ]
    if lesson.sensitive is not None:
        rows += [
            ("entropy l ↑", write_number(now.l), [past.numbers.l for past in steps]),
            ("t, 0 to 1 ↓", write_number(now.t), [past.numbers.t for past in steps]),
        ]
    title = f"After step {last}: minimum k {rows[0][1]}, alteration {rows[1][1]}"
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {}
    for row, (name, text, values) in enumerate(rows):
        number = str(row + 1) if row else ""
        common = {"type": "scatter", "name": name, "xaxis": "x", "yaxis": f"y{number}"}
        data.append(
            {
                **common, "mode": "lines", "x": list(range(last + 1)), "y": values[: last + 1],
                "line": {"shape": "hv", "width": 3, "color": ONE},
                "hovertemplate": f"step %{{x}}: %{{y:.3g}}<extra>{name}</extra>",
            }
        )  # fmt: skip
        data.append(
            {
                **common, "mode": "markers+text", "x": [last], "y": [values[last]],
                "marker": {"size": 11, "color": ONE}, "text": [f" {text}"],
                "textposition": "middle right", "cliponaxis": False, "hoverinfo": "skip",
                "textfont": {"size": 14, "color": INK, "weight": 700, "shadow": HALO},
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
        "line": {"color": QUIET, "width": 1, "dash": "dot"},
    }  # fmt: skip
    return build_figure(
        data, title, 110 + len(rows) * 100, across, axes.pop("yaxis"), **axes,
        shapes=[cursor], hovermode="closest", margin={"l": 84, "r": 40, "t": 52, "b": 52},
    )  # fmt: skip
