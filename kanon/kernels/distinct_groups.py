"""The groups of at least k records at the nodes of a lattice, each set of classes once."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX
from kanon.kernels.lattice_sweep_groups import group_node
from kanon.kernels.lattice_sweep_order import select_large_parts, sum_left_potential

GROUPS, MEMBERS, LIVE = 0, 1, 2  # places of ``state``


class FoundGroups(NamedTuple):
    """Room for distinct groups, and a hash table from sets of classes to them."""

    key: np.ndarray  # per place of the table the hash of a set
    place: np.ndarray  # per place its group; -1 for none
    kept: np.ndarray  # per group the largest potential of a tuple that any node raises it to
    node: np.ndarray  # per group a node that has it with that potential
    size: np.ndarray  # per group its number of classes
    records: np.ndarray  # per group its number of records
    # room per group of one node
    hashes: np.ndarray
    first: np.ndarray
    tuples: np.ndarray
    # groups, their classes together, and the classes looked at with the first half's present levels
    state: np.ndarray


@loop
def _hash_sets(lattice, halves, table, full, k, live, marks, sets, node):
    """Group by a node and hash each group's set of classes; returns how many groups."""
    if node % lattice.parts[1] == 0:
        sets.state[LIVE] = select_large_parts(lattice, halves, table, full, node, k, live)
    size = sets.state[LIVE]
    groups = group_node(lattice, halves, table, node, live, size)
    for group in range(groups):
        sets.hashes[group] = 0
        sets.tuples[group] = 0
        sets.first[group] = -1
    for i in range(size):
        group = table.of[i]
        sets.hashes[group] += marks[live[i]]
        sets.tuples[group] += 1
        if sets.first[group] < 0:
            sets.first[group] = live[i]
    return groups


@loop
def _find_place(sets, table, group):
    mask = sets.key.shape[0] - 1
    bits = 0
    while (1 << bits) <= mask:
        bits += 1
    key = sets.hashes[group]
    mixed = np.uint64(key)
    place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> np.uint64(64 - bits))
    while sets.place[place] >= 0:
        group_number = sets.place[place]
        # Two sets of one hash are as good as impossible; of as many records and classes more so.
        if (
            sets.key[place] == key
            and sets.records[group_number] == table.size[group]
            and sets.size[group_number] == sets.tuples[group]
        ):
            break
        place = (place + 1) & mask
    return place


@kernel(seconds=1)
def find_some(lattice, halves, table, full, left, k, live, marks, sets, position, most, largest):
    """Find the groups of further nodes; False if there is no room, or above ``largest`` classes.

    ``left`` is the potential of the node at every place of ``LatticeArrays.raised``. A set's hash
    is the sum of ``marks``, a random number per class. Returns after grouping about ``most``
    classes and moves ``position``, the next node.
    """
    work = 0
    nodes = lattice.parts[0] * lattice.parts[1]
    state = sets.state
    while position[0] < nodes and work <= most:
        node = position[0]
        groups = _hash_sets(lattice, halves, table, full, k, live, marks, sets, node)
        work += state[LIVE] + 1
        if state[GROUPS] + groups > sets.kept.shape[0] or state[MEMBERS] > largest:
            return False
        for group in range(groups):
            if table.size[group] < k:
                continue
            potential = sum_left_potential(lattice, left, node, sets.first[group])
            place = _find_place(sets, table, group)
            if sets.place[place] < 0:
                new = state[GROUPS]
                sets.key[place] = sets.hashes[group]
                sets.place[place] = new
                sets.kept[new] = potential
                sets.node[new] = node
                sets.size[new] = sets.tuples[group]
                sets.records[new] = table.size[group]
                state[GROUPS] += 1
                state[MEMBERS] += sets.tuples[group]
            elif potential > sets.kept[sets.place[place]]:
                sets.kept[sets.place[place]] = potential
                sets.node[sets.place[place]] = node
        position[0] += 1
    return True


@kernel(seconds=1)
def copy_hash_table(sets, larger):
    mask = larger.key.shape[0] - 1
    bits = 0
    while (1 << bits) <= mask:
        bits += 1
    for old in range(sets.key.shape[0]):
        if sets.place[old] < 0:
            continue
        mixed = np.uint64(sets.key[old])
        place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> np.uint64(64 - bits))
        while larger.place[place] >= 0:
            place = (place + 1) & mask
        larger.key[place] = sets.key[old]
        larger.place[place] = sets.place[old]


@kernel(seconds=1)
def list_some(lattice, halves, table, full, k, live, marks, sets, begin, members, position, most):
    """List the groups' classes in ``members``, rising, each at its own node, from ``begin``."""
    work = 0
    nodes = lattice.parts[0] * lattice.parts[1]
    while position[0] < nodes and work <= most:
        node = position[0]
        groups = _hash_sets(lattice, halves, table, full, k, live, marks, sets, node)
        work += sets.state[LIVE] + 1
        for group in range(groups):
            sets.first[group] = -1
            if table.size[group] >= k:
                group_number = sets.place[_find_place(sets, table, group)]
                if sets.node[group_number] == node:
                    sets.first[group] = begin[group_number]
        for i in range(sets.state[LIVE]):
            group = table.of[i]
            if sets.first[group] >= 0:
                members[sets.first[group]] = live[i]
                sets.first[group] += 1
        position[0] += 1
