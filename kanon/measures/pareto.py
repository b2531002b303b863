"""The Pareto front: what no other choice beats in everything at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

Direction = Literal["lower", "higher"]


def pareto_front(points: np.ndarray, directions: Sequence[Direction]) -> np.ndarray:
    """Which points are on the front.

    A point is beaten by another that is at least as good in every coordinate and better in one;
    the front holds those that nobody beats. Equal points beat neither the other: both are on the
    front, or neither is.

    Parameters
    ----------
    points : numpy.ndarray, shape (N, D)
        A row per choice. A row with a value that is not a number is beaten by nobody, beats
        nobody and is not on the front: it cannot be compared.
    directions
        Per coordinate which way is better.

    Returns
    -------
    numpy.ndarray of bool, shape (N,)

    Raises
    ------
    ValueError
        There is not one direction per coordinate, or one is neither ``lower`` nor ``higher``.

    Notes
    -----
    Source: V. Pareto, Manuale di economia politica, 1906; the comparison of all pairs is
    the definition written out.

    >>> alteration_and_l = np.array([[10.0, 50.0], [20.0, 80.0], [30.0, 70.0]])
    >>> pareto_front(alteration_and_l, ["lower", "higher"]).tolist()
    [True, True, False]
    """
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
