"""Two lessons on one table, side by side: which of their steps belong together, where they part."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kanon.recoding import Recoding
from kanon.teaching.lesson import Lesson
from kanon.teaching.merging import Merge
from kanon.teaching.question import Labels, labels_of


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Two lessons on the same table, walked through together."""

    # the lessons
    one: Lesson
    other: Lesson

    def __post_init__(self) -> None:
        one, other = self.one.task.classes, self.other.task.classes
        if not (
            one.attributes == other.attributes
            and np.array_equal(one.nodes, other.nodes)
            and np.array_equal(one.counts, other.counts)
        ):
            raise ValueError("the two lessons are not on the same table")

    @cached_property
    def rule(self) -> Literal["merges", "steps", "share"]:
        """What both have done as much of at every place."""
        if _merges_alone(self.one) and _merges_alone(self.other):
            return "merges"
        return "steps" if self.one.algorithm == self.other.algorithm else "share"

    @property
    def last(self) -> int:
        """The last place: both lessons are at their release."""
        return max(self._ends)

    def positions(self, place: int) -> tuple[int, int]:
        one, other = (
            place * end // self.last if self.rule == "share" else min(place, end)
            for end in self._ends
        )
        return one, other

    def first_at(self, side: int, position: int) -> int:
        """The first place at which a side (0 or 1) is at a position of its lesson, or beyond."""
        places = (place for place in range(self.last) if self.positions(place)[side] >= position)
        return next(places, self.last)

    @cached_property
    def parting(self) -> int | None:
        """The first place at which the two part the records differently; None if there is none."""
        return next((place for place in range(self.last + 1) if not self._alike(place)), None)

    @cached_property
    def ending(self) -> Literal["same", "values", "classes"]:
        """What of the releases differs: nothing, the values of the same classes, or the classes."""
        if not self._alike(self.last):
            return "classes"
        one, other = (_shown(each.steps[-1].recoding) for each in (self.one, self.other))
        return "same" if one == other else "values"

    @property
    def _ends(self) -> tuple[int, int]:
        return len(self.one.steps) - 1, len(self.other.steps) - 1

    def _alike(self, place: int) -> bool:
        at, there = self.positions(place)
        return _parts(self.one.steps[at].recoding) == _parts(self.other.steps[there].recoding)


def cost_so_far(lesson: Lesson, position: int) -> float:
    """What all records have paid up to a step, in the metric's own unit."""
    recoding = lesson.steps[position].recoding
    classes = recoding.classes
    ends = np.array([[tree.root for tree in classes.hierarchies]] * classes.n_classes)
    to = ends if recoding.ranged else recoding.targets
    paid = sum(
        records * lesson.paid(j, low, high)
        for records, lows, highs in zip(
            classes.counts.tolist(), classes.nodes.tolist(), to.tolist(), strict=True
        )
        for j, (low, high) in enumerate(zip(lows, highs, strict=True))
    )
    if not recoding.ranged:
        return paid
    # What a range costs stands on no tree: its share of the whole is known. Nobody weighs ranges.
    return paid * lesson.steps[position].numbers.alteration / 100


def _merges_alone(lesson: Lesson) -> bool:
    """Whether every step between the table and the release merges two classes."""
    return lesson.complete and all(isinstance(step.detail, Merge) for step in lesson.steps[1:-1])


def _parts(recoding: Recoding) -> frozenset[frozenset[int]]:
    parts = (np.flatnonzero(recoding.assigned == each) for each in range(recoding.n_classes))
    return frozenset(frozenset(part.tolist()) for part in parts)


def _shown(recoding: Recoding) -> list[Labels]:
    return [labels_of(recoding, row) for row in recoding.targets]
