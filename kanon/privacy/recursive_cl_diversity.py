"""Recursive (c, l)-diversity: the most frequent sensitive value is not too frequent."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanon.base.formatting import count_noun
from kanon.cards import Card, read_card
from kanon.classes import EquivalenceClasses
from kanon.privacy import distinct_l_diversity
from kanon.privacy.model import ClassMeasure, Range, SensitiveModel, rounded
from kanon.privacy.row_checks import ClassMix
from kanon.sensitive import Sensitive

CARD = read_card(__file__)


def each(sensitive: Sensitive, l: int) -> np.ndarray:  # noqa: E741
    """r_1 / (r_l + r_(l+1) + ...) for each class, its counts r_1 >= r_2 >= ...

    Three colds, two anginas and one flu: 3 against 2 + 1 for l = 2, against 1 for l = 3.

    >>> values = ["angina", "cold", "flu"]
    >>> ill = Sensitive.from_records("ill", values, False, [0] * 6, [1, 1, 1, 0, 0, 2], 1)
    >>> [float(each(ill, l)[0]) for l in (2, 3, 4)]
    [1.0, 3.0, inf]

    Source: Machanavajjhala et al. 2007, Definition 4.2: the model holds if the ratio is below c.

    Shape (R,), float64. A ratio above 0; infinite for a class with fewer than l values.
    """
    sensitive = sensitive.folded  # spellings of one value count once
    most_first = np.lexsort((-sensitive.count, sensitive.of_entry))
    counts = sensitive.count[most_first]
    rank = np.arange(len(counts)) - np.repeat(sensitive.start[:-1], np.diff(sensitive.start))
    most = sensitive.summed(np.where(rank == 0, counts, 0))
    rest = sensitive.summed(np.where(rank >= l - 1, counts, 0))
    ratios = np.full(len(most), np.inf)
    np.divide(most, rest, out=ratios, where=rest > 0)
    return ratios


@dataclass(frozen=True)
class RecursiveCLDiversity(SensitiveModel):
    """The model "r_1 < c (r_l + r_(l+1) + ...) in every class, its counts r_1 >= r_2 >= ..."."""

    c: Annotated[float, Range(0, above=True)]
    l: Annotated[int, Range(2, whole=True)]  # noqa: E741
    column: str
    card: ClassVar[Card] = CARD
    symbol: ClassVar[str] = "c"
    folds: ClassVar[bool] = True
    strict: ClassVar[bool] = True
    place: ClassVar[int] = 4
    gloss: ClassVar[str] = "no value far outweighs the rarer ones"
    wish: ClassVar[Mapping[str, Any]] = {"c": 3.0, "l": 2}

    def levels_of(self, sensitive: Sensitive) -> np.ndarray:
        """The ratio of each class; infinite with fewer than l values. Shape (R,)."""
        return each(sensitive, self.l)

    def refusal(self, whole: EquivalenceClasses) -> str:
        """Why no release can meet the model: too few values, or c is not above the ratio."""
        ratio = self.level(whole)
        assert ratio is not None
        if np.isinf(ratio):
            most = int(distinct_l_diversity.each(self.find_values(whole)[0]).min())
            verb = "is" if most == 1 else "are"
            return self._write_refusal(
                f"there {verb} only {count_noun(most, 'different value')}, and l cannot be greater"
            )
        return self._write_refusal(f"c has to be above {rounded(ratio, up=True)}")


def check_rows(mix: ClassMix, c: float, l: int) -> tuple[float, bool]:  # noqa: E741
    """The largest ratio of a class, for the check of a release."""
    falling = np.lexsort((-mix.count, mix.of))
    first = np.searchsorted(mix.of[falling], np.arange(len(mix.sizes)))
    rank = np.arange(len(falling)) - first[mix.of[falling]]
    rare = np.bincount(mix.of[falling], mix.count[falling] * (rank >= l - 1))
    with np.errstate(divide="ignore"):
        levels = mix.count[falling][first] / rare
    return levels.max().item(), levels.max() < c


def recount(
    classes: list[Counter[str]],
    usual: dict[str, float],
    c: float,
    l: int,  # noqa: E741
) -> tuple[float, bool]:
    """The largest ratio of the most frequent value to those from the l-th on."""
    level = 0.0
    for mix in classes:
        counts = sorted(mix.values(), reverse=True)
        rare = sum(counts[l - 1 :])
        level = max(level, counts[0] / rare if rare else math.inf)
    return level, level < c


MEASURES = (
    ClassMeasure(
        "recursive_c", CARD, lambda sensitive: each(sensitive, 2), 7,
        heading="recursive c for l = 2 ↓",
        title="c of recursive (c, 2)-diversity",
        unit="ratio",
        meaning="In the worst class, how many times as often the most frequent value occurs as all "
        "others together.",
    ),
)  # fmt: skip

MODEL = RecursiveCLDiversity
