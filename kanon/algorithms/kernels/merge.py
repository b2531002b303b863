"""The compiled loop of greedy merging: pick a smallest class, search for its partner, merge.

The live classes stand in a prefix tree: one level per quasi-identifier, one path per class. The
cost of a merge is a sum over quasi-identifiers, so what a prefix of the path costs is a lower bound
for every class below it, and a branch that costs more than the best partner so far is not entered.

Everything is in one file: Numba's cache does not notice a change in a file that another imports.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "LIVE",
    "MERGES",
    "NONE",
    "Merging",
    "PrefixTree",
    "Rules",
    "merge_some",
    "plant",
    "tuple_hashes",
]

NONE = 2**62
"""More than any cost: there is none."""

_MIX = np.uint64(0x9E3779B97F4A7C15)

SEARCHED, ASIDE = 0, 1
"""The roots of two trees in one: the classes that are searched, and those that are not."""

LIVE, MERGES, HEAP, SPARE, USED = range(5)
"""The places in ``Merging.state``."""


class Rules(NamedTuple):
    """What stays the same during a run.

    Attributes
    ----------
    order
        The quasi-identifiers in the order of the prefix tree. It changes the speed alone.
    parents, depths
        Per quasi-identifier the parent (-1 for roots) and scaled potential of each node, in arrays
        as wide as the largest hierarchy.
    nearest
        What it costs at least to raise another value to a node: the least weight of an edge from
        below; ``NONE`` for leaves.
    k
        The size that every class has to reach.
    weighted
        Whether merge costs count class sizes.
    seed
        The seed of ties; negative for the canonical order.
    first_below_k
        Whether to repair the first class below k, among classes below k, instead of the smallest
        class of all with any other.
    least
        The size of the smallest class of the original table.
    """

    order: np.ndarray
    parents: np.ndarray
    depths: np.ndarray
    nearest: np.ndarray
    k: int
    weighted: bool
    seed: int
    first_below_k: bool
    least: int


class PrefixTree(NamedTuple):
    """The live classes by their tuples. All arrays have room for every entry that can be needed.

    An entry at depth d holds the value of the d-th quasi-identifier in the order of the search; its
    children hold the values that occur after it. The child of a last entry is a class number.
    """

    value: np.ndarray
    child: np.ndarray
    following: np.ndarray
    previous: np.ndarray
    above: np.ndarray
    spare: np.ndarray


class Merging(NamedTuple):
    """All that a run of greedy merging works on and changes.

    Attributes
    ----------
    nodes, counts, ranks
        The tuple, size and rank of every class made so far; room for all that will be made.
    alive, leaf
        Whether a class exists, and its last entry in the tree.
    heap
        The classes to repair, the next one first; some may be gone.
    tree
        The live classes.
    parts, smallest
        The merges made so far (see MergePath).
    state
        The number of live classes, of merges made, of places taken in the heap, of spare entries
        and of entries ever used in the tree.
    """

    nodes: np.ndarray
    counts: np.ndarray
    ranks: np.ndarray
    alive: np.ndarray
    leaf: np.ndarray
    heap: np.ndarray
    tree: PrefixTree
    parts: np.ndarray
    smallest: np.ndarray
    state: np.ndarray


# Ties


@njit(cache=True, nogil=True)
def _hash(nodes, seed):
    """A number per tuple that depends on the tuple and the seed alone (splitmix64)."""
    state = np.uint64(seed) * _MIX + _MIX
    for j in range(nodes.shape[0]):
        state = (state ^ np.uint64(nodes[j] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


@njit(cache=True, nogil=True)
def tuple_hashes(nodes, seed):
    """The hash of each tuple. Shapes (E, m) -> (E,)."""
    hashes = np.empty(nodes.shape[0], dtype=np.uint64)
    for e in range(nodes.shape[0]):
        hashes[e] = _hash(nodes[e], seed)
    return hashes


@njit(cache=True, nogil=True)
def _precedes(one, other, ranks, nodes):
    """The tie rule: the lower rank (all 0 without a seed), then the lexicographic order."""
    if ranks[one] != ranks[other]:
        return ranks[one] < ranks[other]
    for j in range(nodes.shape[1]):
        if nodes[one, j] != nodes[other, j]:
            return nodes[one, j] < nodes[other, j]
    return False


# The heap: which class is repaired next


@njit(cache=True, nogil=True)
def _sooner(work, one, other, first_below_k):
    """Whether a class is repaired before another: by size, unless the first is, then by ties."""
    if not first_below_k and work.counts[one] != work.counts[other]:
        return work.counts[one] < work.counts[other]
    return _precedes(one, other, work.ranks, work.nodes)


@njit(cache=True, nogil=True)
def _push(work, added, first_below_k):
    heap = work.heap
    place = work.state[HEAP]
    work.state[HEAP] += 1
    while place > 0:
        above = (place - 1) >> 1
        if not _sooner(work, added, heap[above], first_below_k):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = added


@njit(cache=True, nogil=True)
def _pop(work, first_below_k):
    """Take the next class that still exists; -1 if there is none."""
    heap = work.heap
    while work.state[HEAP] > 0:
        top = heap[0]
        work.state[HEAP] -= 1
        size = work.state[HEAP]
        last = heap[size]
        place = 0
        while 2 * place + 1 < size:
            below = 2 * place + 1
            if below + 1 < size and _sooner(work, heap[below + 1], heap[below], first_below_k):
                below += 1
            if not _sooner(work, heap[below], last, first_below_k):
                break
            heap[place] = heap[below]
            place = below
        heap[place] = last
        if work.alive[top]:
            return top
    return -1


# The prefix tree


@njit(cache=True, nogil=True)
def _child(tree, entry, value):
    """The child of an entry that holds a value; -1 if none does."""
    child = tree.child[entry]
    while child >= 0 and tree.value[child] != value:
        child = tree.following[child]
    return child


@njit(cache=True, nogil=True)
def _find(work, root, tuple_, order):
    """The class of a tuple below a root; -1 if there is none."""
    entry = root
    for j in order:
        entry = _child(work.tree, entry, tuple_[j])
        if entry < 0:
            return -1
    return work.tree.child[entry]


@njit(cache=True, nogil=True)
def _insert(work, root, added, order):
    """Add a class whose tuple does not stand below the root yet."""
    tree, state = work.tree, work.state
    entry = root
    for j in order:
        value = work.nodes[added, j]
        child = _child(tree, entry, value)
        if child < 0:
            if state[SPARE] > 0:
                state[SPARE] -= 1
                child = tree.spare[state[SPARE]]
            else:
                child = state[USED]
                state[USED] += 1
            tree.value[child] = value
            tree.child[child] = -1
            tree.above[child] = entry
            tree.previous[child] = -1
            tree.following[child] = tree.child[entry]
            if tree.child[entry] >= 0:
                tree.previous[tree.child[entry]] = child
            tree.child[entry] = child
        entry = child
    tree.child[entry] = added
    work.leaf[added] = entry


@njit(cache=True, nogil=True)
def _remove(work, gone):
    """Take a class out of the tree, and every entry that then leads nowhere."""
    tree, state = work.tree, work.state
    work.alive[gone] = False
    state[LIVE] -= 1
    entry = work.leaf[gone]
    while entry > ASIDE:
        above = tree.above[entry]
        if tree.previous[entry] >= 0:
            tree.following[tree.previous[entry]] = tree.following[entry]
        else:
            tree.child[above] = tree.following[entry]
        if tree.following[entry] >= 0:
            tree.previous[tree.following[entry]] = tree.previous[entry]
        tree.spare[state[SPARE]] = entry
        state[SPARE] += 1
        if tree.child[above] >= 0:
            break
        entry = above


@njit(cache=True, nogil=True)
def _add(work, rules, added):
    """Let a class live: in the tree, and in the heap if it may have to be repaired."""
    work.alive[added] = True
    work.state[LIVE] += 1
    aside = rules.first_below_k and work.counts[added] >= rules.k
    _insert(work, ASIDE if aside else SEARCHED, added, rules.order)
    if not aside:
        _push(work, added, rules.first_below_k)


@njit(cache=True, nogil=True)
def plant(work, rules, planted):
    """Let the original classes live, in the order given, which changes the speed alone."""
    work.tree.child[SEARCHED] = -1
    work.tree.child[ASIDE] = -1
    work.state[USED] = 2
    for e in planted:
        _add(work, rules, e)


# The search


@njit(cache=True, nogil=True)
def _lca(parent, one, other):
    """The lowest common ancestor; parents have larger numbers than their children."""
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@njit(cache=True, nogil=True)
def _times(size, weight):
    """The product, or 2^62 where the weight says that there is none."""
    return size * weight if weight < NONE else np.int64(NONE)


@njit(cache=True, nogil=True)
def _cheapest(work, rules, root, chosen, own, least, costs):
    """The class below a root of least merge cost with ``chosen``, by ties; -1 if there is none.

    A class y of size s costs ``own * up + s * down`` in each quasi-identifier, where ``up`` raises
    the chosen class to the LCA and ``down`` raises y. No class is smaller than ``least``, so with
    it in place of s the sum along a prefix is a lower bound for all classes below; branches that
    only reach the best cost so far are entered, as they may hold an equal class that precedes it.
    Where a prefix and the least that any other value than the own one adds cost more, none of the
    other values is looked at.
    """
    tree, nodes, order = work.tree, work.nodes, rules.order
    parents, depths = rules.parents, rules.depths
    bound_of, down_of, known = costs  # per value met by this class: computed once, when needed
    m = len(order)
    stamp = work.state[MERGES] + 1
    best = -1
    best_cost = np.int64(2**63 - 1)
    bound = np.zeros(m + 1, dtype=np.int64)
    down = np.zeros(m + 1, dtype=np.int64)
    equal = np.empty(m, dtype=np.int64)  # per depth the child that costs nothing, visited first
    current = np.empty(m, dtype=np.int64)
    other = np.empty(m, dtype=np.int64)  # per depth the least that another value adds
    for d in range(m):
        j = order[d]
        mine = nodes[chosen, j]
        other[d] = _times(least, rules.nearest[j, mine])
        if parents[j, mine] >= 0:
            other[d] = min(other[d], own * (depths[j, mine] - depths[j, parents[j, mine]]))
    depth = 0
    equal[0] = _child(tree, root, nodes[chosen, order[0]])
    current[0] = equal[0] if equal[0] >= 0 else tree.child[root]
    while depth >= 0:
        entry = current[depth]
        if entry < 0 or (entry != equal[depth] and bound[depth] + other[depth] > best_cost):
            depth -= 1
            continue
        following = tree.following[entry]
        if entry == equal[depth]:
            following = tree.child[tree.above[entry]]
        if following >= 0 and following == equal[depth]:
            following = tree.following[following]
        current[depth] = following

        j = order[depth]
        value = tree.value[entry]
        if known[j, value] != stamp:
            known[j, value] = stamp
            mine = nodes[chosen, j]
            met = _lca(parents[j], mine, value)
            down_of[j, value] = depths[j, value] - depths[j, met]
            bound_of[j, value] = (
                own * (depths[j, mine] - depths[j, met]) + least * down_of[j, value]
            )
        lower = bound[depth] + bound_of[j, value]
        if lower > best_cost:
            continue
        raised = down[depth] + down_of[j, value]
        if depth + 1 < m:
            depth += 1
            bound[depth] = lower
            down[depth] = raised
            equal[depth] = _child(tree, entry, nodes[chosen, order[depth]])
            current[depth] = equal[depth] if equal[depth] >= 0 else tree.child[entry]
            continue
        candidate = tree.child[entry]
        cost = lower
        if rules.weighted:
            cost += (work.counts[candidate] - least) * raised
        if cost < best_cost or (
            cost == best_cost and _precedes(candidate, best, work.ranks, nodes)
        ):
            best = candidate
            best_cost = cost
    return best


@njit(cache=True, nogil=True)
def merge_some(work, rules, n):
    """Merge until every class holds k records, or ``n`` merges more were made.

    Parameters
    ----------
    work
        The run so far, which is continued; :func:`plant` has begun it.
    rules
        What stays the same.
    n
        The number of merges after which to return, to report progress.

    Returns
    -------
    bool
        Whether every class holds k records.
    """
    nodes, counts, state = work.nodes, work.counts, work.state
    m = nodes.shape[1]
    shape = rules.depths.shape
    costs = (
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
    )
    total = nodes.shape[0] // 2
    for _ in range(n):
        if state[LIVE] <= 1:
            return True
        chosen = _pop(work, rules.first_below_k)
        if chosen < 0 or counts[chosen] >= rules.k:
            return True
        _remove(work, chosen)
        own = least = np.int64(1)
        if rules.weighted:
            own = counts[chosen]
            least = rules.least if rules.first_below_k else own  # else no class is smaller
        root = SEARCHED if work.tree.child[SEARCHED] >= 0 else ASIDE
        other = _cheapest(work, rules, root, chosen, own, least, costs)
        _remove(work, other)
        merge = state[MERGES]
        made = total + merge
        for j in range(m):
            nodes[made, j] = _lca(rules.parents[j], nodes[chosen, j], nodes[other, j])
        work.ranks[made] = _hash(nodes[made], rules.seed) if rules.seed >= 0 else np.uint64(0)
        counts[made] = counts[chosen] + counts[other]
        third = _find(work, SEARCHED, nodes[made], rules.order)
        if third < 0:
            third = _find(work, ASIDE, nodes[made], rules.order)
        if third >= 0:
            counts[made] += counts[third]
            _remove(work, third)
        _add(work, rules, made)
        work.parts[merge, 0] = chosen
        work.parts[merge, 1] = other
        work.parts[merge, 2] = third
        work.smallest[merge] = counts[chosen]
        state[MERGES] += 1
    return False
