"""Ranges beside a hierarchy: what is released where values are grouped without its groups.

A range is a run of neighbouring leaves, or some of them: a set. Ranges may overlap, so they are not
nodes of one tree. They are numbered after the root of their tree, and have a level, leaves below
and a label as nodes do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kanon.base.kinds import ColumnKind, compute_sort_sizes
from kanon.errors import HierarchyError
from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy

_LEVEL_OF_WHOLE = 2
"""The level of the root of a column without a hierarchy, as ranges fit below it."""


class LeafRange(NamedTuple):
    """The leaves ``first <= leaf < last``, and their label in a release."""

    first: int
    last: int
    label: str
    bounds: tuple[int, ...] = ()  # the leaves that the label names as bounds
    mean: bool = False  # whether the label contains the mean of a class
    leaves: tuple[int, ...] = ()  # the leaves of a set, rising; () if it has all in between


@dataclass(frozen=True, eq=False, repr=False)
class RangedHierarchy(Hierarchy):
    """A hierarchy with ranges beside its nodes."""

    n_ranges: int = 0  # the number of ranges
    bounds: frozenset[int] = frozenset()  # the leaves that labels of ranges name as bounds
    shows_means: bool = False  # whether a mean stands beside such bounds
    # the leaves of sets that lack some between their first and last, as node * L + leaf, rising
    set_keys: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def node_of(self) -> dict[str, int]:
        """The first node with each label, as several classes may have the same mean."""
        return {label: node for node, label in reversed([*enumerate(self.labels)])}

    @property
    def root(self) -> int:
        """The number of the root: the last node of the tree, before the ranges."""
        return self.n_nodes - self.n_ranges - 1

    @cached_property
    def leaves_covered(self) -> np.ndarray:
        """How many leaves each node, range or set covers. Shape (N,)."""
        return count_covered_within(self, np.arange(self.n_nodes), self.first, self.last)

    @cached_property
    def leaves_below(self) -> np.ndarray:
        """nl(v), the number of leaves below each node and of each range. Shape (N,)."""
        leaves = self.leaves_covered.copy()
        leaves[: self.n_leaves] = 0
        ranges = leaves[self.root + 1 :]
        ranges[ranges == 1] = 0
        leaves.setflags(write=False)
        return leaves

    def sum_below(self, values: np.ndarray) -> np.ndarray:
        """Per node the sum of ``values`` over it and all nodes below it. Shape (N,)."""
        below_sums = np.array(values)
        ranges = np.arange(self.root + 1, self.n_nodes)
        range_values = below_sums[ranges]
        below_sums[ranges] = 0
        total = super().sum_below(below_sums)
        # Additions alone, over the leaves of each range, so that floats lose no digits.
        sizes, leaves = list_covered_leaves(self, ranges)
        total[ranges] = range_values + np.add.reduceat(total[leaves], np.cumsum(sizes) - sizes)
        for node in np.flatnonzero(below_sums[self.n_leaves : self.root + 1]) + self.n_leaves:
            total[ranges[covers(self, ranges, int(node))]] += below_sums[node]
        return total


def count_covered_within(
    tree: Hierarchy, nodes: np.ndarray, low: np.ndarray | int, high: np.ndarray | int
) -> np.ndarray:
    """How many leaves with ``low <= leaf < high`` each of some nodes covers."""
    counts = np.minimum(tree.last[nodes], high) - np.maximum(tree.first[nodes], low)
    if isinstance(tree, RangedHierarchy) and len(tree.set_keys):
        start = nodes.astype(np.int64) * tree.n_leaves
        ends = [
            np.searchsorted(tree.set_keys, start + end) for end in (0, low, high, tree.n_leaves)
        ]
        counts = np.where(ends[3] > ends[0], ends[2] - ends[1], counts)
    return np.asarray(np.maximum(counts, 0))


def join_sets(trees: Iterable[Hierarchy]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per node of some trees where the leaves of its set start and end, and all these leaves."""
    ends, leaves = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for tree in trees:
        keys = tree.set_keys if isinstance(tree, RangedHierarchy) else leaves[0]
        nodes = np.arange(1, tree.n_nodes + 1, dtype=np.int64)
        ends.append(ends[-1][-1] + np.searchsorted(keys, nodes * tree.n_leaves))
        leaves.append(keys % tree.n_leaves)
    stops = np.concatenate(ends)
    return stops[:-1], stops[1:], np.concatenate(leaves)


def covers(tree: Hierarchy, above: np.ndarray, below: np.ndarray | int) -> np.ndarray:
    """Whether nodes, ranges or sets cover all leaves of other nodes of the tree."""
    first, last = tree.first[below], tree.last[below]
    return count_covered_within(tree, above, first, last) == last - first


def list_covered_leaves(tree: Hierarchy, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many leaves each of some nodes covers, and all these leaves, node after node, rising."""
    sizes = (tree.last[nodes] - tree.first[nodes]).astype(np.int64)
    places = np.repeat(np.cumsum(sizes) - sizes, sizes)
    leaves = np.arange(sizes.sum()) - places + np.repeat(tree.first[nodes], sizes)
    if isinstance(tree, RangedHierarchy) and len(tree.set_keys):
        owner = np.repeat(np.arange(len(nodes)), sizes)
        inside = count_covered_within(tree, nodes[owner], leaves, leaves + 1) > 0
        sizes, leaves = np.bincount(owner[inside], minlength=len(nodes)), leaves[inside]
    return sizes, leaves


def add_ranges(tree: Hierarchy, ranges: Sequence[LeafRange]) -> Hierarchy:
    """Add ranges to a tree, whose nodes keep their numbers."""
    if not ranges:
        return tree
    labels = (*tree.labels, *(span.label for span in ranges))
    unique = [*tree.labels, *(span.label for span in ranges if span.bounds or not span.mean)]
    if len(set(unique)) < len(unique):
        duplicate = next(span.label for span in reversed(ranges) if unique.count(span.label) > 1)
        raise HierarchyError("Two parts of the release have the name {cells}.", [duplicate])
    covers = [_find_smallest_cover(tree, span) for span in ranges]
    if is_flat(tree):
        whole = tree.n_leaves
        levels = [
            _LEVEL_OF_WHOLE if span.last - span.first == whole and not span.leaves else 1
            for span in ranges
        ]
    else:
        levels = [int(tree.level[cover]) for cover in covers]

    def extend_array(array: np.ndarray, more: Sequence[int]) -> np.ndarray:
        extended = np.concatenate([array, np.array(more, dtype=array.dtype)])
        extended.setflags(write=False)
        return extended

    return RangedHierarchy(
        labels,
        extend_array(tree.parent, covers),
        extend_array(tree.first, [span.first for span in ranges]),
        extend_array(tree.last, [span.last for span in ranges]),
        extend_array(tree.level, levels),
        None if tree.weight is None else extend_array(tree.weight, [0] * len(ranges)),
        n_ranges=len(ranges),
        bounds=frozenset(leaf for span in ranges for leaf in span.bounds),
        shows_means=any(span.mean and span.bounds for span in ranges),
        set_keys=np.array(
            [
                (tree.n_nodes + place) * tree.n_leaves + leaf
                for place, span in enumerate(ranges)
                for leaf in span.leaves
            ],
            dtype=np.int64,
        ),
    )


def build_flat_hierarchy(values: Sequence[str], kind: ColumnKind | None = None) -> Hierarchy:
    """The substitute hierarchy of a column without one: its values in order, and ``*``.

    Numbers are sorted by size, dates by time, equal ones and other texts by the alphabet. Ranges
    fit between a value and ``*``, so the root has level 2.
    """
    leaves = [value for value in values if value != ROOT_LABEL]
    keys = compute_sort_sizes(leaves, kind)
    order = sorted(leaves)
    if keys is not None:
        size_of = dict(zip(leaves, keys, strict=True))
        order.sort(key=size_of.__getitem__)
    entries = [(ROOT_LABEL, None, None), *((value, ROOT_LABEL, None) for value in order)]
    return convert_to_flat(Hierarchy.from_entries(entries))


def convert_to_flat(tree: Hierarchy) -> Hierarchy:
    """The substitute hierarchy with the leaves of a tree, all directly under the root."""
    if tree.n_nodes == 1:
        return tree
    level = tree.level.copy()
    level[tree.root] = _LEVEL_OF_WHOLE
    level.setflags(write=False)
    return Hierarchy(tree.labels, tree.parent, tree.first, tree.last, level, None)


def is_flat(tree: Hierarchy) -> bool:
    return bool(tree.level[tree.root] == _LEVEL_OF_WHOLE and (tree.parent < 0).sum() == 1) and bool(
        (tree.parent[: tree.n_leaves] == tree.root).all()
    )


def _find_smallest_cover(tree: Hierarchy, span: LeafRange) -> int:
    """Find the node with the fewest leaves that covers a range; in a chain, the lowest."""
    covers = (tree.first <= span.first) & (tree.last >= span.last)
    leaves = np.where(covers, tree.leaves_covered, tree.n_leaves + 1)
    return int(leaves.argmin())  # the first of a chain is its lowest node
