"""Precision: by how small a share of the levels each cell was raised."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import sum_losses
from kanon.measures.node_losses import level_share
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """What a cell loses at each node: the share of the levels below it. Shapes (N_j,)."""
    return tuple(map(level_share, classes.hierarchies))


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """Prec, from what all cells lost."""
    return 1.0 - total / classes.n_cells if classes.n_cells else total + 1.0


def value(recoding: Recoding) -> float:
    """Prec = 1 - (Σ over cells of level(v) / level(root)) / (n * m), in [0, 1]; 1 without cells.

    A column of one value counts as precise. Suppressed records count as root cells. It equals
    1 - alteration / 100 under the metric ``total`` if all original values are leaves and all
    trees have more than one node.
    """
    total = sum_losses(recoding.cells, losses(recoding.original))
    return of_sum(total, 0.0, recoding.classes)
