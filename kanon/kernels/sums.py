"""The compiled loop of sums over cells: one number per node, added up per class."""

from __future__ import annotations

import numpy as np

from kanon.kernels.compilation import kernel


@kernel(seconds=1, arrays=True)
def add_up(
    nodes: np.ndarray,
    counts: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    found: np.ndarray,
) -> None:
    """Fill ``found`` per class with the sum over its cells of a whole number per node.

    ``nodes`` is (C, m); the numbers of attribute j stand from ``starts[j]`` on in ``values``.
    """
    for c in range(len(counts)):
        one = 0
        for j in range(len(starts)):
            one += values[starts[j] + nodes[c, j]]
        found[c] = one * counts[c]
