"""What the page Lattice works on: a lattice of the work's settings, and a node of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, n_nodes, raised_to
from kanon.algorithms.task import Task
from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import round_apart
from kanon.base.progress import no_progress
from kanon.charts.lattice import DRAWN
from kanon.errors import PlanError
from kanon.experiments.exploration import (
    COMPLETE,
    Assessment,
    Exploration,
    assessed,
    explore,
    neighbourhood,
    outline,
)
from kanon.run import PreparedRun, Run, prepare
from kanon.schema import Role
from kanon.studio.lattice.state import LatticeView
from kanon.studio.session.findings import LatticeResult
from kanon.studio.session.parts import Message
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.work import Request, Work

_AT_ONCE = 30_000_000
"""So many times a node is counted from a class in a quarter of a second, about."""

_SLOWER = 50  # how much longer that takes with models beside k, about


ROWS = 40  # the rows of a preview


@dataclass(frozen=True, eq=False)
class Subject:
    prepared: PreparedRun  # quasi-identifiers outside the lattice count as insensitive
    task: Task  # its classes, potentials, k, models and suppression limit
    settings: str  # a fingerprint of all that the lattice depends on
    outline: Exploration  # the lattice with nothing counted


def usable_columns(work: Work) -> list[str]:
    return [
        name for name in work.table.quasi_identifiers if work.table.choices[name].plan is not None
    ]


def default_columns(work: Work) -> tuple[str, ...]:
    """The first quasi-identifiers, as many as give a lattice that can be drawn."""
    columns = usable_columns(work)
    trees = [work.table.trees[name] for name in columns]
    most = [i for i in range(1, len(columns) + 1) if n_nodes(trees[:i]) <= DRAWN]
    return tuple(columns[: max(most, default=1)])


def lattice_columns(work: Work) -> tuple[str, ...]:
    """The quasi-identifiers that are in the lattice, in the table's order."""
    usable, asked = usable_columns(work), work.view(LatticeView).columns
    chosen = () if asked is None else tuple(name for name in usable if name in asked)
    return chosen or default_columns(work)


def drawn_whole(work: Work) -> bool:
    return n_nodes([work.table.trees[name] for name in lattice_columns(work)]) <= DRAWN


def narrowed(work: Work, columns: tuple[str, ...]) -> Work:
    """The work with only some quasi-identifiers as such: the others become insensitive."""
    roles = {
        name: Role.INSENSITIVE if role is Role.QUASI_IDENTIFIER and name not in columns else role
        for name, role in work.table.roles.items()
    }
    return work.with_parts(
        replace(work.table, roles=roles),
        replace(work.settings, algorithm="optimal", options={}, node=None),
    )


def ready(work: Work, remember: Callable[[str, str, Callable[[], Subject]], Subject]) -> Subject:
    """The lattice of the work's settings; KanonError says why there is none."""
    columns = lattice_columns(work)
    if not columns:
        raise PlanError("No quasi-identifier has a usable hierarchy yet.")
    inside = narrowed(work, columns)
    plan = plan_of(inside)
    # The records are those that lack no quasi-identifier, in the lattice or not.
    records = work.table.complete_records.n_records
    settings = fingerprint_of(settings_of(inside, plan), plan.k, records)

    def make() -> Subject:
        prepared = prepare(plan, work.table.complete_records)
        task = prepared.task()
        task.check()
        return Subject(prepared, task, settings, outline(task))

    return remember("lattice-ready", settings, make)


def at_once(one: Subject) -> bool:
    return _quick(one, one.outline.size)


def _quick(one: Subject, nodes: int) -> bool:
    effort = nodes * one.task.classes.n_classes
    return effort * (_SLOWER if one.task.others else 1) <= _AT_ONCE


def small(one: Subject) -> bool:
    """Whether every node of a lattice is counted."""
    return one.outline.size <= COMPLETE


def lattice_request(work: Work, ready: Subject) -> Request:
    return Request("lattice", explore, (ready.task,), partial(_with_lattice, ready.settings))


def _with_lattice(settings: str, work: Work, found: Exploration) -> Work:
    return work.with_parts(replace(work.findings, found_lattice=LatticeResult(found, settings)))


def known_lattice(work: Work, one: Subject) -> Exploration | None:
    found = work.findings.found_lattice
    return found.explored if found is not None and found.settings == one.settings else None


def explored_now(one: Subject) -> Exploration:
    return explore(no_progress, one.task)


def chosen_node(work: Work, explored: Exploration) -> Node:
    """The node that the user chose; else that of least loss, or the best that is known."""
    asked, names = work.view(LatticeView).node, explored.attributes
    if asked is not None and set(asked) == set(names):
        return tuple(min(asked[name], top) for name, top in zip(names, explored.tops, strict=True))
    if explored.least is not None:
        return explored.least
    ends = [walk.steps[-1].node for walk in explored.walks if walk.steps]
    return ends[-1] if ends else explored.tops


def levels_in(clicked: object) -> tuple[int, ...]:
    """The levels that a node of the picture carries, as a browser sends them; else nothing.

    >>> levels_in("4 0 2"), levels_in({"0": 4}), levels_in("4 -1"), levels_in("²")
    ((4, 0, 2), (), (), ())
    """
    parts = clicked.split() if isinstance(clicked, str) else []
    whole = all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts)
    return tuple(int(part) for part in parts) if whole else ()


def with_node(work: Work, explored: Exploration, node: Sequence[int] | None) -> Work:
    """The work with another chosen node; what is no node of the lattice changes nothing."""
    tops = explored.tops
    if node is None or len(node) != len(tops) or explored.attributes != lattice_columns(work):
        return work
    if not all(0 <= level <= top for level, top in zip(node, tops, strict=True)):
        return work
    levels = dict(zip(explored.attributes, node, strict=True))
    return work.with_parts(replace(work.view(LatticeView), node=levels), Message())


def with_level(work: Work, explored: Exploration, column: str, level: int) -> Work:
    node = list(chosen_node(work, explored))
    node[explored.attributes.index(column)] = level
    return with_node(work, explored, node)


def taken_in(work: Work, explored: Exploration) -> Work:
    """The work with all quasi-identifiers in the lattice; new ones at their original values."""
    node = dict(zip(explored.attributes, chosen_node(work, explored), strict=True))
    columns = tuple(usable_columns(work))
    levels = {name: node.get(name, 0) for name in columns}
    view = replace(work.view(LatticeView), columns=columns, node=levels, step=None)
    return work.with_parts(view, Message())


def around(one: Subject, explored: Exploration, node: Node) -> Assessment:
    near = [neighbourhood(explored.tops, node, steps) for steps in (2, 1, 0)]
    if explored.complete:
        return explored.assessed.only(near[0])
    quick = [nodes for nodes in near if _quick(one, len(nodes))]
    return assessed(one.task, (quick or near[-1:])[0])


def release_at(one: Subject, node: Node) -> Run:
    """The release at a node: records in classes that are too small are suppressed, however many."""
    lattice = Lattice(one.task, one.task.suppression or 0, no_progress)
    lattice.evaluate(node)
    return Run(one.prepared, lattice.release(node, [node]), 0.0)


def use_node(work: Work, explored: Exploration, node: Node) -> Work:
    """The work that releases a node: MinGen's choice where it is one of those that tie for it."""
    levels = dict(zip(explored.attributes, node, strict=True))
    name = "mingen" if node in explored.tied else "levels"
    return work.with_parts(replace(work.settings, algorithm=name, node=levels), Message())


def labels_at(one: Subject, column: int, level: int) -> list[str]:
    """What the values of a column become at a level, as far as they occur; in the tree's order."""
    classes = one.task.classes
    tree = classes.hierarchies[column]
    raised = raised_to(tree)[level]
    return [tree.labels[node] for node in np.unique(raised[classes.nodes[:, column]])]


def minimal_table(explored: Exploration) -> pd.DataFrame:
    """The minimal satisfying nodes, least loss first: for showing."""
    found = explored.assessed.only(explored.minimal)
    table = pd.DataFrame(found.nodes, columns=list(explored.attributes))
    table["Loss, % ↓"] = round_apart(found.loss, 1)
    table["k reached ↑"] = found.reached
    table["Classes ↑"] = found.classes
    if explored.limit:
        table["Suppressed ↓"] = found.suppressed
    table["MinGen takes it"] = [
        "yes" if node in explored.tied else "" for node in map(tuple, found.nodes.tolist())
    ]
    order = np.lexsort((np.arange(len(table)), found.cost))
    return table.iloc[order].reset_index(drop=True)
