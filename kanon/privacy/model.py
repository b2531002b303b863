"""What every privacy model can say: the level of each class, and whether it is enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, get_type_hints

import numpy as np

from kanon.base.formatting import is_falsely_whole, thin
from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, quoted
from kanon.sensitive import Sensitive


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter of a model may be; it annotates the parameter.

    Attributes
    ----------
    lowest, highest
        Both ends; no end above if ``highest`` is infinite.
    above
        Whether ``lowest`` itself is excluded.
    whole
        Whether only whole numbers count.
    """

    lowest: float
    highest: float = math.inf
    above: bool = False
    whole: bool = False

    @property
    def text(self) -> str:
        """What is allowed, in words.

        >>> Range(2, whole=True).text, Range(0, 1, above=True).text
        ('a whole number of at least 2', 'a number above 0 and at most 1')
        """
        kind = "a whole number" if self.whole else "a number"
        most = thin(self.highest) if self.highest >= 1000 else f"{self.highest:g}"
        below = "" if math.isinf(self.highest) else f" and at most {most}"
        return f"{kind} {'above' if self.above else 'of at least'} {self.lowest:g}{below}"

    def check(self, name: str, given: object) -> None:
        """Check a parameter.

        Raises
        ------
        PlanError
            It is no such number; the message says what is allowed.
        """
        kinds = int if self.whole else int | float
        allowed = (
            isinstance(given, kinds)
            and not isinstance(given, bool)
            and (given > self.lowest if self.above else given >= self.lowest)
            and given <= self.highest
            and given < math.inf
        )
        if not allowed:
            raise PlanError(f"{name} has to be {self.text}, not {str(given)[:40]}.")


@cache
def ranges(model: type[Model]) -> Mapping[str, Range]:
    """The parameters of a model that are numbers, with what each may be."""
    found = {
        name: part
        for name, hint in get_type_hints(model, include_extras=True).items()
        for part in getattr(hint, "__metadata__", ())
        if isinstance(part, Range)
    }
    return MappingProxyType(found)


class Model(ABC):
    """A privacy model with its parameters: something that every class of a release has to meet.

    A model is a frozen dataclass in a file of its own, beside its ``CARD``; the file names it as
    ``MODEL``. Its parameters are annotated with a :class:`Range`, by which they are checked here,
    in plans and on pages. Two functions of the file count the model again, and share nothing with
    it: ``check_rows`` for the check of a release, ``recount`` for the script of its recipient.
    """

    card: ClassVar[Card]
    folds: ClassVar[bool] = False
    """Whether sensitive values that read alike count as one."""

    def __post_init__(self) -> None:
        for name, allowed in ranges(type(self)).items():
            allowed.check(name, getattr(self, name))

    @abstractmethod
    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number that the model is about, for each class. Shape (R,)."""

    @abstractmethod
    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes meet the model. Shape (R,), bool."""

    @abstractmethod
    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, given the table as one class, which does not."""

    def for_k(self, k: int) -> Model:
        """The model where a release is wanted for another k: itself, unless it is about that k."""
        return self

    def level(self, classes: EquivalenceClasses) -> float | int | None:
        """The level of the worst class: what a whole table has; None without classes."""
        found = self.levels(classes)
        if not len(found):
            return None
        worst: float | int = (
            found.min() if self.card.direction == "higher" else found.max()
        ).item()
        return worst

    def holds(self, classes: EquivalenceClasses) -> bool:
        """Whether every class meets the model. Without records it does."""
        return bool(self.holds_each(classes).all())

    @property
    def title(self) -> str:
        """The model's name on a page."""
        return self.card.title

    @property
    def parameters(self) -> str:
        """The parameters with their values, as they stand in a sentence."""
        chosen = {
            part.name: getattr(self, part.name)
            for part in fields(self)  # type: ignore[arg-type]
            if part.name != "column"
        }
        return " and ".join(f"{name} = {_plain(value)}" for name, value in chosen.items())

    @property
    def sentence(self) -> str:
        """The model with its parameters, as it stands in a sentence."""
        column = getattr(self, "column", None)
        of = f" for {quoted(column)}" if column else ""
        return f"{self.title} with {self.parameters}{of}"


class SensitiveModel(Model):
    """A model that looks at one sensitive column."""

    column: str
    symbol: ClassVar[str]
    """What the level is called in a sentence."""
    of_table: ClassVar[bool] = False
    """Whether a class is compared with the whole table, so that who leaves it changes the level."""
    strict: ClassVar[bool] = False
    """Whether a level that is exactly what was asked for is not enough."""
    place: ClassVar[int] = 100
    """Where the model stands among all in a list: the usual ones first."""
    gloss: ClassVar[str] = ""
    """What it asks for, in so few words that they stand beside its name in a list."""
    wish: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """What is asked for at first, if the table allows it; if empty, 1 or the least there is."""

    @abstractmethod
    def levels_of(self, sensitive: Sensitive) -> np.ndarray:
        """The number that the model is about, for each class of a sensitive column. Shape (R,)."""

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number that the model is about, for each class. Shape (R,)."""
        return self.levels_of(classes.sensitive_named(self.column))

    def accepts(self, levels: np.ndarray) -> np.ndarray:
        """Which levels meet the model. Shape (R,), bool."""
        limit = getattr(self, self.symbol)
        if self.card.direction == "higher":
            return levels >= limit
        return levels < limit if self.strict else levels <= limit

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes meet the model. Shape (R,), bool."""
        return self.accepts(self.levels(classes))

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, with the best value there is.

        Merging classes never makes the worst one worse, so the table as one class has that
        value. It is rounded to the side that can be reached.
        """
        best = self.level(whole)
        assert best is not None
        higher = self.card.direction == "higher"
        return self._refused(
            f"{self.symbol} is {'at most' if higher else 'at least'} {rounded(best, not higher)}"
        )

    def _refused(self, reason: str) -> str:
        return f"{self.sentence} cannot be reached: with all records in one class, {reason}."


@dataclass(frozen=True)
class ClassMeasure:
    """A number of each class for a sensitive column; a table has that of its worst class.

    The file of a model, or of a measure alone, names its own as ``MEASURES``.
    """

    name: str  # in M.json
    card: Card  # which says the better direction, and in a list what the number is
    each: Callable[[Sensitive], np.ndarray]  # its value per class
    place: int = 100  # where it stands among all
    heading: str = ""  # of its column in a list of classes; empty if it is not offered there
    # in a report its name, unit and meaning; empty if it is not told there
    title: str = ""
    unit: str = ""
    meaning: str = ""
    whole: bool = False  # a whole number
    for_numbers: bool = False  # only columns of numbers have it


def largest(sensitive: Sensitive, per_entry: np.ndarray) -> np.ndarray:
    """The largest of something over the values that each class has. Shape (R,).

    >>> ill = Sensitive.from_records("ill", ["angina", "cold"], False, [0, 0, 1], [1, 0, 1], 2)
    >>> largest(ill, np.array([3, 5, 4])).tolist()
    [5, 4]
    """
    return np.maximum.reduceat(per_entry, sensitive.start[:-1]) if len(per_entry) else per_entry


def _plain(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def rounded(value: float, up: bool) -> str:
    """A level with two decimals, or two digits if it is small, never rounded to the other side.

    Where that reads as a whole number that it is not, it has more: 1 would be certainty.

    >>> rounded(1.7581, up=False), rounded(0.3401, up=True), rounded(0.07, up=True)
    ('1.75', '0.35', '0.07')
    >>> rounded(2 - 1e-15, up=False), rounded(1.0057, up=False)
    ('2', '1.005')
    """
    value = float(f"{value:.12g}")  # the error of a logarithm does not count
    digits = 2 if value >= 0.1 or value <= 0 else 1 - math.floor(math.log10(value))
    while True:
        found = round(value, digits)
        if found < value and up:
            found += 10.0**-digits
        if found > value and not up:
            found -= 10.0**-digits
        text = f"{found:.{digits}f}"
        if digits >= 12 or not is_falsely_whole(text, value):
            return text.rstrip("0").rstrip(".") if "." in text else text
        digits += 1
