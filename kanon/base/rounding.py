"""Rounding of many numbers at once, for people: what is not certain never reads as certain."""

import numpy as np
from numpy.typing import ArrayLike


def round_apart(numbers: ArrayLike, places: int) -> np.ndarray:
    """Numbers rounded, but not onto a whole number that they are not: the next one instead.

    With one place, as percentages have, that is so of 0 and 100 alone.

    >>> round_apart([99.97, 12.04, 0.01], 1).tolist()
    [99.9, 12.0, 0.1]
    >>> round_apart([1.0007, 2, 7 - 1e-15], 2).tolist()
    [1.01, 2.0, 7.0]
    """
    given = np.asarray(numbers, dtype=float)
    whole, rounded = np.rint(given), np.round(given, places)
    with np.errstate(invalid="ignore"):  # infinite minus infinite
        apart = (rounded == whole) & ~np.isclose(given, whole, rtol=1e-12, atol=0)
        apart &= np.isin(whole, (0, 100)) | (places > 1)
        moved = np.round(whole + np.sign(given - whole) * 10.0**-places, places)
    return np.where(apart, moved, rounded)


def write_decimals(number: float, places: int) -> str:
    """A number with so many places, as :func:`round_apart` rounds it.

    >>> write_decimals(0.9996, 2), write_decimals(1, 2)
    ('0.99', '1.00')
    """
    return f"{float(round_apart(number, places)):.{places}f}"
