"""An algorithm step by step, on the page Learn."""

from __future__ import annotations

from kanon.studio.work import Work

__all__ = ["show_steps"]


def show_steps(work: Work) -> None:
    """Draw the lesson of an algorithm."""
