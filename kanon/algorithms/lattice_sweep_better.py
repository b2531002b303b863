"""Make a release better: dissolve classes, merge neighbouring ones and split them again."""

import numpy as np

from kanon.algorithms.lattice_sweep_walk import limit_progress, prepare_lattice
from kanon.algorithms.task import Task, in_one_width, own_potentials, sum_potentials
from kanon.base.formatting import count_noun
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.lattice_sweep_classes import (
    CHANGES,
    PLACE,
    WORK,
    Pool,
    ReleasedClasses,
    Trees,
    set_all_classes,
)
from kanon.kernels.lattice_sweep_dissolve import dissolve_some
from kanon.kernels.lattice_sweep_groups import LatticeArrays
from kanon.kernels.lattice_sweep_split import split_some
from kanon.recoding import Recoding

_CHUNK = 500_000
"""Tuples that are grouped, or classes that are compared, between two reports of progress, about."""

_LARGEST = 2_000_000
"""A pool is parted only if its tuples times the nodes below what they share are at most this."""

_MOST_WORK = 250_000_000
"""Tuples grouped and classes compared after which nothing new is begun: some five seconds."""

_ROUNDS = 3  # how often everything is tried at most

_POOLS = ((8, False), (2, True), (3, True), (5, True))
"""How many of the nearest classes a class is pooled with, and whether with all at once."""


def total_loss(task: Task, recoding: Recoding) -> int:
    """The loss of a release, in the scaled units of the task's potentials."""
    kept = sum_potentials(task.potentials, recoding.targets)
    return int((own_potentials(task) - kept) @ task.classes.counts)


def improve_release(
    recoding: Recoding, task: Task, progress: Progress = ignore_progress, splits: bool = True
) -> Recoding:
    """A release that costs no more, with k records in every class.

    Without ``splits``, which visit all nodes below the meeting of some classes, classes are only
    dissolved.
    """
    classes = task.classes
    size, m = classes.nodes.shape
    lattice, _, halves, table, full = prepare_lattice(classes)
    trees = _build_trees(task)
    pool = Pool(
        np.zeros(size, dtype=np.int32),
        np.zeros(size, dtype=np.int32),
        np.zeros(size, dtype=np.bool_),
        np.zeros(size, dtype=np.bool_),
        np.zeros((4, m), dtype=np.int64),
        np.zeros((2, size + 2, 2), dtype=np.int64),
        np.zeros(max(n_nearest for n_nearest, _ in _POOLS), dtype=np.int64),
        np.zeros(max(n_nearest for n_nearest, _ in _POOLS), dtype=np.int64),
        np.zeros((size, m + 2), dtype=np.int64),
    )
    shared = _share_classes(recoding, task, lattice, trees, pool)
    state, tell, first_loss = shared.state, limit_progress(progress), int(shared.loss.sum())

    def report_loss() -> None:
        loss = int(shared.loss[shared.head >= 0].sum())
        tell(
            min(1.0, state[WORK] / _MOST_WORK),
            f"{count_noun(int(state[CHANGES]), 'change')} so far, "
            f"{100 * (first_loss - loss) / max(first_loss, 1):.2f} % less loss",
        )

    for _ in range(_ROUNDS):
        before = int(state[CHANGES])
        todo = _order_by_loss(shared)
        while not dissolve_some(lattice, trees, shared, pool, todo, _CHUNK):
            report_loss()
            if state[WORK] > _MOST_WORK:
                break
        for n_nearest, together in _POOLS if splits else ():
            todo = _order_by_loss(shared)
            while not split_some(
                lattice, halves, table, trees, shared, pool, full,
                task.k, todo, n_nearest, together, _LARGEST, _CHUNK,
            ):  # fmt: skip
                report_loss()
                if state[WORK] > _MOST_WORK:
                    break
        if state[CHANGES] == before or state[WORK] > _MOST_WORK:
            break
    return Recoding.from_targets(classes, _collect_targets(shared), trace=recoding.trace)


def _build_trees(task: Task) -> Trees:
    parents, depths = in_one_width(task)
    levels = np.zeros(parents.shape, dtype=np.int64)
    for row, tree in zip(levels, task.classes.hierarchies, strict=True):
        row[: tree.n_nodes] = tree.level
    return Trees(parents, levels, depths)


def _share_classes(
    recoding: Recoding, task: Task, lattice: LatticeArrays, trees: Trees, pool: Pool
) -> ReleasedClasses:
    size, m = lattice.nodes.shape
    shared = ReleasedClasses(
        own_potentials(task),
        np.full(size, -1, dtype=np.int32),
        np.full(size, -1, dtype=np.int32),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros((size, m), dtype=np.int32),
        np.zeros(5, dtype=np.int64),
    )
    pool.members[:] = np.argsort(recoding.assigned, kind="stable")
    tuples = np.bincount(recoding.assigned, minlength=recoding.n_classes)
    set_all_classes(lattice, trees, shared, pool, np.concatenate([[0], np.cumsum(tuples)]))
    return shared


def _order_by_loss(shared: ReleasedClasses) -> np.ndarray:
    """The classes by their loss per record, the most expensive first."""
    shared.state[PLACE] = 0
    numbers = np.flatnonzero(shared.head >= 0)
    return numbers[np.argsort(-(shared.loss[numbers] // shared.size[numbers]), kind="stable")]


def _collect_targets(shared: ReleasedClasses) -> np.ndarray:
    targets = np.empty_like(shared.nodes)
    for number in np.flatnonzero(shared.head >= 0).tolist():
        member = int(shared.head[number])
        while member >= 0:
            targets[member] = shared.nodes[number]
            member = int(shared.following[member])
    return targets
