"""δ-presence: nobody can tell well whether a person of the population is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError
from kanon.privacy.model import Range, rounded
from kanon.privacy.population_matches import count_people_below, sum_shares_above
from kanon.privacy.release_model import PopulationModel
from kanon.privacy.row_checks import CheckedClasses

CARD = read_card(__file__)

_TOLERANCE = 1e-9  # shares are summed as multiples of 2**-40


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(PopulationModel):
    """The model "the probability of being in the table is at least ``least``, at most ``most``".

    For a person of the population it is min(1, sum of size(C) / people(C)) over the classes that
    the person matches, where people(C) is the number of people who match C; 0 if none does.
    Everyone in the table has to be one of the population.
    """

    most: Annotated[float, Range(0, 1)]
    least: Annotated[float, Range(0, 1)] = 0.0
    card: ClassVar[Card] = CARD

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least > self.most:
            raise PlanError(f"least = {self.least:g} has to be at most most = {self.most:g}.")

    def is_monotone(self, classes: EquivalenceClasses) -> bool:
        """Whether all values are leaves: then no class covers another, however far all rise."""
        pairs = zip(classes.hierarchies, classes.nodes.T, strict=True)
        return all(bool((tree.level[nodes] == 0).all()) for tree, nodes in pairs)

    def check_table(self, classes: EquivalenceClasses) -> None:
        """Check that everyone in the table is one of the population."""
        if n_strangers := self.count_strangers(classes):
            raise TableError(
                f"{self.title} needs everyone in the table to be one of the population, but "
                f"{count_noun(n_strangers, classes.of.removesuffix('s'))} of the table "
                f"{'is' if n_strangers == 1 else 'are'} not in it."
            )

    def compute_level(self, classes: EquivalenceClasses) -> float:
        """The largest probability of a person to be in the table, in [0, 1]."""
        return float(self._sum_shares(classes).max())

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """False for the classes that a person outside of the limits matches. Shape (R,), bool.

        Where the probability is too low for somebody, every class has to rise.
        """
        people, shares = self.counted_people, self._sum_shares(classes)
        if (shares < self.least - _TOLERANCE).any():
            return np.zeros(classes.n_classes, dtype=bool)
        outside = np.flatnonzero(shares > self.most + _TOLERANCE)
        return count_people_below(classes, people.only(outside)) == 0

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, with the probability that all people then share."""
        share = self.compute_level(whole)
        side = rounded(share, up=share > self.most)
        return (
            f"{self.sentence} cannot be reached: with all records in one class, everyone in the "
            f"population is in the table with a probability of {side}."
        )

    def _sum_shares(self, classes: EquivalenceClasses) -> np.ndarray:
        return compute_presence(classes, self.counted_people)


def compute_presence(
    classes: EquivalenceClasses, people: EquivalenceClasses, whose: EquivalenceClasses | None = None
) -> np.ndarray:
    """The probability of being in a released table: per class of a population, or of others."""
    sizes = classes.hiding / np.maximum(count_people_below(classes, people), 1)
    return np.minimum(sum_shares_above(people if whose is None else whose, classes, sizes), 1.0)


def check_classes(classes: CheckedClasses, most: float, least: float) -> tuple[float, bool]:
    """The largest probability of being in the table, for the check of a release."""
    assert classes.people is not None
    counts = classes.people.counts
    pairs = [*classes.match_people()]
    people = np.zeros(len(classes.sizes))
    for of_class, of_person in pairs:
        np.add.at(people, of_class, counts[of_person])
    shares = np.zeros(len(counts))
    for of_class, of_person in pairs:
        np.add.at(shares, of_person, classes.hiding[of_class] / people[of_class])
    shares = np.minimum(shares, 1)
    holds = shares.max() <= most + _TOLERANCE and shares.min() >= least - _TOLERANCE
    return float(shares.max()), bool(holds)


MODEL = DeltaPresence
