"""The full scan for the strategies: every candidate of every merge is looked at, as defined.

The obvious version of what the kernel does with bounds, running extremes and sparse histograms:
dense histograms, every cost, every l and t, the whole table's worst class. The tests and the
benchmarks hold that both take the same merges.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.typed import Dict

from kanon.algorithms.task import Task
from kanon.kernels.hashing import tuple_hashes
from kanon.recoding import MergePath
from oracles.plain_scan import _lca, _precedes, _smallest, prepared

NAMES = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "l", "t", "k")


@njit(cache=True)
def _l(counts):
    """exp(entropy) of a histogram."""
    size = counts.sum()
    entropy = 0.0
    for count in counts:
        if count > 0:
            entropy -= count / size * np.log(count / size)
    return np.exp(entropy)


@njit(cache=True)
def _t(counts, total):
    """The sum of |p(s, C) - p(s, T)|: whole numbers, and one division."""
    size, records = counts.sum(), total.sum()
    above = np.int64(0)
    for v in range(len(total)):
        above += abs(counts[v] * records - total[v] * size)
    return above / (records * size)


@njit(cache=True)
def _value(name, counts, total):
    """What a strategy looks at: l, t, or the number of records."""
    if name in (2, 3, 4, 8):
        return _l(counts)
    return float(counts.sum()) if name == 10 else _t(counts, total)


@njit(cache=True)
def _key(nodes, widths):
    key = np.int64(0)
    for j in range(len(nodes)):
        key = key * widths[j] + nodes[j]
    return key


@njit(cache=True)
def _run(nodes, counts, ranks, dense, parents, depths, widths, name, whole, weighted, k, seed):
    size, m = nodes.shape[0] // 2, nodes.shape[1]
    highest = name in (2, 3, 4, 8, 10)  # l and k are to be high, t low
    total = dense[:size].sum(axis=0)
    live = np.arange(size)
    alive = size
    value = np.zeros(2 * size)
    for e in range(size):
        value[e] = _value(name, dense[e], total)
    here = Dict.empty(types.int64, types.int64)
    for e in range(size):
        here[_key(nodes[e], widths)] = e
    parts = np.full((size, 3), -1, dtype=np.int32)
    smallest = np.zeros(size, dtype=np.int64)
    merges = 0
    joint = np.zeros(m, dtype=nodes.dtype)
    cost = np.zeros(size, dtype=np.int64)
    after = np.zeros(size)
    third = np.zeros(size, dtype=np.int64)
    while alive > 1:
        place = _smallest(live, alive, counts, ranks, nodes, 0)
        chosen = live[place]
        if counts[chosen] >= k:
            break
        alive -= 1
        live[place] = live[alive]
        # The three worst classes left: at most two of them are part of a merge.
        worst = np.full(3, -1)
        for i in range(alive):
            e = live[i]
            for w in range(3):
                better = worst[w] >= 0 and (
                    value[e] >= value[worst[w]] if highest else value[e] <= value[worst[w]]
                )
                if not better:
                    for x in range(2, w, -1):
                        worst[x] = worst[x - 1]
                    worst[w] = e
                    break
        for i in range(alive):
            e = live[i]
            cost[i] = 0
            own = counts[chosen] if weighted else 1
            its = counts[e] if weighted else 1
            for j in range(m):
                joint[j] = _lca(parents[j], nodes[chosen, j], nodes[e, j])
                cost[i] += own * (depths[j, nodes[chosen, j]] - depths[j, joint[j]])
                cost[i] += its * (depths[j, nodes[e, j]] - depths[j, joint[j]])
            third[i] = here.get(_key(joint, widths), np.int64(-1))
            if third[i] in (e, chosen):
                third[i] = -1
            if name == 1:
                continue
            both = dense[chosen] + dense[e]
            if third[i] >= 0:
                both = both + dense[third[i]]
            after[i] = _value(name, both, total)
            if whole:
                for w in range(3):
                    if worst[w] >= 0 and worst[w] != e and worst[w] != third[i]:
                        after[i] = (
                            min(after[i], value[worst[w]]) if highest
                            else max(after[i], value[worst[w]])
                        )  # fmt: skip
                        break
        open_ = np.ones(alive, dtype=np.bool_)
        slack = 1e-9
        cheapest_first = name in (1, 2, 5)
        if cheapest_first:
            open_ &= cost[:alive] == cost[:alive].min()
        if name in (2, 3, 8, 10):
            best = -np.inf
            for i in range(alive):
                if open_[i]:
                    best = max(best, after[i])
            open_ &= after[:alive] >= best * (1 - slack)
        if name in (5, 6, 9):
            best = np.inf
            for i in range(alive):
                if open_[i]:
                    best = min(best, after[i])
            open_ &= after[:alive] <= best
        if name in (4, 7):
            score = cost[:alive] / after[:alive] if name == 4 else cost[:alive] * after[:alive]
            open_ &= score <= score.min() * (1 + slack)
        if name in (3, 6, 10):
            least = np.int64(2**62)
            for i in range(alive):
                if open_[i]:
                    least = min(least, cost[i])
            open_ &= cost[:alive] == least
        best_place = -1
        for i in range(alive):
            if open_[i] and (best_place < 0 or _precedes(live[i], live[best_place], ranks, nodes)):
                best_place = i
        other, met = live[best_place], third[best_place]
        made = size + merges
        for j in range(m):
            nodes[made, j] = _lca(parents[j], nodes[chosen, j], nodes[other, j])
        counts[made] = counts[chosen] + counts[other]
        dense[made] = dense[chosen] + dense[other]
        if met >= 0:
            counts[made] += counts[met]
            dense[made] += dense[met]
        for gone in (chosen, other, met):
            if gone >= 0:
                del here[_key(nodes[gone], widths)]
        here[_key(nodes[made], widths)] = made
        value[made] = _value(name, dense[made], total)
        if seed >= 0:
            ranks[made] = tuple_hashes(nodes[made : made + 1], seed)[0]
        kept = 0
        for i in range(alive):
            if live[i] != other and live[i] != met:
                live[kept] = live[i]
                kept += 1
        live[kept] = made
        alive = kept + 1
        parts[merges, 0], parts[merges, 1], parts[merges, 2] = chosen, other, met
        smallest[merges] = counts[chosen]
        merges += 1
    return parts[:merges], smallest[:merges]


def full_scan(task: Task) -> MergePath:
    """What :func:`kanon.algorithms.merging.merge_greedily` returns for a strategy."""
    classes = task.classes
    size = classes.n_classes
    nodes, counts, ranks, parents, depths, seed = prepared(task)
    widths = np.array([tree.n_nodes for tree in classes.hierarchies], dtype=np.int64)
    assert np.prod(widths.astype(float)) < 2**62
    assert task.sensitive is not None
    histograms = classes.sensitive_named(task.sensitive)
    dense = np.zeros((2 * size, len(histograms.values)), dtype=np.int64)
    dense[:size] = histograms.dense()
    parts, smallest = _run(
        nodes, counts, ranks, dense, parents, depths, widths, NAMES.index(task.strategy) + 1,
        task.scope == "table", task.weighted, np.int64(task.k), seed,
    )  # fmt: skip
    made = size + len(parts)
    return MergePath(classes, parts, smallest, nodes[:made], counts[:made], task.k)
