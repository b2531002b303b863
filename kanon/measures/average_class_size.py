"""Average class size: how many records look alike in the mean."""

from __future__ import annotations

from kanon.cards import Card
from kanon.recoding import Recoding

__all__ = ["CARD", "value"]

CARD = Card(
    name="average_class_size",
    title="Average class size (AECS)",
    summary="The number of released records per class.",
    source="LeFevre, DeWitt, Ramakrishnan 2006",
    unit="records",
    direction="lower",
    lowest="1: everybody is unique",
    highest="n: all records look the same",
)


def value(recoding: Recoding) -> float | None:
    """AECS = (n - suppressed) / (number of classes); None if no class is left.

    As a multiple of k it is C_AVG: see :mod:`kanon.measures.c_avg`.
    """
    released = recoding.classes.n_records - recoding.suppressed_records
    return released / recoding.n_classes if recoding.n_classes else None
