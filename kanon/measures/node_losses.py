"""The loss of a cell at each node of its hierarchy: one number per node.

Every cell-wise measure is a sum of such numbers over the cells of a release, and a search that
minimises it needs no others. None falls on the way up, except the conditional entropy.
"""

import numpy as np

from kanon.hierarchy import Hierarchy


def level_share(tree: Hierarchy) -> np.ndarray:
    """level(v) / level(root), the share of the levels below v. Shape (N,)."""
    highest = int(tree.level[tree.root])
    return tree.level / highest if highest else np.zeros(tree.n_nodes)


def leaf_share_lost(tree: Hierarchy) -> np.ndarray:
    """(|v| - 1) / |root|, |v| being the number of leaves that v covers. Shape (N,)."""
    return np.asarray((tree.leaves_covered - 1) / tree.n_leaves)


def other_leaves_share(tree: Hierarchy) -> np.ndarray:
    """(|v| - 1) / (|root| - 1), v's share of all other values; 0 for one leaf. Shape (N,)."""
    other_leaves = tree.n_leaves - 1
    return (tree.leaves_covered - 1) / other_leaves if other_leaves else np.zeros(tree.n_nodes)


def record_bits(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """log2 of the number of records at v or below it, in bits. Shape (N,)."""
    return np.asarray(np.log2(np.maximum(tree.sum_below(at), 1)))


def conditional_bits(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """H(V | v), the entropy of the original values of the records at v or below, in bits."""
    below = np.maximum(tree.sum_below(at), 1)
    parts = tree.sum_below(at * np.log2(np.maximum(at, 1)))
    several = tree.sum_below(at > 0) > 1  # exactly 0 for one value, despite rounding
    return np.asarray(np.where(several, np.maximum(np.log2(below) - parts / below, 0.0), 0.0))
