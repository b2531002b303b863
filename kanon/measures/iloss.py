"""Information loss: how many other values each cell could now mean, of all values."""

from __future__ import annotations

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import released_cells, summed
from kanon.measures.node_losses import leaf_share_lost
from kanon.measures.running import T
from kanon.recoding import Recoding

__all__ = ["CARD", "losses", "of_sum", "value"]

CARD = Card(
    name="iloss",
    title="Information loss (iloss)",
    summary="Per cell the other values that it could now mean, as a share of all values of its "
    "column, added up.",
    source="Babu, Reddy, Kumar, Elliot, Jena 2013",
    unit="cells",
    direction="lower",
    lowest="0: every cell is an original value",
    highest="almost n · m: every cell is at its root",
)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """What a cell loses at each node: the other values, of all. Shapes (N_j,)."""
    return tuple(map(leaf_share_lost, classes.hierarchies))


def of_sum(lost: T, before: T, classes: EquivalenceClasses) -> T:
    """What all cells lost is iloss."""
    return lost


def value(recoding: Recoding) -> float:
    """Σ over cells of (|v| - 1) / |root|, |v| being how many leaves the released value v covers.

    Every column counts the same (w_j = 1): attribute weights guide a search and do not measure.
    Suppressed records count as root cells. As a mean per cell: ``iloss_mean``.
    """
    lost = summed(released_cells(recoding), losses(recoding.original))
    return of_sum(lost, 0.0, recoding.classes)
