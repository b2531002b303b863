"""A walk along the nodes of a lattice: group the records that remain, node by node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kanon.kernels.compilation import kernel
from kanon.kernels.lattice_sweep_groups import group_node

REMAINING, RECORDS, NEXT, STEPS = range(4)
"""The places in ``SweepWalk.state``: how many classes and records remain, how many nodes were
visited, how many groups were released."""


class SweepWalk(NamedTuple):
    """A walk along the nodes of a lattice.

    Attributes
    ----------
    order
        The nodes, in the order in which they are visited.
    live
        The classes that remain, rising; the first ``state[REMAINING]`` of the array.
    at
        Per class the node that it was released at; -1 as long as it remains.
    state
        See :data:`REMAINING`.
    """

    order: np.ndarray
    live: np.ndarray
    at: np.ndarray
    state: np.ndarray


@kernel(seconds=1)
def reach_some(lattice, halves, table, walk, k, most):
    """Visit nodes until some group of what remains reaches k.

    Parameters
    ----------
    most
        How many classes may be grouped, about, before this returns.

    Returns
    -------
    int
        The number of groups at that node, as :func:`group_node` tells them. 0 if the time is up;
        -1 at the end: all nodes were visited, or fewer than k records remain.
    """
    state, work = walk.state, 0
    while state[RECORDS] >= k and state[REMAINING] > 0 and state[NEXT] < walk.order.shape[0]:
        if work > most:
            return 0
        node = walk.order[state[NEXT]]
        groups = group_node(lattice, halves, table, node, walk.live, state[REMAINING])
        state[NEXT] += 1
        work += state[REMAINING]
        for group in range(groups):
            if table.size[group] >= k:
                return groups
    return -1


@kernel(seconds=1)
def release(lattice, table, walk, groups, least):
    """Release groups of the node that was visited last.

    Parameters
    ----------
    groups
        How many groups there are.
    least
        The size from which on a group is released.
    """
    state = walk.state
    node = walk.order[state[NEXT] - 1]
    for group in range(groups):
        state[STEPS] += table.size[group] >= least
    left = 0
    for i in range(state[REMAINING]):
        each = walk.live[i]
        if table.size[table.of[i]] >= least:
            walk.at[each] = node
            state[RECORDS] -= lattice.counts[each]
        else:
            walk.live[left] = each
            left += 1
    state[REMAINING] = left


@kernel(seconds=2)
def walk_some(lattice, halves, table, walk, k, most):
    """Walk on along the nodes, and release every group that reaches k.

    Parameters
    ----------
    most
        How many classes may be grouped, about, before this returns.

    Returns
    -------
    bool
        Whether the walk has ended.
    """
    work = 0
    while work <= most:
        before = walk.state[NEXT]
        remaining = walk.state[REMAINING]
        groups = reach_some(lattice, halves, table, walk, k, most - work)
        if groups < 0:
            return True
        if groups > 0:
            release(lattice, table, walk, groups, k)
        work += (walk.state[NEXT] - before) * remaining
    return False
