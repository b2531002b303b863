"""Enhanced beta-likeness: basic beta-likeness that also keeps frequent values from certainty."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanon.cards import Card, read_card
from kanon.privacy.basic_beta_likeness import BasicBetaLikeness, gains
from kanon.privacy.model import ClassMeasure, LevelOfClass, largest
from kanon.privacy.row_checks import TOLERANCE, ClassMix, check_at_most
from kanon.sensitive import Sensitive

CARD = read_card(__file__)


def each(sensitive: Sensitive) -> np.ndarray:
    """The least beta that each class meets: max over s of its relative gain, if all are allowed.

    A gain (p(s, C) - p(s, T)) / p(s, T) has to be at most min(beta, -ln p(s, T)). So the level is
    that of basic beta-likeness, or infinite if some gain is above -ln p(s, T).

    A class with two colds, and one with a cold and a flu. Colds may grow by -ln 3/4 = 0.29, not by
    0.33; flus by -ln 1/4 = 1.39.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist()
    [inf, 1.0]

    Source: Cao, Karras 2012, Definition 3.

    Shape (R,), float64. From 0 (the class is mixed like the table); infinite where no beta is
    enough. Never below the level of basic beta-likeness.
    """
    grown = gains(sensitive)
    largest_gain = np.log(sensitive.total.sum() / sensitive.total[sensitive.value])
    return largest(sensitive, np.where(grown <= largest_gain, grown, np.inf))


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """The model "every relative gain of every class is at most beta, and at most -ln p(s, T)"."""

    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    place: ClassVar[int] = 8
    gloss: ClassVar[str] = "the same, stricter for frequent values"


def check_rows(mix: ClassMix, beta: float) -> tuple[float, bool]:
    """The largest relative gain, infinite if one is not allowed, for the check of a release."""
    gains = np.maximum(mix.p / mix.q - 1, 0)
    largest_gain = -np.log(mix.q) * (1 + TOLERANCE) + 1e-12
    return check_at_most(np.where(gains <= largest_gain, gains, np.inf), beta)


def recount(
    classes: list[Counter[str]], usual: dict[str, float], beta: float
) -> tuple[float, bool]:
    """The largest relative gain of a value in a class; infinite where one is not allowed."""
    level = 0.0
    for mix in classes:
        for value, count in mix.items():
            gain = count / mix.total() / usual[value] - 1
            largest_gain = -math.log(usual[value]) * (1 + 1e-12) + 1e-12
            level = max(level, gain if gain <= largest_gain else math.inf)
    return level, level <= beta * (1 + 1e-12) + 1e-12


MEASURES = (ClassMeasure("enhanced_beta", CARD, each, 11, heading="enhanced β ↓"),)

MODEL = EnhancedBetaLikeness
