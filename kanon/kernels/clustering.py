"""The compiled loops of clustering: growing clusters one by one, and joining what is nearest.

A cluster is released as its *centre*, the tuple of lowest common ancestors of its members. Widening
a cluster of centre x by a class of tuple y costs, in each quasi-identifier, D(x) - D(lca) for every
record of the cluster and D(y) - D(lca) for every record of the class: by as much the loss of the
whole cluster grows. All costs are exact sums of 64-bit integers.

Every loop stops after about so many looks at a class or cluster, so that progress can be told, and
goes on where it stopped.

Everything is in one file: Numba's cache does not notice a change in a file that another imports.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "ALL",
    "CLUSTERS",
    "LEFT",
    "Clusters",
    "Growing",
    "Meeting",
    "Table",
    "grow_some",
    "join_some",
    "merge_small_some",
    "shed_some",
]

ALL = 2**62
"""More records than any cluster has: no limit."""

LIVE, TAKEN, CLUSTERS, LEFT, START = range(5)
"""The places in ``Growing.state``."""

_MOST = np.int64(2**63 - 1)

_loop = njit(cache=True, nogil=True)
"""What every loop is compiled with."""


class Table(NamedTuple):
    """What is clustered.

    Attributes
    ----------
    nodes : numpy.ndarray, shape (E, m), int32
        The tuples of the classes.
    counts : numpy.ndarray, shape (E,), int64
        Their numbers of records.
    parents, depths : numpy.ndarray, shape (m, N)
        Per quasi-identifier the parent (-1 for roots) and scaled potential of each node, in arrays
        as wide as the largest hierarchy.
    sizes : numpy.ndarray, shape (m,), int64
        The number of nodes of each hierarchy.
    order : numpy.ndarray, shape (m,), int64
        The quasi-identifiers in the order in which costs are added up; it changes the speed alone.
    k
        The number of records that every cluster has to hold.
    weighted
        Whether a cost counts every record, or one for the cluster and one for the class.
    """

    nodes: np.ndarray
    counts: np.ndarray
    parents: np.ndarray
    depths: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    k: int
    weighted: bool


class Clusters(NamedTuple):
    """The clusters so far.

    Attributes
    ----------
    nodes : numpy.ndarray, shape (K, m), int32
        Their centres.
    records : numpy.ndarray, shape (K,), int64
        How many records each holds; 0 for one that was merged into another.
    of : numpy.ndarray, shape (E,), int64
        Per class its cluster; -1 if it has none.
    """

    nodes: np.ndarray
    records: np.ndarray
    of: np.ndarray


class Growing(NamedTuple):
    """The classes that have no cluster yet, beside the cluster that grows.

    Attributes
    ----------
    values : numpy.ndarray, shape (m, E), int32
        Their tuples, in canonical order, one row per quasi-identifier.
    number, records : numpy.ndarray, shape (E,), int64
        Which class each is, and its number of records: 0 once it is taken.
    up, down : numpy.ndarray, shape (E,), int64
        What it costs per record to raise the cluster, and to raise the class, to where they meet.
    apart : numpy.ndarray, shape (E,), int64
        The distance of a record to one of the class that the cluster was begun with.
    up_of, down_of : numpy.ndarray, shape (m, N), int64
        Per quasi-identifier and node the part of it in ``up`` and ``down``.
    change : numpy.ndarray, shape (2, N), int64
        By how much both change for each node.
    state : numpy.ndarray, shape (5,), int64
        How many stand in the arrays, how many of those are taken, the number of clusters, the
        records left, and the class that the last cluster was begun with (before the first: the
        one that was drawn).
    """

    values: np.ndarray
    number: np.ndarray
    records: np.ndarray
    up: np.ndarray
    down: np.ndarray
    apart: np.ndarray
    up_of: np.ndarray
    down_of: np.ndarray
    change: np.ndarray
    state: np.ndarray


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


@_loop
def _lca(parent, one, other):
    """The lowest common ancestor; parents have larger numbers than their children."""
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@_loop
def _meet_all(parent, depth, size, node, own, its):
    """Per node v of a hierarchy what raising ``node``, and v, to where they meet costs."""
    for v in range(size):
        met = depth[_lca(parent, node, v)]
        own[v] = depth[node] - met
        its[v] = depth[v] - met


# One cluster after the other


@_loop
def _close_ranks(grown):
    """Drop the classes that are taken, without changing the order of the others."""
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


@_loop
def _begin_at(table, grown, clusters, chosen):
    """What meeting a class costs all others; it becomes the centre of a cluster."""
    live = grown.state[LIVE]
    grown.up[:live] = 0
    grown.down[:live] = 0
    for j in range(table.nodes.shape[1]):
        node = table.nodes[chosen, j]
        clusters.nodes[grown.state[CLUSTERS], j] = node
        up_of, down_of = grown.up_of[j], grown.down_of[j]
        _meet_all(table.parents[j], table.depths[j], table.sizes[j], node, up_of, down_of)
        values = grown.values[j]
        for place in range(live):
            grown.up[place] += up_of[values[place]]
            grown.down[place] += down_of[values[place]]
    for place in range(live):
        grown.apart[place] = grown.up[place] + grown.down[place]


@_loop
def _furthest(grown):
    """The place of the class furthest from the last start; the first of several."""
    best, most = -1, -1
    for place in range(grown.state[LIVE]):
        if grown.apart[place] > most and grown.records[place] > 0:
            best, most = place, grown.apart[place]
    return best


@_loop
def _cheapest(grown, own, weighted):
    """The place of the class that the cluster is widened by at least cost; the first of several."""
    best, least = -1, _MOST
    for place in range(grown.state[LIVE]):
        records = grown.records[place]
        if records > 0:
            cost = own * grown.up[place] + (records if weighted else 1) * grown.down[place]
            if cost < least:
                best, least = place, cost
    return best


@_loop
def _take(table, grown, clusters, place, grows):
    """Move a class into the cluster; if it grows on, what it costs to widen it is kept true."""
    state = grown.state
    cluster = state[CLUSTERS]
    for j in range(table.nodes.shape[1]):
        before = clusters.nodes[cluster, j]
        after = _lca(table.parents[j], before, grown.values[j, place])
        if after == before:
            continue
        clusters.nodes[cluster, j] = after
        if not grows:
            continue
        up_of, down_of, size = grown.up_of[j], grown.down_of[j], table.sizes[j]
        up, down = grown.change[0], grown.change[1]
        _meet_all(table.parents[j], table.depths[j], size, after, up, down)
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


@_loop
def grow_some(table, grown, clusters, looks):
    """Make clusters one by one, until fewer than k records are left, or for so many looks.

    The first cluster is begun with the class furthest from the one that was drawn, each other
    with the class furthest from the start of the last; as long as it has fewer than k records, it
    takes the class by which its loss grows least.

    Returns
    -------
    bool
        Whether fewer than k records are left.
    """
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
            place = _furthest(grown)
            state[START] = grown.number[place]
            _begin_at(table, grown, clusters, state[START])
            _take(table, grown, clusters, place, False)
            looks -= (m + 1) * state[LIVE]
        else:
            place = _cheapest(grown, own if table.weighted else 1, table.weighted)
            grows = own + grown.records[place] < table.k
            _take(table, grown, clusters, place, grows)
            looks -= 2 * state[LIVE]
        if clusters.records[cluster] >= table.k:
            state[CLUSTERS] += 1
    return False


# Joining what is nearest


@_loop
def _raise(table, tuple_, other):
    """Raise a tuple, in place, to where it meets another."""
    for j in range(len(tuple_)):
        tuple_[j] = _lca(table.parents[j], tuple_[j], other[j])


@_loop
def _meet(table, meeting, tuple_):
    """Make the costs of meeting a tuple ready; where it is the last one again, they are."""
    for j in range(len(tuple_)):
        if meeting.values[j] != tuple_[j]:
            meeting.values[j] = tuple_[j]
            _meet_all(
                table.parents[j], table.depths[j], table.sizes[j], tuple_[j],
                meeting.down_of[j], meeting.up_of[j],
            )  # fmt: skip


@_loop
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
    best, least = -1, _MOST
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


@_loop
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
        _raise(table, clusters.nodes[cluster], table.nodes[each])
        clusters.records[cluster] += records
        clusters.of[each] = cluster
        state[0] += 1
        looks -= len(clusters.records)
    return True


@_loop
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
        _raise(table, clusters.nodes[cluster], clusters.nodes[small])
        clusters.records[cluster] += records
        clusters.records[small] = 0
        into[small] = cluster
        looks -= len(clusters.records)
    return True


@_loop
def _widening(table, centre, own, tuple_, its):
    """What it costs to widen a cluster by a class."""
    cost = np.int64(0)
    for j in range(len(tuple_)):
        met = table.depths[j, _lca(table.parents[j], centre[j], tuple_[j])]
        cost += own * (table.depths[j, centre[j]] - met)
        cost += its * (table.depths[j, tuple_[j]] - met)
    return cost


@_loop
def _apart(table, mine, records):
    """Per member of a cluster, two at least, what it costs to widen all others by it.

    Parameters
    ----------
    mine : numpy.ndarray of int64
        The members.
    records
        How many records they have.
    """
    size, m = len(mine), table.nodes.shape[1]
    before = np.empty((size, m), dtype=np.int32)  # the centre of the members up to each
    before[0] = table.nodes[mine[0]]
    for i in range(1, size):
        before[i] = before[i - 1]
        _raise(table, before[i], table.nodes[mine[i]])
    after = table.nodes[mine[size - 1]].copy()  # the centre of the members after each
    others = np.empty(m, dtype=np.int32)
    apart = np.empty(size, dtype=np.int64)
    for i in range(size - 1, -1, -1):
        others[:] = before[i - 1] if i > 0 else after
        if 0 < i < size - 1:
            _raise(table, others, after)
        own = its = np.int64(1)
        if table.weighted:
            its = table.counts[mine[i]]
            own = records - its
        apart[i] = _widening(table, others, own, table.nodes[mine[i]], its)
        _raise(table, after, table.nodes[mine[i]])
    return apart


@_loop
def shed_some(table, clusters, members, start, state, looks):
    """Let clusters above k lose the members furthest from the others, for so many looks.

    From the furthest to the nearest, the first of several at the same distance sooner, each member
    leaves without which k records are left.

    Parameters
    ----------
    members : numpy.ndarray, shape (E,), int64
        The classes, by cluster and then in canonical order.
    start : numpy.ndarray, shape (K + 1,), int64
        Where the members of each cluster begin.
    state : numpy.ndarray, shape (1,), int64
        How many clusters are done.

    Returns
    -------
    bool
        Whether all are.
    """
    while state[0] < len(clusters.records):
        if looks <= 0:
            return False
        cluster = state[0]
        state[0] += 1
        mine = members[start[cluster] : start[cluster + 1]]
        if clusters.records[cluster] <= table.k or len(mine) < 2:
            continue
        looks -= 8 * len(mine)
        apart = _apart(table, mine, clusters.records[cluster])
        for i in np.argsort(-apart, kind="mergesort"):
            records = table.counts[mine[i]]
            if clusters.records[cluster] - records >= table.k:
                clusters.records[cluster] -= records
                clusters.of[mine[i]] = -1
        stays = mine[clusters.of[mine] == cluster]
        clusters.nodes[cluster] = table.nodes[stays[0]]
        for each in stays[1:]:
            _raise(table, clusters.nodes[cluster], table.nodes[each])
    return True
