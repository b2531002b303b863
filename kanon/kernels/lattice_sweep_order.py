"""A sweep by groups instead of nodes: the cheapest group of any node is released first."""

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.lattice_sweep_groups import clear_halves, group_node
from kanon.kernels.lattice_sweep_walk import NEXT, RECORDS, REMAINING, STEPS

NONE = 2**62  # more than any loss: there is none


class Losses(NamedTuple):
    left: np.ndarray  # per place of ``LatticeArrays.raised`` what raising it on to the root costs
    own: np.ndarray  # (E,): per class the potential of its tuple
    first: np.ndarray  # per group its first class
    total: np.ndarray  # per group the potential of its records before raising, added up
    target: np.ndarray  # the potential of the group's tuple; only of those that reach k
    mean: np.ndarray  # the group's loss per record, rounded down; :data:`NONE` below k


class NodeQueue(NamedTuple):
    key: np.ndarray  # per node its groups' least mean loss when last grouped; :data:`NONE` if none
    heap: np.ndarray  # the nodes by key, then number; the first ``state[NEXT]`` of the array
    # These three are as in ``SweepWalk``, but for ``state[NEXT]``; ``state[4]`` counts groupings.
    live: np.ndarray
    at: np.ndarray
    state: np.ndarray


@loop
def sum_left_potential(lattice, left, node, c):
    total = 0
    for j in range(lattice.levels.shape[0] - 1, -1, -1):
        level = node % lattice.levels[j]
        node //= lattice.levels[j]
        place = lattice.start[j] + level * lattice.width[j] + lattice.nodes[c, j]
        total += left[place]
    return total


@loop
def _weigh_groups(lattice, table, losses, node, k, live, size, groups):
    for group in range(groups):
        losses.first[group] = -1
        losses.total[group] = 0
    for i in range(size):
        c, group = live[i], table.of[i]
        losses.total[group] += lattice.counts[c] * losses.own[c]
        if losses.first[group] < 0:
            losses.first[group] = c
    least = NONE
    for group in range(groups):
        losses.mean[group] = NONE
        records = table.size[group]
        if records >= k:
            target = sum_left_potential(lattice, losses.left, node, losses.first[group])
            losses.target[group] = target
            losses.mean[group] = (losses.total[group] - records * target) // records
            least = min(least, losses.mean[group])
    return least


@loop
def select_large_parts(lattice, halves, table, full, node, k, live):
    """Fill ``live`` with the classes that may be in a group of k at such levels; how many."""
    size = lattice.counts.shape[0]
    for c in range(size):
        live[c] = c
    if not full:
        clear_halves(halves)
    # The last node with these levels raises all other quasi-identifiers to their roots.
    last = (node // lattice.parts[1] + 1) * lattice.parts[1] - 1
    group_node(lattice, halves, table, last, live, size)
    n_left = 0
    for c in range(size):
        if table.size[table.of[c]] >= k:
            live[n_left] = c
            n_left += 1
    return n_left


@kernel(seconds=1)
def fill_first_keys(lattice, halves, table, losses, full, k, live, key, position, most):
    """Fill ``key``: per node the least mean loss of its groups, of all classes."""
    work = 0
    while position[0] < key.shape[0] and work <= most:
        node = position[0]
        if node % lattice.parts[1] == 0:
            position[1] = select_large_parts(lattice, halves, table, full, node, k, live)
            work += lattice.counts.shape[0]
        size = position[1]
        groups = group_node(lattice, halves, table, node, live, size)
        key[node] = _weigh_groups(lattice, table, losses, node, k, live, size, groups)
        work += size + 1
        position[0] += 1


@loop
def _is_before(key, a, b):
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@loop
def _sink_node(key, heap, size, place):
    node = heap[place]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _is_before(key, heap[below + 1], heap[below]):
            below += 1
        if not _is_before(key, heap[below], node):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = node


@kernel(seconds=1)
def build_node_heap(key, heap):
    """Put the nodes that have a group into a heap; returns its size."""
    size = 0
    for node in range(key.shape[0]):
        if key[node] < NONE:
            heap[size] = node
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink_node(key, heap, size, place)
    return size


@kernel(seconds=1)
def take_some_groups(lattice, halves, table, losses, queue, k, most):
    """Release the cheapest group of any node, again and again; whether none of k is left."""
    key, heap, live, state = queue.key, queue.heap, queue.live, queue.state
    work = 0
    while state[NEXT] > 0 and state[RECORDS] >= k:
        if work > most:
            return False
        node, size = heap[0], state[REMAINING]
        limit = NONE - 1
        for place in range(1, min(3, state[NEXT])):
            limit = min(limit, key[heap[place]])
        groups = group_node(lattice, halves, table, node, live, size)
        least = _weigh_groups(lattice, table, losses, node, k, live, size, groups)
        work += size
        state[4] += 1
        if least <= limit:
            least = NONE
            for group in range(groups):
                if losses.mean[group] <= limit:
                    state[STEPS] += 1
                else:
                    least = min(least, losses.mean[group])
            n_left = 0
            for i in range(size):
                c = live[i]
                if losses.mean[table.of[i]] <= limit:
                    queue.at[c] = node
                    state[RECORDS] -= lattice.counts[c]
                else:
                    live[n_left] = c
                    n_left += 1
            state[REMAINING] = n_left
        key[node] = least
        if least == NONE:
            state[NEXT] -= 1
            heap[0] = heap[state[NEXT]]
        _sink_node(key, heap, state[NEXT], 0)
    return True
