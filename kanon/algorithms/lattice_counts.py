"""How many records the classes at a node of the lattice hold: counted once per node, and rolled up.

The classes at a node are unions of those at any node below it. So a node is counted from the
smallest table that is known below it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from kanon.algorithms.lattice_size import Node
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.kernels.lattice import (
    ClassRuns,
    CountingRoom,
    count_classes,
    number_parts,
    sum_node_figures,
)
from kanon.recoding import Recoding

# What is kept to save counting again: none of it is needed.
_MOST_SNAPSHOTS = 128
_MOST_SNAPSHOT_BYTES = 1 << 28
_MOST_PART_BYTES = 1 << 28


@dataclass(frozen=True)
class Evaluation:
    # the records in classes that break the models: those that would have to be suppressed
    suppressed: int
    # the number of classes that meet them, and of all classes
    classes: int
    all_classes: int
    # the sum of the squared sizes of those classes, and of all classes
    squares: int
    all_squares: int
    # the potential left in the records that would be suppressed: what raising them from the node
    # to the roots costs
    left: int


_FIELDS = len(fields(Evaluation))


@dataclass(eq=False)
class Half:
    """Some of the quasi-identifiers: the distinct halves of tuples, and their numbered parts."""

    columns: tuple[int, ...]
    tuples: np.ndarray
    of_class: np.ndarray
    raised: list[list[np.ndarray]]
    depths: list[list[np.ndarray]]
    known: dict[Node, tuple[np.ndarray, np.ndarray, int]] = field(default_factory=dict)
    held: int = 0

    def parts(self, levels: Node) -> tuple[np.ndarray, np.ndarray, int]:
        """Per half of a tuple its part at some levels; the potential of each part; how many."""
        numbered_parts = self.known.get(levels)
        if numbered_parts is None:
            nodes = [row[level] for row, level in zip(self.raised, levels, strict=True)]
            depths = [row[level] for row, level in zip(self.depths, levels, strict=True)]
            widths = np.array([len(row) for row in nodes], dtype=np.int64)
            starts = np.concatenate([[0], np.cumsum(widths)])[:-1].astype(np.int64)
            parts = np.empty(len(self.tuples), dtype=np.int32)
            worth = np.empty(len(self.tuples), dtype=np.int64)
            number = number_parts(
                self.tuples, _join_arrays(nodes, np.int32), starts, widths,
                _join_arrays(depths, np.int64), parts, worth,
            )  # fmt: skip
            numbered_parts = parts, worth[:number].copy(), int(number)
            self.known[levels] = numbered_parts
            self.held += numbered_parts[0].nbytes + numbered_parts[1].nbytes
            while self.held > _MOST_PART_BYTES and len(self.known) > 1:  # the oldest leave first
                old = self.known.pop(next(iter(self.known)))
                self.held -= old[0].nbytes + old[1].nbytes
        return numbered_parts


class CountsHere:
    def __init__(
        self,
        classes: EquivalenceClasses,
        potentials: Sequence[np.ndarray],
        k: int,
        raised: Sequence[np.ndarray],
    ) -> None:
        self._classes, self._k, self._raised = classes, k, raised
        self._records = classes.n_records
        self._halves = self._split_columns(classes, potentials)
        self._whole = _build_runs(classes.counts, *self._halves)
        n_left, n_right = (len(half.tuples) for half in self._halves)
        self._room = CountingRoom(*(np.empty(n, dtype=np.int32) for n in (n_left, n_left, n_right)))
        self._runs = ClassRuns(*(np.empty_like(array) for array in self._whole))
        self._figures = np.empty(_FIELDS, dtype=np.int64)
        self._last_count: tuple[Node, int] = (), 0
        self._last: tuple[Node, Recoding] | None = None
        self._snapshots: list[ClassRuns] = []
        self._snapshot_levels = np.empty((_MOST_SNAPSHOTS, len(self._raised)), dtype=np.int32)
        self._snapshot_sizes = np.empty(_MOST_SNAPSHOTS, dtype=np.int64)
        self._snapshot_bytes = 0

    def has_more_small_records(self, node: Node, most: int) -> bool:
        """Whether classes below k hold more than ``most`` records."""
        return self._count(node, most) < 0

    def count_by_k(self, node: Node) -> Evaluation:
        """What the classes amount to, by k alone."""
        self._count(node, self._records)
        left, right = self._halves
        left_part, left_worth, n_left = left.parts(_select_levels(node, left.columns))
        right_part, right_worth, _ = right.parts(_select_levels(node, right.columns))
        sum_node_figures(
            self._runs, left_part, right_part, left_worth, right_worth, n_left, self._k,
            self._figures,
        )  # fmt: skip
        return Evaluation(*self._figures.tolist())

    def sizes(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """The sizes of the classes, each once and rising, and how many classes have each."""
        number = self._count(node, self._records)
        return np.unique(self._runs.counts[:number], return_counts=True)

    def build_recoding(self, node: Node) -> Recoding:
        """All records at the node; the last recoding is kept, as several figures need it."""
        if self._last is None or self._last[0] != node:
            targets = compute_node_targets(self._classes, self._raised, node)
            self._last = node, Recoding.from_targets(self._classes, targets)
        return self._last[1]

    def _split_columns(
        self, classes: EquivalenceClasses, potentials: Sequence[np.ndarray]
    ) -> tuple[Half, Half]:
        trees, tops = classes.hierarchies, [len(row) - 1 for row in self._raised]
        order = sorted(range(len(tops)), key=lambda j: -tops[j])
        sides: tuple[list[int], list[int]] = ([], [])
        sizes = [1, 1]
        for j in order:
            side = 0 if sizes[0] <= sizes[1] else 1
            sides[side].append(j)
            sizes[side] *= tops[j] + 1
        halves = []
        for side_columns in sides:
            columns = tuple(sorted(side_columns))
            sizes_of = [trees[j].n_nodes for j in columns]
            tuples, records, of_class = group_tuples(
                classes.nodes[:, columns], classes.counts, sizes_of
            )
            # Parts are numbered in this order and counted from the last: the smallest come first,
            # so that a node is soon seen to fail.
            by_records = np.argsort(-records, kind="stable")
            tuples, of_class = tuples[by_records], np.argsort(by_records)[of_class]
            raised = [list(self._raised[j]) for j in columns]
            depths = [[potentials[j][row] for row in self._raised[j]] for j in columns]
            halves.append(Half(columns, tuples, of_class.astype(np.int32), raised, depths))
        return halves[0], halves[1]

    def _count(self, node: Node, most: int) -> int:
        """Count the classes at a node, from the fewest classes known below it."""
        if self._last_count[0] == node and self._last_count[1] >= 0:
            return self._last_count[1]
        left, right = self._halves
        left_part, _, n_left = left.parts(_select_levels(node, left.columns))
        right_part, _, n_right = right.parts(_select_levels(node, right.columns))
        source = self._find_smallest_below(node)
        number: int = count_classes(
            source, left_part, right_part, n_left, n_right, self._k, most, self._room, self._runs
        )
        self._last_count = node, number
        if number >= 0:
            self._store_snapshot(node, n_left, number, len(source.right))
        return number

    def _find_smallest_below(self, node: Node) -> ClassRuns:
        n_snapshots = len(self._snapshots)
        if n_snapshots:
            below = (self._snapshot_levels[:n_snapshots] <= np.array(node)).all(axis=1)
            if below.any():
                sizes = np.where(below, self._snapshot_sizes[:n_snapshots], np.iinfo(np.int64).max)
                return self._snapshots[int(sizes.argmin())]
        return self._whole

    def _store_snapshot(self, node: Node, n_left: int, number: int, n_counted: int) -> None:
        n_snapshots = len(self._snapshots)
        ends = n_left, n_left + 1, number, number
        used = [array[:end] for array, end in zip(self._runs, ends, strict=True)]
        n_bytes = self._snapshot_bytes + sum(array.nbytes for array in used)
        if (
            2 * number > n_counted
            or n_snapshots == _MOST_SNAPSHOTS
            or n_bytes > _MOST_SNAPSHOT_BYTES
        ):
            return
        self._snapshot_bytes = n_bytes
        self._snapshot_levels[n_snapshots] = node
        self._snapshot_sizes[n_snapshots] = number
        self._snapshots.append(ClassRuns(*(array.copy() for array in used)))


def compute_node_targets(
    classes: EquivalenceClasses, raised: Sequence[np.ndarray], node: Node
) -> np.ndarray:
    """Per class the tuple that it is raised to. Shape (E, m), int32."""
    return np.column_stack(
        [raised[j][level][classes.nodes[:, j]] for j, level in enumerate(node)]
    ).astype(np.int32)


def _join_arrays(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(arrays).astype(kind) if arrays else np.zeros(0, dtype=kind)


def _build_runs(counts: np.ndarray, left: Half, right: Half) -> ClassRuns:
    order = np.argsort(left.of_class, kind="stable")
    sizes = np.bincount(left.of_class, minlength=len(left.tuples))
    return ClassRuns(
        np.arange(len(sizes), dtype=np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        right.of_class[order],
        counts[order].astype(np.int64),
    )


def _select_levels(node: Node, columns: tuple[int, ...]) -> Node:
    return tuple(node[j] for j in columns)
