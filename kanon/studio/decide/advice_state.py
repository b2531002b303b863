"""What the page Decide shows of the advisor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kanon.experiments.advisor.weights import USUAL


@dataclass(frozen=True)
class AdviceView:
    """What the advisor is asked, and what its picture shows."""

    low: int | None = None  # the k; None for the k of the settings
    high: int | None = None  # the end of a range of k; None for no range
    # how much each concern matters, 0 to 10
    weights: Mapping[str, int] = field(
        default_factory=lambda: {name: round(5 * weight) for name, weight in USUAL.items()}
    )
    # whether what part 1 asks of l and t puts ways first
    limited: bool = True
    # drawn against the alteration; None for the one in which ways differ most
    concern: Literal["l", "t"] | None = None
