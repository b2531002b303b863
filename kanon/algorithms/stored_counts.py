"""The classes at a node, counted by the engine that keeps them."""

from collections.abc import Sequence

import numpy as np

from kanon.algorithms.lattice_counts import CountsHere, Evaluation
from kanon.algorithms.lattice_size import Node, raised_to
from kanon.recoding import Recoding, Trace
from kanon.settings import settings
from kanon.stored_classes import ClassSizes, StoredClasses, StoredGroups

_MOST_HERE = 500_000
"""Classes at a node that are no more than these are fetched; what lies above is counted here."""

_KEPT, _HERE = 8, 8
"""At so many nodes the engine keeps the classes, and at so many they are here, to roll up from."""


class StoredCounts:
    """Counts classes by rolling up tables that the engine keeps; as :class:`CountsHere` does."""

    def __init__(self, classes: StoredClasses, potentials: Sequence[np.ndarray], k: int) -> None:
        self._classes, self._potentials, self._k = classes, potentials, k
        self._raised = [raised_to(tree) for tree in classes.hierarchies]
        self._here: dict[Node, CountsHere] = {}
        self._sizes: dict[Node, ClassSizes] = {}
        bottom = (0,) * len(self._raised)
        self._kept: dict[Node, StoredGroups] = {bottom: classes.groups}
        self._sizes[bottom] = classes.groups.sizes
        self._last: tuple[Node, StoredGroups] | None = None

    def exceeds(self, node: Node, most: int) -> bool:
        if node not in self._sizes:
            # What exceeds at a node above does so here too, and many a node above is counted here.
            for other, counts in self._here.items():
                above = tuple(map(max, node, other))
                if counts.exceeds(above, most):
                    return True
                if above == node:
                    return False
        here = self._counted_here(node)
        if here is not None:
            return here.exceeds(node, most)
        return self._below_k(node) > most

    def evaluation(self, node: Node) -> Evaluation:
        here = self._counted_here(node)
        if here is not None:
            return here.evaluation(node)
        every = self._sizes[node]
        large, left = every.at_least(self._k), 0
        if self._below_k(node):
            cells = self._groups(node).cells_below(self._k)
            pairs = zip(self._potentials, cells, strict=True)
            left = sum(int(depth @ at) for depth, at in pairs)
        return Evaluation(
            self._below_k(node), large.n_classes, every.n_classes,
            int(large.sizes**2 @ large.classes), int(every.sizes**2 @ every.classes), left,
        )  # fmt: skip

    def sizes(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        here = self._counted_here(node)
        if here is not None:
            return here.sizes(node)
        return self._sizes[node].sizes, self._sizes[node].classes

    def recoded(self, node: Node) -> Recoding:
        return self._classes.at_levels(self._at(node), Trace())

    def _at(self, node: Node) -> list[np.ndarray]:
        return [row[level] for row, level in zip(self._raised, node, strict=True)]

    def _below_k(self, node: Node) -> int:
        every = self._sizes[node]
        return every.n_records - every.at_least(self._k).n_records

    def _counted_here(self, node: Node) -> CountsHere | None:
        while (known := self._nearest_here(node)) is None and node not in self._sizes:
            # Half-way there is a smaller table, from which the nodes around follow as well.
            start = self._start_for(node)
            between = tuple((low + high) // 2 for low, high in zip(start, node, strict=True))
            small = self._kept[start].sizes.n_classes <= _most_here()
            self._groups(node if small or between in self._sizes else between)
        return known

    def _nearest_here(self, node: Node) -> CountsHere | None:
        return next((found for other, found in self._here.items() if _is_below(other, node)), None)

    def _start_for(self, node: Node) -> Node:
        below = [other for other in self._kept if _is_below(other, node)]
        return min(below, key=lambda one: self._kept[one].sizes.n_classes)

    def _groups(self, node: Node) -> StoredGroups:
        """The classes at a node, kept by the engine until the next one is asked for."""
        if node in self._kept:
            return self._kept[node]
        if self._last is not None and self._last[0] == node:
            return self._last[1]
        source = self._kept[self._start_for(node)]
        found = source.raised(self._at(node))
        self._sizes[node] = found.sizes
        number = found.sizes.n_classes
        if number <= _most_here():
            self._here[node] = CountsHere(found.fetched(), self._potentials, self._k)
            if len(self._here) > _HERE:
                del self._here[next(iter(self._here))]
        if self._last is not None:
            self._last[1].drop()
            self._last = None
        if 2 * number <= source.sizes.n_classes:
            self._kept[node] = found
            if len(self._kept) > _KEPT:  # all but the classes as they are may go
                self._kept.pop(list(self._kept)[1]).drop()
        else:
            self._last = node, found
        return found


def _most_here() -> int:
    return min(_MOST_HERE, settings().classes)


def _is_below(one: Node, other: Node) -> bool:
    """Whether a node is another one, or raises nothing further than it."""
    return all(level <= its for level, its in zip(one, other, strict=True))
