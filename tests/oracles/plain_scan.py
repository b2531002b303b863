"""The plain scan: greedy merging that looks at every class for every merge, compiled.

The obvious version of what kanon does with a prefix tree; the tests hold that both take the same
merges, and the benchmarks say how much faster the tree is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kanon.algorithms.task import Task
from kanon.kernels.hashing import tuple_hashes
from kanon.recoding import MergePath


@njit(cache=True)
def _precedes(one, other, ranks, nodes):
    """The tie rule: the lower rank (all 0 without a seed), then the lexicographic order."""
    if ranks[one] != ranks[other]:
        return ranks[one] < ranks[other]
    for j in range(nodes.shape[1]):
        if nodes[one, j] != nodes[other, j]:
            return nodes[one, j] < nodes[other, j]
    return False


@njit(cache=True)
def _smallest(live, alive, counts, ranks, nodes, only_below):
    """The position of the class to repair.

    ``only_below = 0``: a smallest class. Otherwise the first class, in the order of ties, that
    has fewer than that many records.
    """
    best = -1
    for position in range(alive):
        candidate = live[position]
        if only_below > 0:
            if counts[candidate] >= only_below:
                continue
            better = best < 0 or _precedes(candidate, live[best], ranks, nodes)
        else:
            better = best < 0 or counts[candidate] < counts[live[best]]
            if not better and counts[candidate] == counts[live[best]]:
                better = _precedes(candidate, live[best], ranks, nodes)
        if better:
            best = position
    return best


@njit(cache=True)
def _costs_from(node, parent, depth, up, down):
    """The costs of meeting a node: up[v] to raise the node to LCA(node, v), down[v] to raise v."""
    for v in range(parent.shape[0]):
        if parent[v] == -2:
            break
        one = node
        other = v
        while one != other:
            if one < other:
                one = parent[one]
            else:
                other = parent[other]
        up[v] = depth[node] - depth[one]
        down[v] = depth[v] - depth[one]


@njit(cache=True)
def _lca(parent, one, other):
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@njit(cache=True)
def _cheapest(chosen, live, alive, counts, ranks, nodes, up, down, weighted, only_below):
    """The position of the partner of least merge cost; -1 if no other class is allowed."""
    best = -1
    best_cost = np.int64(2**63 - 1)
    own = counts[chosen] if weighted else np.int64(1)
    m = nodes.shape[1]
    for position in range(alive):
        candidate = live[position]
        its = counts[candidate] if weighted else np.int64(1)
        cost = np.int64(0)
        for j in range(m):
            v = nodes[candidate, j]
            cost += up[j, v] * own + down[j, v] * its
            if cost > best_cost:
                break
        if cost > best_cost or candidate == chosen:
            continue
        if only_below > 0 and counts[candidate] >= only_below:
            continue
        if cost < best_cost or _precedes(candidate, live[best], ranks, nodes):
            best = position
            best_cost = cost
    return best


@njit(cache=True)
def _same_tuple(target, live, alive, nodes, one, other):
    """The position of a third class that already has the tuple of class ``target``; -1 if none."""
    for position in range(alive):
        candidate = live[position]
        if candidate in (one, other):
            continue
        same = True
        for j in range(nodes.shape[1]):
            if nodes[candidate, j] != nodes[target, j]:
                same = False
                break
        if same:
            return position
    return -1


@njit(cache=True)
def _merge(nodes, counts, ranks, live, parts, smallest, parents, depths, weighted, seed, k, first):
    """Merge until every class holds k records; returns the number of merges."""
    m = nodes.shape[1]
    total = nodes.shape[0] // 2
    alive = total
    merges = 0
    up = np.zeros(depths.shape, dtype=np.int64)
    down = np.zeros(depths.shape, dtype=np.int64)
    only_below = k if first else np.int64(0)
    while alive > 1:
        position = _smallest(live, alive, counts, ranks, nodes, only_below)
        if position < 0 or counts[live[position]] >= k:
            break
        chosen = live[position]
        for j in range(m):
            _costs_from(nodes[chosen, j], parents[j], depths[j], up[j], down[j])
        partner = _cheapest(
            chosen, live, alive, counts, ranks, nodes, up, down, weighted, only_below
        )
        if partner < 0:
            partner = _cheapest(
                chosen, live, alive, counts, ranks, nodes, up, down, weighted, np.int64(0)
            )
        other = live[partner]
        made = total + merges
        for j in range(m):
            nodes[made, j] = _lca(parents[j], nodes[chosen, j], nodes[other, j])
        if seed >= 0:
            ranks[made] = tuple_hashes(nodes[made : made + 1], seed)[0]
        third = _same_tuple(made, live, alive, nodes, chosen, other)
        counts[made] = counts[chosen] + counts[other]
        parts[merges, 0] = chosen
        parts[merges, 1] = other
        parts[merges, 2] = -1
        if third >= 0:
            counts[made] += counts[live[third]]
            parts[merges, 2] = live[third]
        smallest[merges] = counts[chosen]
        # The merged class takes the place of the first; the others leave, the last ones fill in.
        live[position] = made
        low, high = min(partner, third), max(partner, third)
        for gone in (high, low):
            if gone >= 0:
                alive -= 1
                live[gone] = live[alive]
        merges += 1
    return merges


def prepared(task: Task) -> tuple[np.ndarray, ...]:
    """Tuples, sizes and ranks with room for merged classes; parents, depths; the seed."""
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
    seed = -1 if task.tie_seed is None else task.tie_seed
    ranks = np.zeros(2 * size, dtype=np.uint64)
    if seed >= 0:
        ranks[:size] = tuple_hashes(classes.nodes, seed)
    return nodes, counts, ranks, parents, depths, seed


def scan(task: Task, first_below_k: bool = False) -> MergePath:
    """What :func:`kanon.algorithms.merging.merge_greedily` returns, by the plain scan."""
    classes = task.classes
    size = classes.n_classes
    nodes, counts, ranks, parents, depths, seed = prepared(task)
    live = np.arange(size, dtype=np.int64)
    parts = np.zeros((size, 3), dtype=np.int32)
    smallest = np.zeros(size, dtype=np.int64)
    merges = _merge(
        nodes, counts, ranks, live, parts, smallest, parents, depths,
        task.weighted, seed, np.int64(task.k), first_below_k,
    )  # fmt: skip
    made = size + merges
    return MergePath(
        classes, parts[:merges], smallest[:merges], nodes[:made], counts[:made], task.k
    )
