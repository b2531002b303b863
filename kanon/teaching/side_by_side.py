"""Two lessons on one table, side by side, step by step: where they differ, and how they end."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.recoding import Recoding
from kanon.teaching.lesson import Lesson
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

    @property
    def last(self) -> int:
        return max(len(lesson.steps) for lesson in (self.one, self.other)) - 1

    def get_positions(self, place: int) -> tuple[int, int]:
        """The step of each lesson at a place: one that has ended waits at its release."""
        first, second = (min(place, len(lesson.steps) - 1) for lesson in (self.one, self.other))
        return first, second

    @cached_property
    def parting_place(self) -> int | None:
        """The first place at which the classes differ; None if there is none."""
        return next(
            (place for place in range(self.last + 1) if not self._has_same_classes(place)), None
        )

    @property
    def has_same_release(self) -> bool:
        first, second = (lesson.steps[-1].recoding for lesson in (self.one, self.other))
        return self._has_same_classes(self.last) and _list_labels(first) == _list_labels(second)

    def _has_same_classes(self, place: int) -> bool:
        position, other_position = self.get_positions(place)
        return _list_classes(self.one.steps[position].recoding) == _list_classes(
            self.other.steps[other_position].recoding
        )


def _list_classes(recoding: Recoding) -> frozenset[frozenset[int]]:
    parts = (np.flatnonzero(recoding.assigned == c) for c in range(recoding.n_classes))
    return frozenset(frozenset(part.tolist()) for part in parts)


def _list_labels(recoding: Recoding) -> list[Labels]:
    return [get_labels(recoding, row) for row in recoding.targets]
