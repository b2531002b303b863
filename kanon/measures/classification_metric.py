"""Classification metric: how often a class says the wrong thing about a sensitive value."""

import numpy as np

from kanon.cards import Card
from kanon.recoding import Recoding

CARD = Card(
    name="classification_metric",
    title="Classification metric (CM)",
    summary="The share of the records that are suppressed, or whose value of the sensitive column "
    "is not the most frequent one of their class.",
    source="Iyengar 2002",
    unit="share",
    direction="lower",
    lowest="0: every class has one value, and nobody is suppressed",
    highest="1: everybody is suppressed",
)


def value(recoding: Recoding, column: str) -> float:
    """CM = (suppressed + Σ over classes of (|C| - max_s n_s)) / n, in [0, 1]; 0 without records.

    Low is good for who trains a classifier of this column on the release, and says the opposite
    for privacy: what a class agrees on is known of all its records. Where several values are the
    most frequent of a class, one of them counts as right, and the number is the same whichever.

    Parameters
    ----------
    column
        The sensitive column whose values are the labels.

    Raises
    ------
    PlanError
        The column is not sensitive.
    """
    sensitive = recoding.released.sensitive_named(column)
    most = np.zeros(recoding.n_classes, dtype=np.int64)
    np.maximum.at(most, sensitive.of_entry, sensitive.count)
    wrong = recoding.suppressed_records + int((recoding.counts - most).sum())
    n = recoding.classes.n_records
    return wrong / n if n else 0.0
