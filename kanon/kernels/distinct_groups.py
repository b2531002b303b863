"""The groups of at least k records at the nodes of a lattice, each set of classes once."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.hashing import MIX
from kanon.kernels.lattice_sweep_groups import group_node
from kanon.kernels.lattice_sweep_order import left_at, of_large_parts

GROUPS, MEMBERS, LIVE = 0, 1, 2  # places of ``state``


class FoundGroups(NamedTuple):
    """Room for groups that differ, and a hash table from sets of classes to them."""

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
def _sets_at(lattice, halves, table, full, k, live, marks, found, node):
    """Group by a node, and hash the set of classes of each group; returns how many groups."""
    if node % lattice.parts[1] == 0:
        found.state[LIVE] = of_large_parts(lattice, halves, table, full, node, k, live)
    size = found.state[LIVE]
    groups = group_node(lattice, halves, table, node, live, size)
    for group in range(groups):
        found.hashes[group] = 0
        found.tuples[group] = 0
        found.first[group] = -1
    for i in range(size):
        group = table.of[i]
        found.hashes[group] += marks[live[i]]
        found.tuples[group] += 1
        if found.first[group] < 0:
            found.first[group] = live[i]
    return groups


@loop
def _place_of(found, table, group):
    mask = found.key.shape[0] - 1
    bits = 0
    while (1 << bits) <= mask:
        bits += 1
    key = found.hashes[group]
    mixed = np.uint64(key)
    place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> np.uint64(64 - bits))
    while found.place[place] >= 0:
        of = found.place[place]
        # Two sets of one hash are as good as impossible; of as many records and classes more so.
        if (
            found.key[place] == key
            and found.records[of] == table.size[group]
            and found.size[of] == found.tuples[group]
        ):
            break
        place = (place + 1) & mask
    return place


@kernel(seconds=1)
def find_some(lattice, halves, table, full, left, k, live, marks, found, begun, most, largest):
    """Find the groups of further nodes; False if there is no room, or above ``largest`` classes.

    ``left`` is the potential of the node at every place of ``LatticeArrays.raised``. A set's hash
    is the sum of ``marks``, a random number per class. ``begun``, the node to go on with, changes;
    it returns after grouping about ``most`` classes.
    """
    work = 0
    nodes = lattice.parts[0] * lattice.parts[1]
    state = found.state
    while begun[0] < nodes and work <= most:
        node = begun[0]
        groups = _sets_at(lattice, halves, table, full, k, live, marks, found, node)
        work += state[LIVE] + 1
        if state[GROUPS] + groups > found.kept.shape[0] or state[MEMBERS] > largest:
            return False
        for group in range(groups):
            if table.size[group] < k:
                continue
            kept = left_at(lattice, left, node, found.first[group])
            place = _place_of(found, table, group)
            if found.place[place] < 0:
                new = state[GROUPS]
                found.key[place] = found.hashes[group]
                found.place[place] = new
                found.kept[new] = kept
                found.node[new] = node
                found.size[new] = found.tuples[group]
                found.records[new] = table.size[group]
                state[GROUPS] += 1
                state[MEMBERS] += found.tuples[group]
            elif kept > found.kept[found.place[place]]:
                found.kept[found.place[place]] = kept
                found.node[found.place[place]] = node
        begun[0] += 1
    return True


@kernel(seconds=1)
def rehash(found, larger):
    mask = larger.key.shape[0] - 1
    bits = 0
    while (1 << bits) <= mask:
        bits += 1
    for old in range(found.key.shape[0]):
        if found.place[old] < 0:
            continue
        mixed = np.uint64(found.key[old])
        place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * MIX) >> np.uint64(64 - bits))
        while larger.place[place] >= 0:
            place = (place + 1) & mask
        larger.key[place] = found.key[old]
        larger.place[place] = found.place[old]


@kernel(seconds=1)
def list_some(lattice, halves, table, full, k, live, marks, found, begin, members, begun, most):
    """List in ``members`` the classes of the groups that were found, rising, each at its own node.

    Those of a group begin at ``begin``.
    """
    work = 0
    nodes = lattice.parts[0] * lattice.parts[1]
    while begun[0] < nodes and work <= most:
        node = begun[0]
        groups = _sets_at(lattice, halves, table, full, k, live, marks, found, node)
        work += found.state[LIVE] + 1
        for group in range(groups):
            found.first[group] = -1
            if table.size[group] >= k:
                of = found.place[_place_of(found, table, group)]
                if found.node[of] == node:
                    found.first[group] = begin[of]
        for i in range(found.state[LIVE]):
            group = table.of[i]
            if found.first[group] >= 0:
                members[found.first[group]] = live[i]
                found.first[group] += 1
        begun[0] += 1
