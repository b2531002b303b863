"""What a cell has lost at each node of its hierarchy: one number per node.

Every cell-wise measure is a sum of such a number over the cells of a release, and a search that
minimises it needs no other number. Going up none of them falls, but for the conditional entropy.
"""

import numpy as np

from kanon.hierarchy import Hierarchy


def level_share(tree: Hierarchy) -> np.ndarray:
    """level(v) / level(root), the share of the levels that v rose. Shape (N,).

    >>> from kanon.hierarchy.build import groups
    >>> level_share(groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])).tolist()
    [0.0, 0.0, 0.0, 0.5, 1.0]
    """
    highest = int(tree.level[tree.root])
    return tree.level / highest if highest else np.zeros(tree.n_nodes)


def leaf_share_lost(tree: Hierarchy) -> np.ndarray:
    """(|v| - 1) / |root|, |v| being how many leaves v covers: its other values. Shape (N,).

    >>> from kanon.hierarchy.build import groups
    >>> leaf_share_lost(groups([{"A": ["a", "b"]}, {"*": ["A", "c", "d"]}])).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.25, 0.75]
    """
    lost: np.ndarray = (tree.leaves_covered - 1) / tree.n_leaves
    return lost


def other_leaves_share(tree: Hierarchy) -> np.ndarray:
    """(|v| - 1) / (|root| - 1), |v| being how many leaves v covers: its other values. Shape (N,).

    The share of all other values of its column. 0 at a leaf, 1 at the root; 0 for one leaf.

    >>> from kanon.hierarchy.build import suppression
    >>> other_leaves_share(suppression(["a", "b", "c"])).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    others = tree.n_leaves - 1
    return (tree.leaves_covered - 1) / others if others else np.zeros(tree.n_nodes)


def record_bits(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """log2 of the number of records at v or below it, in bits. Shape (N,).

    >>> from kanon.hierarchy.build import suppression
    >>> record_bits(suppression(["a", "b", "c"]), np.array([4, 2, 2, 0])).tolist()
    [2.0, 1.0, 1.0, 3.0]
    """
    found: np.ndarray = np.log2(np.maximum(tree.sum_below(at), 1))
    return found


def conditional_bits(tree: Hierarchy, at: np.ndarray) -> np.ndarray:
    """H(V | v), the entropy of the original values of the records at v or below, in bits.

    >>> from kanon.hierarchy.build import suppression
    >>> conditional_bits(suppression(["a", "b", "c"]), np.array([4, 2, 2, 0])).tolist()
    [0.0, 0.0, 0.0, 1.5]
    """
    below = np.maximum(tree.sum_below(at), 1)
    parts = tree.sum_below(at * np.log2(np.maximum(at, 1)))
    several = tree.sum_below(at > 0) > 1  # of one value nothing may remain of the roundings
    found: np.ndarray = np.where(several, np.maximum(np.log2(below) - parts / below, 0.0), 0.0)
    return found
