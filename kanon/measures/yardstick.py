"""One set of hierarchies to measure releases that were made with different ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import list_covered_leaves
from kanon.recoding import MergePath, Recoding


def match_nodes(tree: Hierarchy, target: Hierarchy) -> np.ndarray:
    """For every node of a hierarchy, the node of another one that covers the same values."""
    nodes = np.full(tree.n_nodes, -1, dtype=np.int32)
    for leaf in range(tree.n_leaves):
        nodes[leaf] = target.node_of.get(tree.labels[leaf], -1)
    for node in range(tree.root):  # parents have larger numbers: leaves upwards
        above = tree.parent[node]
        if nodes[node] >= 0:
            met = nodes[above]
            nodes[above] = nodes[node] if met < 0 else _find_lca(target, met, nodes[node])
    for node in range(tree.root + 1, tree.n_nodes):  # ranges come after the tree
        for leaf in list_covered_leaves(tree, np.array([node]))[1]:
            if nodes[leaf] >= 0:
                met = nodes[node]
                nodes[node] = nodes[leaf] if met < 0 else _find_lca(target, met, nodes[leaf])
    return np.where(nodes < 0, target.root, nodes).astype(np.int32)


def _find_lca(tree: Hierarchy, node: int, second: int) -> int:
    """Find the lowest common ancestor; parents have larger numbers than their children."""
    while node != second:
        node, second = (tree.parent[node], second) if node < second else (node, tree.parent[second])
    return node


def convert_path(path: MergePath, yardstick: Sequence[Hierarchy]) -> MergePath:
    """Translate a merge path to the yardstick's hierarchies, for measuring alone."""
    classes, translations = _convert_classes(path.classes, yardstick)
    nodes = np.column_stack([to[path.nodes[:, j]] for j, to in enumerate(translations)])
    return replace(path, classes=classes, nodes=nodes)


def convert_recoding(recoding: Recoding, yardstick: Sequence[Hierarchy]) -> Recoding:
    classes, translations = _convert_classes(recoding.original, yardstick)
    nodes = np.column_stack([to[recoding.nodes[:, j]] for j, to in enumerate(translations)])
    # The levels of the released node are those of other trees.
    trace = replace(recoding.trace, node=None)
    return replace(recoding, classes=classes, nodes=nodes, ranged=(), trace=trace)


def _convert_classes(
    classes: EquivalenceClasses, yardstick: Sequence[Hierarchy]
) -> tuple[EquivalenceClasses, list[np.ndarray]]:
    pairs = zip(classes.hierarchies, yardstick, strict=True)
    translations = [match_nodes(tree, target) for tree, target in pairs]
    nodes = np.column_stack([to[classes.nodes[:, j]] for j, to in enumerate(translations)])
    return replace(classes, hierarchies=tuple(yardstick), nodes=nodes), translations
