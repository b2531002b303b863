"""Lessons of clustering: the cluster that grows, and every record that could have joined it.

An algorithm tells which classes each cluster holds. In which order they joined follows from that:
of the members that are not in yet, the next is the one that was best. Whether no other class was
better is what each choice lays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import sqrt

import numpy as np

from kanon.algorithms import k_member, kaca, mdav, oka
from kanon.algorithms.clusters import drawn_order, join_nearest, table_of
from kanon.algorithms.task import no_progress
from kanon.kernels.clustering import Clusters
from kanon.lessons.blackboard import Blackboard
from kanon.lessons.lesson import Candidate, Choice, Held, Step, Term, written
from kanon.lessons.merging import Live, Merges, merges_for_models, replayed
from kanon.recoding import Recoding, ends
from kanon.words import counted

__all__ = ["REPLAYS", "Growing"]


@dataclass(frozen=True)
class Growing:
    """What a step of clustering shows beside its choices.

    Attributes
    ----------
    cluster
        The number of the cluster that is looked at, from 1.
    joined
        The classes that joined or left it in this step.
    clusters
        All clusters after the step, in the order in which they were begun; one that was merged
        into another holds no records.
    open
        The classes that are in no cluster, as positions.
    met
        The two whose meeting is what was paid: a cluster and what joins it, say, as both were
        before; None where nothing was compared, or distances and not costs.
    """

    cluster: int
    joined: tuple[int, ...]
    clusters: tuple[Held, ...]
    open: tuple[int, ...]
    met: tuple[Held, Held] | None = None


@dataclass(eq=False)
class _Clusters:
    """The clusters at some moment: what is on the blackboard."""

    board: Blackboard
    members: list[list[int]] = field(default_factory=list)

    def held(self, number: int) -> Held:
        """A cluster as a class."""
        return self.board.held(self.members[number])

    @property
    def left(self) -> list[int]:
        """The classes that are in no cluster."""
        taken = {each for members in self.members for each in members}
        return [each for each in range(self.board.task.classes.n_classes) if each not in taken]

    def records(self, number: int) -> int:
        """How many records a cluster holds."""
        counts = self.board.task.classes.counts
        return sum(int(counts[each]) for each in self.members[number])

    def widening(self, number: int, each: int) -> tuple[Term, ...]:
        """What it costs to widen a cluster by a class."""
        return self.board.merging(self.held(number), self.board.originals[each])

    def shown(self, number: int, joined: Iterable[int], met: tuple[Held, Held] | None) -> Growing:
        """What a step shows."""
        held = tuple(
            self.held(each) if members else Held((), "", 0, ())
            for each, members in enumerate(self.members)
        )
        return Growing(number + 1, tuple(joined), held, tuple(self.left), met)

    def recoding(self) -> Recoding:
        """The table now."""
        return self.board.recoded(
            self.held(number) for number, members in enumerate(self.members) if members
        )

    def step(
        self,
        heading: str,
        sentence: str,
        number: int,
        joined: Iterable[int],
        choices: Iterable[Choice] = (),
        met: tuple[Held, Held] | None = None,
    ) -> Step:
        """A step of the clusters as they are now."""
        shown = self.shown(number, joined, met)
        return self.board.step(heading, sentence, self.recoding(), tuple(choices), shown)

    def candidates(self, each: int, numbers: Iterable[int], chosen: int) -> tuple[Candidate, ...]:
        """Clusters as ones that a class may join: by what widening them costs."""
        found = []
        for number in numbers:
            terms = self.widening(number, each)
            cost = sum(term.exact for term in terms)
            held = self.held(number)
            found.append(
                Candidate(
                    f"cluster {number + 1}: {_named(held)}",
                    (cost, number),
                    number == chosen,
                    self.board.cost(cost),
                    terms,
                    classes=held.classes,
                )
            )
        return tuple(found)


def _named(held: Held) -> str:
    return f"{held.label} ({counted(held.records, 'record')})"


def _tied(choice: Choice, first: str) -> str:
    """The tie-break, where another candidate is as good but for the order."""
    equal = sum(each.key[:-1] == choice.chosen.key[:-1] for each in choice.candidates)
    return f"; of {equal} that tie, it is the first {first}" if equal > 1 else ""


_CANONICAL = "in the order of the hierarchies"
_MADE = "that was begun"


# --- KACA -------------------------------------------------------------------------------------
def _kaca(board: Blackboard) -> Iterator[Step]:
    """Merging, in which the class is drawn."""
    work, merges = kaca.merged(board.task)
    made = board.task.classes.n_classes + merges
    parts, nodes = work.parts[:merges], work.nodes[:made]

    def drawn(chosen: int, live: Live) -> tuple[str, tuple[Choice, ...]]:
        small = sum(held.records < board.task.k for held in live.values())
        held = live[chosen]
        return (
            f"Of the {counted(small, 'class', 'classes')} below k = {board.task.k}, “{held.label}” "
            f"({counted(held.records, 'record')}) is drawn; the seed {board.task.seed} repeats the "
            "draw.",
            (),
        )

    nearest = replace(board, task=replace(board.task, strategy="s1"))
    yield from replayed(nearest, Merges(board.originals, parts, nodes), drawn)
    into = np.arange(made)
    for number, row in enumerate(parts, start=board.task.classes.n_classes):
        into[row[row >= 0]] = number
    top = ends(into)[: board.task.classes.n_classes]
    yield from merges_for_models(board, Recoding.from_targets(board.task.classes, nodes[top]))


# --- k-member ---------------------------------------------------------------------------------
def _k_member(board: Blackboard) -> Iterator[Step]:
    """One cluster after the other; then what is left joins."""
    task, counts = board.task, board.task.classes.counts
    drawn, grown, left = k_member.grown_clusters(task, table_of(task))
    final = k_member.made_clusters(task).of
    now = _Clusters(board)
    last = board.originals[drawn]
    for number in range(len(grown.records)):
        waiting = np.flatnonzero(grown.of == number).tolist()
        far = {each: _apart(board, last, board.originals[each]) for each in now.left}
        begun = min(waiting, key=lambda each: (-_sum(far[each]), each))
        choice = Choice(
            f"With which record does cluster {number + 1} begin?",
            "furthest from the record that was drawn"
            if not number
            else "furthest from the one that the last cluster began with",
            tuple(
                Candidate(
                    _named(board.originals[each]), (-_sum(terms), each), each == begun,
                    board.cost(_sum(terms)), terms, classes=(each,),
                )
                for each, terms in far.items()
            ),
        )  # fmt: skip
        waiting.remove(begun)
        now.members.append([begun])
        from_ = (
            f"“{last.label}”, which was drawn (the seed {task.seed} repeats the draw)"
            if not number
            else f"“{last.label}”, with which the last cluster began"
        )
        met = last, board.originals[begun]
        last = board.originals[begun]
        yield now.step(
            f"Cluster {number + 1} begins: {last.label}",
            f"“{last.label}” is furthest from {from_}: putting one record of each together costs "
            f"{written(choice.chosen.cost)}{_tied(choice, _CANONICAL)}.",
            number,
            [begun],
            [choice],
            met,
        )
        while waiting:
            size = now.records(number)
            terms = {each: now.widening(number, each) for each in now.left}
            joins = min(waiting, key=lambda each: (_sum(terms[each]), each))
            choice = Choice(
                f"Which record joins cluster {number + 1}?",
                f"least growth of the cluster’s loss; of equal ones, the first {_CANONICAL}",
                tuple(
                    Candidate(
                        _named(board.originals[each]), (_sum(paid), each), each == joins,
                        board.cost(_sum(paid)), paid, classes=(each,),
                    )
                    for each, paid in terms.items()
                ),
            )  # fmt: skip
            waiting.remove(joins)
            held = board.originals[joins]
            met = now.held(number), held
            now.members[number].append(joins)
            yield now.step(
                f"Cluster {number + 1}: {held.label} joins",
                f"The cluster holds {counted(size, 'record')}, fewer than k = {task.k}. By "
                f"“{held.label}” ({counted(held.records, 'record')}) its loss grows least, by "
                f"{written(choice.chosen.cost)}{_tied(choice, _CANONICAL)}.",
                number,
                [joins],
                [choice],
                met,
            )
    for each in left.tolist():
        number = int(final[each])
        choice = Choice(
            f"Which cluster does “{board.originals[each].label}” join?",
            f"least growth of the cluster’s loss; of equal ones, the first {_MADE}",
            now.candidates(each, range(len(now.members)), number),
        )
        rest = int(counts[now.left].sum())
        met = now.held(number), board.originals[each]
        now.members[number].append(each)
        yield now.step(
            f"{board.originals[each].label} is left over",
            f"{counted(rest, 'record is', 'records are')} left, fewer than k = {task.k}: they "
            f"join in random order. Cluster {number + 1} grows least by "
            f"“{board.originals[each].label}”, by {written(choice.chosen.cost)}"
            f"{_tied(choice, _MADE)}.",
            number,
            [each],
            [choice],
            met,
        )
    yield from merges_for_models(board, now.recoding())


def _apart(board: Blackboard, one: Held, other: Held) -> tuple[Term, ...]:
    """What putting one record of each together costs."""
    return board.merging(one, other, records=1)


def _sum(terms: Iterable[Term]) -> int:
    return sum(term.exact for term in terms)


# --- OKA --------------------------------------------------------------------------------------
def _oka(board: Blackboard) -> Iterator[Step]:
    """The pass; what each cluster gives away; where that goes; and small clusters merged."""
    task = board.task
    table, generator = table_of(task), np.random.default_rng(task.seed)
    now = _Clusters(board)
    # The same draws as those of the pass below, which begins with a generator of its own.
    drawn = drawn_order(task.classes.counts, np.random.default_rng(task.seed))
    for each in drawn[: task.classes.n_records // task.k].tolist():
        now.members.append([each])
    begun = [each for (each,) in now.members]
    yield now.step(
        f"{counted(len(begun), 'cluster')} begin",
        f"{task.classes.n_records} records allow "
        f"{counted(task.classes.n_records // task.k, 'cluster')} of k = {task.k}: records are "
        f"drawn until so many tuples came up (the seed {task.seed} repeats the draws), and "
        "each begins a cluster: "
        f"{', '.join(f'“{board.originals[each].label}”' for each in begun)}.",
        0,
        begun,
    )
    clusters = oka.one_pass(table, generator)
    for each in now.left:
        yield _joins(
            now,
            each,
            int(clusters.of[each]),
            range(len(begun)),
            "Every other record, in "
            "the order of the hierarchies, joins the cluster that it costs least to widen",
        )
    kept = clusters.of.copy()
    pool = oka.given_away(table, clusters)
    yield from _gives_away(now, kept, clusters)
    pool = pool[drawn_order(table.counts[pool], generator)]
    join_nearest(table, clusters, pool, table.k, no_progress)
    for each in pool.tolist():
        small = [i for i in range(len(begun)) if now.records(i) < task.k]
        which = (
            "Records that were given away join, in random order, the nearest cluster with fewer "
            f"than k = {task.k}"
            if small
            else "No cluster is below k any more, so it joins the nearest of all"
        )
        yield _joins(now, each, int(clusters.of[each]), small or range(len(begun)), which)
    into = oka.merged_small(table, clusters)
    yield from _merge_small(now, into.tolist())
    yield from merges_for_models(board, now.recoding())


def _joins(now: _Clusters, each: int, number: int, open_to: Iterable[int], why: str) -> Step:
    """A class joins a cluster."""
    held = now.board.originals[each]
    choice = Choice(
        f"Which cluster does “{held.label}” join?",
        f"least growth of the cluster’s loss; of equal ones, the first {_MADE}",
        now.candidates(each, open_to, number),
    )
    met = now.held(number), held
    now.members[number].append(each)
    return now.step(
        f"{held.label} joins cluster {number + 1}",
        f"{why}: cluster {number + 1}, by {written(choice.chosen.cost)}{_tied(choice, _MADE)}.",
        number,
        [each],
        [choice],
        met,
    )


def _gives_away(now: _Clusters, kept: np.ndarray, clusters: Clusters) -> Iterator[Step]:
    """From clusters above k, the furthest leave as long as k records stay."""
    task, board = now.board.task, now.board
    for number in range(len(now.members)):
        leaving = [
            each for each in now.members[number] if kept[each] == number and clusters.of[each] < 0
        ]
        # How far each is from all others of the cluster, found before the first leaves.
        members = sorted(now.members[number])
        if not leaving:
            continue
        far: dict[int, tuple[Term, ...]] = {}
        for each in members:
            others = [one for one in members if one != each]
            far[each] = board.merging(board.held(others), board.originals[each])
        while leaving:
            size = now.records(number)
            goes = min(leaving, key=lambda each: (-_sum(far[each]), each))
            choice = Choice(
                f"Who leaves cluster {number + 1}?",
                f"furthest from the others, of those without whom k records stay; of equal ones, "
                f"the first {_CANONICAL}",
                tuple(
                    Candidate(
                        _named(board.originals[each]),
                        (size - board.originals[each].records < task.k, -_sum(far[each]), each),
                        each == goes,
                        board.cost(_sum(far[each])),
                        far[each],
                        classes=(each,),
                    )
                    for each in sorted(now.members[number])
                ),
            )
            held = board.originals[goes]
            met = board.held(one for one in members if one != goes), held
            leaving.remove(goes)
            now.members[number].remove(goes)
            yield now.step(
                f"{held.label} leaves cluster {number + 1}",
                f"Cluster {number + 1} holds {counted(size, 'record')}, more than k = {task.k}. "
                f"“{held.label}” is furthest from the others, {written(choice.chosen.cost)}, and "
                f"without it k records stay{_tied(choice, _CANONICAL)}.",
                number,
                [goes],
                [choice],
                met,
            )


def _merge_small(now: _Clusters, into: Sequence[int]) -> Iterator[Step]:
    """Clusters that are still below k are merged with the nearest."""
    board, task = now.board, now.board.task
    for number, place in enumerate(into):
        if place == number:
            continue
        held = now.held(number)
        found = []
        for other, members in enumerate(now.members):
            if other == number or not members:
                continue
            terms = board.merging(now.held(other), held)
            found.append(
                Candidate(
                    f"cluster {other + 1}: {_named(now.held(other))}",
                    (_sum(terms), other),
                    other == place,
                    board.cost(_sum(terms)),
                    terms,
                    classes=now.held(other).classes,
                )
            )
        choice = Choice(
            f"With which cluster is cluster {number + 1} merged?",
            f"least cost; of equal ones, the first {_MADE}",
            tuple(found),
        )
        met = now.held(place), held
        moved, now.members[number] = now.members[number], []
        now.members[place] += moved
        yield now.step(
            f"Cluster {number + 1} is merged with cluster {place + 1}",
            f"It holds {counted(held.records, 'record')}, fewer than k = {task.k}, as records with "
            f"the same values stay together. Cluster {place + 1} is nearest: "
            f"{written(choice.chosen.cost)}{_tied(choice, _MADE)}.",
            place,
            moved,
            [choice],
            met,
        )


# --- MDAV -------------------------------------------------------------------------------------
def _mdav(board: Blackboard) -> Iterator[Step]:
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
        """How many records some classes hold."""
        return sum(int(self.board.task.classes.counts[each]) for each in members)

    def squared(self, each: int, sums: Sequence[int], records: int) -> float:
        """The squared distance of a class to the mean of some records, times their number squared.

        Reckoned as the algorithm does, so that equal distances are equal to the last digit.
        """
        far = 0.0
        for column, total in zip(self.columns, sums, strict=True):
            part = float(records * int(column.values[each]) - total)
            far += part * part * column.weight
        return far

    def terms(self, each: int, sums: Sequence[int], records: int, to: str) -> tuple[Term, ...]:
        """A squared distance, column by column."""
        classes = self.board.task.classes
        found = []
        for j, (column, total) in enumerate(zip(self.columns, sums, strict=True)):
            tree = classes.hierarchies[j]
            value = Fraction(int(column.values[each]))
            mean = Fraction(total, records)
            part = float(value - mean)
            label = tree.labels[classes.nodes[each, j]]
            middle = written(float(column.lowest + mean / column.unit))
            found.append(
                Term(
                    f"{label} to {to}", classes.attributes[j], label, middle,
                    part * part * column.weight, 1, 0,
                )
            )  # fmt: skip
        return tuple(found)

    def sums(self, members: Iterable[int]) -> tuple[list[int], int]:
        """The sums of the values of some records, and their number."""
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
        return Candidate(
            _named(self.board.originals[each]),
            (sign * far, each),
            chosen,
            sqrt(far) / records,
            self.terms(each, sums, records, to),
            classes=(each,),
        )

    def around(self, far_from: int | None, among: Sequence[int]) -> Iterator[Step]:
        """A group, step by step.

        Parameters
        ----------
        far_from
            The class that it begins farthest from; None for the mean of what is left.
        among
            The classes that it may begin with.
        """
        number = len(self.members)
        self.members.append([])
        yield self._begin(number, far_from, among)
        yield from self._fill(number)

    def _begin(self, number: int, far_from: int | None, among: Sequence[int]) -> Step:
        """A group begins with the class that is farthest."""
        if far_from is None:
            sums, records = self.sums(self.left)
            to = "the mean"
            why = f"the mean of the {records} records that are in no group"
        else:
            sums, records = [int(column.values[far_from]) for column in self.columns], 1
            to = self.board.originals[far_from].label
            why = f"“{to}”, with which the last group began"
        mine = [each for each in self.left if self.group[each] == number]
        begun = min(mine, key=lambda each: (-self.squared(each, sums, records), each))
        choice = Choice(
            f"With which record does group {number + 1} begin?",
            f"farthest from {to}; of equal ones, the first {_CANONICAL}",
            tuple(self.candidate(each, sums, records, to, -1, each == begun) for each in among),
        )
        self._take(number, begun)
        label = self.board.originals[begun].label
        return self._step(
            f"Group {number + 1} begins: {label}",
            f"“{label}” is farthest from {why}: {written(choice.chosen.cost)} standard deviations"
            f"{_tied(choice, _CANONICAL)}.",
            number,
            [begun],
            [choice],
        )

    def _fill(self, number: int) -> Iterator[Step]:
        """The nearest join a group until it holds k."""
        begun = self.members[number][0]
        sums = [int(column.values[begun]) for column in self.columns]
        to = self.board.originals[begun].label
        while mine := [each for each in self.left if self.group[each] == number]:
            size = self.records(self.members[number])
            joins = min(mine, key=lambda each: (self.squared(each, sums, 1), each))
            choice = Choice(
                f"Which record joins group {number + 1}?",
                f"nearest to {to}; of equal ones, the first {_CANONICAL}",
                tuple(self.candidate(each, sums, 1, to, 1, each == joins) for each in self.left),
            )
            self._take(number, joins)
            label = self.board.originals[joins].label
            yield self._step(
                f"Group {number + 1}: {label} joins",
                f"The group holds {counted(size, 'record')}, fewer than k = {self.board.task.k}. "
                f"“{label}” is nearest to “{to}”: {written(choice.chosen.cost)} standard "
                f"deviations{_tied(choice, _CANONICAL)}.",
                number,
                [joins],
                [choice],
            )

    def rest(self, n_left: int) -> Step:
        """All that is left is a group."""
        number, joined = len(self.members), list(self.left)
        self.members.append([])
        for each in joined:
            self._take(number, each)
        return self._step(
            f"Group {number + 1}: the rest",
            f"{counted(n_left, 'record is', 'records are')} left, at least k = "
            f"{self.board.task.k} and fewer than 2 k: they are a group.",
            number,
            joined,
        )

    def spread(self) -> Iterator[Step]:
        """What is left and too little for a group joins the groups whose means are nearest."""
        means = [self.sums(members) for members in self.members]
        for each in list(self.left):
            number = int(self.group[each])
            found = []
            for other, (sums, records) in enumerate(means):
                far = 0.0
                for column, total in zip(self.columns, sums, strict=True):
                    part = float(records * int(column.values[each]) - total) / float(records)
                    far += part * part * column.weight
                to = f"the mean of group {other + 1}"
                terms = self.terms(each, sums, records, to)
                found.append(
                    Candidate(f"group {other + 1}", (far, other), other == number, sqrt(far), terms)
                )
            choice = Choice(
                f"Which group does “{self.board.originals[each].label}” join?",
                "nearest mean, as the groups were before any of these joined; of equal ones, the "
                "first that was made",
                tuple(found),
            )
            self._take(number, each)
            label = self.board.originals[each].label
            yield self._step(
                f"{label} is left over",
                f"Fewer than k = {self.board.task.k} records are left. The mean of group "
                f"{number + 1} is nearest to “{label}”: {written(choice.chosen.cost)} standard "
                f"deviations{_tied(choice, 'that was made')}.",
                number,
                [each],
                [choice],
            )

    def _take(self, number: int, each: int) -> None:
        self.members[number].append(each)
        self.left = [one for one in self.left if one != each]

    def _step(
        self,
        heading: str,
        sentence: str,
        number: int,
        joined: Iterable[int],
        choices: Iterable[Choice] = (),
    ) -> Step:
        """A step: groups as they are now, everything else as it was."""
        # What is in no group yet is a group of its own: its values stay.
        group = np.empty(self.board.task.classes.n_classes, dtype=np.int64)
        for place, members in enumerate([*self.members, *([each] for each in self.left)]):
            group[members] = place
        now = mdav.released(self.board.task, self.columns, group)
        held = []
        for members in self.members:
            nodes = now.targets[members[0]].tolist()
            label = self.board.label(nodes, now.hierarchies)
            records = self.records(members)
            held.append(Held(tuple(nodes), label, records, tuple(sorted(members))))
        shown = Growing(number + 1, tuple(joined), tuple(held), tuple(self.left))
        return self.board.step(heading, sentence, now, tuple(choices), shown)


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "kaca": _kaca,
    "k-member": _k_member,
    "oka": _oka,
    "mdav": _mdav,
}
"""The algorithms of the family that have a lesson."""
