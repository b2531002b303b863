"""What changes along a merge path: the worst class, unchanged cells, sums over cells."""

import numpy as np

from kanon.kernels.compilation import kernel
from kanon.kernels.histograms import join_histograms, measure
from kanon.kernels.merging_state import LOOKS_AT_L, LOOKS_AT_T
from kanon.kernels.worst_classes import set_badness


@kernel(seconds=2, arrays=True)
def measure_along(histograms, parts, state):
    """How bad the worst class is after 0, 1, … merges; uses ``histograms`` up."""
    merges = parts.shape[0]
    size = len(histograms.length) - merges
    half = 1
    while half < size + merges:
        half *= 2
    entropy, distance = np.full(2 * half, -np.inf), np.full(2 * half, -np.inf)
    worst_entropy, worst_distance = np.empty(merges + 1), np.empty(merges + 1)
    alive = np.zeros(size + merges, dtype=np.bool_)
    at = np.zeros(3, dtype=np.int64)
    alive[:size] = True
    for c in range(size + merges):
        if c >= size:
            worst_entropy[c - size], worst_distance[c - size] = entropy[1], distance[1]
            for part in parts[c - size]:
                if part >= 0:
                    set_badness(entropy, part, -np.inf)
                    set_badness(distance, part, -np.inf)
            join_histograms(histograms, alive, parts[c - size], c, state, at)
            alive[c] = True
        set_badness(entropy, c, measure(histograms, c, LOOKS_AT_L)[0])
        set_badness(distance, c, measure(histograms, c, LOOKS_AT_T)[0])
    worst_entropy[merges], worst_distance[merges] = entropy[1], distance[1]
    return worst_entropy, worst_distance


@kernel(seconds=1, arrays=True)
def count_unchanged_cells(nodes, counts, parts, size):
    """The number of cells that still hold their original value, after 0, 1, … merges."""
    merges, m = parts.shape[0], nodes.shape[1]
    unchanged = np.zeros((size + merges, m), dtype=np.int64)
    n_unchanged = np.zeros(merges + 1, dtype=np.int64)
    for e in range(size):
        for j in range(m):
            unchanged[e, j] = counts[e]
            n_unchanged[0] += counts[e]
    for i in range(merges):
        n_unchanged[i + 1] = n_unchanged[i]
        for part in parts[i]:
            if part < 0:
                continue
            for j in range(m):
                if nodes[part, j] == nodes[size + i, j]:
                    unchanged[size + i, j] += unchanged[part, j]
                else:
                    n_unchanged[i + 1] -= unchanged[part, j]
    return n_unchanged


@kernel(seconds=1, arrays=True)
def add_up(nodes, counts, starts, values, sums):
    """Fill ``sums``: per class the sum over its cells of a whole number per node."""
    for c in range(len(counts)):
        total = 0
        for j in range(len(starts)):
            total += values[starts[j] + nodes[c, j]]
        sums[c] = total * counts[c]
