"""What the page Decide shows of the advisor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kanon.experiments.advisor.weights import USUAL


@dataclass(frozen=True)
class AdviceView:
    """What is shown.

    Attributes
    ----------
    low, high
        The k; of a range its ends. None for the k of the settings, and for no range.
    weights
        How much each concern matters, 0 to 10.
    limited
        Whether what part 1 asks of l and t puts ways first.
    concern
        What stands against the alteration in the picture; None for what ways differ in most.
    """

    low: int | None = None
    high: int | None = None
    weights: Mapping[str, int] = field(
        default_factory=lambda: {name: round(5 * weight) for name, weight in USUAL.items()}
    )
    limited: bool = True
    concern: Literal["l", "t"] | None = None
