"""The values of a quasi-identifier on a line, and ranges of that line as parts of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kanon.base.kinds import read_moments, read_numbers
from kanon.base.values import MISSING_LABEL
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import LeafRange, add_ranges, list_covered_leaves

_MOST_LISTED = 50  # sets of more texts are named by their first and their last


class Span(NamedTuple):
    low: int
    high: int
    open_low: bool = False
    open_high: bool = False
    mean: str = ""
    mean_alone: bool = False
    leaves: tuple[int, ...] = ()  # in order, of a set that lacks some values from low to high


@dataclass(frozen=True, eq=False)
class ValueOrder:
    """Where the values of one quasi-identifier stand."""

    tree: Hierarchy  # the hierarchy, of N nodes and L leaves
    numeric: bool  # whether the leaves are numbers, but for that of missing cells
    rank: np.ndarray  # the place of each leaf in the order
    # the first and the last rank of the leaves of each node
    lowest: np.ndarray
    highest: np.ndarray
    at: np.ndarray  # where each node stands: numbers by their size, other values by their rank

    @classmethod
    def from_hierarchy(cls, tree: Hierarchy) -> ValueOrder:
        leaves = tree.n_leaves
        filled = [place for place in range(leaves) if tree.labels[place] != MISSING_LABEL]
        sizes = read_numbers([tree.labels[place] for place in filled])
        if sizes is None:
            rank = np.arange(leaves)
            size_of = np.arange(leaves, dtype=np.float64)
        else:
            if np.abs(sizes).max() > 1e307:  # else differences would be infinite; only they count
                sizes /= 4
            distinct, order = np.unique(sizes, return_inverse=True)
            steps = max(len(distinct) - 1, 1)
            step = (distinct[-1] - distinct[0]) / steps if len(distinct) > 1 else 1.0
            rank = np.full(leaves, len(distinct), dtype=np.int64)
            rank[filled] = order
            size_of = np.append(distinct, distinct[-1] + step)
        bounds = [
            (int(rank[first:last].min()), int(rank[first:last].max()))
            for first, last in zip(tree.first.tolist(), tree.last.tolist(), strict=True)
        ]
        lowest, highest = np.array(bounds, dtype=np.int64).T
        at = size_of[lowest] / 2 + size_of[highest] / 2
        return cls(tree, sizes is not None, rank, lowest, highest, at)

    @cached_property
    def by_rank(self) -> np.ndarray:
        """The leaves in their order on the line. Shape (L,)."""
        return np.argsort(self.rank, kind="stable")

    @cached_property
    def _ranks(self) -> np.ndarray:
        return self.rank[self.by_rank]

    def leaves(self, low: int, high: int) -> np.ndarray:
        first = np.searchsorted(self._ranks, low)
        last = np.searchsorted(self._ranks, high, side="right")
        return self.by_rank[first:last]

    @cached_property
    def last_value(self) -> int:
        """The highest rank of a leaf other than that of missing cells."""
        named = [label != MISSING_LABEL for label in self.tree.labels[: self.tree.n_leaves]]
        return int(self.rank[named].max(initial=0))

    @cached_property
    def has_extremes(self) -> bool:
        leaves = [self.tree.labels[leaf] for leaf in self.leaves(0, self.last_value)]
        times = None if self.numeric else read_moments(leaves)
        return self.numeric or (times is not None and times == sorted(times))

    def label(self, span: Span) -> str:
        """What a range is called: ``[a, b]``, ``b or less``, ``{a, b, c}`` or its mean."""
        if span.mean_alone:
            return span.mean
        inside = span.leaves or self.leaves(span.low, span.high)
        labels = self.tree.labels
        least, last = (labels[end] for end in self.find_bounds(span))
        less, more = ("less", "more") if self.numeric else ("earlier", "later")
        if span.open_low or span.open_high:
            name = f"{least} or {more}" if span.open_high else f"{last} or {less}"
            name = labels[self.tree.root] if span.open_low and span.open_high else name
        elif self.numeric:
            name = least if least == last else f"[{least}, {last}]"
        elif len(inside) > _MOST_LISTED:
            name = f"{{{labels[inside[0]]} … {labels[inside[-1]]}}}, {len(inside)} values"
        else:
            name = f"{{{', '.join(labels[leaf] for leaf in inside)}}}"
        if span.high > self.last_value and (self.numeric or span.open_low or span.open_high):
            name += f" or {MISSING_LABEL}"
        return f"{name}, mean {span.mean}" if span.mean else name

    def find_bounds(self, span: Span) -> list[int]:
        """The first and the last leaf of a range, without that of missing cells."""
        inside = np.array(span.leaves or self.leaves(span.low, span.high))
        known = inside[self.rank[inside] <= self.last_value]
        return (known if len(known) else inside)[[0, -1]].tolist()

    def open_bounds(
        self, low: np.ndarray, high: np.ndarray, nodes: np.ndarray, counts: np.ndarray, k: int
    ) -> list[Span]:
        """Ranges of ranks, open where fewer than k records lie at a bound or beyond it.

        >>> tree = Hierarchy.from_entries(
        ...     [("*", None, None), *((str(leaf), "*", None) for leaf in range(5))])
        >>> spans = ValueOrder.from_hierarchy(tree).open_bounds(
        ...     np.array([0, 1]), np.array([1, 3]), np.arange(5), np.ones(5, dtype=int), 2)
        >>> [ValueOrder.from_hierarchy(tree).label(span) for span in spans]
        ['1 or less', '[1, 3]']
        """
        ranks, last = int(self.rank.max()) + 1, self.last_value
        at_most = np.cumsum(np.bincount(self.highest[nodes], counts, ranks))
        at_least = np.bincount(self.lowest[nodes], counts, ranks)[last::-1].cumsum()[::-1]
        open_low, open_high = at_most[low] < k, at_least[np.minimum(high, last)] < k
        low, high = np.where(open_low, 0, low), np.where(open_high, np.maximum(high, last), high)
        columns = (low, high, open_low, open_high)
        return [Span(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def drop_gaps(self, spans: Sequence[Span], nodes: np.ndarray, starts: np.ndarray) -> list[Span]:
        """The spans of groups of nodes as sets of the leaves that occur in each group.

        >>> tree = Hierarchy.from_entries(
        ...     [("*", None, None), *((leaf, "*", None) for leaf in "abcd")])
        >>> line = ValueOrder.from_hierarchy(tree)
        >>> spans = [Span(0, 2), Span(1, 2)]  # of a and c, and of b and c
        >>> spans = line.drop_gaps(spans, np.array([0, 2, 1, 2]), np.array([0, 2]))
        >>> [line.label(span) for span in spans], spans[1].leaves
        (['{a, c}', '{b, c}'], ())
        """
        sizes, leaves = list_covered_leaves(self.tree, nodes)
        group = np.searchsorted(starts, np.repeat(np.arange(len(nodes)), sizes), side="right") - 1
        keys = np.unique(group * self.tree.n_leaves + leaves)
        ends = np.searchsorted(keys // self.tree.n_leaves, np.arange(1, len(starts)))
        sets = np.split(keys % self.tree.n_leaves, ends)
        return [
            span._replace(leaves=tuple(leaves.tolist()))
            if len(leaves) < span.high - span.low + 1
            else span
            for span, leaves in zip(spans, sets, strict=True)
        ]

    def spans(
        self, nodes: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per group, by its start: the node of its only value (-1 if several), both end ranks."""
        highest_node = np.maximum.reduceat(nodes, starts)
        same = np.minimum.reduceat(nodes, starts) == highest_node
        first = np.minimum.reduceat(self.tree.first[nodes], starts)
        last = np.maximum.reduceat(self.tree.last[nodes], starts)
        single = np.where(same | (last - first == 1), highest_node, -1)
        low = np.minimum.reduceat(self.lowest[nodes], starts)
        return single, low, np.maximum.reduceat(self.highest[nodes], starts)


def add_ranges_beside(line: ValueOrder, spans: Sequence[Span]) -> tuple[Hierarchy, np.ndarray]:
    """The hierarchy with ranges beside its nodes, and the node of each range."""
    used_labels = set(line.tree.labels)
    ranges: list[LeafRange] = []
    node_of: dict[Span, int] = {}
    for span in dict.fromkeys(spans):
        label = name = line.label(span)
        times = 1
        while name in used_labels and not span.mean_alone:
            times += 1
            name = f"{label} ({times})"
        used_labels.add(name)
        node_of[span] = line.tree.n_nodes + len(ranges)
        leaves = np.array(span.leaves) if span.leaves else line.leaves(span.low, span.high)
        ends = line.find_bounds(span)
        is_open = span.open_low or span.mean_alone, span.open_high or span.mean_alone
        bounds = tuple(end for end, hidden in zip(ends, is_open, strict=True) if not hidden)
        last = int(leaves.max()) + 1
        ranges.append(
            LeafRange(
                int(leaves.min()), last, name, bounds, bool(span.mean), tuple(sorted(span.leaves))
            )
        )
    nodes = np.array([node_of[span] for span in spans], dtype=np.int64)
    return add_ranges(line.tree, ranges), nodes
