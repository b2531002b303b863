"""What a lesson is made of: steps, the choices in them, and the arithmetic of each candidate.

Headings, sentences and labels hold values of the table: they pass ``plain()`` before Markdown and
``escaped()`` before Plotly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kanon.algorithms.task import Task
from kanon.base.formatting import counted
from kanon.metrics import Metric
from kanon.recoding import Recoding


@dataclass(frozen=True)
class CostTerm:
    """One product of a cost: what some records pay for rising in one quasi-identifier.

    Attributes
    ----------
    of
        Whose records these are: their tuple, as labels.
    attribute, low, high
        The quasi-identifier, the value from which it rises, and the one to which.
    cost
        What one record pays on the tree, in the metric's own unit; attribute weights included.
    records
        How many pay.
    exact
        The product, in the whole numbers that the algorithm compares.
    """

    of: str
    attribute: str
    low: str
    high: str
    cost: float
    records: int
    exact: int

    @property
    def product(self) -> float:
        """``cost * records``.

        >>> CostTerm("M, Cat", "race", "Cat", "Felid", 1.0, 2, 256).product
        2.0
        """
        return self.cost * self.records


@dataclass(frozen=True)
class Candidate:
    """Something that could have been chosen.

    Attributes
    ----------
    name
        What it is, in a few words.
    key
        What is compared, in this order: the candidate with the least key is chosen. Costs stand in
        it as the whole numbers that the algorithm compares; the order of ties comes last.
    chosen
        Whether the algorithm chose it.
    cost
        What it costs, or how far it is, in the metric's own unit; None where nothing is paid.
    terms
        The arithmetic of the cost: the sum of their products.
    second
        The l or t that it would leave, for strategies that look at it.
    classes
        The original classes that it is about, as positions.
    note
        What else is said of it: why it was refused, how many values it has.
    """

    name: str
    key: tuple[Any, ...]
    chosen: bool
    cost: float | None = None
    terms: tuple[CostTerm, ...] = ()
    second: float | None = None
    classes: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Choice:
    """One decision: a question, what is best, and all that could have been chosen.

    Attributes
    ----------
    question
        What is decided.
    best
        What is best, in words; ties included.
    candidates
        All of them, in the order of the table; exactly one is chosen.
    """

    question: str
    best: str
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate:
        """The candidate that was chosen."""
        return next(each for each in self.candidates if each.chosen)

    @property
    def confirmed(self) -> bool:
        """Whether no candidate has a lower key than the chosen one: a test holds it."""
        return self.chosen.key == min(each.key for each in self.candidates)


@dataclass(frozen=True)
class ClassState:
    """A class at some moment.

    Attributes
    ----------
    nodes, label
        Its tuple, as nodes of the hierarchies and as labels.
    records
        How many it holds.
    classes
        The original classes in it, as positions, rising.
    """

    nodes: tuple[int, ...]
    label: str
    records: int
    classes: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its tuple and its size.

        >>> ClassState((0, 1), "F, Lion", 2, (0,)).name
        'F, Lion (2 records)'
        """
        return f"{self.label} ({counted(self.records, 'record')})"


@dataclass(frozen=True)
class Numbers:
    """What the table amounts to after a step, by the library's own measures.

    Attributes
    ----------
    min_k
        The size of the smallest class; None if every record is suppressed.
    classes
        How many classes there are.
    suppressed
        How many records left.
    alteration
        In percent, as the task's metric counts: from 0, nothing was changed, to 100, every
        quasi-identifier is at its root.
    l, t
        Entropy l-diversity of the worst class, and its t as total variation, 0 to 1; None
        without a sensitive column or without classes.
    """

    min_k: int | None
    classes: int
    suppressed: int
    alteration: float
    l: float | None  # noqa: E741
    t: float | None


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a lesson.

    Attributes
    ----------
    heading
        What happens, in a few words.
    sentence
        What happens and why so: the rule, and the tie-break where there was a tie.
    recoding
        The table after the step: ``assigned`` is the current class per original class, ``released``
        the current classes.
    numbers
        What it amounts to.
    choices
        What was decided, in this order, with all candidates.
    detail
        What the family of the algorithm has to show: see its module.
    """

    heading: str
    sentence: str
    recoding: Recoding
    numbers: Numbers
    choices: tuple[Choice, ...] = ()
    detail: Any = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """An algorithm on a table, step by step.

    Attributes
    ----------
    algorithm, title
        Its name in plans and on pages.
    task
        What it was handed.
    metric
        What counts costs and alteration.
    sensitive
        The sensitive column whose l and t are followed; None without one.
    steps
        At least two: the table as it is, and the release.
    unit
        What 1 of the task's whole numbers is worth, in the metric's own unit.
    complete
        Whether there is a step for everything that the algorithm decided; False where there are
        only the table and the release.
    """

    algorithm: str
    title: str
    task: Task
    metric: Metric
    sensitive: str | None
    steps: tuple[Step, ...]
    unit: float
    complete: bool = True

    def paid(self, attribute: int, low: int, high: int) -> float:
        """What raising one record from a node to one above costs, in the metric's own unit."""
        depth = self.task.potentials[attribute]
        return (int(depth[low]) - int(depth[high])) * self.unit


def written(number: float | None) -> str:
    """A cost as it stands in a sentence: four digits that count.

    >>> written(4.0), written(2 / 3), written(12345.6), written(None)
    ('4', '0.6667', '12346', '–')
    """
    if number is None:
        return "–"
    digits = 4 if number == 0 else max(0, 3 - math.floor(math.log10(abs(number))))
    text = f"{number:.{min(digits, 8)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
