"""What the lattice sweep knows of single groups: the cheapest first, and what no release beats."""

from collections.abc import Sequence

import numpy as np

from kanon.algorithms.lattice_sweep_walk import (
    SweepState,
    compute_place_targets,
    join_potentials,
    limit_progress,
    prepare_lattice,
)
from kanon.algorithms.task import Task, own_potentials
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.lattice_sweep_groups import clear_halves
from kanon.kernels.lattice_sweep_order import (
    Losses,
    NodeQueue,
    build_node_heap,
    fill_first_keys,
    take_some_groups,
)
from kanon.kernels.lattice_sweep_walk import RECORDS, STEPS

_CHUNK = 1_000_000  # classes that are grouped between two reports of progress, about

_KEYS = 0.8
"""The share of the time of a sweep in group order that passes before the first release, about."""


def _build_losses(task: Task, raised: Sequence[np.ndarray]) -> Losses:
    size = task.classes.n_classes
    room = np.zeros((4, size), dtype=np.int64)
    return Losses(join_potentials(task, raised), own_potentials(task), *room)


def sweep_by_groups(task: Task, progress: Progress = ignore_progress) -> SweepState:
    """Release groups of the lattice by their mean loss, the cheapest first."""
    classes = task.classes
    size, n = classes.n_classes, classes.n_records
    lattice, raised, halves, table, full = prepare_lattice(classes)
    losses = _build_losses(task, raised)
    tell = limit_progress(progress)
    live = np.arange(size, dtype=np.int32)
    key = np.zeros(int(lattice.parts.prod()), dtype=np.int64)
    at, n_nodes = np.zeros(2, dtype=np.int64), write_count(len(key))
    while at[0] < len(key):
        fill_first_keys(lattice, halves, table, losses, full, task.k, live, key, at, _CHUNK)
        tell(_KEYS * at[0] / len(key), f"{count_noun(int(at[0]), 'node')} of {n_nodes} weighed")
    if not full:
        clear_halves(halves)
    heap = np.zeros(len(key), dtype=np.int64)
    queue = NodeQueue(
        key,
        heap,
        np.arange(size, dtype=np.int32),
        np.full(size, -1, dtype=np.int64),
        np.array([size, n, build_node_heap(key, heap), 0, 0], dtype=np.int64),
    )
    state = queue.state
    while not take_some_groups(lattice, halves, table, losses, queue, task.k, _CHUNK):
        tell(
            1 - (1 - _KEYS) * state[RECORDS] / n,
            f"{count_noun(int(state[RECORDS]), 'record')} left",
        )
    targets = compute_place_targets(classes.nodes, queue.at, raised, queue.at < 0)
    return SweepState(targets, queue.at, len(key) + int(state[4]), int(state[STEPS]))
