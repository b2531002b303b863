"""Rounding of many numbers for people: never makes an uncertain value look certain."""

import numpy as np
from numpy.typing import ArrayLike


def round_apart(numbers: ArrayLike, places: int) -> np.ndarray:
    """Round numbers, but never to a whole number that they are not: to the next place instead.

    With one place, as percentages have, this concerns 0 and 100 alone.

    >>> round_apart([99.97, 12.04, 0.01], 1).tolist()
    [99.9, 12.0, 0.1]
    >>> round_apart([1.0007, 2, 7 - 1e-15], 2).tolist()
    [1.01, 2.0, 7.0]
    """
    values = np.asarray(numbers, dtype=float)
    whole, nearest = np.rint(values), np.round(values, places)
    with np.errstate(invalid="ignore"):  # infinite minus infinite
        apart = (nearest == whole) & ~np.isclose(values, whole, rtol=1e-12, atol=0)
        apart &= np.isin(whole, (0, 100)) | (places > 1)
        nudged = np.round(whole + np.sign(values - whole) * 10.0**-places, places)
    return np.where(apart, nudged, nearest)


def write_decimals(number: float, places: int) -> str:
    """A number with so many places, as :func:`round_apart` rounds it.

    >>> write_decimals(0.9996, 2), write_decimals(1, 2)
    ('0.99', '1.00')
    """
    return f"{float(round_apart(number, places)):.{places}f}"
