"""Uniform spread: what a reader of a release expects of the original values.

A released cell counts as if its record could have each leaf below its node, with equal chance. So
do original cells that are no leaves, and the ranges of Mondrian and MDAV.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.kernels.spread import join, spread


def leaf_counts(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """The estimated number of cells of every leaf: Σ of at(v) / |v| over the nodes that cover it.

    Parameters
    ----------
    tree
        The hierarchy, of N nodes and L leaves.
    at : numpy.ndarray, shape (N,), int64
        The number of cells at each node.

    Returns
    -------
    numpy.ndarray, shape (L,)
        They add up to the number of cells.

    >>> from kanon.hierarchy.build import groups
    >>> tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    >>> leaf_counts(tree, np.array([1, 0, 0, 2, 3])).tolist()
    [3.0, 2.0, 1.0]
    """
    found: np.ndarray = np.zeros(tree.n_leaves)
    spread(np.asarray(at, dtype=np.int64), tree.first, tree.last, found)
    return found


@dataclass(frozen=True, eq=False)
class JointColumn:
    """A column of a table, as far as joint counts need to know it.

    Attributes
    ----------
    name
        What it is called.
    node : numpy.ndarray, shape (I,)
        Per item its node: a class has one in every quasi-identifier, an entry of a histogram its
        value.
    first, last : numpy.ndarray
        Per node the leaves below it.
    n_leaves
        How many leaves there are.
    """

    name: str
    node: np.ndarray
    first: np.ndarray
    last: np.ndarray
    n_leaves: int

    @cached_property
    def order(self) -> np.ndarray:
        """The items by their node."""
        # Short integers are sorted in one pass.
        short = np.int16 if len(self.first) < 2**15 else np.int32
        return np.argsort(self.node.astype(short), kind="stable")

    @cached_property
    def leaves_shared_out(self) -> int:
        """The leaves below each node that occurs, added up."""
        there = np.zeros(len(self.first), dtype=bool)
        there[self.node] = True
        return int((self.last - self.first)[there].sum())


def columns_of(classes: EquivalenceClasses) -> tuple[JointColumn, ...]:
    """The quasi-identifiers of a table, of one item per class."""
    return tuple(
        JointColumn(
            name, np.ascontiguousarray(classes.nodes[:, j]), tree.first, tree.last, tree.n_leaves
        )
        for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True))
    )


def joint_counts(one: JointColumn, other: JointColumn, counts: np.ndarray) -> np.ndarray:
    """The estimated number of records of every pair of leaves: Σ |C| u_1(a) u_2(b).

    u is 1 / |v| for each of the |v| leaves that the class's node v covers, else 0. Within a class,
    columns count as independent of each other.

    Parameters
    ----------
    one, other
        Two columns of the same items.
    counts : numpy.ndarray, shape (I,)
        The number of records of each item.

    Returns
    -------
    numpy.ndarray, shape (L_1, L_2)
    """
    turned = other.leaves_shared_out * one.n_leaves < one.leaves_shared_out * other.n_leaves
    if turned:  # which takes fewer additions
        return joint_counts(other, one, counts).T
    found: np.ndarray = np.zeros((one.n_leaves, other.n_leaves))
    ends = (one.first, one.last, other.first, other.last)
    join(one.order, one.node, other.node, np.asarray(counts, dtype=np.int64), *ends, found)
    return found
