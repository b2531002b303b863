"""Classification metric: how often a class predicts the wrong sensitive value."""

import numpy as np

from kanon.cards import read_card
from kanon.recoding import Recoding

CARD = read_card(__file__)


def value(recoding: Recoding, column: str) -> float:
    """CM = (suppressed + Σ over classes of (|C| - max_s n_s)) / n, in [0, 1]; 0 without records.

    Low is good for training a classifier of this column on the release, and bad for privacy: a
    value that all records of a class share is known for each of them. Where several values are the
    most frequent of a class, one of them counts as right; the number is the same for each.
    """
    sensitive = recoding.released.sensitive_named(column)
    most = np.zeros(recoding.n_classes, dtype=np.int64)
    np.maximum.at(most, sensitive.of_entry, sensitive.count)
    wrong = recoding.suppressed_records + int((recoding.counts - most).sum())
    n = recoding.classes.n_records
    return wrong / n if n else 0.0
