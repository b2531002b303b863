"""Numbers over several releases: ranks, and the normalised area under a curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon.errors import PlanError

__all__ = ["nauc", "ranks"]


def ranks(alterations: Sequence[float], digits: int | None = None) -> list[int]:
    """The place of each value, the least first; ties share the smaller place.

    Parameters
    ----------
    alterations
        One value per optimisation, of the same criterion.
    digits
        Compare values rounded to so many digits, as the paper does; None for exact values.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2020.

    >>> ranks([2.1, 2.3, 1.0])
    [2, 3, 1]
    >>> ranks([2.1, 2.3, 1.0], digits=0)
    [2, 2, 1]
    """
    compared = np.asarray(alterations, dtype=float)
    if digits is not None:
        compared = np.round(compared, digits)
    return [int((compared < value).sum()) + 1 for value in compared]


def nauc(k: Sequence[int], values: Sequence[float], low: int, high: int, n_records: int) -> float:
    """The normalised area under a curve: (1/(b - a)) * integral of f from a to b.

    Trapezoids over the given k on a linear axis; the unit is that of the values.

    Parameters
    ----------
    k, values
        The curve; k rises, and holds both ends of the interval.
    low, high
        a and b.
    n_records
        n: no k beyond it exists.

    Raises
    ------
    PlanError
        The interval is empty, ends beyond n, or the curve was not computed at its ends.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2023, section 4.

    >>> nauc([2, 4, 6], [0.0, 10.0, 10.0], low=2, high=6, n_records=8)
    7.5
    """
    if high > n_records:
        raise PlanError(f"The interval ends at k = {high}, but the table has {n_records} records.")
    if low >= high:
        raise PlanError(f"The interval from {low} to {high} is empty.")
    points = {int(at): float(value) for at, value in zip(k, values, strict=True)}
    if low not in points or high not in points:
        raise PlanError(f"The curve has to be computed at both ends, k = {low} and k = {high}.")
    inside = sorted(at for at in points if low <= at <= high)
    area = np.trapezoid([points[at] for at in inside], inside)
    return float(area / (high - low))
