"""The Pareto front: the choices that no other choice beats in everything at once."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

Direction = Literal["lower", "higher"]


def find_pareto_front(points: np.ndarray, directions: Sequence[Direction]) -> np.ndarray:
    """Which points are on the front."""
    values = np.asarray(points, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(directions):
        raise ValueError("A front needs a row per point and a direction per column.")
    if unknown := [direction for direction in directions if direction not in ("lower", "higher")]:
        raise ValueError(f"A direction has to be 'lower' or 'higher', not {unknown[0]!r}.")
    losses = values * [1.0 if direction == "lower" else -1.0 for direction in directions]
    is_complete = ~np.isnan(losses).any(axis=1)
    as_good = (losses[:, None, :] <= losses[None, :, :]).all(axis=2)
    better = (losses[:, None, :] < losses[None, :, :]).any(axis=2)
    return is_complete & ~(as_good & better).any(axis=0)
