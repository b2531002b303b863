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
    """What is shown.

    Attributes
    ----------
    kind
        One of :data:`kanon.teaching.attacks.ATTACKS`.
    own
        Whether the release that the session works on is attacked, and not the invented people.
    person
        The place of the person who is attacked among all who can be; None for the one whom the
        attack tells most about.
    ruled_out
        The sensitive values that the attacker knows the person does not have; None for the one
        whose absence tells most.
    step
        The step of the story that is shown, from 1.
    """

    kind: str = "linkage"
    own: bool = False
    person: int | None = None
    ruled_out: tuple[str, ...] | None = None
    step: int = 1
