"""Uniform spread: what a reader of a release expects of the original values.

A released cell counts as each leaf below its node with equal chance. So do original cells that are
not leaves, and the ranges of Mondrian and MDAV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.kernels.spread import add_spread_counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def estimate_leaf_counts(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """The estimated cells of every leaf: Σ of at(v) / |v| over the nodes that cover it."""
    counts: np.ndarray = np.zeros(tree.n_leaves)
    add_spread_counts(np.asarray(at, dtype=np.int64), tree.first, tree.last, counts)
    return counts


@dataclass(frozen=True, eq=False)
class SpreadColumn:
    name: str
    values: Sequence[str]  # the labels of its L leaves
    # per item its node: an item is a class, or an entry of a histogram, whose node is its value
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
    def n_distinguished(self) -> np.ndarray:
        """How many leaves, or bins, cells at a node's level distinguish on average. Shape (N,)."""
        records, occurs = self.records, self.records > 0
        rarity = np.where(occurs, self.at.sum() / np.where(occurs, records, 1), 0)
        products = self.at * np.asarray(self.shares.power(2) @ rarity)
        total = np.bincount(self.level, weights=products)
        cells = np.bincount(self.level, weights=self.at)
        return (total / np.maximum(cells, 1))[self.level]

    def merge_into_bins(self, bins: np.ndarray) -> SpreadColumn:
        from scipy.sparse import csr_array

        parts = (self.shares.data, bins[self.shares.indices], self.shares.indptr)
        shares = csr_array(parts, shape=(len(self.at), int(bins.max()) + 1))
        shares.sum_duplicates()
        return replace(self, shares=shares)


def build_spread_columns(classes: EquivalenceClasses) -> tuple[SpreadColumn, ...]:
    """The quasi-identifiers of a table, then its sensitive columns, whose values are leaves."""
    columns = [
        SpreadColumn(
            name,
            tree.labels[: tree.n_leaves],
            classes.nodes[:, j],
            classes.counts,
            at,
            tree.level,
            _compute_shares(tree.first, tree.last, at > 0),
        )
        for j, (name, tree, at) in enumerate(
            zip(classes.attributes, classes.hierarchies, classes.cells, strict=True)
        )
    ]
    for sensitive in classes.sensitive:
        place = np.arange(len(sensitive.values))
        shares = _compute_shares(place, place + 1, sensitive.total > 0)
        columns.append(
            SpreadColumn(
                sensitive.name,
                sensitive.values,
                sensitive.value,
                sensitive.count,
                sensitive.total,
                0 * place,
                shares,
                sensitive.of_entry,
            )
        )
    return tuple(columns)


def _compute_shares(first: np.ndarray, last: np.ndarray, occurs: np.ndarray) -> csr_array:
    """Compute the share of each occurring node at each leaf; the other rows are empty."""
    from scipy.sparse import csr_array

    sizes = np.where(occurs, last - first, 0).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    leaves = np.arange(ends[-1]) + np.repeat(first - ends[:-1], sizes)
    parts = 1 / np.repeat(np.maximum(sizes, 1), sizes)
    return csr_array((parts, leaves, ends), shape=(len(first), int(last.max(initial=0))))


def count_jointly(first: SpreadColumn, second: SpreadColumn) -> csr_array:
    """The number of records at every pair of nodes. Shape (N_1, N_2)."""
    from scipy.sparse import csr_array

    node = first.node if second.of_entry is None else first.node[second.of_entry]
    return csr_array((second.counts, (node, second.node)), shape=(len(first.at), len(second.at)))


def estimate_joint_counts(
    first: SpreadColumn, second: SpreadColumn, joint: csr_array
) -> np.ndarray:
    """The estimated number of records of every pair of leaves, or bins: Σ |C| u_1(a) u_2(b)."""
    return np.asarray((first.shares.T @ joint @ second.shares).toarray())
