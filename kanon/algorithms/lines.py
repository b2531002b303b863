"""The values of a quasi-identifier on a line, and ranges of that line as parts of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.base.kinds import numbers
from kanon.base.values import MISSING_LABEL
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import LeafRange, with_ranges

_HUGE = 1e307
"""Larger numbers are made smaller, all alike."""

_NAMED = 50
"""Sets of more texts are named by their first and their last."""


@dataclass(frozen=True, eq=False)
class ValueOrder:
    """Where the values of one quasi-identifier stand.

    Numbers stand by size (if every leaf but that of missing cells is a number), other values in
    the order of the hierarchy's leaves. A value that is no leaf stands in the middle between the
    first and the last of its leaves. Missing cells stand last, beside numbers one average gap above
    the highest.

    Attributes
    ----------
    tree
        The hierarchy, of N nodes and L leaves.
    numeric
        Whether the leaves are numbers, but for that of missing cells.
    rank : numpy.ndarray, shape (L,), int64
        The place of each leaf in the order; equal numbers share one.
    lowest, highest : numpy.ndarray, shape (N,), int64
        The first and the last rank of the leaves of each node.
    at : numpy.ndarray, shape (N,), float64
        Where each node stands: numbers by their size, other values by their rank.

    Examples
    --------
    >>> tree = Hierarchy.from_entries([("*", None, None), ("10", "*", None), ("1-3", "*", None),
    ...     ("1", "1-3", None), ("3", "1-3", None)])
    >>> tree.labels
    ('10', '1', '3', '1-3', '*')
    >>> line = ValueOrder.of(tree)
    >>> line.at.tolist(), line.rank.tolist()
    ([10.0, 1.0, 3.0, 2.0, 5.5], [2, 0, 1])
    """

    tree: Hierarchy
    numeric: bool
    rank: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    at: np.ndarray

    @classmethod
    def of(cls, tree: Hierarchy) -> ValueOrder:
        """The line of a hierarchy."""
        leaves = tree.n_leaves
        named = [place for place in range(leaves) if tree.labels[place] != MISSING_LABEL]
        sizes = numbers([tree.labels[place] for place in named])
        if sizes is None:
            rank = np.arange(leaves)
            size_of = np.arange(leaves, dtype=np.float64)
        else:
            if np.abs(sizes).max() > _HUGE:  # else differences would be infinite; only they count
                sizes /= 4
            distinct, order = np.unique(sizes, return_inverse=True)
            steps = max(len(distinct) - 1, 1)
            step = (distinct[-1] - distinct[0]) / steps if len(distinct) > 1 else 1.0
            rank = np.full(leaves, len(distinct), dtype=np.int64)
            rank[named] = order
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
        """The leaves from one rank to another, in their order on the line."""
        first = np.searchsorted(self._ranks, low)
        last = np.searchsorted(self._ranks, high, side="right")
        return self.by_rank[first:last]

    def label(self, low: int, high: int) -> str:
        """What everything from one rank to another is called: ``[a, b]`` or ``{a, b, c}``.

        Of very many texts only the first and the last are named, with how many they are.

        >>> tree = Hierarchy.from_entries(
        ...     [("*", None, None), *((leaf, "*", None) for leaf in "xyz")])
        >>> ValueOrder.of(tree).label(0, 1)
        '{x, y}'
        """
        inside = self.leaves(low, high)
        labels = self.tree.labels
        if self.numeric:
            missing = labels[inside[-1]] == MISSING_LABEL
            least, most = labels[inside[0]], labels[inside[-2 if missing else -1]]
            name = least if least == most else f"[{least}, {most}]"
            return f"{name} or {MISSING_LABEL}" if missing else name
        if len(inside) > _NAMED:
            return f"{{{labels[inside[0]]} … {labels[inside[-1]]}}}, {len(inside)} values"
        return f"{{{', '.join(labels[leaf] for leaf in inside)}}}"

    def spans(
        self, nodes: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What groups of values span.

        Parameters
        ----------
        nodes : numpy.ndarray, shape (E,)
            The values, group after group.
        starts : numpy.ndarray, shape (R,)
            Where each group starts.

        Returns
        -------
        single : numpy.ndarray, shape (R,)
            The node of a group that needs no range, because all its values are the same one (or
            stand above one and the same leaf: then the highest of them); -1 for the others.
        low, high : numpy.ndarray, shape (R,)
            The lowest and the highest rank of its leaves.
        """
        highest_node = np.maximum.reduceat(nodes, starts)
        same = np.minimum.reduceat(nodes, starts) == highest_node
        first = np.minimum.reduceat(self.tree.first[nodes], starts)
        last = np.maximum.reduceat(self.tree.last[nodes], starts)
        single = np.where(same | (last - first == 1), highest_node, -1)
        low = np.minimum.reduceat(self.lowest[nodes], starts)
        return single, low, np.maximum.reduceat(self.highest[nodes], starts)


def ranges_beside(
    line: ValueOrder, wanted: Sequence[tuple[int, int, str]]
) -> tuple[Hierarchy, np.ndarray]:
    """The hierarchy with ranges beside its nodes, and the node of each range.

    A name that something else has already gets a number behind it.

    Parameters
    ----------
    wanted
        Ranges ``(low rank, high rank, what is added to the name)``; equal ones are one.

    Returns
    -------
    tree : Hierarchy
    nodes : numpy.ndarray, int64, one per wanted range

    Examples
    --------
    >>> tree = Hierarchy.from_entries(
    ...     [("*", None, None), *((str(leaf), "*", None) for leaf in range(5))])
    >>> found, nodes = ranges_beside(ValueOrder.of(tree), [(1, 3, ""), (0, 2, ""), (1, 3, "")])
    >>> nodes.tolist(), found.labels[6:]
    ([6, 7, 6], ('[1, 3]', '[0, 2]'))
    """
    taken = set(line.tree.labels)
    ranges: list[LeafRange] = []
    known: dict[tuple[int, int, str], int] = {}
    for low, high, added in dict.fromkeys(wanted):
        label = name = line.label(low, high) + added
        times = 1
        while name in taken:
            times += 1
            name = f"{label} ({times})"
        taken.add(name)
        known[low, high, added] = line.tree.n_nodes + len(ranges)
        leaves = line.leaves(low, high)
        ranges.append(LeafRange(int(leaves.min()), int(leaves.max()) + 1, name))
    nodes = np.array([known[each] for each in wanted], dtype=np.int64)
    return with_ranges(line.tree, ranges), nodes
