"""Average risk: on average, a record is picked rightly at most that often."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy.model import Range
from kanon.privacy.release_model import ReleaseModel
from kanon.privacy.row_checks import CheckedClasses, check_at_most

CARD = read_card(__file__)


@dataclass(frozen=True)
class AverageRisk(ReleaseModel):
    """The model "the mean over the released records of 1 / size(C) is at most ``most``".

    The mean is R / n, the number of classes divided by that of records; where persons are known,
    the mean of 1 / persons(C). R / n is compared with ``most`` as a fraction of whole numbers.
    """

    most: Annotated[float, Range(0, 1, above=True)]
    card: ClassVar[Card] = CARD

    def compute_level(self, classes: EquivalenceClasses) -> float:
        """The mean risk, in (0, 1].

        Four records that look the same, and one that is unique: two classes, five records.

        >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
        >>> AverageRisk(0.5).compute_level(five)
        0.4
        """
        return float((classes.counts / classes.hiding).sum()) / classes.n_records

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """True for every class if the mean is low enough, else for none. Shape (R,), bool."""
        if classes.persons is None:
            holds = classes.n_classes <= Fraction(repr(self.most)) * classes.n_records
        else:
            holds = not classes.n_classes or self.compute_level(classes) <= self.most * (1 + 1e-12)
        return np.full(classes.n_classes, holds)


def check_classes(classes: CheckedClasses, most: float) -> tuple[float, bool]:
    """The mean risk, for the check of a release."""
    mean = (classes.sizes / classes.hiding).sum() / classes.sizes.sum()
    return check_at_most(np.array([mean]), most)


def recount(classes: dict[tuple[str, ...], tuple[int, int]], most: float) -> tuple[float, bool]:
    """The mean risk."""
    n_records = sum(size for size, _ in classes.values())
    level = sum(size / hiding for size, hiding in classes.values()) / n_records
    return level, level <= most * (1 + 1e-12)


MODEL = AverageRisk
