"""Strategies of greedy merging: which partner a class is merged with."""

from __future__ import annotations

from collections.abc import Mapping

from kanon.cards import Card

__all__ = ["STRATEGIES"]

_SOURCE = "Mauger, Le Mahec, Dequen 2023, Definition 17"

STRATEGIES: Mapping[str, Card] = {
    card.name: card
    for card in (Card("s1", "S1", "The partner of least merge cost.", _SOURCE),)
}  # fmt: skip
"""Every strategy. Ties are broken by the canonical order, or by a tie seed."""
