"""Lessons of clustering: the cluster that grows, and every record that could have joined it.

An algorithm tells which classes each cluster holds. In which order they joined follows from that:
of the members that are not in yet, the next is the one that was best. Whether no other class was
better is what each choice lays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from kanon.algorithms import k_member, oka
from kanon.algorithms.clusters import drawn_order, join_nearest, table_of
from kanon.base.formatting import counted
from kanon.base.progress import no_progress
from kanon.kernels.clusters import Clusters
from kanon.recoding import Recoding
from kanon.reference.merging import MergeStep, kaca
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.cluster_steps import MADE, ClusterView
from kanon.teaching.grouping import grouping
from kanon.teaching.lesson import Candidate, Choice, ClassState, CostTerm, Rule, Step
from kanon.teaching.merging import merges_for_models, write_merges

_GROWTH = Rule("least growth of the cluster’s loss")


@dataclass(eq=False)
class _Clusters:
    """The clusters at some moment: what is on the blackboard."""

    board: Blackboard
    members: list[list[int]] = field(default_factory=list)

    def held(self, number: int) -> ClassState:
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

    def widening(self, number: int, each: int) -> tuple[CostTerm, ...]:
        """What it costs to widen a cluster by a class."""
        return self.board.merging(self.held(number), self.board.originals[each])

    def shown(
        self, number: int, joined: Iterable[int], met: tuple[ClassState, ClassState] | None
    ) -> ClusterView:
        """What a step shows."""
        held = tuple(
            self.held(each) if members else ClassState((), "", 0, ())
            for each, members in enumerate(self.members)
        )
        return ClusterView(number + 1, tuple(joined), held, tuple(self.left), met)

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
        met: tuple[ClassState, ClassState] | None = None,
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
                    f"cluster {number + 1}: {held.name}",
                    (cost, number),
                    number == chosen,
                    (paid := float(cost)),
                    terms,
                    classes=held.classes,
                    figures=(paid,),
                )
            )
        return tuple(found)


# --- KACA -------------------------------------------------------------------------------------
def _kaca(board: Blackboard) -> Iterator[Step]:
    """Merging, in which the class is drawn."""
    task = board.task

    def drawn(made: MergeStep) -> tuple[str, tuple[Choice, ...]]:
        return (
            f"Of the {counted(len(made.wrong), 'class', 'classes')} below k = {task.k}, "
            f"“{board.label(made.picked.nodes)}” ({counted(made.picked.records, 'record')}) is "
            f"drawn; the seed {task.seed} repeats the draw.",
            (),
        )

    nearest = replace(board, task=replace(task, strategy="s1"))
    merges = list(kaca(nearest.table))
    yield from write_merges(nearest, merges, drawn)
    yield from merges_for_models(board, board.recoded_by(merges))


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
            (
                Rule(f"furthest from {'the last beginning' if number else 'the drawn record'}"),
                FIRST,
            ),
            tuple(
                Candidate(
                    board.originals[each].name, (-_sum(terms), each), each == begun,
                    float(_sum(terms)), terms, classes=(each,),
                    figures=(float(_sum(terms)),),
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
            f"What is compared is the cost of putting one record together with one of {from_}. "
            f"“{last.label}” begins the cluster: {choice.reason}.",
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
                (_GROWTH, FIRST),
                tuple(
                    Candidate(
                        board.originals[each].name, (_sum(paid), each), each == joins,
                        float(_sum(paid)), paid, classes=(each,),
                        figures=(float(_sum(paid)),),
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
                f"The cluster holds {counted(size, 'record')}, fewer than k = {task.k}. "
                f"“{held.label}” ({counted(held.records, 'record')}) joins: {choice.reason}.",
                number,
                [joins],
                [choice],
                met,
            )
    for each in left.tolist():
        number = int(final[each])
        choice = Choice(
            f"Which cluster does “{board.originals[each].label}” join?",
            (_GROWTH, MADE),
            now.candidates(each, range(len(now.members)), number),
        )
        rest = int(counts[now.left].sum())
        met = now.held(number), board.originals[each]
        now.members[number].append(each)
        yield now.step(
            f"{board.originals[each].label} is left over",
            f"{counted(rest, 'record is', 'records are')} left, fewer than k = {task.k}: they "
            f"join in random order. “{board.originals[each].label}” joins cluster {number + 1}: "
            f"{choice.reason}.",
            number,
            [each],
            [choice],
            met,
        )
    yield from merges_for_models(board, now.recoding())


def _apart(board: Blackboard, one: ClassState, other: ClassState) -> tuple[CostTerm, ...]:
    """What putting one record of each together costs."""
    return board.merging(one, other, records=1)


def _sum(terms: Iterable[CostTerm]) -> Fraction:
    return sum((term.exact for term in terms), Fraction(0))


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
        f"{counted(len(begun), 'cluster begins', 'clusters begin')}",
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
            "Every other record, in tree order, joins the cluster that it costs least to widen",
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
        (_GROWTH, MADE),
        now.candidates(each, open_to, number),
    )
    met = now.held(number), held
    now.members[number].append(each)
    return now.step(
        f"{held.label} joins cluster {number + 1}",
        f"{why}. It is cluster {number + 1}: {choice.reason}.",
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
        far: dict[int, tuple[CostTerm, ...]] = {}
        for each in members:
            others = [one for one in members if one != each]
            far[each] = board.merging(board.held(others), board.originals[each])
        while leaving:
            size = now.records(number)
            goes = min(leaving, key=lambda each: (-_sum(far[each]), each))
            choice = Choice(
                f"Who leaves cluster {number + 1}?",
                (Rule("furthest from the others of the cluster"), FIRST),
                tuple(
                    Candidate(
                        board.originals[each].name,
                        (-_sum(far[each]), each),
                        each == goes,
                        float(_sum(far[each])),
                        far[each],
                        classes=(each,),
                        figures=(float(_sum(far[each])),),
                        refused=f"fewer than k = {task.k} records would stay"
                        if size - board.originals[each].records < task.k
                        else "",
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
                f"“{held.label}” leaves, and at least k stay: {choice.reason}.",
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
                    f"cluster {other + 1}: {now.held(other).name}",
                    (_sum(terms), other),
                    other == place,
                    float(_sum(terms)),
                    terms,
                    classes=now.held(other).classes,
                    figures=(float(_sum(terms)),),
                )
            )
        choice = Choice(
            f"With which cluster is cluster {number + 1} merged?",
            (Rule("least cost"), MADE),
            tuple(found),
        )
        met = now.held(place), held
        moved, now.members[number] = now.members[number], []
        now.members[place] += moved
        yield now.step(
            f"Cluster {number + 1} is merged with cluster {place + 1}",
            f"It holds {counted(held.records, 'record')}, fewer than k = {task.k}, as records with "
            f"the same values stay together. It goes to cluster {place + 1}: {choice.reason}.",
            place,
            moved,
            [choice],
            met,
        )


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "kaca": _kaca,
    "k-member": _k_member,
    "oka": _oka,
    "mdav": grouping,
}
"""The algorithms of the family that have a lesson."""
