"""What a tuple costs to take into each of many classes, all of it raised to what both share."""

from __future__ import annotations

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import kernel


@kernel(seconds=1, arrays=True)
def joining_costs(
    nodes: np.ndarray,
    counts: np.ndarray,
    tuple_: np.ndarray,
    count: int,
    parents: np.ndarray,
    depths: np.ndarray,
    joined: np.ndarray,
    costs: np.ndarray,
) -> None:
    """Fill ``costs`` with what merging each class with one tuple costs all records of both.

    ``joined`` is filled with their lowest common ancestors.
    """
    for i in range(nodes.shape[0]):
        cost = 0
        for j in range(nodes.shape[1]):
            high = lca(parents[j], tuple_[j], nodes[i, j])
            joined[i, j] = high
            cost += (depths[j, tuple_[j]] - depths[j, high]) * count
            cost += (depths[j, nodes[i, j]] - depths[j, high]) * counts[i]
        costs[i] = cost
