"""The groups that a release by the hierarchies may consist of, each set of classes once."""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms.lattice_size import count_lattice_nodes
from kanon.algorithms.lattice_sweep_walk import limit_progress, prepare_lattice
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.kernels.distinct_groups import (
    GROUPS,
    MEMBERS,
    FoundGroups,
    copy_hash_table,
    find_some,
    list_some,
)

_CHUNK = 1_000_000  # classes that are grouped between two reports of progress, about

_FIRST_ROOM = 100_000  # room for so many groups to begin with; at least for those of one node

MOST_MEMBERS = 200_000_000  # the classes that all groups may have together: four bytes each

_FIND_SHARE = 0.5  # the share of the time until all groups are found; then classes are listed


@dataclass(frozen=True, eq=False)
class DistinctGroups:
    """The groups of at least k records at any node of the lattice, each set of classes once."""

    begin: np.ndarray  # per group where its classes begin in ``members``
    members: np.ndarray  # the classes of the groups, one group after the other, rising in each
    # per group the potential of the tuple that it is raised to, the largest of all nodes that
    # have a group of these classes: its records lose their own potentials less this
    kept: np.ndarray
    node: np.ndarray  # per group a node of the lattice at which it is raised to that tuple


def find_distinct_groups(task: Task, progress: Progress = ignore_progress) -> DistinctGroups | None:
    classes, k = task.classes, task.k
    lattice, raised, halves, table, full = prepare_lattice(classes)
    left = np.concatenate(
        [depth[rows].ravel() for depth, rows in zip(task.potentials, raised, strict=True)]
    )
    marks = np.random.default_rng(1).integers(-(2**63), 2**63, classes.n_classes, dtype=np.int64)
    nodes = count_lattice_nodes(classes.hierarchies)
    tell = limit_progress(progress)
    live = np.zeros(classes.n_classes, dtype=np.int32)
    groups = _build_room(classes.n_classes, max(_FIRST_ROOM, classes.n_classes))
    at = np.zeros(1, dtype=np.int64)
    while at[0] < nodes:
        if not find_some(
            lattice, halves, table, full, left, k, live, marks, groups, at, _CHUNK, MOST_MEMBERS
        ):
            if groups.state[MEMBERS] > MOST_MEMBERS:
                return None
            groups = _double_room(groups, classes.n_classes)
        tell(
            _FIND_SHARE * at[0] / nodes,
            f"{count_noun(int(at[0]), 'node')} of {write_count(nodes)}: "
            f"{count_noun(int(groups.state[GROUPS]), 'group')} found",
        )
    size = int(groups.state[GROUPS])
    begin = np.concatenate([[0], np.cumsum(groups.size[:size])])
    members = np.empty(begin[-1], dtype=np.int32)
    at[0] = 0
    while at[0] < nodes:
        list_some(lattice, halves, table, full, k, live, marks, groups, begin, members, at, _CHUNK)
        tell(
            _FIND_SHARE + (1 - _FIND_SHARE) * at[0] / nodes,
            f"{count_noun(int(at[0]), 'node')} of {write_count(nodes)} listed",
        )
    return DistinctGroups(begin, members, groups.kept[:size].copy(), groups.node[:size].copy())


def _build_room(n_classes: int, n_groups: int) -> FoundGroups:
    places = 1 << (2 * n_groups - 1).bit_length()
    return FoundGroups(
        np.zeros(places, dtype=np.int64),
        np.full(places, -1, dtype=np.int32),
        np.zeros(n_groups, dtype=np.int64),
        np.zeros(n_groups, dtype=np.int64),
        np.zeros(n_groups, dtype=np.int32),
        np.zeros(n_groups, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


def _double_room(old_room: FoundGroups, n_classes: int) -> FoundGroups:
    size = len(old_room.kept)
    larger = _build_room(n_classes, 2 * size)
    copy_hash_table(old_room, larger)
    for old, new in zip(old_room[2:6], larger[2:6], strict=True):
        new[:size] = old
    larger.state[:] = old_room.state
    return larger
