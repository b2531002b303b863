"""Dissolve released classes whose tuples cost less in others."""

from kanon.kernels.ancestors import lca
from kanon.kernels.compilation import kernel
from kanon.kernels.lattice_sweep_classes import (
    ALIVE,
    CHANGES,
    PLACE,
    TOP,
    WORK,
    add_members,
    merge_cost,
    sort_members,
)


@kernel(seconds=1)
def dissolve_some(lattice, trees, shared, pool, todo, most):
    """Dissolve classes whose tuples, one by one, cost less elsewhere; whether all were tried."""
    state, ends = shared.state, shared.state[WORK] + most
    m = lattice.levels.shape[0]
    while state[PLACE] < todo.shape[0]:
        if state[WORK] > ends:
            return False
        c = todo[state[PLACE]]
        state[PLACE] += 1
        if shared.head[c] < 0 or shared.loss[c] == 0 or state[ALIVE] < 2:
            continue
        size = add_members(shared, pool, c, 0)
        sort_members(pool.members, size)
        loss_left, moved = shared.loss[c], 0
        while moved < size and loss_left > 0:
            member = pool.members[moved]
            low, records = lattice.nodes[member], lattice.counts[member]
            taker, cost = -1, loss_left
            for other in range(state[TOP]):
                if other != c and shared.head[other] >= 0:
                    cost_there = merge_cost(trees, low, records, shared, other, cost)
                    if cost_there < cost:
                        taker, cost = other, cost_there
            state[WORK] += state[TOP]
            if taker < 0:
                break
            pool.undone[moved, 0] = taker
            pool.undone[moved, 1] = cost
            for j in range(m):
                node = shared.nodes[taker, j]
                pool.undone[moved, 2 + j] = node
                shared.nodes[taker, j] = lca(trees.parents[j], low[j], node)
            shared.size[taker] += records
            shared.loss[taker] += cost
            loss_left -= cost
            moved += 1
        if moved == size:  # then something is left: what was too dear was not taken
            shared.head[c] = -1
            state[ALIVE] -= 1
            state[CHANGES] += 1
            for i in range(size):
                member, taker = pool.members[i], pool.undone[i, 0]
                shared.following[member] = shared.head[taker]
                shared.head[taker] = member
        else:
            for i in range(moved - 1, -1, -1):
                taker = pool.undone[i, 0]
                shared.size[taker] -= lattice.counts[pool.members[i]]
                shared.loss[taker] -= pool.undone[i, 1]
                for j in range(m):
                    shared.nodes[taker, j] = pool.undone[i, 2 + j]
    return True
