"""Potentials as whole numbers: costs that are equal are equal, on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from kanon.errors import MetricError
from kanon.hierarchy import LARGEST_WEIGHT
from kanon.hierarchy.intermediate_costs import ExactNumbers

_FITS = 2**62
_BITS_OF_DIGITS = 61


class Potentials(tuple[np.ndarray, ...]):
    """Per attribute the potential of every node, int64. Shapes (N_j,)."""

    slack: int  # 0 if sums of them are exact
    # where they are rounded, the exact potentials times a common denominator, in digits, the
    # lowest first
    digits: tuple[np.ndarray, ...]
    bits: int  # the base of the digits is 2 to this
    scale: Fraction  # what 1 in the metric's own unit is in these whole numbers
    common: int  # what it is in the numbers that the digits make

    def __new__(
        cls,
        depths: Sequence[np.ndarray],
        slack: int = 0,
        digits: tuple[np.ndarray, ...] = (),
        bits: int = 0,
        scale: Fraction = Fraction(1),
        common: int = 1,
    ) -> Potentials:
        """The potentials, exact if nothing else is said."""
        made = super().__new__(cls, depths)
        made.slack, made.digits, made.bits = slack, digits, bits
        made.scale, made.common = scale, common
        return made

    def first(self, number: int) -> Potentials:
        digits = self.digits[:number]
        return Potentials(self[:number], self.slack, digits, self.bits, self.scale, self.common)

    def ranks(self, add: Callable[[Sequence[np.ndarray]], np.ndarray]) -> np.ndarray:
        """Numbers in the exact order of some sums of potentials, the same where these are equal."""
        sums = add(self)
        if self.slack == 0:
            return sums
        if self.digits:
            places = range(len(self.digits[0]))
            parts = [add([each[place] for each in self.digits]).ravel() for place in places]
            for low, high in pairwise(parts):  # carried over: the highest digit decides first
                high += low >> self.bits
                low &= (1 << self.bits) - 1
            order = np.lexsort(parts)
            apart = np.any([np.diff(part[order]) != 0 for part in parts], axis=0)
        else:
            order = np.argsort(sums, axis=None, kind="stable")
            apart = np.diff(sums.ravel()[order]) > self.slack
        found = np.zeros(len(order), dtype=np.int64)
        found[order[1:]] = np.cumsum(apart)
        return found.reshape(sums.shape)

    def exact_sum(self, cells: Sequence[np.ndarray]) -> int:
        """What some cells hold, exactly, times :attr:`common`; 0 where there are no digits."""
        return sum(
            int(row @ amounts) << (self.bits * place)
            for digits, amounts in zip(self.digits, cells, strict=False)
            for place, row in enumerate(digits)
        )

    def exact(self, attribute: int, node: int) -> Fraction:
        """The potential of a node in the metric's own unit, not rounded if it is rational."""
        if not self.digits:
            return int(self[attribute][node]) / self.scale
        digits = enumerate(self.digits[attribute][:, node].tolist())
        return Fraction(sum(digit << (self.bits * place) for place, digit in digits), self.common)


def as_potentials(depths: Sequence[np.ndarray]) -> Potentials:
    """Whole numbers as exact potentials; what is already some stays as it is."""
    return depths if isinstance(depths, Potentials) else Potentials(depths)


def scaled_potentials(
    depths: Sequence[ExactNumbers] | Sequence[np.ndarray],
    n_records: int,
    attribute_weights: Sequence[float] | None = None,
    occurring: Sequence[np.ndarray] | None = None,
) -> Potentials:
    """Potentials as integers, so that a merge cost is an exact sum of 64-bit integers."""
    weights = [1.0] * len(depths) if attribute_weights is None else list(attribute_weights)
    if not all(0 <= weight <= LARGEST_WEIGHT for weight in weights):
        raise MetricError(
            f"Attribute weights have to be numbers of at least 0 and at most {LARGEST_WEIGHT:g}."
        )
    cells = max(n_records, 1) * len(depths)
    exact = [depth if isinstance(depth, ExactNumbers) else _as_they_are(depth) for depth in depths]
    for j, weight in enumerate(weights):
        exact[j] = _weighted(
            exact[j], exact_decimal(weight), None if occurring is None else occurring[j]
        )
    largest = max((max(depth.values) for depth in exact), default=Fraction(0))
    known = all(isinstance(depth, ExactNumbers) for depth in depths)
    denominator = math.lcm(*(value.denominator for depth in exact for value in depth.values))
    if largest == 0 or (known and largest * denominator * cells < _FITS):
        scale = Fraction(denominator)
        if largest:
            scale *= Fraction(2) ** _bits(largest * denominator * cells)
        return Potentials([_whole(depth, scale) for depth in exact], scale=scale)
    scale = Fraction(2) ** _bits(largest * cells)
    # Each of the potentials in a cost is off by 1/2 at most, and a record pays two of them.
    slack = 2 * cells
    rounded = [_whole(depth, scale) for depth in exact]
    if not known:
        return Potentials(rounded, slack, scale=scale)
    # So that sums of digits stay whole numbers of 64 bits.
    bits = _BITS_OF_DIGITS - slack.bit_length()
    length = -(-int(largest * denominator).bit_length() // bits)
    digits = tuple(_digits(depth, denominator, bits, length) for depth in exact)
    return Potentials(rounded, slack, digits, bits, scale, denominator)


def exact_decimal(number: float) -> Fraction:
    """The decimal number that a weight was written as.

    >>> exact_decimal(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def _as_they_are(depth: np.ndarray) -> ExactNumbers:
    distinct, place = np.unique(depth, return_inverse=True)
    return ExactNumbers(list(map(Fraction, distinct.tolist())), place)


def _weighted(depth: ExactNumbers, weight: Fraction, occurring: np.ndarray | None) -> ExactNumbers:
    """Potentials times a weight, none larger than that of a node that occurs."""
    most = max(depth.values)
    if occurring is not None:
        most = max(depth.values[place] for place in np.unique(depth.place[occurring]))
    return depth.map(lambda value: min(value, most) * weight)


def _whole(depth: ExactNumbers, scale: Fraction) -> np.ndarray:
    numbers = [round(value * scale) for value in depth.values]
    return np.array(numbers, dtype=np.int64)[depth.place]


def _digits(depth: ExactNumbers, denominator: int, bits: int, length: int) -> np.ndarray:
    """The digits of every node, the lowest first. Shape (length, N)."""
    numbers = [int(value * denominator) for value in depth.values]
    rest = (1 << bits) - 1
    parts = [[number >> (bits * place) & rest for number in numbers] for place in range(length)]
    return np.array(parts, dtype=np.int64)[:, depth.place]


def _bits(most: Fraction) -> int:
    """The largest power of two that keeps ``most`` below 2^62; exact, as logarithms are not."""
    bits = _FITS.bit_length() + most.denominator.bit_length() - most.numerator.bit_length()
    while most * Fraction(2) ** bits >= _FITS:
        bits -= 1
    return bits
