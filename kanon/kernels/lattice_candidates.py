"""A walk along some nodes of a lattice of any size: group the records that remain at each."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX
from kanon.kernels.lattice_sweep_groups import empty_table, find_group

REMAINING, RECORDS, NEXT, STEPS, GROUPED = range(5)
"""The places in ``CandidateWalk.state``, as those of ``SweepWalk``."""


class CandidateWalk(NamedTuple):
    levels: np.ndarray  # (C, m): the nodes in the order in which they are visited
    # per place of ``LatticeArrays.raised`` a random number of the node there
    marks: np.ndarray
    live: np.ndarray  # the classes that remain, rising; the first ``state[REMAINING]``
    sums: np.ndarray  # (E,): per remaining class the sum of its marks at a node
    records: np.ndarray  # room for records by hash
    grouped: np.ndarray  # those grouped at the last node; the first ``state[GROUPED]``
    group_of: np.ndarray  # (E,): per class the group that it was released in; -1 if it remains
    at: np.ndarray  # (E,): per class the place of the node that it was released at
    state: np.ndarray


@loop
def _select_large(lattice, walk, table, levels, k):
    """Keep in ``grouped`` the classes that may be in a group of k records, by hashes."""
    size, m = walk.state[REMAINING], lattice.levels.shape[0]
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(1 << bits):
        walk.records[i] = 0
    most = 0
    for i in range(size):
        c, total = walk.live[i], np.int64(0)
        for j in range(m):
            total += walk.marks[
                lattice.start[j] + levels[j] * lattice.width[j] + lattice.nodes[c, j]
            ]
        walk.sums[i] = total
        mixed = np.uint64(total)
        place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> shift)
        table.keys[i] = place
        walk.records[place] += lattice.counts[c]
        most = max(most, walk.records[place])
    n_left = 0
    if most >= k:
        for i in range(size):
            if walk.records[table.keys[i]] >= k:
                walk.grouped[n_left] = walk.live[i]
                walk.sums[n_left] = walk.sums[i]
                n_left += 1
    walk.state[GROUPED] = n_left


@kernel(seconds=1)
def find_large_candidates(lattice, walk, table, k, most):
    """Visit nodes until a group of what remains reaches k; returns the number of groups there.

    0 after grouping about ``most`` classes; -1 at the end: all nodes were visited, or fewer than k
    records remain. ``table`` holds the groups.
    """
    state, work = walk.state, 0
    while state[RECORDS] >= k and state[NEXT] < walk.levels.shape[0]:
        if work > most:
            return 0
        _select_large(lattice, walk, table, walk.levels[state[NEXT]], k)
        state[NEXT] += 1
        work += state[REMAINING]
        shift, mask = empty_table(table, state[GROUPED])
        groups, is_large = 0, False
        for i in range(state[GROUPED]):
            group = find_group(table, walk.sums[i], shift, mask, groups)
            if group == groups:
                table.size[group] = 0
                groups += 1
            table.size[group] += lattice.counts[walk.grouped[i]]
            table.of[i] = group
            is_large = is_large or table.size[group] >= k
        if is_large:
            return groups
    return -1


@kernel(seconds=1)
def release_candidates(lattice, walk, table, groups, k):
    """Release the groups of the last node that reach k."""
    state = walk.state
    for group in range(groups):
        table.keys[group] = -1
        if table.size[group] >= k:
            table.keys[group] = state[STEPS]
            state[STEPS] += 1
    for i in range(state[GROUPED]):
        c = walk.grouped[i]
        walk.group_of[c] = table.keys[table.of[i]]
        if walk.group_of[c] >= 0:
            walk.at[c] = state[NEXT] - 1
            state[RECORDS] -= lattice.counts[c]
    n_left = 0
    for i in range(state[REMAINING]):
        walk.live[n_left] = walk.live[i]
        n_left += walk.group_of[walk.live[i]] < 0
    state[REMAINING] = n_left


@kernel(seconds=1)
def walk_some_candidates(lattice, walk, table, k, most):
    """Visit further nodes and release every group that reaches k; whether the walk has ended."""
    work = 0
    while work <= most:
        before, remaining = walk.state[NEXT], walk.state[REMAINING]
        groups = find_large_candidates(lattice, walk, table, k, most - work)
        if groups < 0:
            return True
        if groups > 0:
            release_candidates(lattice, walk, table, groups, k)
        work += (walk.state[NEXT] - before) * remaining
    return False
