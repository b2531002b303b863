"""What all privacy models share: the level of each class, and whether it is enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_type_hints

import numpy as np

from kanon.base.formatting import is_falsely_whole, write_count
from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, quote
from kanon.sensitive import Sensitive

LevelOfClass = Callable[[Sensitive], np.ndarray]  # a number for each class, shape (R,)


@dataclass(frozen=True)
class Range:
    """The numbers that are allowed for a parameter of a model; an annotation of the parameter."""

    lowest: float
    highest: float = math.inf
    above: bool = False  #: whether ``lowest`` itself is excluded
    whole: bool = False  #: whether only whole numbers count

    @property
    def text(self) -> str:
        """The allowed numbers, in words.

        >>> Range(2, whole=True).text, Range(0, 1, above=True).text
        ('a whole number of at least 2', 'a number above 0 and at most 1')
        """
        kind = "a whole number" if self.whole else "a number"
        most = write_count(self.highest) if self.highest >= 1000 else f"{self.highest:g}"
        below = "" if math.isinf(self.highest) else f" and at most {most}"
        return f"{kind} {'above' if self.above else 'of at least'} {self.lowest:g}{below}"

    def check(self, name: str, number: object) -> None:
        """Check a parameter; a PlanError says what is allowed."""
        kinds = int if self.whole else int | float
        fits = (
            isinstance(number, kinds)
            and not isinstance(number, bool)
            and (number > self.lowest if self.above else number >= self.lowest)
            and number <= self.highest
            and number < math.inf
        )
        if not fits:
            raise PlanError(f"{name} has to be {self.text}, not {str(number)[:40]}.")


@cache
def ranges(model: type[Model]) -> Mapping[str, Range]:
    """The numeric parameters of a model, with the allowed range of each."""
    range_by_name = {
        name: part
        for name, hint in get_type_hints(model, include_extras=True).items()
        for part in getattr(hint, "__metadata__", ())
        if isinstance(part, Range)
    }
    return MappingProxyType(range_by_name)


class Model(ABC):
    """A privacy model with its parameters, which every class of a release has to meet.

    A model is a frozen dataclass in its own file, with a ``CARD``; the file names it as ``MODEL``.
    A :class:`Range` annotates each parameter, by which it is checked here (a PlanError says what is
    allowed), in plans and on pages. Two functions of the file recount the model independently:
    ``check_rows`` for the check of a release, ``recount`` for the script of its recipient.
    """

    card: ClassVar[Card]
    folds: ClassVar[bool] = False
    """Whether spellings of one sensitive value count once."""

    def __post_init__(self) -> None:
        for name, parameter_range in ranges(type(self)).items():
            parameter_range.check(name, getattr(self, name))

    @abstractmethod
    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number that the model limits, for each class. Shape (R,)."""

    @abstractmethod
    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes meet the model. Shape (R,), bool."""

    @abstractmethod
    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, given the table as one class, which fails it."""

    def _write_refusal(self, reason: str) -> str:
        return f"{self.sentence} cannot be reached: even with all records in one class, {reason}."

    def replace_k(self, k: int) -> Model:
        """The model for a release with another k: itself, unless k is its parameter."""
        return self

    def level(self, classes: EquivalenceClasses) -> float | int | None:
        """The level of the worst class, which is that of the table; None without classes."""
        levels = self.levels(classes)
        if not len(levels):
            return None
        worst: float | int = (
            levels.min() if self.card.direction == "higher" else levels.max()
        ).item()
        return worst

    def holds(self, classes: EquivalenceClasses) -> bool:
        """Whether every class meets the model; True without records."""
        return bool(self.holds_each(classes).all())

    @property
    def title(self) -> str:
        """The model's name on a page."""
        return self.card.title

    @property
    def parameters(self) -> str:
        """The parameters with their values, for a sentence."""
        values = {
            part.name: getattr(self, part.name)
            for part in fields(self)  # type: ignore[arg-type]
            if part.name not in ("column", "columns", "others") and part.repr
        }
        return " and ".join(f"{name} = {_write_value(value)}" for name, value in values.items())

    @property
    def subject(self) -> str:
        """The column that the model is about, for a sentence; empty without one."""
        column = getattr(self, "column", None)
        return quote(column) if column else ""

    @property
    def sentence(self) -> str:
        """The model with its parameters, for a sentence."""
        suffix = f" for {self.subject}" if self.subject else ""
        return f"{self.title} with {self.parameters}{suffix}"


@dataclass(frozen=True, kw_only=True)
class SeveralColumns:
    """What a model of a sensitive column makes of further sensitive columns."""

    # known: each part of a class whose records agree in all others has to meet the model
    others: Literal["known"] | None = None
    columns: tuple[str, ...] | None = None  # whose values count together as one


class SensitiveModel(Model, SeveralColumns):
    """A model of a sensitive column, or of the combination of several."""

    column: str
    symbol: ClassVar[str]
    """The name of the level in a sentence."""
    of_table: ClassVar[bool] = False
    """Whether a class is compared with the whole table, so that suppression changes the level."""
    strict: ClassVar[bool] = False
    """Whether a level equal to the limit is not enough."""
    place: ClassVar[int] = 100
    """The place of the model in lists, the usual ones first."""
    gloss: ClassVar[str] = ""
    """What it requires, in few words, for lists."""
    wish: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """The first parameters, if the table allows them; if empty, 1 or the least possible."""

    level_of_class: ClassVar[LevelOfClass]
    """What it limits, of a sensitive column alone; else :meth:`levels_of` is its own."""

    def levels_of(self, sensitive: Sensitive) -> np.ndarray:
        """The number that the model limits, for each class of a sensitive column. Shape (R,)."""
        return type(self).level_of_class(sensitive)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.columns is not None and len({*self.columns}) < max(2, len(self.columns)):
            raise PlanError("'columns' has to name at least two columns, each of them once.")

    @property
    def looks_at_several(self) -> bool:
        """Whether the values of one column, class by class, are not enough to count the model."""
        return self.others is not None or self.columns is not None

    def describe_for_plan(self) -> dict[str, Any]:
        """The model as a part of a plan."""
        about = "column" if self.columns else ""  # made of their names
        keys = {name: value for name, value in vars(self).items() if name != about}
        return {"model": self.card.name, **keys}

    @property
    def subject(self) -> str:
        """The column that the model is about, for a sentence."""
        subject = " and ".join(map(quote, self.columns or [self.column]))
        subject += " together" if self.columns else ""
        return f"{subject} where all other sensitive columns are known" if self.others else subject

    def find_values(self, classes: EquivalenceClasses) -> tuple[Sensitive, np.ndarray]:
        """The histograms that have to meet the model, and the class of each, rising."""
        if not self.looks_at_several:
            return classes.sensitive_named(self.column), np.arange(classes.n_classes)
        return classes.split_sensitive(self.columns or [self.column], self.others is not None)

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The number that the model limits, for each class that of its worst part. Shape (R,)."""
        values, owner = self.find_values(classes)
        worst = np.minimum if self.card.direction == "higher" else np.maximum
        return _reduce_parts(worst, self.levels_of(values), owner)

    def accepts(self, levels: np.ndarray) -> np.ndarray:
        """Which levels meet the model. Shape (R,), bool."""
        limit = getattr(self, self.symbol)
        if self.card.direction == "higher":
            return levels >= limit
        return levels < limit if self.strict else levels <= limit

    def accepts_values(self, values: Sensitive) -> np.ndarray:
        """Which histograms meet the model. Shape (R,), bool."""
        return self.accepts(self.levels_of(values))

    def holds_each(self, classes: EquivalenceClasses) -> np.ndarray:
        """Which classes meet the model, each part of them. Shape (R,), bool."""
        values, owner = self.find_values(classes)
        return _reduce_parts(np.logical_and, self.accepts_values(values), owner)

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model, with the best possible value.

        Merging classes never worsens the worst one, so the table as one class has that value. It
        is rounded to the reachable side.
        """
        best = self.level(whole)
        assert best is not None
        higher = self.card.direction == "higher"
        return self._write_refusal(
            f"{self.symbol} is {'at most' if higher else 'at least'} {rounded(best, not higher)}"
        )


@dataclass(frozen=True)
class ClassMeasure:
    """A number of each class for a sensitive column; that of a table is of its worst class.

    The file of a model or measure names its own as ``MEASURES``.
    """

    name: str  # in M.json
    card: Card  # with the better direction and, in lists, the explanation
    each: LevelOfClass  # its value per class
    place: int = 100  # its place among all
    heading: str = ""  # of its column in a list of classes; empty if not offered there
    # its name, unit and meaning in a report; empty if not reported
    title: str = ""
    unit: str = ""
    meaning: str = ""
    whole: bool = False  # a whole number
    for_numbers: bool = False  # only columns of numbers have it
    for_trees: bool = False  # only columns with a hierarchy have it

    def fits(self, sensitive: Sensitive) -> bool:
        """Whether a column has this number."""
        return (sensitive.numeric or not self.for_numbers) and (
            sensitive.tree is not None or not self.for_trees
        )


def largest(sensitive: Sensitive, per_entry: np.ndarray) -> np.ndarray:
    """The largest number per entry over the values that each class has. Shape (R,).

    >>> ill = Sensitive.from_records("ill", ["angina", "cold"], False, [0, 0, 1], [1, 0, 1], 2)
    >>> largest(ill, np.array([3, 5, 4])).tolist()
    [5, 4]
    """
    return np.maximum.reduceat(per_entry, sensitive.start[:-1]) if len(per_entry) else per_entry


def _reduce_parts(worst: np.ufunc, per_part: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """The worst of the parts of each class; every class has one."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    return np.asarray(worst.reduceat(per_part, first)) if len(first) else per_part


def _write_value(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def rounded(value: float, up: bool) -> str:
    """A level with two decimals, or two digits if it is small, rounded up or down only.

    It has more decimals where it would falsely read as a whole number, as 1 means certainty.

    >>> rounded(1.7581, up=False), rounded(0.3401, up=True), rounded(0.07, up=True)
    ('1.75', '0.35', '0.07')
    >>> rounded(2 - 1e-15, up=False), rounded(1.0057, up=False)
    ('2', '1.005')
    """
    value = float(f"{value:.12g}")  # the error of a logarithm does not count
    digits = 2 if value >= 0.1 or value <= 0 else 1 - math.floor(math.log10(value))
    while True:
        nearest = round(value, digits)
        if nearest < value and up:
            nearest += 10.0**-digits
        if nearest > value and not up:
            nearest -= 10.0**-digits
        text = f"{nearest:.{digits}f}"
        if digits >= 12 or not is_falsely_whole(text, value):
            return text.rstrip("0").rstrip(".") if "." in text else text
        digits += 1
