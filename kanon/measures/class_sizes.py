"""The records by size of their class, in a few numbers per release."""

import numpy as np

from kanon.recoding import MergePath, Recoding


def count_size_bins(n_records: int) -> int:
    """B, the number of powers of two that class sizes can begin with."""
    return int(n_records).bit_length()


def compute_bin_ends(n_records: int) -> np.ndarray:
    """The largest size of each bin, shape (B,): 1, 3, 7, …, n.

    >>> compute_bin_ends(30).tolist()
    [1, 3, 7, 15, 30]
    """
    return np.minimum(2 ** np.arange(1, count_size_bins(n_records) + 1) - 1, n_records)


def measure_class_sizes(recoding: Recoding) -> np.ndarray:
    """The number of records in released classes of 2^b to 2^(b+1) - 1 records, per b."""
    counts = recoding.counts
    size = count_size_bins(recoding.classes.n_records)
    return np.bincount(_find_bins(counts), weights=counts, minlength=size).astype(np.int64)


def measure_class_sizes_along(path: MergePath) -> np.ndarray:
    """The same for every release on a merge path, from running sums. Shape (S, B)."""
    size = path.classes.n_classes
    at = np.searchsorted(path.smallest, path.distinct_k, side="left")
    bin_of = _find_bins(path.counts)
    sizes = np.zeros((len(at), count_size_bins(path.classes.n_records)), dtype=np.int64)
    parts = path.parts
    for place in range(sizes.shape[1]):
        tally = np.where(bin_of == place, path.counts, 0)
        minus = np.where(parts >= 0, tally[parts], 0).sum(axis=1)
        after = np.concatenate([[0], np.cumsum(tally[size:] - minus)]) + tally[:size].sum()
        sizes[:, place] = after[at]
    return sizes


def _find_bins(counts: np.ndarray) -> np.ndarray:
    """Find the largest power of two up to each size, exactly."""
    return np.frexp(counts.astype(float))[1] - 1
