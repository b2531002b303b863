"""delta-disclosure privacy: no sensitive value is much more or less frequent than in the table."""

import math
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


def each(sensitive: Sensitive, present_only: bool = False) -> np.ndarray:
    """delta(C) = max over s of abs(ln(p(s, C) / p(s, T))) for each class.

    A class with two colds, and one with a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> np.exp(each(ill)).round(9).tolist(), np.exp(each(ill, present_only=True)).round(9).tolist()
    ([inf, 2.0], [1.333333333, 2.0])

    Source: Brickell, Shmatikov 2008, Definition 1: the model holds if the level is below delta.

    Shape (R,), float64. From 0 (the class is mixed like the table); infinite if the class lacks one
    of its values.

    With ``present_only`` it is over the values that the class has, instead of all in the table.
    Such a level says less: a value's absence from a class reveals much about its people.
    """
    actual = sensitive.count * sensitive.total.sum()
    due = sensitive.total[sensitive.value] * sensitive.sizes[sensitive.of_entry]
    # The larger over the smaller: twice as often and half as often have one level.
    levels = largest(sensitive, np.log(np.maximum(actual, due) / np.minimum(actual, due)))
    if present_only:
        return levels
    lacking = np.diff(sensitive.start) < np.count_nonzero(sensitive.total)
    return np.where(lacking, np.inf, levels)


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """The model "abs(ln(p(s, C) / p(s, T))) < delta for every value s and every class"."""

    delta: Annotated[float, Range(0, above=True)]
    column: str
    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    symbol: ClassVar[str] = "delta"
    of_table: ClassVar[bool] = True
    strict: ClassVar[bool] = True
    place: ClassVar[int] = 6
    gloss: ClassVar[str] = "every value is in every class, about as often"
    wish: ClassVar[Mapping[str, Any]] = {"delta": 2.0}


def check_rows(mix: ClassMix, delta: float) -> tuple[float, bool]:
    """The largest logarithm of a ratio of shares, for the check of a release."""
    levels = np.abs(np.log(mix.p / mix.q))
    lacking = mix.values().min() < len(mix.total)
    return check_at_most(np.array([np.inf]) if lacking else levels, delta)


def recount(
    classes: list[Counter[str]], usual: dict[str, float], delta: float
) -> tuple[float, bool]:
    """The largest logarithm of a ratio of shares; infinite where a class lacks a value."""
    level = 0.0
    for mix in classes:
        ratios = [mix[value] / mix.total() / q for value, q in usual.items()]
        level = max(level, *(abs(math.log(ratio)) if ratio else math.inf for ratio in ratios))
    return level, level <= delta * (1 + 1e-12) + 1e-12


MEASURES = (
    ClassMeasure(
        "delta", CARD, each, 8,
        heading="δ ↓",
        title="δ-disclosure",
        unit="logarithm of a ratio",
        meaning="How far a share in the worst class is from the share in the table; ∞: at least "
        "one class lacks a value.",
    ),
    ClassMeasure(
        "delta_present", CARD, lambda sensitive: each(sensitive, present_only=True), 9,
        heading="δ over present values ↓",
    ),
)  # fmt: skip

MODEL = DeltaDisclosure
