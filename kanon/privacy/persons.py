"""k-anonymity counted in persons, for tables where a person can have several records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy.model import Model, Range

# Not a model of its own in plans: a plan's k becomes this where it names the column that
# identifies the person.
IN_PERSONS = read_card(__file__, "k-in-persons")


def describe_too_few_persons(k: int, persons: int) -> str:
    return (
        f"k = {k} cannot be reached in persons: the records to anonymise are about "
        f"{count_noun(persons, 'person')}. Choose a k of at most that number."
    )


@dataclass(frozen=True)
class KInPersons(Model):
    """The model "every class has records of at least k different persons".

    A person with records in several classes counts once in each of them. Merging classes never
    lowers the number of persons of the smallest one, although persons do not add up.
    """

    k: Annotated[int, Range(1, whole=True)]
    column: str
    card: ClassVar[Card] = IN_PERSONS

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number of different persons of each class. Shape (R,)."""
        if classes.persons is None:
            raise ValueError("the classes were counted without persons")
        return classes.hiding

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes have records of k persons. Shape (R,), bool."""
        return self.levels(classes) >= self.k

    def refusal(self, whole: EquivalenceClasses) -> str:
        return describe_too_few_persons(self.k, int(self.levels(whole)[0]))

    def replace_k(self, k: int) -> KInPersons:
        return replace(self, k=k)
