"""The histograms of a sensitive column in the form of the compiled loops."""

import numpy as np

from kanon.kernels.merging_state import Histograms
from kanon.sensitive import Sensitive

_MOST_LOGS = 2**20  # the largest n for which n ln n is stored: 8 MB


def _fill_array(size: int, values: np.ndarray, dtype: type) -> np.ndarray:
    return np.pad(values.astype(dtype), (0, size - len(values)))


def build_histograms(sensitive: Sensitive, n_classes: int) -> Histograms:
    entries = len(sensitive.value)
    records = int(sensitive.total.sum())
    whole = np.arange(min(records, _MOST_LOGS) + 1)
    return Histograms(
        start=_fill_array(n_classes, sensitive.start[:-1], np.int64),
        length=_fill_array(n_classes, np.diff(sensitive.start), np.int64),
        value=_fill_array(2 * entries, sensitive.value, np.int32),
        tally=_fill_array(2 * entries, sensitive.count, np.int64),
        total=np.array(sensitive.total, dtype=np.int64),
        records=records,
        logs=whole * np.log(np.maximum(whole, 1)),
    )


def build_empty_histograms(n_classes: int) -> Histograms:
    return Histograms(
        logs=np.zeros(0),
        records=0,
        total=np.zeros(0, dtype=np.int64),
        start=np.zeros(n_classes, dtype=np.int64),
        length=np.zeros(n_classes, dtype=np.int64),
        value=np.zeros(0, dtype=np.int32),
        tally=np.zeros(0, dtype=np.int64),
    )
