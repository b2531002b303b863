"""The compiled loop of greedy merging: pick a smallest class, search for its partner, merge.

The live classes stand in a prefix tree: one level per quasi-identifier, one path per class. The
cost of a merge is a sum over quasi-identifiers, so what a prefix of the path costs is a lower bound
for every class below it, and a branch that costs more than the best partner so far is not entered.

A strategy that looks at more than the cost sees every class by one number, how *bad* it is: minus
its entropy where the strategy looks at l, its t where it looks at t, minus its size where it looks
at k. So "highest l", "lowest t" and "highest k" are one search, for the least bad; l = exp(-bad).

Everything is in one file: Numba's cache does not notice a change in a file that another imports.
A function is compiled for every type that it is called with, and each time takes seconds: what is
handed over as a candidate is int64 everywhere, and so is a choice or a sign, never a literal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "CHEAPEST",
    "CHEAPEST_THEN_LEAST_BAD",
    "GROUPS",
    "LEAST_BAD",
    "LEAST_BAD_THEN_CHEAPEST",
    "LEAST_PRODUCT",
    "LIVE",
    "LOOKS_AT_K",
    "LOOKS_AT_L",
    "LOOKS_AT_NOTHING",
    "LOOKS_AT_T",
    "MERGES",
    "NONE",
    "TOLERANCE",
    "Groups",
    "Histograms",
    "Looking",
    "Merging",
    "PrefixTree",
    "Rules",
    "measure_along",
    "merge_chosen",
    "merge_some",
    "plant",
    "tuple_hashes",
]

NONE = 2**62
"""More than any cost: there is none."""

_loop = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]
"""For loops that make no arrays: whoever calls them holds those that they work on.

Numba counts references to every array of a record that is handed over, up and down again; that took
half of the time. Without the counts nothing here may be allocated, nor kept.
"""

_MIX = np.uint64(0x9E3779B97F4A7C15)

SEARCHED, ASIDE = 0, 1
"""The roots of two trees in one: the classes that are searched, and those that are not."""

LIVE, MERGES, HEAP, SPARE, USED = range(5)
"""The places in ``Merging.state``."""

TOLERANCE = 1e-9
"""Entropies and products that differ by less are equal: relative for l and products."""

CHEAPEST, CHEAPEST_THEN_LEAST_BAD, LEAST_BAD_THEN_CHEAPEST, LEAST_PRODUCT, LEAST_BAD = range(5)
"""What a partner is chosen by."""

LOOKS_AT_NOTHING, LOOKS_AT_L, LOOKS_AT_T, LOOKS_AT_K = range(4)
"""What being bad means."""

ENTRIES, NEAR, FIRST, COVERED, MARKED, GROUPS = range(6)
"""The places in ``Looking.state``."""

_SLACK = 1e-12
"""By how much a bound may be wrong because it was rounded."""

_MORE, _LESS = np.int64(1), np.int64(-1)
"""Whether counts are added or taken off."""

_STEPS, _SAMPLED = 24, 16
"""How often a factor is lowered at most until few candidates have a lower one; one in so many is
asked."""


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
        The size that no class is below during the whole run; negative where a smallest class is
        always merged, so that it is the size of that one.
    by
        What a partner is chosen by.
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
    by: int


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
    bound, down, known
        What the values of each quasi-identifier cost in this merge: a bound, the part of the other
        class, and for which merge they are known.
    path
        Room for ways down the tree: nothing is allocated in the loops.
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
    bound: np.ndarray
    down: np.ndarray
    known: np.ndarray
    path: np.ndarray
    state: np.ndarray


class Histograms(NamedTuple):
    """How often each sensitive value occurs in each live class.

    Attributes
    ----------
    logs
        n ln n for small n.
    records
        n, the number of records of the table.
    total
        Per value its number of records in the table.
    start, length
        Where the entries of a class stand, and how many they are; none once it is merged.
    value, tally
        The entries, by value. Entries only become fewer by merging, so twice the room of the
        original ones is enough: what is left of it is moved together when it is full.
    """

    logs: np.ndarray
    records: int
    total: np.ndarray
    start: np.ndarray
    length: np.ndarray
    value: np.ndarray
    tally: np.ndarray


class Groups(NamedTuple):
    """The live classes in groups, of equal size and with equal histograms.

    How bad a merge is depends on these alone, unless it meets a third class. So it is computed once
    per group: where classes are small and sensitive values few, thousands of classes are alike. A
    group goes by the number of the class that founded it, also when that class is gone.

    Attributes
    ----------
    of, following, previous
        Per class its group, and its neighbours there; -1 at the ends.
    head, members
        Per group one end of its classes, and how many they are.
    slots, chain
        The groups by the hash of what is equal: per slot one group, per group the next; or -1.
    live, place
        The groups that have members, in no order, and per group its place there.
    sizes, masses, reaches, masks
        What Looking has per class, per group in that order: a scan reads one after the other.
    bounds
        Bounds of how bad the merge with each is, in that order.
    alike, alike_value
        The groups that are as good as the best so far, and how bad merges with them are.
    met, met_bad
        Per group the last merge and third class for which it was measured, and how bad the three
        are together.
    """

    of: np.ndarray
    following: np.ndarray
    previous: np.ndarray
    head: np.ndarray
    members: np.ndarray
    slots: np.ndarray
    chain: np.ndarray
    live: np.ndarray
    place: np.ndarray
    sizes: np.ndarray
    masses: np.ndarray
    reaches: np.ndarray
    masks: np.ndarray
    bounds: np.ndarray
    alike: np.ndarray
    alike_value: np.ndarray
    met: np.ndarray
    met_bad: np.ndarray


class Looking(NamedTuple):
    """What a strategy knows of the classes beside the cost. Empty arrays if it looks at nothing.

    Attributes
    ----------
    at
        Whether it looks at l, at t, at k, or at nothing.
    whole
        Whether the whole table counts, or the merged class alone.
    histograms
        The live classes; empty where no sensitive attribute is looked at.
    bad, mass, reach
        Per class how bad it is; what bounds the same of a merged class: the sum of n ln n over its
        values (l), or its size times t (t); and the share of the table that has one of its values
        (t).
    mask, bucket, shares
        Per class the buckets that its values fall into, as bits; per value its bucket; and per set
        of buckets the share of the table in them, which bounds that of two classes together (t).
    groups
        The live classes in groups that are equally bad.
    worst
        A tree over all classes whose inner nodes hold the largest value below: how bad the worst
        live class is. Where the whole table counts.
    ends, ends_bad
        The three worst classes other than the one that is merged.
    first
        A heap of the live classes in the order of ties. Where cost does not count.
    near, near_value
        The candidates that are as good as the best so far.
    marks
        Per value its count in the class that is merged.
    third, stamp, marked
        Per candidate the third class that its merge would meet, and the last merge for which it
        was marked, or noted as one that helps; those that are marked.
    state
        The entries in use, the number of candidates near the best, the places taken in the heap,
        the last merge for which all third classes were marked, how many are marked, and the
        number of groups.
    """

    at: int
    whole: bool
    histograms: Histograms
    bad: np.ndarray
    mass: np.ndarray
    reach: np.ndarray
    mask: np.ndarray
    bucket: np.ndarray
    shares: np.ndarray
    groups: Groups
    worst: np.ndarray
    ends: np.ndarray
    ends_bad: np.ndarray
    first: np.ndarray
    near: np.ndarray
    near_value: np.ndarray
    marks: np.ndarray
    third: np.ndarray
    stamp: np.ndarray
    marked: np.ndarray
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


@_loop
def _precedes(one, other, ranks, nodes):
    """The tie rule: the lower rank (all 0 without a seed), then the lexicographic order."""
    if ranks[one] != ranks[other]:
        return ranks[one] < ranks[other]
    for j in range(nodes.shape[1]):
        if nodes[one, j] != nodes[other, j]:
            return nodes[one, j] < nodes[other, j]
    return False


# The heaps: which class is repaired next, and which stands first


@_loop
def _sooner(work, one, other, by_ties):
    """Whether a class is taken before another: by size and then ties, or by ties alone."""
    if not by_ties and work.counts[one] != work.counts[other]:
        return work.counts[one] < work.counts[other]
    return _precedes(one, other, work.ranks, work.nodes)


@_loop
def _push(work, heap, size, added, by_ties):
    """Put a class into a heap of that size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if not _sooner(work, added, heap[above], by_ties):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = added


@_loop
def _pop(work, heap, size, by_ties):
    """Take the next class that still exists, -1 if there is none; and the size that is left."""
    while size > 0:
        top = heap[0]
        size -= 1
        last = heap[size]
        place = 0
        while 2 * place + 1 < size:
            below = 2 * place + 1
            if below + 1 < size and _sooner(work, heap[below + 1], heap[below], by_ties):
                below += 1
            if not _sooner(work, heap[below], last, by_ties):
                break
            heap[place] = heap[below]
            place = below
        heap[place] = last
        if work.alive[top]:
            return top, size
    return -1, 0


# The prefix tree


@_loop
def _child(tree, entry, value):
    """The child of an entry that holds a value; -1 if none does."""
    child = tree.child[entry]
    while child >= 0 and tree.value[child] != value:
        child = tree.following[child]
    return child


@_loop
def _find(work, root, tuple_, order):
    """The class of a tuple below a root; -1 if there is none."""
    entry = root
    for j in order:
        entry = _child(work.tree, entry, tuple_[j])
        if entry < 0:
            return -1
    return work.tree.child[entry]


@_loop
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


@_loop
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


@_loop
def _add(work, rules, added):
    """Let a class live: in the tree, and in the heap if it may have to be repaired."""
    work.alive[added] = True
    work.state[LIVE] += 1
    aside = rules.first_below_k and work.counts[added] >= rules.k
    _insert(work, ASIDE if aside else SEARCHED, added, rules.order)
    if not aside:
        _push(work, work.heap, work.state[HEAP], added, rules.first_below_k)
        work.state[HEAP] += 1


# The search


@_loop
def _lca(parent, one, other):
    """The lowest common ancestor; parents have larger numbers than their children."""
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@_loop
def _times(size, weight):
    """The product, or 2^62 where the weight says that there is none."""
    return size * weight if weight < NONE else np.int64(NONE)


@_loop
def _nearer(limit, cost):
    """The smaller of a limit and a cost that may be too large for a whole number."""
    return np.int64(cost) if cost < limit else limit


@_loop
def _meet(parent, depth, mine, value, own, least):
    """What it costs at least to meet a value, and what it costs per record of the other class."""
    met = _lca(parent, mine, value)
    down = depth[value] - depth[met]
    return own * (depth[mine] - depth[met]) + least * down, down


@_loop
def _search(work, rules, looking, root, chosen, own, least, by, bar):
    """Look for partners of ``chosen`` below a root, by what they cost.

    A class y of size s costs ``own * up + s * down`` in each quasi-identifier, where ``up`` raises
    the chosen class to the LCA and ``down`` raises y. No class is smaller than ``least``, so with
    it in place of s the sum along a prefix is a lower bound for all classes below; branches that
    only reach the limit are entered, as they may hold an equal class that precedes the best.
    Where a prefix and the least that any other value than the own one adds cost more, none of the
    other values is looked at.

    Parameters
    ----------
    by
        ``CHEAPEST``: the class of least cost, by ties. ``CHEAPEST_THEN_LEAST_BAD``: all of least
        cost are put near the best, with how bad the merge would be where there are several.
        ``LEAST_BAD_THEN_CHEAPEST``: the class of least cost, by ties, among those whose merge is
        no worse than ``bar``. ``LEAST_PRODUCT``: all of about the least product of cost and
        badness are put near the best; no class has a factor below ``bar``.

    Returns
    -------
    int
        The class, where it is one; else, or if there is none, -1.
    """
    tree, nodes, order = work.tree, work.nodes, rules.order
    parents, depths = rules.parents, rules.depths
    # Per value met by this class: computed once, when needed.
    bound_of, down_of, known = work.bound, work.down, work.known
    m = len(order)
    stamp = work.state[MERGES] + 1
    logs, records, total, start, length, value_of, tally = looking.histograms
    at, whole, counts, marks = looking.at, looking.whole, work.counts, looking.marks
    masses, reaches, masks, shares = looking.mass, looking.reach, looking.mask, looking.shares
    stamps = looking.stamp
    size, mass, reach, mask = counts[chosen], 0.0, 0.0, 0
    if at != LOOKS_AT_NOTHING:
        mass, reach, mask = masses[chosen], reaches[chosen], masks[chosen]
    # Whether every merge leaves the table as bad as its worst class is: nothing to be computed.
    plain = by == CHEAPEST or _changes_nothing(looking, chosen, by, bar)
    best = np.int64(-1)
    limit = np.int64(2**63 - 1)
    product = np.inf
    if by == LEAST_PRODUCT:
        for place in range(looking.state[NEAR]):
            product = min(product, looking.near_value[place])
        limit = _nearer(limit, _most_for(product, bar))
    bound, down, current = work.path[0], work.path[1], work.path[2]
    equal = work.path[3]  # per depth the child that costs nothing, visited first
    other = work.path[4]  # per depth the least that another value adds
    bound[0] = down[0] = 0
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
        if entry < 0 or (entry != equal[depth] and bound[depth] + other[depth] > limit):
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
            bound_of[j, value], down_of[j, value] = _meet(
                parents[j], depths[j], nodes[chosen, j], value, own, least
            )
        lower = bound[depth] + bound_of[j, value]
        if lower > limit:
            continue
        raised = down[depth] + down_of[j, value]
        if depth + 1 < m:
            depth += 1
            bound[depth] = lower
            down[depth] = raised
            equal[depth] = _child(tree, entry, nodes[chosen, order[depth]])
            current[depth] = equal[depth] if equal[depth] >= 0 else tree.child[entry]
            continue
        candidate = np.int64(tree.child[entry])
        cost = lower
        if rules.weighted:
            cost += (work.counts[candidate] - least) * raised
        if cost > limit:
            continue
        if by in (CHEAPEST, LEAST_BAD_THEN_CHEAPEST):
            if cost == limit and best >= 0 and not _precedes(candidate, best, work.ranks, nodes):
                continue
            if not (plain or _no_worse(looking, work, rules, chosen, candidate, bar)):
                continue
            best, limit = candidate, cost
        elif by == CHEAPEST_THEN_LEAST_BAD:
            if cost < limit:
                looking.state[NEAR] = 0
            limit = cost
            _note(looking, candidate, 0.0)
        elif stamps[candidate] != stamp:  # else it was noted before
            found = cost * bar
            if not plain:
                if not whole:
                    # Its product is at least cost times the bound on its factor.
                    bad = _least_of_two(
                        at, logs, shares, size, mass, reach, mask, counts[candidate],
                        masses[candidate], reaches[candidate], masks[candidate],
                    )  # fmt: skip
                    if cost * _factor(at, bad) > product * (1 + TOLERANCE):
                        continue
                    bad = _bad_of_two(
                        at, logs, records, total, start, length, value_of, tally, marks,
                        chosen, candidate, size + counts[candidate], mass + masses[candidate],
                    )  # fmt: skip
                else:
                    bad = _badness(looking, work, rules, chosen, candidate)
                found = cost * _factor(at, bad)
            if found <= product * (1 + TOLERANCE):
                _note(looking, candidate, found)
            if found < product:
                product = found
                limit = _nearer(np.int64(2**63 - 1), _most_for(product, bar))
    return best


@_loop
def _cost(work, rules, chosen, candidate, own):
    """What it costs to merge two classes."""
    its = work.counts[candidate] if rules.weighted else np.int64(1)
    cost = np.int64(0)
    for j in range(work.nodes.shape[1]):
        mine, theirs = work.nodes[chosen, j], work.nodes[candidate, j]
        cost += _meet(rules.parents[j], rules.depths[j], mine, theirs, own, its)[0]
    return cost


# A tree over classes, whose inner nodes hold the largest value below


@_loop
def _rate(worst, each, bad):
    """Let a class count, or with minus infinity no longer, when the worst is looked for."""
    place = len(worst) // 2 + each
    worst[place] = bad
    place >>= 1
    while place:
        largest = max(worst[2 * place], worst[2 * place + 1])
        if worst[place] == largest:
            break
        worst[place] = largest
        place >>= 1


# Histograms of the sensitive attribute


@_loop
def _log(logs, count):
    """n ln n."""
    return logs[count] if count < len(logs) else count * np.log(count)


@_loop
def _gather(histograms, alive, state):
    """Move the entries of the live classes together; classes with larger numbers stand later."""
    place = 0
    for each in range(len(alive)):
        if not alive[each] or histograms.length[each] == 0:
            continue
        start = histograms.start[each]
        histograms.start[each] = place
        for step in range(histograms.length[each]):
            histograms.value[place] = histograms.value[start + step]
            histograms.tally[place] = histograms.tally[start + step]
            place += 1
    state[0] = place


@_loop
def _join(histograms, alive, parts, made, state, at):
    """The histogram of a class made of others, which lose theirs. ``state`` begins with ENTRIES."""
    needed = 0
    for part in parts:
        if part >= 0:
            needed += histograms.length[part]
            alive[part] = True
    if state[0] + needed > len(histograms.value):
        _gather(histograms, alive, state)
    place = state[0]
    histograms.start[made] = place
    for p in range(len(parts)):
        at[p] = 0
    while True:
        least = np.int32(2**31 - 1)
        for p in range(len(parts)):
            part = parts[p]
            if part >= 0 and at[p] < histograms.length[part]:
                least = min(least, histograms.value[histograms.start[part] + at[p]])
        if least == 2**31 - 1:
            break
        count = np.int64(0)
        for p in range(len(parts)):
            part = parts[p]
            if part >= 0 and at[p] < histograms.length[part]:
                entry = histograms.start[part] + at[p]
                if histograms.value[entry] == least:
                    count += histograms.tally[entry]
                    at[p] += 1
        histograms.value[place] = least
        histograms.tally[place] = count
        place += 1
    histograms.length[made] = place - state[0]
    state[0] = place
    for part in parts:
        if part >= 0:
            alive[part] = False
            histograms.length[part] = 0


@_loop
def _measure(histograms, each, at):
    """How bad a class is by its values, what bounds it when merged, its reach (see Looking)."""
    start, length = histograms.start[each], histograms.length[each]
    size = np.int64(0)
    for entry in range(start, start + length):
        size += histograms.tally[entry]
    if at == LOOKS_AT_L:
        gathered = 0.0
        for entry in range(start, start + length):
            gathered += _log(histograms.logs, histograms.tally[entry])
        bad = gathered / size - np.log(size) if length > 1 else 0.0
        return bad, gathered, 0.0
    above, reach = np.int64(0), np.int64(0)
    for entry in range(start, start + length):
        whole = histograms.total[histograms.value[entry]]
        above += max(histograms.tally[entry] * histograms.records - whole * size, 0)
        reach += whole
    bad = (2 * above) / (histograms.records * size)
    return bad, size * bad, reach / histograms.records


@njit(cache=True, nogil=True)
def measure_along(histograms, parts, state):
    """How bad the worst class is after 0, 1, … merges: minus its entropy, and its t.

    Parameters
    ----------
    histograms
        Those of the original classes, with twice the room; they are used up.
    parts
        The merges of the path. Shape (M, 3).
    state
        The number of entries in use.

    Returns
    -------
    tuple of numpy.ndarray
        Two of shape (M + 1,).
    """
    merges = parts.shape[0]
    size = len(histograms.length) - merges
    half = 1
    while half < size + merges:
        half *= 2
    entropy, distance = np.full(2 * half, -np.inf), np.full(2 * half, -np.inf)
    worst_entropy, worst_distance = np.empty(merges + 1), np.empty(merges + 1)
    alive = np.zeros(size + merges, dtype=np.bool_)
    at = np.zeros(3, dtype=np.int64)
    alive[:size] = True
    for each in range(size + merges):
        if each >= size:
            worst_entropy[each - size], worst_distance[each - size] = entropy[1], distance[1]
            for part in parts[each - size]:
                if part >= 0:
                    _rate(entropy, part, -np.inf)
                    _rate(distance, part, -np.inf)
            _join(histograms, alive, parts[each - size], each, state, at)
            alive[each] = True
        _rate(entropy, each, _measure(histograms, each, LOOKS_AT_L)[0])
        _rate(distance, each, _measure(histograms, each, LOOKS_AT_T)[0])
    worst_entropy[merges], worst_distance[merges] = entropy[1], distance[1]
    return worst_entropy, worst_distance


# What a strategy sees of a merge


@_loop
def _ln(logs, count):
    """ln n."""
    return logs[count] / count if count < len(logs) else np.log(count)


@_loop
def _mark(looking, each, sign):
    """Add the counts of a class to the marks, or take them off."""
    histograms = looking.histograms
    start = histograms.start[each]
    for entry in range(start, start + histograms.length[each]):
        looking.marks[histograms.value[entry]] += sign * histograms.tally[entry]


@_loop
def _logs_added(logs, value, tally, marks, first, last):
    """By how much n ln n of the marks and of a class grows where they share values."""
    grown = 0.0
    for entry in range(first, last):
        mine = marks[value[entry]]
        if mine > 0:
            its = tally[entry]
            grown += _log(logs, mine + its) - _log(logs, mine) - _log(logs, its)
    return grown


@_loop
def _excess_added(total, records, value, tally, marks, first, last, size):
    """By how much what is above the table's shares grows when a class is added to the marks.

    Of a class of that size, in whole numbers: n times the records above, summed over the values.
    """
    grown = np.int64(0)
    for entry in range(first, last):
        due = total[value[entry]] * size
        mine = marks[value[entry]] * records
        grown += max(mine + tally[entry] * records - due, 0) - max(mine - due, 0)
    return grown


@_loop
def _excess(total, records, value, tally, first, last, size):
    """The same of a class alone."""
    above = np.int64(0)
    for entry in range(first, last):
        above += max(tally[entry] * records - total[value[entry]] * size, 0)
    return above


@_loop
def _bad_of_two(
    at, logs, records, total, start, length, value, tally, marks, one, other, size, mass
):
    """How bad the merge of two classes is. The marks are those of ``one``; ``mass`` is of both.

    Takes arrays, not the records that hold them: handing those over costs more than the sum.
    """
    if at == LOOKS_AT_K:
        return -float(size)
    first, last = start[other], start[other] + length[other]
    if at == LOOKS_AT_L:
        mass += _logs_added(logs, value, tally, marks, first, last)
        return mass / size - _ln(logs, size)
    own, its = start[one], start[one] + length[one]
    above = _excess(total, records, value, tally, own, its, size)
    above += _excess_added(total, records, value, tally, marks, first, last, size)
    return (2 * above) / (records * size)


@_loop
def _merged_bad(looking, work, chosen, other, third):
    """How bad the class is that a merge makes. The marks are those of ``chosen``."""
    logs, records, total, start, length, value, tally = looking.histograms
    marks, at = looking.marks, looking.at
    size = work.counts[chosen] + work.counts[other]
    mass = looking.mass[chosen] + looking.mass[other]
    if third < 0:
        return _bad_of_two(
            at, logs, records, total, start, length, value, tally, marks, chosen, other, size, mass
        )  # fmt: skip
    size += work.counts[third]
    if at == LOOKS_AT_K:
        return -float(size)
    first, last = start[other], start[other] + length[other]
    after, end = start[third], start[third] + length[third]
    if at == LOOKS_AT_L:
        mass += looking.mass[third] + _logs_added(logs, value, tally, marks, first, last)
        _mark(looking, other, _MORE)
        mass += _logs_added(logs, value, tally, marks, after, end)
        _mark(looking, other, _LESS)
        return mass / size - _ln(logs, size)
    own, its = start[chosen], start[chosen] + length[chosen]
    above = _excess(total, records, value, tally, own, its, size)
    above += _excess_added(total, records, value, tally, marks, first, last, size)
    _mark(looking, other, _MORE)
    above += _excess_added(total, records, value, tally, marks, after, end, size)
    _mark(looking, other, _LESS)
    return (2 * above) / (records * size)


@_loop
def _least_of_two(
    at, logs, shares, size, mass, reach, mask, other_size, other_mass, other_reach, other_mask
):
    """A bound: the merge of two classes is at least so bad.

    The entropy is highest if they share no value. t is lowest if one has what the other lacks, and
    at least twice the share of the table whose values neither has.
    """
    both = size + other_size
    if at == LOOKS_AT_L:
        return (mass + other_mass) / both - _ln(logs, both) - _SLACK
    covered = min(reach + other_reach, shares[mask | other_mask])
    return max(abs(mass - other_mass) / both, 2.0 * (1.0 - covered)) - _SLACK


@_loop
def _third(looking, work, rules, chosen, candidate):
    """The class that the merge with a candidate would meet; -1 if none."""
    stamp = work.state[MERGES] + 1
    if looking.state[COVERED] == stamp:
        return looking.third[candidate] if looking.stamp[candidate] == stamp else -1
    nodes = work.nodes
    met = nodes[nodes.shape[0] // 2 + work.state[MERGES]]  # where the merged tuple will stand
    for j in range(nodes.shape[1]):
        met[j] = _lca(rules.parents[j], nodes[chosen, j], nodes[candidate, j])
    found = _find(work, SEARCHED, met, rules.order)
    return -1 if found == candidate else found


@_loop
def _others(looking, candidate, third):
    """How bad the worst class is that a merge leaves as it is."""
    for place in range(3):
        end = looking.ends[place]
        if end >= 0 and end != candidate and end != third:
            return looking.ends_bad[place]
    return -np.inf


@_loop
def _value(looking, work, chosen, candidate, third):
    """How bad the merged class is, or the table that has it."""
    bad = _merged_bad(looking, work, chosen, candidate, third)
    return max(bad, _others(looking, candidate, third)) if looking.whole else bad


@_loop
def _badness(looking, work, rules, chosen, candidate):
    """The same, the third class looked up."""
    return _value(looking, work, chosen, candidate, _third(looking, work, rules, chosen, candidate))


@_loop
def _changes_nothing(looking, chosen, by, bar):
    """Whether the table stays as bad as its worst class, whatever ``chosen`` is merged with.

    A class made of others is at most as bad as the worst of them, and by size as the best.
    """
    if not looking.whole:
        return False
    if by == LEAST_PRODUCT:  # of those that do not take in all of the worst classes
        return looking.bad[chosen] <= looking.ends_bad[0]
    fits = looking.at == LOOKS_AT_K or looking.bad[chosen] <= bar
    return fits and looking.ends_bad[0] <= bar


@_loop
def _no_worse(looking, work, rules, chosen, candidate, bar):
    """Whether a merge leaves the class, or the table, no worse than ``bar``."""
    third = _third(looking, work, rules, chosen, candidate)
    if looking.whole and _others(looking, candidate, third) > bar:
        return False
    return _merged_bad(looking, work, chosen, candidate, third) <= bar


@_loop
def _factor(at, bad):
    """What a cost is multiplied by: 1 / l, or t."""
    return np.exp(bad) if at == LOOKS_AT_L else max(bad, 0.0)


@_loop
def _most_for(product, factor):
    """The cost above which no candidate comes near a product."""
    if factor <= 0 or product == np.inf:
        return np.inf
    return product * (1 + 2 * TOLERANCE) / factor


@_loop
def _note(looking, candidate, value):
    """Put a candidate near the best."""
    place = looking.state[NEAR]
    looking.near[place] = candidate
    looking.near_value[place] = value
    looking.state[NEAR] += 1


@_loop
def _covers(parent, above, below):
    """Whether a node is another one or above it."""
    while below >= 0 and below < above:
        below = parent[below]
    return below == above


@_loop
def _mark_meeting(looking, work, rules, chosen, cover):
    """Mark the candidates whose merge with ``chosen`` meets a class that covers it."""
    tree, order, nodes = work.tree, rules.order, work.nodes
    m = len(order)
    current = work.path[5]
    depth = 0
    current[0] = tree.child[SEARCHED]
    while depth >= 0:
        entry = current[depth]
        if entry < 0:
            depth -= 1
            continue
        current[depth] = tree.following[entry]
        j = order[depth]
        value, goal = tree.value[entry], nodes[cover, j]
        if value > goal or _lca(rules.parents[j], nodes[chosen, j], value) != goal:
            continue
        if depth + 1 < m:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        candidate = tree.child[entry]
        if candidate != cover:
            looking.third[candidate] = cover
            looking.stamp[candidate] = work.state[MERGES] + 1
            looking.marked[looking.state[MARKED]] = candidate
            looking.state[MARKED] += 1


@_loop
def _mark_thirds(looking, work, rules, chosen):
    """Find the classes that stand where merges of ``chosen`` lead, and the candidates they meet.

    Such a class covers the chosen one in every quasi-identifier; the candidates are those whose
    lowest common ancestor with it is the class's own tuple.
    """
    looking.state[COVERED] = work.state[MERGES] + 1
    looking.state[MARKED] = 0
    tree, order, nodes = work.tree, rules.order, work.nodes
    m = len(order)
    current = work.path[6]
    depth = 0
    current[0] = tree.child[SEARCHED]
    while depth >= 0:
        entry = current[depth]
        if entry < 0:
            depth -= 1
            continue
        current[depth] = tree.following[entry]
        j = order[depth]
        value, mine = tree.value[entry], nodes[chosen, j]
        if value < mine or not _covers(rules.parents[j], value, mine):
            continue
        if depth + 1 < m:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        _mark_meeting(looking, work, rules, chosen, np.int64(tree.child[entry]))


# The worst classes


@_loop
def _find_ends(looking):
    """Find the three worst classes."""
    worst = looking.worst
    half = len(worst) // 2
    for end in range(3):
        bad = worst[1]
        looking.ends[end], looking.ends_bad[end] = -1, bad
        if bad == -np.inf:
            continue
        place = 1
        while place < half:
            place = 2 * place if worst[2 * place] == bad else 2 * place + 1
        looking.ends[end] = place - half
        _rate(worst, place - half, -np.inf)
    for end in range(3):
        if looking.ends[end] >= 0:
            _rate(worst, looking.ends[end], looking.ends_bad[end])


@_loop
def _note_if_helping(looking, work, chosen, candidate, third, slack):
    """Note a candidate whose merge takes in all of the worst classes. Returns how bad it is."""
    stamp = work.state[MERGES] + 1
    left = _others(looking, candidate, third)
    if not left < looking.ends_bad[0] - slack:
        return np.inf
    looking.stamp[candidate] = stamp
    bad = _value(looking, work, chosen, candidate, third)
    _note(looking, candidate, bad)
    return bad


@_loop
def _note_helpers(looking, work, rules, chosen, slack):
    """Note the candidates whose merge takes in all of the worst classes: two at most.

    No other merge helps the table. Returns how bad it is after the best of them; infinite if there
    are none.
    """
    state, ends, ends_bad = looking.state, looking.ends, looking.ends_bad
    state[NEAR] = state[MARKED] = 0
    least = np.inf
    if not ends_bad[2] < ends_bad[0] - slack:
        return least
    worst = ends[0]
    alone = ends_bad[1] < ends_bad[0] - slack
    for j in range(work.nodes.shape[1]):
        above, below = work.nodes[worst, j], work.nodes[chosen, j]
        alone = alone and _covers(rules.parents[j], above, below)
    if alone:
        _mark_meeting(looking, work, rules, chosen, worst)
        for place in range(state[MARKED]):
            candidate = looking.marked[place]
            bad = _note_if_helping(looking, work, chosen, candidate, worst, slack)
            least = min(least, bad)
    for end in range(2):
        candidate = ends[end]
        if candidate >= 0 and looking.stamp[candidate] != work.state[MERGES] + 1:
            third = _third(looking, work, rules, chosen, candidate)
            bad = _note_if_helping(looking, work, chosen, candidate, third, slack)
            least = min(least, bad)
    return least


# The partner


@_loop
def _bound_all(looking, work, chosen):
    """Bound how bad the merges with all groups are. Returns the place of the least bound."""
    at, logs, groups = looking.at, looking.histograms.logs, looking.groups
    sizes, masses, reaches, bounds = groups.sizes, groups.masses, groups.reaches, groups.bounds
    masks, shares, mask = groups.masks, looking.shares, looking.mask[chosen]
    size, mass, reach = work.counts[chosen], looking.mass[chosen], looking.reach[chosen]
    number = looking.state[GROUPS]
    if at == LOOKS_AT_L:
        for place in range(number):
            both = size + sizes[place]
            bounds[place] = (mass + masses[place]) / both - _ln(logs, both) - _SLACK
    elif at == LOOKS_AT_K:
        for place in range(number):
            bounds[place] = -float(size + sizes[place])
    else:
        for place in range(number):
            covered = min(reach + reaches[place], shares[mask | masks[place]])
            apart = abs(mass - masses[place]) / (size + sizes[place])
            bounds[place] = max(apart, 2.0 * (1.0 - covered)) - _SLACK
    first = 0
    for place in range(number):
        if bounds[place] < bounds[first]:
            first = place
    return first


@_loop
def _unmarked(looking, candidate, stamp):
    """The class, or the next of its group, that is not marked; -1 if there is none."""
    while candidate >= 0 and looking.stamp[candidate] == stamp:
        candidate = looking.groups.following[candidate]
    return candidate


@_loop
def _marked_bad(looking, work, chosen, candidate):
    """How bad the merge with a marked candidate is, measured once per group and third class."""
    groups, third = looking.groups, looking.third[candidate]
    group, met = groups.of[candidate], (work.state[MERGES] + 1) * len(work.counts) + third
    if groups.met[group] != met:
        groups.met[group] = met
        groups.met_bad[group] = _merged_bad(looking, work, chosen, candidate, third)
    return groups.met_bad[group]


@_loop
def _note_least_bad(looking, work, rules, chosen, slack):
    """Note all candidates whose merge is about the least bad. Returns how bad that is."""
    logs, records, total, start, length, value, tally = looking.histograms
    groups, state, marks, at = looking.groups, looking.state, looking.marks, looking.at
    bounds, alike, alike_value = groups.bounds, groups.alike, groups.alike_value
    counts, masses, stamp = work.counts, looking.mass, work.state[MERGES] + 1
    size, mass = counts[chosen], masses[chosen]
    first = groups.live[_bound_all(looking, work, chosen)]
    best = _badness(looking, work, rules, chosen, groups.head[first])
    state[NEAR] = 0
    for place in range(state[MARKED]):
        candidate = looking.marked[place]
        found = _marked_bad(looking, work, chosen, candidate)
        if found < best - slack:
            state[NEAR] = 0
        best = min(best, found)
        if found <= best + slack:
            _note(looking, candidate, found)
    noted = 0
    for place in range(state[GROUPS]):
        if bounds[place] > best + slack:
            continue
        group = groups.live[place]
        candidate = _unmarked(looking, groups.head[group], stamp)
        if candidate < 0:
            continue
        found = _bad_of_two(
            at, logs, records, total, start, length, value, tally, marks,
            chosen, candidate, size + counts[candidate], mass + masses[candidate],
        )  # fmt: skip
        if found < best - slack:
            noted = 0
        best = min(best, found)
        if found <= best + slack:
            alike[noted], alike_value[noted] = group, found
            noted += 1
    for place in range(noted):
        candidate = _unmarked(looking, groups.head[alike[place]], stamp)
        while candidate >= 0:
            _note(looking, candidate, alike_value[place])
            candidate = _unmarked(looking, groups.following[candidate], stamp)
    return best


@_loop
def _note_least_bad_table(looking, work, rules, chosen, slack):
    """Note all candidates after whose merge the table is about the least bad.

    Returns how bad that is. Any of them may meet a third class, so all are looked at.
    """
    groups, state = looking.groups, looking.state
    best = np.inf
    state[NEAR] = 0
    for place in range(state[GROUPS]):
        candidate = groups.head[groups.live[place]]
        while candidate >= 0:
            found = _badness(looking, work, rules, chosen, candidate)
            if found < best - slack:
                state[NEAR] = 0
            best = min(best, found)
            if found <= best + slack:
                _note(looking, candidate, found)
            candidate = groups.following[candidate]
    return best


@_loop
def _note_product(looking, work, rules, chosen, candidate, own, product):
    """Note a candidate with its product of cost and badness, if it may be near the least."""
    cost = _cost(work, rules, chosen, candidate, own)
    found = cost * _factor(looking.at, _badness(looking, work, rules, chosen, candidate))
    if found <= product * (1 + TOLERANCE):
        _note(looking, candidate, found)
    return min(product, found)


@_loop
def _cost_up_to(work, rules, chosen, candidate, own, least, most):
    """What it costs to merge two classes; or, where it is more than ``most``, some more than it."""
    stamp, known = work.state[MERGES] + 1, work.known
    more = work.counts[candidate] - least if rules.weighted else np.int64(0)
    cost = np.int64(0)
    for j in rules.order:
        value = work.nodes[candidate, j]
        if known[j, value] != stamp:
            known[j, value] = stamp
            work.bound[j, value], work.down[j, value] = _meet(
                rules.parents[j], rules.depths[j], work.nodes[chosen, j], value, own, least
            )
        cost += work.bound[j, value] + more * work.down[j, value]
        if cost > most:
            break
    return cost


@_loop
def _note_low_products(looking, work, rules, root, chosen, own, least):
    """Look one by one at the candidates with the lowest factors, so that a search can leave them.

    The more of them are looked at, the higher is the factor that all others have at least, and the
    less of the tree has to be searched. Returns that factor. Those that meet a third class have
    another bound: they are looked at here, too, wherever they stand, so that a search leaves them.
    """
    at, groups, state = looking.at, looking.groups, looking.state
    bounds, counts, stamp = groups.bounds, work.counts, state[COVERED]
    logs, records, total, start, length, value, tally = looking.histograms
    masses, reaches, masks, marks = looking.mass, looking.reach, looking.mask, looking.marks
    marked, thirds, shares = looking.marked, looking.third, looking.shares
    size, mass = counts[chosen], masses[chosen]
    cheapest = _search(work, rules, looking, root, chosen, own, least, np.int64(CHEAPEST), 0.0)
    _bound_all(looking, work, chosen)
    usual = _badness(looking, work, rules, chosen, cheapest)
    product = _cost(work, rules, chosen, cheapest, own) * _factor(at, usual)
    _note(looking, cheapest, product)
    number = state[GROUPS]
    # Downwards from how bad the merge with the cheapest class is, until about a tenth is below.
    bar = usual
    for _ in range(_STEPS):
        bar = bar - 0.5 * np.log(2.0) if at == LOOKS_AT_L else bar * np.sqrt(0.5)
        below = 0
        for place in range(0, number, _SAMPLED):
            below += bounds[place] < bar
        if below * _SAMPLED <= 16 + number // 10:
            break
    for place in range(number):
        if bounds[place] >= bar:
            continue
        most = _most_for(product, _factor(at, bounds[place]))
        bad = -np.inf  # not measured yet
        candidate = _unmarked(looking, groups.head[groups.live[place]], stamp)
        while candidate >= 0:
            cost = _cost_up_to(work, rules, chosen, candidate, own, least, most)
            if cost <= most:
                if bad == -np.inf:
                    bad = _bad_of_two(
                        at, logs, records, total, start, length, value, tally, marks,
                        chosen, candidate, size + counts[candidate], mass + masses[candidate],
                    )  # fmt: skip
                found = cost * _factor(at, bad)
                if found <= product * (1 + TOLERANCE):
                    _note(looking, candidate, found)
                    product = min(product, found)
                most = _most_for(product, _factor(at, bad))
            candidate = _unmarked(looking, groups.following[candidate], stamp)
    third, both, joint, reach, mask = -1, size, mass, 0.0, masks[chosen]
    for place in range(state[MARKED]):
        candidate = marked[place]
        if thirds[candidate] != third:  # it is often the same as the one before
            third = thirds[candidate]
            both = size + counts[third]
            bad = _bad_of_two(
                at, logs, records, total, start, length, value, tally, marks,
                chosen, third, both, mass + masses[third],
            )  # fmt: skip
            joint = both * (bad + _ln(logs, both) if at == LOOKS_AT_L else bad)
            reach, mask = reaches[chosen] + reaches[third], masks[chosen] | masks[third]
        bad = _least_of_two(
            at, logs, shares, both, joint, reach, mask, counts[candidate],
            masses[candidate], reaches[candidate], masks[candidate],
        )  # fmt: skip
        most = _most_for(product, _factor(at, bad))
        cost = _cost_up_to(work, rules, chosen, candidate, own, least, most)
        if cost > most:
            continue
        found = cost * _factor(at, _merged_bad(looking, work, chosen, candidate, third))
        if found <= product * (1 + TOLERANCE):
            _note(looking, candidate, found)
            product = min(product, found)
    return _factor(at, bar)


@_loop
def _first_near(looking, work, rules, chosen, own, most):
    """Of the candidates noted with a value up to ``most``, the cheapest or the first, by ties."""
    by_cost = rules.by == LEAST_BAD_THEN_CHEAPEST
    best, least = -1, np.int64(0)
    for place in range(looking.state[NEAR]):
        if looking.near_value[place] > most:
            continue
        candidate = looking.near[place]
        cost = _cost(work, rules, chosen, candidate, own) if by_cost else np.int64(0)
        if (
            best < 0
            or cost < least
            or (cost == least and _precedes(candidate, best, work.ranks, work.nodes))
        ):
            best, least = candidate, cost
    return best


@_loop
def _first_no_worse(looking, work, rules, chosen, bar):
    """The first class, by ties, whose merge is no worse than ``bar``; -1 if none is."""
    first, size = looking.first, looking.state[FIRST]
    plain = _changes_nothing(looking, chosen, np.int64(LEAST_BAD), bar)
    passed = 0  # those that are too bad, kept aside
    found = -1
    while True:
        candidate, size = _pop(work, first, size, True)
        if candidate < 0:
            break
        looking.near[passed] = candidate
        passed += 1
        if plain or _no_worse(looking, work, rules, chosen, candidate, bar):
            found = candidate
            break
    for place in range(passed):
        _push(work, first, size, looking.near[place], True)
        size += 1
    looking.state[FIRST] = size
    return found


@_loop
def _least_noted(looking):
    """The least value that was noted."""
    least = np.inf
    for place in range(looking.state[NEAR]):
        least = min(least, looking.near_value[place])
    return least


@_loop
def _note_helping_products(looking, work, rules, chosen, own, slack):
    """Note the candidates whose merge takes in all of the worst classes, if they may be near.

    What a search has noted of them is too high: the factor of all other candidates.
    """
    ends, ends_bad = looking.ends, looking.ends_bad
    if not ends_bad[2] < ends_bad[0] - slack:
        return
    product = _least_noted(looking)
    for end in range(2):
        candidate = ends[end]
        if candidate < 0:
            continue
        # Without it, and at best without the other one, too: the third is the worst that is left.
        cost = _cost(work, rules, chosen, candidate, own)
        if cost * _factor(looking.at, ends_bad[2]) <= product * (1 + TOLERANCE):
            product = _note_product(looking, work, rules, chosen, candidate, own, product)
    worst = ends[0]
    if not ends_bad[1] < ends_bad[0] - slack:
        return
    for j in range(work.nodes.shape[1]):
        if not _covers(rules.parents[j], work.nodes[worst, j], work.nodes[chosen, j]):
            return
    looking.state[MARKED] = 0
    _mark_meeting(looking, work, rules, chosen, worst)
    for place in range(looking.state[MARKED]):
        candidate = looking.marked[place]
        product = _note_product(looking, work, rules, chosen, candidate, own, product)


@_loop
def _partner_by_product(work, rules, looking, root, chosen, own, least, slack):
    """The class of least cost times badness."""
    looking.state[NEAR] = 0
    if looking.whole:
        bar = _factor(looking.at, looking.ends_bad[0])
        _search(work, rules, looking, root, chosen, own, least, rules.by, bar)
        _note_helping_products(looking, work, rules, chosen, own, slack)
    else:
        _mark_thirds(looking, work, rules, chosen)
        bar = _note_low_products(looking, work, rules, root, chosen, own, least)
        _search(work, rules, looking, root, chosen, own, least, rules.by, bar)
    most = _least_noted(looking) * (1 + TOLERANCE)
    return _first_near(looking, work, rules, chosen, own, most)


@_loop
def _partner_by_badness(work, rules, looking, root, chosen, own, least, slack):
    """The class whose merge is least bad; where cost counts, the cheapest of those."""
    by = rules.by
    if looking.whole:
        bar = looking.ends_bad[0]
        helped = _note_helpers(looking, work, rules, chosen, slack)
        if helped < bar - slack:
            return _first_near(looking, work, rules, chosen, own, helped + slack)
        bar = min(bar, helped) + slack
        looking.state[NEAR] = 0
        if by == LEAST_BAD_THEN_CHEAPEST:
            best = _search(work, rules, looking, root, chosen, own, least, by, bar)
        else:
            best = _first_no_worse(looking, work, rules, chosen, bar)
        if best >= 0:
            return best
        lowest = _note_least_bad_table(looking, work, rules, chosen, slack)
    else:
        _mark_thirds(looking, work, rules, chosen)
        lowest = _note_least_bad(looking, work, rules, chosen, slack)
    return _first_near(looking, work, rules, chosen, own, lowest + slack)


@_loop
def _partner_by_cost(work, rules, looking, root, chosen, own, least, slack):
    """The class of least cost; of several, the one whose merge is least bad."""
    looking.state[NEAR] = 0
    _search(work, rules, looking, root, chosen, own, least, rules.by, 0.0)
    if looking.state[NEAR] == 1:
        return looking.near[0]
    for place in range(looking.state[NEAR]):
        bad = _badness(looking, work, rules, chosen, looking.near[place])
        looking.near_value[place] = bad
    most = _least_noted(looking) + slack
    return _first_near(looking, work, rules, chosen, own, most)


@_loop
def _partner(work, rules, looking, root, chosen, own, least):
    """The class to merge ``chosen`` with, as the strategy says."""
    by = rules.by
    if by == CHEAPEST:
        return _search(work, rules, looking, root, chosen, own, least, by, 0.0)
    slack = TOLERANCE if looking.at == LOOKS_AT_L else 0.0
    _mark(looking, chosen, _MORE)
    if looking.whole:
        _find_ends(looking)
    if by == CHEAPEST_THEN_LEAST_BAD:
        best = _partner_by_cost(work, rules, looking, root, chosen, own, least, slack)
    elif by == LEAST_PRODUCT:
        best = _partner_by_product(work, rules, looking, root, chosen, own, least, slack)
    else:
        best = _partner_by_badness(work, rules, looking, root, chosen, own, least, slack)
    _mark(looking, chosen, _LESS)
    return best


# The groups of classes that are alike


@_loop
def _slot(looking, work, each):
    """The slot of a class: a hash of its size and histogram (splitmix64)."""
    histograms = looking.histograms
    start, length = histograms.start[each], histograms.length[each]
    state = np.uint64(work.counts[each]) * _MIX
    for entry in range(start, start + length):
        state = (state ^ np.uint64(histograms.value[entry])) * np.uint64(0xBF58476D1CE4E5B9)
        state = state ^ (state >> np.uint64(27))
        state = (state ^ np.uint64(histograms.tally[entry])) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.int64(state & np.uint64(len(looking.groups.slots) - 1))


@_loop
def _alike(looking, work, one, other):
    """Whether two classes have the same size and histogram."""
    histograms = looking.histograms
    length = histograms.length[one]
    if work.counts[one] != work.counts[other] or length != histograms.length[other]:
        return False
    its, others = histograms.start[one], histograms.start[other]
    for step in range(length):
        if histograms.value[its + step] != histograms.value[others + step]:
            return False
        if histograms.tally[its + step] != histograms.tally[others + step]:
            return False
    return True


@_loop
def _found(looking, work, founder, slot):
    """Begin a group with the class that is the first of its kind: measure it."""
    groups, histograms = looking.groups, looking.histograms
    if looking.at == LOOKS_AT_K:
        bad, mass, reach = -float(work.counts[founder]), 0.0, 0.0
    else:
        bad, mass, reach = _measure(histograms, founder, looking.at)
    mask = 0
    if looking.at == LOOKS_AT_T:
        start = histograms.start[founder]
        for entry in range(start, start + histograms.length[founder]):
            mask |= 1 << looking.bucket[histograms.value[entry]]
    looking.bad[founder], looking.mass[founder] = bad, mass
    looking.reach[founder], looking.mask[founder] = reach, mask
    place = looking.state[GROUPS]
    groups.live[place], groups.place[founder] = founder, place
    groups.sizes[place], groups.masses[place] = work.counts[founder], mass
    groups.reaches[place], groups.masks[place] = reach, mask
    groups.head[founder], groups.members[founder] = -1, 0
    groups.chain[founder] = groups.slots[slot]
    groups.slots[slot] = founder
    looking.state[GROUPS] += 1


@_loop
def _close(looking, group, slot):
    """Forget a group that has lost its last member."""
    groups = looking.groups
    above = groups.slots[slot]
    if above == group:
        groups.slots[slot] = groups.chain[group]
    else:
        while groups.chain[above] != group:
            above = groups.chain[above]
        groups.chain[above] = groups.chain[group]
    looking.state[GROUPS] -= 1
    place, last = groups.place[group], looking.state[GROUPS]
    moved = groups.live[last]
    groups.live[place], groups.place[moved] = moved, place
    groups.sizes[place] = groups.sizes[last]
    groups.masses[place] = groups.masses[last]
    groups.reaches[place] = groups.reaches[last]
    groups.masks[place] = groups.masks[last]


@_loop
def _see(looking, work, added):
    """Let a strategy know of a class that lives now."""
    groups = looking.groups
    slot = _slot(looking, work, added)
    group = groups.slots[slot]
    while group >= 0 and not _alike(looking, work, groups.head[group], added):
        group = groups.chain[group]
    if group < 0:
        group = added
        _found(looking, work, added, slot)
    else:
        looking.bad[added], looking.mass[added] = looking.bad[group], looking.mass[group]
        looking.reach[added], looking.mask[added] = looking.reach[group], looking.mask[group]
    head = groups.head[group]
    groups.of[added], groups.following[added], groups.previous[added] = group, head, -1
    if head >= 0:
        groups.previous[head] = added
    groups.head[group] = added
    groups.members[group] += 1
    if looking.whole:
        _rate(looking.worst, added, looking.bad[added])
    if len(looking.first):
        _push(work, looking.first, looking.state[FIRST], added, True)
        looking.state[FIRST] += 1


@_loop
def _miss(looking, work, gone):
    """Let a strategy know of a class that has just gone; its histogram still stands."""
    groups = looking.groups
    group, before, after = groups.of[gone], groups.previous[gone], groups.following[gone]
    if before >= 0:
        groups.following[before] = after
    else:
        groups.head[group] = after
    if after >= 0:
        groups.previous[after] = before
    groups.members[group] -= 1
    if groups.members[group] == 0:
        _close(looking, group, _slot(looking, work, gone))
    if looking.whole:
        _rate(looking.worst, gone, -np.inf)


# The run


@_loop
def _let_live(work, rules, looking, added):
    _add(work, rules, added)
    if looking.at != LOOKS_AT_NOTHING:
        _see(looking, work, added)


@_loop
def _let_go(work, looking, gone):
    _remove(work, gone)
    if looking.at != LOOKS_AT_NOTHING:
        _miss(looking, work, gone)


@_loop
def plant(work, rules, looking, planted):
    """Let the original classes live, in the order given, which changes the speed alone."""
    work.tree.child[SEARCHED] = -1
    work.tree.child[ASIDE] = -1
    work.state[USED] = 2
    for e in planted:
        _let_live(work, rules, looking, e)


@_loop
def _merge(work, rules, looking, chosen):
    """Merge a class with its partner. Returns the class that is made."""
    nodes, counts, state = work.nodes, work.counts, work.state
    merge = state[MERGES]
    made = nodes.shape[0] // 2 + merge
    _let_go(work, looking, chosen)
    own = least = np.int64(1)
    if rules.weighted:
        own = counts[chosen]
        least = own if rules.least < 0 else rules.least
    root = SEARCHED if work.tree.child[SEARCHED] >= 0 else ASIDE
    other = _partner(work, rules, looking, root, chosen, own, least)
    _let_go(work, looking, other)
    for j in range(nodes.shape[1]):
        nodes[made, j] = _lca(rules.parents[j], nodes[chosen, j], nodes[other, j])
    work.ranks[made] = _hash(nodes[made], rules.seed) if rules.seed >= 0 else np.uint64(0)
    counts[made] = counts[chosen] + counts[other]
    third = _find(work, SEARCHED, nodes[made], rules.order)
    if third < 0:
        third = _find(work, ASIDE, nodes[made], rules.order)
    if third >= 0:
        counts[made] += counts[third]
        _let_go(work, looking, third)
    work.parts[merge, 0] = chosen
    work.parts[merge, 1] = other
    work.parts[merge, 2] = third
    work.smallest[merge] = counts[chosen]
    if looking.at != LOOKS_AT_NOTHING:
        _join(looking.histograms, work.alive, work.parts[merge], made, looking.state, work.path[7])
    _let_live(work, rules, looking, made)
    state[MERGES] += 1
    return made


@_loop
def merge_some(work, rules, looking, n):
    """Merge until every class holds k records, or ``n`` merges more were made.

    Parameters
    ----------
    work
        The run so far, which is continued; :func:`plant` has begun it.
    rules
        What stays the same.
    looking
        What the strategy sees of the classes beside the cost.
    n
        The number of merges after which to return, to report progress.

    Returns
    -------
    bool
        Whether every class holds k records.
    """
    for _ in range(n):
        if work.state[LIVE] <= 1:
            return True
        chosen, work.state[HEAP] = _pop(work, work.heap, work.state[HEAP], rules.first_below_k)
        if chosen < 0 or work.counts[chosen] >= rules.k:
            return True
        _merge(work, rules, looking, chosen)
    return False


@_loop
def merge_chosen(work, rules, looking, chosen):
    """Merge one class with its partner, whatever its size. Returns the class that is made."""
    return _merge(work, rules, looking, chosen)
