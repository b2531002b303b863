"""l-diversity and t-closeness of a histogram, exactly: what is equal compares as equal."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering

Histogram = Mapping[Hashable, int]


@total_ordering
@dataclass(frozen=True, eq=False)
class Root:
    """The n-th root of a fraction that is not negative: what 1 / l is, and a cost times it.

    >>> Root(Fraction(1, 4), 2) == Root(Fraction(1, 8), 3), float(Root(Fraction(1, 4), 2))
    (True, 0.5)
    """

    of: Fraction
    n: int

    def __float__(self) -> float:
        if not self.of:
            return 0.0
        top, bottom = self.of.numerator, self.of.denominator
        return math.exp((math.log(top) - math.log(bottom)) / self.n)

    def _sides(self, other: Root) -> tuple[Fraction | float, Fraction | float]:
        mine, its = float(self), float(other)
        if abs(mine - its) > 1e-6 * max(mine, its):
            return mine, its
        return self.of**other.n, other.of**self.n

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Root)
        mine, its = self._sides(other)
        return mine == its

    def __hash__(self) -> int:
        return hash(Root)  # equal roots may be written with different fractions

    def __lt__(self, other: Root) -> bool:
        mine, its = self._sides(other)
        return mine < its

    def times(self, cost: Fraction | int) -> Root:
        return Root(self.of * Fraction(cost) ** self.n, self.n)


def one_over_l(histogram: Histogram) -> Root:
    """exp(sum of p ln p), which is the n-th root of the product of (count / n) ** count."""
    n = sum(histogram.values())
    shares = (Fraction(count, n) ** count for count in histogram.values())
    return Root(math.prod(shares, start=Fraction(1)), n)


def t_norm1(histogram: Histogram, total: Histogram) -> Fraction:
    """The sum over the values of the table of |p(s, C) - p(s, T)|."""
    size, n = sum(histogram.values()), sum(total.values())
    return sum(
        (abs(Fraction(histogram.get(s, 0), size) - Fraction(total[s], n)) for s in total),
        Fraction(0),
    )
