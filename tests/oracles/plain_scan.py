"""The full scan: greedy merging that looks at every class for every merge, compiled.

The obvious version of what kanon does with a prefix tree, bounds, running extremes and sparse
histograms: every cost, dense histograms, every l and t, the whole table's worst class. The tests
hold that both take the same merges, and the benchmarks say how much faster the tree is.
"""

import numpy as np
from numba import njit

from kanon.algorithms.task import Task
from kanon.kernels.hashing import hash_tuples
from kanon.recoding import MergePath

NAMES = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "l", "t", "k")


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
def _find(keys, key):
    """The place of a key, or of its first empty one. Numba's own dict takes long to compile."""
    room = keys.shape[0]
    place = (key ^ (key >> 7) ^ (key >> 21)) % room
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) % room
    return place


@njit(cache=True)
def _add(both, dense, one, other, third):
    for v in range(dense.shape[1]):
        both[v] = dense[one, v] + dense[other, v] + (dense[third, v] if third >= 0 else 0)


@njit(cache=True)
def _count(open_):
    found = 0
    for is_open in open_:
        found += is_open
    return found


@njit(cache=True)
def _keep(open_, values, sign, most):
    """Of the open ones, those whose value, times the sign, is at most so much."""
    for i in range(open_.shape[0]):
        open_[i] = open_[i] and sign * values[i] <= most


@njit(cache=True)
def _run(
    nodes, counts, ranks, dense, parents, depths, widths, name, whole, weighted, k, seed, below
):
    size, m = nodes.shape[0] // 2, nodes.shape[1]
    highest = name in (2, 3, 4, 8, 10)  # l and k are to be high, t low
    total = np.zeros(dense.shape[1], dtype=np.int64)
    for e in range(size):
        for v in range(dense.shape[1]):
            total[v] += dense[e, v]
    live = np.arange(size)
    alive = size
    value = np.zeros(2 * size)
    for e in range(size):
        if name != 1:
            value[e] = _value(name, dense[e], total)
    keys = np.full(8 * size, -1)  # of all classes that there ever are
    here = np.full(8 * size, -1)  # the class with that key, while there is one
    for e in range(size):
        found = _find(keys, _key(nodes[e], widths))
        keys[found], here[found] = _key(nodes[e], widths), e
    parts = np.full((size, 3), -1, dtype=np.int32)
    smallest = np.zeros(size, dtype=np.int64)
    merges = 0
    joint = np.zeros(m, dtype=nodes.dtype)
    both = np.zeros(dense.shape[1], dtype=np.int64)
    cost = np.zeros(size, dtype=np.int64)
    after = np.zeros(size)
    score = np.zeros(size)
    third = np.zeros(size, dtype=np.int64)
    up = np.zeros(depths.shape, dtype=np.int64)
    down = np.zeros(depths.shape, dtype=np.int64)
    while alive > 1:
        place = _smallest(live, alive, counts, ranks, nodes, below)
        if place < 0 or counts[live[place]] >= k:
            break
        chosen = live[place]
        for j in range(m):
            _costs_from(nodes[chosen, j], parents[j], depths[j], up[j], down[j])
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
        open_ = np.ones(alive, dtype=np.bool_)
        if below > 0:
            for i in range(alive):
                open_[i] = counts[live[i]] < below
            if not _count(open_):
                open_ = np.ones(alive, dtype=np.bool_)
        cheapest = np.int64(2**63 - 1)
        for i in range(alive):
            e = live[i]
            cost[i] = 0
            own = counts[chosen] if weighted else 1
            its = counts[e] if weighted else 1
            for j in range(m):
                cost[i] += up[j, nodes[e, j]] * own + down[j, nodes[e, j]] * its
                if name == 1 and cost[i] > cheapest:
                    break
            if open_[i]:
                cheapest = min(cheapest, cost[i])
            if name == 1:
                continue
            for j in range(m):
                joint[j] = _lca(parents[j], nodes[chosen, j], nodes[e, j])
            third[i] = here[_find(keys, _key(joint, widths))]
            if third[i] in (e, chosen):
                third[i] = -1
            _add(both, dense, chosen, e, third[i])
            after[i] = _value(name, both, total)
            if whole:
                for w in range(3):
                    if worst[w] >= 0 and worst[w] != e and worst[w] != third[i]:
                        after[i] = (
                            min(after[i], value[worst[w]]) if highest
                            else max(after[i], value[worst[w]])
                        )  # fmt: skip
                        break
        slack = 1e-9
        if name in (1, 2, 5):  # cheapest first
            _keep(open_, cost, 1, cheapest)
        if name in (2, 3, 8, 10):
            best = -np.inf
            for i in range(alive):
                if open_[i]:
                    best = max(best, after[i])
            _keep(open_, after, -1, -best * (1 - slack))
        if name in (5, 6, 9):
            best = np.inf
            for i in range(alive):
                if open_[i]:
                    best = min(best, after[i])
            _keep(open_, after, 1, best)
        if name in (4, 7):
            best = np.inf
            for i in range(alive):
                score[i] = cost[i] / after[i] if name == 4 else cost[i] * after[i]
                best = min(best, score[i])
            _keep(open_, score, 1, best * (1 + slack))
        if name in (3, 6, 10):
            least = np.int64(2**62)
            for i in range(alive):
                if open_[i]:
                    least = min(least, cost[i])
            _keep(open_, cost, 1, least)
        best_place = -1
        for i in range(alive):
            if open_[i] and (best_place < 0 or _precedes(live[i], live[best_place], ranks, nodes)):
                best_place = i
        other, made = live[best_place], size + merges
        for j in range(m):
            nodes[made, j] = _lca(parents[j], nodes[chosen, j], nodes[other, j])
        third[best_place] = here[_find(keys, _key(nodes[made], widths))]
        met = third[best_place]
        if met in (chosen, other):
            met = np.int64(-1)
        counts[made] = counts[chosen] + counts[other]
        _add(dense[made], dense, chosen, other, met)
        if met >= 0:
            counts[made] += counts[met]
        for gone in (chosen, other, met):
            if gone >= 0:
                here[_find(keys, _key(nodes[gone], widths))] = -1
        found = _find(keys, _key(nodes[made], widths))
        keys[found], here[found] = _key(nodes[made], widths), made
        if name != 1:
            value[made] = _value(name, dense[made], total)
        if seed >= 0:
            ranks[made] = hash_tuples(nodes[made : made + 1], seed)[0]
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
        ranks[:size] = hash_tuples(classes.nodes, seed)
    return nodes, counts, ranks, parents, depths, seed


def scan(task: Task, first_below_k: bool = False) -> MergePath:
    """What :func:`kanon.algorithms.merging.merge_greedily` returns, by the full scan."""
    classes = task.classes
    size = classes.n_classes
    nodes, counts, ranks, parents, depths, seed = prepared(task)
    widths = np.array([tree.n_nodes for tree in classes.hierarchies], dtype=np.int64)
    assert np.prod(widths.astype(float)) < 2**62
    dense = np.zeros((2 * size, 0), dtype=np.int64)
    if task.strategy != "s1":
        assert task.sensitive is not None
        histograms = classes.sensitive_named(task.sensitive)
        dense = np.zeros((2 * size, len(histograms.values)), dtype=np.int64)
        dense[:size] = histograms.dense()
    parts, smallest = _run(
        nodes, counts, ranks, dense, parents, depths, widths, NAMES.index(task.strategy) + 1,
        task.scope == "table", task.weighted, np.int64(task.k), seed,
        np.int64(task.k if first_below_k else 0),
    )  # fmt: skip
    made = size + len(parts)
    return MergePath(classes, parts, smallest, nodes[:made], counts[:made], task.k)
