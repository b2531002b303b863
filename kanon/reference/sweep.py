"""The lattice sweep: groups of k records leave node by node; who is left joins a released class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from kanon.reference.table import Group, Nodes, PlainTable

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Visit:
    levels: Levels
    loss: Fraction | int  # what raising the whole table to them costs
    groups: tuple[Group, ...]  # those that are released here
    left: tuple[int, ...]  # the classes that remain


@dataclass(frozen=True, eq=False)
class JoinPlace:
    group: Group
    cost: Fraction | int
    widened: Group  # with the one that joins, and all that look the same then
    allowed: bool


@dataclass(frozen=True, eq=False)
class Join:
    """A left-over class, and the released class that it joins; None if no model allows one."""

    one: Group
    places: tuple[JoinPlace, ...]
    place: JoinPlace | None
    after: tuple[Group, ...]  # the released classes


def walk(table: PlainTable) -> Iterator[Visit]:
    """The nodes in the order of their losses, as long as k records are left."""
    left = list(range(len(table.nodes)))
    for levels, loss in nodes_by_loss(table):
        if not left or table.size(left) < table.k:
            return
        groups = groups_at(table, levels, left)
        out = tuple(g for g in groups if g.records >= table.k and not table.breaks(g.members))
        left = [each for each in left if not any(each in group.members for group in out)]
        yield Visit(levels, loss, out, tuple(left))


def nodes_by_loss(table: PlainTable) -> list[tuple[Levels, Fraction | int]]:
    """All nodes of the lattice by what raising the whole table to them costs, then by levels."""
    found = []
    for levels in product(*(range(tree.height) for tree in table.hierarchies)):
        every = groups_at(table, levels, range(len(table.nodes)))
        loss = sum(
            table.records[each] * table.cost(table.nodes[each], group.nodes)
            for group in every
            for each in group.members
        )
        found.append((levels, loss))
    found.sort(key=lambda each: each[1])
    least = before = found[0][1]
    for place, (levels, loss) in enumerate(found):  # what differs by no more than slack is equal
        least = least if loss <= before + table.slack else loss
        found[place], before = (levels, least), loss
    return sorted(found, key=lambda each: (each[1], each[0]))


def groups_at(table: PlainTable, levels: Levels, members: Sequence[int]) -> list[Group]:
    raised = [tree.at_level(at) for tree, at in zip(table.hierarchies, levels, strict=True)]
    found: dict[Nodes, list[int]] = {}
    for each in members:
        nodes = tuple(int(up[v]) for up, v in zip(raised, table.nodes[each], strict=True))
        found.setdefault(nodes, []).append(each)
    return [table.group(same, nodes) for nodes, same in found.items()]


def released_by(visits: Sequence[Visit], table: PlainTable) -> tuple[Group, ...]:
    found: dict[Nodes, list[int]] = {}
    for group in (group for visit in visits for group in visit.groups):
        found.setdefault(group.nodes, []).extend(group.members)
    return tuple(table.group(found[nodes], nodes) for nodes in sorted(found))


def join(table: PlainTable, released: Sequence[Group], left: Sequence[int]) -> Iterator[Join]:
    """Every class that is left joins the released class that it costs least to widen."""
    table, now = replace(table, weighted=True), tuple(released)
    for one in (table.originals[each] for each in left):
        places = []
        for group in now:
            nodes = table.meet(group.nodes, one.nodes)
            same = [each for each in now if each is group or each.nodes == nodes]
            members = [each for part in (*same, one) for each in part.members]
            widened = table.group(members, nodes)
            cost = table.merge_cost(group, one)
            places.append(JoinPlace(group, cost, widened, not table.breaks(widened.members)))
        allowed = [each for each in places if each.allowed]
        best = min(allowed, key=lambda each: (each.cost, each.group.nodes), default=None)
        if best is not None:
            gone = best.group.nodes, best.widened.nodes
            now = (*(each for each in now if each.nodes not in gone), best.widened)
        yield Join(one, tuple(places), best, now)
