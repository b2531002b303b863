"""The lattice of full-domain generalisations: one engine under all its searches.

A node is a tuple of levels, one per quasi-identifier: every value is raised to that level. An
algorithm is the order in which it visits nodes; the engine counts their classes, remembers what it
counted, and knows which nodes lie above or below others.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from operator import mul

import numpy as np

from kanon.algorithms.lattice_size import (
    Node,
    heights,
    losses_of_nodes,
    lost_per_level,
    n_nodes,
    raised_to,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import thin
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.kernels.lattice import ClassRuns, CountingRoom, assess, count_classes, number_parts
from kanon.privacy.conjunction import broken
from kanon.privacy.model import Model
from kanon.recoding import Recoding, Trace

# What is kept to save counting again: none of it is needed.
_MOST_SNAPSHOTS = 128
_MOST_SNAPSHOT_BYTES = 1 << 28
_MOST_PART_BYTES = 1 << 28

_STRETCH = 1 << 15
"""So many places of a lattice are looked at between two reports, if none has to be counted."""

_SECONDS = 0.1
"""The time between two reports, at least."""


@dataclass(frozen=True)
class Evaluation:
    """What the classes at a node amount to, for one task.

    Attributes
    ----------
    suppressed
        The records in classes that break the models: those that would have to be suppressed.
    classes, all_classes
        The number of classes that meet them, and of all classes.
    squares, all_squares
        The sum of the squared sizes of those classes, and of all classes.
    left
        The potential left in the records that would be suppressed: what raising them from the
        node to the roots costs.
    """

    suppressed: int
    classes: int
    all_classes: int
    squares: int
    all_squares: int
    left: int


_FIELDS = len(fields(Evaluation))

_FAILS = -1
"""Stands for the figures of a node of which no more is known than that it fails."""


@dataclass(eq=False)
class _Half:
    """Some of the quasi-identifiers: the distinct halves of tuples, and what is known of them."""

    columns: tuple[int, ...]
    tuples: np.ndarray
    of_class: np.ndarray
    raised: list[list[np.ndarray]]
    depths: list[list[np.ndarray]]
    known: dict[Node, tuple[np.ndarray, np.ndarray, int]] = field(default_factory=dict)
    held: int = 0

    def parts(self, levels: Node) -> tuple[np.ndarray, np.ndarray, int]:
        """Per half of a tuple its part at some levels; the potential of each part; how many."""
        found = self.known.get(levels)
        if found is None:
            raised = [each[level] for each, level in zip(self.raised, levels, strict=True)]
            depths = [each[level] for each, level in zip(self.depths, levels, strict=True)]
            widths = np.array([len(each) for each in raised], dtype=np.int64)
            starts = np.concatenate([[0], np.cumsum(widths)])[:-1].astype(np.int64)
            parts = np.empty(len(self.tuples), dtype=np.int32)
            worth = np.empty(len(self.tuples), dtype=np.int64)
            number = number_parts(
                self.tuples, _joined(raised, np.int32), starts, widths,
                _joined(depths, np.int64), parts, worth,
            )  # fmt: skip
            found = parts, worth[:number].copy(), int(number)
            self.known[levels] = found
            self.held += found[0].nbytes + found[1].nbytes
            while self.held > _MOST_PART_BYTES and len(self.known) > 1:  # the oldest leave first
                old = self.known.pop(next(iter(self.known)))
                self.held -= old[0].nbytes + old[1].nbytes
        return found


def _joined(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(arrays).astype(kind) if arrays else np.zeros(0, dtype=kind)


class Lattice:
    """The lattice of a task, and what a search has found in it so far.

    Parameters
    ----------
    task
        The classes, their hierarchies, the potentials, k and the other models.
    limit
        The records that may be suppressed at most.
    progress
        Told how many nodes were evaluated.
    thorough
        Whether all models are counted at a node that k alone forbids too: a search needs no more
        than that it fails.

    Attributes
    ----------
    tops : tuple of int
        The level of every root: the node that loses everything.
    """

    def __init__(self, task: Task, limit: int, progress: Progress, thorough: bool = False) -> None:
        classes = task.classes
        self.thorough = thorough
        self.task = task
        self.limit = limit
        self.progress = progress
        self.trees = classes.hierarchies
        self.tops: Node = tuple(int(tree.level[tree.root]) for tree in self.trees)
        self.size = n_nodes(self.trees)
        self.raised = [raised_to(tree) for tree in self.trees]
        self._others: tuple[Model, ...] = task.others
        self._records = classes.n_records
        # What was evaluated, packed: a search may go through millions of nodes.
        self._steps = [math.prod(self.shape[j + 1 :]) for j in range(len(self.tops))]
        self._seen: dict[int, int] = {}
        self._values = array("q")
        self._told = time.monotonic()
        self._halves = self._halved(classes, task.potentials)
        self._whole = _in_runs(classes.counts, *self._halves)
        n_left, n_right = (len(half.tuples) for half in self._halves)
        self._room = CountingRoom(*(np.empty(n, dtype=np.int32) for n in (n_left, n_left, n_right)))
        self._runs = ClassRuns(*(np.empty_like(each) for each in self._whole))
        self._found = np.empty(_FIELDS, dtype=np.int64)
        self._counted: tuple[Node, int] = (), 0
        self._last: tuple[Node, Recoding] | None = None
        self._snapshots: list[ClassRuns] = []
        self._snapshot_levels = np.empty((_MOST_SNAPSHOTS, len(self.tops)), dtype=np.int32)
        self._snapshot_sizes = np.empty(_MOST_SNAPSHOTS, dtype=np.int64)
        self._snapshot_bytes = 0

    def _halved(
        self, classes: EquivalenceClasses, potentials: Sequence[np.ndarray]
    ) -> tuple[_Half, _Half]:
        """The quasi-identifiers in two halves of about as many combinations of levels."""
        order = sorted(range(len(self.tops)), key=lambda j: -self.tops[j])
        sides: tuple[list[int], list[int]] = ([], [])
        sizes = [1, 1]
        for j in order:
            side = 0 if sizes[0] <= sizes[1] else 1
            sides[side].append(j)
            sizes[side] *= self.tops[j] + 1
        found = []
        for chosen in sides:
            columns = tuple(sorted(chosen))
            tuples, records, of_class = group_tuples(
                classes.nodes[:, columns], classes.counts, [self.trees[j].n_nodes for j in columns]
            )
            # Parts are numbered in this order and counted from the last: the smallest come first,
            # so that a node is soon seen to fail.
            by_records = np.argsort(-records, kind="stable")
            tuples, of_class = tuples[by_records], np.argsort(by_records)[of_class]
            raised = [list(self.raised[j]) for j in columns]
            depths = [[potentials[j][row] for row in self.raised[j]] for j in columns]
            found.append(_Half(columns, tuples, of_class.astype(np.int32), raised, depths))
        return found[0], found[1]

    # --- the shape ------------------------------------------------------------------------------
    @property
    def bottom(self) -> Node:
        """The node that raises nothing."""
        return (0,) * len(self.tops)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each quasi-identifier."""
        return tuple(top + 1 for top in self.tops)

    def above(self, node: Node) -> list[Node]:
        """The nodes that raise one quasi-identifier by one level, in the plan's order."""
        return [
            (*node[:j], node[j] + 1, *node[j + 1 :])
            for j, top in enumerate(self.tops)
            if node[j] < top
        ]

    def below(self, node: Node) -> list[Node]:
        """The nodes that lower one quasi-identifier by one level, in the plan's order."""
        return [(*node[:j], node[j] - 1, *node[j + 1 :]) for j in range(len(node)) if node[j] > 0]

    def at_height(self, height: int) -> Iterator[Node]:
        """The nodes whose levels sum to a height, in canonical order."""
        return self.at_height_between(self.bottom, self.tops, height)

    def at_height_between(self, low: Node, high: Node, height: int) -> Iterator[Node]:
        """The nodes between two others, so many steps above the lower one, in canonical order."""
        rest = [sum(high[j:]) - sum(low[j:]) for j in range(len(high) + 1)]

        def go(j: int, left: int, before: Node) -> Iterator[Node]:
            if j == len(high):
                yield before
                return
            most = high[j] - low[j]
            for step in range(max(0, left - rest[j + 1]), min(most, left) + 1):
                yield from go(j + 1, left - step, (*before, low[j] + step))

        if 0 <= height <= rest[0]:
            yield from go(0, height, ())

    def node_at(self, place: int) -> Node:
        """The node of a place in canonical order."""
        return tuple(
            place // step % size for step, size in zip(self._steps, self.shape, strict=True)
        )

    def by_height(self) -> np.ndarray:
        """The places of all nodes, by height and then in canonical order. Shape (size,)."""
        return np.argsort(heights(self.shape), axis=None, kind="stable")

    def one_by_one(self, places: np.ndarray) -> Iterator[int]:
        """The places of an array; tells how far the search is, however few of them it counts."""
        for start in range(0, len(places), _STRETCH):
            self.tell()
            yield from places[start : start + _STRETCH].tolist()

    def nodes(self) -> Iterator[Node]:
        """Every node, in canonical order."""
        return product(*(range(top + 1) for top in self.tops))

    def up_set(self, node: Node) -> tuple[slice, ...]:
        """The node and all above it, in an array of the lattice's shape."""
        return tuple(slice(level, None) for level in node)

    def down_set(self, node: Node) -> tuple[slice, ...]:
        """The node and all below it, in an array of the lattice's shape."""
        return tuple(slice(0, level + 1) for level in node)

    # --- what is counted ------------------------------------------------------------------------
    def evaluate(self, node: Node) -> Evaluation:
        """What the classes at a node amount to; counted once."""
        place = self._place(node)
        known = self._seen.get(place, _FAILS)
        if known != _FAILS:
            return Evaluation(*self._values[known : known + _FIELDS])
        found = self._evaluated(node)
        self._seen[place] = len(self._values)
        self._values.extend(vars(found).values())
        self.tell()
        return found

    @property
    def visited(self) -> list[Node]:
        """The nodes that were evaluated, in their order, each once."""
        return [self.node_at(place) for place in self._seen]

    def satisfies(self, node: Node) -> bool:
        """Whether at most the allowed number of records has to be suppressed at a node.

        A node that fails is counted only until it is seen to.
        """
        place = self._place(node)
        if place not in self._seen and self._count(node, self.limit) < 0:
            self._seen[place] = _FAILS
            self.tell()
        if self._seen.get(place) == _FAILS:
            return False
        return self.evaluate(node).suppressed <= self.limit

    def sizes(self, node: Node) -> np.ndarray:
        """The sizes of the classes at a node, rising; not counted as an evaluation."""
        number = self._count(node, self._records)
        return np.sort(self._runs.counts[:number])

    def anonymity(self, node: Node) -> int:
        """The largest k that a node reaches after suppressing at most the allowed records.

        In persons where they are known. The largest k with at most so many records in all classes
        that do not reach it; that of the table as one class if all records may be suppressed.
        """
        self.evaluate(node)
        classes = self.task.classes
        if self.limit >= classes.n_records:
            return classes.highest_k
        if classes.persons is None or classes.one_record_each:
            sizes = hiding = self.sizes(node)
        else:
            released = self._recoded(node).released
            order = np.argsort(released.hiding, kind="stable")
            sizes, hiding = released.counts[order], released.hiding[order]
        return int(hiding[np.searchsorted(np.cumsum(sizes), self.limit, side="right")])

    @cached_property
    def values_left(self) -> list[list[int]]:
        """Per quasi-identifier and level the number of distinct values that the table then has."""
        occurring = list(map(np.flatnonzero, self.task.classes.cells))
        return [
            [len(np.unique(row[nodes])) for row in raised]
            for raised, nodes in zip(self.raised, occurring, strict=True)
        ]

    def distinct(self, node: Node) -> list[int]:
        """The number of distinct values of each quasi-identifier at a node."""
        return [left[level] for left, level in zip(self.values_left, node, strict=True)]

    def targets(self, node: Node) -> np.ndarray:
        """Per class the tuple that it is raised to. Shape (E, m)."""
        nodes = self.task.classes.nodes
        return np.column_stack(
            [self.raised[j][level][nodes[:, j]] for j, level in enumerate(node)]
        ).astype(np.int32)

    def release(self, node: Node, walk: Sequence[Node] = ()) -> Recoding:
        """The release at a node: classes that break the models are suppressed.

        Parameters
        ----------
        walk
            The nodes that the search moved through.
        """
        classes, targets = self.task.classes, self.targets(node)
        trace = Trace(
            node=node,
            walk=tuple(walk),
            visited=np.array(self.visited, dtype=np.int32).reshape(-1, len(self.tops)),
            evaluated=len(self._seen),
            steps=len(walk),
        )
        whole = Recoding.from_targets(classes, targets)
        bad = whole.counts < self.task.k
        if self._others:
            bad |= broken(self._others, whole.released)
        return Recoding.from_targets(classes, targets, bad[whole.assigned], trace=trace)

    @cached_property
    def lost(self) -> list[np.ndarray]:
        """Per quasi-identifier and level what raising all records to it costs. Shapes (h_j,)."""
        return self.lost_by(self.task.potentials)

    def lost_by(self, potentials: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The same as other potentials count. Shapes (h_j,)."""
        return lost_per_level(self.task.classes, potentials, self.raised)

    @cached_property
    def losses(self) -> np.ndarray:
        """What raising all records to each node costs, with nothing suppressed.

        An array of the lattice's shape: exact sums, without counting classes.
        """
        return losses_of_nodes(self.lost)

    def tell(self) -> None:
        """Tell how many nodes were evaluated, unless that was just told."""
        now = time.monotonic()
        if now - self._told >= _SECONDS:
            self._told = now
            done = len(self._seen)
            self.progress(min(0.99, done / self.size), f"{thin(done)} nodes evaluated")

    # --- inside ---------------------------------------------------------------------------------
    def _place(self, node: Node) -> int:
        """The place of a node in canonical order."""
        return sum(map(mul, node, self._steps))

    def _evaluated(self, node: Node) -> Evaluation:
        self._count(node, self._records)
        left, right = self._halves
        left_part, left_worth, n_left = left.parts(_of(node, left.columns))
        right_part, right_worth, _ = right.parts(_of(node, right.columns))
        assess(
            self._runs, left_part, right_part, left_worth, right_worth, n_left, self.task.k,
            self._found,
        )  # fmt: skip
        found = Evaluation(*self._found.tolist())
        return self._with_others(node, found) if self._others else found

    def _with_others(self, node: Node, found: Evaluation) -> Evaluation:
        """The same, where classes can break other models than k."""
        if found.suppressed > self.limit and not self.thorough:  # it fails already
            return found
        whole = self._recoded(node)
        bad = (whole.counts < self.task.k) | broken(self._others, whole.released)
        depths = np.zeros(whole.n_classes, dtype=np.int64)
        for j, depth in enumerate(self.task.potentials):
            depths += depth[whole.nodes[:, j]]
        counts = whole.counts
        return Evaluation(
            int(counts[bad].sum()),
            int((~bad).sum()),
            found.all_classes,
            int((counts[~bad] ** 2).sum()),
            found.all_squares,
            int((counts * depths)[bad].sum()),
        )

    def _recoded(self, node: Node) -> Recoding:
        """All classes at a node; the last is kept, as several figures may be asked of a node."""
        if self._last is None or self._last[0] != node:
            self._last = node, Recoding.from_targets(self.task.classes, self.targets(node))
        return self._last[1]

    def _count(self, node: Node, most: int) -> int:
        """Count the classes at a node, from the fewest classes known below it.

        Returns
        -------
        int
            How many there are; -1 if more than so many records would have to be suppressed.
        """
        if self._counted[0] == node and self._counted[1] >= 0:
            return self._counted[1]
        left, right = self._halves
        left_part, _, n_left = left.parts(_of(node, left.columns))
        right_part, _, n_right = right.parts(_of(node, right.columns))
        given = self._nearest(node)
        number: int = count_classes(
            given, left_part, right_part, n_left, n_right, self.task.k, most, self._room, self._runs
        )
        self._counted = node, number
        if number >= 0:
            self._remember(node, n_left, number, len(given.right))
        return number

    def _nearest(self, node: Node) -> ClassRuns:
        """The classes of a node at or below this one: those of which there are the fewest."""
        known = len(self._snapshots)
        if known:
            below = (self._snapshot_levels[:known] <= np.array(node)).all(axis=1)
            if below.any():
                sizes = np.where(below, self._snapshot_sizes[:known], np.iinfo(np.int64).max)
                return self._snapshots[int(sizes.argmin())]
        return self._whole

    def _remember(self, node: Node, n_left: int, number: int, counted: int) -> None:
        """Keep the classes of a node to count those above it from, where that saves half."""
        known = len(self._snapshots)
        ends = n_left, n_left + 1, number, number
        some = [each[:end] for each, end in zip(self._runs, ends, strict=True)]
        room = self._snapshot_bytes + sum(each.nbytes for each in some)
        if 2 * number > counted or known == _MOST_SNAPSHOTS or room > _MOST_SNAPSHOT_BYTES:
            return
        self._snapshot_bytes = room
        self._snapshot_levels[known] = node
        self._snapshot_sizes[known] = number
        self._snapshots.append(ClassRuns(*(each.copy() for each in some)))


def _in_runs(counts: np.ndarray, left: _Half, right: _Half) -> ClassRuns:
    """The original classes in runs of one first half each."""
    order = np.argsort(left.of_class, kind="stable")
    sizes = np.bincount(left.of_class, minlength=len(left.tuples))
    return ClassRuns(
        np.arange(len(sizes), dtype=np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        right.of_class[order],
        counts[order].astype(np.int64),
    )


def _of(node: Node, columns: tuple[int, ...]) -> Node:
    return tuple(node[j] for j in columns)
