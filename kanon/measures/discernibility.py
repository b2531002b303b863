"""Discernibility: how many records look like each record."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def per_class(sizes: np.ndarray) -> np.ndarray:
    """|C|²: each record looks like all of its class."""
    return sizes.astype(np.int64) ** 2


def of_sum(number: T, before: T, classes: EquivalenceClasses) -> T:
    """The sum over classes is DM, where no record is suppressed."""
    return number


def value(recoding: Recoding) -> int:
    """DM = Σ over classes of |C|² + n * (number of suppressed records).

    A whole number from n to n²; 0 without records.
    """
    return recoding.squared_sizes + recoding.classes.n_records * recoding.suppressed_records
