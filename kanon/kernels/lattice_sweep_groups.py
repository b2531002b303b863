"""Group classes by what a node of the lattice makes of them.

A node of the lattice is one number: its levels as digits, the first quasi-identifier the most
significant, so that numbers stand in the canonical order of levels. The quasi-identifiers are
parted into two halves, the first ones and the last ones. What a half's levels make of the distinct
halves of tuples, which are far fewer than the tuples, is grouped once and kept as small numbers; a
node is then grouped by pairs of two such numbers. An index without a sign (``uint32``) is looked up
in half the time: Numba looks whether one with a sign is negative.
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
    first, last
        The distinct first halves of tuples, (P, split), and the distinct last ones, (Q, m - split).
    first_of, last_of
        Per class the position of its halves in them, (E,).
    """

    nodes: np.ndarray
    counts: np.ndarray
    raised: np.ndarray
    start: np.ndarray
    width: np.ndarray
    levels: np.ndarray
    split: int
    parts: np.ndarray
    first: np.ndarray
    last: np.ndarray
    first_of: np.ndarray
    last_of: np.ndarray


class Halves(NamedTuple):
    """What each half's levels make of the halves of tuples, as far as there is room.

    Attributes
    ----------
    ones, others
        Per place the group of every half that a class had that remained when it was filled,
        (places, P) and (places, Q): equal where the levels make the same of two.
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
    return np.uint64(64 - bits), np.uint64((1 << bits) - 1)


@loop
def _group_of(table, key, shift, mask, groups):
    """The group of a key; a new key gets the group ``groups``."""
    mixed = np.uint64(key)
    # The high bits of the product depend on all bits; bits in its middle would cluster.
    place = ((mixed ^ (mixed >> np.uint64(32))) * MIX) >> shift
    clock = table.clock[0]
    while table.stamp[place] == clock:
        if table.key[place] == key:
            return table.group[place]
        place = (place + np.uint64(1)) & mask
    table.stamp[place] = clock
    table.key[place] = key
    table.group[place] = groups
    return groups


@loop
def _dense(keys, size, table):
    """Number equal keys alike, in the order of their first occurrence; returns how many differ."""
    shift, mask = _emptied(table, size)
    groups = 0
    for i in range(size):
        group = _group_of(table, keys[i], shift, mask, groups)
        if group == groups:
            groups += 1
        keys[i] = group
    return groups


@loop
def number_tuples(lattice, tuples, j, part, live, size, table, groups):
    """Group halves of tuples by what the levels of their quasi-identifiers make of them.

    Parameters
    ----------
    tuples
        The distinct halves.
    j
        The first of their quasi-identifiers.
    part
        The levels, as a number: a node of the half's lattice.
    live
        The halves to group, the first ``size``.
    groups
        Filled with the group of each.
    """
    keys = table.keys
    for i in range(size):
        keys[i] = 0
    most = 1
    for place in range(tuples.shape[1] - 1, -1, -1):
        levels, width = lattice.levels[j + place], lattice.width[j + place]
        level = part % levels
        part //= levels
        if most > 2**62 // width:  # one number would not hold all
            most = _dense(keys, size, table)
        most *= width
        start = lattice.start[j + place] + level * width
        for i in range(size):
            keys[i] = keys[i] * width + lattice.raised[start + tuples[live[i], place]]
    _dense(keys, size, table)
    for i in range(size):
        groups[live[i]] = keys[i]


@loop
def _number(lattice, tuples, of, j, part, live, size, table, groups):
    """The same for the halves that some classes have; ``of`` tells them."""
    for i in range(size):
        groups[of[live[i]]] = -1
    halves, number = table.of, 0
    for i in range(size):
        half = of[live[i]]
        if groups[half] < 0:
            groups[half] = 0
            halves[number] = half
            number += 1
    number_tuples(lattice, tuples, j, part, halves, number, table, groups)


@loop
def _number_first(lattice, halves, table, one, live, size):
    """The place of the groups of a node of the first half's lattice."""
    at = one % halves.ones_of.shape[0]
    if halves.ones_of[at] != one:
        groups = halves.ones[at]
        _number(lattice, lattice.first, lattice.first_of, 0, one, live, size, table, groups)
        halves.ones_of[at] = one
    return at


@loop
def _number_last(lattice, halves, table, other, live, size):
    """The place of the groups of a node of the last half's lattice."""
    at = other % halves.others_of.shape[0]
    if halves.others_of[at] != other:
        groups, j = halves.others[at], lattice.split
        _number(lattice, lattice.last, lattice.last_of, j, other, live, size, table, groups)
        halves.others_of[at] = other
    return at


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
    at = _number_first(lattice, halves, table, one, live, size)
    to = _number_last(lattice, halves, table, other, live, size)
    ones, others = halves.ones[at], halves.others[to]
    shift, mask = _emptied(table, size)
    groups = 0
    for i in range(size):
        each = np.uint32(live[i])
        one, other = ones[lattice.first_of[each]], others[lattice.last_of[each]]
        key = (np.int64(one) << 32) | np.int64(other)
        group = _group_of(table, key, shift, mask, groups)
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
    forget(halves)
    if halves.ones_of.shape[0] < lattice.parts[0] or halves.others_of.shape[0] < lattice.parts[1]:
        return False
    for one in range(lattice.parts[0]):
        _number_first(lattice, halves, table, one, live, size)
    for other in range(lattice.parts[1]):
        _number_last(lattice, halves, table, other, live, size)
    return True


@kernel(seconds=1)
def forget(halves):
    """Forget all groups of halves."""
    halves.ones_of[:] = -1
    halves.others_of[:] = -1
