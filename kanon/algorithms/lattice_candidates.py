"""The lattice sweep on lattices too large to walk: only nodes that near classes have in common."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanon.algorithms.lattice_size import sum_losses_per_level
from kanon.algorithms.lattice_sweep_walk import (
    build_lattice_arrays,
    create_group_table,
    join_potentials,
    limit_progress,
    remove_breaking_groups,
)
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.lattice_candidates import (
    NEXT,
    RECORDS,
    STEPS,
    CandidateWalk,
    find_large_candidates,
    release_candidates,
    walk_some_candidates,
)
from kanon.kernels.near_classes import (
    LEFT,
    SEED,
    NearClusters,
    cluster_some,
    fill_distances,
)

_CHUNK = 2_000_000  # pairs that are compared, or classes grouped, between two reports of progress

_POOL = 400  # classes that each is compared with, to find those that have near ones


@dataclass(frozen=True, eq=False)
class WideLattice:
    """A task's classes, and what its levels make of them."""

    task: Task

    @cached_property
    def arrays(self) -> tuple:
        return build_lattice_arrays(self.task.classes)

    @property
    def raised(self) -> list[np.ndarray]:
        return self.arrays[1]

    @cached_property
    def potentials(self) -> np.ndarray:
        return join_potentials(self.task, self.raised)

    @cached_property
    def columns(self) -> np.ndarray:
        """The quasi-identifiers, first those that meeting a record drawn at random costs most."""
        classes, costs = self.task.classes, []
        for cells, depth, table in zip(
            classes.cells, self.task.potentials, self.raised, strict=True
        ):
            shares = [np.bincount(row, cells, len(row))[row] / classes.n_records for row in table]
            # A class meets at a level whom it meets at that level but not below it.
            meeting = np.diff(shares, axis=0, prepend=0.0)
            costs.append(cells @ ((depth - depth[table]) * meeting).sum(axis=0))
        return np.argsort(-np.array(costs), kind="stable")

    def measure_distances(self, progress: Progress = ignore_progress) -> np.ndarray:
        """What meeting its third nearest of some classes drawn at random costs each class. (E,)."""
        arrays, _ = self.arrays
        size, tell = self.task.classes.n_classes, limit_progress(progress)
        draw = np.random.default_rng(self.task.seed)
        pool = draw.choice(size, min(size, _POOL), replace=False)
        clusters = put_classes(self.make_room(min(len(pool), 3)), np.arange(size), pool)
        distances = np.zeros(size, dtype=np.int64)
        step = _CHUNK // len(pool) + 1
        for begins in range(0, size, step):
            ends = min(begins + step, size)
            fill_distances(arrays, self.potentials, clusters, distances, begins, ends)
            tell(ends / size, f"{count_noun(size - ends, 'class', 'classes')} to be compared")
        return distances

    def make_room(self, n_near: int) -> NearClusters:
        arrays, _ = self.arrays
        size, m, n_levels = *self.task.classes.nodes.shape, int(arrays.levels.max())
        none = np.zeros(0, dtype=np.int64)
        return NearClusters(
            seeds=none,
            waiting=none,
            place=np.zeros(size, dtype=np.int64),
            of=np.full(size, -1, dtype=np.int64),
            columns=self.columns,
            raised=np.zeros((m, n_levels), dtype=np.int64),
            lost=np.zeros((m, n_levels), dtype=np.int64),
            levels=np.zeros(m, dtype=np.int64),
            near=np.zeros(n_near, dtype=np.int64),
            costs=np.zeros(n_near, dtype=np.int64),
            state=np.zeros(4, dtype=np.int64),
        )

    def find_levels(self, group_of: np.ndarray) -> np.ndarray:
        """The lowest levels at which each group is one; groups are numbered from 0. (G, m)."""
        members = np.flatnonzero(group_of >= 0)
        members = members[np.argsort(group_of[members], kind="stable")]
        group = group_of[members]
        starts = np.searchsorted(group, np.arange(group[-1] + 1))
        levels = np.zeros((len(starts), len(self.raised)), dtype=np.int64)
        for j, table in enumerate(self.raised):
            nodes = self.task.classes.nodes[members, j]
            for row in table[:-1]:
                values = row[nodes]
                levels[:, j] += np.logical_or.reduceat(values != values[starts][group], starts)
        return levels

    def find_targets(self, group_of: np.ndarray) -> np.ndarray:
        """What each class becomes where each group is raised as far as it needs; others stay."""
        nodes = self.task.classes.nodes
        targets, is_in = nodes.copy(), group_of >= 0
        if is_in.any():
            levels = self.find_levels(group_of)[group_of[is_in]]
            for j, table in enumerate(self.raised):
                targets[is_in, j] = table[levels[:, j], nodes[is_in, j]]
        return targets

    def sort_by_loss(self, levels: np.ndarray) -> np.ndarray:
        """Nodes by what raising all records to them costs, least first; ties in their order."""

        def add(depths: Sequence[np.ndarray]) -> np.ndarray:
            lost = sum_losses_per_level(self.task.classes, depths, self.raised)
            return sum(level_losses[levels[:, j]] for j, level_losses in enumerate(lost))

        return levels[np.argsort(self.task.potentials.ranks(add), kind="stable")]


def put_classes(room: NearClusters, seeds: np.ndarray, waiting: np.ndarray) -> NearClusters:
    room.place[waiting] = np.arange(len(waiting))
    room.state[[LEFT, SEED]] = len(waiting), 0
    return room._replace(seeds=seeds, waiting=waiting.copy())


def form_clusters(
    wide: WideLattice,
    classes: np.ndarray,
    distances: np.ndarray,
    k: int,
    pairs: float,
    progress: Progress = ignore_progress,
) -> np.ndarray:
    """Per class its cluster of at least k records, -1 for none. Shape (E,).

    The classes at the smallest ``distances`` from others begin. Classes are compared within parts
    drawn at random, so small that about ``pairs`` are compared; what is left over of all parts
    comes last.
    """
    arrays, _ = wide.arrays
    counts, tell = wide.task.classes.counts, limit_progress(progress)
    part_size = max(20 * k, int(2 * pairs / max(len(classes), 1)))
    shuffled = np.random.default_rng(wide.task.seed).permutation(classes)
    parts = np.array_split(shuffled, max(1, math.ceil(len(classes) / part_size)))
    room, n_done = wide.make_room(min(len(parts[0]), 2 * k + 10)), 0
    for turn in range(len(parts) + 1):
        part = parts[turn] if turn < len(parts) else classes[room.of[classes] < 0]
        part = part[np.lexsort((part, distances[part]))]
        clusters = put_classes(room, part, part)
        records = counts[part].sum(keepdims=True)
        while not cluster_some(arrays, wide.potentials, clusters, records, k, _CHUNK):
            waiting = len(classes) - n_done - len(part) + int(room.state[LEFT])
            tell(1 - waiting / len(classes), f"{count_noun(waiting, 'class', 'classes')} left")
        n_done += len(part)
    return room.of


@dataclass(frozen=True, eq=False)
class WalkedCandidates:
    group_of: np.ndarray  # per class the group that it was released in; -1 if it remains
    used: np.ndarray  # the nodes at which groups were released, (U, m)
    visited: int
    released: int


def walk_candidates(
    wide: WideLattice, levels: np.ndarray, progress: Progress = ignore_progress
) -> WalkedCandidates:
    """Visit nodes by loss; at each, release every group of the rest that is allowed."""
    task, tell = wide.task, limit_progress(progress)
    arrays, _ = wide.arrays
    size, table = len(arrays.counts), create_group_table(len(arrays.counts))
    draw = np.random.default_rng(task.seed)
    marks = [
        np.asarray(draw.integers(-(2**63), 2**63, rows.shape[1], dtype=np.int64))[rows].ravel()
        for rows in wide.raised
    ]
    walk = CandidateWalk(
        levels=wide.sort_by_loss(levels),
        marks=np.concatenate(marks),
        live=np.arange(size),
        sums=np.zeros(size, dtype=np.int64),
        records=np.zeros_like(table.key),
        grouped=np.zeros(size, dtype=np.int64),
        group_of=np.full(size, -1, dtype=np.int64),
        at=np.full(size, -1, dtype=np.int64),
        state=np.array([size, task.classes.n_records, 0, 0, 0], dtype=np.int64),
    )
    state, ended = walk.state, False
    while not ended:
        if task.others:
            groups = int(find_large_candidates(arrays, walk, table, task.k, _CHUNK))
            ended = groups < 0
            if groups > 0:
                remove_breaking_groups(task, walk, table, groups)
                release_candidates(arrays, walk, table, groups, task.k)
        else:
            ended = bool(walk_some_candidates(arrays, walk, table, task.k, _CHUNK))
        tell(
            state[NEXT] / len(levels),
            f"{count_noun(int(state[NEXT]), 'node')} of {write_count(len(levels))}, "
            f"{count_noun(int(state[RECORDS]), 'record')} left",
        )
    used = walk.levels[np.unique(walk.at[walk.at >= 0])]
    return WalkedCandidates(walk.group_of, used, int(state[NEXT]), int(state[STEPS]))


def list_nodes_next_to(levels: np.ndarray, top: np.ndarray) -> np.ndarray:
    """The nodes one level above or below, in one quasi-identifier."""
    steps = np.eye(len(top), dtype=np.int64)
    moved = np.concatenate([levels + step for step in (*steps, *-steps)])
    return np.unique(moved[((moved >= 0) & (moved <= top)).all(axis=1)], axis=0)
