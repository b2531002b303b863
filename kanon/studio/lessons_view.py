"""What the page Learn shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kanon.studio.lessons_steps_view import StepsView

__all__ = ["LessonsPart", "LessonsView"]

LessonsPart = Literal["steps", "attacks", "exercises"]


@dataclass(frozen=True)
class LessonsView:
    """What is shown.

    Attributes
    ----------
    part
        Which part of the page is open.
    large
        Whether type is large enough for a projector.
    steps
        What its part Step by step shows.
    """

    part: LessonsPart = "steps"
    large: bool = False
    steps: StepsView = field(default_factory=StepsView)
