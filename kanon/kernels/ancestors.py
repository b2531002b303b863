"""The nodes above a node, whose numbers are larger, and the leaves of a set."""

import numpy as np

from kanon.kernels.compilation import loop, loop_with_arrays


@loop
def lca(parent, node, other):
    while node != other:
        if node < other:
            node = parent[node]
        else:
            other = parent[other]
    return node


@loop
def is_ancestor_or_self(parent, above, below):
    while below >= 0 and below < above:
        below = parent[below]
    return below == above


@loop_with_arrays
def count_between(leaves, begin, stop, low, high):
    """How many of the rising ``leaves[begin:stop]`` are at least ``low`` and below ``high``."""
    inside = leaves[begin:stop]
    return np.searchsorted(inside, high) - np.searchsorted(inside, low)
