"""Entropy l-diversity: the sensitive values of a class are as mixed as l equally frequent ones."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.privacy import distinct_l_diversity
from kanon.privacy.model import ClassMeasure, LevelOfClass, Range, SensitiveModel
from kanon.privacy.row_checks import ClassMix, check_at_least
from kanon.sensitive import Sensitive

CARD = read_card(__file__)

TOLERANCE = 1e-12
"""The relative difference up to which levels count as equal, as logarithms are not exact."""


def each(sensitive: Sensitive) -> np.ndarray:
    """l(C) = exp(-sum over s of p ln p) for each class, p = p(s, C).

    A class with two colds, and one with a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).round(9).tolist()
    [1.0, 2.0]

    Source: Machanavajjhala et al. 2007, Definition 4.1, which requires an entropy of at least
    ln l; the level itself: Mauger, Le Mahec, Dequen 2023.

    Shape (R,), float64. From 1 (everyone has the same value) to the number of values in the class,
    all equally frequent. Not always a whole number.
    """
    sensitive = sensitive.folded  # spellings of one value count once
    sizes = sensitive.sizes
    entropy = np.log(sizes) - sensitive.summed(sensitive.count * np.log(sensitive.count)) / sizes
    level = np.clip(np.exp(entropy), 1.0, distinct_l_diversity.each(sensitive))
    whole = np.rint(level)  # seven equally frequent values are 7, not 6.999999999999999
    return np.where(np.isclose(level, whole, rtol=1e-12, atol=0), whole, level)


def of_whole(sensitive: Sensitive) -> float:
    """The l of all records as one class, which no release exceeds.

    >>> of_whole(Sensitive.from_records("ill", ["cold", "flu"], False, [0, 1], [0, 1], 2))
    2.0
    """
    return float(each(sensitive.whole())[0])


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """The model "the sensitive values of every class are as mixed as l equally frequent ones".

    A class with exactly two equally frequent values meets l = 2: a relative tolerance of 1e-12
    makes up for the rounding of logarithms.
    """

    l: Annotated[float, Range(1)]  # noqa: E741
    column: str
    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    symbol: ClassVar[str] = "l"
    folds: ClassVar[bool] = True
    place: ClassVar[int] = 1
    gloss: ClassVar[str] = "the values of every class are well mixed"
    wish: ClassVar[Mapping[str, Any]] = {"l": 2.0}

    def accepts(self, levels: np.ndarray) -> np.ndarray:
        """Which levels are at least l, within the tolerance."""
        return levels >= self.l * (1 - TOLERANCE)


def check_rows(mix: ClassMix, l: float) -> tuple[float, bool]:  # noqa: E741
    """The least exp of the entropy of a class, for the check of a release."""
    return check_at_least(np.exp(-mix.sums(mix.p * np.log(mix.p))), l)


def recount(
    classes: list[Counter[str]],
    usual: dict[str, float],
    l: float,  # noqa: E741
) -> tuple[float, bool]:
    """The least exp of the entropy of a class."""
    level = math.inf
    for mix in classes:
        shares = [count / mix.total() for count in mix.values()]
        level = min(level, math.exp(-sum(p * math.log(p) for p in shares)))
    return level, level >= l * (1 - 1e-12)


MEASURES = (
    ClassMeasure(
        "entropy_l", CARD, each, 1,
        heading="l ↑",
        title="Entropy l-diversity",
        unit="values",
        meaning="The values in the worst class are as hard to guess as this many equally frequent "
        "ones; 1: at least one person's value is certain.",
    ),
)  # fmt: skip

MODEL = EntropyLDiversity
