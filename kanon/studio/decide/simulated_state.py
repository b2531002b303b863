"""What the page Decide shows of the simulated study."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.measures.alteration import CARD
from kanon.strategies import Scope


@dataclass(frozen=True)
class SimulatedView:
    """What is shown.

    Attributes
    ----------
    scope
        Whose l and t the strategies look at.
    criterion
        What the table ranks by.
    uploads
        How often a study file was loaded, so that its field is empty again.
    """

    scope: Scope = "table"
    criterion: str = CARD.name
    uploads: int = 0
