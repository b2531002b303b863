"""The input of an algorithm, which knows neither tables nor plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kanon.cards import Parameter
from kanon.classes import EquivalenceClasses
from kanon.errors import Unsatisfiable
from kanon.hierarchy.scaled_potentials import Potentials, convert_to_potentials
from kanon.kernels.digits import Digits
from kanon.privacy.conjunction import check_reachable
from kanon.privacy.k_anonymity import KAnonymity, too_few_records
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.model import Model
from kanon.privacy.release_model import ReleaseModel
from kanon.strategies import Scope


@dataclass(frozen=True, eq=False)
class Task:
    """The classes to recode, what raising a value costs, and what has to hold."""

    classes: EquivalenceClasses  #: of the original table
    #: per quasi-identifier the scaled potential of every node (see
    #: :mod:`kanon.hierarchy.scaled_potentials`), attribute weights included; others count as exact
    potentials: Potentials
    k: int  #: the records that every released class has to hold
    weighted: bool = True  #: whether a merge counts every record, or one representative per class
    tie_seed: int | None = None  #: of the order of ties; None for the canonical one
    #: which partner a class is merged with (see :mod:`kanon.strategies`), and whose l and t count
    strategy: str = "s1"
    scope: Scope = "table"
    sensitive: str | None = None  #: the sensitive column that the strategy looks at, if any
    models: tuple[Model, ...] = ()  #: what has to hold beside k, and what ``k`` comes from
    suppression: int | None = None  #: the most suppressed records; None if the plan sets no limit
    outliers: int | None = None  #: those that greedy merging may suppress, so that others lose less
    seed: int = 0  #: of algorithms that draw at random
    options: Mapping[str, str] = field(default_factory=dict)  #: the algorithm's own parameters
    node: tuple[int, ...] | None = None  #: the node of the lattice that the user picked
    #: what the release shows for a class in some columns (see :mod:`kanon.algorithms.written`)
    written: Mapping[str, str] = field(default_factory=dict)
    #: per quasi-identifier the lowest and the highest released level; empty without any bound
    level_bounds: tuple[tuple[int, int], ...] = ()
    attribute_weights: tuple[float, ...] = ()  #: in the potentials already; empty if all are 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", convert_to_potentials(self.potentials))

    @property
    def others(self) -> tuple[Model, ...]:
        """What every class has to meet beside k-anonymity."""
        return tuple(
            model for model in self.models if not isinstance(model, KAnonymity | ReleaseModel)
        )

    @property
    def of_release(self) -> tuple[ReleaseModel, ...]:
        """What the release has to meet as a whole."""
        return tuple(model for model in self.models if isinstance(model, ReleaseModel))

    @property
    def of_classes(self) -> tuple[Model, ...]:
        """What every class has to meet, k-anonymity too."""
        return tuple(model for model in self.models if not isinstance(model, ReleaseModel))

    def option(self, parameter: Parameter) -> str:
        """The value of one of the algorithm's own parameters."""
        return self.options.get(parameter.name, parameter.default)

    def for_k(self, k: int) -> Task:
        """The same task with another k, in persons too if k is counted so.

        All other models stay, with the k that they ask for.
        """
        models = [model.replace_k(k) for model in self.others]
        of_release: Sequence[Model] = self.of_release
        if self.k == 1 and any(isinstance(model, KAmongKnown) for model in of_release):
            # It is the k of some known columns, and classes may be smaller.
            of_release, k = [model.replace_k(k) for model in of_release], 1
        least = max([k, *(getattr(model, "k", 1) for model in models)])
        models = [model.replace_k(least) for model in models]
        return replace(self, k=least, models=(*models, *of_release))

    def check(self) -> None:
        """Check that some release can meet k and the models.

        Raises
        ------
        Unsatisfiable
            The table has fewer than k records, or a model asks for more than the table as one
            class has; the message says the best value possible.
        """
        if self.k > self.classes.n_records:
            raise Unsatisfiable(too_few_records(self.k, self.classes.n_records))
        check_reachable(self.models, self.classes)


def in_one_width(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """The parents (-1 for roots) and potentials of all hierarchies, as wide as the largest."""
    trees = task.classes.hierarchies
    parents = np.full((len(trees), max(tree.n_nodes for tree in trees)), -1, dtype=np.int32)
    for row, tree in zip(parents, trees, strict=True):
        row[: tree.n_nodes] = tree.parent
    return parents, as_wide(task.potentials)


def as_wide(potentials: Sequence[np.ndarray]) -> np.ndarray:
    """The potentials of all hierarchies, or a digit of each, as wide as the largest. (m, N)."""
    depths = np.zeros((len(potentials), max(map(len, potentials))), dtype=np.int64)
    for row, depth in zip(depths, potentials, strict=True):
        row[: len(depth)] = depth
    return depths


def digits_of(task: Task) -> Digits:
    """What tells rounded costs apart, the digits of all potentials side by side for each node."""
    potentials = task.potentials
    trees = task.classes.hierarchies
    length = len(potentials.digits[0]) if potentials.digits else 0
    shape = len(trees), max(tree.n_nodes for tree in trees), length
    digits = np.zeros(shape, dtype=np.int64)
    for j, tree_digits in enumerate(potentials.digits):
        digits[j, : tree_digits.shape[1]] = tree_digits.T
    room = np.zeros((2, length), dtype=np.int64)
    return Digits(potentials.slack, digits, potentials.bits, room)


def sum_potentials(potentials: Sequence[np.ndarray], tuples: np.ndarray) -> np.ndarray:
    """The potential of each tuple of nodes. Shape (n,), int64."""
    total = np.zeros(len(tuples), dtype=np.int64)
    for depth, nodes in zip(potentials, tuples.T, strict=True):
        total += depth[nodes]
    return total


def own_potentials(task: Task) -> np.ndarray:
    """Per class the potential of its tuple: what a record loses if nothing is released."""
    return sum_potentials(task.potentials, task.classes.nodes)
