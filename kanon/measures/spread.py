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
from kanon.hierarchy.ranges import list_covered_leaves

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def estimate_leaf_counts(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """The estimated cells of every leaf: Σ of at(v) / |v| over the nodes that cover it."""
    nodes = np.flatnonzero(at)
    sizes, leaves = list_covered_leaves(tree, nodes)
    return np.bincount(leaves, np.repeat(at[nodes] / sizes, sizes), tree.n_leaves)


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
            _compute_shares(tree, at),
        )
        for j, (name, tree, at) in enumerate(
            zip(classes.attributes, classes.hierarchies, classes.cells, strict=True)
        )
    ]
    for sensitive in classes.sensitive:
        place = np.arange(len(sensitive.values))
        occurs = sensitive.total > 0
        shares = _build_shares(occurs, place[occurs], len(place))
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


def _compute_shares(tree: Hierarchy, at: np.ndarray) -> csr_array:
    """Compute the share of each occurring node at each leaf; the other rows are empty."""
    nodes, sizes = np.flatnonzero(at), np.zeros(tree.n_nodes, dtype=np.int64)
    sizes[nodes], leaves = list_covered_leaves(tree, nodes)
    return _build_shares(sizes, leaves, tree.n_leaves)


def _build_shares(sizes: np.ndarray, leaves: np.ndarray, n_leaves: int) -> csr_array:
    from scipy.sparse import csr_array

    ends = np.concatenate([[0], np.cumsum(sizes)])
    parts = 1 / np.repeat(np.maximum(sizes, 1), sizes)
    return csr_array((parts, leaves, ends), shape=(len(sizes), n_leaves))


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
