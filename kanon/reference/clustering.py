"""k-member clustering [Byun et al. 2007] and OKA [Lin, Wei 2008]; whole classes move.

What widening a cluster costs is what raising it and a class to where they meet does. Ties go to
the first class in canonical order, and to the cluster that was begun first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from kanon.reference.table import Group, PlainTable

Kind = Literal["begin", "grow", "leftover", "seeds", "pass", "leave", "refill", "merge"]


@dataclass(frozen=True)
class Option:
    number: int
    pair: tuple[Group, Group]  # a cluster, or a class, and what would be put together with it
    cost: Fraction | int  # what that costs
    key: tuple[Fraction | int, int]
    allowed: bool = True


@dataclass(frozen=True)
class ClusterStep:
    kind: Kind
    cluster: int
    members: tuple[int, ...]  # the classes that join the cluster or leave it
    options: tuple[Option, ...]  # the classes to take, or the clusters to join
    other: int  # the class from which the beginning is furthest, or the cluster that is merged
    clusters: tuple[tuple[int, ...], ...]  # all clusters after the step


class _Clustering:
    def __init__(self, table: PlainTable) -> None:
        self.table = table
        self.generator = np.random.default_rng(table.seed)
        self.clusters: list[list[int]] = []

    @property
    def left(self) -> list[int]:
        taken = {each for cluster in self.clusters for each in cluster}
        return [each for each in range(len(self.table.nodes)) if each not in taken]

    def step(
        self, kind: Kind, cluster: int, members: Iterable[int], options: Iterable[Option] = (),
        other: int = -1,
    ) -> ClusterStep:  # fmt: skip
        now = tuple(map(tuple, self.clusters))
        return ClusterStep(kind, cluster, tuple(members), tuple(options), other, now)

    def options(
        self, pairs: Iterable[tuple[int, Sequence[int], Sequence[int]]], sign: int = 1,
        by_record: bool = False,
    ) -> list[Option]:  # fmt: skip
        found = []
        for number, one, other in pairs:
            pair = self.table.group(one), self.table.group(other)
            cost = self.table.merge_cost(*pair, by_record)
            found.append(Option(number, pair, cost, (sign * cost, number)))
        return found

    def join(self, kind: Kind, each: int, open_to: Iterable[int]) -> ClusterStep:
        options = self.options((number, self.clusters[number], [each]) for number in open_to)
        best = _best(options)
        self.clusters[best].append(each)
        return self.step(kind, best, [each], options)


def _best(options: Iterable[Option]) -> int:
    return min((each for each in options if each.allowed), key=lambda each: each.key).number


def k_member(table: PlainTable) -> Iterator[ClusterStep]:
    """One cluster after the other, each far from the last; then what is left joins."""
    now = _Clustering(table)
    records = [each for each, size in enumerate(table.records) for _ in range(size)]
    last = records[now.generator.integers(len(records))]
    while table.size(now.left) >= table.k:
        options = now.options(((each, [last], [each]) for each in now.left), -1, by_record=True)
        before, last = last, _best(options)
        cluster = [last]
        now.clusters.append(cluster)
        yield now.step("begin", len(now.clusters) - 1, [last], options, before)
        while table.size(cluster) < table.k:
            options = now.options((each, cluster, [each]) for each in now.left)
            cluster.append(_best(options))
            yield now.step("grow", len(now.clusters) - 1, cluster[-1:], options)
    for each in table.draw_order(now.left, now.generator):
        yield now.join("leftover", each, range(len(now.clusters)))


def oka(table: PlainTable) -> Iterator[ClusterStep]:
    """As many clusters as k allows, one pass, and then their sizes are evened out."""
    now, k = _Clustering(table), table.k
    drawn = table.draw_order(range(len(table.nodes)), now.generator)[: sum(table.records) // k]
    now.clusters = [[each] for each in drawn]
    yield now.step("seeds", 0, drawn)
    for each in now.left:
        yield now.join("pass", each, range(len(now.clusters)))
    for number in range(len(now.clusters)):
        yield from _give_away(now, number)
    for each in table.draw_order(now.left, now.generator):
        small = [i for i, cluster in enumerate(now.clusters) if table.size(cluster) < k]
        yield now.join("refill", each, small or range(len(now.clusters)))
    for number, cluster in enumerate(now.clusters):
        others = [i for i, each in enumerate(now.clusters) if each and i != number]
        if table.size(cluster) < k and others:
            options = now.options((i, now.clusters[i], cluster) for i in others)
            best = _best(options)
            now.clusters[best] += cluster
            now.clusters[number] = []
            yield now.step("merge", best, cluster, options, number)


def _give_away(now: _Clustering, number: int) -> Iterator[ClusterStep]:
    """From a cluster the furthest leave as long as k records stay."""
    table, cluster = now.table, now.clusters[number]
    if len(cluster) == 1:
        return
    # How far each is from all others of the cluster, found before the first leaves.
    pairs = [(x, [each for each in cluster if each != x], [x]) for x in sorted(cluster)]
    far = now.options(pairs, -1)
    while True:
        spare = table.size(cluster) - table.k
        options = [
            replace(each, allowed=table.records[each.number] <= spare)
            for each in far
            if each.number in cluster
        ]
        if not any(each.allowed for each in options):
            return
        cluster.remove(_best(options))
        yield now.step("leave", number, [_best(options)], options)
