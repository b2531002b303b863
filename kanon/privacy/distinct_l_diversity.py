"""Distinct l-diversity: every class has at least l different sensitive values."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.privacy.model import ClassMeasure, LevelOfClass, Range, SensitiveModel
from kanon.privacy.row_checks import ClassMix, check_at_least
from kanon.sensitive import Sensitive

CARD = read_card(__file__)


def each(sensitive: Sensitive) -> np.ndarray:
    """The number of different values of each class; spellings of one value count once.

    A class with two colds, and one with a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist()
    [1, 2]

    Source: Machanavajjhala et al. 2007, section 4.

    Shape (R,), int64. From 1 (everyone has the same value) to the number of values in the table.
    """
    return np.diff(sensitive.folded.start)


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """The model "every class has at least l different sensitive values"."""

    l: Annotated[int, Range(2, whole=True)]  # noqa: E741
    column: str
    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    symbol: ClassVar[str] = "l"
    folds: ClassVar[bool] = True
    place: ClassVar[int] = 3
    gloss: ClassVar[str] = "every class has several different values"
    wish: ClassVar[Mapping[str, Any]] = {"l": 2}


def check_rows(mix: ClassMix, l: int) -> tuple[float, bool]:  # noqa: E741
    """The fewest values of a class, for the check of a release."""
    return check_at_least(mix.values(), l)


def recount(
    classes: list[Counter[str]],
    usual: dict[str, float],
    l: int,  # noqa: E741
) -> tuple[float, bool]:
    """The fewest values of a class."""
    level = min(len(mix) for mix in classes)
    return level, level >= l


MEASURES = (
    ClassMeasure(
        "distinct_l", CARD, each, 2,
        heading="values ↑",
        title="Distinct l-diversity",
        unit="values",
        meaning="The fewest different values in a class, however rare.",
        whole=True,
    ),
)  # fmt: skip

MODEL = DistinctLDiversity
