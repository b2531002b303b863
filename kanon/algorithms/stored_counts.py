"""The classes at a node, counted by the engine that keeps them."""

from collections.abc import Sequence

import numpy as np

from kanon.algorithms.lattice_counts import CountsHere, Evaluation
from kanon.algorithms.lattice_size import Node, compute_nodes_by_level
from kanon.recoding import Recoding, Trace
from kanon.settings import get_settings
from kanon.stored_classes import ClassSizes, StoredClasses, StoredGroups

_MOST_HERE = 500_000
"""Up to so many classes at a node are fetched; nodes above it are then counted here."""

_MOST_TABLES, _MOST_COUNTS_HERE = 8, 8
"""The most nodes whose classes the engine keeps, and whose are here, to roll up from."""


class StoredCounts:
    """Counts classes like :class:`CountsHere`, by rolling up tables that an engine keeps."""

    def __init__(self, classes: StoredClasses, potentials: Sequence[np.ndarray], k: int) -> None:
        self._classes, self._potentials, self._k = classes, potentials, k
        self._raised = [compute_nodes_by_level(tree) for tree in classes.hierarchies]
        self._here: dict[Node, CountsHere] = {}
        self._sizes: dict[Node, ClassSizes] = {}
        bottom = (0,) * len(self._raised)
        self._tables: dict[Node, StoredGroups] = {bottom: classes.groups}
        self._sizes[bottom] = classes.groups.sizes
        self._last: tuple[Node, StoredGroups] | None = None

    def has_more_small_records(self, node: Node, most: int) -> bool:
        if node not in self._sizes:
            # What exceeds at a node above does so here too, and many a node above is counted here.
            for other, counts in self._here.items():
                above = tuple(map(max, node, other))
                if counts.has_more_small_records(above, most):
                    return True
                if above == node:
                    return False
        here = self._count_here(node)
        if here is not None:
            return here.has_more_small_records(node, most)
        return self._count_below_k(node) > most

    def count_by_k(self, node: Node) -> Evaluation:
        here = self._count_here(node)
        if here is not None:
            return here.count_by_k(node)
        sizes = self._sizes[node]
        large, left_potential = sizes.select_at_least(self._k), 0
        if self._count_below_k(node):
            cells = self._load_groups(node).count_cells_below(self._k)
            pairs = zip(self._potentials, cells, strict=True)
            left_potential = sum(int(depth @ records_at) for depth, records_at in pairs)
        return Evaluation(
            self._count_below_k(node), large.n_classes, sizes.n_classes,
            int(large.sizes**2 @ large.classes), int(sizes.sizes**2 @ sizes.classes),
            left_potential,
        )  # fmt: skip

    def sizes(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        here = self._count_here(node)
        if here is not None:
            return here.sizes(node)
        return self._sizes[node].sizes, self._sizes[node].classes

    def build_recoding(self, node: Node) -> Recoding:
        return self._classes.raise_to_levels(self._get_raised_nodes(node), Trace())

    def _get_raised_nodes(self, node: Node) -> list[np.ndarray]:
        return [row[level] for row, level in zip(self._raised, node, strict=True)]

    def _count_below_k(self, node: Node) -> int:
        sizes = self._sizes[node]
        return sizes.n_records - sizes.select_at_least(self._k).n_records

    def _count_here(self, node: Node) -> CountsHere | None:
        while (counts := self._find_nearest_here(node)) is None and node not in self._sizes:
            # Half-way there is a smaller table, from which the nodes around follow as well.
            start = self._find_start(node)
            between = tuple((low + high) // 2 for low, high in zip(start, node, strict=True))
            small = self._tables[start].sizes.n_classes <= _get_most_here()
            self._load_groups(node if small or between in self._sizes else between)
        return counts

    def _find_nearest_here(self, node: Node) -> CountsHere | None:
        return next(
            (counts for other, counts in self._here.items() if _is_below(other, node)), None
        )

    def _find_start(self, node: Node) -> Node:
        lower_nodes = [other for other in self._tables if _is_below(other, node)]
        return min(lower_nodes, key=lambda lower: self._tables[lower].sizes.n_classes)

    def _load_groups(self, node: Node) -> StoredGroups:
        """The classes at a node, kept by the engine until the next one is asked for."""
        if node in self._tables:
            return self._tables[node]
        if self._last is not None and self._last[0] == node:
            return self._last[1]
        source = self._tables[self._find_start(node)]
        groups = source.raise_nodes(self._get_raised_nodes(node))
        self._sizes[node] = groups.sizes
        number = groups.sizes.n_classes
        if number <= _get_most_here():
            self._here[node] = CountsHere(
                groups.read_classes(), self._potentials, self._k, self._raised
            )
            if len(self._here) > _MOST_COUNTS_HERE:
                del self._here[next(iter(self._here))]
        if self._last is not None:
            self._last[1].drop()
            self._last = None
        if 2 * number <= source.sizes.n_classes:
            self._tables[node] = groups
            if len(self._tables) > _MOST_TABLES:  # all but the classes as they are may go
                self._tables.pop(list(self._tables)[1]).drop()
        else:
            self._last = node, groups
        return groups


def _get_most_here() -> int:
    return min(_MOST_HERE, get_settings().classes)


def _is_below(low: Node, high: Node) -> bool:
    """Whether a node is another one, or nowhere above it."""
    return all(level <= upper for level, upper in zip(low, high, strict=True))
