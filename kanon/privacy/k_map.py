"""k-map: every class of the release fits at least k people of a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy.model import Range
from kanon.privacy.population_matches import count_people_below
from kanon.privacy.release_model import PopulationModel
from kanon.privacy.row_checks import CheckedClasses, check_at_least

CARD = read_card(__file__)


@dataclass(frozen=True, kw_only=True)
class KMap(PopulationModel):
    """The model "every class matches at least k people of the population".

    A person matches a class if every one of their quasi-identifiers lies at or below the class's
    node. The table need not be part of the population. Raising or merging records never breaks
    it: the nodes of a class only rise.
    """

    k: Annotated[int, Range(2, whole=True)]
    card: ClassVar[Card] = CARD

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The people who match each class. Shape (R,)."""
        return count_people_below(classes, self.counted_people)

    def compute_level(self, classes: EquivalenceClasses) -> int:
        """The people who match the class that fewest match."""
        return int(self.levels(classes).min())

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """The classes that k people match. Shape (R,), bool."""
        return self.levels(classes) >= self.k


def check_classes(classes: CheckedClasses, k: int) -> tuple[float, bool]:
    """The people who match the class that fewest match, for the check of a release."""
    assert classes.people is not None
    matches = np.zeros(len(classes.sizes), dtype=np.int64)
    for of_class, of_person in classes.match_people():
        np.add.at(matches, of_class, classes.people.counts[of_person])
    return check_at_least(matches, k)


MODEL = KMap
