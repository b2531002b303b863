"""The lattice sweep on random tables by labels, and its effort *thorough* by its definition."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

from kanon.reference.sweep import (
    Join,
    Levels,
    Visit,
    collect_groups_at,
    collect_released_groups,
    join,
    walk,
)
from kanon.reference.table import Group, PlainTable
from support.random_tables import Problem, raised
from support.reference_tables import Labels, labels_of, reference_table

Cost = Callable[[Labels, Labels], int | Fraction]


@dataclass
class Swept:
    """What came out, by labels."""

    problem: Problem
    table: PlainTable
    steps: Sequence[Visit]

    def __post_init__(self) -> None:
        released = collect_released_groups(self.steps, self.table)
        self.joins: list[Join] = list(join(self.table, released, self.steps[-1].left))
        self.begun = self.joins[-1].after if self.joins else released

    def labels(self, group: Group) -> Labels:
        return labels_of(self.problem, group.nodes)

    @property
    def visits(self) -> list[tuple[Levels, list[Labels]]]:
        """The nodes that were grouped, in their order, each with the groups released there."""
        return [(step.levels, list(map(self.labels, step.groups))) for step in self.steps]

    @property
    def joined(self) -> dict[Labels, Labels]:
        """Per tuple that was left over the released tuple that it became part of."""
        return {
            self.labels(each.one): self.labels(each.place.widened)
            for each in self.joins
            if each.place is not None
        }

    @property
    def aside(self) -> list[Group]:
        """What no released class could take."""
        return [each.one for each in self.joins if each.place is None]

    @property
    def groups(self) -> list[Group]:
        """All classes, those among them that no other could take."""
        found: dict[tuple[int, ...], list[int]] = {}
        for group in (*self.begun, *self.aside):
            found.setdefault(group.nodes, []).extend(group.members)
        return [self.table.group(members, nodes) for nodes, members in found.items()]

    @property
    def at(self) -> dict[Labels, Labels]:
        """Per original class its released tuple."""
        now = {each: self.labels(group) for group in self.groups for each in group.members}
        return {labels: now[each] for each, labels in enumerate(self.problem.sizes)}


def swept(
    problem: Problem,
    depths: Sequence[Sequence],
    k: int,
    breaks: Callable[[tuple[int, ...]], bool] = lambda rows: False,
    steps: Callable[[PlainTable], Iterator[Visit]] = walk,
) -> Swept:
    """The sweep of a table; ``breaks``: whether some rows break a model beside k-anonymity."""
    table = reference_table(problem, depths, k, breaks=breaks)
    return Swept(problem, table, list(steps(table)))


def in_group_order(table: PlainTable) -> Iterator[Visit]:
    """The sweep that releases single groups by their mean loss, rounded down.

    Every node remembers its cheapest group as it was when it was looked at last.
    """
    left = list(range(len(table.nodes)))

    def means(levels: Levels) -> dict[Group, int]:
        return {
            group: int(sum(table.records[each] * table.cost(table.nodes[each], group.nodes)
                           for each in group.members)) // group.records
            for group in collect_groups_at(table, levels, left)
            if group.records >= table.k
        }  # fmt: skip

    lattice = product(*(range(tree.height) for tree in table.hierarchies))
    known = {levels: min(means(levels).values(), default=None) for levels in lattice}
    keys = {levels: key for levels, key in known.items() if key is not None}
    while keys and table.size(left) >= table.k:
        levels = min(keys, key=lambda each: (keys[each], each))
        del keys[levels]
        now = means(levels)
        out = tuple(
            group for group, mean in now.items() if all(mean <= other for other in keys.values())
        )
        left = [each for each in left if not any(each in group.members for group in out)]
        yield Visit(levels, 0, out, tuple(left))
        rest = [mean for group, mean in now.items() if group not in out]
        if rest:
            keys[levels] = min(rest)


def raised_tuple(problem: Problem, labels: Labels, levels: Levels) -> Labels:
    return tuple(raised(*each) for each in zip(problem.trees, labels, levels, strict=True))


def lattice(problem: Problem) -> Iterator[Levels]:
    """Every node, in the canonical order of levels."""
    return product(*(range(tree.height) for tree in problem.trees))


@dataclass
class Improved:
    """Tuples by the number of their released class; numbers are used again, lowest first."""

    problem: Problem
    cost: Cost
    k: int
    members: dict[int, list[Labels]]
    changes: int = 0

    def common(self, members: list[Labels]) -> Labels:
        """The lowest common ancestors."""
        return reduce(self._meet, members)

    def _meet(self, one: Labels, other: Labels) -> Labels:
        return tuple(t.lca(x, y) for t, x, y in zip(self.problem.trees, one, other, strict=True))

    def records(self, members: list[Labels]) -> int:
        return sum(self.problem.sizes[labels] for labels in members)

    def raised(self, members: list[Labels], target: Labels) -> int:
        return sum(int(self.cost(x, target)) * self.problem.sizes[x] for x in members)

    def loss(self, members: list[Labels]) -> int:
        return self.raised(members, self.common(members))

    def dearest(self) -> list[int]:
        return sorted(
            self.members,
            key=lambda c: (-(self.loss(self.members[c]) // self.records(self.members[c])), c),
        )

    def merge_cost(self, low: Labels, records: int, other: list[Labels]) -> int:
        own = self.common(other)
        high = self._meet(low, own)
        return int(self.cost(low, high)) * records + int(self.cost(own, high)) * self.records(other)

    def dissolve(self) -> None:
        for given in self.dearest():
            if given not in self.members or len(self.members) < 2:
                continue
            trial = {c: list(members) for c, members in self.members.items() if c != given}
            before = self.loss(self.members[given])
            spent = 0
            for labels in self.in_order(self.members[given]):
                price, taker = min(
                    (self.merge_cost(labels, self.problem.sizes[labels], trial[c]), c)
                    for c in trial
                )
                spent += price
                trial[taker].append(labels)
            if spent < before:
                self.members = trial
                self.changes += 1

    def in_order(self, members: list[Labels]) -> list[Labels]:
        return sorted(members, key=self.problem.numbers)

    def parted(self, members: list[Labels]) -> list[list[Labels]]:
        """The best way to part in two, and each part again."""
        top = self.common(members)
        levels = [t.level[x] for t, x in zip(self.problem.trees, top, strict=True)]
        best, split = self.loss(members), None
        for node in product(*(range(level + 1) for level in levels)):
            groups: dict[Labels, list[Labels]] = {}
            for labels in members:
                groups.setdefault(raised_tuple(self.problem, labels, node), []).append(labels)
            for group in groups.values():
                rest = [labels for labels in members if labels not in group]
                if min(self.records(group), self.records(rest)) >= self.k:
                    price = self.loss(group) + self.loss(rest)
                    if price < best:
                        best, split = price, (group, rest)
        if split is None:
            return [members]
        return [part for half in split for part in self.parted(half)]

    def split(self, wanted: int, together: bool) -> None:
        for given in self.dearest():
            near = None
            for turn in range(1 if together else wanted):
                if given not in self.members or self.loss(self.members[given]) == 0:
                    continue
                if near is None or turn == 0:
                    mine = self.members[given]
                    low, records = self.common(mine), self.records(mine)
                    others = [c for c in self.members if c != given]
                    near = sorted(
                        others, key=lambda c: (self.merge_cost(low, records, self.members[c]), c)
                    )[:wanted]
                chosen = near if together else near[turn : turn + 1]
                chosen = [c for c in chosen if c in self.members]
                if not chosen:
                    continue
                pooled = [given, *chosen]
                pool = self.in_order([x for c in pooled for x in self.members[c]])
                parts = self.parted(pool)
                if sum(map(self.loss, parts)) >= sum(self.loss(self.members[c]) for c in pooled):
                    continue
                self.changes += 1
                for c in pooled:
                    del self.members[c]
                self.members[given] = parts[0]
                for part in parts[1:]:
                    free = next(c for c in range(len(self.problem.rows)) if c not in self.members)
                    self.members[free] = part
        self.members = dict(sorted(self.members.items()))


def improved(
    problem: Problem, cost: Cost, k: int, released: dict[Labels, Labels]
) -> dict[Labels, Labels]:
    """What a release, per tuple, is made by dissolving classes, and merging and splitting them."""
    targets = sorted(set(released.values()), key=problem.numbers)
    now = Improved(
        problem,
        cost,
        k,
        {
            c: [x for x in problem.sizes if released[x] == target]
            for c, target in enumerate(targets)
        },
    )
    for _ in range(3):
        before = now.changes
        now.dissolve()
        for wanted, together in ((8, False), (2, True), (3, True), (5, True)):
            now.split(wanted, together)
        if now.changes == before:
            break
    return {x: now.common(members) for members in now.members.values() for x in members}
