"""The third class that a merge meets: one that stands where the merged tuple leads."""

from kanon.kernels.ancestors import is_ancestor_or_self, lca
from kanon.kernels.compilation import loop
from kanon.kernels.merging_state import COVERED, MARKED, MERGES, SEARCHED
from kanon.kernels.prefix_tree import get_class


@loop
def _meets(rules, j, mine, value, goal):
    return value <= goal and lca(rules.parents[j], mine, value) == goal


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
        if not _meets(rules, j, nodes[chosen, j], tree.value[entry], nodes[cover, j]):
            continue
        candidate = get_class(tree, entry)
        if candidate < 0:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        meets = candidate != cover
        for d in range(depth + 1, m):
            j = order[d]
            meets = meets and _meets(
                rules, j, nodes[chosen, j], nodes[candidate, j], nodes[cover, j]
            )
        if meets:
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
        if not is_ancestor_or_self(rules.parents[j], tree.value[entry], nodes[chosen, j]):
            continue
        cover = get_class(tree, entry)
        if cover < 0:
            depth += 1
            current[depth] = tree.child[entry]
            continue
        covers = True
        for d in range(depth + 1, m):
            j = order[d]
            covers = covers and is_ancestor_or_self(
                rules.parents[j], nodes[cover, j], nodes[chosen, j]
            )
        if covers:
            mark_meeting(view, work, rules, chosen, cover)
