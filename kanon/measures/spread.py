"""Uniform spread: what a reader of a release expects of the original values.

A released cell counts as if its record could have each leaf below its node, with equal chance. So
do original cells that are no leaves, and the ranges of Mondrian and MDAV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.kernels.spread import spread

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def leaf_counts(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """The estimated cells of every leaf: Σ of at(v) / |v| over the nodes that cover it."""
    found: np.ndarray = np.zeros(tree.n_leaves)
    spread(np.asarray(at, dtype=np.int64), tree.first, tree.last, found)
    return found


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    name: str  # what it is called
    values: Sequence[str]  # its L leaves by name
    # per item its node: a class has one in every quasi-identifier, an entry of a histogram its
    # value
    node: np.ndarray
    counts: np.ndarray  # the number of records of each item
    # the number of records at each node, and its level
    at: np.ndarray
    level: np.ndarray
    shares: csr_array  # of each node that occurs, 1 / |v| at each of the |v| leaves below it
    of_entry: np.ndarray | None = None  # the class of each entry of a histogram

    @cached_property
    def records(self) -> np.ndarray:
        return np.asarray(self.shares.T @ self.at)

    @cached_property
    def told_apart(self) -> np.ndarray:
        """How many leaves, or bins, cells at a node's level tell apart, in the mean. Shape (N,)."""
        records, there = self.records, self.records > 0
        rarity = np.where(there, self.at.sum() / np.where(there, records, 1), 0)
        each = self.at * np.asarray(self.shares.power(2) @ rarity)
        total = np.bincount(self.level, weights=each)
        cells = np.bincount(self.level, weights=self.at)
        return (total / np.maximum(cells, 1))[self.level]

    def binned(self, bins: np.ndarray) -> SpreadColumn:
        from scipy.sparse import csr_array

        parts = (self.shares.data, bins[self.shares.indices], self.shares.indptr)
        shares = csr_array(parts, shape=(len(self.at), int(bins.max()) + 1))
        shares.sum_duplicates()
        return replace(self, shares=shares)


def columns_of(classes: EquivalenceClasses) -> tuple[SpreadColumn, ...]:
    """The quasi-identifiers of a table, then its sensitive columns, whose values are leaves."""
    found = [
        SpreadColumn(
            name,
            tree.labels[: tree.n_leaves],
            classes.nodes[:, j],
            classes.counts,
            at,
            tree.level,
            _shares(tree.first, tree.last, at > 0),
        )
        for j, (name, tree, at) in enumerate(
            zip(classes.attributes, classes.hierarchies, classes.cells, strict=True)
        )
    ]
    for each in classes.sensitive:
        place = np.arange(len(each.values))
        shares = _shares(place, place + 1, each.total > 0)
        found.append(
            SpreadColumn(
                each.name,
                each.values,
                each.value,
                each.count,
                each.total,
                0 * place,
                shares,
                each.of_entry,
            )
        )
    return tuple(found)


def _shares(first: np.ndarray, last: np.ndarray, there: np.ndarray) -> csr_array:
    """Per node that occurs its share at each leaf; the other rows are empty."""
    from scipy.sparse import csr_array

    sizes = np.where(there, last - first, 0).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    leaves = np.arange(ends[-1]) + np.repeat(first - ends[:-1], sizes)
    parts = 1 / np.repeat(np.maximum(sizes, 1), sizes)
    return csr_array((parts, leaves, ends), shape=(len(first), int(last.max(initial=0))))


def joint_counts(one: SpreadColumn, other: SpreadColumn) -> csr_array:
    """How many records stand at every pair of nodes. Shape (N_1, N_2)."""
    from scipy.sparse import csr_array

    node = one.node if other.of_entry is None else one.node[other.of_entry]
    return csr_array((other.counts, (node, other.node)), shape=(len(one.at), len(other.at)))


def spread_counts(one: SpreadColumn, other: SpreadColumn, joint: csr_array) -> np.ndarray:
    """The estimated number of records of every pair of leaves, or bins: Σ |C| u_1(a) u_2(b)."""
    return np.asarray((one.shares.T @ joint @ other.shares).toarray())
