"""The lattice sweep by its definition: dicts of tuples of labels, every node grouped anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from random_tables import PlainTree, Problem

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
