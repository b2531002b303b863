"""The lattice sweep: groups of k records are released node by node; the rest joins them."""

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
    for levels, loss in sort_nodes_by_loss(table):
        if not left or table.size(left) < table.k:
            return
        groups = collect_groups_at(table, levels, left)
        released = tuple(g for g in groups if g.records >= table.k and not table.breaks(g.members))
        left = [c for c in left if not any(c in group.members for group in released)]
        yield Visit(levels, loss, released, tuple(left))


def sort_nodes_by_loss(table: PlainTable) -> list[tuple[Levels, Fraction | int]]:
    """All nodes of the lattice by what raising the whole table to them costs, then by levels."""
    ordered = []
    for levels in product(*(range(tree.height) for tree in table.hierarchies)):
        groups = collect_groups_at(table, levels, range(len(table.nodes)))
        loss = sum(
            table.records[node] * table.cost(table.nodes[node], group.nodes)
            for group in groups
            for node in group.members
        )
        ordered.append((levels, loss))
    ordered.sort(key=lambda node: node[1])
    least = before = ordered[0][1]
    for place, (levels, loss) in enumerate(ordered):  # what differs by no more than slack is equal
        least = least if loss <= before + table.slack else loss
        ordered[place], before = (levels, least), loss
    return sorted(ordered, key=lambda node: (node[1], node[0]))


def collect_groups_at(table: PlainTable, levels: Levels, members: Sequence[int]) -> list[Group]:
    raised = [tree.at_level(at) for tree, at in zip(table.hierarchies, levels, strict=True)]
    groups: dict[Nodes, list[int]] = {}
    for c in members:
        nodes = tuple(int(up[v]) for up, v in zip(raised, table.nodes[c], strict=True))
        groups.setdefault(nodes, []).append(c)
    return [table.group(same, nodes) for nodes, same in groups.items()]


def collect_released_groups(visits: Sequence[Visit], table: PlainTable) -> tuple[Group, ...]:
    members: dict[Nodes, list[int]] = {}
    for group in (group for visit in visits for group in visit.groups):
        members.setdefault(group.nodes, []).extend(group.members)
    return tuple(table.group(members[nodes], nodes) for nodes in sorted(members))


def join(table: PlainTable, released: Sequence[Group], left: Sequence[int]) -> Iterator[Join]:
    """Every class that is left joins the released class that it costs least to widen."""
    table, classes = replace(table, weighted=True), tuple(released)
    for leftover in (table.originals[group_] for group_ in left):
        places = []
        for group in classes:
            nodes = table.find_meeting_nodes(group.nodes, leftover.nodes)
            same = [group_ for group_ in classes if group_ is group or group_.nodes == nodes]
            members = [group_ for part in (*same, leftover) for group_ in part.members]
            widened = table.group(members, nodes)
            cost = table.merge_cost(group, leftover)
            places.append(JoinPlace(group, cost, widened, not table.breaks(widened.members)))
        allowed = [group_ for group_ in places if group_.allowed]
        best = min(allowed, key=lambda group_: (group_.cost, group_.group.nodes), default=None)
        if best is not None:
            gone = best.group.nodes, best.widened.nodes
            classes = (*(group_ for group_ in classes if group_.nodes not in gone), best.widened)
        yield Join(leftover, tuple(places), best, classes)
