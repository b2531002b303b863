"""A small table for the references: its classes as tuples of nodes, and what raising them costs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from kanon.hierarchy import Hierarchy

Nodes = tuple[int, ...]  # a node of each hierarchy


@dataclass(frozen=True)
class Group:
    nodes: Nodes
    records: int
    members: tuple[int, ...]  # the classes, by their positions in the table, rising


@dataclass(frozen=True, eq=False)
class PlainTable:
    """The classes of a table in canonical order, and what guides an algorithm."""

    hierarchies: Sequence[Hierarchy]
    nodes: Sequence[Nodes]  # the tuple of each class
    records: Sequence[int]  # how many records each class holds
    # per quasi-identifier what a record pays to be raised from a node to the root
    potentials: Sequence[Mapping[int, Fraction | int]]
    k: int
    weighted: bool = True  # whether a merge counts every record, or one per class
    seed: int = 0  # of all draws
    order: Callable[[Nodes], Any] = tuple  # the place of a tuple among ties
    # whether some classes, as one, break a model beside k-anonymity
    breaks: Callable[[Iterable[int]], bool] = lambda members: False
    # per class how often it has each sensitive value
    histograms: Sequence[Mapping[Any, int]] = ()
    slack: Fraction = Fraction(0)  # costs that differ by no more are equal

    @cached_property
    def originals(self) -> tuple[Group, ...]:
        classes = enumerate(zip(self.nodes, self.records, strict=True))
        return tuple(Group(nodes, records, (c,)) for c, (nodes, records) in classes)

    def size(self, members: Iterable[int]) -> int:
        return sum(self.records[c] for c in members)

    def find_meeting_nodes(self, *tuples: Nodes) -> Nodes:
        columns = zip(self.hierarchies, zip(*tuples, strict=True), strict=True)
        return tuple(reduce(tree.lca, nodes) for tree, nodes in columns)

    def group(self, members: Iterable[int], nodes: Nodes | None = None) -> Group:
        rising = tuple(sorted(members))
        nodes = (
            self.find_meeting_nodes(*(self.nodes[c] for c in rising)) if nodes is None else nodes
        )
        return Group(nodes, self.size(rising), rising)

    def cost(self, low: Nodes, high: Nodes) -> Fraction | int:
        return sum(
            depth[node] - depth[above]
            for depth, node, above in zip(self.potentials, low, high, strict=True)
        )

    def merge_cost(self, group: Group, other: Group, by_record: bool = False) -> Fraction | int:
        met = self.find_meeting_nodes(group.nodes, other.nodes)
        alone = by_record or not self.weighted
        own, its = (1, 1) if alone else (group.records, other.records)
        return own * self.cost(group.nodes, met) + its * self.cost(other.nodes, met)

    def draw_order(self, members: Sequence[int], generator: np.random.Generator) -> list[int]:
        """The order in which classes come up when all their records are drawn."""
        records = [c for c in members for _ in range(self.records[c])]
        return list(dict.fromkeys(records[place] for place in generator.permutation(len(records))))
