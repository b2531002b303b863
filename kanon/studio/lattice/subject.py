"""The lattice of the session's settings, and its chosen node."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, compute_nodes_by_level, count_lattice_nodes
from kanon.algorithms.task import Task
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.progress import ignore_progress
from kanon.charts.lattice import MOST_DRAWN_NODES, Colouring
from kanon.charts.walks import WALK_LOOKS
from kanon.errors import PlanError
from kanon.experiments.exploration import (
    MOST_COUNTED_NODES,
    Assessment,
    Exploration,
    create_outline,
    list_neighbours,
    measure_lattice,
    measure_nodes,
)
from kanon.run import PreparedRun, Run, prepare
from kanon.schema import Role
from kanon.studio.jobs.durations import Effort
from kanon.studio.session.findings import LatticeResult
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.work import JobRequest, SessionState

_AT_ONCE = 30_000_000
"""About so many classes are counted at nodes in a quarter of a second."""

_SLOWER = 50  # about how much longer that takes with models beside k

ROWS = 40  # the rows of a preview


@dataclass(frozen=True)
class LatticeView(StateSection):
    columns: tuple[str, ...] | None = None  # None for the first quasi-identifiers that can be drawn
    colouring: Colouring = "loss"  # what nodes are coloured by
    walks: tuple[str, ...] = tuple(WALK_LOOKS)  # the searches whose walks are drawn
    step: int | None = None  # the last step drawn; None for all
    node: Mapping[str, int] | None = None  # the chosen node's levels; None for the least loss


@dataclass(frozen=True, eq=False)
class LatticeInputs:
    prepared: PreparedRun  # quasi-identifiers outside the lattice count as insensitive
    task: Task  # its classes, potentials, k, models and suppression limit
    settings: str  # a fingerprint of all that the lattice depends on
    outline: Exploration  # the lattice with nothing counted


def list_usable_columns(work: SessionState) -> list[str]:
    return [
        name for name in work.table.quasi_identifiers if work.table.choices[name].plan is not None
    ]


def get_default_columns(work: SessionState) -> tuple[str, ...]:
    """The first quasi-identifiers, as many as give a lattice that can be drawn."""
    columns = list_usable_columns(work)
    trees = [work.table.trees[name] for name in columns]
    most = [
        i for i in range(1, len(columns) + 1) if count_lattice_nodes(trees[:i]) <= MOST_DRAWN_NODES
    ]
    return tuple(columns[: max(most, default=1)])


def get_lattice_columns(work: SessionState) -> tuple[str, ...]:
    usable, wanted = list_usable_columns(work), work.view(LatticeView).columns
    columns = () if wanted is None else tuple(name for name in usable if name in wanted)
    return columns or get_default_columns(work)


def can_draw_whole(work: SessionState) -> bool:
    return (
        count_lattice_nodes([work.table.trees[name] for name in get_lattice_columns(work)])
        <= MOST_DRAWN_NODES
    )


def narrow_to(work: SessionState, columns: tuple[str, ...]) -> SessionState:
    roles = {
        name: Role.INSENSITIVE if role is Role.QUASI_IDENTIFIER and name not in columns else role
        for name, role in work.table.roles.items()
    }
    full_domain = replace(work.settings, algorithm="optimal", options={}, node=None)
    return work.replace_sections(full_domain, replace(work.table, roles=roles))


def build_lattice_inputs(
    work: SessionState, remember: Callable[[str, str, Callable[[], LatticeInputs]], LatticeInputs]
) -> LatticeInputs:
    """The lattice of the session's settings; KanonError says why there is none."""
    columns = get_lattice_columns(work)
    if not columns:
        raise PlanError("No quasi-identifier has a usable hierarchy yet.")
    inside = narrow_to(work, columns)
    plan = build_plan(inside)
    # Only records with all quasi-identifiers, whether in the lattice or not.
    records = work.table.complete_records.n_records
    settings = compute_fingerprint(hash_run_inputs(inside, plan), plan.k, records)

    def build_subject() -> LatticeInputs:
        prepared = prepare(plan, work.table.complete_records)
        task = replace(prepared.task(), level_bounds=())
        task.check()
        return LatticeInputs(prepared, task, settings, create_outline(task))

    return remember("lattice-ready", settings, build_subject)


def is_quick(subject: LatticeInputs, nodes: int) -> bool:
    """Whether a page waits while so many nodes are counted."""
    return _count_classes_at(subject, nodes) <= _AT_ONCE


def _count_classes_at(subject: LatticeInputs, nodes: int) -> int:
    return nodes * subject.task.classes.n_classes * (_SLOWER if subject.task.others else 1)


def measure_exploration(subject: LatticeInputs) -> Effort:
    """The effort of counting all nodes; of a large lattice only some are counted."""
    if not is_small(subject):
        return {}
    return {"lattice": _count_classes_at(subject, subject.outline.size) / 1e6}


def is_small(subject: LatticeInputs) -> bool:
    return subject.outline.size <= MOST_COUNTED_NODES


def build_lattice_request(work: SessionState, ready: LatticeInputs) -> JobRequest:
    def store_lattice(work: SessionState, lattice: Exploration) -> SessionState:
        result = LatticeResult(lattice, ready.settings)
        return work.replace_sections(replace(work.findings, lattice=result))

    return JobRequest("lattice", measure_lattice, (ready.task,), store_lattice)


def get_node(work: SessionState, lattice: Exploration) -> Node:
    """The node that the user chose; else the one of least loss, or the end of a walk."""
    wanted, names = work.view(LatticeView).node, lattice.attributes
    if wanted is not None and set(wanted) == set(names):
        return tuple(min(wanted[name], top) for name, top in zip(names, lattice.tops, strict=True))
    if lattice.least is not None:
        return lattice.least
    ends = [walk.steps[-1].node for walk in lattice.walks if walk.steps]
    return ends[-1] if ends else lattice.tops


def parse_levels(sent: object) -> tuple[int, ...]:
    """The levels of a clicked node as the browser sends them; empty for anything else.

    >>> parse_levels("4 0 2"), parse_levels({"0": 4}), parse_levels("4 -1"), parse_levels("²")
    ((4, 0, 2), (), (), ())
    """
    parts = sent.split() if isinstance(sent, str) else []
    whole = all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts)
    return tuple(int(part) for part in parts) if whole else ()


def set_node(work: SessionState, lattice: Exploration, node: Sequence[int] | None) -> SessionState:
    """Choose a node; anything that is no node of the lattice changes nothing."""
    tops = lattice.tops
    if node is None or len(node) != len(tops) or lattice.attributes != get_lattice_columns(work):
        return work
    if not all(0 <= level <= top for level, top in zip(node, tops, strict=True)):
        return work
    levels = dict(zip(lattice.attributes, node, strict=True))
    return work.replace_sections(replace(work.view(LatticeView), node=levels), Message())


def set_node_level(
    work: SessionState, lattice: Exploration, column: str, level: int
) -> SessionState:
    node = list(get_node(work, lattice))
    node[lattice.attributes.index(column)] = level
    return set_node(work, lattice, node)


def assess_neighbourhood(subject: LatticeInputs, lattice: Exploration, node: Node) -> Assessment:
    near = [list_neighbours(lattice.tops, node, steps) for steps in (2, 1, 0)]
    if lattice.complete:
        return lattice.assessment.only(near[0])
    quick = [nodes for nodes in near if is_quick(subject, len(nodes))]
    return measure_nodes(subject.task, (quick or near[-1:])[0])


def build_node_release(subject: LatticeInputs, node: Node) -> Run:
    """The release at a node; all records in classes that are too small are suppressed."""
    lattice = Lattice(subject.task, subject.task.suppression or 0, ignore_progress)
    lattice.evaluate(node)
    return Run(subject.prepared, lattice.release(node, [node]), 0.0)


def take_node(work: SessionState, lattice: Exploration, node: Node) -> SessionState:
    levels = dict(zip(lattice.attributes, node, strict=True))
    name = "mingen" if node in lattice.mingen_nodes else "levels"
    return work.replace_sections(replace(work.settings, algorithm=name, node=levels), Message())


def list_labels_at(subject: LatticeInputs, column: int, level: int) -> list[str]:
    classes = subject.task.classes
    tree = classes.hierarchies[column]
    raised_nodes = compute_nodes_by_level(tree)[level]
    return [tree.labels[node] for node in np.unique(raised_nodes[classes.nodes[:, column]])]
