"""What the lattice sweep knows of single groups: the cheapest first, and what no release beats."""

from collections.abc import Sequence

import numpy as np

from kanon.algorithms.lattice_sweep_walk import (
    SweepState,
    now_and_then,
    room_for_every_class,
    targets_at,
)
from kanon.algorithms.task import Task, own_potentials
from kanon.base.formatting import counted, thin
from kanon.base.progress import Progress, no_progress
from kanon.kernels.lattice_sweep_groups import forget
from kanon.kernels.lattice_sweep_order import (
    Losses,
    Ordered,
    bound_some,
    first_keys,
    heaped,
    order_some,
)
from kanon.kernels.lattice_sweep_walk import RECORDS, STEPS

_CHUNK = 1_000_000  # classes that are grouped between two reports of progress, about

_KEYS = 0.8
"""The share of the time of a sweep in group order that passes before the first release, about."""


def _build_losses(task: Task, raised: Sequence[np.ndarray]) -> Losses:
    size = task.classes.n_classes
    left = [depth[table].ravel() for depth, table in zip(task.potentials, raised, strict=True)]
    room = np.zeros((4, size), dtype=np.int64)
    return Losses(np.concatenate(left), own_potentials(task), *room)


def in_group_order(task: Task, progress: Progress = no_progress) -> SweepState:
    """Release groups of the lattice by their mean loss, the cheapest first."""
    classes = task.classes
    size, n = classes.n_classes, classes.n_records
    lattice, raised, halves, table, full = room_for_every_class(classes)
    losses = _build_losses(task, raised)
    tell = now_and_then(progress)
    live = np.arange(size, dtype=np.int32)
    key = np.zeros(int(lattice.parts.prod()), dtype=np.int64)
    at, n_nodes = np.zeros(2, dtype=np.int64), thin(len(key))
    while at[0] < len(key):
        first_keys(lattice, halves, table, losses, full, task.k, live, key, at, _CHUNK)
        tell(_KEYS * at[0] / len(key), f"{counted(int(at[0]), 'node')} of {n_nodes} weighed")
    if not full:
        forget(halves)
    heap = np.zeros(len(key), dtype=np.int64)
    queue = Ordered(
        key,
        heap,
        np.arange(size, dtype=np.int32),
        np.full(size, -1, dtype=np.int64),
        np.array([size, n, heaped(key, heap), 0, 0], dtype=np.int64),
    )
    state = queue.state
    while not order_some(lattice, halves, table, losses, queue, task.k, _CHUNK):
        tell(1 - (1 - _KEYS) * state[RECORDS] / n, f"{counted(int(state[RECORDS]), 'record')} left")
    targets = targets_at(classes.nodes, queue.at, raised, queue.at < 0)
    return SweepState(targets, queue.at, len(key) + int(state[4]), int(state[STEPS]))


def least_loss(task: Task, progress: Progress = no_progress) -> int:
    """The sum over all records of the least loss of any group of k records that holds them."""
    lattice, raised, halves, table, full = room_for_every_class(task.classes)
    losses = _build_losses(task, raised)
    tell = now_and_then(progress)
    live = np.zeros(task.classes.n_classes, dtype=np.int32)
    best = np.zeros(task.classes.n_classes, dtype=np.int64)
    at, nodes = np.zeros(2, dtype=np.int64), int(lattice.parts.prod())
    while at[0] < nodes:
        bound_some(lattice, halves, table, losses, full, task.k, live, best, at, _CHUNK)
        tell(at[0] / nodes, f"{counted(int(at[0]), 'node')} of {thin(nodes)} weighed")
    return int(task.classes.counts @ (losses.own - best))
