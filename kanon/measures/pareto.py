"""The Pareto front: what no other choice beats in everything at once."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

Direction = Literal["lower", "higher"]


def pareto_front(points: np.ndarray, directions: Sequence[Direction]) -> np.ndarray:
    """Which points are on the front."""
    values = np.asarray(points, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(directions):
        raise ValueError("A front needs a row per point and a direction per column.")
    if unknown := [one for one in directions if one not in ("lower", "higher")]:
        raise ValueError(f"A direction is 'lower' or 'higher', not {unknown[0]!r}.")
    losses = values * [1.0 if one == "lower" else -1.0 for one in directions]
    known = ~np.isnan(losses).any(axis=1)
    as_good = (losses[:, None, :] <= losses[None, :, :]).all(axis=2)
    better = (losses[:, None, :] < losses[None, :, :]).any(axis=2)
    return known & ~(as_good & better).any(axis=0)
