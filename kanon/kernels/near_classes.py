"""NearClusters of near classes: each takes what raises it least, without walking a lattice."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop

LEFT, SEED, CLUSTERS, WORK = range(4)
"""The places in ``NearClusters.state``: how many classes are in no cluster yet, the next seed to
look at, how many clusters there are, how many pairs of classes were compared."""

NONE = 2**62  # more than any loss


class NearClusters(NamedTuple):
    seeds: np.ndarray  # classes in the order in which they begin clusters
    waiting: np.ndarray  # those in no cluster yet, in any order; the first ``state[LEFT]``
    place: np.ndarray  # (E,): per class its place in ``waiting``
    of: np.ndarray  # (E,): per class its cluster; -1 for none
    columns: np.ndarray  # the quasi-identifiers, those that cost most first
    raised: np.ndarray  # (m, L): what the seed becomes at every level
    lost: np.ndarray  # (m, L): what that costs a record
    levels: np.ndarray  # (m,): the levels at which the cluster is one
    near: np.ndarray  # the classes nearest to the seed
    costs: np.ndarray  # what meeting the seed costs each of them
    state: np.ndarray  # see :data:`LEFT`


@loop
def _open_cluster(lattice, left, clusters, seed):
    for j in range(lattice.levels.shape[0]):
        node, start = lattice.nodes[seed, j], lattice.start[j]
        own = left[start + node]
        for level in range(lattice.levels[j]):
            place = start + level * lattice.width[j] + node
            clusters.raised[j, level] = lattice.raised[place]
            clusters.lost[j, level] = own - left[place]
        clusters.levels[j] = 0


@loop
def _find_meeting_level(lattice, clusters, j, node):
    """The lowest level at which the cluster and a node are one."""
    level, width = clusters.levels[j], lattice.width[j]
    place = lattice.start[j] + level * width + node
    while lattice.raised[place] != clusters.raised[j, level]:
        level += 1
        place += width
    return level


@loop
def _compute_cost(lattice, clusters, c, limit):
    """What the seed loses where the cluster takes a class too, or at least ``limit``."""
    cost = 0
    for place in range(clusters.columns.shape[0]):
        j = clusters.columns[place]
        cost += clusters.lost[j, _find_meeting_level(lattice, clusters, j, lattice.nodes[c, j])]
        if cost >= limit:
            break
    return cost


@loop
def _list_nearest(lattice, clusters):
    """Fill ``near`` with the waiting classes nearest to the seed; how many."""
    near, costs, n_found = clusters.near, clusters.costs, 0
    limit = NONE
    for i in range(clusters.state[LEFT]):
        c = clusters.waiting[i]
        cost = _compute_cost(lattice, clusters, c, limit)
        if cost < limit:
            place = min(n_found, near.shape[0] - 1)
            while place > 0 and costs[place - 1] > cost:
                costs[place] = costs[place - 1]
                near[place] = near[place - 1]
                place -= 1
            costs[place] = cost
            near[place] = c
            n_found = min(n_found + 1, near.shape[0])
            if n_found == near.shape[0]:
                limit = costs[n_found - 1]
    return n_found


@loop
def _take_class(clusters, c):
    clusters.of[c] = clusters.state[CLUSTERS]
    clusters.state[LEFT] -= 1
    last = clusters.waiting[clusters.state[LEFT]]
    clusters.waiting[clusters.place[c]] = last
    clusters.place[last] = clusters.place[c]


@kernel(seconds=1)
def fill_distances(lattice, left, clusters, distances, begins, ends):
    """Fill in what meeting the last of the ``near`` of the waiting classes costs each class."""
    for place in range(begins, ends):
        _open_cluster(lattice, left, clusters, clusters.seeds[place])
        n_found = _list_nearest(lattice, clusters)
        distances[clusters.seeds[place]] = clusters.costs[n_found - 1]


@kernel(seconds=1)
def cluster_some(lattice, left, clusters, waiting_records, k, most):
    """Form clusters of at least k records; whether fewer than k records wait.

    The classes nearest to the seed are listed once; of these the cluster takes the one that raises
    it least, again and again.
    """
    state, ends = clusters.state, clusters.state[WORK] + most
    while waiting_records[0] >= k and state[SEED] < clusters.seeds.shape[0]:
        if state[WORK] > ends:
            return False
        seed = clusters.seeds[state[SEED]]
        state[SEED] += 1
        if clusters.of[seed] >= 0:
            continue
        _open_cluster(lattice, left, clusters, seed)
        _take_class(clusters, seed)
        records, n_near = lattice.counts[seed], 0
        if records < k:
            n_near = _list_nearest(lattice, clusters)
            state[WORK] += state[LEFT]
        while records < k:
            best, least = -1, NONE
            for i in range(n_near):
                if clusters.of[clusters.near[i]] < 0:
                    cost = _compute_cost(lattice, clusters, clusters.near[i], least)
                    if cost < least:
                        best, least = clusters.near[i], cost
            for j in range(lattice.levels.shape[0]):
                clusters.levels[j] = _find_meeting_level(
                    lattice, clusters, j, lattice.nodes[best, j]
                )
            _take_class(clusters, best)
            records += lattice.counts[best]
        waiting_records[0] -= records
        state[CLUSTERS] += 1
    return True
