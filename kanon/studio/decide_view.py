"""What the page Decide shows, and what was said of the purpose of the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kanon.privacy.model import SensitiveModel
from kanon.release_context import Context
from kanon.studio.advice_view import AdviceView

__all__ = ["DecidePart", "DecideView"]

DecidePart = Literal["purpose", "settings", "reverse", "study"]


@dataclass(frozen=True)
class DecideView:
    """What is shown.

    Attributes
    ----------
    part
        Which part of the page is open.
    context
        What the release is for, and what is therefore asked of it.
    uploads
        How often a context file was loaded, so that its field is empty again.
    given, most
        The model that the greatest k is looked for with (None: what is usual), and the alteration,
        in percent, that it may cost.
    advice
        What the advisor is asked.
    """

    part: DecidePart = "purpose"
    context: Context = field(default_factory=lambda: Context(release="public"))
    uploads: int = 0
    given: SensitiveModel | None = None
    most: int = 20
    advice: AdviceView = field(default_factory=AdviceView)
