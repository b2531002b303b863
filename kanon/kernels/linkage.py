"""The compiled join of a linkage attack: which published classes could hold which person.

Tuples are numbers per cell: the node, the first and last leaf below it, and where the leaves of a
set, which lacks some of those in between, start and end in a list of leaves. The published
ones stand in lexicographic order, so that where a prefix does not fit, all tuples that share it are
left out at once.
"""

import numpy as np

from kanon.kernels.ancestors import count_between
from kanon.kernels.compilation import kernel, loop_with_arrays


@loop_with_arrays
def _find_misfit(low, high, leaves, p, q):
    """The first column in which published tuple q does not cover known tuple p; m if none."""
    for j in range(low.shape[2]):
        begin, stop, first, last = high[3, q, j], high[4, q, j], low[1, p, j], low[2, p, j]
        if (
            high[1, q, j] > low[1, p, j]
            or high[2, q, j] < low[2, p, j]
            or high[0, q, j] < low[0, p, j]
            or (begin < stop and count_between(leaves, begin, stop, first, last) < last - first)
        ):
            return j
    return low.shape[2]


@loop_with_arrays
def _is_admitting(rows, low, p, q):
    """Whether the row of tuple q has an entry at every node of tuple p; True without rows."""
    ends, columns, first = rows
    if ends.shape[1] == 0:
        return True
    for j in range(low.shape[2]):
        column = first[j] + low[0, p, j]
        start, end = ends[0, q], ends[1, q]
        while start < end:  # the columns of a row rise
            middle = (start + end) // 2
            if columns[middle] < column:
                start = middle + 1
            else:
                end = middle
        if start == ends[1, q] or columns[start] != column:
            return False
    return True


@kernel(seconds=1, arrays=True)
def match_known_tuples(low, high, leaves, following, sizes, of_low, of_high, n_values, rows):
    """Per known tuple the matching records, and what the best guess of a sensitive value is worth.

    ``low`` (5, P, m) and ``high`` (5, Q, m) are the known and published tuples: nodes, first and
    last leaves, and where in ``leaves`` those of a set start and end. ``following`` (Q, m): the
    next tuple that differs in the columns up to that one.
    ``of_*``: where the entries of each tuple's histogram start, their values, their counts.
    ``rows``: where each published tuple's row starts and ends (2, Q), the columns of its entries,
    rising, and the first column of each attribute; a row matches if it has every known node.

    Returns (P,) each: matching records; their distinct values; records with the most frequent
    value; how many values are as frequent; known persons with one of those.
    """
    low_start, low_value, low_count = of_low
    high_start, high_value, high_count = of_high
    n_known, n_published, m = low.shape[1], high.shape[1], low.shape[2]
    records = np.zeros(n_known, dtype=np.int64)
    different = np.zeros(n_known, dtype=np.int64)
    highest = np.zeros(n_known, dtype=np.int64)
    ties = np.zeros(n_known, dtype=np.int64)
    hits = np.zeros(n_known, dtype=np.int64)
    tally = np.zeros(n_values, dtype=np.int64)
    touched = np.empty(n_values, dtype=np.int64)
    for p in range(n_known):
        n_touched = 0
        q = 0
        while q < n_published:
            j = _find_misfit(low, high, leaves, p, q)
            if j < m:
                q = following[q, j]
                continue
            if _is_admitting(rows, low, p, q):
                records[p] += sizes[q]
                for entry in range(high_start[q], high_start[q + 1]):
                    value = high_value[entry]
                    if tally[value] == 0:
                        touched[n_touched] = value
                        n_touched += 1
                    tally[value] += high_count[entry]
            q += 1
        different[p] = n_touched
        most = 0
        for place in range(n_touched):
            count = tally[touched[place]]
            if count > most:
                most, ties[p] = count, 1
            elif count == most:
                ties[p] += 1
        highest[p] = most
        if most:
            for entry in range(low_start[p], low_start[p + 1]):
                if tally[low_value[entry]] == most:
                    hits[p] += low_count[entry]
        for place in range(n_touched):
            tally[touched[place]] = 0
    return records, different, highest, ties, hits


@kernel(seconds=1, arrays=True)
def count_records_below(low, high, leaves, following, counts):
    """Per tuple of ``high`` the records of the tuples of ``low`` that it covers."""
    m = low.shape[2]
    records = np.zeros(high.shape[1], dtype=np.int64)
    for p in range(low.shape[1]):
        q = 0
        while q < high.shape[1]:
            j = _find_misfit(low, high, leaves, p, q)
            if j < m:
                q = following[q, j]
                continue
            records[q] += counts[p]
            q += 1
    return records


@kernel(seconds=1, arrays=True)
def count_candidates(low, high, leaves, following, spans, sizes, persons):
    """Per known tuple the published records that it could be, and the persons of these.

    ``spans`` (2, P): the first and the last plus one of the published tuples that are compared
    with each known one. ``sizes`` (Q,): their records. ``persons``: where the persons of each
    published tuple start, and their numbers.
    """
    start, person = persons
    n_known, m = low.shape[1], low.shape[2]
    records = np.zeros(n_known, dtype=np.int64)
    different = np.zeros(n_known, dtype=np.int64)
    last = np.full(person.max() + 1, -1, dtype=np.int64)
    for p in range(n_known):
        q = spans[0, p]
        while q < spans[1, p]:
            j = _find_misfit(low, high, leaves, p, q)
            if j < m:
                q = following[q, j]
                continue
            records[p] += sizes[q]
            for entry in range(start[q], start[q + 1]):
                if last[person[entry]] != p:
                    last[person[entry]] = p
                    different[p] += 1
            q += 1
    return records, different
