"""What the page Decide shows of the simulated study."""

from __future__ import annotations

from dataclasses import dataclass

from kanon.measures.alteration import CARD
from kanon.strategies import Scope
from kanon.studio.session.parts import SessionPart


@dataclass(frozen=True)
class SimulatedView(SessionPart):
    """What the simulation shows."""

    scope: Scope = "table"  # whose l and t the strategies look at
    criterion: str = CARD.name  # what the table ranks by
    uploads: int = 0  # how often a study file was loaded, so that its field is empty again
