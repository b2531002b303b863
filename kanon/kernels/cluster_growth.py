"""Grow clusters one after the other."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.clusters import MOST, compute_meeting_costs
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
def _close_ranks(pool):
    state = pool.state
    if 8 * state[TAKEN] <= state[LIVE]:
        return
    n_kept = 0
    for place in range(state[LIVE]):
        if pool.records[place] > 0:
            for j in range(pool.values.shape[0]):
                pool.values[j, n_kept] = pool.values[j, place]
            pool.number[n_kept] = pool.number[place]
            pool.records[n_kept] = pool.records[place]
            pool.apart[n_kept] = pool.apart[place]
            n_kept += 1
    state[LIVE] = n_kept
    state[TAKEN] = 0


@loop_with_arrays
def _begin_at(table, pool, clusters, c):
    live = pool.state[LIVE]
    pool.up[:live] = 0
    pool.down[:live] = 0
    for j in range(table.nodes.shape[1]):
        node = table.nodes[c, j]
        clusters.nodes[pool.state[CLUSTERS], j] = node
        up_of, down_of = pool.up_of[j], pool.down_of[j]
        compute_meeting_costs(
            table.parents[j], table.depths[j], table.sizes[j], node, up_of, down_of
        )
        values = pool.values[j]
        for place in range(live):
            pool.up[place] += up_of[values[place]]
            pool.down[place] += down_of[values[place]]
    for place in range(live):
        pool.apart[place] = pool.up[place] + pool.down[place]


@loop_with_arrays
def _compare_widening(table, pool, centre, own, weighted, a, b):
    """The sign of the exact difference between widening a cluster by class a and by b."""
    its, theirs = np.int64(1), np.int64(1)
    if weighted:
        its, theirs = pool.records[a], pool.records[b]
    return compare(
        table.digits, table.parents, centre, own, its, pool.values[:, a],
        centre, own, theirs, pool.values[:, b],
    )  # fmt: skip


@loop_with_arrays
def _find_furthest(table, pool):
    """The first place of a class furthest from the last start."""
    start, slack = table.nodes[pool.state[START]], table.digits.slack
    best, most = -1, np.int64(-1)
    for place in range(pool.state[LIVE]):
        apart = pool.apart[place]
        if pool.records[place] == 0 or (best >= 0 and apart <= most - slack):
            continue
        if (
            best < 0
            or apart > most + slack
            or _compare_widening(table, pool, start, np.int64(1), False, place, best) > 0
        ):
            best, most = place, apart
    return best


@loop_with_arrays
def _find_cheapest(table, pool, centre, own):
    """The first place of a class that widens the cluster at least cost."""
    weighted, slack = table.weighted, table.digits.slack
    best, least = -1, MOST
    for place in range(pool.state[LIVE]):
        records = pool.records[place]
        if records > 0:
            cost = own * pool.up[place] + (records if weighted else 1) * pool.down[place]
            if cost < least - slack or (
                cost < least + slack
                and _compare_widening(table, pool, centre, own, weighted, place, best) < 0
            ):
                best, least = place, cost
    return best


@loop_with_arrays
def _take_class(table, pool, clusters, place, grows):
    state = pool.state
    cluster = state[CLUSTERS]
    for j in range(table.nodes.shape[1]):
        before = clusters.nodes[cluster, j]
        after = lca(table.parents[j], before, pool.values[j, place])
        if after == before:
            continue
        clusters.nodes[cluster, j] = after
        if not grows:
            continue
        up_of, down_of, size = pool.up_of[j], pool.down_of[j], table.sizes[j]
        up, down = pool.change[0], pool.change[1]
        compute_meeting_costs(table.parents[j], table.depths[j], size, after, up, down)
        for v in range(size):
            up_of[v], up[v] = up[v], up[v] - up_of[v]
            down_of[v], down[v] = down[v], down[v] - down_of[v]
        values = pool.values[j]
        for other in range(state[LIVE]):
            pool.up[other] += up[values[other]]
            pool.down[other] += down[values[other]]
    clusters.of[pool.number[place]] = cluster
    clusters.records[cluster] += pool.records[place]
    state[LEFT] -= pool.records[place]
    state[TAKEN] += 1
    pool.records[place] = 0


@kernel(seconds=2, arrays=True)
def build_some_clusters(table, pool, clusters, looks):
    """Build clusters for about ``looks`` looks; whether fewer than k records are left."""
    state = pool.state
    m = table.nodes.shape[1]
    while looks > 0:
        cluster = state[CLUSTERS]
        own = clusters.records[cluster]
        if own == 0:
            if state[LEFT] < table.k:
                return True
            _close_ranks(pool)
            if cluster == 0:
                _begin_at(table, pool, clusters, state[START])
            place = _find_furthest(table, pool)
            state[START] = pool.number[place]
            _begin_at(table, pool, clusters, state[START])
            _take_class(table, pool, clusters, place, False)
            looks -= (m + 1) * state[LIVE]
        else:
            widened = own if table.weighted else np.int64(1)
            place = _find_cheapest(table, pool, clusters.nodes[cluster], widened)
            grows = own + pool.records[place] < table.k
            _take_class(table, pool, clusters, place, grows)
            looks -= 2 * state[LIVE]
        if clusters.records[cluster] >= table.k:
            state[CLUSTERS] += 1
    return False
