"""Which cells a release raised: shared by the measures that count cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.metrics import Metric, potentials, scaled_potentials
from kanon.recoding import Recoding

__all__ = ["cells_at_root", "cells_raised", "cells_raised_to_root", "share", "whole_potentials"]


def whole_potentials(
    classes: EquivalenceClasses, metric: Metric, attribute_weights: Sequence[float] | None = None
) -> tuple[np.ndarray, ...]:
    """The potentials of a metric as whole numbers that fit the records of a table.

    See :func:`kanon.metrics.scaled_potentials`. Shapes (N_j,).
    """
    return scaled_potentials(
        potentials(metric, classes.hierarchies, classes.records_below),
        classes.n_records,
        attribute_weights,
        list(classes.nodes.T) if classes.n_classes else None,
    )


def cells_raised(recoding: Recoding) -> int:
    """The number of cells whose level rose; a suppressed record's cells count as root cells."""
    return _cells(recoding, recoding.targets != recoding.classes.nodes)


def cells_at_root(recoding: Recoding) -> int:
    """The number of cells at the root of their hierarchy."""
    return _cells(recoding, recoding.targets == _roots(recoding))


def cells_raised_to_root(recoding: Recoding) -> int:
    """The number of cells that were raised to the root: not those that started there."""
    at_root = recoding.targets == _roots(recoding)
    return _cells(recoding, at_root & (recoding.targets != recoding.classes.nodes))


def share(part: float, whole: float) -> float:
    """``part`` of ``whole`` in percent; 0 of 0 is 0 %.

    >>> share(1, 4), share(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * (part / whole) if whole else 0.0


def _roots(recoding: Recoding) -> np.ndarray:
    return np.array([tree.root for tree in recoding.classes.hierarchies])


def _cells(recoding: Recoding, chosen: np.ndarray) -> int:
    return int(chosen.sum(axis=1) @ recoding.classes.counts)
