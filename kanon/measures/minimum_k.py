"""Minimum k: the size of the smallest class."""

from kanon.cards import read_card
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding) -> int | None:
    """The number of records in the smallest released class; None if nothing was released."""
    return recoding.min_k
