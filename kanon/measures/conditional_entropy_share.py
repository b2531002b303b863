"""Conditional entropy as a share of its value at the root."""

import math

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures import conditional_entropy
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)

losses = conditional_entropy.losses


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """In percent of all at the root; 0 if there is nothing to lose."""
    open_at = zip(classes.hierarchies, losses(classes), strict=True)
    most = math.fsum(classes.n_records * float(bits[tree.root]) for tree, bits in open_at)
    return 100.0 * (total / most) if most else total


def value(recoding: Recoding) -> float:
    """100 * Π_e(release) / Π_e(all at the root), in percent; 0 if there is nothing to lose.

    See :mod:`kanon.measures.conditional_entropy`: it may be above 100.
    """
    return of_sum(conditional_entropy.value(recoding), 0.0, recoding.original)
