"""Clusters of classes, released as their centres.

A cluster is released as its *centre*, the tuple of lowest common ancestors of its members. Widening
a cluster of centre x by a class of tuple y costs, in each quasi-identifier, D(x) - D(lca) for every
record of the cluster and D(y) - D(lca) for every record of the class: by as much the loss of the
whole cluster grows. All costs are exact sums of 64-bit integers.

Every loop stops after about so many looks at a class or cluster, so that progress can be told, and
goes on where it stopped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import loop_with_arrays


class ClusteringInput(NamedTuple):
    """What is clustered.

    Attributes
    ----------
    nodes : numpy.ndarray, shape (E, m), int32
        The tuples of the classes.
    counts : numpy.ndarray, shape (E,), int64
        Their numbers of records.
    parents, depths : numpy.ndarray, shape (m, N)
        Per quasi-identifier the parent (-1 for roots) and scaled potential of each node, in arrays
        as wide as the largest hierarchy.
    sizes : numpy.ndarray, shape (m,), int64
        The number of nodes of each hierarchy.
    order : numpy.ndarray, shape (m,), int64
        The quasi-identifiers in the order in which costs are added up; it changes the speed alone.
    k
        The number of records that every cluster has to hold.
    weighted
        Whether a cost counts every record, or one for the cluster and one for the class.
    """

    nodes: np.ndarray
    counts: np.ndarray
    parents: np.ndarray
    depths: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    k: int
    weighted: bool


class Clusters(NamedTuple):
    """The clusters so far.

    Attributes
    ----------
    nodes : numpy.ndarray, shape (K, m), int32
        Their centres.
    records : numpy.ndarray, shape (K,), int64
        How many records each holds; 0 for one that was merged into another.
    of : numpy.ndarray, shape (E,), int64
        Per class its cluster; -1 if it has none.
    """

    nodes: np.ndarray
    records: np.ndarray
    of: np.ndarray


ALL = 2**62
"""More records than any cluster has: no limit."""

MOST = np.int64(2**63 - 1)


@loop_with_arrays
def meet_all(parent, depth, size, node, own, its):
    """Per node v of a hierarchy what raising ``node``, and v, to where they meet costs."""
    for v in range(size):
        met = depth[lca(parent, node, v)]
        own[v] = depth[node] - met
        its[v] = depth[v] - met


@loop_with_arrays
def raise_to(table, tuple_, other):
    """Raise a tuple, in place, to where it meets another."""
    for j in range(len(tuple_)):
        tuple_[j] = lca(table.parents[j], tuple_[j], other[j])
