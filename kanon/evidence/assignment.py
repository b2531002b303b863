"""Link the numbers of a table to those of its release, all records at once."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kanon.evidence.figures import Figure, compute_wilson_interval
from kanon.evidence.records import Records
from kanon.measures.number_change import read_node_numbers

MOST_RECORDS = 2_000  # a sample of so many takes a second; the time grows with the third power


def measure_assignment(known: Records, released: Records, seed: int = 0) -> Figure | None:
    """How often the best one-to-one assignment links a record to its own release, in [0, 1].

    The attacker knows the original numbers of all records and assigns them to the released rows,
    one to one, so that the sum of squared distances is least; each column is divided by its
    standard deviation. A released group counts as the middle of its ends. Rows with the same
    released cells cannot be told apart: a record linked to one of s such rows, its own among them,
    counts 1 / s.

    Parameters
    ----------
    known
        The released records as they were in the table.
    seed
        Draws classes of about :data:`MOST_RECORDS` records where there are more; then the figure
        has a 95 % interval, and is larger than for all records, as fewer rows can be confused.

    Returns
    -------
    Figure or None
        None without a numeric quasi-identifier, or if nothing is released.

    Notes
    -----
    Record linkage by optimal assignment: Herranz, Nin, Rodríguez, Tassa 2015, "Revisiting
    distance-based record linkage for privacy-preserving release of statistical datasets".
    """
    read = ((place, read_node_numbers(tree)) for place, tree in enumerate(known.trees))
    numbers = [(place, of_node) for place, of_node in read if of_node is not None]
    n = known.n_records
    if not numbers or not n:
        return None
    rows = np.arange(n)
    if n > MOST_RECORDS:  # whole classes, within which rows are alike
        _, of_row, size = np.unique(released.nodes, axis=0, return_inverse=True, return_counts=True)
        order = np.random.default_rng(seed).permutation(len(size))
        drawn = order[: max(1, np.searchsorted(np.cumsum(size[order]), MOST_RECORDS))]
        rows = np.flatnonzero(np.isin(of_row, drawn))
    before, after = (
        np.stack([of_node[part.nodes[rows, place]] for place, of_node in numbers], axis=1)
        for part in (known, released)
    )
    middle, spread = np.nanmean(before, axis=0), np.nanstd(before, axis=0)
    before, after = (
        np.nan_to_num((part - middle) / np.where(spread > 0, spread, 1)) for part in (before, after)
    )
    linked = linear_sum_assignment(cdist(before, after, "sqeuclidean"))[1]
    _, of_row, size = np.unique(after, axis=0, return_inverse=True, return_counts=True)
    share = float((np.equal(of_row[linked], of_row) / size[of_row]).mean())
    if len(rows) == n:
        return Figure(share, baseline=1 / n)
    return Figure(share, 1 / len(rows), None, *compute_wilson_interval(share, len(rows)))
