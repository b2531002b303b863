"""Greedy merging by its definition, in dicts and exact fractions: slow, and nothing of kanon.

It is what the kernel and the compiled full scan are held against on tiny tables. A class is its
tuple of labels with the numbers of its records; every quantity is a whole number, a fraction, or
a root of one, so that equal means equal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, total_ordering

from oracles.plain_gaa import joined, rank
from support.random_tables import Problem, edge_weights, path_cost

Labels = tuple[str, ...]
Rows = tuple[int, ...]
Histogram = Mapping[Hashable, int]


@total_ordering
@dataclass(frozen=True, eq=False)
class Root:
    """The n-th root of a fraction that is not negative: what 1 / l is, and a cost times it."""

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

    def __lt__(self, other: Root) -> bool:
        mine, its = self._sides(other)
        return mine < its

    def times(self, cost: Fraction) -> Root:
        return Root(self.of * cost**self.n, self.n)


def one_over_l(histogram: Histogram) -> Root:
    """exp(sum of p ln p), which is the n-th root of the product of (count / n) ** count."""
    n = sum(histogram.values())
    return Root(math.prod(Fraction(count, n) ** count for count in histogram.values()), n)


def t_norm1(histogram: Histogram, total: Histogram) -> Fraction:
    """The sum over the values of the table of |p(s, C) - p(s, T)|."""
    size, n = sum(histogram.values()), sum(total.values())
    return sum(
        (abs(Fraction(histogram.get(s, 0), size) - Fraction(total[s], n)) for s in total),
        Fraction(0),
    )


@dataclass
class Merged:
    """What came out.

    Attributes
    ----------
    classes
        Per released tuple its records.
    merges
        The tuples that were merged: the chosen one, its partner, a third one or None.
    ties
        Whether a choice was made by the order of ties alone.
    """

    classes: dict[Labels, Rows]
    merges: list[tuple[Labels, Labels, Labels | None]] = field(default_factory=list)
    ties: bool = False

    @property
    def released(self) -> dict[int, Labels]:
        """Per record its tuple."""
        return {row: labels for labels, rows in self.classes.items() for row in rows}


@dataclass(frozen=True)
class Greedy:
    """What guides the merging of a table.

    Attributes
    ----------
    problem
        The table.
    values
        Per record its sensitive value.
    strategy, scope, weighted, tie_seed
        As in a task.
    attribute_weights
        Per quasi-identifier; 1 if not given.
    metric
        What an edge costs: at first the weight drawn on it.
    """

    problem: Problem
    values: Sequence[Hashable]
    strategy: str = "s1"
    scope: str = "table"
    weighted: bool = True
    tie_seed: int | None = None
    attribute_weights: Sequence[float] | None = None
    metric: str = "custom"

    def original(self) -> dict[Labels, Rows]:
        """The classes of the table."""
        found: dict[Labels, Rows] = {}
        for row, labels in enumerate(self.problem.rows):
            found[labels] = (*found.get(labels, ()), row)
        return found

    def order(self, labels: Labels) -> tuple[int, tuple[int, ...]]:
        """The place of a tuple among ties."""
        return rank(self.problem, labels, self.tie_seed)

    @cached_property
    def weights(self) -> list[dict[str, Fraction]]:
        """Per quasi-identifier what the edge above a label costs."""
        return edge_weights(self.metric, self.problem.trees)

    def per_record(self, low: Labels, high: Labels) -> Fraction:
        """What it costs to raise a record."""
        trees = self.problem.trees
        weights = self.attribute_weights or [1] * len(trees)
        drawn = self.weights
        return sum(
            (
                Fraction(weight) * path_cost(*each)
                for weight, *each in zip(weights, trees, drawn, low, high, strict=True)
            ),
            Fraction(0),
        )

    def histogram(self, rows: Iterable[int]) -> Counter:
        return Counter(self.values[row] for row in rows)

    def score(
        self, classes: Mapping[Labels, Rows], chosen: Labels, other: Labels
    ) -> tuple[Fraction | Root, ...]:
        """What the strategy minimises, first things first."""
        target = joined(self.problem, chosen, other)
        own, its = len(classes[chosen]), len(classes[other])
        if not self.weighted:
            own = its = 1
        cost = own * self.per_record(chosen, target) + its * self.per_record(other, target)
        if self.strategy == "s1":
            return (cost,)
        parts = {chosen, other, target} & set(classes)
        after = [[row for part in parts for row in classes[part]]]
        if self.scope == "table":
            after += [list(rows) for labels, rows in classes.items() if labels not in parts]
        if self.strategy in ("s2", "s3", "s4", "l"):
            bad: Fraction | Root = max(one_over_l(self.histogram(rows)) for rows in after)
        elif self.strategy == "k":
            bad = Fraction(-min(len(rows) for rows in after))
        else:
            total = self.histogram(range(len(self.values)))
            bad = max(t_norm1(self.histogram(rows), total) for rows in after)
        if self.strategy in ("s4", "s7"):
            return (bad.times(cost) if isinstance(bad, Root) else bad * cost,)
        return {
            "s2": (cost, bad), "s5": (cost, bad), "s3": (bad, cost), "s6": (bad, cost),
            "l": (bad,), "t": (bad,), "k": (bad, cost),
        }[self.strategy]  # fmt: skip

    def partner(
        self, classes: Mapping[Labels, Rows], chosen: Labels, others: Sequence[Labels]
    ) -> tuple[Labels, bool]:
        """The partner, and whether another one is as good."""
        scores = {other: self.score(classes, chosen, other) for other in others}
        best = min(scores.values())
        equal = [other for other, score in scores.items() if score == best]
        return min(equal, key=self.order), len(equal) > 1

    def merge(
        self,
        breaks: Callable[[Rows], bool],
        small: int = 0,
        begun: Merged | None = None,
    ) -> Merged:
        """Merge while some class breaks what has to hold.

        Parameters
        ----------
        breaks
            Whether a class, by its records, breaks it.
        small
            Repair the first class that breaks it among those below so many records, as the
            variant of 2020 does; 0 for a smallest class among all.
        begun
            Where to go on; it is changed.
        """
        found = begun or Merged(self.original())
        classes = found.classes
        while True:
            wrong = [labels for labels, rows in classes.items() if breaks(rows)]
            if not wrong or len(classes) == 1:
                return found
            if small:
                chosen = min(wrong, key=self.order)
            else:
                chosen = min(wrong, key=lambda x: (len(classes[x]), self.order(x)))
                least = [x for x in wrong if len(classes[x]) == len(classes[chosen])]
                found.ties |= len(least) > 1
            others = [x for x in classes if x != chosen and len(classes[x]) < small]
            others = others or [x for x in classes if x != chosen]
            other, tie = self.partner(classes, chosen, others)
            found.ties |= tie
            target = joined(self.problem, chosen, other)
            third = target if target in classes and target not in (chosen, other) else None
            rows = (*classes.pop(chosen), *classes.pop(other), *classes.pop(target, ()))
            classes[target] = tuple(sorted(rows))
            found.merges.append((chosen, other, third))
