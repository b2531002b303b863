"""Clusters of classes, released as their centres: the lowest common ancestors of their members.

Widening a cluster of centre x by a class of tuple y costs, per quasi-identifier, D(x) - D(lca) per
record of the cluster and D(y) - D(lca) per record of the class, in 64-bit integers. Every loop
stops after about ``looks`` looks at a class or cluster, to report progress, and can go on.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import loop_with_arrays
from kanon.kernels.digits import Digits


class ClusteringInput(NamedTuple):
    nodes: np.ndarray  # int32 (E, m): the tuples of the classes
    counts: np.ndarray  # (E,): their numbers of records
    parents: np.ndarray  # (m, N): per quasi-identifier each node's parent, -1 for roots
    depths: np.ndarray  # (m, N): each node's scaled potential
    digits: Digits  # what tells costs apart that had to be rounded
    sizes: np.ndarray  # (m,): the number of nodes of each hierarchy
    order: np.ndarray  # the quasi-identifiers as costs are added up; changes the speed alone
    k: int  # the records that every cluster has to hold
    weighted: bool  # whether a cost counts every record, or 1 for the cluster and 1 for the class


class Clusters(NamedTuple):
    nodes: np.ndarray  # int32 (K, m): their centres
    records: np.ndarray  # (K,): of each; 0 for one that was merged into another
    of: np.ndarray  # (E,): per class its cluster; -1 if it has none


ALL = 2**62  # more records than any cluster has: no limit

MOST = np.int64(2**63 - 1)


@loop_with_arrays
def compute_meeting_costs(parent, depth, size, node, own, its):
    """Fill, per node v, what raising ``node`` and v to their common ancestor costs."""
    for v in range(size):
        met = depth[lca(parent, node, v)]
        own[v] = depth[node] - met
        its[v] = depth[v] - met


@loop_with_arrays
def raise_to(table, tuple_, other):
    """Raise a tuple, in place, to its common ancestors with another."""
    for j in range(len(tuple_)):
        tuple_[j] = lca(table.parents[j], tuple_[j], other[j])
