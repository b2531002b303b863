"""The compiled loop of greedy merging: pick a smallest class, scan for its partner, merge."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["merge_some", "tuple_hashes"]

_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def _hash(nodes, seed):
    """A number per tuple that depends on the tuple and the seed alone (splitmix64)."""
    state = np.uint64(seed) * _MIX + _MIX
    for j in range(nodes.shape[0]):
        state = (state ^ np.uint64(nodes[j] + 1)) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return state


@njit(cache=True)
def tuple_hashes(nodes, seed):
    """The hash of each tuple. Shapes (E, m) -> (E,)."""
    hashes = np.empty(nodes.shape[0], dtype=np.uint64)
    for e in range(nodes.shape[0]):
        hashes[e] = _hash(nodes[e], seed)
    return hashes


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
            v = np.uint32(nodes[candidate, j])
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
def merge_some(
    nodes, counts, ranks, live, state, parts, smallest, parents, depths, weighted, seed, k, first, n
):
    """Merge until every class holds k records, or ``n`` merges more were made.

    Parameters
    ----------
    nodes, counts, ranks
        The tuple, size and rank of every class made so far; room for all that will be made.
    live
        The numbers of the classes that exist, in any order; the first ``state[0]`` count.
    state
        The number of live classes, and of merges made; both are updated.
    parts, smallest
        The merges made so far (see MergePath), to be continued.
    parents, depths
        Per attribute the parents (-2 beyond its last node) and scaled potentials.
    weighted
        Whether merge costs count class sizes.
    seed
        The seed of ties; negative for the canonical order.
    k
        The size that every class has to reach.
    first
        Whether to repair the first class below k, among classes below k, instead of the smallest
        class of all with any other.
    n
        The number of merges after which to return, to report progress.

    Returns
    -------
    bool
        Whether every class holds k records.
    """
    m = nodes.shape[1]
    total = nodes.shape[0] // 2
    up = np.zeros(depths.shape, dtype=np.int64)
    down = np.zeros(depths.shape, dtype=np.int64)
    only_below = k if first else np.int64(0)
    for _ in range(n):
        if state[0] <= 1:
            return True
        position = _smallest(live, state[0], counts, ranks, nodes, only_below)
        if position < 0 or counts[live[position]] >= k:
            return True
        chosen = live[position]
        for j in range(m):
            _costs_from(nodes[chosen, j], parents[j], depths[j], up[j], down[j])
        partner = _cheapest(
            chosen, live, state[0], counts, ranks, nodes, up, down, weighted, only_below
        )
        if partner < 0:
            partner = _cheapest(
                chosen, live, state[0], counts, ranks, nodes, up, down, weighted, np.int64(0)
            )
        other = live[partner]
        made = total + state[1]
        for j in range(m):
            nodes[made, j] = _lca(parents[j], nodes[chosen, j], nodes[other, j])
        ranks[made] = _hash(nodes[made], seed) if seed >= 0 else np.uint64(0)
        third = _same_tuple(made, live, state[0], nodes, chosen, other)
        counts[made] = counts[chosen] + counts[other]
        parts[state[1], 0] = chosen
        parts[state[1], 1] = other
        parts[state[1], 2] = -1
        if third >= 0:
            counts[made] += counts[live[third]]
            parts[state[1], 2] = live[third]
        smallest[state[1]] = counts[chosen]
        # The merged class takes the place of the first; the others leave, the last ones fill in.
        live[position] = made
        low, high = min(partner, third), max(partner, third)
        for gone in (high, low):
            if gone >= 0:
                state[0] -= 1
                live[gone] = live[state[0]]
        state[1] += 1
    return False
