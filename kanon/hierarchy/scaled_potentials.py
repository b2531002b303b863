"""Potentials as whole numbers, so that equal costs are equal on every machine."""

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
    # for rounded ones, the exact potentials times a common denominator, lowest digit first
    digits: tuple[np.ndarray, ...]
    bits: int  # the base of the digits is 2 to this
    scale: Fraction  # 1 in the metric's own unit, in these whole numbers
    common: int  # the same, in the numbers that the digits form

    def __new__(
        cls,
        depths: Sequence[np.ndarray],
        slack: int = 0,
        digits: tuple[np.ndarray, ...] = (),
        bits: int = 0,
        scale: Fraction = Fraction(1),
        common: int = 1,
    ) -> Potentials:
        """Create potentials, exact by default."""
        potentials = super().__new__(cls, depths)
        potentials.slack, potentials.digits, potentials.bits = slack, digits, bits
        potentials.scale, potentials.common = scale, common
        return potentials

    def first(self, number: int) -> Potentials:
        digits = self.digits[:number]
        return Potentials(self[:number], self.slack, digits, self.bits, self.scale, self.common)

    def ranks(self, add: Callable[[Sequence[np.ndarray]], np.ndarray]) -> np.ndarray:
        """Rank sums of potentials exactly; equal sums get equal ranks."""
        sums = add(self)
        if self.slack == 0:
            return sums
        if self.digits:
            places = range(len(self.digits[0]))
            parts = [add([digits[place] for digits in self.digits]).ravel() for place in places]
            for low, high in pairwise(parts):  # carried over: the highest digit decides first
                high += low >> self.bits
                low &= (1 << self.bits) - 1
            order = np.lexsort(parts)
            apart = np.any([np.diff(part[order]) != 0 for part in parts], axis=0)
        else:
            order = np.argsort(sums, axis=None, kind="stable")
            apart = np.diff(sums.ravel()[order]) > self.slack
        ranks = np.zeros(len(order), dtype=np.int64)
        ranks[order[1:]] = np.cumsum(apart)
        return ranks.reshape(sums.shape)

    def sum_exactly(self, cells: Sequence[np.ndarray]) -> int:
        """Sum some cells exactly, times :attr:`common`; 0 where there are no digits."""
        return sum(
            int(row @ amounts) << (self.bits * place)
            for digits, amounts in zip(self.digits, cells, strict=False)
            for place, row in enumerate(digits)
        )

    def get_exact(self, attribute: int, node: int) -> Fraction:
        """The potential of a node in the metric's own unit, not rounded if it is rational."""
        if not self.digits:
            return int(self[attribute][node]) / self.scale
        digits = enumerate(self.digits[attribute][:, node].tolist())
        return Fraction(sum(digit << (self.bits * place) for place, digit in digits), self.common)


def convert_to_potentials(depths: Sequence[np.ndarray]) -> Potentials:
    """Wrap whole numbers as exact potentials, unless they are potentials already."""
    return depths if isinstance(depths, Potentials) else Potentials(depths)


def scale_potentials(
    depths: Sequence[ExactNumbers] | Sequence[np.ndarray],
    n_records: int,
    attribute_weights: Sequence[float] | None = None,
    occurring: Sequence[np.ndarray] | None = None,
) -> Potentials:
    """Potentials as integers, so that a merge cost is an exact sum of 64-bit integers."""
    weights = [1.0] * len(depths) if attribute_weights is None else list(attribute_weights)
    if not all(0 <= weight <= LARGEST_WEIGHT for weight in weights):
        raise MetricError(f"Attribute weights have to be numbers from 0 to {LARGEST_WEIGHT:g}.")
    cells = max(n_records, 1) * len(depths)
    exact = [depth if isinstance(depth, ExactNumbers) else _read_floats(depth) for depth in depths]
    for j, weight in enumerate(weights):
        exact[j] = _weigh(
            exact[j], read_decimal(weight), None if occurring is None else occurring[j]
        )
    largest = max((max(depth.values) for depth in exact), default=Fraction(0))
    is_rational = all(isinstance(depth, ExactNumbers) for depth in depths)
    denominator = math.lcm(*(value.denominator for depth in exact for value in depth.values))
    if largest == 0 or (is_rational and largest * denominator * cells < _FITS):
        scale = Fraction(denominator)
        if largest:
            scale *= Fraction(2) ** _find_scale_bits(largest * denominator * cells)
        return Potentials([_round_to_whole(depth, scale) for depth in exact], scale=scale)
    scale = Fraction(2) ** _find_scale_bits(largest * cells)
    # Each potential in a cost is off by at most 1/2, and a record pays two of them.
    slack = 2 * cells
    whole_depths = [_round_to_whole(depth, scale) for depth in exact]
    if not is_rational:
        return Potentials(whole_depths, slack, scale=scale)
    # Sums of digits have to stay within 64 bits.
    bits = _BITS_OF_DIGITS - slack.bit_length()
    length = -(-int(largest * denominator).bit_length() // bits)
    digits = tuple(_split_digits(depth, denominator, bits, length) for depth in exact)
    return Potentials(whole_depths, slack, digits, bits, scale, denominator)


def read_decimal(number: float) -> Fraction:
    """The decimal number that a weight was written as."""
    return Fraction(repr(float(number)))


def _read_floats(depth: np.ndarray) -> ExactNumbers:
    distinct, place = np.unique(depth, return_inverse=True)
    return ExactNumbers(list(map(Fraction, distinct.tolist())), place)


def _weigh(depth: ExactNumbers, weight: Fraction, occurring: np.ndarray | None) -> ExactNumbers:
    """Multiply potentials by a weight, and cap them at the largest of the nodes that occur."""
    most = max(depth.values)
    if occurring is not None:
        most = max(depth.values[place] for place in np.unique(depth.place[occurring]))
    return depth.map(lambda value: min(value, most) * weight)


def _round_to_whole(depth: ExactNumbers, scale: Fraction) -> np.ndarray:
    numbers = [round(value * scale) for value in depth.values]
    return np.array(numbers, dtype=np.int64)[depth.place]


def _split_digits(depth: ExactNumbers, denominator: int, bits: int, length: int) -> np.ndarray:
    """Split into the digits of every node, the lowest first. Shape (length, N)."""
    numbers = [int(value * denominator) for value in depth.values]
    rest = (1 << bits) - 1
    parts = [[number >> (bits * place) & rest for number in numbers] for place in range(length)]
    return np.array(parts, dtype=np.int64)[:, depth.place]


def _find_scale_bits(most: Fraction) -> int:
    """Find the largest power of two that keeps ``most`` below 2^62, without inexact logarithms."""
    bits = _FITS.bit_length() + most.denominator.bit_length() - most.numerator.bit_length()
    while most * Fraction(2) ** bits >= _FITS:
        bits -= 1
    return bits
