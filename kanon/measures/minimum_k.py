"""Minimum k: the size of the smallest class."""

from kanon.cards import Card
from kanon.recoding import Recoding

CARD = Card(
    name="min_k",
    title="Minimum k",
    summary="The size of the smallest class of the release: the k that it reaches.",
    source="Mauger, Le Mahec, Dequen 2020",
    unit="records",
    direction="higher",
    lowest="1: at least one record is unique",
    highest="n: all records look the same",
)


def value(recoding: Recoding) -> int | None:
    """The number of records in the smallest released class; None if nothing was released."""
    return recoding.min_k
