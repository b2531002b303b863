"""The lattice of full-domain generalisations: one engine under all its searches.

A node is a tuple of levels, one per quasi-identifier: every value is raised to that level. An
algorithm is the order in which it visits nodes; the engine counts their classes, remembers what it
counted, and knows which nodes lie above or below others.
"""

import math
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import product
from operator import add, mul, sub

import numpy as np

from kanon.algorithms.lattice_counts import CountsHere, Evaluation, compute_node_targets
from kanon.algorithms.lattice_size import (
    Node,
    compute_node_heights,
    compute_node_losses,
    compute_nodes_by_level,
    sum_losses_per_level,
)
from kanon.algorithms.level_bounds import find_lowest_nodes
from kanon.algorithms.stored_counts import StoredCounts
from kanon.algorithms.task import Task, sum_potentials
from kanon.base.formatting import write_count
from kanon.base.progress import Progress
from kanon.privacy.conjunction import find_broken
from kanon.privacy.model import Model
from kanon.recoding import Recoding, Trace
from kanon.stored_classes import StoredClasses

_PLACES_PER_REPORT = 1 << 15
"""So many places of a lattice are looked at between two reports, if none has to be counted."""

_REPORT_SECONDS = 0.1  # the time between two reports, at least

_FIELDS = len(fields(Evaluation))

_FAILS = -1  # stands for the figures of a node of which no more is known than that it fails


class Lattice:
    """The lattice of a task, and what a search has found in it so far."""

    def __init__(self, task: Task, limit: int, progress: Progress, thorough: bool = False) -> None:
        classes = task.classes
        self.thorough = thorough
        self.task = task
        self.limit = limit
        self.progress = progress
        self.trees = classes.hierarchies
        self.raised = [compute_nodes_by_level(tree) for tree in self.trees]
        self.least: Node = (0,) * len(self.trees)
        if task.level_bounds:  # the lattice between them, whose levels are numbered from 0 too
            self.least = tuple(least for least, _ in task.level_bounds)
            self.raised = [
                rows[least : most + 1, find_lowest_nodes(tree, least)]
                for rows, tree, (least, most) in zip(
                    self.raised, self.trees, task.level_bounds, strict=True
                )
            ]
        self.tops: Node = tuple(len(rows) - 1 for rows in self.raised)
        self.size = math.prod(self.shape)
        self._others: tuple[Model, ...] = task.others
        self._of_release = task.of_release
        self._records = classes.n_records
        # What was evaluated, packed: a search may go through millions of nodes.
        self._steps = [math.prod(self.shape[j + 1 :]) for j in range(len(self.tops))]
        self._value_starts: dict[int, int] = {}
        self._values = array("q")
        self._last_report = time.monotonic()
        self.done = 0.0  # the share of a search that knows it; else that of the nodes
        self._counts: CountsHere | StoredCounts
        if isinstance(classes, StoredClasses):
            self._counts = StoredCounts(classes, task.potentials, task.k)
        else:
            self._counts = CountsHere(classes, task.potentials, task.k, self.raised)

    # --- the shape ------------------------------------------------------------------------------
    @property
    def bottom(self) -> Node:
        return (0,) * len(self.tops)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each quasi-identifier."""
        return tuple(top + 1 for top in self.tops)

    def get_levels(self, node: Node) -> Node:
        """The levels that a node stands for; others only where the lattice has lower bounds."""
        return tuple(map(add, node, self.least))

    def find_node(self, levels: Node) -> Node:
        return tuple(map(sub, levels, self.least))

    def above(self, node: Node) -> list[Node]:
        """The nodes that raise one quasi-identifier by one level, in the plan's order."""
        return [
            (*node[:j], node[j] + 1, *node[j + 1 :])
            for j, top in enumerate(self.tops)
            if node[j] < top
        ]

    def list_nodes_below(self, node: Node) -> list[Node]:
        """The nodes that lower one quasi-identifier by one level, in the plan's order."""
        return [(*node[:j], node[j] - 1, *node[j + 1 :]) for j in range(len(node)) if node[j] > 0]

    def list_nodes_at_height(self, height: int) -> Iterator[Node]:
        """The nodes whose levels sum to a height, in canonical order."""
        return self.list_nodes_between(self.bottom, self.tops, height)

    def list_nodes_between(self, low: Node, high: Node, height: int) -> Iterator[Node]:
        rest = [sum(high[j:]) - sum(low[j:]) for j in range(len(high) + 1)]

        def extend_levels(j: int, steps_left: int, lower_levels: Node) -> Iterator[Node]:
            if j == len(high):
                yield lower_levels
                return
            highest_step = high[j] - low[j]
            for step in range(max(0, steps_left - rest[j + 1]), min(highest_step, steps_left) + 1):
                yield from extend_levels(j + 1, steps_left - step, (*lower_levels, low[j] + step))

        if 0 <= height <= rest[0]:
            yield from extend_levels(0, height, ())

    def decode_node(self, place: int) -> Node:
        return tuple(
            place // step % size for step, size in zip(self._steps, self.shape, strict=True)
        )

    def sort_places_by_height(self) -> np.ndarray:
        """The places of all nodes, by height and then in canonical order. Shape (size,)."""
        return np.argsort(compute_node_heights(self.shape), axis=None, kind="stable")

    def walk_places(self, places: np.ndarray) -> Iterator[int]:
        """Go through places and report progress, however few of them are counted."""
        for start in range(0, len(places), _PLACES_PER_REPORT):
            self.show_progress()
            yield from places[start : start + _PLACES_PER_REPORT].tolist()

    def nodes(self) -> Iterator[Node]:
        return product(*(range(top + 1) for top in self.tops))

    def up_set(self, node: Node) -> tuple[slice, ...]:
        """The node and all above it, in an array of the lattice's shape."""
        return tuple(slice(level, None) for level in node)

    def down_set(self, node: Node) -> tuple[slice, ...]:
        return tuple(slice(0, level + 1) for level in node)

    # --- what is counted ------------------------------------------------------------------------
    def evaluate(self, node: Node) -> Evaluation:
        """What the classes at a node amount to; counted once."""
        place = self._compute_place(node)
        start = self._value_starts.get(place, _FAILS)
        if start != _FAILS:
            return Evaluation(*self._values[start : start + _FIELDS])
        evaluation = self._counts.count_by_k(node)
        if self._others or self._of_release:
            evaluation = self._count_other_models(node, evaluation)
        self._value_starts[place] = len(self._values)
        self._values.extend(vars(evaluation).values())
        self.show_progress()
        return evaluation

    @property
    def visited(self) -> list[Node]:
        """The nodes that were evaluated, in their order."""
        return [self.decode_node(place) for place in self._value_starts]

    def satisfies(self, node: Node) -> bool:
        """Whether at most the allowed number of records has to be suppressed at a node."""
        place = self._compute_place(node)
        if place not in self._value_starts and self._counts.has_more_small_records(
            node, self.limit
        ):
            self._value_starts[place] = _FAILS
            self.show_progress()
        if self._value_starts.get(place) == _FAILS:
            return False
        return self.evaluate(node).suppressed <= self.limit

    def anonymity(self, node: Node) -> int:
        """The largest k that a node reaches after suppressing at most the allowed records."""
        self.evaluate(node)
        classes = self.task.classes
        if self.limit >= classes.n_records:
            return classes.highest_k
        if classes.persons is None or classes.one_record_each:
            hiding, number = self._counts.sizes(node)
            records = hiding * number
        else:
            release = self._counts.build_recoding(node).released
            order = np.argsort(release.hiding, kind="stable")
            records, hiding = release.counts[order], release.hiding[order]
        return int(hiding[np.searchsorted(np.cumsum(records), self.limit, side="right")])

    @cached_property
    def distinct_by_level(self) -> list[list[int]]:
        used_nodes = list(map(np.flatnonzero, self.task.classes.cells))
        return [
            [len(np.unique(row[nodes])) for row in nodes_by_level]
            for nodes_by_level, nodes in zip(self.raised, used_nodes, strict=True)
        ]

    def distinct(self, node: Node) -> list[int]:
        return [counts[level] for counts, level in zip(self.distinct_by_level, node, strict=True)]

    def targets(self, node: Node) -> np.ndarray:
        return compute_node_targets(self.task.classes, self.raised, node)

    def release(self, node: Node, walk: Sequence[Node] = ()) -> Recoding:
        """The release at a node: classes that break the models are suppressed."""
        trace = Trace(
            node=self.get_levels(node),
            walk=tuple(map(self.get_levels, walk)),
            visited=np.array(self.visited, dtype=np.int32).reshape(-1, len(self.tops))
            + np.array(self.least, dtype=np.int32),
            evaluated=len(self._value_starts),
            steps=len(walk),
        )
        whole = self._counts.build_recoding(node).with_trace(trace)
        bad = find_broken(self._others, whole.released) if self._others else None
        return whole.suppressed_below(self.task.k, bad)

    @cached_property
    def lost(self) -> list[np.ndarray]:
        """Per quasi-identifier and level what raising all records to it costs. Shapes (h_j,)."""
        return self.compute_level_losses(self.task.potentials)

    def compute_level_losses(self, potentials: Sequence[np.ndarray]) -> list[np.ndarray]:
        return sum_losses_per_level(self.task.classes, potentials, self.raised)

    @cached_property
    def losses(self) -> np.ndarray:
        """What raising all records to each node costs, with nothing suppressed."""
        return compute_node_losses(self.lost)

    def show_progress(self) -> None:
        """Report how many nodes were evaluated, unless that was just done."""
        now = time.monotonic()
        if now - self._last_report >= _REPORT_SECONDS:
            self._last_report = now
            n_seen = len(self._value_starts)
            share = self.done or n_seen / self.size
            self.progress(min(0.99, share), f"{write_count(n_seen)} nodes evaluated")

    # --- inside ---------------------------------------------------------------------------------
    def _compute_place(self, node: Node) -> int:
        return sum(map(mul, node, self._steps))

    def _count_other_models(self, node: Node, evaluation: Evaluation) -> Evaluation:
        if evaluation.suppressed > self.limit and not self.thorough:  # it fails already
            return evaluation
        whole = self._counts.build_recoding(node)
        bad = (whole.counts < self.task.k) | find_broken(self._others, whole.released)
        if self._of_release:
            rest = whole.suppressed_below(1, bad).released
            bad |= find_broken(self._of_release, rest).any()
        depths, counts = sum_potentials(self.task.potentials, whole.nodes), whole.counts
        return Evaluation(
            int(counts[bad].sum()),
            int((~bad).sum()),
            evaluation.all_classes,
            int((counts[~bad] ** 2).sum()),
            evaluation.all_squares,
            int((counts * depths)[bad].sum()),
        )
