"""The published tables, how near to them we aim, and how far a table of ours is from one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["AIMS", "PUBLISHED_TABLES", "Tables", "apart", "to_whole"]

Tables = Mapping[int, np.ndarray]
"""Per k the alteration in percent, shape (7, 7): a row per metric measured, a column per metric
that guided, both in the order of :data:`kanon.metrics.PUBLISHED`."""

PUBLISHED_TABLES: Tables = {
    2: np.array([
        [2, 2, 3, 5, 2, 4, 2],
        [4, 3, 4, 5, 3, 5, 4],
        [5, 5, 5, 7, 5, 6, 6],
        [8, 5, 5, 3, 6, 5, 8],
        [3, 3, 3, 5, 2, 4, 3],
        [4, 4, 5, 3, 4, 3, 4],
        [2, 3, 4, 5, 2, 4, 2],
    ]),
    100: np.array([
        [24, 34, 30, 56, 27, 47, 28],
        [35, 38, 38, 52, 34, 50, 37],
        [35, 42, 39, 58, 37, 54, 39],
        [54, 48, 52, 30, 53, 43, 57],
        [28, 33, 32, 57, 27, 53, 30],
        [39, 45, 43, 32, 43, 26, 43],
        [28, 35, 33, 56, 28, 47, 30],
    ]),
}  # fmt: skip
"""Source: Mauger, Le Mahec, Dequen 2020 (PPAI)."""

AIMS: Mapping[int, int] = {2: 1, 100: 4}
"""For our hierarchies and gaa: at k = 2 the most that a rounded cell may differ by; at k = 100
what the mean absolute difference has to stay below. In percentage points."""


def to_whole(percent: np.ndarray) -> np.ndarray:
    """Whole percent, halves upwards.

    >>> to_whole(np.array([1.49, 1.5, 2.5])).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.floor(percent + 0.5)


def apart(ours: Tables, k: int, rounded: bool = False) -> np.ndarray:
    """Ours, rounded to whole percent or not, less the published figure. Shape (7, 7)."""
    return (to_whole(ours[k]) if rounded else ours[k]) - PUBLISHED_TABLES[k]
