"""Lessons of clustering: the cluster that grows, and every record that could join it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np

from kanon.algorithms import mdav
from kanon.base.formatting import count_noun
from kanon.reference.clustering import ClusterStep, k_member, oka
from kanon.reference.merging import PlainMerge, kaca
from kanon.reference.table import PlainTable
from kanon.teaching.blackboard import FIRST, Blackboard
from kanon.teaching.lesson import Candidate, Choice, CostTerm, Rule, Step, write_number
from kanon.teaching.merging import explain_model_merges, write_merges
from kanon.teaching.regions import ClusterView, build_region_view

_FIRST_CLUSTER = Rule("the first cluster to begin")  # decides ties between clusters
_GROWTH, _LEAST = Rule("least growth of the cluster’s loss"), Rule("least cost")
_FURTHEST = Rule("furthest from the others in the cluster")


# --- KACA -------------------------------------------------------------------------------------
def _explain_kaca(board: Blackboard) -> Iterator[Step]:
    task = board.task

    def describe_draw(merge: PlainMerge) -> tuple[str, tuple[Choice, ...]]:
        return (
            f"“{board.label(merge.picked.nodes)}” ({count_noun(merge.picked.records, 'record')}) "
            f"is drawn from the {count_noun(len(merge.breaking_classes), 'class', 'classes')} "
            f"below k = {task.k}; seed {task.seed} always draws the same class.",
            (),
        )

    nearest = replace(board, task=replace(task, strategy="s1"))
    merges = list(kaca(nearest.table))
    yield from write_merges(nearest, merges, describe_draw)
    yield from explain_model_merges(board, board.apply_merges(merges))


Clusters = tuple[tuple[int, ...], ...]
"""The original classes of each cluster, in the order in which the clusters began."""


# --- k-member and OKA -------------------------------------------------------------------------
def _write_clusters(
    board: Blackboard, algorithm: Callable[[PlainTable], Iterator[ClusterStep]]
) -> Iterator[Step]:
    before: Clusters = ()
    for step in algorithm(board.table):
        recoding = board.build_recoding(map(board.held, filter(None, step.clusters)))
        heading, sentence = _describe_cluster_step(board, step, before)
        choices, met = list[Choice](), None
        if step.kind != "seeds":
            choices = [_build_cluster_choice(board, step, before)]
            sentence += f": {choices[0].reason}."
            pair = next(o.pair for o in step.options if o.number == _get_chosen_number(step))
            met = board.state(pair[0]), board.state(pair[1])
        yield board.step(heading, sentence, recoding, choices, ClusterView(step.members, met))
        before = step.clusters
    yield from explain_model_merges(board, recoding)


def _get_chosen_number(step: ClusterStep) -> int:
    return step.members[0] if step.kind in ("begin", "grow", "leave") else step.cluster


def _name_cluster(board: Blackboard, before: Clusters, number: int) -> str:
    """A cluster by the number of its class, which tables and pictures show."""
    return board.name_class(board.held(before[number])).replace("class", "cluster", 1)


def _build_cluster_choice(board: Blackboard, step: ClusterStep, before: Clusters) -> Choice:
    furthest = (
        f"furthest from {'the start of the last cluster' if step.cluster else 'the drawn record'}"
    )
    label = board.held(step.members).label
    question, rules = f"Which cluster does “{label}” join?", (_GROWTH, _FIRST_CLUSTER)
    if step.kind == "begin":
        ordinal = "next" if step.cluster else "first"
        question = f"With which record does the {ordinal} cluster begin?"
        rules = Rule(furthest), FIRST
    elif step.kind in ("grow", "leave"):
        verb, rule = ("joins", _GROWTH) if step.kind == "grow" else ("leaves", _FURTHEST)
        name = _name_cluster(board, before, step.cluster)
        question, rules = f"Which record {verb} {name}?", (rule, FIRST)
    elif step.kind == "merge":
        name = _name_cluster(board, before, step.other)
        question, rules = f"With which cluster is {name} merged?", (_LEAST, _FIRST_CLUSTER)
    candidates = []
    for option in step.options:
        first, second = option.pair
        by_class = step.kind in ("begin", "grow", "leave")
        cost = float(option.cost)
        candidate = board.build_candidate(second if by_class else first, option.key, None, cost)
        records = 1 if step.kind == "begin" else None
        terms = board.list_merge_costs(board.state(first), board.state(second), records)
        refused = "" if option.allowed else f"fewer than k = {board.task.k} records would stay"
        chosen = option.number == _get_chosen_number(step)
        candidates.append(
            replace(candidate, chosen=chosen, cost=cost, terms=terms, refused=refused)
        )
    return Choice(question, rules, tuple(candidates))


def _describe_cluster_step(
    board: Blackboard, step: ClusterStep, before: Clusters
) -> tuple[str, str]:
    k, seed, table = board.task.k, board.task.seed, board.table
    state = board.held(step.members)
    label, records = state.label, count_noun(state.records, "record")
    name = _name_cluster(board, before, step.cluster) if step.cluster < len(before) else ""
    if step.kind == "seeds":
        firsts = ", ".join(board.name_class(board.originals[place]) for place in step.members)
        return (
            count_noun(len(step.members), "cluster begins", "clusters begin"),
            f"{sum(table.records)} records are enough for "
            f"{count_noun(sum(table.records) // k, 'cluster')} of k = {k}. Records are "
            f"drawn until there are that many different ones (seed {seed} always draws the same "
            f"records). Each begins a cluster: {firsts}.",
        )
    if step.kind == "begin":
        last = board.originals[step.other].label
        how = f"which was drawn (seed {seed} always draws it)"
        from_ = f"“{last}”, {'with which the last cluster began' if step.cluster else how}"
        return (
            f"A cluster begins with {board.name_class(state)}",
            f"Records are compared by what it would cost to merge each of them with {from_}. "
            f"“{label}” begins the cluster",
        )
    size_before = count_noun(table.size(before[step.cluster]), "record")
    if step.kind == "grow":
        return (
            f"{label} joins {name}",
            f"The cluster holds {size_before}, fewer than k = {k}. “{label}” ({records}) joins",
        )
    if step.kind == "leftover":
        rest = sum(table.records) - sum(map(table.size, before))
        return (
            f"{label} is left over",
            f"{count_noun(rest, 'record is', 'records are')} left, fewer than k = {k}. They "
            f"join in random order. “{label}” joins {name}",
        )
    if step.kind == "leave":
        return (
            f"{label} leaves {name}",
            f"The cluster holds {size_before}, more than k = {k}. “{label}” leaves, and at "
            "least k records stay",
        )
    if step.kind == "merge":
        return (
            f"C{_name_cluster(board, before, step.other)[1:]} is merged with {name}",
            f"It holds {records}, fewer than k = {k}, because records with the same values "
            f"stay together. It joins {name}",
        )
    why = "The remaining records, in tree order, each join the cluster that is cheapest to widen"
    if step.kind == "refill" and any(table.size(members) < k for members in before):
        why = (
            "Records that left a cluster join, in random order, the nearest cluster with fewer "
            f"than k = {k}"
        )
    elif step.kind == "refill":
        why = "No cluster is below k any more, so the record joins the nearest of all"
    return f"{label} joins {name}", f"{why}. Here that is {name}"


# --- MDAV -------------------------------------------------------------------------------------
def _explain_mdav(board: Blackboard) -> Iterator[Step]:
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
            f"With which record does the {'next' if number else 'first'} group begin?",
            (Rule(f"farthest from {to} in standard deviations"), FIRST),
            tuple(
                self.build_distance_candidate(c, sums, records, to, -1, c == first) for c in among
            ),
        )
        self._move_to_group(number, first)
        label = self.board.originals[first].label
        return self._build_group_step(
            f"A group begins with {label}",
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
                f"Which record joins the group of “{to}”?",
                (Rule(f"nearest to “{to}” in standard deviations"), FIRST),
                tuple(
                    self.build_distance_candidate(c, sums, 1, to, 1, c == joins) for c in self.left
                ),
            )
            self._move_to_group(number, joins)
            label = self.board.originals[joins].label
            yield self._build_group_step(
                f"{label} joins the group of {to}",
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
            "The rest is a group",
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
                far = self.compute_squared_distance(place, sums, records, records)
                name = f"the group of “{self.name_group(other)}”"
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
                f"Fewer than k = {self.board.task.k} records are left. “{label}” joins the group "
                f"of “{self.name_group(number)}”: {choice.reason}.",
                [place],
                choice,
            )

    def name_group(self, number: int) -> str:
        """A group by the record with which it began: none leaves."""
        return self.board.originals[self.members[number][0]].label

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
        number = next(at for at, members in enumerate(self.members) if joined[0] in members)
        regions = build_region_view(self.board, self.members, number)
        view = ClusterView(tuple(joined), regions=regions)
        return self.board.step(heading, sentence, now, choices, view)


REPLAYS: Mapping[str, Callable[[Blackboard], Iterator[Step]]] = {
    "kaca": _explain_kaca,
    "k-member": lambda board: _write_clusters(board, k_member),
    "oka": lambda board: _write_clusters(board, oka),
    "mdav": _explain_mdav,
}
