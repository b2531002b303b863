"""The compiled loop of MDAV: the record farthest from the middle and its nearest are a group.

Values are whole numbers, so sums and differences are exact: two records that are equally far from a
third, by the same differences, tie to the bit.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop

NOWHERE = -1  # the group of a class that is in none yet

LIVE, RECORDS, GROUPS = range(3)
"""The places in ``MdavRun.state``: classes and records in no group, and groups."""


class MdavRun(NamedTuple):
    values: np.ndarray  # (E, m): per class and quasi-identifier its value, from 0
    weights: np.ndarray  # (m,): 1 / variance, by which squared differences are multiplied
    counts: np.ndarray  # (E,): the records of each class
    live: np.ndarray  # (E,): the classes in no group, rising, in the first places
    sums: np.ndarray  # (m,): the sums of the values of all records in no group
    group: np.ndarray  # (E,): per class its group; :data:`NOWHERE` if none
    group_sums: np.ndarray  # (E, m): per group the sums of its values
    group_counts: np.ndarray  # (E,): per group its records
    # (E,): room for a heap of classes by distance
    distance: np.ndarray
    nearest: np.ndarray
    state: np.ndarray


@kernel(seconds=2)
def group_some(run, k, work):
    """Build groups until about ``work`` distances were computed; whether all classes have one."""
    state = run.state
    while state[RECORDS] > 0 and work > 0:
        work -= 3 * state[LIVE]
        if state[RECORDS] >= 3 * k:
            last = _group_around(run, k, _find_farthest_from_mean(run))
            # The second group would leave too few records if the first took very many.
            if last >= 0 and run.group[last] == NOWHERE and state[RECORDS] >= 2 * k:
                _group_around(run, k, last)
        elif state[RECORDS] >= 2 * k:
            _group_around(run, k, _find_farthest_from_mean(run))
        elif state[RECORDS] >= k:
            for i in range(state[LIVE]):
                _join_group(run, run.live[i], state[GROUPS])
            state[GROUPS] += 1
            _drop_members(run)
        else:
            _spread_rest(run)
    return state[RECORDS] == 0


@loop
def _find_farthest_from_mean(run):
    """The first class farthest from the mean of all records without a group."""
    records, best, farthest = run.state[RECORDS], -1.0, np.int64(-1)
    for i in range(run.state[LIVE]):
        c = run.live[i]
        far = 0.0
        for j in range(len(run.weights)):
            part = float(records * run.values[c, j] - run.sums[j])
            far += part * part * run.weights[j]
        if far > best:
            best, farthest = far, c
    return farthest


@loop
def _group_around(run, k, centre):
    """Group a class with its nearest up to k records; returns the farthest class, or -1."""
    need = k - run.counts[centre]
    held, size = 0, 0
    best, farthest = -1.0, np.int64(-1)
    for i in range(run.state[LIVE]):
        c = run.live[i]
        if c == centre:
            continue
        far = 0.0
        for j in range(len(run.weights)):
            part = float(run.values[c, j] - run.values[centre, j])
            far += part * part * run.weights[j]
        if far > best:
            best, farthest = far, c
        # The heap holds the nearest so far, its top the farthest of them. Classes come in rising
        # order, so one that is as far as the top comes after it.
        if held < need or (size > 0 and far < run.distance[0]):
            size = _push_class(run.distance, run.nearest, size, far, c)
            held += run.counts[c]
            while held - run.counts[run.nearest[0]] >= need:
                held -= run.counts[run.nearest[0]]
                size = _pop_top(run.distance, run.nearest, size)
    group = run.state[GROUPS]
    _join_group(run, centre, group)
    for spot in range(size):
        _join_group(run, run.nearest[spot], group)
    run.state[GROUPS] += 1
    _drop_members(run)
    return farthest


@loop
def _join_group(run, c, group):
    run.group[c] = group
    run.group_counts[group] += run.counts[c]
    for j in range(len(run.weights)):
        run.group_sums[group, j] += run.counts[c] * run.values[c, j]


@loop
def _drop_members(run):
    n_kept = 0
    for i in range(run.state[LIVE]):
        c = run.live[i]
        if run.group[c] == NOWHERE:
            run.live[n_kept] = c
            n_kept += 1
        else:
            run.state[RECORDS] -= run.counts[c]
            for j in range(len(run.weights)):
                run.sums[j] -= run.counts[c] * run.values[c, j]
    run.state[LIVE] = n_kept


@loop
def _spread_rest(run):
    """Put every class that is left into the group with the nearest mean, as it was."""
    groups = run.state[GROUPS]
    chosen = run.nearest
    for i in range(run.state[LIVE]):
        c = run.live[i]
        best = np.inf
        for g in range(groups):
            far = 0.0
            for j in range(len(run.weights)):
                records = run.group_counts[g]
                part = float(records * run.values[c, j] - run.group_sums[g, j]) / float(records)
                far += part * part * run.weights[j]
            if far < best:
                best, chosen[i] = far, g
    for i in range(run.state[LIVE]):
        _join_group(run, run.live[i], chosen[i])
    _drop_members(run)


@loop
def _is_later(distance, nearest, a, b):
    return distance[a] > distance[b] or (distance[a] == distance[b] and nearest[a] > nearest[b])


@loop
def _swap_entries(distance, nearest, a, b):
    distance[a], distance[b] = distance[b], distance[a]
    nearest[a], nearest[b] = nearest[b], nearest[a]


@loop
def _push_class(distance, nearest, size, far, c):
    distance[size], nearest[size] = far, c
    spot = size
    while spot > 0 and _is_later(distance, nearest, spot, (spot - 1) // 2):
        _swap_entries(distance, nearest, spot, (spot - 1) // 2)
        spot = (spot - 1) // 2
    return size + 1


@loop
def _pop_top(distance, nearest, size):
    size -= 1
    _swap_entries(distance, nearest, 0, size)
    spot = 0
    while True:
        child = 2 * spot + 1
        if child >= size:
            return size
        if child + 1 < size and _is_later(distance, nearest, child + 1, child):
            child += 1
        if not _is_later(distance, nearest, child, spot):
            return size
        _swap_entries(distance, nearest, spot, child)
        spot = child
