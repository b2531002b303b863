"""Two lessons on one table, side by side: which steps belong together, where they differ."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kanon.recoding import Recoding
from kanon.teaching.lesson import Lesson
from kanon.teaching.merging import Merge
from kanon.teaching.question import Labels, get_labels


@dataclass(frozen=True, eq=False)
class SideBySide:
    one: Lesson
    other: Lesson

    def __post_init__(self) -> None:
        first, second = self.one.task.classes, self.other.task.classes
        if not (
            first.attributes == second.attributes
            and np.array_equal(first.nodes, second.nodes)
            and np.array_equal(first.counts, second.counts)
        ):
            raise ValueError("the two lessons are not on the same table")

    @cached_property
    def rule(self) -> Literal["merges", "steps", "share"]:
        """What advances equally in both lessons: merges, steps, or the share of the lesson."""
        if _has_only_merges(self.one) and _has_only_merges(self.other):
            return "merges"
        return "steps" if self.one.algorithm == self.other.algorithm else "share"

    @property
    def last(self) -> int:
        return max(self._ends)

    def get_positions(self, place: int) -> tuple[int, int]:
        first, second = (
            place * end // self.last if self.rule == "share" else min(place, end)
            for end in self._ends
        )
        return first, second

    def find_first_place(self, side: int, position: int) -> int:
        """The first place at which a side (0 or 1) has reached a position of its lesson."""
        places = (
            place for place in range(self.last) if self.get_positions(place)[side] >= position
        )
        return next(places, self.last)

    @cached_property
    def parting_place(self) -> int | None:
        """The first place at which the classes differ; None if there is none."""
        return next(
            (place for place in range(self.last + 1) if not self._has_same_classes(place)), None
        )

    @cached_property
    def ending(self) -> Literal["same", "values", "classes"]:
        """How the releases differ: not at all, in the values of the same classes, or in classes."""
        if not self._has_same_classes(self.last):
            return "classes"
        first, second = (
            _list_labels(lesson.steps[-1].recoding) for lesson in (self.one, self.other)
        )
        return "same" if first == second else "values"

    @property
    def _ends(self) -> tuple[int, int]:
        return len(self.one.steps) - 1, len(self.other.steps) - 1

    def _has_same_classes(self, place: int) -> bool:
        position, other_position = self.get_positions(place)
        return _list_classes(self.one.steps[position].recoding) == _list_classes(
            self.other.steps[other_position].recoding
        )


def sum_cost_so_far(lesson: Lesson, position: int) -> float:
    """The costs of all records up to a step, in the metric's own unit."""
    recoding = lesson.steps[position].recoding
    classes = recoding.classes
    ends = np.array([[tree.root for tree in classes.hierarchies]] * classes.n_classes)
    to = ends if recoding.ranged else recoding.targets
    paid = sum(
        records * lesson.get_cost(j, low, high)
        for records, lows, highs in zip(
            classes.counts.tolist(), classes.nodes.tolist(), to.tolist(), strict=True
        )
        for j, (low, high) in enumerate(zip(lows, highs, strict=True))
    )
    if not recoding.ranged:
        return paid
    # No tree has the cost of a range, but its share of the whole is known. Ranges have no weights.
    return paid * lesson.steps[position].numbers.alteration / 100


def _has_only_merges(lesson: Lesson) -> bool:
    """Whether every step between the table and the release merges two classes."""
    return lesson.complete and all(isinstance(step.detail, Merge) for step in lesson.steps[1:-1])


def _list_classes(recoding: Recoding) -> frozenset[frozenset[int]]:
    parts = (np.flatnonzero(recoding.assigned == c) for c in range(recoding.n_classes))
    return frozenset(frozenset(part.tolist()) for part in parts)


def _list_labels(recoding: Recoding) -> list[Labels]:
    return [get_labels(recoding, row) for row in recoding.targets]
