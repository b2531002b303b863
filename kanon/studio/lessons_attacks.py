"""Attacks played out, on the page Learn."""

from __future__ import annotations

from kanon.studio.work import Work

__all__ = ["show_attacks"]


def show_attacks(work: Work) -> None:
    """Draw an attack on a release."""
