"""Costs of a table's trees as they are written for a class: what is read adds up."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor, log10

import numpy as np

from kanon.base.formatting import thin

_LARGEST_DENOMINATOR = 100  # costs that need a larger one are shown as decimals

_MOST_DECIMALS = 4

Costs = Sequence[Sequence[Fraction]]
"""Per quasi-identifier and node what it costs to raise it to the root."""


def costs_shown(depths: Sequence[np.ndarray]) -> tuple[Costs, Callable[[Fraction], str]]:
    """The costs of all trees as they are shown, so that sums of what is read are right.

    >>> (found,), said = costs_shown([np.array([1, 2 / 3, 0])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['1/3', '2/3', '1']
    >>> (found,), said = costs_shown([np.array([2.25, 0.5, 0])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['1.75', '0.5', '2.25']
    >>> (found,), said = costs_shown([np.log2([7, 4, 1])])
    >>> [said(found[0] - found[1]), said(found[1]), said(found[0])]
    ['0.807', '2', '2.807']
    """
    every = np.concatenate([np.ravel(each) for each in depths])
    parts = [[Fraction(float(depth)).limit_denominator(_LARGEST_DENOMINATOR) for depth in each]
             for each in depths]  # fmt: skip
    places = 2
    flat = [part for each in parts for part in each]
    if not np.allclose([float(part) for part in flat], every, rtol=1e-12, atol=1e-12):
        gaps = np.concatenate([np.diff(np.unique(np.round(each, 9))) for each in depths])
        # Three digits of the smallest step, yet no more decimals than one adds up by hand.
        places = min(max(2 - floor(log10(gaps.min(initial=every.max()))), 0), _MOST_DECIMALS)
        parts = [[round(Fraction(float(depth)), places) for depth in each] for each in depths]
    elif any(100 % part.denominator for part in flat):
        return parts, str

    def said(cost: Fraction) -> str:
        if cost.denominator == 1:
            return thin(float(cost))
        return f"{float(cost):.{places}f}".rstrip("0")

    return parts, said
