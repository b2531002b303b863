"""Merge released classes with their nearest ones, and split them again."""

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.lattice_sweep_classes import (
    ALIVE,
    CHANGES,
    PLACE,
    TOP,
    WORK,
    common_nodes,
    merge_cost,
    share,
    sort_members,
    take,
)
from kanon.kernels.lattice_sweep_groups import forget, group_node
from kanon.kernels.lattice_sweep_order import NONE


@loop
def _nearest(lattice, trees, shared, pool, given, wanted):
    """Find the classes that a class costs least to merge with, ties by number; returns how many."""
    low, records, found = shared.nodes[given], shared.size[given], 0
    for other in range(shared.state[TOP]):
        if other == given or shared.head[other] < 0:
            continue
        limit = pool.costs[found - 1] if found == wanted else NONE
        cost = merge_cost(trees, low, records, shared, other, limit)
        if cost < limit:
            place = min(found, wanted - 1)
            while place > 0 and pool.costs[place - 1] > cost:
                pool.costs[place] = pool.costs[place - 1]
                pool.near[place] = pool.near[place - 1]
                place -= 1
            pool.costs[place] = cost
            pool.near[place] = other
            found = min(found + 1, wanted)
    shared.state[WORK] += shared.state[TOP]
    return found


@loop
def _split(lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest):
    """Part members into ``pool.best``, a group of the lattice, and others; how much it saves."""
    m, size, records, total = lattice.levels.shape[0], ends - begins, 0, 0
    for i in range(begins, ends):
        member = pool.members[i]
        records += lattice.counts[member]
        total += lattice.counts[member] * shared.own[member]
        pool.chosen[i] = 0
    loss = total - records * common_nodes(lattice, trees, pool, begins, ends, 0, 0)
    if records < 2 * k or size < 2 or loss == 0:
        return 0
    nodes = 1
    top, now = pool.above[1], pool.above[2]
    for j in range(m):
        top[j] = trees.levels[j, pool.above[0, j]]
        nodes *= top[j] + 1
        now[j] = 0
    if nodes * size > largest:
        return 0
    shared.state[WORK] += nodes * size
    best, live = loss, pool.members[begins:ends]
    if not full:
        forget(halves)
    for _ in range(nodes - 1):  # the last one makes one group of all
        node = 0
        for j in range(m):
            node = node * lattice.levels[j] + now[j]
        groups = group_node(lattice, halves, table, node, live, size)
        for group in range(groups):
            inside = table.size[group]
            if inside < k or records - inside < k:
                continue
            part = 0
            for i in range(size):
                pool.chosen[begins + i] = table.of[i] == group
                if table.of[i] == group:
                    part += lattice.counts[live[i]] * shared.own[live[i]]
            cost = part - inside * common_nodes(lattice, trees, pool, begins, ends, 1, 3)
            if cost < best:
                rest = common_nodes(lattice, trees, pool, begins, ends, 0, 3)
                cost += total - part - (records - inside) * rest
            if cost < best:
                best = cost
                for i in range(begins, ends):
                    pool.best[i] = pool.chosen[i]
        j = m - 1
        while j >= 0 and now[j] == top[j]:
            now[j] = 0
            j -= 1
        if j >= 0:
            now[j] += 1
    return loss - best


@loop
def _parted(lattice, halves, table, trees, shared, pool, full, k, size, largest):
    """Part the pool again while that is better: how many parts ``pool.ends[0]`` has; the gain."""
    done, waiting = pool.ends[0], pool.ends[1]
    parts, gain, left, middle = 0, 0, 1, 0
    waiting[0, 0], waiting[0, 1] = 0, size
    while left > 0:
        left -= 1
        begins, ends = waiting[left, 0], waiting[left, 1]
        better = _split(lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest)
        if better == 0:
            done[parts, 0], done[parts, 1] = begins, ends
            parts += 1
            continue
        gain += better
        place = begins
        for wanted in (1, 0):
            for i in range(begins, ends):
                if pool.best[i] == wanted:
                    pool.spare[place] = pool.members[i]
                    place += 1
            if wanted == 1:
                middle = place
        for i in range(begins, ends):
            pool.members[i] = pool.spare[i]
        waiting[left, 0], waiting[left, 1] = middle, ends
        waiting[left + 1, 0], waiting[left + 1, 1] = begins, middle
        left += 2
    return parts, gain


@kernel(seconds=3)
def split_some(
    lattice, halves, table, trees, shared, pool, full, k, todo, wanted, together, largest, most
):
    """Merge classes with their nearest, and split them again if it pays; whether all were tried."""
    state, ends = shared.state, shared.state[WORK] + most
    rounds = 1 if together else wanted
    while state[PLACE] < todo.shape[0] * rounds:
        if state[WORK] > ends:
            return False
        given, turn = todo[state[PLACE] // rounds], state[PLACE] % rounds
        state[PLACE] += 1
        if shared.head[given] < 0 or shared.loss[given] == 0:
            continue
        if turn == 0:
            found = _nearest(lattice, trees, shared, pool, given, wanted)
            for place in range(found, wanted):
                pool.near[place] = -1
        first, last = (0, wanted) if together else (turn, turn + 1)
        size, before, pooled = take(shared, pool, given, 0), shared.loss[given], 1
        for place in range(first, last):
            other = pool.near[place]
            if other >= 0 and other != given and shared.head[other] >= 0:
                size = take(shared, pool, other, size)
                before += shared.loss[other]
                pooled += 1
        if pooled == 1:
            continue
        sort_members(pool.members, size)
        total, records = 0, 0
        for i in range(size):
            pool.chosen[i] = 0
            records += lattice.counts[pool.members[i]]
            total += lattice.counts[pool.members[i]] * shared.own[pool.members[i]]
        whole = total - records * common_nodes(lattice, trees, pool, 0, size, 0, 0)
        parts, gain = _parted(lattice, halves, table, trees, shared, pool, full, k, size, largest)
        if whole - gain >= before:
            continue
        state[CHANGES] += 1
        state[ALIVE] += parts - pooled
        shared.head[given] = -1
        for place in range(first, last):
            if pool.near[place] >= 0:
                shared.head[pool.near[place]] = -1
        free = 0
        for part in range(parts):
            each = given
            if part > 0:
                while free == given or shared.head[free] >= 0:
                    free += 1
                each = free
            share(lattice, trees, shared, pool, each, pool.ends[0, part, 0], pool.ends[0, part, 1])
            state[TOP] = max(state[TOP], each + 1)
    return True
