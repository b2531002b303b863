"""k-anonymity: each record looks like at least k - 1 others."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy.model import Model, Range
from kanon.privacy.row_checks import ClassMix, check_at_least

CARD = read_card(__file__)


def check_k(k: object) -> None:
    """Check that k is a whole number of at least 2, with a PlanError where it is not."""
    Range(2, whole=True).check("k", k)


def too_few_records(k: int, n_records: int) -> str:
    """Why a table of fewer than k records cannot be k-anonymous."""
    return (
        f"k = {k} cannot be reached: the table has {count_noun(n_records, 'record')} to anonymise. "
        "Choose a k of at most that number."
    )


@dataclass(frozen=True)
class KAnonymity(Model):
    """The model "every class has at least k records"."""

    k: Annotated[int, Range(2, whole=True)]
    card: ClassVar[Card] = CARD

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number of records of each class. Shape (R,)."""
        return classes.counts

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes have k records. Shape (R,), bool."""
        return classes.counts >= self.k

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model: the table has fewer than k records."""
        return too_few_records(self.k, whole.n_records)


def check_rows(mix: ClassMix, k: int) -> tuple[float, bool]:
    """The fewest records of a class, for the check of a release."""
    return check_at_least(mix.sizes, k)


def recount(classes: list[Counter[str]], usual: dict[str, float], k: int) -> tuple[float, bool]:
    """The fewest records of a class."""
    level = min(mix.total() for mix in classes)
    return level, level >= k


MODEL = KAnonymity
