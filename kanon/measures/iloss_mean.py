"""Mean information loss: iloss per cell."""

import math
from collections.abc import Sequence

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures import iloss
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)

losses = iloss.losses


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """The mean over cells."""
    return total / classes.n_cells if classes.n_cells else total


def value(recoding: Recoding, weights: Sequence[float] | None = None) -> float:
    """iloss / (n · Σ w_j), in [0, 1); 0 without cells. See :func:`kanon.measures.iloss.value`."""
    total, classes = iloss.value(recoding, weights), recoding.classes
    if weights is None:
        return of_sum(total, 0.0, classes)
    return total / (classes.n_records * math.fsum(weights)) if total else 0.0
