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
        clustered = {c for cluster in self.clusters for c in cluster}
        return [c for c in range(len(self.table.nodes)) if c not in clustered]

    def step(
        self, kind: Kind, cluster: int, members: Iterable[int], options: Iterable[Option] = (),
        other: int = -1,
    ) -> ClusterStep:  # fmt: skip
        clusters = tuple(map(tuple, self.clusters))
        return ClusterStep(kind, cluster, tuple(members), tuple(options), other, clusters)

    def options(
        self, pairs: Iterable[tuple[int, Sequence[int], Sequence[int]]], sign: int = 1,
        by_record: bool = False,
    ) -> list[Option]:  # fmt: skip
        options = []
        for number, cluster, other in pairs:
            pair = self.table.group(cluster), self.table.group(other)
            cost = self.table.merge_cost(*pair, by_record)
            options.append(Option(number, pair, cost, (sign * cost, number)))
        return options

    def join(self, kind: Kind, c: int, open_to: Iterable[int]) -> ClusterStep:
        options = self.options((number, self.clusters[number], [c]) for number in open_to)
        best = _choose_best(options)
        self.clusters[best].append(c)
        return self.step(kind, best, [c], options)


def _choose_best(options: Iterable[Option]) -> int:
    allowed = [option for option in options if option.allowed]
    return min(allowed, key=lambda option: option.key).number


def k_member(table: PlainTable) -> Iterator[ClusterStep]:
    """One cluster after the other, each far from the last; then what is left joins."""
    state = _Clustering(table)
    records = [c for c, size in enumerate(table.records) for _ in range(size)]
    last = records[state.generator.integers(len(records))]
    while table.size(state.left) >= table.k:
        options = state.options(((c, [last], [c]) for c in state.left), -1, by_record=True)
        before, last = last, _choose_best(options)
        cluster = [last]
        state.clusters.append(cluster)
        yield state.step("begin", len(state.clusters) - 1, [last], options, before)
        while table.size(cluster) < table.k:
            options = state.options((c, cluster, [c]) for c in state.left)
            cluster.append(_choose_best(options))
            yield state.step("grow", len(state.clusters) - 1, cluster[-1:], options)
    for c in table.draw_order(state.left, state.generator):
        yield state.join("leftover", c, range(len(state.clusters)))


def oka(table: PlainTable) -> Iterator[ClusterStep]:
    """As many clusters as k allows, one pass, and then their sizes are evened out."""
    state, k = _Clustering(table), table.k
    seeds = table.draw_order(range(len(table.nodes)), state.generator)[: sum(table.records) // k]
    state.clusters = [[c] for c in seeds]
    yield state.step("seeds", 0, seeds)
    for c in state.left:
        yield state.join("pass", c, range(len(state.clusters)))
    for number in range(len(state.clusters)):
        yield from _give_away(state, number)
    for c in table.draw_order(state.left, state.generator):
        small = [i for i, cluster in enumerate(state.clusters) if table.size(cluster) < k]
        yield state.join("refill", c, small or range(len(state.clusters)))
    for number, cluster in enumerate(state.clusters):
        others = [i for i, c in enumerate(state.clusters) if c and i != number]
        if table.size(cluster) < k and others:
            options = state.options((i, state.clusters[i], cluster) for i in others)
            best = _choose_best(options)
            state.clusters[best] += cluster
            state.clusters[number] = []
            yield state.step("merge", best, cluster, options, number)


def _give_away(state: _Clustering, number: int) -> Iterator[ClusterStep]:
    """From a cluster the furthest leave as long as k records stay."""
    table, cluster = state.table, state.clusters[number]
    if len(cluster) == 1:
        return
    # How far each is from all others of the cluster, found before the first leaves.
    pairs = [(x, [option for option in cluster if option != x], [x]) for x in sorted(cluster)]
    far = state.options(pairs, -1)
    while True:
        spare = table.size(cluster) - table.k
        options = [
            replace(option, allowed=table.records[option.number] <= spare)
            for option in far
            if option.number in cluster
        ]
        if not any(option.allowed for option in options):
            return
        cluster.remove(_choose_best(options))
        yield state.step("leave", number, [_choose_best(options)], options)
