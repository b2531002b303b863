"""Merge released classes with their nearest ones, and split them again."""

from kanon.kernels.compilation import kernel, loop
from kanon.kernels.lattice_sweep_classes import (
    ALIVE,
    CHANGES,
    PLACE,
    TOP,
    WORK,
    add_members,
    find_common_nodes,
    merge_cost,
    set_class,
    sort_members,
)
from kanon.kernels.lattice_sweep_groups import clear_halves, group_node
from kanon.kernels.lattice_sweep_order import NONE


@loop
def _find_nearest_classes(lattice, trees, shared, pool, c, n_nearest):
    """The classes that merge with c at least cost, ties by number; returns how many."""
    low, records, n_found = shared.nodes[c], shared.size[c], 0
    for other in range(shared.state[TOP]):
        if other == c or shared.head[other] < 0:
            continue
        limit = pool.costs[n_found - 1] if n_found == n_nearest else NONE
        cost = merge_cost(trees, low, records, shared, other, limit)
        if cost < limit:
            place = min(n_found, n_nearest - 1)
            while place > 0 and pool.costs[place - 1] > cost:
                pool.costs[place] = pool.costs[place - 1]
                pool.near[place] = pool.near[place - 1]
                place -= 1
            pool.costs[place] = cost
            pool.near[place] = other
            n_found = min(n_found + 1, n_nearest)
    shared.state[WORK] += shared.state[TOP]
    return n_found


@loop
def _try_split(lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest):
    """Part members into ``pool.best``, a group of the lattice, and the rest; the gain."""
    m, size, records, total = lattice.levels.shape[0], ends - begins, 0, 0
    for i in range(begins, ends):
        member = pool.members[i]
        records += lattice.counts[member]
        total += lattice.counts[member] * shared.own[member]
        pool.chosen[i] = 0
    loss = total - records * find_common_nodes(lattice, trees, pool, begins, ends, 0, 0)
    if records < 2 * k or size < 2 or loss == 0:
        return 0
    nodes = 1
    top, levels = pool.above[1], pool.above[2]
    for j in range(m):
        top[j] = trees.levels[j, pool.above[0, j]]
        nodes *= top[j] + 1
        levels[j] = 0
    if nodes * size > largest:
        return 0
    shared.state[WORK] += nodes * size
    best, live = loss, pool.members[begins:ends]
    if not full:
        clear_halves(halves)
    for _ in range(nodes - 1):  # the last one makes one group of all
        node = 0
        for j in range(m):
            node = node * lattice.levels[j] + levels[j]
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
            cost = part - inside * find_common_nodes(lattice, trees, pool, begins, ends, 1, 3)
            if cost < best:
                rest = find_common_nodes(lattice, trees, pool, begins, ends, 0, 3)
                cost += total - part - (records - inside) * rest
            if cost < best:
                best = cost
                for i in range(begins, ends):
                    pool.best[i] = pool.chosen[i]
        j = m - 1
        while j >= 0 and levels[j] == top[j]:
            levels[j] = 0
            j -= 1
        if j >= 0:
            levels[j] += 1
    return loss - best


@loop
def _split_all(lattice, halves, table, trees, shared, pool, full, k, size, largest):
    """Split the pool while it pays; how many parts ``pool.ends[0]`` has, and the gain."""
    finished, waiting = pool.ends[0], pool.ends[1]
    parts, gain, n_waiting, middle = 0, 0, 1, 0
    waiting[0, 0], waiting[0, 1] = 0, size
    while n_waiting > 0:
        n_waiting -= 1
        begins, ends = waiting[n_waiting, 0], waiting[n_waiting, 1]
        better = _try_split(
            lattice, halves, table, trees, shared, pool, full, k, begins, ends, largest
        )
        if better == 0:
            finished[parts, 0], finished[parts, 1] = begins, ends
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
        waiting[n_waiting, 0], waiting[n_waiting, 1] = middle, ends
        waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = begins, middle
        n_waiting += 2
    return parts, gain


@kernel(seconds=3)
def split_some(
    lattice, halves, table, trees, shared, pool, full, k, todo, n_nearest, together, largest, most
):
    """Merge classes with their nearest and split them again if it pays; whether all were tried."""
    state, ends = shared.state, shared.state[WORK] + most
    rounds = 1 if together else n_nearest
    while state[PLACE] < todo.shape[0] * rounds:
        if state[WORK] > ends:
            return False
        c, turn = todo[state[PLACE] // rounds], state[PLACE] % rounds
        state[PLACE] += 1
        if shared.head[c] < 0 or shared.loss[c] == 0:
            continue
        if turn == 0:
            n_found = _find_nearest_classes(lattice, trees, shared, pool, c, n_nearest)
            for place in range(n_found, n_nearest):
                pool.near[place] = -1
        first, last = (0, n_nearest) if together else (turn, turn + 1)
        size, before, pooled = add_members(shared, pool, c, 0), shared.loss[c], 1
        for place in range(first, last):
            other = pool.near[place]
            if other >= 0 and other != c and shared.head[other] >= 0:
                size = add_members(shared, pool, other, size)
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
        whole = total - records * find_common_nodes(lattice, trees, pool, 0, size, 0, 0)
        parts, gain = _split_all(
            lattice, halves, table, trees, shared, pool, full, k, size, largest
        )
        if whole - gain >= before:
            continue
        state[CHANGES] += 1
        state[ALIVE] += parts - pooled
        shared.head[c] = -1
        for place in range(first, last):
            if pool.near[place] >= 0:
                shared.head[pool.near[place]] = -1
        free = 0
        for part in range(parts):
            number = c
            if part > 0:
                while free == c or shared.head[free] >= 0:
                    free += 1
                number = free
            set_class(
                lattice, trees, shared, pool, number, pool.ends[0, part, 0], pool.ends[0, part, 1]
            )
            state[TOP] = max(state[TOP], number + 1)
    return True
