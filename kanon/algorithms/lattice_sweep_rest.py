"""What a lattice sweep left over joins the released classes that cost least to widen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kanon.algorithms.lattice_sweep_walk import limit_progress
from kanon.algorithms.merge_until_models_hold import merge_breaking_classes
from kanon.algorithms.task import Task, as_wide, in_one_width
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.merging import fill_joining_costs
from kanon.privacy.conjunction import find_broken
from kanon.privacy.k_anonymity import KAnonymity
from kanon.recoding import Recoding, Trace


def with_the_rest(
    task: Task,
    targets: np.ndarray,
    remain: np.ndarray,
    trace: Trace,
    progress: Progress = ignore_progress,
) -> Recoding:
    """The release in which all that remains joined the released class that costs least to widen."""
    classes = task.classes
    if not remain.any():
        return Recoding.from_targets(classes, targets, trace=trace)
    into, nodes = joined_one_by_one(task, targets, remain, progress)
    aside = np.flatnonzero(into < 0)
    final = nodes[into]
    final[aside] = classes.nodes[aside]
    release = Recoding.from_targets(classes, final, trace=trace)
    return merge_breaking_classes(release, merging_on(task), progress) if len(aside) else release


def merging_on(task: Task) -> Task:
    """The task that merges on what no class can take."""
    models = (KAnonymity(task.k), *task.others) if task.k > 1 else task.others
    return replace(task, models=models, weighted=True, strategy="s1", tie_seed=None)


def joined_one_by_one(
    task: Task, targets: np.ndarray, remain: np.ndarray, progress: Progress = ignore_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Per class the released class that it is part of now, and what each was raised to."""
    classes = task.classes
    before = Recoding.from_targets(classes, targets, suppressed=remain)
    tuples = np.array(classes.nodes, dtype=np.int32, order="C")
    nodes, counts = before.nodes.copy(), before.counts.copy()
    into = before.assigned.copy()
    parents, _ = in_one_width(task)
    meeting = np.empty_like(nodes)
    tell = limit_progress(progress)
    leftovers = np.flatnonzero(remain).tolist()
    for place, c in enumerate(leftovers):
        costs = task.potentials.ranks(
            partial(_sum_costs, parents, nodes, counts, tuples[c], int(classes.counts[c]), meeting)
        )
        order = np.lexsort((*nodes.T[::-1], costs))
        order = order[counts[order] > 0]
        find_members = partial(_list_members, nodes, counts, into, meeting, c)
        if task.others:
            candidate = _find_taker(task, order, find_members)
        else:
            candidate = int(order[0]) if len(order) else -1
        if candidate >= 0:
            members = find_members(candidate)
            counts[(nodes == meeting[candidate]).all(axis=1)] = 0
            nodes[candidate] = meeting[candidate]
            counts[candidate] = classes.counts[members].sum()
            into[members] = candidate
        n_waiting = len(leftovers) - place - 1
        tell(
            (place + 1) / len(leftovers),
            f"{count_noun(n_waiting, 'class', 'classes')} left over to join others",
        )
    return into, nodes


def _sum_costs(
    parents: np.ndarray,
    nodes: np.ndarray,
    counts: np.ndarray,
    tuple_: np.ndarray,
    count: int,
    meeting: np.ndarray,
    potentials: Sequence[np.ndarray],
) -> np.ndarray:
    costs = np.empty_like(counts)
    fill_joining_costs(nodes, counts, tuple_, count, parents, as_wide(potentials), meeting, costs)
    return costs


def _list_members(
    nodes: np.ndarray,
    counts: np.ndarray,
    into: np.ndarray,
    meeting: np.ndarray,
    c: int,
    candidate: int,
) -> np.ndarray:
    """The classes that share a tuple once a class joins a released one."""
    same = (nodes == meeting[candidate]).all(axis=1) & (counts > 0)
    same[candidate] = True
    return np.append(np.flatnonzero((into >= 0) & same[into]), c)


def _find_taker(task: Task, order: np.ndarray, find_members: Callable[[int], np.ndarray]) -> int:
    """The first of some released classes that meets every model with one class more, else -1."""
    begin, size = 0, 1
    while begin < len(order):
        asked = order[begin : begin + size].tolist()
        parts = [find_members(candidate) for candidate in asked]
        group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        pooled = task.classes.pooled(np.concatenate(parts), group, len(parts))
        takes = np.flatnonzero(~find_broken(task.others, pooled))
        if len(takes):
            return int(asked[takes[0]])
        begin, size = begin + size, min(4 * size, 256)
    return -1
