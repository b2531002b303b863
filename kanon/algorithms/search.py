"""What searches of the lattice share: what they minimise, what is known to satisfy, the best node.

An exhaustive search classifies every node, each algorithm in its own order; then the least loss is
found here, the same way for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np

from kanon.algorithms.lattice import Lattice
from kanon.algorithms.lattice_counts import Evaluation
from kanon.algorithms.lattice_size import Node, check_size
from kanon.algorithms.task import Task
from kanon.base.progress import Progress
from kanon.cards import Parameter
from kanon.errors import PlanError, Unsatisfiable, quote
from kanon.hierarchy.scaled_potentials import Potentials
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.privacy.model import SensitiveModel
from kanon.privacy.persons import KInPersons
from kanon.privacy.release_model import ReleaseModel
from kanon.recoding import Recoding

LOSS = Parameter(
    name="loss",
    title="Least",
    choices={
        "metric": "loss by the metric",
        "precision": "loss of precision (Prec)",
        "discernibility": "discernibility (DM)",
        "class-size": "mean class size (AECS)",
    },
    default="metric",
    help="The released node has the least of this among all nodes that meet the requirements.",
)
"""What a full-domain search minimises."""

FULL_DOMAIN = (
    "All values of a quasi-identifier are raised to one level of its hierarchy, the same for all "
    "records. A combination of levels, one per quasi-identifier, is a node of the lattice."
)
"""What all full-domain algorithms have in common, for readers of a release."""


def get_own_steps(how: str) -> str:
    """How an algorithm works, without what all full-domain algorithms have in common."""
    return how.removeprefix(FULL_DOMAIN).strip()


class Loss(ABC):
    """What a search minimises: exact numbers, so that ties are ties."""

    exact: bool = False
    """Whether the bounds are known before any node is evaluated, and rise with the losses."""

    slack: int = 0  # losses that differ by more are in their exact order; 0 where they are exact

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice

    @abstractmethod
    def of(self, node: Node, evaluation: Evaluation) -> int | Fraction:
        pass

    def compute_exact_loss(self, node: Node) -> int | Fraction:
        """The exact loss of a node's release, where losses had to be rounded."""
        return 0

    @abstractmethod
    def bounds(self) -> np.ndarray:
        """Per node, in an array of the lattice's shape, no more than its loss."""

    def raise_loss_bounds(self, node: Node, evaluation: Evaluation, bounds: np.ndarray) -> None:
        """Raise, in place, the bounds of an evaluated node and of all above it."""
        return


class CellLoss(Loss):
    """The loss of cells: a sum over quasi-identifiers as long as nothing is suppressed."""

    exact = True

    def __init__(self, lattice: Lattice, potentials: Potentials | None = None) -> None:
        super().__init__(lattice)
        self._level_losses = (
            lattice.lost if potentials is None else lattice.compute_level_losses(potentials)
        )
        self._potentials = lattice.task.potentials if potentials is None else potentials
        self.slack = self._potentials.slack

    def of(self, node: Node, evaluation: Evaluation) -> int:
        """What raising all records to the node costs, and those suppressed on to the roots."""
        lost = sum(int(row[level]) for row, level in zip(self._level_losses, node, strict=True))
        return lost + evaluation.left

    def compute_exact_loss(self, node: Node) -> int:
        """Exact up to a constant and a factor that all nodes share."""
        return -self._potentials.sum_exactly(self._lattice.release(node).cells)

    def bounds(self) -> np.ndarray:
        return self._lattice.losses


class Discernibility(Loss):
    """DM: the squared sizes of the classes; a suppressed record costs n."""

    def of(self, node: Node, evaluation: Evaluation) -> int:
        return evaluation.squares + evaluation.suppressed * self._lattice.task.classes.n_records

    def bounds(self) -> np.ndarray:
        return np.zeros(self._lattice.shape, dtype=np.int64)

    def raise_loss_bounds(self, node: Node, evaluation: Evaluation, bounds: np.ndarray) -> None:
        above = bounds[self._lattice.up_set(node)]
        np.maximum(above, evaluation.all_squares, out=above)


class ClassSize(Loss):
    """AECS: all records per class, where the suppressed records are one class more."""

    def of(self, node: Node, evaluation: Evaluation) -> Fraction:
        return compute_class_size(
            self._lattice.task.classes.n_records, evaluation.classes, evaluation.suppressed
        )

    def bounds(self) -> np.ndarray:
        return np.zeros(self._lattice.shape)

    def raise_loss_bounds(self, node: Node, evaluation: Evaluation, bounds: np.ndarray) -> None:
        # No node above has more classes; those that it suppresses count as one.
        # Lowered, so that no rounding lifts it above the bound.
        least = self._lattice.task.classes.n_records / evaluation.all_classes * (1 - 1e-12)
        above = bounds[self._lattice.up_set(node)]
        np.maximum(above, least, out=above)


def compute_class_size(n_records: int, n_classes: int, suppressed: int) -> Fraction:
    """n / (classes + 1 if records are suppressed): otherwise suppressing all but one class is best.

    Source: LeFevre, DeWitt, Ramakrishnan 2006 (ICDE), without the division by k; suppressed records
    as one class: the data quality model "average equivalence class size" of ARX.

    >>> compute_class_size(12, 3, 0), compute_class_size(12, 3, 2), compute_class_size(12, 0, 12)
    (Fraction(4, 1), Fraction(3, 1), Fraction(12, 1))
    """
    return Fraction(n_records, n_classes + (suppressed > 0))


def choose_loss(lattice: Lattice, task: Task, parameter: Parameter = LOSS) -> Loss:
    choice = task.option(parameter)
    if choice == "discernibility":
        return Discernibility(lattice)
    return ClassSize(lattice) if choice == "class-size" else CellLoss(lattice)


def begin_search(
    task: Task,
    progress: Progress,
    check: Callable[[Task], None] | None = None,
    default_limit: int = 0,
) -> Lattice:
    """The lattice of a task, after what every task and the algorithm's own check require."""
    if check is not None:
        task.check()
        check(task)
    if task.options.get(LOSS.name) == "precision":
        task = replace_by_precision(task)
    limit = default_limit if task.suppression is None else task.suppression
    return Lattice(task, limit, progress)


def replace_by_precision(task: Task) -> Task:
    """The task with the loss of precision instead of its metric: levels as shares of the height."""
    return replace(task, potentials=scale_metric_potentials(task.classes, metric_named("total")))


def check_full_domain(task: Task, title: str) -> None:
    check_models(task, title, task.suppression or 0)
    check_size(task.classes.hierarchies, title)


def check_models(task: Task, title: str, limit: int, tags: bool = True) -> None:
    """Check that the models beside k go together with suppression.

    Two things would be wrong. A node above one that satisfies may need more records suppressed,
    as a class that breaks a model can spoil others that it is joined with: then what a search
    concludes from one node about others does not hold. And models that compare a class with the
    whole table change as records leave the table.
    """
    unsound = [
        model
        for model in (*task.others, *task.of_release)
        if (tags and not isinstance(model, KInPersons))
        or isinstance(model, ReleaseModel)
        or (isinstance(model, SensitiveModel) and model.of_table)
    ]
    if unsound and limit > 0:
        why = (
            "raising values further can break what held before"
            if tags
            else "what the classes are compared with changes"
        )
        raise PlanError(
            f"{title} meets {quote(unsound[0].title)} only if nothing is suppressed: where records "
            f"are suppressed, {why}. Set the suppression limit to 0, or require only k-anonymity."
        )
    for model in task.of_release:
        if tags and not model.is_monotone(task.classes):
            raise PlanError(
                f"{title} concludes from one choice of levels about others, but raising values "
                f"further can break {model.title} where the table has groups beside single "
                "values; use 'gaa', 'lattice-sweep' or 'datafly'."
            )


class NodeTags:
    """Which nodes of a lattice are known to meet the requirements or to fail."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self.satisfying = np.zeros(lattice.shape, dtype=bool)
        self.failing = np.zeros(lattice.shape, dtype=bool)

    def get_tag(self, node: Node) -> bool | None:
        """Whether a node meets the requirements; None while undecided."""
        if self.satisfying[node]:
            return True
        return False if self.failing[node] else None

    def check(self, node: Node) -> bool:
        satisfies = self._lattice.satisfies(node)
        self.set_tag(node, satisfies)
        return satisfies

    def set_tag(self, node: Node, satisfies: bool) -> None:
        """Mark a node and all above it as good, or it and all below it as failing."""
        if satisfies:
            self.satisfying[self._lattice.up_set(node)] = True
        else:
            self.failing[self._lattice.down_set(node)] = True


NodeLog = Callable[[Node, Sequence[Node]], None]
"""Called with a node before it is counted, and with the nodes that the search looks between."""


def log_nothing(node: Node, between: Sequence[Node]) -> None:
    """The log of a search that nobody follows."""


def build_unsatisfiable(task: Task) -> Unsatisfiable:
    """The error that not even the top is good enough: only where the highest levels are bounded."""
    between = " between the levels that the plan allows" if task.level_bounds else ""
    return Unsatisfiable(
        f"Even with the suppression that is allowed, no node of the lattice{between} reaches "
        f"k = {task.k}{' and meets the models' if task.others else ''}."
    )


def find_minimal_nodes(lattice: Lattice, tags: NodeTags) -> list[Node]:
    """The minimal nodes, bottom-up: they meet the requirements, and no node below them does."""
    minimal = []
    satisfying = tags.satisfying.reshape(-1)
    for place in lattice.walk_places(lattice.sort_places_by_height()):
        if not satisfying[place] and tags.check(node := lattice.decode_node(place)):
            minimal.append(node)
    return minimal


def is_better(
    loss: Loss, mine: tuple[int | Fraction, Node], other: tuple[int | Fraction, Node]
) -> bool:
    """Whether a node loses less than another, or as much, and comes first in canonical order."""
    lost, other_lost = mine[0], other[0]
    if loss.slack > 0 and -loss.slack <= lost - other_lost <= loss.slack:
        lost, other_lost = loss.compute_exact_loss(mine[1]), loss.compute_exact_loss(other[1])
    return lost < other_lost or (lost == other_lost and mine[1] < other[1])


def choose_best_node(lattice: Lattice, loss: Loss, nodes: Sequence[Node]) -> Node:
    """The node of least loss among some; of several the first in canonical order."""
    losses = [(loss.of(node, lattice.evaluate(node)), node) for node in nodes]
    return reduce(lambda best, new: new if is_better(loss, new, best) else best, losses)[1]


def find_least_loss_node(
    lattice: Lattice, loss: Loss, satisfying: np.ndarray, first: Sequence[Node] = ()
) -> Node:
    """The node with the least loss of all good ones; of several the first in canonical order."""
    if not satisfying.any():
        raise build_unsatisfiable(lattice.task)
    bounds = loss.bounds()
    flat = bounds.reshape(-1)
    best: tuple[int | Fraction, Node] | None = None

    def try_node(node: Node) -> None:
        nonlocal best
        evaluation = lattice.evaluate(node)
        loss.raise_loss_bounds(node, evaluation, bounds)
        candidate = loss.of(node, evaluation), node
        best = candidate if best is None or is_better(loss, candidate, best) else best

    for node in first:
        try_node(node)
    tried_nodes = set(first)
    places = np.flatnonzero(satisfying.ravel())
    # What loses least without suppression is likely to be good by any measure.
    order = places[np.argsort(lattice.losses.reshape(-1)[places], kind="stable")]
    for place in lattice.walk_places(order):
        if best is not None and flat[place] > best[0] + loss.slack:
            if loss.exact:
                break
            continue
        node = lattice.decode_node(place)
        if node not in tried_nodes:
            try_node(node)
    assert best is not None
    return best[1]


def finish_search(lattice: Lattice, node: Node, walk: Sequence[Node] = ()) -> Recoding:
    lattice.progress(1.0, "done")
    return lattice.release(node, walk)


def walk_upwards(lattice: Lattice, step: Callable[[Lattice, Node], Node]) -> Recoding:
    """The release at the first good node on the way from the bottom, a step at a time."""
    walk = [lattice.bottom]
    while not lattice.satisfies(walk[-1]) and walk[-1] != lattice.tops:
        walk.append(step(lattice, walk[-1]))
    if not lattice.satisfies(walk[-1]):
        raise build_unsatisfiable(lattice.task)
    return finish_search(lattice, walk[-1], walk)


def run_search(search: Callable[[Lattice, NodeTags], None], lattice: Lattice) -> Recoding:
    task, tags = lattice.task, NodeTags(lattice)
    if task.level_bounds and not tags.check(lattice.tops):  # else it was checked with the task
        raise build_unsatisfiable(task)
    search(lattice, tags)
    good = [node for node in lattice.visited if tags.satisfying[node]]
    best = find_least_loss_node(lattice, choose_loss(lattice, task), tags.satisfying, good)
    return finish_search(lattice, best, [best])
