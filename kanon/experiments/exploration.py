"""The lattice of a task as a whole: what each node amounts to, and how searches walk it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon.algorithms import datafly, improved_greedy, mingen, optimal, samarati
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_size import Node, count_lattice_nodes, count_nodes_per_height
from kanon.algorithms.search import CellLoss, check_models, replace_by_precision
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, ignore_progress, scale_progress
from kanon.errors import PlanError
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.tables import Table

if TYPE_CHECKING:
    import networkx as nx

MOST_COUNTED_NODES = 20_000  # the largest lattice of which every node is counted

_MOST_SEARCHED = 1_000_000  # the largest lattice that is searched for the node of least loss

WALKING_SEARCHES = {module.CARD.name: module for module in (datafly, samarati, improved_greedy)}
"""The searches whose walks are shown, by name."""

_COUNTING_SHARE = 0.8  # the share of the time that passes before the searches walk, about


@dataclass(frozen=True, eq=False)
class Assessment:
    nodes: np.ndarray  # levels per quasi-identifier
    # the records in classes that break k or a model: those that would have to be suppressed
    suppressed: np.ndarray
    classes: np.ndarray  # the classes that meet k and the models
    # the largest k that the node reaches after suppressing at most the allowed records
    reached: np.ndarray
    raised: np.ndarray  # what raising all records to the node costs, in scaled potential: exact
    cost: np.ndarray  # the same, with the suppressed records raised on to the roots
    possible: int  # what raising all records to the roots costs
    limit: int  # the records that may be suppressed

    @property
    def satisfying(self) -> np.ndarray:
        """Which nodes suppress no more than the allowed records. Shape (N,), bool."""
        return self.suppressed <= self.limit

    @property
    def loss(self) -> np.ndarray:
        """What is lost at a node, in percent: 0 at the original values, 100 where everything is."""
        return self._convert_to_percent(np.where(self.satisfying, self.cost, self.raised))

    @property
    def loss_suppressed(self) -> np.ndarray:
        return self._convert_to_percent(self.cost)

    def _convert_to_percent(self, cost: np.ndarray) -> np.ndarray:
        """100 * cost / possible, as :func:`kanon.measures.alteration.value` counts."""
        # In the order of alteration, so that equal costs are equal to the last digit.
        return 100.0 * (cost / (self.possible or 1))

    @property
    def heights(self) -> np.ndarray:
        return np.asarray(self.nodes.sum(axis=1))

    @cached_property
    def places(self) -> dict[Node, int]:
        return {tuple(node): place for place, node in enumerate(self.nodes.tolist())}

    def only(self, nodes: Iterable[Node]) -> Assessment:
        places = np.array(sorted(self.places[node] for node in set(nodes)), dtype=np.int64)
        arrays = ("nodes", "suppressed", "classes", "reached", "raised", "cost")
        return replace(self, **{name: getattr(self, name)[places] for name in arrays})


@dataclass(frozen=True)
class VisitedNode:
    node: Node
    # which quasi-identifier was raised to come here, and how many distinct values it had before
    raised: int | None
    distinct: int
    # as in :class:`Assessment`, with the records that this search may suppress
    suppressed: int
    reached: int


@dataclass(frozen=True)
class Walk:
    algorithm: str  # its name
    climbs: bool  # whether it starts from the bottom and goes up, one level at a time
    steps: tuple[VisitedNode, ...]  # the nodes that it moved through
    limit: int  # the records that it may suppress
    evaluated: int  # the nodes that it counted
    problem: str = ""  # why it could not be run, in a sentence

    @property
    def first(self) -> int:
        """The number of the first step: 0 where it is the bottom, 1 where it is a jump."""
        return 0 if self.climbs else 1

    @property
    def last(self) -> int:
        return self.first + len(self.steps) - 1

    def get_steps_until(self, step: int | None) -> tuple[VisitedNode, ...]:
        return self.steps if step is None else self.steps[: max(0, step + 1 - self.first)]


@dataclass(frozen=True, eq=False)
class Exploration:
    attributes: tuple[str, ...]  # the quasi-identifiers
    tops: Node  # the level of each root: the node that loses everything
    # the k asked for, how many models have to hold beside it, the records that may be suppressed,
    # and n
    k: int
    others: int
    limit: int
    n_records: int
    per_height: tuple[int, ...]  # the number of nodes at each sum of levels
    assessment: Assessment  # every node
    complete: bool  # whether it is every node
    # the nodes that meet the requirements with none below that does, in canonical order
    minimal: tuple[Node, ...]
    least: Node | None  # the good node with the least loss, the first of several
    # the minimal nodes with the highest precision, from which MinGen takes one
    mingen_nodes: tuple[Node, ...]
    walks: tuple[Walk, ...]  # the walks of :data:`WALKING_SEARCHES`

    @property
    def size(self) -> int:
        return sum(self.per_height)

    @cached_property
    def satisfying_per_height(self) -> tuple[int, ...] | None:
        """How many nodes of each height meet the requirements; None if not all were counted."""
        if not self.complete:
            return None
        assessment = self.assessment
        counts = np.bincount(
            assessment.heights[assessment.satisfying], minlength=len(self.per_height)
        )
        return tuple(counts.tolist())

    def walk(self, algorithm: str) -> Walk:
        return next(walk for walk in self.walks if walk.algorithm == algorithm)


def measure_lattice(progress: Progress, task: Task) -> Exploration:
    task = replace(task, options={}, node=None, level_bounds=())  # the whole lattice
    task.check()
    limit = task.suppression or 0
    check_models(task, "The lattice", limit)
    trees = task.classes.hierarchies
    size = count_lattice_nodes(trees)
    complete = size <= MOST_COUNTED_NODES
    counting_share = _COUNTING_SHARE if complete else 0.0
    parts = len(WALKING_SEARCHES) + (not complete)

    rest = scale_progress(progress, counting_share, 1.0)

    def stretch_walk(place: int) -> Progress:
        return scale_progress(rest, place / parts, (place + 1) / parts)

    lattice = Lattice(task, limit, scale_progress(progress, 0.0, counting_share), thorough=True)
    assessment = _measure_nodes(lattice, list(lattice.nodes()) if complete else [])
    walks = tuple(
        _run_walk(module, task, size, stretch_walk(place))
        for place, module in enumerate(WALKING_SEARCHES.values())
    )
    if complete:
        least, minimal = (
            _find_least_node(assessment),
            _find_minimal_nodes(assessment, lattice.shape),
        )
    else:
        quiet = Lattice(task, limit, ignore_progress, thorough=True)
        assessment = _measure_nodes(
            quiet, sorted({step.node for walk in walks for step in walk.steps})
        )
        search = stretch_walk(parts - 1)
        least = optimal.anonymise(task, search).trace.node if size <= _MOST_SEARCHED else None
        minimal = ()
    mingen_nodes: list[Node] = []
    if minimal and not limit:
        precise = Lattice(replace_by_precision(task), 0, ignore_progress)
        mingen_nodes = mingen.least_distorted(precise, list(minimal))
    progress(1.0, "done")
    return replace(
        create_outline(task),
        assessment=assessment,
        complete=complete,
        minimal=minimal,
        least=least,
        mingen_nodes=tuple(mingen_nodes),
        walks=walks,
    )


def build_lattice_graph(
    plan: Plan, table: Table | pd.DataFrame, folder: Path = Path()
) -> nx.DiGraph:
    """The lattice of a plan: what every node loses, and which nodes meet the requirements.

    >>> plan = Plan.from_content({"version": 2, "algorithm": {"name": "ola"}, "columns":
    ...     {"sex": {"role": "quasi-identifier", "hierarchy": {"build": "suppression"}}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> graph = build_lattice_graph(plan, pd.DataFrame({"sex": ["F", "F", "M"]}))
    >>> graph.nodes[0,]["satisfying"], graph.nodes[1,]["loss"], graph.edges[(0,), (1,)]["raised"]
    (False, 100.0, 'sex')
    """
    import networkx as nx  # for graphs alone: it takes long to load

    task = prepare(plan, table, folder).task()
    size = count_lattice_nodes(task.classes.hierarchies)
    if size > MOST_COUNTED_NODES:
        raise PlanError(
            f"The lattice has {write_count(size)} nodes; up to {write_count(MOST_COUNTED_NODES)} "
            "are counted one by one."
        )
    exploration = measure_lattice(ignore_progress, task)
    assessment = exploration.assessment
    names = ("loss", "satisfying", "suppressed", "classes", "reached")
    numbers = pd.DataFrame({name: getattr(assessment, name) for name in names}).to_dict("records")
    graph = nx.DiGraph(attributes=exploration.attributes)
    graph.add_nodes_from(zip(assessment.places, numbers, strict=True))
    for node in assessment.places:
        for place, name in enumerate(exploration.attributes):
            above = (*node[:place], node[place] + 1, *node[place + 1 :])
            if above in assessment.places:
                graph.add_edge(node, above, raised=name)
    return graph


def create_outline(task: Task) -> Exploration:
    trees = task.classes.hierarchies
    tops = tuple(int(tree.level[tree.root]) for tree in trees)
    no_numbers = np.zeros(0, dtype=np.int64)
    limit = task.suppression or 0
    no_nodes = np.zeros((0, len(tops)), dtype=np.int32)
    return Exploration(
        attributes=task.classes.attributes,
        tops=tops,
        k=task.k,
        others=len(task.others),
        limit=limit,
        n_records=task.classes.n_records,
        per_height=tuple(count_nodes_per_height(trees)),
        assessment=Assessment(
            no_nodes, no_numbers, no_numbers, no_numbers, no_numbers, no_numbers, 0, limit
        ),
        complete=False,
        minimal=(),
        least=None,
        mingen_nodes=(),
        walks=tuple(
            Walk(name, module is not samarati, (), 0, 0)
            for name, module in WALKING_SEARCHES.items()
        ),
    )


def measure_nodes(task: Task, nodes: Iterable[Node]) -> Assessment:
    lattice = Lattice(task, task.suppression or 0, ignore_progress, thorough=True)
    return _measure_nodes(lattice, sorted(set(nodes)))


def list_neighbours(tops: Node, node: Node, steps: int = 2) -> list[Node]:
    """The nodes at most so many steps straight above or below a node, and itself.

    >>> list_neighbours((2, 1), (1, 0), steps=1)
    [(0, 0), (1, 0), (1, 1), (2, 0)]
    """
    neighbours = {node}
    for sign in (1, -1):
        last = {node}
        for _ in range(steps):
            candidates = (
                (*other[:j], other[j] + sign, *other[j + 1 :])
                for other in last
                for j in range(len(other))
            )
            last = {
                other
                for other in candidates
                if all(0 <= level <= top for level, top in zip(other, tops, strict=True))
            }
            neighbours |= last
    return sorted(neighbours)


def rank_nodes(tops: Node, nodes: Sequence[Node]) -> list[int]:
    """The position of each node among those of its height, in canonical order.

    >>> rank_nodes((1, 2), [(0, 1), (1, 0), (1, 1)])
    [0, 1, 1]
    """
    # per quasi-identifier, the combinations of those after it, by sum; exact whole numbers
    counts_after = [np.ones(1, dtype=object)]
    for top in reversed(tops[1:]):
        counts_after.insert(0, np.convolve(counts_after[0], np.ones(top + 1, dtype=object)))

    def compute_rank(node: Node) -> int:
        height_left, position = sum(node), 0
        for level, counts in zip(node, counts_after, strict=True):
            position += sum(counts[height_left - level + 1 : height_left + 1])
            height_left -= level
        return position

    return [compute_rank(node) for node in nodes]


def _measure_nodes(lattice: Lattice, nodes: Sequence[Node]) -> Assessment:
    loss = CellLoss(lattice)
    numbers = np.zeros((len(nodes), 5), dtype=np.int64)
    for place, node in enumerate(nodes):
        k = lattice.anonymity(node)
        evaluation = lattice.evaluate(node)
        cost = loss.of(node, evaluation)
        numbers[place] = evaluation.suppressed, evaluation.classes, k, cost - evaluation.left, cost
    return Assessment(
        nodes=np.array(nodes, dtype=np.int32).reshape(-1, len(lattice.tops)),
        suppressed=numbers[:, 0],
        classes=numbers[:, 1],
        reached=numbers[:, 2],
        raised=numbers[:, 3],
        cost=numbers[:, 4],
        possible=sum(int(column_losses[-1]) for column_losses in lattice.lost),
        limit=lattice.limit,
    )


def _find_minimal_nodes(assessment: Assessment, shape: tuple[int, ...]) -> tuple[Node, ...]:
    satisfying = assessment.satisfying.reshape(shape)
    minimal = satisfying.copy()
    for axis in range(len(shape)):
        lower, upper = [slice(None)] * len(shape), [slice(None)] * len(shape)
        lower[axis], upper[axis] = slice(None, -1), slice(1, None)
        minimal[tuple(upper)] &= ~satisfying[tuple(lower)]
    return tuple(tuple(node) for node in assessment.nodes[minimal.ravel()].tolist())


def _find_least_node(assessment: Assessment) -> Node | None:
    places = np.flatnonzero(assessment.satisfying)
    if not len(places):
        return None
    best = places[int(assessment.cost[places].argmin())]
    return tuple(assessment.nodes[best].tolist())


def _run_walk(module: ModuleType, task: Task, size: int, progress: Progress) -> Walk:
    # Datafly suppresses up to k records, as published, unless the plan sets a limit.
    default = task.k if module is datafly else 0
    limit = default if task.suppression is None else task.suppression
    walk = Walk(module.CARD.name, module is not samarati, (), limit, 0)
    if module is samarati and size > MOST_COUNTED_NODES:
        most = write_count(max(count_nodes_per_height(task.classes.hierarchies)))
        problem = f"It would have to count all nodes at a height: up to {most} in this lattice."
        return replace(walk, problem=problem)
    try:
        module.check(task)
    except PlanError as error:
        return replace(walk, problem=error.sentence)
    trace = module.anonymise(task, progress).trace
    lattice = Lattice(task, limit, ignore_progress, thorough=True)
    steps = []
    for before, node in zip([None, *trace.walk], trace.walk, strict=False):
        column, distinct = _find_raised_column(lattice, before, node)
        suppressed = lattice.evaluate(node).suppressed
        steps.append(VisitedNode(node, column, distinct, suppressed, lattice.anonymity(node)))
    return replace(walk, steps=tuple(steps), evaluated=trace.evaluated)


def _find_raised_column(
    lattice: Lattice, before: Node | None, node: Node
) -> tuple[int | None, int]:
    if before is None or node not in lattice.above(before):
        return None, 0
    column = next(j for j, level in enumerate(node) if level > before[j])
    return column, lattice.distinct(before)[column]
