"""Ranges beside a hierarchy: what is released where values are grouped without its groups.

A range is a run of neighbouring leaves. Ranges may overlap, so they are not nodes of one tree. They
are numbered after the root of their tree, and have a level, leaves below and a label as nodes do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False, repr=False)
class RangedHierarchy(Hierarchy):
    """A hierarchy with ranges beside its nodes."""

    n_ranges: int = 0  # the number of ranges
    bounds: frozenset[int] = frozenset()  # the leaves that labels of ranges name as bounds
    shows_means: bool = False  # whether a mean stands beside such bounds

    @cached_property
    def node_of(self) -> dict[str, int]:
        """The first node with each label, as several classes may have the same mean."""
        return {label: node for node, label in reversed([*enumerate(self.labels)])}

    @property
    def root(self) -> int:
        """The number of the root: the last node of the tree, before the ranges."""
        return self.n_nodes - self.n_ranges - 1

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
        leaves = np.append(total[: self.n_leaves], 0)  # a range may end at the last leaf
        ends = np.column_stack([self.first[ranges], self.last[ranges]]).ravel()
        total[ranges] = range_values + np.add.reduceat(leaves, ends)[::2]
        for node in np.flatnonzero(below_sums[self.n_leaves : self.root + 1]) + self.n_leaves:
            within = self.first[ranges] <= self.first[node]
            within &= self.last[ranges] >= self.last[node]
            total[ranges[within]] += below_sums[node]
        return total


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
        levels = [_LEVEL_OF_WHOLE if span.last - span.first == whole else 1 for span in ranges]
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
