"""Models of a whole release, which no class meets or breaks by itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.privacy.model import Model, rounded
from kanon.privacy.population_matches import count_people_below


class ReleaseModel(Model):
    """A model about all classes together.

    Where it fails, :meth:`holds_each` names the classes that have to change.
    """

    def is_monotone(self, classes: EquivalenceClasses) -> bool:
        """Whether raising all records of a table together never breaks it, as searches conclude."""
        return True

    @abstractmethod
    def compute_level(self, classes: EquivalenceClasses) -> float | int:
        """The number that the model limits, of classes of at least one record."""

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The level of the release, for each class. Shape (R,)."""
        if not classes.n_classes:
            return np.zeros(0)
        return np.full(classes.n_classes, self.compute_level(classes))

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, with the level of all records in one class."""
        level = rounded(self.compute_level(whole), self.card.direction == "lower")
        return self._write_refusal(f"the level is {level}")


@dataclass(frozen=True, kw_only=True)
class PopulationModel(ReleaseModel):
    """A model that compares a release with a population, given as a table of people.

    ``population`` is its path, as in a plan; :meth:`bind` gives it the people, counted.
    """

    population: str
    people: EquivalenceClasses | None = field(default=None, compare=False, repr=False)

    def bind(self, people: Mapping[str, EquivalenceClasses]) -> PopulationModel:
        """The model with the people of its population."""
        return replace(self, people=people[self.population])

    def check_table(self, classes: EquivalenceClasses) -> None:
        """Check that the model can be asked of a table, given the people, else a TableError."""

    def count_strangers(self, classes: EquivalenceClasses) -> int:
        """The records, or persons, of a table that are more than the people who fit them."""
        people = count_people_below(classes, self.counted_people)
        return int(np.maximum(classes.hiding - people, 0).sum())

    @property
    def counted_people(self) -> EquivalenceClasses:
        """The people of the population, once :meth:`bind` was called."""
        if self.people is None:
            raise ValueError(f"the people of the population of {self.title} were not counted")
        return self.people
