"""Non-uniform entropy: how much less each cell reveals, given the frequency of its value."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.cells import sum_losses
from kanon.measures.node_losses import record_bits
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """log2 of the number of records that a cell could mean at each node. Shapes (N_j,)."""
    return tuple(map(record_bits, classes.hierarchies, classes.cells))


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """The sum over the release minus that over the original table."""
    return total - before


def value(recoding: Recoding) -> float:
    """Σ over cells of log2(count(released) / count(original)), in bits.

    count(v) is the number of records of the original table at v or below it. Suppressed records
    count as root cells. In percent of the same sum with all at the root it is the alteration
    under the metric ``entropy``.
    """
    before, after = recoding.original.cells, recoding.cells
    differences = [np.subtract(*pair) for pair in zip(after, before, strict=True)]
    return sum_losses(differences, map(record_bits, recoding.hierarchies, before))
