"""Mondrian told: every cut of a region, as rectangles in a space with an axis per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.algorithms import mondrian
from kanon.algorithms.lines import ValueOrder
from kanon.algorithms.mondrian import DIMENSION, RELEASE, VARIANT, Cut
from kanon.base.formatting import counted
from kanon.hierarchy.ranges import is_flat
from kanon.recoding import Recoding, Trace
from kanon.teaching.blackboard import Blackboard
from kanon.teaching.lesson import Candidate, Choice, Rule, Step


@dataclass(frozen=True)
class Axis:
    """A quasi-identifier as an axis."""

    attribute: str  # its name
    numeric: bool  # whether values stand by their size
    at: tuple[float, ...]  # where each original class stands
    # the values of the table as labels, by where they stand, rising
    marks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Rectangle:
    """A region: from where to where it goes on each axis."""

    # its ends on each axis: of the values that it holds
    low: tuple[float, ...]
    high: tuple[float, ...]
    records: int  # how many it holds
    classes: tuple[int, ...]  # the original classes in it
    done: bool = False  # whether it stays as it is


@dataclass(frozen=True)
class Regions:
    """What a step of Mondrian shows beside its choices."""

    axes: tuple[Axis, ...]  # the quasi-identifiers
    region: Rectangle  # the region that is looked at
    attribute: int | None  # the axis of the cut
    median: str  # where the records of the region are halved on that axis, as a label
    regions: tuple[Rectangle, ...]  # all regions after the step
    parts: tuple[Rectangle, ...]  # of these, the parts of the region


@dataclass(frozen=True)
class _Possible:
    """A cut that is tried: its parts, what it is called, and why it is refused, if it is."""

    name: str
    parts: tuple[tuple[int, ...], ...]
    refused: str


@dataclass(frozen=True, eq=False)
class _Space:
    """The space that Mondrian cuts."""

    board: Blackboard

    @cached_property
    def lines(self) -> list[ValueOrder]:
        """Where the values of each quasi-identifier stand."""
        return [ValueOrder.of(tree) for tree in self.board.task.classes.hierarchies]

    @cached_property
    def at(self) -> list[list[float]]:
        """Per quasi-identifier where each class stands."""
        nodes = self.board.task.classes.nodes.T
        return [line.at[column].tolist() for line, column in zip(self.lines, nodes, strict=True)]

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        classes = self.board.task.classes
        found = []
        for j, (name, line) in enumerate(zip(classes.attributes, self.lines, strict=True)):
            labels = line.tree.labels
            marks = {at: labels[v] for at, v in zip(self.at[j], classes.nodes[:, j], strict=True)}
            found.append(Axis(name, line.numeric, tuple(self.at[j]), tuple(sorted(marks.items()))))
        return tuple(found)

    def rectangle(self, members: Sequence[int], done: bool = False) -> Rectangle:
        """The region of some classes."""
        return Rectangle(
            tuple(min(at[each] for each in members) for at in self.at),
            tuple(max(at[each] for each in members) for at in self.at),
            self.records(members),
            tuple(members),
            done,
        )

    def records(self, members: Sequence[int]) -> int:
        """How many records some classes hold."""
        return int(self.board.task.classes.counts[list(members)].sum())

    def width(self, members: Sequence[int], j: int) -> float:
        """(hi - lo) of a region / (hi - lo) of the table; 0 on an axis of one value."""
        held = [self.at[j][each] for each in members]
        if max(held) == min(held):
            return 0.0
        return (max(held) - min(held)) / (max(self.at[j]) - min(self.at[j]))

    def worth(self, members: Sequence[int], j: int) -> float:
        """How early an axis is tried: the more, the earlier; 0 on an axis of one value."""
        width, dimension = self.width(members, j), self.board.task.option(DIMENSION)
        if dimension == "widest" or not width:
            return width
        if dimension == "most-distinct":
            return len(set(self.board.task.classes.nodes[list(members), j].tolist()))
        return self.records(members) - self.largest(members, j)

    def largest(self, members: Sequence[int], j: int) -> int:
        """The records of the largest part after the first cut on an axis that k allows."""
        for each in self.possible(members, j):
            sizes = list(map(self.records, each.parts))
            if len(sizes) > 1 and min(sizes) >= self.board.task.k:
                return max(sizes)
        return self.records(members)

    def measured(self, members: Sequence[int], j: int) -> float:
        """What the worth of an axis says: its width in percent, its values, or the larger part."""
        worth, dimension = self.worth(members, j), self.board.task.option(DIMENSION)
        if dimension == "best-balance":
            return self.largest(members, j)
        return 100 * worth if dimension == "widest" else worth or 1

    def median(self, members: Sequence[int], j: int) -> float:
        """The lowest place that at least half of the records do not exceed."""
        total = self.records(members)
        return min(
            place
            for place in (self.at[j][each] for each in members)
            if 2 * self.records([each for each in members if self.at[j][each] <= place]) >= total
        )

    def halved(self, members: Sequence[int], j: int) -> str:
        """The median as a label; nothing on an axis that is cut by groups."""
        if self.by_groups(j):
            return ""
        middle = self.median(members, j)
        return next(label for at, label in self.axes[j].marks if at == middle)

    def by_groups(self, j: int) -> bool:
        """Whether an axis is cut by the groups of its hierarchy."""
        task = self.board.task
        return task.option(VARIANT) == "hierarchy" and not is_flat(task.classes.hierarchies[j])

    def possible(self, members: Sequence[int], j: int) -> list[_Possible]:
        """The cuts that are tried on an axis, in their order."""
        task = self.board.task
        if self.by_groups(j):
            parts = self._by_children(members, j)
            return [_Possible("by the groups of the hierarchy", parts, self.refused(parts))]
        middle = self.median(members, j)
        label = self.halved(members, j)
        below = [each for each in members if self.at[j][each] < middle]
        upto = [each for each in members if self.at[j][each] <= middle]
        firsts = [(f"up to {label}", upto), (f"below {label}", below)]
        if task.option(VARIANT) == "relaxed":
            there = [each for each in members if self.at[j][each] == middle]
            ways = [below + there[:taken] for taken in range(len(there) + 1)]
            total = self.records(members)
            most_equal = min(
                range(len(ways)),
                key=lambda taken: (abs(2 * self.records(ways[taken]) - total), -taken),
            )
            name = f"below {label} and {counted(most_equal, 'class', 'classes')} at it"
            firsts.insert(0, (name, ways[most_equal]))
        found = []
        for name, first in firsts:
            rest = [each for each in members if each not in first]
            halves = tuple(sorted(first)), tuple(rest)
            found.append(_Possible(name, halves, self.refused(halves)))
        return found

    def _by_children(self, members: Sequence[int], j: int) -> tuple[tuple[int, ...], ...]:
        """The classes below each child of where all values meet, in the order of the leaves."""
        tree = self.board.task.classes.hierarchies[j]
        nodes = self.board.task.classes.nodes[:, j].tolist()
        above = nodes[members[0]]
        for each in members:
            above = tree.lca(above, nodes[each])
        below: dict[int, list[int]] = {}
        for each in members:
            path = tree.path(nodes[each])
            place = path.index(above)
            below.setdefault(path[place - 1] if place else above, []).append(each)
        order = sorted(below, key=lambda node: (node == above, int(tree.first[node])))
        return tuple(tuple(below[node]) for node in order)

    def refused(self, parts: Sequence[Sequence[int]]) -> str:
        """Why a cut is not allowed; nothing if it is."""
        task = self.board.task
        if len(parts) < 2:
            return "there would be one part alone"
        sizes = [self.records(part) for part in parts]
        if min(sizes) < task.k:
            return f"a part would hold {counted(min(sizes), 'record')}"
        if task.others and any(self.board.breaks(part) for part in parts):
            return "a part would break another model"
        return ""

    def released(self, regions: Sequence[Sequence[int]]) -> Recoding:
        """The release in which every region is one class."""
        order = np.array([each for region in regions for each in region], dtype=np.int64)
        starts = np.cumsum([0, *(len(region) for region in regions[:-1])])
        return mondrian.released(self.board.task, self.lines, order, starts, Trace())


def regions_of(board: Blackboard, groups: Sequence[Sequence[int]], looked_at: int) -> Regions:
    """Groups of classes as rectangles in the space of all records, one of them looked at."""
    space = _Space(board)
    regions = tuple(space.rectangle(members, done=True) for members in groups)
    one = regions[looked_at]
    return Regions(space.axes, one, None, "", regions, (one,))


def cutting(board: Blackboard) -> Iterator[Step]:
    """The whole table as one region; then every cut, and every region that stays."""
    space = _Space(board)
    made = {frozenset(np.concatenate(cut.parts).tolist()): cut for cut in mondrian.cuts(board.task)}
    everything = tuple(range(board.task.classes.n_classes))
    regions = [everything]
    done: set[tuple[int, ...]] = set()
    value = "the range" if board.task.option(RELEASE) == "ranges" else "the lowest group, or range,"
    names = board.task.classes.attributes

    def shown(
        region: tuple[int, ...], cut: Cut | None, parts: Sequence[tuple[int, ...]]
    ) -> Regions:
        every = {each: space.rectangle(each, each in done) for each in regions}
        axis = None if cut is None else names.index(cut.attribute)
        return Regions(
            space.axes,
            space.rectangle(region),
            axis,
            "" if axis is None else space.halved(region, axis),
            tuple(every.values()),
            tuple(every[part] for part in parts),
        )

    yield board.step(
        "One region",
        f"All {board.task.classes.n_records} records are one region: each gets, in every column, "
        f"{value} that holds all values. Cutting it up wins detail back.",
        space.released(regions),
        (),
        shown(everything, None, [everything]),
    )
    waiting = [everything]
    while waiting:
        region = waiting.pop()
        cut = made.get(frozenset(region))
        axes = _which_axis(space, region, cut)
        if cut is None:
            done.add(region)
            why = _why_it_stays(space, region)
            yield board.step(
                f"{_records(space, region)} {'stays' if space.records(region) == 1 else 'stay'}",
                why,
                space.released(regions),
                axes,
                shown(region, None, [region]),
            )
            continue
        parts = [tuple(part.tolist()) for part in cut.parts]
        place = regions.index(region)
        regions[place : place + 1] = parts
        waiting += reversed(parts)
        how, halved = axes[-1], space.halved(region, names.index(cut.attribute))
        median = f" Its median is {halved}: half of the records do not exceed it." if halved else ""
        sizes = " and ".join(str(size) for size in cut.sizes)
        yield board.step(
            f"Cut {_records(space, region)} on {cut.attribute}",
            f"It is cut on {cut.attribute}: {axes[0].reason}.{median} The cut is "
            f"{how.chosen.name}, {sizes} records: {how.reason}.",
            space.released(regions),
            axes,
            shown(region, cut, parts),
        )


_FIRST = {
    "widest": Rule("widest, as a share of the whole table", "Width, % of the table’s ↑", " %"),
    "most-distinct": Rule("most distinct values in the region", "Distinct values ↑"),
    "best-balance": Rule("fewest records in the larger part", "Records of the larger part ↓"),
}
"""Which axis is tried first."""


def _records(space: _Space, region: Sequence[int]) -> str:
    return counted(space.records(region), "record")


def _which_axis(space: _Space, region: tuple[int, ...], cut: Cut | None) -> tuple[Choice, ...]:
    """The choice of an axis, and of a cut on it; nothing where the region stays."""
    if cut is None:
        return ()
    names = space.board.task.classes.attributes
    candidates = []
    for j, name in enumerate(names):
        tried = space.possible(region, j) if space.width(region, j) else []
        open_to = any(not each.refused for each in tried)
        refused = "" if open_to else tried[0].refused if tried else "it has one value alone"
        candidates.append(
            Candidate(
                name, (-space.worth(region, j), j), name == cut.attribute,
                figures=(space.measured(region, j),), refused=refused,
            )
        )  # fmt: skip
    parts = {frozenset(part.tolist()) for part in cut.parts}
    tried = space.possible(region, names.index(cut.attribute))
    # Two candidates may be the same cut: the first of them counts.
    same = [place for place, each in enumerate(tried) if set(map(frozenset, each.parts)) == parts]
    return (
        Choice(
            "On which axis is the region cut?",
            (_FIRST[space.board.task.option(DIMENSION)], Rule("the first column")),
            tuple(candidates),
        ),
        Choice(
            "Where on that axis?",
            (Rule("the first of the cuts tried"),),
            tuple(
                Candidate(
                    each.name, (place,), place == same[0],
                    classes=each.parts[0], refused=each.refused,
                )
                for place, each in enumerate(tried)
            ),
        ),
    )  # fmt: skip


def _why_it_stays(space: _Space, region: tuple[int, ...]) -> str:
    """Why a region is not cut, in a sentence."""
    task = space.board.task
    if len(region) == 1:
        return "They share all quasi-identifiers, and such records stay together."
    if space.records(region) < 2 * task.k:
        return f"Fewer than 2 k = {2 * task.k} records: a part would hold fewer than k = {task.k}."
    names = task.classes.attributes
    reasons = [
        f"{names[j]} {each.name}, as {each.refused}"
        for j in range(len(names))
        if space.width(region, j)
        for each in space.possible(region, j)
    ]
    return f"No cut is allowed: not {'; nor '.join(reasons)}."
