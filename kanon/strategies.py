"""Strategies of greedy merging: which partner a class is merged with."""

from collections.abc import Mapping
from typing import Literal, get_args

from kanon.base.data_files import read_data
from kanon.cards import Card

Scope = Literal["table", "class"]

_DATA = read_data(__file__)
_STRATEGIES = _DATA["strategies"]


def _read_card(name: str, texts: Mapping[str, str]) -> Card:
    return Card(name, texts["title"], texts["summary"], texts["source"])


STRATEGIES: Mapping[str, Card] = {
    name: _read_card(name, texts) for name, texts in _STRATEGIES.items()
}
"""Every strategy. Ties are broken by the canonical order, or by a tie seed."""

PARTNERS: Mapping[str, str] = {name: texts["in_few_words"] for name, texts in _STRATEGIES.items()}
"""Each strategy in a few words, where there is little room."""

LOOKS_AT: Mapping[str, Literal["", "l", "t", "k"]] = {
    name: texts.get("looks_at", "") for name, texts in _STRATEGIES.items()
}
"""What a strategy looks at beside the cost: l-diversity, t-closeness, the smallest class, nothing.
"""

SCOPES: Mapping[Scope, Card] = {
    scope: _read_card(scope, _DATA["scopes"][scope]) for scope in get_args(Scope)
}
"""Whose l, t or k a strategy looks at."""


def needs_sensitive(strategy: str) -> bool:
    """Whether a strategy looks at a sensitive column.

    >>> [name for name in STRATEGIES if not needs_sensitive(name)]
    ['s1', 'k']
    """
    return LOOKS_AT[strategy] in ("l", "t")
