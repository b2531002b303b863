"""Greedy merging [Mauger, Le Mahec, Dequen 2023, Algorithm 1] and what is like it.

While a class breaks what has to hold, one of those classes is merged with its best partner. GAA
takes a smallest one; the variant of 2020 the first below k, and a partner below k while there is
one; KACA draws one. A third class that has the tuple on which two meet is merged with them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from typing import Any

import numpy as np

from kanon.reference.table import Group, PlainTable

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

    def _compare_sides(self, other: Root) -> tuple[Fraction | float, Fraction | float]:
        mine, its = float(self), float(other)
        if abs(mine - its) > 1e-6 * max(mine, its):
            return mine, its
        return self.of**other.n, other.of**self.n

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Root)
        mine, its = self._compare_sides(other)
        return mine == its

    def __hash__(self) -> int:
        return hash(Root)  # equal roots may be written with different fractions

    def __lt__(self, other: Root) -> bool:
        mine, its = self._compare_sides(other)
        return mine < its

    def multiply_by(self, cost: Fraction | int) -> Root:
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


Pick = Callable[[Sequence[Group]], Group]  # one of the classes that break what has to hold


@dataclass(frozen=True, eq=False)
class Partner:
    group: Group
    cost: Fraction | int
    left: Root | Fraction | int  # 1 / l, t in norm 1 or -k after the merge; 0 if none counts
    key: tuple[Any, ...]  # what is compared, and the place among ties: the least is chosen


@dataclass(frozen=True, eq=False)
class PlainMerge:
    before: tuple[Group, ...]  # all classes
    breaking_classes: tuple[Group, ...]  # those that break what has to hold
    picked: Group
    partners: tuple[Partner, ...]
    partner: Group
    third: Group | None
    joined: Group
    after: tuple[Group, ...]


def merge(
    table: PlainTable,
    groups: Sequence[Group],
    is_wrong: Callable[[Group], bool],
    pick: Pick,
    strategy: str = "s1",
    scope: str = "table",
    small: bool = False,
) -> Iterator[PlainMerge]:
    live = list(groups)
    while len(live) > 1 and (wrong := tuple(group for group in live if is_wrong(group))):
        picked = pick(wrong)
        others = [group for group in live if group is not picked]
        if small:
            others = [group for group in others if group.records < table.k] or others
        partners = compare_partners(table, live, picked, others, strategy, scope)
        partner = min(partners, key=lambda group_: group_.key).group
        nodes = table.find_meeting_nodes(picked.nodes, partner.nodes)
        same = [group_ for group_ in live if group_.nodes == nodes]
        third = next((group_ for group_ in same if group_ not in (picked, partner)), None)
        parts = [group_ for group_ in (picked, partner, third) if group_ is not None]
        joined = table.group((group_ for part in parts for group_ in part.members), nodes)
        before, live = tuple(live), [*(group_ for group_ in live if group_ not in parts), joined]
        yield PlainMerge(before, wrong, picked, partners, partner, third, joined, tuple(live))


def pick_smallest(table: PlainTable) -> Pick:
    """A smallest class, the first of several."""
    return lambda wrong: min(wrong, key=lambda each: (each.records, table.order(each.nodes)))


def pick_first(table: PlainTable) -> Pick:
    """The first class in the order of ties."""
    return lambda wrong: min(wrong, key=lambda each: table.order(each.nodes))


def gaa(table: PlainTable, strategy: str = "s1", scope: str = "table") -> Iterator[PlainMerge]:
    pick = pick_smallest(table)
    yield from merge(table, table.originals, build_size_check(table), pick, strategy, scope)


def gaa_small(table: PlainTable) -> Iterator[PlainMerge]:
    yield from merge(table, table.originals, build_size_check(table), pick_first(table), small=True)


def kaca(table: PlainTable) -> Iterator[PlainMerge]:
    """KACA [Li, Wong, Fu, Pei 2006]: a random class below k."""
    draw = np.random.default_rng(table.seed).integers
    pick: Pick = lambda wrong: wrong[int(draw(len(wrong)))]  # noqa: E731
    yield from merge(table, table.originals, build_size_check(table), pick)


def build_size_check(table: PlainTable) -> Callable[[Group], bool]:
    return lambda group: group.records < table.k


def compare_partners(
    table: PlainTable,
    live: Sequence[Group],
    picked: Group,
    others: Sequence[Group],
    strategy: str,
    scope: str,
) -> tuple[Partner, ...]:
    costs = [table.merge_cost(picked, other) for other in others]
    least = min(costs)
    costs = [least if cost <= least + table.slack else cost for cost in costs]
    bad = choose_badness_measure(table, strategy)
    now = {group: bad(group.members) for group in live} if bad and scope == "table" else {}
    compared = []
    for other, cost in zip(others, costs, strict=True):
        worst: Any = 0
        if bad:
            nodes = table.find_meeting_nodes(picked.nodes, other.nodes)
            parts = [e for e in live if e in (picked, other) or e.nodes == nodes]
            merged = bad([group for part in parts for group in part.members])
            worst = max([merged, *(before for group, before in now.items() if group not in parts)])
        key = (*_order_figures(strategy, cost, worst), table.order(other.nodes))
        compared.append(Partner(other, cost, worst, key))
    return tuple(compared)


def choose_badness_measure(
    table: PlainTable, strategy: str
) -> Callable[[Sequence[int]], Any] | None:
    total = sum(map(Counter, table.histograms), Counter[Any]())

    def histogram(members: Sequence[int]) -> Counter[Any]:
        return sum((Counter(table.histograms[c]) for c in members), Counter[Any]())

    if strategy == "s1":
        return None
    if strategy == "k":
        return lambda members: -table.size(members)
    if strategy in ("s2", "s3", "s4", "l"):
        return lambda members: one_over_l(histogram(members))
    return lambda members: t_norm1(histogram(members), total)


def _order_figures(strategy: str, cost: Fraction | int, worth: Any) -> tuple[Any, ...]:
    if strategy in ("s4", "s7"):
        return (worth.multiply_by(cost) if isinstance(worth, Root) else worth * cost,)
    if strategy in ("l", "t"):
        return (worth,)
    return {"s1": (cost,), "s2": (cost, worth), "s5": (cost, worth)}.get(strategy, (worth, cost))
