"""What the page Learn shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    """

    part: LessonsPart = "steps"
    large: bool = False
