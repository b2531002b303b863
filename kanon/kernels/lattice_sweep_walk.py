"""A walk along the nodes of a lattice: group the records that remain, node by node."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX
from kanon.kernels.lattice_sweep_groups import group_node, number_tuples

REMAINING, RECORDS, NEXT, STEPS, GROUPED = range(5)
"""The places in ``SweepWalk.state``: how many classes and records remain, how many nodes were
visited, how many groups were released, how many classes were grouped at the last node."""


class WalkedHalf(NamedTuple):
    tuples: np.ndarray  # (P, h): the distinct halves
    begins: int  # the first of its quasi-identifiers
    groups: np.ndarray  # per place the group of every half, as in ``Halves``
    groups_of: np.ndarray  # per place the node of the half's lattice; -1 for none
    weighed: np.ndarray  # per place how many classes remained when its groups were weighed
    live: np.ndarray  # the halves that remaining classes have, rising; the first ``size[0]``
    size: np.ndarray
    records: np.ndarray  # per half the records that remain and have it
    of: np.ndarray  # per remaining class its half, as they stand in ``SweepWalk.live``


class SweepWalk(NamedTuple):
    order: np.ndarray  # the nodes, in the order in which they are visited
    live: np.ndarray  # the classes that remain, rising; the first ``state[REMAINING]``
    first: WalkedHalf
    last: WalkedHalf
    grouped: np.ndarray  # those grouped at the last node; the first ``state[GROUPED]``
    sums: np.ndarray  # room for a hash table of all classes
    at: np.ndarray  # per class the node that it was released at; -1 as long as it remains
    state: np.ndarray  # see :data:`REMAINING`


@loop
def _weigh_half(lattice, table, half, part, k, remaining):
    """The place of a half's groups at some levels; groups below k records become -1.

    No record of theirs can be in a group of k at any node with such levels, now or later, as
    records only get fewer. So groups are weighed again only after a quarter of the classes left.
    """
    at = part % half.groups_of.shape[0]
    groups, live, size, records = half.groups[at], half.live, half.size[0], table.size
    if half.groups_of[at] != part:
        number_tuples(lattice, half.tuples, half.begins, part, live, size, table, groups)
        half.groups_of[at] = part
    elif 4 * remaining > 3 * half.weighed[at]:
        return at
    half.weighed[at] = remaining
    for i in range(size):
        records[i] = 0
    for i in range(size):
        group = groups[live[i]]
        if group >= 0:
            records[group] += half.records[live[i]]
    for i in range(size):
        group = groups[live[i]]
        if group >= 0 and records[group] < k:
            groups[live[i]] = -1
    return at


@loop
def _select_large(lattice, table, walk, k, ones, others, size):
    """Keep in ``walk.grouped`` what may be in a group of k records, by hashes; how many."""
    first_of, last_of, sums = walk.first.of, walk.last.of, walk.sums
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    shift = np.uint64(64 - bits)
    for i in range(1 << bits):
        sums[i] = 0
    most = 0
    for i in range(size):
        place = walk.grouped[i]
        first, last = np.uint64(ones[first_of[place]]), np.uint64(others[last_of[place]])
        mixed = (first << np.uint64(32)) | (first ^ last)
        key = np.int64((mixed * MIX) >> shift)
        table.keys[i] = key
        sums[key] += lattice.counts[walk.live[place]]
        most = max(most, sums[key])
    n_left = 0
    if most >= k:
        for i in range(size):
            walk.grouped[n_left] = walk.live[walk.grouped[i]]
            n_left += sums[table.keys[i]] >= k
    return n_left


@loop
def _group_remaining(lattice, halves, table, walk, k, node):
    state = walk.state
    first, last = node // lattice.parts[1], node % lattice.parts[1]
    ones = halves.ones[_weigh_half(lattice, table, walk.first, first, k, state[REMAINING])]
    others = halves.others[_weigh_half(lattice, table, walk.last, last, k, state[REMAINING])]
    first_of, last_of = walk.first.of, walk.last.of
    n_left = 0
    for i in range(state[REMAINING]):
        walk.grouped[n_left] = i
        # Without a branch, which could not be foreseen.
        n_left += (ones[first_of[i]] | others[last_of[i]]) >= 0
    state[GROUPED] = _select_large(lattice, table, walk, k, ones, others, n_left)
    return group_node(lattice, halves, table, node, walk.grouped, state[GROUPED])


@loop
def _drop_empty_halves(half):
    n_left = 0
    for i in range(half.size[0]):
        half_number = half.live[i]
        if half.records[half_number] > 0:
            half.live[n_left] = half_number
            n_left += 1
    half.size[0] = n_left


@kernel(seconds=1)
def find_large_groups(lattice, halves, table, walk, k, most):
    """Visit nodes until a group of what remains reaches k; returns the number of groups there.

    0 after grouping about ``most`` classes; -1 at the end: all nodes were visited, or fewer than k
    records remain.
    """
    state, work = walk.state, 0
    while state[RECORDS] >= k and state[REMAINING] > 0 and state[NEXT] < walk.order.shape[0]:
        if work > most:
            return 0
        node = walk.order[state[NEXT]]
        groups = _group_remaining(lattice, halves, table, walk, k, node)
        state[NEXT] += 1
        work += state[REMAINING]
        for group in range(groups):
            if table.size[group] >= k:
                return groups
    return -1


@kernel(seconds=1)
def set_released(lattice, table, walk, groups, least):
    state = walk.state
    node = walk.order[state[NEXT] - 1]
    for group in range(groups):
        state[STEPS] += table.size[group] >= least
    for i in range(state[GROUPED]):
        c = walk.grouped[i]
        if table.size[table.of[i]] >= least:
            walk.at[c] = node
            state[RECORDS] -= lattice.counts[c]
            walk.first.records[lattice.first_of[c]] -= lattice.counts[c]
            walk.last.records[lattice.last_of[c]] -= lattice.counts[c]
    n_left = 0
    for i in range(state[REMAINING]):
        c = walk.live[i]
        if walk.at[c] < 0:
            walk.live[n_left] = c
            walk.first.of[n_left] = walk.first.of[i]
            walk.last.of[n_left] = walk.last.of[i]
            n_left += 1
    state[REMAINING] = n_left
    _drop_empty_halves(walk.first)
    _drop_empty_halves(walk.last)


@kernel(seconds=2)
def walk_some(lattice, halves, table, walk, k, most):
    """Visit further nodes and release every group that reaches k; whether the walk has ended."""
    work = 0
    while work <= most:
        before = walk.state[NEXT]
        remaining = walk.state[REMAINING]
        groups = find_large_groups(lattice, halves, table, walk, k, most - work)
        if groups < 0:
            return True
        if groups > 0:
            set_released(lattice, table, walk, groups, k)
        work += (walk.state[NEXT] - before) * remaining
    return False
