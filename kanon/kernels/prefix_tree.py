"""The live classes in a prefix tree: one level per quasi-identifier, one path per class.

A path ends as soon as it leads to one class alone: what follows is read off its tuple. In tables of
many columns nearly all classes are alone after two or three of them.
"""

import numpy as np

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.heap import add_to_heap
from kanon.kernels.merging_state import ASIDE, HEAP, LIVE, SEARCHED, SPARE, USED


@loop
def find_child(tree, entry, value):
    """The child of an entry that holds a value; -1 if none."""
    child = tree.child[entry]
    while child >= 0 and tree.value[child] != value:
        child = tree.following[child]
    return child


@loop
def is_aside(work, rules, c):
    return rules.first_below_k and work.counts[c] >= rules.k


@loop
def find_class(work, root, tuple_, order):
    entry = root
    for j in order:
        entry = find_child(work.tree, entry, tuple_[j])
        if entry < 0:
            return -1
        if work.tree.child[entry] < -1:
            c = get_class(work.tree, entry)
            for place in range(len(tuple_)):
                if work.nodes[c, place] != tuple_[place]:
                    return -1
            return c
    return -1


@loop
def get_class(tree, entry):
    """The class at the end of a path; negative for an entry that paths pass through."""
    return np.int64(-2) - tree.child[entry]


@kernel(seconds=1)
def build_prefix_tree(work, rules, classes):
    """Build the tree of sorted classes, level by level: siblings are neighbours in memory."""
    tree, state, leaf, nodes = work.tree, work.state, work.leaf, work.nodes
    tree.child[SEARCHED] = tree.child[ASIDE] = -1
    state[SPARE], state[USED] = 0, 2
    for c in classes:
        leaf[c] = ASIDE if is_aside(work, rules, c) else SEARCHED
    for j in rules.order:
        above, entry = -1, -1
        for c in classes:
            if tree.child[leaf[c]] < -1:  # its path has ended
                continue
            if leaf[c] != above or nodes[c, j] != tree.value[entry]:
                before = entry if leaf[c] == above else -1
                above, entry = leaf[c], state[USED]
                state[USED] += 1
                tree.value[entry] = nodes[c, j]
                tree.above[entry] = above
                tree.previous[entry] = before
                tree.following[entry] = tree.child[entry] = -1
                if before < 0:
                    tree.child[above] = entry
                else:
                    tree.following[before] = entry
            leaf[c] = entry
        for place, c in enumerate(classes):
            shared = place > 0 and leaf[classes[place - 1]] == leaf[c]
            shared = shared or (place + 1 < len(classes) and leaf[classes[place + 1]] == leaf[c])
            if not shared:
                tree.child[leaf[c]] = -2 - c


@loop
def _end_path(work, entry, value, c):
    """Let the path of a class end with a value below an entry."""
    tree, state = work.tree, work.state
    if state[SPARE] > 0:
        state[SPARE] -= 1
        child = tree.spare[state[SPARE]]
    else:
        child = state[USED]
        state[USED] += 1
    tree.value[child] = value
    tree.child[child] = -2 - c
    tree.above[child] = entry
    tree.previous[child] = -1
    tree.following[child] = tree.child[entry]
    if tree.child[entry] >= 0:
        tree.previous[tree.child[entry]] = child
    tree.child[entry] = child
    work.leaf[c] = child


@loop
def _insert_class(work, root, added, order):
    tree, nodes = work.tree, work.nodes
    entry = root
    for depth in range(len(order)):
        value = nodes[added, order[depth]]
        child = find_child(tree, entry, value)
        if child < 0:
            _end_path(work, entry, value, added)
            return
        entry = child
        other = get_class(tree, entry)
        if other >= 0:  # the two part further down
            tree.child[entry] = -1
            _end_path(work, entry, nodes[other, order[depth + 1]], other)


@loop
def remove_class(work, c):
    """Take a class out of the tree, and every entry that then leads nowhere."""
    tree, state = work.tree, work.state
    work.alive[c] = False
    state[LIVE] -= 1
    entry = work.leaf[c]
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
        if tree.child[above] != -1:
            break
        entry = above


@loop
def set_alive(work, rules, added):
    work.alive[added] = True
    work.state[LIVE] += 1
    if not is_aside(work, rules, added):
        add_to_heap(work, work.heap, work.state[HEAP], added, rules.first_below_k)
        work.state[HEAP] += 1


@loop
def add_class(work, rules, added):
    aside = is_aside(work, rules, added)
    _insert_class(work, ASIDE if aside else SEARCHED, added, rules.order)
    set_alive(work, rules, added)
