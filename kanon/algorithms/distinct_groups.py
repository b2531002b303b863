"""The groups that a release by the hierarchies may consist of, each set of classes once."""

from dataclasses import dataclass

import numpy as np

from kanon.algorithms.lattice_size import count_lattice_nodes
from kanon.algorithms.lattice_sweep_walk import join_potentials, prepare_lattice
from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, write_count
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.kernels.distinct_groups import GROUPS, GroupRoom, find_some, lower_some_gains
from kanon.kernels.prices import copy_group_members

_CHUNK = 1_000_000  # classes that are grouped between two reports of progress, about

_FIRST_ROOM = 1_000_000  # room for so many classes of groups to begin with, where all are listed

MOST_WORK = 10**10
"""The nodes of the lattice times the classes, at most, where groups are looked for again and again.

That is forty times as many as on the Adult table, and takes minutes.
"""


@dataclass(frozen=True, eq=False)
class DistinctGroups:
    """Groups of at least k records at any node of the lattice, each set of classes once."""

    begin: np.ndarray  # per group where its classes begin in ``members``
    members: np.ndarray  # the classes of the groups, one group after the other, rising in each
    # per group the potential of the tuple that it is raised to, the largest of all nodes that
    # have a group of these classes: its records lose their own potentials less this
    kept: np.ndarray
    node: np.ndarray  # per group a node of the lattice at which it is raised to that tuple


class GroupFinder:
    """Looks for groups that are worth something, again at any prices, and keeps no others."""

    def __init__(self, task: Task) -> None:
        self.task = task
        lattice, raised, halves, table, full = prepare_lattice(task.classes)
        self._arrays = lattice, halves, table, full, join_potentials(task, raised), task.k
        self._n_nodes = count_lattice_nodes(task.classes.hierarchies)
        self._position = np.zeros(1, dtype=np.int64)

    def find_least_losses(
        self, own: np.ndarray, progress: Progress = ignore_progress
    ) -> np.ndarray:
        """Per class the least loss per record of any group that covers it."""
        room, gain = self._build_room(0), np.ones(len(own), dtype=np.int64)
        self._position[0] = 0
        while self._position[0] < self._n_nodes:
            lower_some_gains(*self._arrays, gain, room, self._position, _CHUNK)
            self._tell(progress)
        return own + gain

    def begin(self, most_members: int) -> None:
        """Begin to look for groups, which have at most so many classes together."""
        self._position[0] = 0
        self._room = self._build_room(most_members)

    def find_more(self, gain: np.ndarray, bits: int, progress: Progress = ignore_progress) -> bool:
        """Find the groups of the other nodes that are worth something; False if room is lacking.

        A record of class c brings ``gain[c]``, which counts multiples of two to the power ``bits``.
        """
        while self._position[0] < self._n_nodes:
            if not find_some(*self._arrays, gain, bits, self._room, self._position, _CHUNK):
                return False
            self._tell(progress)
        return True

    def get_groups(self) -> DistinctGroups:
        room = self._room
        size = int(room.state[GROUPS])
        members = room.members[: room.begin[size]]
        return DistinctGroups(room.begin[: size + 1], members, room.kept[:size], room.node[:size])

    def keep_groups(self, chosen: np.ndarray) -> None:
        """Go on with some of the groups that were found, in the same room."""
        room, size = self._room, len(chosen)
        old_begin = self.get_groups().begin.copy()
        begin = np.concatenate([[0], np.cumsum(np.diff(old_begin)[chosen])])
        copy_group_members(
            old_begin, room.members, self.task.classes.counts, chosen, begin, room.members
        )
        room.begin[: size + 1] = begin
        for values in (room.kept, room.node):
            values[:size] = values[chosen]
        room.state[GROUPS] = size

    def add_room(self, most_members: int) -> None:
        larger, groups = self._build_room(most_members), vars(self.get_groups())
        names = ("begin", "members", "kept", "node")
        for name in names:
            getattr(larger, name)[: len(groups[name])] = groups[name]
        self._room = self._room._replace(**{name: getattr(larger, name) for name in names})

    def _build_room(self, most_members: int) -> GroupRoom:
        size = self.task.classes.n_classes
        n_members = most_members + size  # what one node has more has to fit
        n_groups = most_members // 4 + size
        return GroupRoom(
            np.zeros(n_groups + 1, dtype=np.int64),
            np.empty(n_members, dtype=np.uint16 if size <= 2**16 else np.uint32),
            np.empty(n_groups, dtype=np.int64),
            np.empty(n_groups, dtype=np.int32),
            np.zeros(2, dtype=np.int64),
            np.arange(size, dtype=np.int32),
            np.zeros(size, dtype=np.int32),
            np.zeros(size + 1, dtype=np.int64),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int32),
            np.zeros(size, dtype=np.int32),
            np.zeros((2, size), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    def _tell(self, progress: Progress) -> None:
        done = int(self._position[0])
        progress(
            done / self._n_nodes,
            f"groups of {count_noun(done, 'node')} of {write_count(self._n_nodes)} weighed",
        )


def can_find_groups(classes: EquivalenceClasses) -> bool:
    """Whether the table is small enough to look for its groups at many prices."""
    return count_lattice_nodes(classes.hierarchies) * classes.n_classes <= MOST_WORK


def find_distinct_groups(task: Task) -> DistinctGroups:
    """All groups, each set of classes once."""
    finder, most = GroupFinder(task), _FIRST_ROOM
    finder.begin(most)
    while not finder.find_more(np.ones(task.classes.n_classes, dtype=np.int64), 0):
        most *= 2
        finder.add_room(most)
    return finder.get_groups()
