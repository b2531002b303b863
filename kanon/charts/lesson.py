"""The picture of a step of a lesson, whatever its algorithm, and the numbers behind it."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from kanon.charts.lesson_lattice import lattice_so_far
from kanon.charts.lesson_look import PAGE, Room
from kanon.charts.lesson_regions import regions_chart, regions_in
from kanon.charts.lesson_trees import merge_chart, standing, standing_chart
from kanon.teaching.lesson import Lesson, Step
from kanon.teaching.nodes import NodeView, known_by


def picture_of(
    lesson: Lesson,
    position: int,
    room: Room = PAGE,
    before: Sequence[int] = (),
    after: Sequence[int] = (),
) -> go.Figure:
    """The picture of a step: regions, the two that meet, the lattice so far, or the trees."""
    step, seen = lesson.steps[position], _seen(lesson, position)
    if (regions := regions_in(seen)) is not None:
        # The same axes at every step, as long as the cut can be seen on them.
        up = max(regions.attribute or 0, 1)
        axes = (0, up) if len(regions.axes) > 1 else None
        return regions_chart(seen, axes, room, after, settled=seen is not step)
    if isinstance(seen.detail, NodeView):
        return lattice_so_far(lesson, position, room)
    if getattr(step.detail, "met", None):
        return merge_chart(lesson, step, room, before)
    return standing_chart(lesson, step, room)


def picture_table(lesson: Lesson, position: int) -> pd.DataFrame:
    """The numbers behind :func:`picture_of`."""
    step, seen = lesson.steps[position], _seen(lesson, position)
    names = lesson.task.classes.attributes
    if (regions := regions_in(seen)) is not None:
        rows = []
        for region in regions.regions:
            row: dict[str, object] = {"records": region.records}
            for name, low, high in zip(names, region.low, region.high, strict=True):
                row |= {f"{name}, low": low, f"{name}, high": high}
            rows.append(row)
        return pd.DataFrame(rows)
    if isinstance(seen.detail, NodeView):
        looks = [each.detail for each in lesson.steps[: position + 1]]
        known = known_by(look for look in looks if isinstance(look, NodeView))
        return pd.DataFrame(
            [
                {
                    **dict(zip(names, node, strict=True)),
                    "satisfies": int(satisfies), "counted": int(was_counted),
                }
                for node, (satisfies, was_counted) in sorted(known.items())
            ]
        )  # fmt: skip
    if getattr(step.detail, "met", None):
        return _climbed(lesson, step)
    return pd.DataFrame(
        [
            {"column": name, "value": tree.labels[node], "records": records}
            for name, tree, counts in zip(
                names, lesson.task.classes.hierarchies, standing(step), strict=True
            )
            for node, records in sorted(counts.items())
        ],
        columns=["column", "value", "records"],
    )


def _climbed(lesson: Lesson, step: Step) -> pd.DataFrame:
    rows = []
    one, other = step.detail.met
    for j, (name, tree) in enumerate(
        zip(lesson.task.classes.attributes, lesson.task.classes.hierarchies, strict=True)
    ):
        top = tree.lca(one.nodes[j], other.nodes[j])
        for held in (one, other):
            node = held.nodes[j]
            while node != top:
                above = int(tree.parent[node])
                ends = tree.labels[node], tree.labels[above]
                rows.append((held.label, name, *ends, lesson.paid(j, node, above)))
                node = above
    return pd.DataFrame(rows, columns=["class", "column", "from", "to", "cost per record"])


def _seen(lesson: Lesson, position: int) -> Step:
    """The step whose picture is drawn: itself, or at the end the last one that has one to keep."""
    step = lesson.steps[position]
    if position < len(lesson.steps) - 1:
        return step
    kept = [each for each in lesson.steps if regions_in(each) or isinstance(each.detail, NodeView)]
    return kept[-1] if kept else step
