"""The cells of a release: which were raised, and where they are now. Used by many measures."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import Potentials, scale_potentials
from kanon.metrics import Metric, exact_potentials, potentials
from kanon.recoding import Recoding


def scale_metric_potentials(
    classes: EquivalenceClasses, metric: Metric, attribute_weights: Sequence[float] | None = None
) -> Potentials:
    """The potentials of a metric as whole numbers that fit the records of a table."""
    trees = classes.hierarchies
    return scale_potentials(
        potentials(metric, trees, classes.records_below)
        if metric.counts_records
        else exact_potentials(metric, trees),
        classes.n_records,
        attribute_weights,
        list(map(np.flatnonzero, classes.cells)) if classes.n_records else None,
    )


def is_value(tree: Hierarchy, nodes: np.ndarray) -> np.ndarray:
    """Whether nodes are values: a missing cell is not one, although it has its own leaf.

    >>> from kanon.hierarchy.build import suppression
    >>> is_value(suppression(["a", "(missing)"]), np.array([0, 1])).tolist()
    [True, False]
    """
    return np.asarray(nodes != tree.node_of.get(MISSING_LABEL, -1))


def count_cells_shown(recoding: Recoding, column: str) -> int:
    """Count the released records in which a quasi-identifier has its original value."""
    place = recoding.classes.attributes.index(column)
    unchanged, tree = recoding.unchanged[place], recoding.hierarchies[place]
    return int(unchanged[is_value(tree, np.arange(len(unchanged)))].sum())


def count_cells_raised(recoding: Recoding) -> int:
    raised = 0
    for tree, same, before in zip(
        recoding.hierarchies, recoding.unchanged, recoding.original.cells, strict=True
    ):
        at_root = int(before[tree.root])  # they stay there, suppressed or not
        raised += int(before.sum() - same.sum()) - at_root + int(same[tree.root])
    return raised


def count_cells_at_root(recoding: Recoding) -> int:
    return _count_at_roots(recoding, recoding.cells)


def count_cells_raised_to_root(recoding: Recoding) -> int:
    """The number of cells that were raised to the root, without those that started there."""
    return count_cells_at_root(recoding) - _count_at_roots(recoding, recoding.original.cells)


def sum_losses(cells: Iterable[np.ndarray], losses: Iterable[np.ndarray]) -> float:
    """The sum of a number per node over all cells, rounded once, so that order does not matter."""
    products = (at * node_losses for at, node_losses in zip(cells, losses, strict=True))
    return math.fsum(number for product in products for number in product.tolist())


def compute_percent(part: float, whole: float) -> float:
    """``part`` of ``whole`` in percent; 0 of 0 is 0 %."""
    return 100.0 * (part / whole) if whole else 0.0


def _count_at_roots(recoding: Recoding, cells: Iterable[np.ndarray]) -> int:
    return sum(int(at[tree.root]) for tree, at in zip(recoding.hierarchies, cells, strict=True))
