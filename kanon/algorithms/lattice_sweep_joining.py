"""The tuples that a sweep left over join the released classes that they cost least."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kanon.algorithms.lattice_sweep_walk import now_and_then
from kanon.algorithms.merge_until_models_hold import repaired
from kanon.algorithms.task import Task, as_wide, in_one_width
from kanon.base.formatting import counted
from kanon.base.progress import Progress, no_progress
from kanon.kernels.merging import joining_costs
from kanon.privacy.conjunction import broken
from kanon.privacy.k_anonymity import KAnonymity
from kanon.recoding import Recoding, Trace


def with_the_rest(
    task: Task,
    targets: np.ndarray,
    remain: np.ndarray,
    trace: Trace,
    progress: Progress = no_progress,
) -> Recoding:
    classes = task.classes
    if not remain.any():
        return Recoding.from_targets(classes, targets, trace=trace)
    into, nodes = joined_one_by_one(task, targets, remain, progress)
    aside = np.flatnonzero(into < 0)
    final = nodes[into]
    final[aside] = classes.nodes[aside]
    release = Recoding.from_targets(classes, final, trace=trace)
    return repaired(release, merging_on(task), progress) if len(aside) else release


def merging_on(task: Task) -> Task:
    models = (KAnonymity(task.k), *task.others) if task.k > 1 else task.others
    return replace(task, models=models, weighted=True, strategy="s1", tie_seed=None)


def joined_one_by_one(
    task: Task, targets: np.ndarray, remain: np.ndarray, progress: Progress = no_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Per class the released class that it is part of now, and what each was raised to."""
    classes = task.classes
    before = Recoding.from_targets(classes, targets, suppressed=remain)
    given = np.array(classes.nodes, dtype=np.int32, order="C")
    nodes, counts = before.nodes.copy(), before.counts.copy()
    into = before.assigned.copy()
    parents, _ = in_one_width(task)
    joined = np.empty_like(nodes)
    told = now_and_then(progress)
    left = np.flatnonzero(remain).tolist()
    for done, each in enumerate(left):
        costs = task.potentials.ranks(
            partial(_costs, parents, nodes, counts, given[each], int(classes.counts[each]), joined)
        )
        ranked = np.lexsort((*nodes.T[::-1], costs))
        for chosen in ranked[counts[ranked] > 0].tolist():
            same = (nodes == joined[chosen]).all(axis=1) & (counts > 0)
            same[chosen] = True
            members = np.append(np.flatnonzero((into >= 0) & same[into]), each)
            if not task.others or _meet(task, members):
                nodes[chosen] = joined[chosen]
                counts[same] = 0
                counts[chosen] = classes.counts[members].sum()
                into[members] = chosen
                break
        waiting = len(left) - done - 1
        told(
            (done + 1) / len(left),
            f"{counted(waiting, 'class', 'classes')} left over to join others",
        )
    return into, nodes


def _costs(
    parents: np.ndarray,
    nodes: np.ndarray,
    counts: np.ndarray,
    tuple_: np.ndarray,
    count: int,
    joined: np.ndarray,
    potentials: Sequence[np.ndarray],
) -> np.ndarray:
    costs = np.empty_like(counts)
    joining_costs(nodes, counts, tuple_, count, parents, as_wide(potentials), joined, costs)
    return costs


def _meet(task: Task, members: np.ndarray) -> bool:
    classes, as_one = task.classes, np.zeros(len(members), dtype=np.int64)
    whole = classes.regrouped(
        classes.nodes[members[:1]],
        classes.counts[members].sum(keepdims=True),
        (
            replace(each.only(members).grouped(as_one, 1), total=each.total)
            for each in classes.histograms
        ),
    )
    return not broken(task.others, whole)[0]
