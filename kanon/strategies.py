"""Strategies of greedy merging: which partner a class is merged with."""

from collections.abc import Mapping
from functools import partial
from typing import Literal

from kanon.cards import Card

Scope = Literal["table", "class"]

_SOURCE = "Mauger, Le Mahec, Dequen 2023, Definition 17"
_card = partial(Card, source=_SOURCE)

_CARDS = (
    _card("s1", "S1: least cost", "The partner that is cheapest to merge with."),
    _card(
        "s2", "S2: least cost, then highest l",
        "Among the cheapest partners, one that leaves the highest l-diversity.",
    ),
    _card(
        "s3", "S3: highest l, then least cost",
        "Among the partners that leave the highest l-diversity, the cheapest.",
    ),
    _card(
        "s4", "S4: least cost per l",
        "The partner with the lowest merge cost divided by the l-diversity that it leaves.",
    ),
    _card(
        "s5", "S5: least cost, then lowest t",
        "Among the cheapest partners, one that leaves the lowest t-closeness.",
    ),
    _card(
        "s6", "S6: lowest t, then least cost",
        "Among the partners that leave the lowest t-closeness, the cheapest.",
    ),
    _card(
        "s7", "S7: least cost times t",
        "The partner with the lowest merge cost multiplied by the t-closeness that it leaves.",
    ),
    _card("l", "L: highest l", "A partner that leaves the highest l-diversity, whatever it costs."),
    _card("t", "T: lowest t", "A partner that leaves the lowest t-closeness, whatever it costs."),
    _card(
        "k", "K: highest k, then least cost",
        "Among the partners that make the smallest class as large as possible, the cheapest. This "
        "serves the search for the greatest k, whose releases must meet a model other than "
        "k-anonymity.",
        source="Mauger, Le Mahec, Dequen 2023, Section 4.4",
    ),
)  # fmt: skip

STRATEGIES: Mapping[str, Card] = {card.name: card for card in _CARDS}
"""Every strategy. Ties are broken by the canonical order, or by a tie seed."""

PARTNERS: Mapping[str, str] = {
    "s1": "cheapest",
    "s2": "cheapest, then highest l",
    "s3": "highest l, then cheapest",
    "s4": "least cost per l",
    "s5": "cheapest, then lowest t",
    "s6": "lowest t, then cheapest",
    "s7": "least cost times t",
    "l": "highest l",
    "t": "lowest t",
    "k": "highest k, then cheapest",
}
"""Each strategy in a few words, where there is little room."""

LOOKS_AT: Mapping[str, Literal["", "l", "t", "k"]] = {
    "s1": "", "s2": "l", "s3": "l", "s4": "l", "s5": "t", "s6": "t", "s7": "t", "l": "l", "t": "t",
    "k": "k",
}  # fmt: skip
"""What a strategy looks at beside the cost: l-diversity, t-closeness, the smallest class, nothing.
"""

SCOPES: Mapping[Scope, Card] = {
    "table": _card(
        "table", "the whole table",
        "l, t and k are those of the worst class in the whole table after the merge.",
    ),
    "class": _card("class", "the merged class", "l, t and k are those of the merged class only."),
}  # fmt: skip
"""Whose l, t or k a strategy looks at."""


def needs_sensitive(strategy: str) -> bool:
    """Whether a strategy looks at a sensitive column.

    >>> [name for name in STRATEGIES if not needs_sensitive(name)]
    ['s1', 'k']
    """
    return LOOKS_AT[strategy] in ("l", "t")
