"""Ranges beside a hierarchy: what is released where values are grouped without its groups.

A range is a run of neighbouring leaves. Ranges may overlap, so they are no nodes of one tree; they
get numbers after the root of the tree they stand beside, and all that is one number per node
(level, leaves below, label) is defined for them too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kanon.base.kinds import ColumnKind, sizes
from kanon.errors import HierarchyError
from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy

_LEVEL_OF_WHOLE = 2
"""The level of the root of a column without a hierarchy: a range is between it and a value."""


class LeafRange(NamedTuple):
    """The leaves ``first <= leaf < last``, and what they are called in a release."""

    first: int
    last: int
    label: str
    bounds: tuple[int, ...] = ()  # the leaves that the label names as bounds
    mean: bool = False  # whether the label holds the mean of a class


@dataclass(frozen=True, eq=False, repr=False)
class RangedHierarchy(Hierarchy):
    """A hierarchy with ranges beside its nodes."""

    n_ranges: int = 0  # the number of ranges
    bounds: frozenset[int] = frozenset()  # the leaves that labels of ranges name as bounds
    shows_means: bool = False  # whether a mean stands beside such bounds

    @cached_property
    def node_of(self) -> dict[str, int]:
        """The number of the first node with a label: several classes may have one mean."""
        return {label: node for node, label in reversed([*enumerate(self.labels)])}

    @property
    def root(self) -> int:
        """The number of the root: the last node of the tree, before the ranges."""
        return self.n_nodes - self.n_ranges - 1

    @cached_property
    def leaves_below(self) -> np.ndarray:
        """nl(v), the number of leaves below each node and of each range. Shape (N,)."""
        found = self.leaves_covered.copy()
        found[: self.n_leaves] = 0
        ranges = found[self.root + 1 :]
        ranges[ranges == 1] = 0
        found.setflags(write=False)
        return found

    def sum_below(self, values: np.ndarray) -> np.ndarray:
        """Per node the sum of ``values`` over it and all nodes below it. Shape (N,)."""
        given = np.array(values)
        ranges = np.arange(self.root + 1, self.n_nodes)
        own = given[ranges]
        given[ranges] = 0
        total = super().sum_below(given)
        # Additions alone, from where a range begins up to where it ends: see the tree's own.
        leaves = np.append(total[: self.n_leaves], 0)  # a range may end where the leaves do
        ends = np.column_stack([self.first[ranges], self.last[ranges]]).ravel()
        total[ranges] = own + np.add.reduceat(leaves, ends)[::2]
        for node in np.flatnonzero(given[self.n_leaves : self.root + 1]) + self.n_leaves:
            within = self.first[ranges] <= self.first[node]
            within &= self.last[ranges] >= self.last[node]
            total[ranges[within]] += given[node]
        return total


def with_ranges(tree: Hierarchy, ranges: Sequence[LeafRange]) -> Hierarchy:
    """The tree with ranges beside its nodes, which keep their numbers."""
    if not ranges:
        return tree
    labels = (*tree.labels, *(one.label for one in ranges))
    own = [*tree.labels, *(one.label for one in ranges if one.bounds or not one.mean)]
    if len(set(own)) < len(own):
        taken = next(one.label for one in reversed(ranges) if own.count(one.label) > 1)
        raise HierarchyError("Two parts of a release are called {cells}.", [taken])
    covers = [_smallest_cover(tree, one) for one in ranges]
    if is_flat(tree):
        whole = tree.n_leaves
        levels = [_LEVEL_OF_WHOLE if one.last - one.first == whole else 1 for one in ranges]
    else:
        levels = [int(tree.level[cover]) for cover in covers]

    def longer(array: np.ndarray, more: Sequence[int]) -> np.ndarray:
        found = np.concatenate([array, np.array(more, dtype=array.dtype)])
        found.setflags(write=False)
        return found

    return RangedHierarchy(
        labels,
        longer(tree.parent, covers),
        longer(tree.first, [one.first for one in ranges]),
        longer(tree.last, [one.last for one in ranges]),
        longer(tree.level, levels),
        None if tree.weight is None else longer(tree.weight, [0] * len(ranges)),
        n_ranges=len(ranges),
        bounds=frozenset(leaf for one in ranges for leaf in one.bounds),
        shows_means=any(one.mean and one.bounds for one in ranges),
    )


def flat(values: Sequence[str], kind: ColumnKind | None = None) -> Hierarchy:
    """What stands in for the hierarchy of a column that has none: its values in order, and ``*``.

    Numbers stand by size, dates by time, those of one size and other texts by the alphabet. Between
    a value and ``*`` there is room for ranges, so the root has level 2.
    """
    leaves = [value for value in values if value != ROOT_LABEL]
    found = sizes(leaves, kind)
    order = sorted(leaves)
    if found is not None:
        size_of = dict(zip(leaves, found, strict=True))
        order.sort(key=size_of.__getitem__)
    entries = [(ROOT_LABEL, None, None), *((value, ROOT_LABEL, None) for value in order)]
    return as_flat(Hierarchy.from_entries(entries))


def as_flat(tree: Hierarchy) -> Hierarchy:
    """The stand-in of a column that has the leaves of a tree, all of them right under the root."""
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


def _smallest_cover(tree: Hierarchy, one: LeafRange) -> int:
    """The node with the fewest leaves that covers a range; of a chain the lowest."""
    covers = (tree.first <= one.first) & (tree.last >= one.last)
    leaves = np.where(covers, tree.leaves_covered, tree.n_leaves + 1)
    return int(leaves.argmin())  # the first of a chain is its lowest node
