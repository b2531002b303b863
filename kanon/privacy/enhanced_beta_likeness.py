"""Enhanced beta-likeness: basic beta-likeness that also keeps frequent values from certainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.privacy import basic_beta_likeness
from kanon.privacy.model import Range, SensitiveModel, largest
from kanon.sensitive import Sensitive

CARD = Card(
    name="enhanced-beta-likeness",
    title="Enhanced beta-likeness",
    summary="As basic beta-likeness, and in no class does the share p of a value grow by more than "
    "-ln p times itself, which keeps frequent values from becoming certain.",
    source="Cao, Karras 2012",
    unit="relative gain",
    direction="lower",
    lowest="0: every class is mixed as the whole table",
    highest="infinite: in some class a value grew by more than any beta allows",
)


def each(sensitive: Sensitive) -> np.ndarray:
    """The least beta that each class meets: max over s of its relative gain, if all are allowed.

    A gain (p(s, C) - p(s, T)) / p(s, T) has to be at most min(beta, -ln p(s, T)). So the level is
    that of basic beta-likeness, or infinite if some gain is above -ln p(s, T).

    Returns
    -------
    numpy.ndarray, shape (R,), float64
        From 0, the class is mixed as the table; infinite where no beta is enough. Never below the
        level of basic beta-likeness.

    Notes
    -----
    Source: Cao, Karras 2012, Definition 3.

    Examples
    --------
    Twice a cold; a cold and a flu. Colds may grow by -ln 3/4 = 0.29, not by 0.33; flus by
    -ln 1/4 = 1.39.

    >>> ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 0, 1, 1], [0, 0, 0, 1], 2)
    >>> each(ill).tolist()
    [inf, 1.0]
    """
    gains = basic_beta_likeness.gains(sensitive)
    allowed = np.log(sensitive.total.sum() / sensitive.total[sensitive.value])
    return largest(sensitive, np.where(gains <= allowed, gains, np.inf))


@dataclass(frozen=True)
class EnhancedBetaLikeness(SensitiveModel):
    """The model "every relative gain of every class is at most beta, and at most -ln p(s, T)".

    Parameters
    ----------
    beta
        A number above 0.
    column
        The sensitive column.

    Raises
    ------
    PlanError
        beta is anything else.
    """

    beta: Annotated[float, Range(0, above=True)]
    column: str
    card: ClassVar[Card] = CARD
    symbol: ClassVar[str] = "beta"
    of_table: ClassVar[bool] = True

    def levels(self, classes: EquivalenceClasses) -> np.ndarray:
        """The least beta that each class meets. Shape (R,)."""
        return each(classes.sensitive_named(self.column))

    def accepts(self, levels: np.ndarray) -> np.ndarray:
        """Which levels are at most beta."""
        return levels <= self.beta


MODEL = EnhancedBetaLikeness
