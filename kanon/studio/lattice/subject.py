"""The lattice of the session's settings, and its chosen node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, n_nodes, raised_to
from kanon.algorithms.task import Task
from kanon.base.fingerprint import fingerprint_of
from kanon.base.progress import no_progress
from kanon.base.rounding import round_apart
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
"""About so many classes are counted at nodes in a quarter of a second."""

_SLOWER = 50  # about how much longer that takes with models beside k


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
    usable, wanted = usable_columns(work), work.view(LatticeView).columns
    columns = () if wanted is None else tuple(name for name in usable if name in wanted)
    return columns or default_columns(work)


def drawn_whole(work: Work) -> bool:
    return n_nodes([work.table.trees[name] for name in lattice_columns(work)]) <= DRAWN


def narrowed(work: Work, columns: tuple[str, ...]) -> Work:
    roles = {
        name: Role.INSENSITIVE if role is Role.QUASI_IDENTIFIER and name not in columns else role
        for name, role in work.table.roles.items()
    }
    return work.with_parts(
        replace(work.table, roles=roles),
        replace(work.settings, algorithm="optimal", options={}, node=None),
    )


def ready(work: Work, remember: Callable[[str, str, Callable[[], Subject]], Subject]) -> Subject:
    """The lattice of the session's settings; KanonError says why there is none."""
    columns = lattice_columns(work)
    if not columns:
        raise PlanError("No quasi-identifier has a usable hierarchy yet.")
    inside = narrowed(work, columns)
    plan = plan_of(inside)
    # Only records with all quasi-identifiers, whether in the lattice or not.
    records = work.table.complete_records.n_records
    settings = fingerprint_of(settings_of(inside, plan), plan.k, records)

    def build_subject() -> Subject:
        prepared = prepare(plan, work.table.complete_records)
        task = prepared.task()
        task.check()
        return Subject(prepared, task, settings, outline(task))

    return remember("lattice-ready", settings, build_subject)


def at_once(subject: Subject) -> bool:
    return _is_quick(subject, subject.outline.size)


def _is_quick(subject: Subject, nodes: int) -> bool:
    effort = nodes * subject.task.classes.n_classes
    return effort * (_SLOWER if subject.task.others else 1) <= _AT_ONCE


def small(subject: Subject) -> bool:
    return subject.outline.size <= COMPLETE


def lattice_request(work: Work, ready: Subject) -> Request:
    return Request("lattice", explore, (ready.task,), partial(_store_lattice, ready.settings))


def _store_lattice(settings: str, work: Work, lattice: Exploration) -> Work:
    return work.with_parts(replace(work.findings, found_lattice=LatticeResult(lattice, settings)))


def known_lattice(work: Work, subject: Subject) -> Exploration | None:
    result = work.findings.found_lattice
    return result.explored if result is not None and result.settings == subject.settings else None


def explored_now(subject: Subject) -> Exploration:
    return explore(no_progress, subject.task)


def chosen_node(work: Work, lattice: Exploration) -> Node:
    """The node that the user chose; else the one of least loss, or the end of a walk."""
    wanted, names = work.view(LatticeView).node, lattice.attributes
    if wanted is not None and set(wanted) == set(names):
        return tuple(min(wanted[name], top) for name, top in zip(names, lattice.tops, strict=True))
    if lattice.least is not None:
        return lattice.least
    ends = [walk.steps[-1].node for walk in lattice.walks if walk.steps]
    return ends[-1] if ends else lattice.tops


def levels_in(sent: object) -> tuple[int, ...]:
    """The levels of a clicked node as the browser sends them; empty for anything else.

    >>> levels_in("4 0 2"), levels_in({"0": 4}), levels_in("4 -1"), levels_in("²")
    ((4, 0, 2), (), (), ())
    """
    parts = sent.split() if isinstance(sent, str) else []
    whole = all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts)
    return tuple(int(part) for part in parts) if whole else ()


def with_node(work: Work, lattice: Exploration, node: Sequence[int] | None) -> Work:
    """Choose a node; anything that is no node of the lattice changes nothing."""
    tops = lattice.tops
    if node is None or len(node) != len(tops) or lattice.attributes != lattice_columns(work):
        return work
    if not all(0 <= level <= top for level, top in zip(node, tops, strict=True)):
        return work
    levels = dict(zip(lattice.attributes, node, strict=True))
    return work.with_parts(replace(work.view(LatticeView), node=levels), Message())


def with_level(work: Work, lattice: Exploration, column: str, level: int) -> Work:
    node = list(chosen_node(work, lattice))
    node[lattice.attributes.index(column)] = level
    return with_node(work, lattice, node)


def taken_in(work: Work, lattice: Exploration) -> Work:
    node = dict(zip(lattice.attributes, chosen_node(work, lattice), strict=True))
    columns = tuple(usable_columns(work))
    levels = {name: node.get(name, 0) for name in columns}
    view = replace(work.view(LatticeView), columns=columns, node=levels, step=None)
    return work.with_parts(view, Message())


def around(subject: Subject, lattice: Exploration, node: Node) -> Assessment:
    near = [neighbourhood(lattice.tops, node, steps) for steps in (2, 1, 0)]
    if lattice.complete:
        return lattice.assessed.only(near[0])
    quick = [nodes for nodes in near if _is_quick(subject, len(nodes))]
    return assessed(subject.task, (quick or near[-1:])[0])


def release_at(subject: Subject, node: Node) -> Run:
    """The release at a node; all records in classes that are too small are suppressed."""
    lattice = Lattice(subject.task, subject.task.suppression or 0, no_progress)
    lattice.evaluate(node)
    return Run(subject.prepared, lattice.release(node, [node]), 0.0)


def use_node(work: Work, lattice: Exploration, node: Node) -> Work:
    levels = dict(zip(lattice.attributes, node, strict=True))
    name = "mingen" if node in lattice.tied else "levels"
    return work.with_parts(replace(work.settings, algorithm=name, node=levels), Message())


def labels_at(subject: Subject, column: int, level: int) -> list[str]:
    classes = subject.task.classes
    tree = classes.hierarchies[column]
    raised_nodes = raised_to(tree)[level]
    return [tree.labels[node] for node in np.unique(raised_nodes[classes.nodes[:, column]])]


def minimal_table(lattice: Exploration) -> pd.DataFrame:
    counts = lattice.assessed.only(lattice.minimal)
    table = pd.DataFrame(counts.nodes, columns=list(lattice.attributes))
    table["Loss, % ↓"] = round_apart(counts.loss, 1)
    table["k reached ↑"] = counts.reached
    table["Classes ↑"] = counts.classes
    if lattice.limit:
        table["Suppressed ↓"] = counts.suppressed
    table["MinGen takes it"] = [
        "yes" if node in lattice.tied else "" for node in map(tuple, counts.nodes.tolist())
    ]
    order = np.lexsort((np.arange(len(table)), counts.cost))
    return table.iloc[order].reset_index(drop=True)
