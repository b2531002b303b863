"""The groups of at least k records at the nodes of a lattice, each set of classes once.

A set of classes that several nodes make alike is listed at the lowest of them: there is one, with
the least level per quasi-identifier at which the classes are alike. The groups of a node are those
of its first half, the *parts*, split by its last half. So the classes are sorted by part once for
all nodes with the same first half, and parts of which nothing is to be expected are left out.
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.lattice_sweep_groups import number_tuples
from kanon.kernels.lattice_sweep_order import sum_left_potential
from kanon.kernels.prices import weigh_group

GROUPS, PARTS = 0, 1  # places of ``state``


class GroupRoom(NamedTuple):
    """Room for groups, and what is known of the classes at one node."""

    begin: np.ndarray  # per group where its classes begin in ``members``
    members: np.ndarray
    kept: np.ndarray  # per group the potential of the tuple that the node raises it to
    node: np.ndarray
    state: np.ndarray  # the groups so far, and the parts of the present first half
    every: np.ndarray  # all classes: 0, 1, ...
    number: np.ndarray  # per first or last half the number of its part
    part: np.ndarray  # per part where its classes begin in the next three
    classes: np.ndarray
    brings: np.ndarray  # what a class brings if nothing of its last half is left
    last_of: np.ndarray  # the class's last half
    last_left: np.ndarray  # per last half the potential that the present node leaves it
    # per number of a last half: its classes in the present part, and their records
    size: np.ndarray
    records: np.ndarray
    place: np.ndarray  # per number where its group begins in ``sorted``; -1 if it is of no use
    used: np.ndarray  # the numbers in the present part
    sorted: np.ndarray  # the classes of the part's groups, one group after the other
    taken: np.ndarray  # room for a group to be weighed
    values: np.ndarray
    worth: np.ndarray


@loop
def _sum_last_potentials(lattice, left, node, potentials):
    """Fill per last half the potential of what a node raises it to."""
    for half in range(lattice.last.shape[0]):
        potentials[half] = 0
    for j in range(lattice.levels.shape[0] - 1, lattice.split - 1, -1):
        start = lattice.start[j] + (node % lattice.levels[j]) * lattice.width[j]
        node //= lattice.levels[j]
        for half in range(lattice.last.shape[0]):
            potentials[half] += left[start + lattice.last[half, j - lattice.split]]


@loop
def _is_lowest(lattice, node, n_columns, members, start, end):
    """Whether the classes are alike at no lower level of any of the first columns."""
    for j in range(lattice.levels.shape[0] - 1, -1, -1):
        level = node % lattice.levels[j]
        node //= lattice.levels[j]
        if level == 0 or j >= n_columns:
            continue
        below = lattice.start[j] + (level - 1) * lattice.width[j]
        first = lattice.raised[below + lattice.nodes[members[start], j]]
        differs = False
        for i in range(start + 1, end):
            if lattice.raised[below + lattice.nodes[members[i], j]] != first:
                differs = True
                break
        if not differs:
            return False
    return True


@loop
def _sort_by_part(lattice, table, left, node, k, gain, bits, room):
    """Sort the classes by what the first half of a node makes of them; returns how many parts.

    ``node`` is the first with this half. Left out are parts that hold no group of k records to be
    listed here, or none with a class that brings something.
    """
    number, size = room.number, gain.shape[0]
    n_halves = lattice.first.shape[0]
    first = node // lattice.parts[1]
    number_tuples(lattice, lattice.first, 0, first, room.every, n_halves, table, number)
    for half in range(n_halves):
        room.size[half] = 0
        room.records[half] = 0
    for c in range(size):
        part = number[lattice.first_of[c]]
        room.size[part] += 1
        room.records[part] += lattice.counts[c]
    end = 0
    for part in range(n_halves):
        room.place[part] = end
        end += room.size[part]
    for c in range(size):
        part = number[lattice.first_of[c]]
        room.sorted[room.place[part]] = c
        room.place[part] += 1
    _sum_last_potentials(lattice, left, node, room.last_left)
    parts, start, end = 0, 0, 0
    room.part[0] = 0
    for part in range(n_halves):
        start, end = end, room.place[part]
        if room.records[part] < k:
            continue
        to, brings_some = room.part[parts], False
        for i in range(start, end):
            c = room.sorted[i]
            brings = sum_left_potential(lattice, left, node, c) + (gain[c] << bits)
            if brings > 0:
                brings_some = True
            room.classes[to] = c
            room.last_of[to] = lattice.last_of[c]
            room.brings[to] = brings - room.last_left[lattice.last_of[c]]
            to += 1
        if brings_some and _is_lowest(lattice, node, lattice.split, room.sorted, start, end):
            parts += 1
            room.part[parts] = to
    return parts


@loop
def _split_part(lattice, numbers, part, k, room):
    """Split a part by the node's last half; returns how many numbers of ``used`` it has."""
    start, end = room.part[part], room.part[part + 1]
    brings_some = False
    for i in range(start, end):
        if room.brings[i] + room.last_left[np.uint32(room.last_of[i])] > 0:
            brings_some = True
            break
    if not brings_some:
        return 0
    n_used = 0
    for i in range(start, end):
        number = np.uint32(numbers[np.uint32(room.last_of[i])])
        if room.size[number] == 0:
            room.used[n_used] = number
            room.records[number] = 0
            room.place[number] = -1
            n_used += 1
        room.size[number] += 1
        room.records[number] += lattice.counts[np.uint32(room.classes[i])]
        if room.brings[i] + room.last_left[np.uint32(room.last_of[i])] > 0:
            room.place[number] = 0
    to = 0
    for i in range(n_used):
        number = room.used[i]
        if room.records[number] < k:
            room.place[number] = -1
        if room.place[number] == 0:
            room.place[number] = to
            to += room.size[number]
        room.size[number] = 0
    if to > 0:
        for i in range(start, end):
            number = np.uint32(numbers[np.uint32(room.last_of[i])])
            place = room.place[number]
            if place >= 0:
                room.sorted[place] = room.classes[i]
                room.place[number] = place + 1
    return n_used


@loop
def _start_node(lattice, halves, table, full, left, node, k, gain, bits, room):
    """Sort by part where the first half is new; returns how the last halves are numbered."""
    last = node % lattice.parts[1]
    if last == 0:
        room.state[PARTS] = _sort_by_part(lattice, table, left, node, k, gain, bits, room)
        for number in range(room.size.shape[0]):
            room.size[number] = 0
    if room.state[PARTS] > 0:
        _sum_last_potentials(lattice, left, node, room.last_left)
        if not full:
            n_halves = lattice.last.shape[0]
            at = lattice.split
            number_tuples(lattice, lattice.last, at, last, room.every, n_halves, table, room.number)
    return last


@kernel(seconds=1)
def find_some(lattice, halves, table, full, left, k, gain, bits, room, position, most):
    """Find the groups of further nodes that are worth something; False if there is no room.

    A record of class c brings ``gain[c]`` and the potential of the tuple that the node raises it
    to, of which ``left`` has the parts, for every place of ``LatticeArrays.raised``. Potentials are
    rounded up to multiples of two to the power ``bits``, which is what gains count. Returns after
    looking at about ``most`` classes and moves ``position``, the next node.
    """
    work, n_groups, n_columns = 0, room.state[GROUPS], lattice.levels.shape[0]
    while position[0] < lattice.parts[0] * lattice.parts[1] and work <= most:
        node, n_left = position[0], room.kept.shape[0] - n_groups
        if min(n_left, room.members.shape[0] - room.begin[n_groups]) < gain.shape[0]:
            return False
        last = _start_node(lattice, halves, table, full, left, node, k, gain, bits, room)
        numbers = halves.others[last] if full else room.number
        position[0] += 1
        work += room.part[room.state[PARTS]] + lattice.last.shape[0]
        for part in range(room.state[PARTS]):
            n_used = _split_part(lattice, numbers, part, k, room)
            start = 0
            for i in range(n_used):
                end = room.place[room.used[i]]
                if end < 0:
                    continue
                if _is_lowest(lattice, node, n_columns, room.sorted, start, end):
                    kept = sum_left_potential(lattice, left, node, room.sorted[start])
                    worth, _, _ = weigh_group(
                        room.sorted, start, end - start, -(-kept >> bits), lattice.counts, gain, k,
                        room.worth, room.taken, room.values,
                    )  # fmt: skip
                    if worth > 0:
                        to = room.begin[n_groups]
                        for j in range(start, end):
                            room.members[to + j - start] = room.sorted[j]
                        room.kept[n_groups] = kept
                        room.node[n_groups] = node
                        n_groups += 1
                        room.begin[n_groups] = to + end - start
                start = end
        room.state[GROUPS] = n_groups
    return True


@kernel(seconds=1)
def lower_some_gains(lattice, halves, table, full, left, k, gain, room, position, most):
    """Lower ``gain`` to where no class brings something in any group of k of further nodes."""
    work = 0
    while position[0] < lattice.parts[0] * lattice.parts[1] and work <= most:
        node = position[0]
        last = _start_node(lattice, halves, table, full, left, node, k, gain, 0, room)
        numbers = halves.others[last] if full else room.number
        position[0] += 1
        work += room.part[room.state[PARTS]] + lattice.last.shape[0]
        for part in range(room.state[PARTS]):
            n_used = _split_part(lattice, numbers, part, k, room)
            start = 0
            for i in range(n_used):
                end = room.place[room.used[i]]
                if end >= 0:
                    kept = sum_left_potential(lattice, left, node, room.sorted[start])
                    for j in range(start, end):
                        gain[room.sorted[j]] = min(gain[room.sorted[j]], -kept)
                    start = end
