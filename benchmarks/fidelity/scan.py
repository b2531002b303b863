"""Greedy merging by a plain scan, with readings of a merge's cost and order that kanon has not.

The literal reading takes the merges that kanon takes; the page and its tests hold that.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kanon.algorithms.merging import choose_search_order
from kanon.algorithms.task import Task, in_one_width
from kanon.recoding import MergePath

__all__ = ["scan"]


@njit(cache=True, nogil=True)
def _lca(parent: np.ndarray, one: int, other: int) -> int:
    """Parents have larger numbers, so the smaller one rises."""
    while one != other:
        if one < other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@njit(cache=True, nogil=True)
def _merge(
    nodes: np.ndarray,
    counts: np.ndarray,
    keys: np.ndarray,
    radix: np.ndarray,
    order: np.ndarray,
    live: np.ndarray,
    parts: np.ndarray,
    smallest: np.ndarray,
    parents: np.ndarray,
    depths: np.ndarray,
    k: int,
    joint: bool,
    sign: int,
) -> int:
    """Merge until every class holds k records; returns the number of merges."""
    m = nodes.shape[1]
    size = alive = live.shape[0]
    up = np.zeros(depths.shape, dtype=np.int64)
    down = np.zeros(depths.shape, dtype=np.int64)
    merges = 0
    while alive > 1:
        at = 0
        for place in range(1, alive):
            candidate, best = live[place], live[at]
            fewer = counts[candidate] - counts[best]
            if fewer < 0 or (fewer == 0 and sign * (keys[candidate] - keys[best]) < 0):
                at = place
        chosen = live[at]
        if counts[chosen] >= k:
            break
        for j in range(m):
            for node in range(radix[j]):
                meet = _lca(parents[j], nodes[chosen, j], node)
                up[j, node] = depths[j, nodes[chosen, j]] - depths[j, meet]
                down[j, node] = depths[j, node] - depths[j, meet]
        partner, least = -1, np.int64(2**63 - 1)
        for place in range(alive):
            candidate = live[place]
            if place == at:
                continue
            own, its = counts[chosen], counts[candidate]
            if joint:
                own = its = own + its
            cost = np.int64(0)
            for j in order:  # what costs most comes first: most candidates are left early
                node = nodes[candidate, j]
                cost += up[j, node] * own + down[j, node] * its
                if cost > least:
                    break
            earlier = partner >= 0 and sign * (keys[candidate] - keys[live[partner]]) < 0
            if cost < least or (cost == least and earlier):
                partner, least = place, cost
        other, made = live[partner], size + merges
        key = np.int64(0)
        for j in range(m):
            nodes[made, j] = _lca(parents[j], nodes[chosen, j], nodes[other, j])
            key = key * radix[j] + nodes[made, j]
        keys[made] = key
        third = -1
        for place in range(alive):
            if place != at and place != partner and keys[live[place]] == key:
                third = place
        smallest[merges] = counts[chosen]
        counts[made] = counts[chosen] + counts[other]
        parts[merges] = chosen, other, -1
        if third >= 0:
            counts[made] += counts[live[third]]
            parts[merges, 2] = live[third]
        # The merged class takes the place of the first; the others leave, the last ones fill in.
        live[at] = made
        for gone in (max(partner, third), min(partner, third)):
            if gone >= 0:
                alive -= 1
                live[gone] = live[alive]
        merges += 1
    return merges


def scan(task: Task, joint: bool = False, reversed_ties: bool = False) -> MergePath:
    """GAA, with other readings of what is open.

    Parameters
    ----------
    task
        What to run; merges count every record, and its seed of ties is not used.
    joint
        Whether a merge costs (cost₁ + cost₂) · (|C₁| + |C₂|), with the cost of one tuple of each
        class, instead of cost₁ · |C₁| + cost₂ · |C₂|.
    reversed_ties
        Whether the last of equals in canonical order is taken instead of the first.
    """
    classes = task.classes
    size, m = classes.nodes.shape
    parents, depths = in_one_width(task)
    radix = np.array([tree.n_nodes for tree in classes.hierarchies], dtype=np.int64)
    nodes = np.zeros((2 * size, m), dtype=np.int32)
    nodes[:size] = classes.nodes
    counts, keys = np.zeros((2, 2 * size), dtype=np.int64)
    counts[:size] = classes.counts
    for j in range(m):  # a tuple as one number, in the lexicographic order
        keys[:size] = keys[:size] * radix[j] + nodes[:size, j]
    live = np.arange(size, dtype=np.int64)
    parts = np.full((size, 3), -1, dtype=np.int32)
    smallest = np.zeros(size, dtype=np.int64)
    merges = _merge(
        nodes, counts, keys, radix, choose_search_order(classes, task.potentials), live, parts,
        smallest, parents, depths, task.k, joint, -1 if reversed_ties else 1,
    )  # fmt: skip
    made = size + merges
    return MergePath(
        classes, parts[:merges], smallest[:merges], nodes[:made], counts[:made], task.k
    )
