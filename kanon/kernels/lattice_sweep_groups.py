"""Group classes by what a node of the lattice makes of them.

A node of the lattice is one number: its levels as digits, the first quasi-identifier the most
significant, so that numbers stand in the canonical order of levels. The quasi-identifiers are
parted into two halves, the first ones and the last ones. What a half's levels make of every class
is grouped once and kept as small numbers; a node is then grouped by pairs of two such numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX


class LatticeArrays(NamedTuple):
    """The classes of a table and the lattice of levels above them.

    Attributes
    ----------
    nodes
        Per class and quasi-identifier the node of its hierarchy, (E, m).
    counts
        The records of each class, (E,).
    raised
        Per quasi-identifier, level and node of its hierarchy the node that it is raised to, one
        after the other.
    start, width, levels
        Per quasi-identifier where its part of ``raised`` starts, the number of nodes of its
        hierarchy and its number of levels. ``raised[start + level * width + node]``.
    split
        How many quasi-identifiers are in the first half.
    parts
        The number of nodes of the lattice of each half, (2,).
    """

    nodes: np.ndarray
    counts: np.ndarray
    raised: np.ndarray
    start: np.ndarray
    width: np.ndarray
    levels: np.ndarray
    split: int
    parts: np.ndarray


class Halves(NamedTuple):
    """What each half's levels make of the classes, as far as there is room.

    Attributes
    ----------
    ones, others
        Per place the group of every class that remained when it was filled, (places, E): equal
        where the levels of the first half, or of the second, make the same of two classes.
    ones_of, others_of
        Per place the node of the half's lattice whose groups these are; -1 for none.
    """

    ones: np.ndarray
    others: np.ndarray
    ones_of: np.ndarray
    others_of: np.ndarray


class GroupTable(NamedTuple):
    """Room for a hash table from pairs of numbers to groups, and for the groups.

    Attributes
    ----------
    key, group, stamp
        Per place of the table what stands there, its group, and whether it stands there now:
        only what has the present ``clock`` does.
    clock
        One number: how many times the table was emptied.
    of
        Per class, in the order in which they were grouped, its group.
    size
        Per group its number of records.
    keys
        Room for one number per class.
    """

    key: np.ndarray
    group: np.ndarray
    stamp: np.ndarray
    clock: np.ndarray
    of: np.ndarray
    size: np.ndarray
    keys: np.ndarray


@loop
def _emptied(table, entries):
    """Empty the table for so many entries; how far a hash is shifted to give a place in it."""
    table.clock[0] += 1
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return np.uint64(64 - bits), (1 << bits) - 1


@loop
def _placed(table, key, shift, mask, groups):
    """The place of a key in the table; a new key gets the group ``groups``."""
    mixed = np.uint64(key)
    # The high bits of the product depend on all bits; bits in its middle would cluster.
    place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> shift)
    clock = table.clock[0]
    while table.stamp[place] == clock:
        if table.key[place] == key:
            return place
        place = (place + 1) & mask
    table.stamp[place] = clock
    table.key[place] = key
    table.group[place] = groups
    return place


@loop
def _dense(keys, size, table):
    """Number equal keys alike, in the order of their first occurrence; returns how many differ."""
    shift, mask = _emptied(table, size)
    groups = 0
    for i in range(size):
        group = table.group[_placed(table, keys[i], shift, mask, groups)]
        if group == groups:
            groups += 1
        keys[i] = group
    return groups


@loop
def _number(lattice, first, last, part, live, size, table, groups):
    """Group classes by what the levels of the quasi-identifiers first .. last - 1 make of them.

    Parameters
    ----------
    part
        The levels, as a number.
    groups : (E,)
        Filled with the group of each class that lives.
    """
    keys = table.keys
    for i in range(size):
        keys[i] = 0
    most = 1
    for j in range(last - 1, first - 1, -1):
        level = part % lattice.levels[j]
        part //= lattice.levels[j]
        if most > 2**62 // lattice.width[j]:  # one number would not hold all
            most = _dense(keys, size, table)
        most *= lattice.width[j]
        start = lattice.start[j] + level * lattice.width[j]
        for i in range(size):
            raised = lattice.raised[start + lattice.nodes[live[i], j]]
            keys[i] = keys[i] * lattice.width[j] + raised
    _dense(keys, size, table)
    for i in range(size):
        groups[live[i]] = keys[i]


@loop
def group_node(lattice, halves, table, node, live, size):
    """Group some classes by what a node of the lattice makes of them.

    Parameters
    ----------
    node
        The number of the node.
    live
        The classes, the first ``size``: the same as before, or some of those; otherwise all
        halves have to be there, or be forgotten before.

    Returns
    -------
    int
        How many groups there are: ``table.of`` and ``table.size`` tell them, in the order of
        their first classes.
    """
    one, other = node // lattice.parts[1], node % lattice.parts[1]
    at, to = one % halves.ones_of.shape[0], other % halves.others_of.shape[0]
    if halves.ones_of[at] != one:
        _number(lattice, 0, lattice.split, one, live, size, table, halves.ones[at])
        halves.ones_of[at] = one
    if halves.others_of[to] != other:
        m = lattice.levels.shape[0]
        _number(lattice, lattice.split, m, other, live, size, table, halves.others[to])
        halves.others_of[to] = other
    ones, others = halves.ones[at], halves.others[to]
    shift, mask = _emptied(table, size)
    groups = 0
    for i in range(size):
        each = live[i]
        key = (np.int64(ones[each]) << 32) | np.int64(others[each])
        group = table.group[_placed(table, key, shift, mask, groups)]
        if group == groups:
            table.size[group] = 0
            groups += 1
        table.size[group] += lattice.counts[each]
        table.of[i] = group
    return groups


@kernel(seconds=1)
def fill_halves(lattice, halves, table, live, size):
    """Group the classes by every node of both halves, where there is room for all of them.

    Returns
    -------
    bool
        Whether there is: then any of these classes may be grouped.
    """
    m = lattice.levels.shape[0]
    if halves.ones_of.shape[0] < lattice.parts[0] or halves.others_of.shape[0] < lattice.parts[1]:
        forget(halves)
        return False
    for part in range(lattice.parts[0]):
        _number(lattice, 0, lattice.split, part, live, size, table, halves.ones[part])
        halves.ones_of[part] = part
    for part in range(lattice.parts[1]):
        _number(lattice, lattice.split, m, part, live, size, table, halves.others[part])
        halves.others_of[part] = part
    return True


@kernel(seconds=1)
def forget(halves):
    """Forget all groups of halves."""
    halves.ones_of[:] = -1
    halves.others_of[:] = -1
