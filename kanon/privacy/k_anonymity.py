"""k-anonymity: nobody can be told apart from fewer than k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError

__all__ = ["CARD", "KAnonymity", "check_k"]

CARD = Card(
    name="k-anonymity",
    title="k-anonymity",
    summary="Every record shares its quasi-identifiers with at least k - 1 others.",
    source="Samarati 2001; Sweeney 2002",
    unit="records",
    direction="higher",
    lowest="1: somebody is unique",
    highest="n: all records look the same",
)


def check_k(k: object) -> int:
    """Check that k is a whole number of at least 2.

    Raises
    ------
    PlanError
        It is not.

    >>> check_k(5)
    5
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise PlanError(f"k has to be a whole number of at least 2, not {str(k)[:40]}.")
    return k


@dataclass(frozen=True)
class KAnonymity:
    """The model "every class holds at least k records".

    Parameters
    ----------
    k
        A whole number of at least 2.

    Raises
    ------
    PlanError
        k is anything else.
    """

    k: int

    def __post_init__(self) -> None:
        check_k(self.k)

    def level(self, classes: EquivalenceClasses) -> int | None:
        """The k that a table has: the size of its smallest class."""
        return classes.min_k

    def holds(self, classes: EquivalenceClasses) -> bool:
        """Whether a table meets the model. Without records it does."""
        return classes.min_k is None or classes.min_k >= self.k
