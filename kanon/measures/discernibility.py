"""Discernibility: how many records look like each record."""

from __future__ import annotations

import numpy as np

from kanon.cards import Card
from kanon.recoding import Recoding

__all__ = ["CARD", "value"]

CARD = Card(
    name="discernibility",
    title="Discernibility (DM)",
    summary="For each record the number of records that look like it, itself included, added up; "
    "a suppressed record could be any of the table.",
    source="Bayardo, Agrawal 2005",
    unit="records",
    direction="lower",
    lowest="n: everybody is unique",
    highest="n²: all records look the same",
)


def value(recoding: Recoding) -> int:
    """DM = Σ over classes of |C|² + n * (number of suppressed records).

    A whole number from n to n²; 0 without records.
    """
    sizes = recoding.counts.astype(np.int64)
    return int((sizes * sizes).sum()) + recoding.classes.n_records * recoding.suppressed_records
