"""The cells of a release: which were raised, and where they are now. Shared by many measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.metrics import Metric, potentials, scaled_potentials
from kanon.recoding import Recoding


def whole_potentials(
    classes: EquivalenceClasses, metric: Metric, attribute_weights: Sequence[float] | None = None
) -> tuple[np.ndarray, ...]:
    """The potentials of a metric as whole numbers that fit the records of a table.

    See :func:`kanon.metrics.scaled_potentials`. Shapes (N_j,).
    """
    records = classes.records_below if metric.counts_records else None
    return scaled_potentials(
        potentials(metric, classes.hierarchies, records),
        classes.n_records,
        attribute_weights,
        list(classes.nodes.T) if classes.n_classes else None,
    )


def as_it_was(tree: Hierarchy, released: np.ndarray, original: np.ndarray) -> np.ndarray:
    """Whether released nodes say what the original ones did: the same, or a range of one value.

    Parameters
    ----------
    released, original
        Nodes of the tree, of one shape.
    """
    one_value = (released > tree.root) & (tree.leaves_covered[released] == 1)
    return np.asarray((released == original) | one_value)


def is_value(tree: Hierarchy, nodes: np.ndarray) -> np.ndarray:
    """Whether nodes are values: a missing cell is none, though it has a leaf of its own.

    >>> from kanon.hierarchy.build import suppression
    >>> is_value(suppression(["a", "(missing)"]), np.array([0, 1])).tolist()
    [True, False]
    """
    return np.asarray(nodes != tree.node_of.get(MISSING_LABEL, -1))


def cells_shown(recoding: Recoding, column: str) -> int:
    """In how many released records a quasi-identifier shows its original value.

    A missing cell shows none, and a suppressed record nothing.
    """
    place = recoding.classes.attributes.index(column)
    tree, original = recoding.hierarchies[place], recoding.classes.nodes[:, place]
    shown = as_it_was(tree, recoding.targets[:, place], original) & is_value(tree, original)
    return int(recoding.classes.counts[shown & (recoding.assigned >= 0)].sum())


def cells_raised(recoding: Recoding) -> int:
    """The number of cells that are not as they were.

    A suppressed record's cells count as root cells.
    """
    changed, original = np.zeros(recoding.targets.shape, bool), recoding.classes.nodes
    for j, tree in enumerate(recoding.hierarchies):
        changed[:, j] = ~as_it_was(tree, recoding.targets[:, j], original[:, j])
    return _cells(recoding, changed)


def cells_at_root(recoding: Recoding) -> int:
    """The number of cells at the root of their hierarchy."""
    return _cells(recoding, recoding.targets == _roots(recoding))


def cells_raised_to_root(recoding: Recoding) -> int:
    """The number of cells that were raised to the root: not those that started there."""
    at_root = recoding.targets == _roots(recoding)
    return _cells(recoding, at_root & (recoding.targets != recoding.classes.nodes))


def cells_of(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """Per quasi-identifier the number of cells at each node, int64. Shapes (N_j,)."""
    return tuple(
        _placed(tree.n_nodes, classes.nodes[:, j], classes.counts)
        for j, tree in enumerate(classes.hierarchies)
    )


def original_cells(recoding: Recoding) -> tuple[np.ndarray, ...]:
    """Per quasi-identifier the number of original cells at each node, int64. Shapes (N_j,)."""
    return cells_of(recoding.original)


def released_cells(recoding: Recoding) -> tuple[np.ndarray, ...]:
    """Per quasi-identifier the number of released cells at each node, int64. Shapes (N_j,).

    The cells of a suppressed record count as root cells, so all n are somewhere.
    """
    found = []
    for j, tree in enumerate(recoding.hierarchies):
        cells = _placed(tree.n_nodes, recoding.nodes[:, j], recoding.counts)
        cells[tree.root] += recoding.suppressed_records
        found.append(cells)
    return tuple(found)


def summed(cells: Iterable[np.ndarray], losses: Iterable[np.ndarray]) -> float:
    """The sum of a number per node over all cells, rounded once: the order does not matter.

    Parameters
    ----------
    cells, losses
        Per quasi-identifier the number of cells at each node, and what one loses there.

    >>> summed([np.array([2, 1])], [np.array([0.0, 0.5])])
    0.5
    """
    products = (at * lost for at, lost in zip(cells, losses, strict=True))
    return math.fsum(number for product in products for number in product.tolist())


def share(part: float, whole: float) -> float:
    """``part`` of ``whole`` in percent; 0 of 0 is 0 %.

    >>> share(1, 4), share(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * (part / whole) if whole else 0.0


def _placed(n_nodes: int, nodes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    # Floats hold the numbers of records of any table, and add them up faster than integers.
    return np.bincount(nodes, weights=counts, minlength=n_nodes).astype(np.int64)


def _roots(recoding: Recoding) -> np.ndarray:
    return np.array([tree.root for tree in recoding.classes.hierarchies])


def _cells(recoding: Recoding, chosen: np.ndarray) -> int:
    return int(chosen.sum(axis=1) @ recoding.classes.counts)
