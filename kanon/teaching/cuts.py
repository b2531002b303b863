"""Lesson of Mondrian: every cut of a region, as rectangles in a space with an axis per column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.algorithms import mondrian
from kanon.algorithms.lines import ValueOrder
from kanon.algorithms.mondrian import DIMENSION, RELEASE, SETS, VARIANT
from kanon.base.formatting import count_noun
from kanon.recoding import Recoding, Trace
from kanon.reference.mondrian import Mondrian, PlainCut
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, Rule, Step


@dataclass(frozen=True)
class Axis:
    attribute: str
    numeric: bool  # whether values are placed by their size
    at: tuple[float, ...]  # the place of each original class
    marks: tuple[tuple[float, str], ...]  # places of the table's values, with labels, rising


@dataclass(frozen=True)
class Rectangle:
    low: tuple[float, ...]
    high: tuple[float, ...]
    records: int
    classes: tuple[int, ...]  # the original classes in it
    done: bool = False  # whether it is cut no further


@dataclass(frozen=True)
class RegionView:
    axes: tuple[Axis, ...]  # the quasi-identifiers
    region: Rectangle  # the region that is looked at
    attribute: int | None  # the axis of the cut
    median: str  # where the records of the region are halved on that axis, as a label
    regions: tuple[Rectangle, ...]  # all regions after the step
    parts: tuple[Rectangle, ...]  # of these, the parts of the region


@dataclass(frozen=True, eq=False)
class _RegionSpace:
    board: Blackboard

    @cached_property
    def lines(self) -> list[ValueOrder]:
        return [ValueOrder.from_hierarchy(tree) for tree in self.board.task.classes.hierarchies]

    @cached_property
    def reference(self) -> Mondrian:
        task, table = self.board.task, self.board.table
        rules = task.k, task.option(VARIANT), lambda region: not table.breaks(region)
        trees = table.hierarchies
        options = map(task.option, (DIMENSION, RELEASE, SETS))
        return Mondrian(table.nodes, table.records, trees, *rules, *options)

    @cached_property
    def at(self) -> list[list[float]]:
        all_classes = self.reference.everything
        return [[self.reference.place(c, j) for c in all_classes] for j in range(len(self.lines))]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        classes = self.board.task.classes
        axes = []
        for j, (name, line) in enumerate(zip(classes.attributes, self.lines, strict=True)):
            labels = line.tree.labels
            marks = {at: labels[v] for at, v in zip(self.at[j], classes.nodes[:, j], strict=True)}
            axes.append(Axis(name, line.numeric, tuple(self.at[j]), tuple(sorted(marks.items()))))
        return tuple(axes)

    def build_rectangle(self, members: Sequence[int], is_final: bool = False) -> Rectangle:
        return Rectangle(
            tuple(min(at[place] for place in members) for at in self.at),
            tuple(max(at[place] for place in members) for at in self.at),
            self.count_records(members),
            tuple(members),
            is_final,
        )

    def count_records(self, members: Sequence[int]) -> int:
        return self.reference.size(members)

    def measure_axis(self, members: Sequence[int], j: int) -> float:
        """What axes are compared by: width or loss in percent, distinct values, the larger part."""
        region, dimension = tuple(members), self.board.task.option(DIMENSION)
        parts = self.reference.find_first_parts(region, j)
        if dimension == "best-balance":
            return max(map(self.reference.size, parts))
        if dimension == "least-loss":
            cells = self.count_records(region) * len(self.lines)
            return float(100 * self.reference.measure_loss(parts) / cells)
        worth = self.reference.worth(region, j)
        return float(100 * worth) if dimension == "widest" else int(worth) or 1

    def get_median_label(self, members: Sequence[int], j: int) -> str:
        if self.reference.is_by_groups(j):
            return ""
        middle = self.reference.median(tuple(members), j)
        return next(label for at, label in self.axes[j].marks if at == middle)

    def name(self, members: Sequence[int], cut: PlainCut) -> str:
        if cut.place == "groups":
            return "by the groups of the hierarchy"
        label = self.get_median_label(members, cut.attribute)
        if cut.place != "between":
            return f"{cut.place} {label}"
        middle = self.reference.median(tuple(members), cut.attribute)
        tied = sum(self.at[cut.attribute][place] == middle for place in cut.parts[0])
        return f"below {label}, with {count_noun(tied, 'class', 'classes')} at {label}"

    def explain_refusal(self, parts: Sequence[Sequence[int]]) -> str:
        task = self.board.task
        if len(parts) < 2:
            return "there would be only one part"
        sizes = [self.count_records(part) for part in parts]
        if min(sizes) < task.k:
            return f"a part would hold {count_noun(min(sizes), 'record')}"
        if any(map(self.board.table.breaks, parts)):
            return "a part would not meet another model"
        return ""

    def release_regions(self, regions: Sequence[Sequence[int]]) -> Recoding:
        order = np.array([place for region in regions for place in region], dtype=np.int64)
        starts = np.cumsum([0, *(len(region) for region in regions[:-1])])
        return mondrian.released(self.board.task, self.lines, order, starts, Trace())


def build_region_view(
    board: Blackboard, groups: Sequence[Sequence[int]], looked_at: int
) -> RegionView:
    space = _RegionSpace(board)
    regions = tuple(space.build_rectangle(members, is_final=True) for members in groups)
    region = regions[looked_at]
    return RegionView(space.axes, region, None, "", regions, (region,))


def explain_mondrian(board: Blackboard) -> Iterator[Step]:
    space = _RegionSpace(board)
    everything = space.reference.everything
    regions = [everything]
    final_regions: set[tuple[int, ...]] = set()
    value = "the range" if board.task.option(RELEASE) == "ranges" else "the lowest group, or range,"
    names = board.task.classes.attributes

    def build_view(
        region: tuple[int, ...], cut: PlainCut | None, parts: Sequence[tuple[int, ...]]
    ) -> RegionView:
        rectangles = {
            members: space.build_rectangle(members, members in final_regions) for members in regions
        }
        axis = None if cut is None else cut.attribute
        return RegionView(
            space.axes,
            space.build_rectangle(region),
            axis,
            "" if axis is None else space.get_median_label(region, axis),
            tuple(rectangles.values()),
            tuple(rectangles[part] for part in parts),
        )

    yield board.step(
        "One region",
        f"All {board.task.classes.n_records} records are one region. In every column, each gets "
        f"{value} that holds all values. Every cut brings detail back.",
        space.release_regions(regions), (), build_view(everything, None, [everything]),
    )  # fmt: skip
    for step in space.reference.steps():
        region, cut = step.region, step.cut
        axes = _build_axis_choices(space, region, cut)
        if cut is None:
            final_regions.add(region)
            heading = count_noun(space.count_records(region), "record stays", "records stay")
            stays, now = _explain_why_it_stays(space, region), space.release_regions(regions)
            yield board.step(heading, stays, now, axes, build_view(region, None, [region]))
            continue
        place = regions.index(region)
        regions[place : place + 1] = cut.parts
        how, halved = axes[-1], space.get_median_label(region, cut.attribute)
        median = (
            f" The median is {halved}: at least half of the records do not exceed it."
            if halved
            else ""
        )
        sizes = " and ".join(str(space.count_records(part)) for part in cut.parts)
        yield board.step(
            f"Cut {_count_records(space, region)} on {names[cut.attribute]}",
            f"The region is cut on {names[cut.attribute]}: {axes[0].reason}.{median} The cut "
            f"“{how.chosen.name}” gives parts of {sizes} records: {how.reason}.",
            space.release_regions(regions),
            axes,
            build_view(region, cut, cut.parts),
        )


_AXIS_RULES = {
    "widest": Rule("widest, as a share of the whole table", "Width, % of the table’s ↑", " %"),
    "most-distinct": Rule("most distinct values in the region", "Distinct values ↑"),
    "best-balance": Rule("fewest records in the larger part", "Records of the larger part ↓"),
    "least-loss": Rule("least loss of values after the cut", "Values lost ↓", " %"),
}
"""By what axes are ranked."""


def _count_records(space: _RegionSpace, region: Sequence[int]) -> str:
    return count_noun(space.count_records(region), "record")


def _build_axis_choices(
    space: _RegionSpace, region: tuple[int, ...], cut: PlainCut | None
) -> tuple[Choice, ...]:
    if cut is None:
        return ()
    plain = space.reference
    candidates = []
    for j, name in enumerate(space.board.task.classes.attributes):
        tried = list(plain.list_cuts_on(region, j)) if plain.width(region, j) else []
        refused = space.explain_refusal(tried[0].parts) if tried else "it has only one value"
        candidates.append(
            Candidate(
                name, (-plain.worth(region, j), j), j == cut.attribute,
                figures=(space.measure_axis(region, j),),
                refused="" if any(map(plain.is_allowed, tried)) else refused,
            )
        )  # fmt: skip
    tried = list(plain.list_cuts_on(region, cut.attribute))
    # Two candidates may be the same cut: the first of them counts.
    first = next(i for i, option in enumerate(tried) if {*option.parts} == {*cut.parts})
    return (
        Choice(
            "On which axis is the region cut?",
            (_AXIS_RULES[space.board.task.option(DIMENSION)], Rule("the first column")),
            tuple(candidates),
        ),
        Choice(
            "Where on that axis?",
            (Rule("the first of the cuts tried"),),
            tuple(
                Candidate(
                    space.name(region, option), (place,), place == first,
                    classes=option.parts[0], refused=space.explain_refusal(option.parts),
                )
                for place, option in enumerate(tried)
            ),
        ),
    )  # fmt: skip


def _explain_why_it_stays(space: _RegionSpace, region: tuple[int, ...]) -> str:
    task = space.board.task
    if len(region) == 1:
        return "These records have the same quasi-identifiers, so they stay together."
    if space.count_records(region) < 2 * task.k:
        return f"With fewer than 2 k = {2 * task.k} records, a part would hold fewer than {task.k}."
    names = task.classes.attributes
    reasons = [
        f"{names[j]} {space.name(region, option)}, because {space.explain_refusal(option.parts)}"
        for j in range(len(names))
        if space.reference.width(region, j)
        for option in space.reference.list_cuts_on(region, j)
    ]
    return f"No cut is allowed: not {'; nor '.join(reasons)}."
