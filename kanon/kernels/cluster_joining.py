"""Join what is nearest: classes to clusters, and small clusters to others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanon.kernels.clusters import ALL, MOST, meet_all, raise_to
from kanon.kernels.compilation import kernel, loop_with_arrays


class Meeting(NamedTuple):
    """What it costs one tuple to meet any node, kept until the next tuple differs.

    Attributes
    ----------
    values : numpy.ndarray, shape (m,), int64
        The tuple; -1 before the first.
    up_of, down_of : numpy.ndarray, shape (m, N), int64
        Per quasi-identifier and node x what it costs to raise x, and to raise the tuple, to where
        they meet.
    state : numpy.ndarray, shape (1,), int64
        How far the loop is.
    """

    values: np.ndarray
    up_of: np.ndarray
    down_of: np.ndarray
    state: np.ndarray


@loop_with_arrays
def _meet(table, meeting, tuple_):
    """Make the costs of meeting a tuple ready; where it is the last one again, they are."""
    for j in range(len(tuple_)):
        if meeting.values[j] != tuple_[j]:
            meeting.values[j] = tuple_[j]
            meet_all(
                table.parents[j], table.depths[j], table.sizes[j], tuple_[j],
                meeting.down_of[j], meeting.up_of[j],
            )  # fmt: skip


@loop_with_arrays
def _nearest(table, clusters, meeting, records, below, but):
    """The cluster that is widened at least cost by the tuple that was made ready.

    Parameters
    ----------
    records
        The number of records of the tuple.
    below
        Only clusters with fewer records than that.
    but
        A cluster that is left out.

    Returns
    -------
    int
        Its number, the lowest of several; -1 if there is none.
    """
    best, least = -1, MOST
    its = records if table.weighted else 1
    for cluster in range(len(clusters.records)):
        size = clusters.records[cluster]
        if size == 0 or size >= below or cluster == but:
            continue
        own = size if table.weighted else 1
        cost = np.int64(0)
        for j in table.order:
            node = clusters.nodes[cluster, j]
            cost += own * meeting.up_of[j, node] + its * meeting.down_of[j, node]
            if cost >= least:
                break
        if cost < least:
            best, least = cluster, cost
    return best


@kernel(seconds=1, arrays=True)
def join_some(table, clusters, meeting, queue, below, looks):
    """Let classes join the nearest cluster, in the order of a queue, for so many looks.

    Parameters
    ----------
    queue : numpy.ndarray of int64
        The classes.
    below
        As long as a cluster has fewer records than that, only such ones are joined.

    Returns
    -------
    bool
        Whether all have joined.
    """
    state = meeting.state
    while state[0] < len(queue):
        if looks <= 0:
            return False
        each = queue[state[0]]
        _meet(table, meeting, table.nodes[each])
        records = table.counts[each]
        cluster = _nearest(table, clusters, meeting, records, below, -1)
        if cluster < 0:
            cluster = _nearest(table, clusters, meeting, records, ALL, -1)
        raise_to(table, clusters.nodes[cluster], table.nodes[each])
        clusters.records[cluster] += records
        clusters.of[each] = cluster
        state[0] += 1
        looks -= len(clusters.records)
    return True


@kernel(seconds=1, arrays=True)
def merge_small_some(table, clusters, meeting, into, looks):
    """Merge every cluster below k with the nearest other, in their order, for so many looks.

    Parameters
    ----------
    into : numpy.ndarray, shape (K,), int64
        Set per cluster to the one that it was merged into; left alone for all others.

    Returns
    -------
    bool
        Whether all hold k records.
    """
    state = meeting.state
    while state[0] < len(clusters.records):
        if looks <= 0:
            return False
        small = state[0]
        state[0] += 1
        records = clusters.records[small]
        if records == 0 or records >= table.k:
            continue
        _meet(table, meeting, clusters.nodes[small])
        cluster = _nearest(table, clusters, meeting, records, ALL, small)
        if cluster < 0:
            continue
        raise_to(table, clusters.nodes[cluster], clusters.nodes[small])
        clusters.records[cluster] += records
        clusters.records[small] = 0
        into[small] = cluster
        looks -= len(clusters.records)
    return True
