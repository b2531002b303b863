"""Greedy merging on the compiled kernel, shared by GAA and its variant."""

from __future__ import annotations

import numpy as np

from kanon.algorithms.kernels.merge import merge_some, tuple_hashes
from kanon.algorithms.task import Progress, Task, no_progress
from kanon.recoding import MergePath
from kanon.words import thin

__all__ = ["merge_greedily"]

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
    size, m = classes.nodes.shape
    widest = max(tree.n_nodes for tree in classes.hierarchies)
    parents = np.full((m, widest), -2, dtype=np.int32)
    depths = np.zeros((m, widest), dtype=np.int64)
    for j, (tree, depth) in enumerate(zip(classes.hierarchies, task.potentials, strict=True)):
        parents[j, : tree.n_nodes] = tree.parent
        depths[j, : tree.n_nodes] = depth
    nodes = np.zeros((2 * size, m), dtype=np.int32)
    nodes[:size] = classes.nodes
    counts = np.zeros(2 * size, dtype=np.int64)
    counts[:size] = classes.counts
    ranks = np.zeros(2 * size, dtype=np.uint64)
    seed = -1 if task.tie_seed is None else task.tie_seed
    if seed >= 0:
        ranks[:size] = tuple_hashes(classes.nodes, seed)
    live = np.arange(size, dtype=np.int64)
    parts = np.zeros((size, 3), dtype=np.int32)
    smallest = np.zeros(size, dtype=np.int64)
    state = np.array([size, 0], dtype=np.int64)
    done = False
    while not done:
        done = merge_some(
            nodes, counts, ranks, live, state, parts, smallest, parents, depths,
            task.weighted, seed, np.int64(task.k), first_below_k, _CHUNK,
        )  # fmt: skip
        # A merge scans the live classes, so the work left goes with the square of their number.
        progress(1.0 - (state[0] / size) ** 2, f"{thin(state[0])} classes left of {thin(size)}")
    progress(1.0, f"{thin(state[0])} classes left of {thin(size)}")
    merges = int(state[1])
    return MergePath(
        classes,
        parts[:merges].copy(),
        smallest[:merges].copy(),
        nodes[: size + merges].copy(),
        counts[: size + merges].copy(),
        k_max=task.k,
    )
