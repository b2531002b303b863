"""Records at risk: few records have a risk above a threshold."""

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
class RecordsAtRisk(ReleaseModel):
    """The model "at most ``most`` of the released records have 1 / size(C) > ``above``".

    Where persons are known, the size of a class is the number of its persons. Both comparisons are
    of fractions of whole numbers.
    """

    above: Annotated[float, Range(0, 1)]
    most: Annotated[float, Range(0, 1)]
    card: ClassVar[Card] = CARD

    def compute_level(self, classes: EquivalenceClasses) -> float:
        """The share of the records at risk, in [0, 1].

        Four records that look the same, and one that is unique.

        >>> five = EquivalenceClasses((), (), np.zeros((2, 0)), np.array([4, 1]))
        >>> RecordsAtRisk(above=0.3, most=0.5).compute_level(five)
        0.2
        """
        return int(classes.counts[self._find_risky(classes)].sum()) / classes.n_records

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """The classes that are not at risk, or all where few records are. Shape (R,), bool."""
        risky = self._find_risky(classes)
        allowed = Fraction(repr(self.most)) * classes.n_records
        return ~risky | (int(classes.counts[risky].sum()) <= allowed)

    def _find_risky(self, classes: EquivalenceClasses) -> np.ndarray:
        threshold = Fraction(repr(self.above))
        sizes, at = np.unique(classes.hiding, return_inverse=True)
        return np.array([Fraction(1, size) > threshold for size in sizes.tolist()], bool)[at]


def check_classes(classes: CheckedClasses, above: float, most: float) -> tuple[float, bool]:
    """The share of the records at risk, for the check of a release."""
    risky = 1 / classes.hiding > above * (1 + 1e-12)
    return check_at_most(np.array([classes.sizes[risky].sum() / classes.sizes.sum()]), most)


def recount(
    classes: dict[tuple[str, ...], tuple[int, int]], above: float, most: float
) -> tuple[float, bool]:
    """The share of the records at risk."""
    n_records = sum(size for size, _ in classes.values())
    risky = [size for size, hiding in classes.values() if 1 / hiding > above * (1 + 1e-12)]
    level = sum(risky) / n_records
    return level, level <= most * (1 + 1e-12)


MODEL = RecordsAtRisk
