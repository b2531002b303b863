"""What greedy merging works on: its rules, the live classes, and what a strategy sees of them.

A strategy that looks at more than the cost sees every class by one number, how *bad* it is: minus
its entropy where the strategy looks at l, its t where it looks at t, minus its size where it looks
at k. So "highest l", "lowest t" and "highest k" are one search, for the least bad; l = exp(-bad).
"""

from typing import NamedTuple

import numpy as np

from kanon.kernels.digits import Digits

NONE = 2**62  # more than any cost: there is none

LIVE, MERGES, HEAP, SPARE, USED = range(5)  # the places in ``Merging.state``

CHEAPEST, CHEAPEST_THEN_LEAST_BAD, LEAST_BAD_THEN_CHEAPEST, LEAST_PRODUCT, LEAST_BAD = range(5)
"""What a partner is chosen by."""

LOOKS_AT_L, LOOKS_AT_T, LOOKS_AT_K = range(3)  # what being bad means

ENTRIES, NEAR, FIRST, COVERED, MARKED, GROUPS = range(6)  # the places in ``StrategyView.state``

SEARCHED, ASIDE = 0, 1
"""The roots of two trees in one: the classes that are searched, and those that are not."""

TOLERANCE = 1e-12
"""Entropies and products that differ by less are equal: relative for l and products."""

SLACK = 1e-12  # by how much a bound may be wrong because it was rounded

MORE, LESS = np.int64(1), np.int64(-1)  # whether counts are added or taken off


class Rules(NamedTuple):
    """What stays the same during a run."""

    order: np.ndarray  # the quasi-identifiers as the prefix tree has them; for speed alone
    parents: np.ndarray  # (m, N): per quasi-identifier each node's parent, -1 for roots
    depths: np.ndarray  # (m, N): each node's scaled potential
    nearest: np.ndarray  # the least weight of an edge from below a node; ``NONE`` for leaves
    k: int  # the size that every class has to reach
    weighted: bool  # whether merge costs count class sizes
    seed: int  # of ties; negative for the canonical order
    # Whether to repair the first class below k, among classes below k, instead of the smallest
    # class of all with any other.
    first_below_k: bool
    least: int  # no class is ever smaller; negative where a smallest class is always merged
    by: int  # what a partner is chosen by
    digits: Digits  # what tells costs apart that had to be rounded


class PrefixTree(NamedTuple):
    """Live classes by tuple, a value per depth; the first four are columns of one array."""

    value: np.ndarray
    child: np.ndarray
    following: np.ndarray
    above: np.ndarray
    previous: np.ndarray
    spare: np.ndarray


class Merging(NamedTuple):
    # Per class made so far its tuple, size and rank; room for all that will be made.
    nodes: np.ndarray
    counts: np.ndarray
    ranks: np.ndarray
    alive: np.ndarray  # whether a class exists
    leaf: np.ndarray  # its last entry in the tree
    heap: np.ndarray  # the classes to repair, the next one first; some may be gone
    tree: PrefixTree
    parts: np.ndarray  # the merges made so far (see MergePath)
    smallest: np.ndarray
    # Per value of each quasi-identifier what it costs in this merge: a bound, the part of the
    # other class, and for which merge they are known.
    bound: np.ndarray
    down: np.ndarray
    known: np.ndarray
    path: np.ndarray  # room for counts per depth of the tree: the loops allocate nothing
    # The branches that a search has yet to look at, the last one next: what a class below costs
    # at least, the part of the other class in it, their entries, and how deep these are.
    branches: np.ndarray
    # live classes, merges, places taken in the heap, spare tree entries, tree entries ever used
    state: np.ndarray


class Histograms(NamedTuple):
    """How often each sensitive value occurs in each live class."""

    logs: np.ndarray  # n ln n for small n
    records: int  # n, the number of records of the table
    total: np.ndarray  # per value its number of records in the table
    start: np.ndarray  # where the entries of a class stand
    length: np.ndarray  # how many they are; none once it is merged
    # The entries, by value. Entries only become fewer by merging, so twice the room of the
    # original ones is enough: when it is full, what is left is moved together.
    value: np.ndarray
    tally: np.ndarray


class Groups(NamedTuple):
    """Live classes equal in size and histogram: how bad a merge is is computed once for all."""

    of: np.ndarray  # per class its group
    following: np.ndarray  # per class its neighbours in the group; -1 at the ends
    previous: np.ndarray
    head: np.ndarray  # per group one end of its classes
    members: np.ndarray  # per group how many they are
    slots: np.ndarray  # per hash of size and histogram the first group; -1 for none
    chain: np.ndarray  # per group the next one with its hash; -1 for none
    live: np.ndarray  # the groups that have members, in no order
    place: np.ndarray  # per group its place in ``live``
    # What StrategyView has per class, per live group in order: a scan reads one after the other.
    sizes: np.ndarray
    masses: np.ndarray
    reaches: np.ndarray
    masks: np.ndarray
    bounds: np.ndarray  # of how bad the merge with each is, in that order
    alike: np.ndarray  # the groups that are as good as the best so far
    alike_value: np.ndarray  # how bad merges with them are
    met: np.ndarray  # per group the last merge and third class for which it was measured
    met_bad: np.ndarray  # how bad the three are together


class StrategyView(NamedTuple):
    at: int  # whether it looks at l, at t or at k
    whole: bool  # whether the whole table counts, or the merged class alone
    histograms: Histograms  # of the live classes; empty without a sensitive attribute
    bad: np.ndarray  # per class how bad it is
    mass: np.ndarray  # for bounds: the sum of n ln n over its values (l), or its size times t (t)
    reach: np.ndarray  # the share of the table that has one of its values (t)
    mask: np.ndarray  # per class the buckets that its values fall into, as bits
    bucket: np.ndarray  # per value its bucket
    shares: np.ndarray  # per set of buckets the share of the table in them (bounds t of two)
    groups: Groups  # the live classes, in groups that are equally bad
    worst: np.ndarray  # a tree of maxima: how bad the worst live class is, for the whole table
    # the three worst classes other than the one that is merged
    ends: np.ndarray
    ends_bad: np.ndarray
    first: np.ndarray  # a heap of the live classes in the order of ties, if cost does not count
    # the candidates that are as good as the best so far
    near: np.ndarray
    near_value: np.ndarray
    marks: np.ndarray  # per value its count in the class that is merged
    third: np.ndarray  # per candidate the third class that its merge would meet
    stamp: np.ndarray  # the last merge for which it was marked, or noted as one that helps
    marked: np.ndarray  # the candidates that are marked
    # entries in use, candidates near the best, places taken in the heap, the last merge with all
    # third classes marked, how many are marked, and the number of groups
    state: np.ndarray
