"""Grow clusters one after the other."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.clusters import MOST, meet_all
from kanon.kernels.compilation import kernel, loop_with_arrays
from kanon.kernels.digits import compare

LIVE, TAKEN, CLUSTERS, LEFT, START = range(5)  # the places in ``Unclustered.state``


class Unclustered(NamedTuple):
    values: np.ndarray  # int32 (m, E): their tuples, in canonical order
    number: np.ndarray  # (E,): which class each is
    records: np.ndarray  # (E,): its number of records, 0 once it is taken
    up: np.ndarray  # (E,): what raising the cluster to where they meet costs per record
    down: np.ndarray  # (E,): what raising the class costs per record
    apart: np.ndarray  # (E,): a record's distance to one of the class the cluster began with
    up_of: np.ndarray  # (m, N): per quasi-identifier and node its part of ``up``
    down_of: np.ndarray  # (m, N): and of ``down``
    change: np.ndarray  # (2, N): by how much both change for each node
    # (5,): entries in the arrays, of those taken, clusters, records left, and the class that the
    # last cluster began with (before the first: the one that was drawn)
    state: np.ndarray


@loop_with_arrays
def _close_ranks(grown):
    state = grown.state
    if 8 * state[TAKEN] <= state[LIVE]:
        return
    kept = 0
    for place in range(state[LIVE]):
        if grown.records[place] > 0:
            for j in range(grown.values.shape[0]):
                grown.values[j, kept] = grown.values[j, place]
            grown.number[kept] = grown.number[place]
            grown.records[kept] = grown.records[place]
            grown.apart[kept] = grown.apart[place]
            kept += 1
    state[LIVE] = kept
    state[TAKEN] = 0


@loop_with_arrays
def _begin_at(table, grown, clusters, chosen):
    live = grown.state[LIVE]
    grown.up[:live] = 0
    grown.down[:live] = 0
    for j in range(table.nodes.shape[1]):
        node = table.nodes[chosen, j]
        clusters.nodes[grown.state[CLUSTERS], j] = node
        up_of, down_of = grown.up_of[j], grown.down_of[j]
        meet_all(table.parents[j], table.depths[j], table.sizes[j], node, up_of, down_of)
        values = grown.values[j]
        for place in range(live):
            grown.up[place] += up_of[values[place]]
            grown.down[place] += down_of[values[place]]
    for place in range(live):
        grown.apart[place] = grown.up[place] + grown.down[place]


@loop_with_arrays
def _compared(table, grown, centre, own, weighted, one, other):
    """The sign of the exact difference of what it costs to widen a cluster by two classes."""
    its, theirs = np.int64(1), np.int64(1)
    if weighted:
        its, theirs = grown.records[one], grown.records[other]
    return compare(
        table.digits, table.parents, centre, own, its, grown.values[:, one],
        centre, own, theirs, grown.values[:, other],
    )  # fmt: skip


@loop_with_arrays
def _furthest(table, grown):
    """The place of the class furthest from the last start; the first of several."""
    start, slack = table.nodes[grown.state[START]], table.digits.slack
    best, most = -1, np.int64(-1)
    for place in range(grown.state[LIVE]):
        apart = grown.apart[place]
        if grown.records[place] == 0 or (best >= 0 and apart <= most - slack):
            continue
        if (
            best < 0
            or apart > most + slack
            or _compared(table, grown, start, np.int64(1), False, place, best) > 0
        ):
            best, most = place, apart
    return best


@loop_with_arrays
def _cheapest(table, grown, centre, own):
    """The place of the class that the cluster is widened by at least cost; the first of several."""
    weighted, slack = table.weighted, table.digits.slack
    best, least = -1, MOST
    for place in range(grown.state[LIVE]):
        records = grown.records[place]
        if records > 0:
            cost = own * grown.up[place] + (records if weighted else 1) * grown.down[place]
            if cost < least - slack or (
                cost < least + slack
                and _compared(table, grown, centre, own, weighted, place, best) < 0
            ):
                best, least = place, cost
    return best


@loop_with_arrays
def _take(table, grown, clusters, place, grows):
    state = grown.state
    cluster = state[CLUSTERS]
    for j in range(table.nodes.shape[1]):
        before = clusters.nodes[cluster, j]
        after = lca(table.parents[j], before, grown.values[j, place])
        if after == before:
            continue
        clusters.nodes[cluster, j] = after
        if not grows:
            continue
        up_of, down_of, size = grown.up_of[j], grown.down_of[j], table.sizes[j]
        up, down = grown.change[0], grown.change[1]
        meet_all(table.parents[j], table.depths[j], size, after, up, down)
        for v in range(size):
            up_of[v], up[v] = up[v], up[v] - up_of[v]
            down_of[v], down[v] = down[v], down[v] - down_of[v]
        values = grown.values[j]
        for other in range(state[LIVE]):
            grown.up[other] += up[values[other]]
            grown.down[other] += down[values[other]]
    clusters.of[grown.number[place]] = cluster
    clusters.records[cluster] += grown.records[place]
    state[LEFT] -= grown.records[place]
    state[TAKEN] += 1
    grown.records[place] = 0


@kernel(seconds=2, arrays=True)
def grow_some(table, grown, clusters, looks):
    """Make clusters for about so many looks; whether fewer than k records are left."""
    state = grown.state
    m = table.nodes.shape[1]
    while looks > 0:
        cluster = state[CLUSTERS]
        own = clusters.records[cluster]
        if own == 0:
            if state[LEFT] < table.k:
                return True
            _close_ranks(grown)
            if cluster == 0:
                _begin_at(table, grown, clusters, state[START])
            place = _furthest(table, grown)
            state[START] = grown.number[place]
            _begin_at(table, grown, clusters, state[START])
            _take(table, grown, clusters, place, False)
            looks -= (m + 1) * state[LIVE]
        else:
            widened = own if table.weighted else np.int64(1)
            place = _cheapest(table, grown, clusters.nodes[cluster], widened)
            grows = own + grown.records[place] < table.k
            _take(table, grown, clusters, place, grows)
            looks -= 2 * state[LIVE]
        if clusters.records[cluster] >= table.k:
            state[CLUSTERS] += 1
    return False
