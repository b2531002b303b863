"""What the page Decide shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kanon.base.language import say
from kanon.privacy.model import SensitiveModel
from kanon.studio.decide.advice_state import AdviceView
from kanon.studio.session.settings_change import SettingsChange

DecidePart = Literal["purpose", "settings", "reverse", "study"]


@dataclass(frozen=True)
class DecideView:
    """What is shown.

    Attributes
    ----------
    part
        Which part of the page is open.
    uploads
        How often a context file was loaded, so that its field is empty again.
    given, most
        The model that the greatest k is looked for with (None: what is usual), and the alteration,
        in percent, that it may cost.
    advice
        What the advisor is asked.
    taken
        What each part of the page changed at the settings last, while it can be given back; see
        :mod:`kanon.studio.decide.settings_undo`.
    """

    part: DecidePart = "purpose"
    uploads: int = 0
    given: SensitiveModel | None = None
    most: int = 20
    advice: AdviceView = field(default_factory=AdviceView)
    taken: Mapping[DecidePart, SettingsChange] = field(default_factory=dict)

    LABELS: ClassVar[Mapping[str, str]] = {"given": say("Given")}
