"""Average class size: how many records look alike on average."""

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def per_class(sizes: np.ndarray) -> np.ndarray:
    """1: the sum over classes is their number."""
    return np.ones(len(sizes), dtype=np.int64)


def of_sum(number: T, before: T, classes: EquivalenceClasses) -> T:
    """All records over the number of classes, where none are suppressed."""
    return classes.n_records / number


def value(recoding: Recoding) -> float | None:
    """AECS = (n - suppressed) / (number of classes); None if no class is left.

    As a multiple of k it is C_AVG: see :mod:`kanon.measures.c_avg`.
    """
    released = recoding.classes.n_records - recoding.suppressed_records
    return released / recoding.n_classes if recoding.n_classes else None
