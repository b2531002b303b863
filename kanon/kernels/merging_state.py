"""What greedy merging works on: its rules, the live classes, and what a strategy sees of them.

A strategy that looks at more than the cost sees every class by one number, how *bad* it is: minus
its entropy where the strategy looks at l, its t where it looks at t, minus its size where it looks
at k. So "highest l", "lowest t" and "highest k" are one search, for the least bad; l = exp(-bad).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NONE = 2**62
"""More than any cost: there is none."""

LIVE, MERGES, HEAP, SPARE, USED = range(5)
"""The places in ``Merging.state``."""

CHEAPEST, CHEAPEST_THEN_LEAST_BAD, LEAST_BAD_THEN_CHEAPEST, LEAST_PRODUCT, LEAST_BAD = range(5)
"""What a partner is chosen by."""

LOOKS_AT_L, LOOKS_AT_T, LOOKS_AT_K = range(3)
"""What being bad means."""

ENTRIES, NEAR, FIRST, COVERED, MARKED, GROUPS = range(6)
"""The places in ``StrategyView.state``."""

SEARCHED, ASIDE = 0, 1
"""The roots of two trees in one: the classes that are searched, and those that are not."""

TOLERANCE = 1e-9
"""Entropies and products that differ by less are equal: relative for l and products."""

SLACK = 1e-12
"""By how much a bound may be wrong because it was rounded."""

MORE, LESS = np.int64(1), np.int64(-1)
"""Whether counts are added or taken off."""


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
    The first four are columns of one array: what a search reads of an entry is side by side.
    """

    value: np.ndarray
    child: np.ndarray
    following: np.ndarray
    above: np.ndarray
    previous: np.ndarray
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
        Room for what is counted per depth of the tree: nothing is allocated in the loops.
    branches
        The branches that a search has yet to look at, the last one next: what a class below costs
        at least, the part of the other class in it, their entries, and how deep these are.
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
    branches: np.ndarray
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
        What StrategyView has per class, per group in that order: a scan reads one after the other.
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


class StrategyView(NamedTuple):
    """What a strategy knows of the classes beside the cost.

    Attributes
    ----------
    at
        Whether it looks at l, at t or at k.
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
