"""What a lesson is made of: steps, the choices in them, and the arithmetic of each candidate.

Headings, sentences and labels hold values of the table: they pass ``plain()`` before Markdown and
``escaped()`` before Plotly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kanon.algorithms.task import Task
from kanon.base.formatting import counted
from kanon.metrics import Metric
from kanon.recoding import Recoding


@dataclass(frozen=True)
class CostTerm:
    """One product of a cost: what some records pay for rising in one quasi-identifier."""

    of: str  # whose records these are: their tuple, as labels
    # the quasi-identifier, the value from which it rises, and the one to which
    attribute: str
    low: str
    high: str
    cost: float  # what one record pays on the tree, in the metric's own unit
    records: int  # how many pay
    exact: Fraction  # the product as a fraction, which is what is compared

    @property
    def product(self) -> float:
        """``cost * records``."""
        return self.cost * self.records


@dataclass(frozen=True)
class Rule:
    """One part of what candidates are compared by."""

    best: str  # what is best, in a few words
    column: str = ""  # what stands over the figures where they have a column of their own
    unit: str = ""  # what stands behind a figure


@dataclass(frozen=True)
class Candidate:
    name: str  # what it is, in a few words
    # what is compared, a part per rule of the choice: of the candidates that are not refused, the
    # one with the least key is chosen
    key: tuple[Any, ...]
    chosen: bool  # whether the algorithm chose it
    cost: float | None = None  # what it costs, or how far it is, in the metric's own unit
    terms: tuple[CostTerm, ...] = ()  # the arithmetic of the cost: the sum of their products
    second: float | None = None  # the l or t that it would leave, for strategies that look at it
    classes: tuple[int, ...] = ()  # the original classes that it is about, as positions
    figures: tuple[float | None, ...] = ()  # what each rule compares, as it is said
    refused: str = ""  # why it must not be chosen, however good it is

    def figure(self, rule: int) -> float | None:
        return self.figures[rule] if rule < len(self.figures) else None


@dataclass(frozen=True)
class Choice:
    """One decision: a question, the rules, and all that could have been chosen."""

    question: str  # what is decided
    rules: tuple[Rule, ...]  # what is best: by the first, among equals by the second, and so on
    candidates: tuple[Candidate, ...]  # all of them, in the order of the table

    @property
    def best(self) -> str:
        first, *then = (rule.best for rule in self.rules)
        return f"{first}; of equal ones, {', then '.join(then)}" if then else first

    @property
    def chosen(self) -> Candidate:
        return next(each for each in self.candidates if each.chosen)

    @property
    def ranked(self) -> tuple[Candidate, ...]:
        """The chosen one; then the others, best first, and the refused ones."""
        order = sorted(
            self.candidates, key=lambda each: (not each.chosen, bool(each.refused), each.key)
        )
        return tuple(order)

    @property
    def reason(self) -> str:
        """Why the chosen one, in words: the rules up to the one that decided, with all figures.

        >>> cost, order = Rule("least cost"), Rule("the first in tree order")
        >>> costs = {"a": 16.0, "b": 20.0, "c": 16.0, "d": 24.0}
        >>> for names in ("a", "ab", "abcd"):
        ...     Choice("Which?", (cost, order), tuple(
        ...         Candidate(name, (costs[name], name), name == "a", figures=(costs[name],))
        ...         for name in names)).reason
        'the only candidate'
        'least cost, 16 against 20'
        'least cost, 16 for “a” and “c” against 20 and 24; of these, the first in tree order'
        """
        passed = self._passed_over()
        alone = "the only candidate"
        if len(self.candidates) > 1:
            alone = f"the {'first' if passed else 'only one'} that is allowed"
        chosen, said = self.chosen, []
        left = [each for each in self.ranked if not each.refused]
        for place in range(len(self.rules)):
            if len(left) < 2:
                break
            key = chosen.key[place]
            alike = [each for each in left if each.key[place] == key]
            worse = [each for each in left if each.key[place] != key]
            said.append(self._said(place, alike, worse))
            left = alike
        return ("; of these, ".join(filter(None, said)) or alone) + passed

    def _said(self, place: int, alike: Sequence[Candidate], worse: Sequence[Candidate]) -> str:
        """What a rule did, in words; nothing where it left all and compares no figures."""
        rule, figure = self.rules[place], self.chosen.figure(place)
        if figure is None:
            return rule.best if worse else ""
        figures = [figure, *(each.figure(place) or 0 for each in worse)]
        best, *rest = (f"{each}{rule.unit}" for each in apart(figures))
        others = [each for each in rest if each != best]
        said = f"{rule.best}, {best}"
        if len(alike) > 1:
            said += f" for {_which(alike, len(worse))}"
        if len(others) > 1 and len({*others}) == 1:
            said += f" against {others[0]} for {len(others)} others"
        elif len(others) > _LISTED:
            said += f" against {others[0]} to {others[-1]} for {len(others)} others"
        elif others:
            said += f" against {enumerated(others)}"
        if len(rest) > len(others):
            said += f"; {counted(len(rest) - len(others), 'other')} by less than these digits show"
        return said

    def _passed_over(self) -> str:
        better = [each for each in self.candidates if each.refused and each.key < self.chosen.key]
        if not better:
            return ""
        why = {each.refused for each in better}
        who = _named(better) or f"{len(better)} others"
        reason = why.pop() if len(why) == 1 else "they are refused"
        return f"; {who} would come first, but {reason}"


_LISTED = 4  # so many figures are listed; of more, the ends

_NAMED = 36  # candidates are named where their names are together no longer, and counted otherwise


def _named(some: Sequence[Candidate]) -> str:
    """Candidates by their names; nothing where that is too long."""
    names = [f"“{each.name}”" for each in some]
    return enumerated(names) if sum(map(len, names)) <= _NAMED else ""


def _which(alike: Sequence[Candidate], worse: int) -> str:
    every = "both" if len(alike) == 2 else f"all {len(alike)}"
    return _named(alike) or (f"{len(alike)} of {len(alike) + worse}" if worse else every)


def enumerated(words: Sequence[str]) -> str:
    """Words as they are listed in a sentence.

    >>> enumerated(["a"]), enumerated(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True)
class ClassState:
    # its tuple, as nodes of the hierarchies and as labels
    nodes: tuple[int, ...]
    label: str
    records: int  # how many it holds
    classes: tuple[int, ...]  # the original classes in it, as positions, rising

    @property
    def name(self) -> str:
        """Its tuple and its size."""
        return f"{self.label} ({counted(self.records, 'record')})"


@dataclass(frozen=True)
class Numbers:
    """What the table amounts to after a step, by the library's own measures."""

    min_k: int | None  # the size of the smallest class
    classes: int  # how many classes there are
    suppressed: int  # how many records left
    # in percent, as the task's metric counts: from 0, nothing was changed, to 100, every quasi-
    # identifier is at its root
    alteration: float
    l: float | None  # noqa: E741
    t: float | None


@dataclass(frozen=True, eq=False)
class Step:
    heading: str  # what happens, in a few words
    sentence: str  # what happens and why so: the rule, and the tie-break where there was a tie
    # the table after the step: ``assigned`` is the current class per original class, ``released``
    # the current classes
    recoding: Recoding
    numbers: Numbers  # what it amounts to
    choices: tuple[Choice, ...] = ()  # what was decided, in this order, with all candidates
    detail: Any = None  # what the family of the algorithm has to show: see its module


@dataclass(frozen=True, eq=False)
class Lesson:
    # its name in plans and on pages
    algorithm: str
    title: str
    task: Task  # what it was handed
    metric: Metric  # what counts costs and alteration
    sensitive: str | None  # the sensitive column whose l and t are followed
    steps: tuple[Step, ...]  # at least two: the table as it is, and the release
    unit: Fraction  # what 1 of the task's whole numbers is worth, in the metric's own unit
    complete: bool = True  # whether there is a step for everything that the algorithm decided

    def paid(self, attribute: int, low: int, high: int) -> float:
        """What raising one record from a node to one above costs, in the metric's own unit."""
        depth = self.task.potentials[attribute]
        return float((int(depth[low]) - int(depth[high])) * self.unit)


def written(number: float | None, digits: int = 4) -> str:
    """A number as it stands in a sentence: four digits that count.

    >>> written(4.0), written(2 / 3), written(12345.6), written(None)
    ('4', '0.6667', '12346', '–')
    """
    if number is None:
        return "–"
    places = digits if number == 0 else max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:.{min(places, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def apart(numbers: Sequence[float]) -> list[str]:
    """Numbers in so many digits that the first is told from every one that differs.

    >>> apart([1 / 3, 0.33334, 2.0]), apart([2 / 3, 2 / 3 + 2**-52])
    (['0.33333', '0.33334', '2'], ['0.6667', '0.6667'])
    """
    same = [math.isclose(each, numbers[0], rel_tol=1e-11) for each in numbers]
    for digits in range(4, 13):
        said = [written(each, digits) for each in numbers]
        if [each == said[0] for each in said] == same:
            break
    return said
