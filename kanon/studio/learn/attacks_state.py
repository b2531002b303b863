"""Which attack the page Learn plays out, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (
    "What was published",
    "What the attacker knows",
    "Who fits",
    "What follows",
    "What would have prevented it",
)
"""The steps of the story, and what comes after it; said where they are shown."""


@dataclass(frozen=True)
class AttackView:
    """What is shown."""

    kind: str = "linkage"
    own: bool = False  # attack the release of the session
    person: int | None = None  # by place; None: whom it tells most about
    ruled_out: tuple[str, ...] | None = None  # None: the value whose absence tells most
    step: int = 1  # of the story, from 1
