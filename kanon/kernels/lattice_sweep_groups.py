"""Group classes by what a node of the lattice makes of them.

A node is one number, its levels as digits, the first quasi-identifier most significant: canonical
order. The quasi-identifiers are split into two halves; their distinct halves of tuples, far fewer
than the tuples, are grouped once per half, and a node is grouped by pairs of two such numbers.
An unsigned index (``uint32``) is twice as fast: Numba checks signed ones for being negative.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX


class LatticeArrays(NamedTuple):
    nodes: np.ndarray  # (E, m): per class and quasi-identifier its node
    counts: np.ndarray  # (E,): the records of each class
    # what each node is raised to, by quasi-identifier, level and node:
    # ``raised[start + level * width + node]``
    raised: np.ndarray
    start: np.ndarray  # per quasi-identifier where its part of ``raised`` starts
    width: np.ndarray  # the number of nodes of its hierarchy
    levels: np.ndarray  # its number of levels
    split: int  # how many quasi-identifiers are in the first half
    parts: np.ndarray  # (2,): the number of nodes of the lattice of each half
    first: np.ndarray  # (P, split): the distinct first halves of tuples
    last: np.ndarray  # (Q, m - split): the distinct last ones
    first_of: np.ndarray  # (E,): per class the position of its first half
    last_of: np.ndarray  # (E,): and of its last half


class Halves(NamedTuple):
    # Per place the group of every half that a class had that remained when it was filled,
    # (places, P) and (places, Q): equal where the levels make the same of two.
    ones: np.ndarray
    others: np.ndarray
    # Per place the node of the half's lattice whose groups these are; -1 for none.
    ones_of: np.ndarray
    others_of: np.ndarray


class GroupTable(NamedTuple):
    """Room for a hash table from pairs of numbers to groups, and for the groups."""

    key: np.ndarray  # per place of the table the pair there
    group: np.ndarray  # per place its group
    stamp: np.ndarray  # per place the clock when it was filled; older entries are empty
    clock: np.ndarray  # (1,): how many times the table was emptied
    of: np.ndarray  # per class, in the order in which they were grouped, its group
    size: np.ndarray  # per group its number of records
    keys: np.ndarray  # room for one number per class


@loop
def empty_table(table, entries):
    table.clock[0] += 1
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return np.uint64(64 - bits), np.uint64((1 << bits) - 1)


@loop
def find_group(table, key, shift, mask, groups):
    """The group of a key; a new key gets the number ``groups``."""
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
def _number_keys(keys, size, table):
    """Number equal keys alike, by first occurrence; returns how many differ."""
    shift, mask = empty_table(table, size)
    groups = 0
    for i in range(size):
        group = find_group(table, keys[i], shift, mask, groups)
        if group == groups:
            groups += 1
        keys[i] = group
    return groups


@loop
def number_tuples(lattice, tuples, j, part, live, size, table, groups):
    """Number the groups of live halves at the levels ``part``; ``j`` is their first attribute."""
    keys = table.keys
    for i in range(size):
        keys[i] = 0
    most = 1
    for place in range(tuples.shape[1] - 1, -1, -1):
        levels, width = lattice.levels[j + place], lattice.width[j + place]
        level = part % levels
        part //= levels
        if most > 2**62 // width:  # one number would not hold all
            most = _number_keys(keys, size, table)
        most *= width
        start = lattice.start[j + place] + level * width
        for i in range(size):
            keys[i] = keys[i] * width + lattice.raised[start + tuples[live[i], place]]
    _number_keys(keys, size, table)
    for i in range(size):
        groups[live[i]] = keys[i]


@loop
def _number_halves(lattice, tuples, of, j, part, live, size, table, groups):
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
def _number_first(lattice, halves, table, node, live, size):
    at = node % halves.ones_of.shape[0]
    if halves.ones_of[at] != node:
        groups = halves.ones[at]
        _number_halves(lattice, lattice.first, lattice.first_of, 0, node, live, size, table, groups)
        halves.ones_of[at] = node
    return at


@loop
def _number_last(lattice, halves, table, node, live, size):
    at = node % halves.others_of.shape[0]
    if halves.others_of[at] != node:
        groups, j = halves.others[at], lattice.split
        _number_halves(lattice, lattice.last, lattice.last_of, j, node, live, size, table, groups)
        halves.others_of[at] = node
    return at


@loop
def group_node(lattice, halves, table, node, live, size):
    """Group the first ``size`` ``live`` classes by a node of the lattice; returns how many groups.

    ``live`` are the same classes as before or some of them; else all halves have to be filled or
    cleared before. ``table.of`` and ``table.size`` hold the groups, by their first classes.
    """
    first, last = node // lattice.parts[1], node % lattice.parts[1]
    at = _number_first(lattice, halves, table, first, live, size)
    to = _number_last(lattice, halves, table, last, live, size)
    ones, others = halves.ones[at], halves.others[to]
    shift, mask = empty_table(table, size)
    groups = 0
    for i in range(size):
        c = np.uint32(live[i])
        first, last = ones[lattice.first_of[c]], others[lattice.last_of[c]]
        key = (np.int64(first) << 32) | np.int64(last)
        group = find_group(table, key, shift, mask, groups)
        if group == groups:
            table.size[group] = 0
            groups += 1
        table.size[group] += lattice.counts[c]
        table.of[i] = group
    return groups


@kernel(seconds=1)
def fill_halves(lattice, halves, table, live, size):
    """Group the classes by every node of both halves; False if not all of them fit."""
    clear_halves(halves)
    if halves.ones_of.shape[0] < lattice.parts[0] or halves.others_of.shape[0] < lattice.parts[1]:
        return False
    for node in range(lattice.parts[0]):
        _number_first(lattice, halves, table, node, live, size)
    for other in range(lattice.parts[1]):
        _number_last(lattice, halves, table, other, live, size)
    return True


@kernel(seconds=1)
def clear_halves(halves):
    halves.ones_of[:] = -1
    halves.others_of[:] = -1
