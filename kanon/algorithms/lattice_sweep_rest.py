"""What a lattice sweep left over joins the released classes that cost least to widen."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

import numpy as np

from kanon.algorithms.lattice_sweep_walk import limit_progress
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.task import Task, as_wide, in_one_width
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.kernels.merging import fill_joining_costs
from kanon.privacy.conjunction import find_broken
from kanon.privacy.k_anonymity import KAnonymity
from kanon.recoding import Recoding, Trace

_BATCH = 16  # classes that are asked at once at first whether they can take a class more


def with_the_rest(
    task: Task,
    targets: np.ndarray,
    remain: np.ndarray,
    trace: Trace,
    progress: Progress = ignore_progress,
) -> Recoding:
    """The release in which all that remains joined the released class that costs least to widen."""
    classes = task.classes
    if not remain.any():
        return Recoding.from_targets(classes, targets, trace=trace)
    into, nodes = joined_one_by_one(task, targets, remain, progress)
    aside = np.flatnonzero(into < 0)
    final = nodes[into]
    final[aside] = classes.nodes[aside]
    release = Recoding.from_targets(classes, final, trace=trace)
    return merge_breaking_classes(release, merging_on(task), progress) if len(aside) else release


def merging_on(task: Task) -> Task:
    """The task that merges on what no class can take."""
    models = (KAnonymity(task.k), *task.others) if task.k > 1 else task.others
    return replace(task, models=models, weighted=True, strategy="s1", tie_seed=None)


def joined_one_by_one(
    task: Task, targets: np.ndarray, remain: np.ndarray, progress: Progress = ignore_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Per class the released class that it is part of now, and what each was raised to."""
    released = _ReleasedClasses(task, targets, remain)
    leftovers, tell = np.flatnonzero(remain), limit_progress(progress)
    for place, c in enumerate(leftovers.tolist(), start=1):
        released.join_cheapest(c)
        n_waiting = len(leftovers) - place
        tell(
            place / len(leftovers),
            f"{count_noun(n_waiting, 'class', 'classes')} left over to join others",
        )
    return released.find_owners(), released.nodes


class _ReleasedClasses:
    """The released classes while what remains joins them, each made of parts.

    A part is a class as it was released at first, or one of the classes that remained.
    """

    def __init__(self, task: Task, targets: np.ndarray, remain: np.ndarray) -> None:
        classes = task.classes
        before = Recoding.from_targets(classes, targets, suppressed=remain)
        self.task = task
        self.tuples = np.array(classes.nodes, dtype=np.int32, order="C")
        self.parents, _ = in_one_width(task)
        self.nodes, self.counts = before.nodes.copy(), before.counts.copy()
        self.meeting = np.empty_like(self.nodes)
        n_released = len(self.counts)
        self.parts = [[number] for number in range(n_released)]
        self.number_of = {row.tobytes(): number for number, row in enumerate(self.nodes)}
        self.part_of = before.assigned.copy()
        self.part_of[remain] = n_released + np.arange(int(remain.sum()))
        self.n_parts = n_released + int(remain.sum())

    @cached_property
    def pooled_parts(self) -> EquivalenceClasses:
        return self.task.classes.pooled(np.arange(len(self.part_of)), self.part_of, self.n_parts)

    def join_cheapest(self, c: int) -> None:
        """Widen the class that costs least by a class that remained, if any can take it."""
        count = int(self.task.classes.counts[c])
        costs = self.task.potentials.ranks(partial(self._sum_costs, self.tuples[c], count))
        candidate = self._find_taker(costs, int(self.part_of[c]))
        if candidate < 0:
            return
        parts = self._join_parts(candidate, int(self.part_of[c]))
        after = self.meeting[candidate].copy()
        same = self.number_of.pop(after.tobytes(), candidate)
        if same != candidate:
            self.counts[candidate] += self.counts[same]
            self.counts[same], self.parts[same] = 0, []
        self.number_of.pop(self.nodes[candidate].tobytes(), None)
        self.number_of[after.tobytes()] = candidate
        self.nodes[candidate], self.parts[candidate] = after, parts
        self.counts[candidate] += count

    def find_owners(self) -> np.ndarray:
        """Per class of the table its released class; -1 where it is in none."""
        owner = np.full(self.n_parts, -1, dtype=np.int64)
        for number, parts in enumerate(self.parts):
            owner[parts] = number
        return owner[self.part_of]

    def _sum_costs(
        self, tuple_: np.ndarray, count: int, potentials: Sequence[np.ndarray]
    ) -> np.ndarray:
        costs = np.empty_like(self.counts)
        fill_joining_costs(
            self.nodes, self.counts, tuple_, count, self.parents, as_wide(potentials),
            self.meeting, costs,
        )  # fmt: skip
        return costs

    def _join_parts(self, candidate: int, part: int) -> list[int]:
        """The parts that share a tuple once a part joins a released class."""
        same = self.number_of.get(self.meeting[candidate].tobytes(), candidate)
        return [*self.parts[candidate], *(self.parts[same] if same != candidate else ()), part]

    def _find_taker(self, costs: np.ndarray, part: int) -> int:
        """The cheapest released class that meets every model with one part more, else -1."""
        models = self.task.others
        for candidates in self._list_cheapest_first(costs, _BATCH if models else 1):
            if not models:
                return int(candidates[0])
            unions = [self._join_parts(candidate, part) for candidate in candidates.tolist()]
            group = np.repeat(np.arange(len(unions)), [len(parts) for parts in unions])
            members = np.fromiter(chain.from_iterable(unions), np.int64, len(group))
            pooled = self.pooled_parts.pooled(members, group, len(unions))
            takes = np.flatnonzero(~find_broken(models, pooled))
            if len(takes):
                return int(candidates[takes[0]])
        return -1

    def _list_cheapest_first(self, costs: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Batches of released classes by cost, of equals in canonical order."""
        waiting = np.flatnonzero(self.counts > 0)
        while len(waiting):
            remaining_costs, last = costs[waiting], min(size, len(waiting)) - 1
            is_next = remaining_costs <= np.partition(remaining_costs, last)[last]
            batch = waiting[is_next]
            yield batch[np.lexsort((*self.nodes[batch].T[::-1], costs[batch]))]
            waiting, size = waiting[~is_next], 8 * size
