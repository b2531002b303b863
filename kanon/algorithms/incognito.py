"""Incognito: which levels meet the requirements, from few quasi-identifiers to all of them."""

import math
from bisect import bisect_right
from itertools import accumulate, combinations, pairwise

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import compute_node_heights
from kanon.algorithms.search import (
    FULL_DOMAIN,
    LOSS,
    begin_search,
    check_full_domain,
    choose_loss,
    find_least_loss_node,
    finish_search,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import PlanError
from kanon.recoding import Recoding

CARD = read_algorithm_card(__file__, (LOSS,), family_text=FULL_DOMAIN)

_MOST_COMBINATIONS = 5 * 10**7  # the most combinations of levels in all subsets together

Subsets = dict[tuple[int, ...], np.ndarray]
"""Per subset of the quasi-identifiers an array of its lattice's shape."""


def check(task: Task) -> None:
    """Check the task as all full-domain searches do, and that its subsets are not too many."""
    check_full_domain(task, CARD.title)
    n_combinations = math.prod(tree.height + 1 for tree in task.classes.hierarchies)
    if n_combinations > _MOST_COMBINATIONS:
        raise PlanError(
            f"The subsets of these quasi-identifiers have {write_count(n_combinations)} "
            f"combinations of levels, but {CARD.title} goes through at most "
            f"{write_count(_MOST_COMBINATIONS)}. Use 'optimal' or 'flash', which find the same "
            "levels, or choose fewer quasi-identifiers."
        )


def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """The full-domain release with the least loss, found by Incognito.

    Subsets of one quasi-identifier come first, then of two, and so on. A breadth-first search finds
    the combinations of levels that meet the requirements, in one queue for all subsets of a size:
    by height, then subset, then canonical order. Above such a combination all meet them. It is a
    candidate only if it meets them for every subset with one quasi-identifier less. The classes by
    some quasi-identifiers are those of the node with the others at their roots. Of the nodes that
    meet the requirements for all quasi-identifiers, the one with the least loss is released.

    Source: LeFevre, DeWitt, Ramakrishnan 2005.
    """
    lattice = begin_search(task, progress, check)
    all_columns = tuple(range(len(lattice.tops)))
    satisfying: Subsets = {(): np.array(True)}
    for size in range(1, len(all_columns) + 1):
        satisfying = _find_satisfying(lattice, list(combinations(all_columns, size)), satisfying)
    good = [node for node in lattice.visited if satisfying[all_columns][node]]
    best = find_least_loss_node(lattice, choose_loss(lattice, task), satisfying[all_columns], good)
    return finish_search(lattice, best, [best])


def _find_satisfying(lattice: Lattice, subsets: list[tuple[int, ...]], smaller: Subsets) -> Subsets:
    shapes = [tuple(lattice.shape[j] for j in subset) for subset in subsets]
    ends = list(accumulate(map(math.prod, shapes), initial=0))
    flat = np.zeros(ends[-1], dtype=bool)  # all of them one after the other
    satisfying = {
        subset: flat[start:end].reshape(shape)
        for subset, shape, (start, end) in zip(subsets, shapes, pairwise(ends), strict=True)
    }
    queue, candidate_heights = [], []
    for subset, shape, start in zip(subsets, shapes, ends[:-1], strict=True):
        candidates = np.ones(shape, dtype=bool)
        for place in range(len(subset)):
            without = (*subset[:place], *subset[place + 1 :])
            candidates &= np.expand_dims(smaller[without], place)
        queue.append(np.flatnonzero(candidates) + start)
        candidate_heights.append(compute_node_heights(shape)[candidates])
    order = np.argsort(np.concatenate(candidate_heights), kind="stable")
    for number in lattice.walk_places(np.concatenate(queue)[order]):
        if flat[number]:
            continue
        subset_place = bisect_right(ends, number) - 1
        node, rest = list(lattice.tops), number - ends[subset_place]
        for j in reversed(subsets[subset_place]):
            rest, node[j] = divmod(rest, lattice.shape[j])
        if lattice.satisfies(tuple(node)):
            levels = tuple(node[j] for j in subsets[subset_place])
            satisfying[subsets[subset_place]][lattice.up_set(levels)] = True
    return satisfying
