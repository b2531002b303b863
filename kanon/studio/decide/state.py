"""What the page Decide shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kanon.privacy.model import SensitiveModel
from kanon.studio.decide.advice_state import AdviceView
from kanon.studio.session.changed_settings import SettingsChange
from kanon.studio.session.parts import SessionPart

DecidePart = Literal["purpose", "settings", "reverse", "study"]


@dataclass(frozen=True)
class DecideView(SessionPart):
    """Which part of the page is open, and what its parts show."""

    part: DecidePart = "purpose"
    uploads: int = 0  # how often a context file was loaded, so that its field is empty again
    given: SensitiveModel | None = None  # the model of the greatest k; None for the usual one
    most: int = 20  # the alteration, in percent, that the greatest k may cost
    advice: AdviceView = field(default_factory=AdviceView)
    # the settings that each part of the page changed last, while it can be undone
    taken: Mapping[DecidePart, SettingsChange] = field(default_factory=dict)

    LABELS: ClassVar[Mapping[str, str]] = {"given": "Given"}
