"""A walk along the nodes of a lattice, which releases every group of the rest that it can."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kanon.algorithms.lattice_size import (
    compute_nodes_by_level,
    count_lattice_nodes,
    sort_places_by_loss,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.kernels.lattice_candidates import CandidateWalk
from kanon.kernels.lattice_sweep_groups import GroupTable, Halves, LatticeArrays, fill_halves
from kanon.kernels.lattice_sweep_walk import (
    GROUPED,
    NEXT,
    RECORDS,
    STEPS,
    SweepWalk,
    WalkedHalf,
    find_large_groups,
    set_released,
    walk_some,
)
from kanon.privacy.conjunction import find_broken

_CHUNK = 2_000_000
"""Classes that are looked at between two reports of progress, about: thousandths of a second."""

_MOST_BYTES = 64_000_000
"""How much memory the groups of halves take at most, but for one place each."""


@dataclass(frozen=True, eq=False)
class SweepState:
    targets: np.ndarray  # per class the tuple it was released as
    at: np.ndarray  # per class the place of the node at which it was released; -1 if it remains
    visited: int  # how many nodes were grouped
    released: int  # how many groups were released


def build_lattice_arrays(classes: EquivalenceClasses) -> tuple[LatticeArrays, list[np.ndarray]]:
    raised = [compute_nodes_by_level(tree) for tree in classes.hierarchies]
    levels = [len(table) for table in raised]
    # The more even the halves, the fewer groups have to be made and kept.
    split = min(
        range(len(levels) + 1),
        key=lambda place: max(math.prod(levels[:place]), math.prod(levels[place:])),
    )
    parts = [math.prod(levels[:split]), math.prod(levels[split:])]
    sizes = [table.size for table in raised]
    first, first_of = _group_tuples(classes, 0, split)
    last, last_of = _group_tuples(classes, split, len(levels))
    lattice = LatticeArrays(
        # Copies of one kind: whether an array can be written is part of its type for Numba.
        np.array(classes.nodes, dtype=np.int32, order="C"),
        np.array(classes.counts, dtype=np.int64),
        np.concatenate([table.ravel() for table in raised]),
        np.array([sum(sizes[:j]) for j in range(len(sizes))], dtype=np.int64),
        np.array([table.shape[1] for table in raised], dtype=np.int64),
        np.array(levels, dtype=np.int64),
        split,
        np.array(parts, dtype=np.int64),
        first,
        last,
        first_of,
        last_of,
    )
    return lattice, raised


def join_potentials(task: Task, raised: Sequence[np.ndarray]) -> np.ndarray:
    """Per place of ``LatticeArrays.raised`` the potential of the node there."""
    pairs = zip(task.potentials, raised, strict=True)
    return np.concatenate([depth[rows].ravel() for depth, rows in pairs])


def _group_tuples(
    classes: EquivalenceClasses, first: int, end: int
) -> tuple[np.ndarray, np.ndarray]:
    sizes = [tree.n_nodes for tree in classes.hierarchies[first:end]]
    tuples, _, of = group_tuples(classes.nodes[:, first:end], classes.counts, sizes)
    return np.array(tuples, dtype=np.int32, order="C"), of.astype(np.uint32)


def create_halves(lattice: LatticeArrays) -> Halves:
    first, last = len(lattice.first), len(lattice.last)
    capacity = max(1, _MOST_BYTES // (4 * max(first + last, 1)))
    n_first, n_last = (min(int(part), capacity) for part in lattice.parts)
    return Halves(
        np.zeros((n_first, first), dtype=np.int32),
        np.zeros((n_last, last), dtype=np.int32),
        np.full(n_first, -1, dtype=np.int64),
        np.full(n_last, -1, dtype=np.int64),
    )


def create_group_table(size: int) -> GroupTable:
    places = 1 << max(4, (2 * size - 1).bit_length())
    return GroupTable(
        np.zeros(places, dtype=np.int64),
        np.zeros(places, dtype=np.int32),
        np.zeros(places, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(size, dtype=np.int32),
        *np.zeros((2, size), dtype=np.int64),
    )


def prepare_lattice(
    classes: EquivalenceClasses,
) -> tuple[LatticeArrays, list[np.ndarray], Halves, GroupTable, bool]:
    lattice, raised = build_lattice_arrays(classes)
    size = classes.n_classes
    halves, table = create_halves(lattice), create_group_table(size)
    full = bool(fill_halves(lattice, halves, table, np.arange(size, dtype=np.int32), size))
    return lattice, raised, halves, table, full


def compute_place_targets(
    nodes: np.ndarray, at: np.ndarray, raised: Sequence[np.ndarray], own: np.ndarray
) -> np.ndarray:
    targets = nodes.copy()
    rest = np.where(own, 0, at)
    for j in range(len(raised) - 1, -1, -1):
        rest, level = np.divmod(rest, len(raised[j]))
        targets[:, j] = np.where(own, nodes[:, j], raised[j][level, nodes[:, j]])
    return targets


def limit_progress(progress: Progress) -> Callable[[float, str], None]:
    """Pass progress on, at most 20 times a second."""
    last = -math.inf

    def tell(fraction: float, text: str) -> None:
        nonlocal last
        time_now = time.monotonic()
        if time_now - last >= 0.05:
            last = time_now
            progress(fraction, text)

    return tell


def walk_lattice(task: Task, progress: Progress = ignore_progress) -> SweepState:
    """Visit the nodes by loss; at each, release every group of the rest that is allowed."""
    classes, k = task.classes, task.k
    tell = limit_progress(progress)
    tell(0.0, f"putting {count_noun(count_lattice_nodes(classes.hierarchies), 'node')} in order")
    lattice, raised = build_lattice_arrays(classes)
    order = sort_places_by_loss(task.classes, task.potentials, raised)
    halves, table = create_halves(lattice), create_group_table(classes.n_classes)
    walk = SweepWalk(
        order,
        np.arange(classes.n_classes, dtype=np.uint32),
        _build_half(lattice, 0, lattice.first, lattice.first_of, halves.ones, halves.ones_of),
        _build_half(
            lattice, lattice.split, lattice.last, lattice.last_of, halves.others, halves.others_of
        ),
        np.zeros(classes.n_classes, dtype=np.uint32),
        np.zeros_like(table.key),
        np.full(classes.n_classes, -1, dtype=np.int64),
        np.array([classes.n_classes, classes.n_records, 0, 0, 0], dtype=np.int64),
    )
    state, ended = walk.state, False
    while not ended:
        if task.others:
            groups = int(find_large_groups(lattice, halves, table, walk, k, _CHUNK))
            ended = groups < 0
            if groups > 0:
                remove_breaking_groups(task, walk, table, groups)
                set_released(lattice, table, walk, groups, k)
        else:
            ended = bool(walk_some(lattice, halves, table, walk, k, _CHUNK))
        tell(
            state[NEXT] / len(order),
            f"{count_noun(int(state[NEXT]), 'node')} of {write_count(len(order))}, "
            f"{count_noun(int(state[RECORDS]), 'record')} left",
        )
    targets = compute_place_targets(classes.nodes, walk.at, raised, walk.at < 0)
    return SweepState(targets, walk.at, int(state[NEXT]), int(state[STEPS]))


def _build_half(
    lattice: LatticeArrays,
    begins: int,
    tuples: np.ndarray,
    of: np.ndarray,
    groups: np.ndarray,
    groups_of: np.ndarray,
) -> WalkedHalf:
    size = len(tuples)
    return WalkedHalf(
        tuples,
        begins,
        groups,
        groups_of,
        np.zeros_like(groups_of),
        np.arange(size, dtype=np.uint32),
        np.array([size], dtype=np.int64),
        np.bincount(of, lattice.counts, size).astype(np.int64),
        of.astype(np.uint32),
    )


def remove_breaking_groups(
    task: Task, walk: SweepWalk | CandidateWalk, table: GroupTable, groups: int
) -> None:
    """Empty the groups of k records that break another model, so that they are not released."""
    live = walk.grouped[: walk.state[GROUPED]]
    of, sizes = table.of[: len(live)], table.size[:groups]
    large_groups = np.flatnonzero(sizes >= task.k)
    place = np.full(groups, -1)
    place[large_groups] = np.arange(len(large_groups))
    members = np.flatnonzero(place[of] >= 0)
    pooled = task.classes.pooled(live[members], place[of[members]], len(large_groups))
    sizes[large_groups[find_broken(task.others, pooled)]] = 0
