"""Basic beta-likeness: in no class is a sensitive value much more frequent than in the table."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.privacy.model import ClassMeasure, LevelOfClass, Range, SensitiveModel, largest
from kanon.privacy.row_checks import ClassMix, check_at_most
from kanon.sensitive import Sensitive

CARD = read_card(__file__)


def gains(sensitive: Sensitive) -> np.ndarray:
    """(p - q) / q of each entry, p its share in the class and q in the table; 0 if p < q.

    Shape (entries,), float64. Relative: 1 means twice as frequent as in the table.
    """
    due = sensitive.total[sensitive.value] * sensitive.sizes[sensitive.of_entry]
    return np.maximum(sensitive.count * sensitive.total.sum() - due, 0) / due


def each(sensitive: Sensitive) -> np.ndarray:
    """beta(C) = max over s with p(s, C) > p(s, T) of (p(s, C) - p(s, T)) / p(s, T).

    A class with two colds, and one with a cold and a flu. Colds rise from 3/4 to 1; flus from 1/4
    to 1/2.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).round(9).tolist()
    [0.333333333, 1.0]

    Source: Cao, Karras 2012, Definition 2.

    Shape (R,), float64. From 0 (the class is mixed like the table) to n - 1.
    """
    return largest(sensitive, gains(sensitive))


@dataclass(frozen=True)
class BasicBetaLikeness(SensitiveModel):
    """The model "in no class does a sensitive value have a relative gain above beta"."""

    beta: Annotated[float, Range(0, above=True)]
    column: str
    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    symbol: ClassVar[str] = "beta"
    of_table: ClassVar[bool] = True
    place: ClassVar[int] = 7
    gloss: ClassVar[str] = "no value is much more frequent in a class"
    wish: ClassVar[Mapping[str, Any]] = {"beta": 1.0}


def check_rows(mix: ClassMix, beta: float) -> tuple[float, bool]:
    """The largest relative gain of a value in a class, for the check of a release."""
    return check_at_most(np.maximum(mix.p / mix.q - 1, 0), beta)


def recount(
    classes: list[Counter[str]], usual: dict[str, float], beta: float
) -> tuple[float, bool]:
    """The largest relative gain of a value in a class."""
    level = 0.0
    for mix in classes:
        gains = [count / mix.total() / usual[value] - 1 for value, count in mix.items()]
        level = max(level, *gains)
    return level, level <= beta * (1 + 1e-12) + 1e-12


MEASURES = (
    ClassMeasure(
        "basic_beta", CARD, each, 10,
        heading="basic β ↓",
        title="β-likeness",
        unit="ratio",
        meaning="The most by which a value's share grows in any class, relative to its share in "
        "the table.",
    ),
)  # fmt: skip

MODEL = BasicBetaLikeness
