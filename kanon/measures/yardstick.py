"""One yardstick for releases that were made with different hierarchies."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.recoding import MergePath, Recoding


def in_terms_of(tree: Hierarchy, other: Hierarchy) -> np.ndarray:
    """For every node of a hierarchy the node of another that covers the same values."""
    found = np.full(tree.n_nodes, -1, dtype=np.int32)
    for leaf in range(tree.n_leaves):
        found[leaf] = other.node_of.get(tree.labels[leaf], -1)
    for node in range(tree.root):  # parents have larger numbers: leaves upwards
        above = tree.parent[node]
        if found[node] >= 0:
            met = found[above]
            found[above] = found[node] if met < 0 else _common(other, met, found[node])
    for node in range(tree.root + 1, tree.n_nodes):  # ranges stand beside the tree
        for leaf in range(tree.first[node], tree.last[node]):
            if found[leaf] >= 0:
                met = found[node]
                found[node] = found[leaf] if met < 0 else _common(other, met, found[leaf])
    return np.where(found < 0, other.root, found).astype(np.int32)


def _common(tree: Hierarchy, one: int, other: int) -> int:
    """The lowest common ancestor; parents have larger numbers than their children."""
    while one != other:
        one, other = (tree.parent[one], other) if one < other else (one, tree.parent[other])
    return one


def path_in_terms_of(path: MergePath, yardstick: Sequence[Hierarchy]) -> MergePath:
    """A merge path as the hierarchies of the yardstick see it: for measuring alone."""
    classes, moved = _moved(path.classes, yardstick)
    nodes = np.column_stack([to[path.nodes[:, j]] for j, to in enumerate(moved)])
    return replace(path, classes=classes, nodes=nodes)


def recoding_in_terms_of(recoding: Recoding, yardstick: Sequence[Hierarchy]) -> Recoding:
    classes, moved = _moved(recoding.original, yardstick)
    nodes = np.column_stack([to[recoding.nodes[:, j]] for j, to in enumerate(moved)])
    # The levels of the released node are those of other trees.
    trace = replace(recoding.trace, node=None)
    return replace(recoding, classes=classes, nodes=nodes, ranged=(), trace=trace)


def _moved(
    classes: EquivalenceClasses, yardstick: Sequence[Hierarchy]
) -> tuple[EquivalenceClasses, list[np.ndarray]]:
    pairs = zip(classes.hierarchies, yardstick, strict=True)
    moved = [in_terms_of(tree, other) for tree, other in pairs]
    nodes = np.column_stack([to[classes.nodes[:, j]] for j, to in enumerate(moved)])
    return replace(classes, hierarchies=tuple(yardstick), nodes=nodes), moved
