"""The lattice sweep by its definition: dicts of tuples of labels, every node grouped anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import product

from support.random_tables import PlainTree, Problem

Labels = tuple[str, ...]
Levels = tuple[int, ...]
Rows = tuple[int, ...]
Cost = Callable[[Labels, Labels], int | Fraction]


@dataclass
class Swept:
    """What came out.

    Attributes
    ----------
    classes
        Per released tuple its records.
    visits
        The nodes that were grouped, in their order, each with the groups released there.
    joined
        Per tuple that was left over the released tuple that it became part of; its own if no
        released class could take it, so that it has to be merged on.
    aside
        The tuples that no released class could take.
    """

    classes: dict[Labels, Rows] = field(default_factory=dict)
    visits: list[tuple[Levels, list[Labels]]] = field(default_factory=list)
    joined: dict[Labels, Labels] = field(default_factory=dict)
    aside: list[Labels] = field(default_factory=list)

    @property
    def released(self) -> dict[int, Labels]:
        """Per record its tuple."""
        return {row: labels for labels, rows in self.classes.items() for row in rows}


def raised(tree: PlainTree, node: str, level: int) -> str:
    """The highest ancestor of at most that level; the node itself if its own level is higher."""
    return next((x for x in reversed(tree.paths[node]) if tree.level[x] <= level), node)


def raised_tuple(problem: Problem, labels: Labels, levels: Levels) -> Labels:
    return tuple(raised(*each) for each in zip(problem.trees, labels, levels, strict=True))


def lattice(problem: Problem) -> Iterator[Levels]:
    """Every node, in the canonical order of levels."""
    return product(*(range(tree.height) for tree in problem.trees))


def rows_by_tuple(problem: Problem) -> dict[Labels, Rows]:
    """The classes of the table, in canonical order."""
    return {
        labels: tuple(i for i, row in enumerate(problem.rows) if row == labels)
        for labels in problem.sizes
    }


def swept(
    problem: Problem, cost: Cost, k: int, breaks: Callable[[Rows], bool] = lambda rows: False
) -> Swept:
    """The sweep of a table.

    Parameters
    ----------
    cost
        What raising one record from a tuple to another costs.
    breaks
        Whether a class of those records breaks a model beside k-anonymity.
    """
    remaining, found = rows_by_tuple(problem), Swept()

    def loss(levels: Levels) -> int | Fraction:
        return sum(
            len(rows) * cost(labels, raised_tuple(problem, labels, levels))
            for labels, rows in rows_by_tuple(problem).items()
        )

    losses = {levels: loss(levels) for levels in lattice(problem)}
    for levels in sorted(losses, key=lambda each: (losses[each], each)):
        if not remaining or sum(map(len, remaining.values())) < k:
            break
        groups: dict[Labels, list[Labels]] = {}
        for labels in remaining:
            groups.setdefault(raised_tuple(problem, labels, levels), []).append(labels)
        released = []
        for target, members in groups.items():
            rows = tuple(row for labels in members for row in remaining[labels])
            if len(rows) >= k and not breaks(rows):
                released.append(target)
                found.classes[target] = (*found.classes.get(target, ()), *rows)
                for labels in members:
                    del remaining[labels]
        found.visits.append((levels, released))
    return _with_the_rest(problem, cost, found, remaining, breaks)


def in_group_order(problem: Problem, cost: Cost, k: int) -> Swept:
    """The sweep that releases single groups by their mean loss, rounded down.

    Every node remembers its cheapest group as it was when it was looked at last.
    """
    remaining, found = rows_by_tuple(problem), Swept()

    def means(levels: Levels) -> dict[Labels, int]:
        groups: dict[Labels, list[Labels]] = {}
        for labels in remaining:
            groups.setdefault(raised_tuple(problem, labels, levels), []).append(labels)
        means = {}
        for target, members in groups.items():
            records = sum(len(remaining[labels]) for labels in members)
            if records >= k:
                total = sum(cost(labels, target) * len(remaining[labels]) for labels in members)
                means[target] = int(total) // records
        return means

    known = {levels: min(means(levels).values(), default=None) for levels in lattice(problem)}
    keys = {levels: key for levels, key in known.items() if key is not None}
    while keys and sum(map(len, remaining.values())) >= k:
        levels = min(keys, key=lambda each: (keys[each], each))
        del keys[levels]
        now = means(levels)
        released = [
            target for target, mean in now.items() if all(mean <= other for other in keys.values())
        ]
        for target in released:
            for labels in list(remaining):
                if raised_tuple(problem, labels, levels) == target:
                    rows = remaining.pop(labels)
                    found.classes[target] = (*found.classes.get(target, ()), *rows)
        found.visits.append((levels, released))
        left = [mean for target, mean in now.items() if target not in released]
        if left:
            keys[levels] = min(left)
    return _with_the_rest(problem, cost, found, remaining, lambda rows: False)


def _with_the_rest(
    problem: Problem,
    cost: Cost,
    found: Swept,
    remaining: dict[Labels, Rows],
    breaks: Callable[[Rows], bool],
) -> Swept:
    for labels, rows in remaining.items():
        _join(problem, cost, found, labels, rows, breaks)
    for labels in found.aside:
        found.classes[labels] = (*found.classes.get(labels, ()), *remaining[labels])
    return found


def _join(
    problem: Problem,
    cost: Cost,
    found: Swept,
    labels: Labels,
    rows: Rows,
    breaks: Callable[[Rows], bool],
) -> None:
    """Take a tuple that was left over into the released class for which that costs least."""

    def target(other: Labels) -> Labels:
        return tuple(t.lca(x, y) for t, x, y in zip(problem.trees, labels, other, strict=True))

    def price(other: Labels) -> int | Fraction:
        high = target(other)
        return cost(labels, high) * len(rows) + cost(other, high) * len(found.classes[other])

    for other in sorted(found.classes, key=lambda x: (price(x), problem.numbers(x))):
        high = target(other)
        parts = dict.fromkeys([other, high])
        whole = tuple(row for part in parts for row in found.classes.get(part, ())) + rows
        if not breaks(whole):
            for part in parts:
                found.classes.pop(part, None)
            found.classes[high] = whole
            found.joined[labels] = high
            return
    found.aside.append(labels)


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
                        others,
                        key=lambda c: (self.merge_cost(low, records, self.members[c]), c),
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
