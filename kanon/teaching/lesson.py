"""The parts of a lesson: steps, the choices in them, and the arithmetic of each candidate.

Headings, sentences and labels hold values of the table: they pass ``plain()`` before Markdown and
``escaped()`` before Plotly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kanon.algorithms.task import Task
from kanon.base.formatting import count_noun, join_words
from kanon.metrics import Metric
from kanon.recoding import Recoding


@dataclass(frozen=True)
class CostTerm:
    of: str  # the class of these records, as labels
    attribute: str  # the quasi-identifier, which rises from low to high
    low: str
    high: str
    cost: float  # of one record, in the metric's own unit
    records: int
    exact: Fraction  # the product as a fraction, for comparisons

    @property
    def product(self) -> float:
        return self.cost * self.records


@dataclass(frozen=True)
class Rule:
    best: str  # what is best, in a few words
    column: str = ""  # the heading of its figures where they have their own column
    unit: str = ""  # written after a figure


@dataclass(frozen=True)
class Candidate:
    name: str
    key: tuple[Any, ...]  # a part per rule; the least key that is not refused is chosen
    chosen: bool  # whether the algorithm chose it
    cost: float | None = None  # its cost or distance, in the metric's own unit
    terms: tuple[CostTerm, ...] = ()  # the arithmetic of the cost: the sum of their products
    level_left: float | None = (
        None  # the l or t that it would leave, for strategies that look at it
    )
    classes: tuple[int, ...] = ()  # the original classes that it is about, as positions
    figures: tuple[float | None, ...] = ()  # the number that each rule compares
    refused: str = ""  # why it must not be chosen; empty where it may

    def figure(self, rule: int) -> float | None:
        return self.figures[rule] if rule < len(self.figures) else None


@dataclass(frozen=True)
class Choice:
    question: str
    rules: tuple[Rule, ...]  # the first decides, among equals the second, and so on
    candidates: tuple[Candidate, ...]  # all of them, in the order of the table

    @property
    def best(self) -> str:
        first, *then = (rule.best for rule in self.rules)
        return f"{first}; ties go to {', then '.join(then)}" if then else first

    @property
    def chosen(self) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.chosen)

    @property
    def ranked_candidates(self) -> tuple[Candidate, ...]:
        """The chosen candidate, then the others, best first, then the refused ones."""
        order = sorted(self.candidates, key=lambda c: (not c.chosen, bool(c.refused), c.key))
        return tuple(order)

    @property
    def reason(self) -> str:
        """Why it was chosen: the rules up to the one that decided, with all figures.

        >>> cost, order = Rule("least cost"), Rule("the first in tree order")
        >>> costs = {"a": 16.0, "b": 20.0, "c": 16.0, "d": 24.0}
        >>> for names in ("a", "ab", "abcd"):
        ...     Choice("Which?", (cost, order), tuple(
        ...         Candidate(name, (costs[name], name), name == "a", figures=(costs[name],))
        ...         for name in names)).reason
        'the only candidate'
        'least cost, 16 against 20'
        'least cost, 16 for “a” and “c” against 20 and 24; the tie goes to the first in tree order'
        """
        passed = self._describe_refused()
        alone = "the only candidate"
        if len(self.candidates) > 1:
            alone = f"the {'first' if passed else 'only one'} that is allowed"
        chosen, text = self.chosen, ""
        left = [candidate for candidate in self.ranked_candidates if not candidate.refused]
        for place in range(len(self.rules)):
            if len(left) < 2:
                break
            key = chosen.key[place]
            alike = [candidate for candidate in left if candidate.key[place] == key]
            worse = [candidate for candidate in left if candidate.key[place] != key]
            part = self._describe_rule(place, alike, worse)
            joint = "; of these, " if chosen.figure(place) is not None else "; the tie goes to "
            text += (joint if text and part else "") + part
            left = alike
        return (text or alone) + passed

    def _describe_rule(
        self, place: int, alike: Sequence[Candidate], worse: Sequence[Candidate]
    ) -> str:
        rule, figure = self.rules[place], self.chosen.figure(place)
        if figure is None:
            return rule.best if worse else ""
        figures = [figure, *(candidate.figure(place) or 0 for candidate in worse)]
        best, *rest = (f"{number}{rule.unit}" for number in write_apart(figures))
        others = [number for number in rest if number != best]
        text = f"{rule.best}, {best}"
        if len(alike) > 1:
            text += f" for {_name_tied_candidates(alike, len(worse))}"
        if len(others) > 1 and len({*others}) == 1:
            text += f" against {others[0]} for {len(others)} others"
        elif len(others) > _LISTED:
            text += f" against {others[0]} to {others[-1]} for {len(others)} others"
        elif others:
            text += f" against {join_words(others)}"
        if len(rest) > len(others):
            close = count_noun(len(rest) - len(others), "other differs", "others differ")
            text += f"; {close} by less than these digits show"
        return text

    def _describe_refused(self) -> str:
        better = [c for c in self.candidates if c.refused and c.key < self.chosen.key]
        if not better:
            return ""
        reasons = {candidate.refused for candidate in better}
        names = _name_candidates(better) or f"{len(better)} others"
        reason = reasons.pop() if len(reasons) == 1 else "they are not allowed"
        return f"; {names} would come first, but {reason}"


_LISTED = 4  # the most figures that are listed; of more, only the first and last

_NAMED = 36  # the most characters of names; candidates with longer names are counted


def _name_candidates(candidates: Sequence[Candidate]) -> str:
    names = [f"“{candidate.name}”" for candidate in candidates]
    return join_words(names) if sum(map(len, names)) <= _NAMED else ""


def _name_tied_candidates(alike: Sequence[Candidate], worse: int) -> str:
    every = "both" if len(alike) == 2 else f"all {len(alike)}"
    return _name_candidates(alike) or (f"{len(alike)} of {len(alike) + worse}" if worse else every)


@dataclass(frozen=True)
class ClassState:
    nodes: tuple[int, ...]  # of the hierarchies
    label: str
    records: int
    classes: tuple[int, ...]  # the original classes in it, as positions, rising

    @property
    def name(self) -> str:
        return f"{self.label} ({count_noun(self.records, 'record')})"


@dataclass(frozen=True)
class Numbers:
    min_k: int | None  # the size of the smallest class
    classes: int
    suppressed: int  # records
    alteration: float  # in percent
    l: float | None  # noqa: E741
    t: float | None


@dataclass(frozen=True, eq=False)
class Step:
    heading: str
    sentence: str  # what happens and why: the rule, and the tie-break where there was a tie
    recoding: Recoding  # the table after the step
    numbers: Numbers
    choices: tuple[Choice, ...] = ()  # what was decided, in this order, with all candidates
    detail: Any = None  # the view of the algorithm's family, as its module defines it


@dataclass(frozen=True, eq=False)
class Lesson:
    algorithm: str  # its name in plans
    title: str
    task: Task
    metric: Metric
    sensitive: str | None  # the sensitive column whose l and t are followed
    steps: tuple[Step, ...]  # at least two: the table as it is, and the release
    unit: Fraction  # what 1 of the task's whole numbers is worth, in the metric's own unit
    complete: bool = True  # whether there is a step for everything that the algorithm decided

    def get_cost(self, attribute: int, low: int, high: int) -> float:
        depth = self.task.potentials[attribute]
        return float((int(depth[low]) - int(depth[high])) * self.unit)


def write_number(number: float | None, digits: int = 4) -> str:
    """A number for a sentence, with four significant digits.

    >>> write_number(4.0), write_number(2 / 3), write_number(12345.6), write_number(None)
    ('4', '0.6667', '12346', '–')
    """
    if number is None:
        return "–"
    places = digits if number == 0 else max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:.{min(places, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_apart(numbers: Sequence[float]) -> list[str]:
    """Numbers with enough digits to tell the first from all that differ.

    >>> write_apart([1 / 3, 0.33334, 2.0]), write_apart([2 / 3, 2 / 3 + 2**-52])
    (['0.33333', '0.33334', '2'], ['0.6667', '0.6667'])
    """
    same = [math.isclose(number, numbers[0], rel_tol=1e-11) for number in numbers]
    for digits in range(4, 13):
        texts = [write_number(number, digits) for number in numbers]
        if [text == texts[0] for text in texts] == same:
            break
    return texts
