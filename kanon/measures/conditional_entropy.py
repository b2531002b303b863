"""Conditional entropy: how many bits of each original value its released value leaves open."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import sum_losses
from kanon.measures.node_losses import conditional_bits
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """The bits that a cell leaves open at each node. Shapes (N_j,)."""
    return tuple(map(conditional_bits, classes.hierarchies, classes.cells))


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """What all cells leave open is the conditional entropy."""
    return total


def value(recoding: Recoding) -> float:
    """Π_e = Σ over cells of H(V | released value), in bits.

    V is the original value of a random record of the original table at or below the released
    value. Suppressed records count as root cells. For a full-domain release of leaves without
    suppression it equals the non-uniform entropy. Raising a cell may lower it (see
    :func:`kanon.measures.node_losses.conditional_bits`), so it suits no search by bounds.
    """
    total = sum_losses(recoding.cells, losses(recoding.original))
    return of_sum(total, 0.0, recoding.classes)
