"""Greedy merging on the compiled kernel, shared by GAA and its variant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon.algorithms.kernels.merge import (
    LIVE,
    MERGES,
    NONE,
    Merging,
    PrefixTree,
    Rules,
    merge_some,
    plant,
    tuple_hashes,
)
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.classes import EquivalenceClasses
from kanon.recoding import MergePath
from kanon.words import thin

__all__ = ["merge_greedily", "search_order"]

_CHUNK = 256
"""Merges between two reports of progress."""


def merge_greedily(
    task: Task, first_below_k: bool = False, progress: Progress = no_progress
) -> MergePath:
    """Merge classes until every one of them holds k records.

    Parameters
    ----------
    task
        The classes, potentials and k.
    first_below_k
        Repair the first class below k among classes below k (Mauger et al. 2020) instead of a
        smallest class with any other (Mauger et al. 2023).
    progress
        Told how far the run is.

    Returns
    -------
    MergePath
        All merges, in their order.

    Raises
    ------
    Unsatisfiable
        The table has fewer than k records.
    """
    task.check()
    classes = task.classes
    size = classes.n_classes
    rules = _rules(task, first_below_k)
    work = _begun(classes, rules.seed)
    # Neighbours in the tree are neighbours in memory if they are planted one after the other.
    plant(work, rules, np.lexsort(classes.nodes[:, rules.order[::-1]].T))
    state, done = work.state, False
    while not done:
        done = merge_some(work, rules, _CHUNK)
        progress(1.0 - state[LIVE] / size, f"{thin(state[LIVE])} classes left of {thin(size)}")
    progress(1.0, f"{thin(state[LIVE])} classes left of {thin(size)}")
    merges = int(state[MERGES])
    return MergePath(
        classes,
        work.parts[:merges].copy(),
        work.smallest[:merges].copy(),
        work.nodes[: size + merges].copy(),
        work.counts[: size + merges].copy(),
        k_max=task.k,
    )


def search_order(classes: EquivalenceClasses, potentials: Sequence[np.ndarray]) -> np.ndarray:
    """The order of the quasi-identifiers in which the search cuts most branches.

    Every level of the prefix tree adds cost, which cuts, and branches, which have to be cut. So
    the attribute with the most expected cost per nat of entropy comes first: two classes drawn at
    random part below an edge with probability 2 p (1 - p), where p is the share of classes below
    it, so one of them pays the edge with p (1 - p).

    Parameters
    ----------
    classes
        The classes.
    potentials
        Per attribute the scaled potential of every node.

    Returns
    -------
    numpy.ndarray, shape (m,), int64
        Positions of attributes. They change the speed of a search, never its result.

    Examples
    --------
    What differs rarely and costs the same comes first.

    >>> from kanon.hierarchy.build import suppression
    >>> trees = (suppression(["a", "b"]), suppression(["x", "y"]))
    >>> nodes = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    >>> classes = EquivalenceClasses(("one", "two"), trees, nodes, np.ones(3, dtype=np.int64))
    >>> search_order(classes, [np.array([1, 1, 0]), np.array([5, 5, 0])]).tolist()
    [1, 0]
    """
    promise = []
    for j, (tree, depth) in enumerate(zip(classes.hierarchies, potentials, strict=True)):
        below = np.bincount(classes.nodes[:, j], minlength=tree.n_nodes) / classes.n_classes
        entropy = -float(below[below > 0] @ np.log(below[below > 0]))
        for node in range(tree.root):  # parents have larger numbers: leaves upwards
            below[tree.parent[node]] += below[node]
        weights = (depth - depth[tree.parent])[: tree.root]
        expected = float(weights @ (below * (1 - below))[: tree.root])
        # A column with one value opens no branch: at the top it is passed once.
        promise.append(expected / entropy if entropy > 0 else np.inf)
    return np.argsort(-np.array(promise), kind="stable").astype(np.int64)


def _rules(task: Task, first_below_k: bool) -> Rules:
    """What the kernel has to know, the hierarchies in arrays of one width."""
    hierarchies = task.classes.hierarchies
    shape = len(hierarchies), max(tree.n_nodes for tree in hierarchies)
    parents = np.full(shape, -1, dtype=np.int32)
    depths = np.zeros(shape, dtype=np.int64)
    nearest = np.full(shape, NONE, dtype=np.int64)
    for j, (tree, depth) in enumerate(zip(hierarchies, task.potentials, strict=True)):
        above = tree.parent[: tree.root]
        parents[j, : tree.n_nodes] = tree.parent
        depths[j, : tree.n_nodes] = depth
        np.minimum.at(nearest[j], above, depth[: tree.root] - depth[above])
    return Rules(
        search_order(task.classes, task.potentials),
        parents,
        depths,
        nearest,
        k=int(task.k),
        weighted=task.weighted,
        seed=-1 if task.tie_seed is None else int(task.tie_seed),
        first_below_k=first_below_k,
        least=int(task.classes.counts.min()),
    )


def _begun(classes: EquivalenceClasses, seed: int) -> Merging:
    """Room for a whole run, and the original classes in it."""
    size, m = classes.nodes.shape
    nodes = np.zeros((2 * size, m), dtype=np.int32)
    nodes[:size] = classes.nodes
    counts = np.zeros(2 * size, dtype=np.int64)
    counts[:size] = classes.counts
    ranks = np.zeros(2 * size, dtype=np.uint64)
    if seed >= 0:
        ranks[:size] = tuple_hashes(classes.nodes, seed)
    entries = size * m + 2  # at most a path per original class, and the two roots
    return Merging(
        nodes,
        counts,
        ranks,
        alive=np.zeros(2 * size, dtype=np.bool_),
        leaf=np.zeros(2 * size, dtype=np.int32),
        heap=np.zeros(2 * size, dtype=np.int32),
        tree=PrefixTree(*(np.zeros(entries, dtype=np.int32) for _ in PrefixTree._fields)),
        parts=np.zeros((size, 3), dtype=np.int32),
        smallest=np.zeros(size, dtype=np.int64),
        state=np.zeros(5, dtype=np.int64),
    )
