"""The card of a part: what a page needs to offer an algorithm, a metric or a measure by itself."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Literal


@dataclass(frozen=True)
class Card:
    """What a part is called, what it says, and where it comes from.

    Attributes
    ----------
    name
        The name in plans and on the command line.
    title
        The name on a page, in sentence case.
    summary
        One sentence for somebody who is not a statistician.
    source
        The publication that defines it.
    unit
        The unit of its number; empty for parts that are not numbers.
    direction
        Which way is better for who uses the released table.
    lowest, highest
        What both ends of its range mean.
    """

    name: str
    title: str
    summary: str
    source: str
    unit: str = ""
    direction: Literal["lower", "higher", ""] = ""
    lowest: str = ""
    highest: str = ""

    @property
    def arrow(self) -> str:
        """``↓ better``, ``↑ better`` or nothing."""
        return {"lower": "↓ better", "higher": "↑ better", "": ""}[self.direction]


@dataclass(frozen=True)
class Parameter:
    """A choice that one part offers beside those that many share.

    Attributes
    ----------
    name
        The key in plans.
    title
        The name on a page, in sentence case.
    choices
        What can be chosen, with what each is called on a page.
    default
        What is chosen if nobody says anything.
    help
        What it decides, in a sentence.
    """

    name: str
    title: str
    choices: Mapping[str, str]
    default: str
    help: str


@cache
def parts_of(package: ModuleType) -> Mapping[str, ModuleType]:
    """The modules of a package that carry a ``CARD``, by the card's name, in alphabetical order.

    Adding a part is adding one file: nothing else lists it.

    >>> import kanon.algorithms
    >>> "gaa" in parts_of(kanon.algorithms)
    True
    """
    found = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        card = getattr(module, "CARD", None)
        if isinstance(card, Card):
            found[card.name] = module
    return MappingProxyType(dict(sorted(found.items())))
