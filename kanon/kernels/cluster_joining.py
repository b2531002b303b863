"""Join what is nearest: classes to clusters, and small clusters to others."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.clusters import ALL, MOST, compute_meeting_costs, raise_to
from kanon.kernels.compilation import kernel, loop_with_arrays
from kanon.kernels.digits import compare


class Meeting(NamedTuple):
    """What it costs one tuple to meet any node, kept until the next tuple differs."""

    values: np.ndarray  # (m,): the tuple; -1 before the first
    up_of: np.ndarray  # (m, N): what raising node x to where it meets the tuple costs
    down_of: np.ndarray  # (m, N): what raising the tuple to there costs
    state: np.ndarray  # (1,): the loop's position


@loop_with_arrays
def _meet_tuple(table, meeting, tuple_):
    for j in range(len(tuple_)):
        if meeting.values[j] != tuple_[j]:
            meeting.values[j] = tuple_[j]
            compute_meeting_costs(
                table.parents[j], table.depths[j], table.sizes[j], tuple_[j],
                meeting.down_of[j], meeting.up_of[j],
            )  # fmt: skip


@loop_with_arrays
def _compare_joining(table, clusters, meeting, its, a, b):
    """The sign of the exact difference between widening cluster a and b by the ready tuple."""
    own, theirs = np.int64(1), np.int64(1)
    if table.weighted:
        own, theirs = clusters.records[a], clusters.records[b]
    return compare(
        table.digits, table.parents, clusters.nodes[a], own, its, meeting.values,
        clusters.nodes[b], theirs, its, meeting.values,
    )  # fmt: skip


@loop_with_arrays
def _find_nearest(table, clusters, meeting, records, below, excluded):
    """The first cheapest cluster below ``below`` records except ``excluded``; -1 if none."""
    best, least, slack = -1, MOST, table.digits.slack
    most = least  # beyond it no sum is followed
    its = records if table.weighted else np.int64(1)
    for cluster in range(len(clusters.records)):
        size = clusters.records[cluster]
        if size == 0 or size >= below or cluster == excluded:
            continue
        own = size if table.weighted else np.int64(1)
        cost = np.int64(0)
        for j in table.order:
            node = clusters.nodes[cluster, j]
            cost += own * meeting.up_of[j, node] + its * meeting.down_of[j, node]
            if cost >= most:
                break
        if cost < least - slack or (
            cost < most and _compare_joining(table, clusters, meeting, its, cluster, best) < 0
        ):
            best, least, most = cluster, cost, cost + slack
    return best


@kernel(seconds=1, arrays=True)
def join_some(table, clusters, meeting, queue, below, looks):
    """Let queued classes join the nearest cluster, first those below ``below``; whether done."""
    state = meeting.state
    while state[0] < len(queue):
        if looks <= 0:
            return False
        c = queue[state[0]]
        _meet_tuple(table, meeting, table.nodes[c])
        records = table.counts[c]
        cluster = _find_nearest(table, clusters, meeting, records, below, -1)
        if cluster < 0:
            cluster = _find_nearest(table, clusters, meeting, records, ALL, -1)
        raise_to(table, clusters.nodes[cluster], table.nodes[c])
        clusters.records[cluster] += records
        clusters.of[c] = cluster
        state[0] += 1
        looks -= len(clusters.records)
    return True


@kernel(seconds=1, arrays=True)
def merge_small_some(table, clusters, meeting, into, looks):
    """Merge clusters below k with the nearest other, noted in ``into``; whether done."""
    state = meeting.state
    while state[0] < len(clusters.records):
        if looks <= 0:
            return False
        small = state[0]
        state[0] += 1
        records = clusters.records[small]
        if records == 0 or records >= table.k:
            continue
        _meet_tuple(table, meeting, clusters.nodes[small])
        cluster = _find_nearest(table, clusters, meeting, records, ALL, small)
        if cluster < 0:
            continue
        raise_to(table, clusters.nodes[cluster], clusters.nodes[small])
        clusters.records[cluster] += records
        clusters.records[small] = 0
        into[small] = cluster
        looks -= len(clusters.records)
    return True
