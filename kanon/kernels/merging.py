"""The compiled loop of greedy merging: pick a smallest class, search for its partner, merge.

A function is compiled for every type that it is called with, and each time takes seconds: what is
handed over as a candidate is int64 everywhere, and so is a choice or a sign, never a literal. Where
cost alone counts the view is None: Numba leaves out what stands behind ``view is not None``, so the
loop that the first result needs is a small one.
"""

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import kernel, loop
from kanon.kernels.groups import add_to_group, remove_from_group
from kanon.kernels.hashing import hash_tuple
from kanon.kernels.heap import take_from_heap
from kanon.kernels.histograms import join_histograms
from kanon.kernels.merging_state import ASIDE, HEAP, LIVE, MERGES, SEARCHED
from kanon.kernels.partner import find_partner
from kanon.kernels.prefix_tree import add_class, find_class, remove_class, set_alive


@loop
def _remove_live(work, view, c):
    remove_class(work, c)
    if view is not None:
        remove_from_group(view, work, c)


@kernel(seconds=2, without=1)
def add_first_classes(work, rules, view, planted):
    for c in planted:
        set_alive(work, rules, c)
        if view is not None:
            add_to_group(view, work, c)


@kernel(seconds=22, without=2)
def merge_class(work, rules, view, chosen):
    """Merge a class with its partner, whatever its size; returns the merged class."""
    nodes, counts, state = work.nodes, work.counts, work.state
    merge = state[MERGES]
    merged = nodes.shape[0] // 2 + merge
    _remove_live(work, view, chosen)
    own = least = np.int64(1)
    if rules.weighted:
        own = counts[chosen]
        least = own if rules.least < 0 else rules.least
    root = SEARCHED if work.tree.child[SEARCHED] >= 0 else ASIDE
    other = find_partner(work, rules, view, root, chosen, own, least)
    _remove_live(work, view, other)
    for j in range(nodes.shape[1]):
        nodes[merged, j] = lca(rules.parents[j], nodes[chosen, j], nodes[other, j])
    work.ranks[merged] = hash_tuple(nodes[merged], rules.seed) if rules.seed >= 0 else np.uint64(0)
    counts[merged] = counts[chosen] + counts[other]
    third = find_class(work, SEARCHED, nodes[merged], rules.order)
    if third < 0:
        third = find_class(work, ASIDE, nodes[merged], rules.order)
    if third >= 0:
        counts[merged] += counts[third]
        _remove_live(work, view, third)
    work.parts[merge, 0] = chosen
    work.parts[merge, 1] = other
    work.parts[merge, 2] = third
    work.smallest[merge] = counts[chosen]
    if view is not None:
        parts, at = work.parts[merge], work.path[3]
        join_histograms(view.histograms, work.alive, parts, merged, view.state, at)
    add_class(work, rules, merged)
    if view is not None:
        add_to_group(view, work, merged)
    state[MERGES] += 1
    return merged


@kernel(seconds=25, without=2)
def merge_some(work, rules, view, n):
    """Merge at most ``n`` times, until every class holds k records; whether all do.

    :func:`add_first_classes` starts ``work``; ``view`` is None where only cost counts.
    """
    for _ in range(n):
        if work.state[LIVE] <= 1:
            return True
        chosen, work.state[HEAP] = take_from_heap(
            work, work.heap, work.state[HEAP], rules.first_below_k
        )
        if chosen < 0 or work.counts[chosen] >= rules.k:
            return True
        merge_class(work, rules, view, chosen)
    return False


@kernel(seconds=1, arrays=True)
def fill_joining_costs(nodes, counts, tuple_, count, parents, depths, meeting_nodes, costs):
    """Fill ``costs`` of merging each class with one tuple, and ``meeting_nodes``."""
    for i in range(nodes.shape[0]):
        cost = 0
        for j in range(nodes.shape[1]):
            high = lca(parents[j], tuple_[j], nodes[i, j])
            meeting_nodes[i, j] = high
            cost += (depths[j, tuple_[j]] - depths[j, high]) * count
            cost += (depths[j, nodes[i, j]] - depths[j, high]) * counts[i]
        costs[i] = cost
