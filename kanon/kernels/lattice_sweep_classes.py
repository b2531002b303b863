"""Released classes that are made better: their tuples, and what sharing a class costs."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import kernel, loop

PLACE, WORK, CHANGES, ALIVE, TOP = range(5)
"""The places in ``ReleasedClasses.state``: where to go on in what is to be done, how much was done
in all, how many changes were made, how many classes there are, from which number on none was ever
used."""


class Trees(NamedTuple):
    """The hierarchies in arrays (m, N), as wide as the largest."""

    parents: np.ndarray  # -1 for roots
    levels: np.ndarray
    depths: np.ndarray  # each node's potential


class ReleasedClasses(NamedTuple):
    """Which tuples share a released class. Numbers of released classes are used again."""

    own: np.ndarray  # (E,): per tuple its potential
    following: np.ndarray  # (E,): per tuple another one of its class; -1 for the last
    head: np.ndarray  # (E,): per released class its first tuple; -1 for an unused number
    size: np.ndarray  # per released class its records
    loss: np.ndarray  # per released class its loss
    nodes: np.ndarray  # (E, m): the lowest common ancestors of its tuples
    state: np.ndarray  # see :data:`PLACE`


class Pool(NamedTuple):
    members: np.ndarray
    spare: np.ndarray  # room for as many again
    chosen: np.ndarray  # which members are in the group that is looked at
    best: np.ndarray  # which members are in the best group so far
    above: np.ndarray  # rows of one number per quasi-identifier
    ends: np.ndarray  # (2, E + 2, 2): where finished parts, and those to split, begin and end
    near: np.ndarray  # the nearest classes of one class
    costs: np.ndarray  # what merging it with them costs
    undone: np.ndarray  # per moved tuple its new class's number, loss and tuple before that


@loop
def add_members(shared, pool, c, size):
    """Add the tuples of a released class to the pool; returns its new size."""
    member = shared.head[c]
    while member >= 0:
        pool.members[size] = member
        size += 1
        member = shared.following[member]
    return size


@loop
def sort_members(members, size):
    """Sort the first numbers (Shell's method: they are few, or some rising rows)."""
    gap = size // 2
    while gap > 0:
        for i in range(gap, size):
            member, place = members[i], i
            while place >= gap and members[place - gap] > member:
                members[place] = members[place - gap]
                place -= gap
            members[place] = member
        gap //= 2


@loop
def merge_cost(trees, low, records, shared, other, limit):
    """What raising a tuple and a released class to their meeting costs, or at least ``limit``."""
    cost = 0
    for j in range(low.shape[0]):
        v, w = low[j], shared.nodes[other, j]
        if v != w:
            both = trees.depths[j, lca(trees.parents[j], v, w)]
            cost += (trees.depths[j, v] - both) * records
            cost += (trees.depths[j, w] - both) * shared.size[other]
            if cost >= limit:
                break
    return cost


@loop
def find_common_nodes(lattice, trees, pool, begins, ends, flag, row):
    m, first, potential = lattice.levels.shape[0], True, 0
    above = pool.above[row]
    for i in range(begins, ends):
        if pool.chosen[i] == flag:
            for j in range(m):
                node = lattice.nodes[pool.members[i], j]
                if first:
                    above[j] = node
                elif above[j] != node:
                    above[j] = lca(trees.parents[j], node, above[j])
            first = False
    for j in range(m):
        potential += trees.depths[j, above[j]]
    return potential


@loop
def set_class(lattice, trees, shared, pool, c, begins, ends):
    total = 0
    shared.head[c] = -1
    shared.size[c] = 0
    for i in range(begins, ends):
        member = pool.members[i]
        shared.following[member] = shared.head[c]
        shared.head[c] = member
        shared.size[c] += lattice.counts[member]
        total += lattice.counts[member] * shared.own[member]
        pool.chosen[i] = 0
    potential = find_common_nodes(lattice, trees, pool, begins, ends, 0, 0)
    shared.loss[c] = total - shared.size[c] * potential
    for j in range(lattice.levels.shape[0]):
        shared.nodes[c, j] = pool.above[0, j]


@kernel(seconds=1)
def set_all_classes(lattice, trees, shared, pool, starts):
    for c in range(starts.shape[0] - 1):
        set_class(lattice, trees, shared, pool, c, starts[c], starts[c + 1])
    shared.state[ALIVE] = starts.shape[0] - 1
    shared.state[TOP] = starts.shape[0] - 1
