"""(alpha, k)-anonymity: k records in every class, and no sensitive value above a share of alpha."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy.k_anonymity import KAnonymity
from kanon.privacy.model import ClassMeasure, LevelOfClass, Range, SensitiveModel, largest
from kanon.privacy.row_checks import ClassMix, check_at_least, check_at_most
from kanon.sensitive import Sensitive

CARD = read_card(__file__)


def each(sensitive: Sensitive) -> np.ndarray:
    """alpha(C) = max over s of p(s, C) for each class: the certainty of the best guess.

    A class with two colds, and one with a cold and a flu.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist()
    [1.0, 0.5]

    Source: Wong, Li, Fu, Wang 2006, Definition 2; there for one secret value, here for every value.

    Shape (R,), float64. A share, from 1 / v (v values, equally frequent) to 1 (everyone has the
    same value).
    """
    by_value = sensitive.folded  # spellings of one value count once
    return largest(by_value, by_value.count) / by_value.sizes


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveModel):
    """The model "k records in every class, and no sensitive value with a share above alpha"."""

    alpha: Annotated[float, Range(0, 1, above=True)]
    k: Annotated[int, Range(2, whole=True)]
    column: str
    card: ClassVar[Card] = CARD
    level_of_class: ClassVar[LevelOfClass] = staticmethod(each)
    symbol: ClassVar[str] = "alpha"
    folds: ClassVar[bool] = True
    place: ClassVar[int] = 5
    gloss: ClassVar[str] = "no value fills too much of a class"
    wish: ClassVar[Mapping[str, Any]] = {"alpha": 0.5, "k": 2}

    def accepts_values(self, values: Sensitive) -> np.ndarray:
        """Which histograms meet the model and have k records. Shape (R,), bool."""
        return super().accepts_values(values) & (values.sizes >= self.k)

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model: too few records, or a value is too frequent."""
        size, least = KAnonymity(self.k), int(self.find_values(whole)[0].sizes.min())
        if least >= self.k:
            return super().refusal(whole)
        if not size.holds(whole):
            return size.refusal(whole)
        return self._write_refusal(
            f"only {count_noun(least, 'record agrees', 'records agree')} in all other sensitive "
            "columns"
        )


def check_rows(mix: ClassMix, alpha: float, k: int) -> tuple[float, bool]:
    """The largest share of a value in a class, for the check of a release."""
    level, holds = check_at_most(mix.p, alpha)
    return level, holds and check_at_least(mix.sizes, k)[1]


def recount(
    classes: list[Counter[str]], usual: dict[str, float], alpha: float, k: int
) -> tuple[float, bool]:
    """The largest share of a value in a class."""
    level = max(max(mix.values()) / mix.total() for mix in classes)
    large = all(mix.total() >= k for mix in classes)
    return level, large and level <= alpha * (1 + 1e-12) + 1e-12


MEASURES = (
    ClassMeasure(
        "alpha", CARD, each, 6,
        heading="best guess, % ↓",
        title="Largest share of one value",
        unit="%",
        meaning="How often the best guess at a person's value is right in the worst class.",
    ),
)  # fmt: skip

MODEL = AlphaKAnonymity
