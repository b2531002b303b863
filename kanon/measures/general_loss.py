"""General loss: how many other values each cell could now mean, as a share of all others."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import sum_losses
from kanon.measures.node_losses import other_leaves_share
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """What a cell loses at each node: the other values, of all others. Shapes (N_j,)."""
    return tuple(map(other_leaves_share, classes.hierarchies))


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """The mean over cells."""
    return total / classes.n_cells if classes.n_cells else total


def value(recoding: Recoding) -> float:
    """(1 / (n * m)) Σ over cells of (|v| - 1) / (|root| - 1), in [0, 1]; 0 without cells.

    |v| is the number of leaves that the released value v covers, 1 if original. A column of one
    value has nothing to lose and counts 0. Suppressed records count as root cells.
    """
    total = sum_losses(recoding.cells, losses(recoding.original))
    return of_sum(total, 0.0, recoding.classes)
