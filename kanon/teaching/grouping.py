"""MDAV told: groups around the records that are farthest out, distance by distance."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from kanon.algorithms import mdav
from kanon.base.formatting import counted
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.cuts import Regions, regions_of
from kanon.teaching.lesson import Candidate, Choice, ClassState, CostTerm, Rule, Step, written

MADE = Rule("the first that was begun")  # what decides among clusters that tie


@dataclass(frozen=True)
class ClusterView:
    cluster: int  # the number of the cluster that is looked at, from 1
    joined: tuple[int, ...]  # the classes that joined or left it in this step
    # all clusters after the step, in the order in which they were begun
    clusters: tuple[ClassState, ...]
    open: tuple[int, ...]  # the classes that are in no cluster, as positions
    # the two whose meeting is what was paid: a cluster and what joins it, say, as both were
    # before
    met: tuple[ClassState, ClassState] | None = None
    regions: Regions | None = None  # the clusters as rectangles, where distances are compared


def grouping(board: Blackboard) -> Iterator[Step]:
    """Groups from the outside inwards, two in each round."""
    groups, k = _Groups(board), board.task.k
    while groups.left:
        n_left, before = groups.records(groups.left), list(groups.left)
        if n_left < k:
            yield from groups.spread()
            return
        if n_left < 2 * k:
            yield groups.rest(n_left)
            return
        yield from groups.around(None, before)
        begun = groups.members[-1][0]
        others = [each for each in before if each != begun]
        if n_left >= 3 * k and others:
            opposite = groups.farthest(begun, others)
            if opposite in groups.left and groups.records(groups.left) >= 2 * k:
                yield from groups.around(begun, others)


class _Groups:
    """The groups of MDAV at some moment: what is on the blackboard."""

    def __init__(self, board: Blackboard) -> None:
        task = board.task
        self.board = board
        self.group = mdav.partition(task)
        self.columns = mdav.columns_of(task.classes)
        self.left = list(range(task.classes.n_classes))
        self.members: list[list[int]] = []

    def records(self, members: Iterable[int]) -> int:
        return sum(int(self.board.task.classes.counts[each]) for each in members)

    def squared(self, each: int, sums: Sequence[int], records: int, by: float = 1.0) -> float:
        """The squared distance of a class to the mean of some records, times (their number / by)².

        Reckoned as the algorithm does, so that equal distances are equal to the last digit.
        """
        far = 0.0
        for column, total in zip(self.columns, sums, strict=True):
            part = float(records * int(column.values[each]) - total) / by
            far += part * part * column.weight
        return far

    def terms(self, each: int, sums: Sequence[int], records: int, to: str) -> tuple[CostTerm, ...]:
        classes = self.board.task.classes
        found = []
        for j, (column, total) in enumerate(zip(self.columns, sums, strict=True)):
            mean = Fraction(total, records)
            part = float(int(column.values[each]) - mean)
            label = classes.hierarchies[j].labels[classes.nodes[each, j]]
            middle = written(float(column.lowest + mean / column.unit))
            found.append(
                CostTerm(
                    f"{label} to {to}", classes.attributes[j], label, middle,
                    part * part * column.weight, 1, Fraction(0),
                )
            )  # fmt: skip
        return tuple(found)

    def sums(self, members: Iterable[int]) -> tuple[list[int], int]:
        counts = self.board.task.classes.counts
        listed = list(members)
        found = [
            sum(int(counts[each]) * int(column.values[each]) for each in listed)
            for column in self.columns
        ]
        return found, self.records(listed)

    def farthest(self, centre: int, among: Iterable[int]) -> int:
        """The class farthest from another, the first of several."""
        sums = [int(column.values[centre]) for column in self.columns]
        return min(among, key=lambda each: (-self.squared(each, sums, 1), each))

    def candidate(
        self, each: int, sums: Sequence[int], records: int, to: str, sign: int, chosen: bool
    ) -> Candidate:
        """A class, by how far it is: the farthest first where the sign is -1."""
        far = self.squared(each, sums, records)
        name, terms = self.board.originals[each].name, self.terms(each, sums, records, to)
        away = sqrt(far) / records
        return Candidate(
            name, (sign * far, each), chosen, away, terms, classes=(each,), figures=(away,)
        )

    def around(self, far_from: int | None, among: Sequence[int]) -> Iterator[Step]:
        yield self._begin(far_from, among)
        yield from self._fill()

    def _begin(self, far_from: int | None, among: Sequence[int]) -> Step:
        number = len(self.members)
        self.members.append([])
        if far_from is None:
            sums, records = self.sums(self.left)
            to = "the mean"
            why = f"the mean of the {records} records that are in no group"
        else:
            sums, records = [int(column.values[far_from]) for column in self.columns], 1
            to = f"“{self.board.originals[far_from].label}”"
            why = f"{to}, with which the last group began"
        mine = [each for each in self.left if self.group[each] == number]
        begun = min(mine, key=lambda each: (-self.squared(each, sums, records), each))
        choice = Choice(
            f"With which record does group {number + 1} begin?",
            (Rule(f"farthest from {to} in standard deviations"), FIRST),
            tuple(self.candidate(each, sums, records, to, -1, each == begun) for each in among),
        )
        self._take(number, begun)
        label = self.board.originals[begun].label
        return self._step(
            f"Group {number + 1} begins: {label}",
            f"“{label}” begins the group, by its distance from {why}: {choice.reason}.",
            [begun],
            choice,
        )

    def _fill(self) -> Iterator[Step]:
        """The nearest join the last group until it holds k."""
        number = len(self.members) - 1
        begun = self.members[number][0]
        sums = [int(column.values[begun]) for column in self.columns]
        to = self.board.originals[begun].label
        # Some may join much later, when too few are left for a group.
        while (size := self.records(self.members[number])) < self.board.task.k:
            mine = [each for each in self.left if self.group[each] == number]
            joins = min(mine, key=lambda each: (self.squared(each, sums, 1), each))
            choice = Choice(
                f"Which record joins group {number + 1}?",
                (Rule(f"nearest to “{to}” in standard deviations"), FIRST),
                tuple(self.candidate(each, sums, 1, to, 1, each == joins) for each in self.left),
            )
            self._take(number, joins)
            label = self.board.originals[joins].label
            yield self._step(
                f"Group {number + 1}: {label} joins",
                f"The group holds {counted(size, 'record')}, fewer than k = {self.board.task.k}. "
                f"“{label}” joins: {choice.reason}.",
                [joins],
                choice,
            )

    def rest(self, n_left: int) -> Step:
        number, joined = len(self.members), list(self.left)
        self.members.append([])
        for each in joined:
            self._take(number, each)
        return self._step(
            f"Group {number + 1}: the rest",
            f"{counted(n_left, 'record is', 'records are')} left, at least k = "
            f"{self.board.task.k} and fewer than 2 k: they are a group.",
            joined,
        )

    def spread(self) -> Iterator[Step]:
        """What is left and too little for a group joins the groups whose means are nearest."""
        means = [self.sums(members) for members in self.members]
        for each in list(self.left):
            number = int(self.group[each])
            found = []
            for other, (sums, records) in enumerate(means):
                far, name = self.squared(each, sums, records, records), f"group {other + 1}"
                terms = self.terms(each, sums, records, f"the mean of {name}")
                away, chosen = sqrt(far), other == number
                found.append(Candidate(name, (far, other), chosen, away, terms, figures=(away,)))
            label = self.board.originals[each].label
            choice = Choice(
                f"Which group does “{label}” join?",
                (
                    Rule("nearest mean before any of these joined, in standard deviations"),
                    Rule("the first that was made"),
                ),
                tuple(found),
            )
            self._take(number, each)
            yield self._step(
                f"{label} is left over",
                f"Fewer than k = {self.board.task.k} records are left. “{label}” joins group "
                f"{number + 1}: {choice.reason}.",
                [each],
                choice,
            )

    def _take(self, number: int, each: int) -> None:
        self.members[number].append(each)
        self.left.remove(each)

    def _step(self, heading: str, sentence: str, joined: Sequence[int], *choices: Choice) -> Step:
        # What is in no group yet is a group of its own: its values stay.
        group = np.empty(self.board.task.classes.n_classes, dtype=np.int64)
        for place, members in enumerate([*self.members, *([each] for each in self.left)]):
            group[members] = place
        now = mdav.released(self.board.task, self.columns, group)
        held = []
        for members in self.members:
            nodes = tuple(now.targets[members[0]].tolist())
            label = self.board.label(nodes, now.hierarchies)
            held.append(ClassState(nodes, label, self.records(members), tuple(sorted(members))))
        number = next(at for at, members in enumerate(self.members) if joined[0] in members)
        regions = regions_of(self.board, self.members, number)
        left = tuple(self.left)
        shown = ClusterView(number + 1, tuple(joined), tuple(held), left, regions=regions)
        return self.board.step(heading, sentence, now, choices, shown)
