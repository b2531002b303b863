"""The compiled loops of the lattice sweep: group the records that remain, node by node.

A node of the lattice is one number: its levels as digits, the first quasi-identifier the most
significant, so that numbers stand in the canonical order of levels. The quasi-identifiers are
parted into two halves, the first ones and the last ones. What a half's levels make of every class
is grouped once and kept as small numbers; a node is then grouped by pairs of two such numbers.

Everything is in one file: Numba's cache does not notice a change in a file that another imports.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "ALIVE",
    "CHANGES",
    "NEXT",
    "NONE",
    "PLACE",
    "RECORDS",
    "REMAINING",
    "STEPS",
    "WORK",
    "Grouping",
    "Halves",
    "Lattice",
    "Losses",
    "Ordered",
    "Pool",
    "Shared",
    "Trees",
    "Walk",
    "bound_some",
    "dissolve_some",
    "fill_halves",
    "first_keys",
    "forget",
    "group_node",
    "heaped",
    "order_some",
    "reach_some",
    "release",
    "share_all",
    "split_some",
    "walk_some",
]

NONE = 2**62
"""More than any loss: there is none."""

_loop = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]
"""For loops that make no arrays: whoever calls them holds those that they work on. Counting
references to every array that is handed over would take most of the time."""

_MIX = np.uint64(0x9E3779B97F4A7C15)

REMAINING, RECORDS, NEXT, STEPS = range(4)
"""The places in ``Walk.state``: how many classes and records remain, how many nodes were visited,
how many groups were released."""

PLACE, WORK, CHANGES, ALIVE, _TOP = range(5)
"""The places in ``Shared.state``: where to go on in what is to be done, how much was done in all,
how many changes were made, how many classes there are, from which number on none was ever used."""


class Lattice(NamedTuple):
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


class Grouping(NamedTuple):
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


class Losses(NamedTuple):
    """What raising costs, and what it costs the groups of a node.

    Attributes
    ----------
    left
        For every place of ``Lattice.raised`` the potential of the node there: what raising it on
        to the root costs.
    own
        Per class the potential of its tuple, (E,).
    first
        Per group its first class.
    total
        Per group the potential of its records as they are, added up.
    target
        Per group the potential of the tuple that it is raised to; only of those that reach k.
    mean
        Per group the loss per record, rounded down; :data:`NONE` for those below k.
    """

    left: np.ndarray
    own: np.ndarray
    first: np.ndarray
    total: np.ndarray
    target: np.ndarray
    mean: np.ndarray


class Ordered(NamedTuple):
    """A sweep by groups instead of nodes.

    Attributes
    ----------
    key
        Per node of the lattice the least mean loss of its groups that reach k, as it was when
        they were grouped last; :data:`NONE` if there was none.
    heap
        The nodes by key, least first, then by number; the first ``state[NEXT]`` of the array.
    live, at, state
        As in a :class:`Walk`, but for ``state[NEXT]``. A fifth place counts the groupings.
    """

    key: np.ndarray
    heap: np.ndarray
    live: np.ndarray
    at: np.ndarray
    state: np.ndarray


class Trees(NamedTuple):
    """The hierarchies, in arrays as wide as the largest of them.

    Attributes
    ----------
    parents, levels, depths
        Per quasi-identifier the parent (-1 for roots), level and potential of every node, (m, N).
    """

    parents: np.ndarray
    levels: np.ndarray
    depths: np.ndarray


class Shared(NamedTuple):
    """Which tuples share a released class. Released classes have numbers; a number is used again.

    Attributes
    ----------
    own
        Per tuple its potential, (E,).
    following
        Per tuple another one of the same class; -1 for the last, (E,).
    head
        Per released class its first tuple; -1 for a number that is not used, (E,).
    size, loss
        Per released class its number of records and its loss.
    nodes
        Per released class the lowest common ancestors of its tuples, (E, m).
    state
        See :data:`PLACE`.
    """

    own: np.ndarray
    following: np.ndarray
    head: np.ndarray
    size: np.ndarray
    loss: np.ndarray
    nodes: np.ndarray
    state: np.ndarray


class Pool(NamedTuple):
    """Room for the tuples of some released classes.

    Attributes
    ----------
    members, spare
        The tuples, and room for as many.
    chosen, best
        Which of them are in the group that is looked at, and in the best so far.
    above
        Rows of one number per quasi-identifier.
    ends
        The parts that the pool was split into, and those that are still to be split: where each
        begins and ends, (2, E + 2, 2).
    near, costs
        The nearest classes of one, and what merging it with them costs.
    undone
        Per tuple that was moved what its new class was before: its number, its loss, its tuple.
    """

    members: np.ndarray
    spare: np.ndarray
    chosen: np.ndarray
    best: np.ndarray
    above: np.ndarray
    ends: np.ndarray
    near: np.ndarray
    costs: np.ndarray
    undone: np.ndarray


class Walk(NamedTuple):
    """A walk along the nodes of a lattice.

    Attributes
    ----------
    order
        The nodes, in the order in which they are visited.
    live
        The classes that remain, rising; the first ``state[REMAINING]`` of the array.
    at
        Per class the node that it was released at; -1 as long as it remains.
    state
        See :data:`REMAINING`.
    """

    order: np.ndarray
    live: np.ndarray
    at: np.ndarray
    state: np.ndarray


@_loop
def _emptied(table, entries):
    """Empty the table for so many entries; how far a hash is shifted to give a place in it."""
    table.clock[0] += 1
    bits = 4
    while (1 << bits) < 2 * entries:
        bits += 1
    return np.uint64(64 - bits), (1 << bits) - 1


@_loop
def _placed(table, key, shift, mask, groups):
    """The place of a key in the table; a new key gets the group ``groups``."""
    mixed = np.uint64(key)
    # The high bits of the product depend on all bits; bits in its middle would cluster.
    place = np.int64(((mixed ^ (mixed >> np.uint64(32))) * _MIX) >> shift)
    clock = table.clock[0]
    while table.stamp[place] == clock:
        if table.key[place] == key:
            return place
        place = (place + 1) & mask
    table.stamp[place] = clock
    table.key[place] = key
    table.group[place] = groups
    return place


@_loop
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


@_loop
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


@_loop
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


@_loop
def reach_some(lattice, halves, table, walk, k, most):
    """Visit nodes until some group of what remains reaches k.

    Parameters
    ----------
    most
        How many classes may be grouped, about, before this returns.

    Returns
    -------
    int
        The number of groups at that node, as :func:`group_node` tells them. 0 if the time is up;
        -1 at the end: all nodes were visited, or fewer than k records remain.
    """
    state, work = walk.state, 0
    while state[RECORDS] >= k and state[REMAINING] > 0 and state[NEXT] < walk.order.shape[0]:
        if work > most:
            return 0
        node = walk.order[state[NEXT]]
        groups = group_node(lattice, halves, table, node, walk.live, state[REMAINING])
        state[NEXT] += 1
        work += state[REMAINING]
        for group in range(groups):
            if table.size[group] >= k:
                return groups
    return -1


@_loop
def release(lattice, table, walk, groups, least):
    """Release groups of the node that was visited last.

    Parameters
    ----------
    groups
        How many groups there are.
    least
        The size from which on a group is released.
    """
    state = walk.state
    node = walk.order[state[NEXT] - 1]
    for group in range(groups):
        state[STEPS] += table.size[group] >= least
    left = 0
    for i in range(state[REMAINING]):
        each = walk.live[i]
        if table.size[table.of[i]] >= least:
            walk.at[each] = node
            state[RECORDS] -= lattice.counts[each]
        else:
            walk.live[left] = each
            left += 1
    state[REMAINING] = left


@_loop
def walk_some(lattice, halves, table, walk, k, most):
    """Walk on along the nodes, and release every group that reaches k.

    Parameters
    ----------
    most
        How many classes may be grouped, about, before this returns.

    Returns
    -------
    bool
        Whether the walk has ended.
    """
    work = 0
    while work <= most:
        before = walk.state[NEXT]
        remaining = walk.state[REMAINING]
        groups = reach_some(lattice, halves, table, walk, k, most - work)
        if groups < 0:
            return True
        if groups > 0:
            release(lattice, table, walk, groups, k)
        work += (walk.state[NEXT] - before) * remaining
    return False


@_loop
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


@_loop
def forget(halves):
    """Forget all groups of halves."""
    halves.ones_of[:] = -1
    halves.others_of[:] = -1


@_loop
def _left_at(lattice, losses, node, each):
    """The potential of what a node makes of a class."""
    found = 0
    for j in range(lattice.levels.shape[0] - 1, -1, -1):
        level = node % lattice.levels[j]
        node //= lattice.levels[j]
        place = lattice.start[j] + level * lattice.width[j] + lattice.nodes[each, j]
        found += losses.left[place]
    return found


@_loop
def _weigh(lattice, table, losses, node, k, live, size, groups):
    """What the groups of a node cost per record; returns the least."""
    for group in range(groups):
        losses.first[group] = -1
        losses.total[group] = 0
    for i in range(size):
        each, group = live[i], table.of[i]
        losses.total[group] += lattice.counts[each] * losses.own[each]
        if losses.first[group] < 0:
            losses.first[group] = each
    least = NONE
    for group in range(groups):
        losses.mean[group] = NONE
        records = table.size[group]
        if records >= k:
            target = _left_at(lattice, losses, node, losses.first[group])
            losses.target[group] = target
            losses.mean[group] = (losses.total[group] - records * target) // records
            least = min(least, losses.mean[group])
    return least


@_loop
def _of_large_parts(lattice, halves, table, full, node, k, live):
    """The classes whose groups by the first half alone reach k; returns how many.

    No other class is in a group that reaches k at any node with these levels.
    """
    size = lattice.counts.shape[0]
    for each in range(size):
        live[each] = each
    if not full:
        forget(halves)
    # The last node with these levels raises all other quasi-identifiers to their roots.
    last = (node // lattice.parts[1] + 1) * lattice.parts[1] - 1
    group_node(lattice, halves, table, last, live, size)
    left = 0
    for each in range(size):
        if table.size[table.of[each]] >= k:
            live[left] = each
            left += 1
    return left


@_loop
def first_keys(lattice, halves, table, losses, full, k, live, key, begun, most):
    """The least mean loss of the groups of every node, all classes being there.

    Parameters
    ----------
    full
        Whether all halves are there.
    live
        Room for one number per class.
    key
        Per node; filled.
    begun
        The node to go on with, and how many classes are in ``live``; both change.
    most
        How many classes may be grouped, about, before this returns.
    """
    work = 0
    while begun[0] < key.shape[0] and work <= most:
        node = begun[0]
        if node % lattice.parts[1] == 0:
            begun[1] = _of_large_parts(lattice, halves, table, full, node, k, live)
            work += lattice.counts.shape[0]
        size = begun[1]
        groups = group_node(lattice, halves, table, node, live, size)
        key[node] = _weigh(lattice, table, losses, node, k, live, size, groups)
        work += size + 1
        begun[0] += 1


@_loop
def bound_some(lattice, halves, table, losses, full, k, live, best, begun, most):
    """The largest potential that each class keeps in any group of k records at any node.

    Parameters
    ----------
    best
        Per class; raised where a larger one is found. All others as in :func:`first_keys`.
    """
    work = 0
    while begun[0] < lattice.parts[0] * lattice.parts[1] and work <= most:
        node = begun[0]
        if node % lattice.parts[1] == 0:
            begun[1] = _of_large_parts(lattice, halves, table, full, node, k, live)
            work += lattice.counts.shape[0]
        size = begun[1]
        groups = group_node(lattice, halves, table, node, live, size)
        for group in range(groups):
            losses.target[group] = -1
        for i in range(size):
            each, group = live[i], table.of[i]
            if table.size[group] >= k:
                if losses.target[group] < 0:
                    losses.target[group] = _left_at(lattice, losses, node, each)
                best[each] = max(best[each], losses.target[group])
        work += size + 1
        begun[0] += 1


@_loop
def _before(key, one, other):
    """Whether a node comes before another: by key, then by number."""
    return key[one] < key[other] or (key[one] == key[other] and one < other)


@_loop
def _sink(key, heap, size, place):
    """Let the node at a place of the heap sink to where it belongs."""
    node = heap[place]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _before(key, heap[below + 1], heap[below]):
            below += 1
        if not _before(key, heap[below], node):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = node


@_loop
def heaped(key, heap):
    """Put the nodes that have a group into a heap; returns how many they are."""
    size = 0
    for node in range(key.shape[0]):
        if key[node] < NONE:
            heap[size] = node
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(key, heap, size, place)
    return size


@_loop
def order_some(lattice, halves, table, losses, ordered, k, most):
    """Take the node with the cheapest group, release it, and so on.

    The node is grouped again: some of its records may have been released since. Its groups that
    cost no more than the cheapest of any other node are released; it is put back with the cheapest
    that it still has.

    Parameters
    ----------
    most
        How many classes may be grouped, about, before this returns.

    Returns
    -------
    bool
        Whether it has ended: no node has a group of k records left.
    """
    key, heap, live, state = ordered.key, ordered.heap, ordered.live, ordered.state
    work = 0
    while state[NEXT] > 0 and state[RECORDS] >= k:
        if work > most:
            return False
        node, size = heap[0], state[REMAINING]
        limit = NONE - 1
        for place in range(1, min(3, state[NEXT])):
            limit = min(limit, key[heap[place]])
        groups = group_node(lattice, halves, table, node, live, size)
        least = _weigh(lattice, table, losses, node, k, live, size, groups)
        work += size
        state[4] += 1
        if least <= limit:
            least = NONE
            for group in range(groups):
                if losses.mean[group] <= limit:
                    state[STEPS] += 1
                else:
                    least = min(least, losses.mean[group])
            left = 0
            for i in range(size):
                each = live[i]
                if losses.mean[table.of[i]] <= limit:
                    ordered.at[each] = node
                    state[RECORDS] -= lattice.counts[each]
                else:
                    live[left] = each
                    left += 1
            state[REMAINING] = left
        key[node] = least
        if least == NONE:
            state[NEXT] -= 1
            heap[0] = heap[state[NEXT]]
        _sink(key, heap, state[NEXT], 0)
    return True


@_loop
def _meet(parents, low, high):
    """The lowest common ancestor: the smaller of two numbers cannot be above the larger."""
    while low != high:
        if low < high:
            low = parents[low]
        else:
            high = parents[high]
    return low


@_loop
def _take(shared, pool, each, size):
    """Add the tuples of a released class to the pool; returns how many it holds then."""
    member = shared.head[each]
    while member >= 0:
        pool.members[size] = member
        size += 1
        member = shared.following[member]
    return size


@_loop
def _sort(members, size):
    """Sort the first numbers; they are few, or some rising rows of them."""
    gap = size // 2
    while gap > 0:
        for i in range(gap, size):
            member, place = members[i], i
            while place >= gap and members[place - gap] > member:
                members[place] = members[place - gap]
                place -= gap
            members[place] = member
        gap //= 2


@_loop
def _merge_cost(trees, low, records, shared, other, limit):
    """What raising a tuple and a released class to what they share costs; or ``limit`` or more."""
    cost = 0
    for j in range(low.shape[0]):
        one, two = low[j], shared.nodes[other, j]
        if one != two:
            both = trees.depths[j, _meet(trees.parents[j], one, two)]
            cost += (trees.depths[j, one] - both) * records
            cost += (trees.depths[j, two] - both) * shared.size[other]
            if cost >= limit:
                break
    return cost


@_loop
def dissolve_some(lattice, trees, shared, pool, todo, most):
    """Dissolve classes if what their tuples cost elsewhere is less than what they cost now.

    Every tuple, in canonical order, joins the class for which that costs least (the first by
    number on a tie), which is raised to what both share. If all together do not cost less than
    the class did, everything stays.

    Parameters
    ----------
    todo
        The classes to try, in this order, from ``state[PLACE]`` on.
    most
        How much may be done, about, before this returns.

    Returns
    -------
    bool
        Whether all were tried.
    """
    state, ends = shared.state, shared.state[WORK] + most
    m = lattice.levels.shape[0]
    while state[PLACE] < todo.shape[0]:
        if state[WORK] > ends:
            return False
        given = todo[state[PLACE]]
        state[PLACE] += 1
        if shared.head[given] < 0 or shared.loss[given] == 0 or state[ALIVE] < 2:
            continue
        size = _take(shared, pool, given, 0)
        _sort(pool.members, size)
        left, moved = shared.loss[given], 0
        while moved < size and left > 0:
            member = pool.members[moved]
            low, records = lattice.nodes[member], lattice.counts[member]
            taker, cost = -1, left
            for other in range(state[_TOP]):
                if other != given and shared.head[other] >= 0:
                    found = _merge_cost(trees, low, records, shared, other, cost)
                    if found < cost:
                        taker, cost = other, found
            state[WORK] += state[_TOP]
            if taker < 0:
                break
            pool.undone[moved, 0] = taker
            pool.undone[moved, 1] = cost
            for j in range(m):
                node = shared.nodes[taker, j]
                pool.undone[moved, 2 + j] = node
                shared.nodes[taker, j] = _meet(trees.parents[j], low[j], node)
            shared.size[taker] += records
            shared.loss[taker] += cost
            left -= cost
            moved += 1
        if moved == size:  # then something is left: what was too dear was not taken
            shared.head[given] = -1
            state[ALIVE] -= 1
            state[CHANGES] += 1
            for i in range(size):
                member, taker = pool.members[i], pool.undone[i, 0]
                shared.following[member] = shared.head[taker]
                shared.head[taker] = member
        else:
            for i in range(moved - 1, -1, -1):
                taker = pool.undone[i, 0]
                shared.size[taker] -= lattice.counts[pool.members[i]]
                shared.loss[taker] -= pool.undone[i, 1]
                for j in range(m):
                    shared.nodes[taker, j] = pool.undone[i, 2 + j]
    return True


@_loop
def _nearest(lattice, trees, shared, pool, given, wanted):
    """Find the classes that a class costs least to merge with; returns how many.

    The first by number come first on a tie.
    """
    low, records, found = shared.nodes[given], shared.size[given], 0
    for other in range(shared.state[_TOP]):
        if other == given or shared.head[other] < 0:
            continue
        limit = pool.costs[found - 1] if found == wanted else NONE
        cost = _merge_cost(trees, low, records, shared, other, limit)
        if cost < limit:
            place = min(found, wanted - 1)
            while place > 0 and pool.costs[place - 1] > cost:
                pool.costs[place] = pool.costs[place - 1]
                pool.near[place] = pool.near[place - 1]
                place -= 1
            pool.costs[place] = cost
            pool.near[place] = other
            found = min(found + 1, wanted)
    shared.state[WORK] += shared.state[_TOP]
    return found


@_loop
def _common(lattice, trees, pool, begins, ends, wanted, row):
    """The lowest common ancestors of those members that were chosen so; their potential."""
    m, first, left = lattice.levels.shape[0], True, 0
    above = pool.above[row]
    for i in range(begins, ends):
        if pool.chosen[i] == wanted:
            for j in range(m):
                node = lattice.nodes[pool.members[i], j]
                if first:
                    above[j] = node
                elif above[j] != node:
                    above[j] = _meet(trees.parents[j], node, above[j])
            first = False
    for j in range(m):
        left += trees.depths[j, above[j]]
    return left


@_loop
def _split(lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest):
    """Find the best way to part some members in two, one of them a group of the lattice.

    Returns
    -------
    int
        By how much the loss falls; 0 if no way is better. ``pool.best`` tells the group.
    """
    m, size, records, total = lattice.levels.shape[0], ends - begins, 0, 0
    for i in range(begins, ends):
        member = pool.members[i]
        records += lattice.counts[member]
        total += lattice.counts[member] * shared.own[member]
        pool.chosen[i] = 0
    loss = total - records * _common(lattice, trees, pool, begins, ends, 0, 0)
    if records < 2 * k or size < 2 or loss == 0:
        return 0
    nodes = 1
    top, now = pool.above[1], pool.above[2]
    for j in range(m):
        top[j] = trees.levels[j, pool.above[0, j]]
        nodes *= top[j] + 1
        now[j] = 0
    if nodes * size > largest:
        return 0
    shared.state[WORK] += nodes * size
    best, live = loss, pool.members[begins:ends]
    if not full:
        forget(halves)
    for _ in range(nodes - 1):  # the last one makes one group of all
        node = 0
        for j in range(m):
            node = node * lattice.levels[j] + now[j]
        groups = group_node(lattice, halves, table, node, live, size)
        for group in range(groups):
            inside = table.size[group]
            if inside < k or records - inside < k:
                continue
            part = 0
            for i in range(size):
                pool.chosen[begins + i] = table.of[i] == group
                if table.of[i] == group:
                    part += lattice.counts[live[i]] * shared.own[live[i]]
            cost = part - inside * _common(lattice, trees, pool, begins, ends, 1, 3)
            if cost < best:
                rest = _common(lattice, trees, pool, begins, ends, 0, 3)
                cost += total - part - (records - inside) * rest
            if cost < best:
                best = cost
                for i in range(begins, ends):
                    pool.best[i] = pool.chosen[i]
        j = m - 1
        while j >= 0 and now[j] == top[j]:
            now[j] = 0
            j -= 1
        if j >= 0:
            now[j] += 1
    return loss - best


@_loop
def _parted(lattice, halves, table, trees, shared, pool, full, k, size, largest):
    """Part the pool in two, and each part again, as long as that is better.

    Returns
    -------
    parts, gain : int
        How many parts there are, which ``pool.ends[0]`` tells, and by how much they cost less
        than all members in one.
    """
    done, waiting = pool.ends[0], pool.ends[1]
    parts, gain, left, middle = 0, 0, 1, 0
    waiting[0, 0], waiting[0, 1] = 0, size
    while left > 0:
        left -= 1
        begins, ends = waiting[left, 0], waiting[left, 1]
        better = _split(lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest)
        if better == 0:
            done[parts, 0], done[parts, 1] = begins, ends
            parts += 1
            continue
        gain += better
        place = begins
        for wanted in (1, 0):
            for i in range(begins, ends):
                if pool.best[i] == wanted:
                    pool.spare[place] = pool.members[i]
                    place += 1
            if wanted == 1:
                middle = place
        for i in range(begins, ends):
            pool.members[i] = pool.spare[i]
        waiting[left, 0], waiting[left, 1] = middle, ends
        waiting[left + 1, 0], waiting[left + 1, 1] = begins, middle
        left += 2
    return parts, gain


@_loop
def _share(lattice, trees, shared, pool, each, begins, ends):
    """Make a released class of some members of the pool."""
    total = 0
    shared.head[each] = -1
    shared.size[each] = 0
    for i in range(begins, ends):
        member = pool.members[i]
        shared.following[member] = shared.head[each]
        shared.head[each] = member
        shared.size[each] += lattice.counts[member]
        total += lattice.counts[member] * shared.own[member]
        pool.chosen[i] = 0
    left = _common(lattice, trees, pool, begins, ends, 0, 0)
    shared.loss[each] = total - shared.size[each] * left
    for j in range(lattice.levels.shape[0]):
        shared.nodes[each, j] = pool.above[0, j]


@_loop
def share_all(lattice, trees, shared, pool, starts):
    """Make the released classes: of the members of the pool from each start up to the next."""
    for each in range(starts.shape[0] - 1):
        _share(lattice, trees, shared, pool, each, starts[each], starts[each + 1])
    shared.state[ALIVE] = starts.shape[0] - 1
    shared.state[_TOP] = starts.shape[0] - 1


@_loop
def split_some(
    lattice, halves, table, trees, shared, pool, full, k, todo, wanted, together, largest, most
):
    """Merge classes with their nearest ones, and split them again if that costs less.

    The tuples of the classes are pooled, in canonical order. The pool is parted in two in the best
    way of which one part is a group at some node of the lattice, and each part again.

    Parameters
    ----------
    full
        Whether all halves are there.
    todo
        The classes to begin with, in this order, each ``wanted`` times, from ``state[PLACE]`` on.
    wanted
        How many of the nearest classes are pooled with it: with each of them in turn, or,
        ``together``, with all of them at once.
    largest
        A pool is parted only if its number of tuples times the nodes below what they share is at
        most this.
    most
        How much may be done, about, before this returns.

    Returns
    -------
    bool
        Whether all were tried.
    """
    state, ends = shared.state, shared.state[WORK] + most
    rounds = 1 if together else wanted
    while state[PLACE] < todo.shape[0] * rounds:
        if state[WORK] > ends:
            return False
        given, turn = todo[state[PLACE] // rounds], state[PLACE] % rounds
        state[PLACE] += 1
        if shared.head[given] < 0 or shared.loss[given] == 0:
            continue
        if turn == 0:
            found = _nearest(lattice, trees, shared, pool, given, wanted)
            for place in range(found, wanted):
                pool.near[place] = -1
        first, last = (0, wanted) if together else (turn, turn + 1)
        size, before, pooled = _take(shared, pool, given, 0), shared.loss[given], 1
        for place in range(first, last):
            other = pool.near[place]
            if other >= 0 and other != given and shared.head[other] >= 0:
                size = _take(shared, pool, other, size)
                before += shared.loss[other]
                pooled += 1
        if pooled == 1:
            continue
        _sort(pool.members, size)
        total, records = 0, 0
        for i in range(size):
            pool.chosen[i] = 0
            records += lattice.counts[pool.members[i]]
            total += lattice.counts[pool.members[i]] * shared.own[pool.members[i]]
        whole = total - records * _common(lattice, trees, pool, 0, size, 0, 0)
        parts, gain = _parted(lattice, halves, table, trees, shared, pool, full, k, size, largest)
        if whole - gain >= before:
            continue
        state[CHANGES] += 1
        state[ALIVE] += parts - pooled
        shared.head[given] = -1
        for place in range(first, last):
            if pool.near[place] >= 0:
                shared.head[pool.near[place]] = -1
        free = 0
        for part in range(parts):
            each = given
            if part > 0:
                while free == given or shared.head[free] >= 0:
                    free += 1
                each = free
            _share(lattice, trees, shared, pool, each, pool.ends[0, part, 0], pool.ends[0, part, 1])
            state[_TOP] = max(state[_TOP], each + 1)
    return True
