"""Exercises and their answers, on the page Learn."""

from __future__ import annotations

from kanon.studio.work import Work

__all__ = ["show_exercises"]


def show_exercises(work: Work) -> None:
    """Draw an exercise set."""
