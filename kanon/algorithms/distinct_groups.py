"""The groups that a release by the hierarchies may consist of, each set of classes once."""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms.lattice_size import n_nodes
from kanon.algorithms.lattice_sweep_walk import now_and_then, room_for_every_class
from kanon.algorithms.task import Task
from kanon.base.formatting import counted, thin
from kanon.base.progress import Progress, no_progress
from kanon.kernels.distinct_groups import GROUPS, MEMBERS, FoundGroups, find_some, list_some, rehash

_CHUNK = 1_000_000  # classes that are grouped between two reports of progress, about

_FIRST = 100_000  # room for so many groups to begin with; at least for those of one node

MOST_MEMBERS = 200_000_000  # the classes that all groups may have together: four bytes each

_FOUND = 0.5  # the share of the time after which all groups are found, and their classes are listed


@dataclass(frozen=True, eq=False)
class DistinctGroups:
    """The groups of at least k records at any node of the lattice, each set of classes once."""

    begin: np.ndarray  # per group where its classes begin in ``members``
    members: np.ndarray  # the classes of the groups, one group after the other, rising in each
    # per group the potential of the tuple that it is raised to, the largest of all nodes that
    # have a group of these classes: its records lose their own potentials less this
    kept: np.ndarray
    node: np.ndarray  # per group a node of the lattice at which it is raised to that tuple


def distinct_groups(task: Task, progress: Progress = no_progress) -> DistinctGroups | None:
    classes, k = task.classes, task.k
    lattice, raised, halves, table, full = room_for_every_class(classes)
    left = np.concatenate(
        [depth[each].ravel() for depth, each in zip(task.potentials, raised, strict=True)]
    )
    marks = np.random.default_rng(1).integers(-(2**63), 2**63, classes.n_classes, dtype=np.int64)
    nodes = n_nodes(classes.hierarchies)
    told = now_and_then(progress)
    live = np.zeros(classes.n_classes, dtype=np.int32)
    found = _room(classes.n_classes, max(_FIRST, classes.n_classes))
    begun = np.zeros(1, dtype=np.int64)
    while begun[0] < nodes:
        if not find_some(
            lattice, halves, table, full, left, k, live, marks, found, begun, _CHUNK, MOST_MEMBERS
        ):
            if found.state[MEMBERS] > MOST_MEMBERS:
                return None
            found = _more(found, classes.n_classes)
        told(
            _FOUND * begun[0] / nodes,
            f"{counted(int(begun[0]), 'node')} of {thin(nodes)}: "
            f"{counted(int(found.state[GROUPS]), 'group')} found",
        )
    size = int(found.state[GROUPS])
    begin = np.concatenate([[0], np.cumsum(found.size[:size])])
    members = np.empty(begin[-1], dtype=np.int32)
    begun[0] = 0
    while begun[0] < nodes:
        list_some(
            lattice, halves, table, full, k, live, marks, found, begin, members, begun, _CHUNK
        )
        told(
            _FOUND + (1 - _FOUND) * begun[0] / nodes,
            f"{counted(int(begun[0]), 'node')} of {thin(nodes)} listed",
        )
    return DistinctGroups(begin, members, found.kept[:size].copy(), found.node[:size].copy())


def _room(classes: int, groups: int) -> FoundGroups:
    places = 1 << (2 * groups - 1).bit_length()
    return FoundGroups(
        np.zeros(places, dtype=np.int64),
        np.full(places, -1, dtype=np.int32),
        np.zeros(groups, dtype=np.int64),
        np.zeros(groups, dtype=np.int64),
        np.zeros(groups, dtype=np.int32),
        np.zeros(groups, dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


def _more(found: FoundGroups, classes: int) -> FoundGroups:
    """Room for twice as many groups, with those that were found."""
    size = len(found.kept)
    more = _room(classes, 2 * size)
    rehash(found, more)
    for old, new in zip(found[2:6], more[2:6], strict=True):
        new[:size] = old
    more.state[:] = found.state
    return more
