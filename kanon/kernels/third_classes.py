"""The third class that a merge meets: one that stands where the merged tuple leads."""

import numpy as np

from kanon.kernels.ancestors import is_ancestor_or_self, lca
from kanon.kernels.compilation import loop
from kanon.kernels.merging_state import COVERED, MARKED, MERGES, SEARCHED


@loop
def mark_meeting(view, work, rules, chosen, cover):
    tree, order, nodes = work.tree, rules.order, work.nodes
    m = len(order)
    current = work.path[1]
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
        if value > goal or lca(rules.parents[j], nodes[chosen, j], value) != goal:
            continue
        if depth + 1 < m:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        candidate = tree.child[entry]
        if candidate != cover:
            view.third[candidate] = cover
            view.stamp[candidate] = work.state[MERGES] + 1
            view.marked[view.state[MARKED]] = candidate
            view.state[MARKED] += 1


@loop
def mark_thirds(view, work, rules, chosen):
    """Find the classes that merges of ``chosen`` meet, and the candidates whose merges do."""
    view.state[COVERED] = work.state[MERGES] + 1
    view.state[MARKED] = 0
    tree, order, nodes = work.tree, rules.order, work.nodes
    m = len(order)
    current = work.path[2]
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
        if value < mine or not is_ancestor_or_self(rules.parents[j], value, mine):
            continue
        if depth + 1 < m:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        mark_meeting(view, work, rules, chosen, np.int64(tree.child[entry]))
