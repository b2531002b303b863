"""What a lattice sweep left over joins the released classes that cost least to widen."""

from collections.abc import Sequence
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
        for candidate in order[counts[order] > 0].tolist():
            same = (nodes == meeting[candidate]).all(axis=1) & (counts > 0)
            same[candidate] = True
            members = np.append(np.flatnonzero((into >= 0) & same[into]), c)
            if not task.others or _can_join(task, members):
                nodes[candidate] = meeting[candidate]
                counts[same] = 0
                counts[candidate] = classes.counts[members].sum()
                into[members] = candidate
                break
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


def _can_join(task: Task, members: np.ndarray) -> bool:
    return not find_broken(task.others, task.classes.pooled(members, np.zeros_like(members), 1))[0]
