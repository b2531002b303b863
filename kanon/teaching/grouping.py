"""Lesson of MDAV: groups around the records that are farthest out, distance by distance."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from kanon.algorithms import mdav
from kanon.base.formatting import count_noun
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.cuts import RegionView, build_region_view
from kanon.teaching.lesson import Candidate, Choice, ClassState, CostTerm, Rule, Step, write_number

FIRST_CLUSTER = Rule("the first cluster to begin")  # decides ties between clusters


@dataclass(frozen=True)
class ClusterView:
    cluster: int  # the number of the cluster that changes, from 1
    joined: tuple[int, ...]  # the classes that joined or left it in this step
    clusters: tuple[ClassState, ...]
    open: tuple[int, ...]  # the classes that are in no cluster, as positions
    # the two classes whose merge was paid for, such as a cluster and the record that joins it
    met: tuple[ClassState, ClassState] | None = None
    regions: RegionView | None = None  # the clusters as rectangles, where distances are compared


def explain_mdav(board: Blackboard) -> Iterator[Step]:
    """Groups from the outside inwards, two in each round."""
    groups, k = _Groups(board), board.task.k
    while groups.left:
        n_left, before = groups.count_records(groups.left), list(groups.left)
        if n_left < k:
            yield from groups.fill_nearest_groups()
            return
        if n_left < 2 * k:
            yield groups.build_rest_group(n_left)
            return
        yield from groups.build_around(None, before)
        first = groups.members[-1][0]
        others = [place for place in before if place != first]
        if n_left >= 3 * k and others:
            opposite = groups.find_farthest(first, others)
            if opposite in groups.left and groups.count_records(groups.left) >= 2 * k:
                yield from groups.build_around(first, others)


class _Groups:
    def __init__(self, board: Blackboard) -> None:
        task = board.task
        self.board = board
        self.group = mdav.partition(task)
        self.columns = mdav.columns_of(task.classes)
        self.left = list(range(task.classes.n_classes))
        self.members: list[list[int]] = []

    def count_records(self, members: Iterable[int]) -> int:
        return sum(int(self.board.task.classes.counts[place]) for place in members)

    def compute_squared_distance(
        self, place: int, sums: Sequence[int], records: int, by: float = 1.0
    ) -> float:
        """The squared distance of a class to the mean of some records, times (their number / by)².

        Computed as the algorithm does, so that equal distances are equal to the last digit.
        """
        far = 0.0
        for column, total in zip(self.columns, sums, strict=True):
            part = float(records * int(column.values[place]) - total) / by
            far += part * part * column.weight
        return far

    def list_distance_terms(
        self, place: int, sums: Sequence[int], records: int, to: str
    ) -> tuple[CostTerm, ...]:
        classes = self.board.task.classes
        terms = []
        for j, (column, total) in enumerate(zip(self.columns, sums, strict=True)):
            mean = Fraction(total, records)
            part = float(int(column.values[place]) - mean)
            label = classes.hierarchies[j].labels[classes.nodes[place, j]]
            middle = write_number(float(column.lowest + mean / column.unit))
            terms.append(
                CostTerm(
                    f"{label} to {to}", classes.attributes[j], label, middle,
                    part * part * column.weight, 1, Fraction(0),
                )
            )  # fmt: skip
        return tuple(terms)

    def sum_values(self, members: Iterable[int]) -> tuple[list[int], int]:
        counts = self.board.task.classes.counts
        listed = list(members)
        totals = [
            sum(int(counts[place]) * int(column.values[place]) for place in listed)
            for column in self.columns
        ]
        return totals, self.count_records(listed)

    def find_farthest(self, centre: int, among: Iterable[int]) -> int:
        sums = [int(column.values[centre]) for column in self.columns]
        return min(among, key=lambda place: (-self.compute_squared_distance(place, sums, 1), place))

    def build_distance_candidate(
        self, place: int, sums: Sequence[int], records: int, to: str, sign: int, chosen: bool
    ) -> Candidate:
        """A class, by how far it is: the farthest first where the sign is -1."""
        far = self.compute_squared_distance(place, sums, records)
        name, terms = (
            self.board.originals[place].name,
            self.list_distance_terms(place, sums, records, to),
        )
        away = sqrt(far) / records
        return Candidate(
            name, (sign * far, place), chosen, away, terms, classes=(place,), figures=(away,)
        )

    def build_around(self, far_from: int | None, among: Sequence[int]) -> Iterator[Step]:
        yield self._start_group(far_from, among)
        yield from self._fill_group()

    def _start_group(self, far_from: int | None, among: Sequence[int]) -> Step:
        number = len(self.members)
        self.members.append([])
        if far_from is None:
            sums, records = self.sum_values(self.left)
            to = "the mean"
            why = f"the mean of the {records} records that are not in a group yet"
        else:
            sums, records = [int(column.values[far_from]) for column in self.columns], 1
            to = f"“{self.board.originals[far_from].label}”"
            why = f"{to}, the first record of the last group"
        own = [place for place in self.left if self.group[place] == number]
        first = min(
            own, key=lambda place: (-self.compute_squared_distance(place, sums, records), place)
        )
        choice = Choice(
            f"With which record does group {number + 1} begin?",
            (Rule(f"farthest from {to} in standard deviations"), FIRST),
            tuple(
                self.build_distance_candidate(c, sums, records, to, -1, c == first) for c in among
            ),
        )
        self._move_to_group(number, first)
        label = self.board.originals[first].label
        return self._build_group_step(
            f"Group {number + 1} begins: {label}",
            f"“{label}” begins the group. Distances are measured from {why}: {choice.reason}.",
            [first],
            choice,
        )

    def _fill_group(self) -> Iterator[Step]:
        number = len(self.members) - 1
        first = self.members[number][0]
        sums = [int(column.values[first]) for column in self.columns]
        to = self.board.originals[first].label
        # Some may join much later, when too few are left for a group.
        while (size := self.count_records(self.members[number])) < self.board.task.k:
            own = [place for place in self.left if self.group[place] == number]
            joins = min(
                own, key=lambda place: (self.compute_squared_distance(place, sums, 1), place)
            )
            choice = Choice(
                f"Which record joins group {number + 1}?",
                (Rule(f"nearest to “{to}” in standard deviations"), FIRST),
                tuple(
                    self.build_distance_candidate(c, sums, 1, to, 1, c == joins) for c in self.left
                ),
            )
            self._move_to_group(number, joins)
            label = self.board.originals[joins].label
            yield self._build_group_step(
                f"Group {number + 1}: {label} joins",
                f"The group holds {count_noun(size, 'record')}, fewer than "
                f"k = {self.board.task.k}. “{label}” joins: {choice.reason}.",
                [joins],
                choice,
            )

    def build_rest_group(self, n_left: int) -> Step:
        number, joined = len(self.members), list(self.left)
        self.members.append([])
        for place in joined:
            self._move_to_group(number, place)
        return self._build_group_step(
            f"Group {number + 1}: the rest",
            f"{count_noun(n_left, 'record is', 'records are')} left. That is at "
            f"least k = {self.board.task.k} and fewer than 2 k, so these records form a group.",
            joined,
        )

    def fill_nearest_groups(self) -> Iterator[Step]:
        """The records that are too few for a group join the groups with the nearest means."""
        means = [self.sum_values(members) for members in self.members]
        for place in list(self.left):
            number = int(self.group[place])
            candidates = []
            for other, (sums, records) in enumerate(means):
                far, name = (
                    self.compute_squared_distance(place, sums, records, records),
                    f"group {other + 1}",
                )
                terms = self.list_distance_terms(place, sums, records, f"the mean of {name}")
                away, chosen = sqrt(far), other == number
                candidates.append(
                    Candidate(name, (far, other), chosen, away, terms, figures=(away,))
                )
            label = self.board.originals[place].label
            choice = Choice(
                f"Which group does “{label}” join?",
                (
                    Rule("nearest mean before any of these joined, in standard deviations"),
                    Rule("the first group to begin"),
                ),
                tuple(candidates),
            )
            self._move_to_group(number, place)
            yield self._build_group_step(
                f"{label} is left over",
                f"Fewer than k = {self.board.task.k} records are left. “{label}” joins group "
                f"{number + 1}: {choice.reason}.",
                [place],
                choice,
            )

    def _move_to_group(self, number: int, place: int) -> None:
        self.members[number].append(place)
        self.left.remove(place)

    def _build_group_step(
        self, heading: str, sentence: str, joined: Sequence[int], *choices: Choice
    ) -> Step:
        # A class in no group yet forms its own: its values stay.
        group = np.empty(self.board.task.classes.n_classes, dtype=np.int64)
        for at, members in enumerate([*self.members, *([place] for place in self.left)]):
            group[members] = at
        now = mdav.released(self.board.task, self.columns, group)
        states = []
        for members in self.members:
            nodes = tuple(now.targets[members[0]].tolist())
            label = self.board.label(nodes, now.hierarchies)
            states.append(
                ClassState(nodes, label, self.count_records(members), tuple(sorted(members)))
            )
        number = next(at for at, members in enumerate(self.members) if joined[0] in members)
        regions = build_region_view(self.board, self.members, number)
        left = tuple(self.left)
        view = ClusterView(number + 1, tuple(joined), tuple(states), left, regions=regions)
        return self.board.step(heading, sentence, now, choices, view)
