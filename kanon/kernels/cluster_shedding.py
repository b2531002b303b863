"""Let clusters above k lose the members furthest from the others."""

import numpy as np

from kanon.kernels.ancestors import lca
from kanon.kernels.clusters import raise_to
from kanon.kernels.compilation import kernel, loop_with_arrays
from kanon.kernels.digits import compare


@loop_with_arrays
def _compute_widening(table, centre, own, tuple_, its):
    cost = np.int64(0)
    for j in range(len(tuple_)):
        met = table.depths[j, lca(table.parents[j], centre[j], tuple_[j])]
        cost += own * (table.depths[j, centre[j]] - met)
        cost += its * (table.depths[j, tuple_[j]] - met)
    return cost


@loop_with_arrays
def _measure_distances(table, mine, records, others):
    """What widening the other members by each member costs; fills ``others``, their centres."""
    size, m = len(mine), table.nodes.shape[1]
    before = np.empty((size, m), dtype=np.int32)  # the centre of the members up to each
    before[0] = table.nodes[mine[0]]
    for i in range(1, size):
        before[i] = before[i - 1]
        raise_to(table, before[i], table.nodes[mine[i]])
    after = table.nodes[mine[size - 1]].copy()  # the centre of the members after each
    apart = np.empty(size, dtype=np.int64)
    for i in range(size - 1, -1, -1):
        others[i] = before[i - 1] if i > 0 else after
        if 0 < i < size - 1:
            raise_to(table, others[i], after)
        own = its = np.int64(1)
        if table.weighted:
            its = table.counts[mine[i]]
            own = records - its
        apart[i] = _compute_widening(table, others[i], own, table.nodes[mine[i]], its)
        raise_to(table, after, table.nodes[mine[i]])
    return apart


@loop_with_arrays
def _is_leaving_sooner(table, mine, records, others, a, b):
    """Whether member a is exactly further from the others than b, or as far and first."""
    own, its = np.int64(1), np.int64(1)
    own_other, its_other = np.int64(1), np.int64(1)
    if table.weighted:
        its, its_other = table.counts[mine[a]], table.counts[mine[b]]
        own, own_other = records - its, records - its_other
    sign = compare(
        table.digits, table.parents, others[a], own, its, table.nodes[mine[a]],
        others[b], own_other, its_other, table.nodes[mine[b]],
    )  # fmt: skip
    return sign > 0 or (sign == 0 and a < b)


@loop_with_arrays
def _order_furthest_first(table, mine, records):
    """The members of a cluster, the furthest from the others first; ties stay in order."""
    others = np.empty((len(mine), table.nodes.shape[1]), dtype=np.int32)
    apart = _measure_distances(table, mine, records, others)
    order, slack = np.argsort(-apart, kind="mergesort"), table.digits.slack
    if slack > 0:  # those that rounding may have put in the wrong order
        for i in range(1, len(order)):
            member, spot = order[i], i
            while (
                spot > 0
                and apart[order[spot - 1]] - apart[member] <= slack
                and _is_leaving_sooner(table, mine, records, others, member, order[spot - 1])
            ):
                order[spot] = order[spot - 1]
                spot -= 1
            order[spot] = member
    return order


@kernel(seconds=4, arrays=True)
def remove_some_members(table, clusters, members, start, state, looks):
    """Let clusters above k lose the members furthest from the others; whether done."""
    while state[0] < len(clusters.records):
        if looks <= 0:
            return False
        cluster = state[0]
        state[0] += 1
        mine = members[start[cluster] : start[cluster + 1]]
        if clusters.records[cluster] <= table.k or len(mine) < 2:
            continue
        looks -= 8 * len(mine)
        for i in _order_furthest_first(table, mine, clusters.records[cluster]):
            records = table.counts[mine[i]]
            if clusters.records[cluster] - records >= table.k:
                clusters.records[cluster] -= records
                clusters.of[mine[i]] = -1
        stays = mine[clusters.of[mine] == cluster]
        clusters.nodes[cluster] = table.nodes[stays[0]]
        for member in stays[1:]:
            raise_to(table, clusters.nodes[cluster], table.nodes[member])
    return True
