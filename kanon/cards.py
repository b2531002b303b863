"""The card of a part: what a page needs to offer an algorithm, a metric or a measure by itself."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
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


class Parts(Mapping[str, ModuleType]):
    """See :func:`parts_of`."""

    def __init__(self, package: ModuleType) -> None:
        self._package = package

    def __getitem__(self, name: str) -> ModuleType:
        # All others need not be imported, where a file is called as its part: that takes long.
        file = name.replace("-", "_")
        if file in self._files and _name_of(module := self._imported(file)) == name:
            return module
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _files(self) -> list[str]:
        return [info.name for info in pkgutil.iter_modules(self._package.__path__)]

    @cached_property
    def _all(self) -> dict[str, ModuleType]:
        found = {_name_of(module): module for module in map(self._imported, self._files)}
        return {name: found[name] for name in sorted(found) if name}

    def _imported(self, file: str) -> ModuleType:
        return importlib.import_module(f"{self._package.__name__}.{file}")


def _name_of(module: ModuleType) -> str:
    card = getattr(module, "CARD", None)
    return card.name if isinstance(card, Card) else ""


@cache
def parts_of(package: ModuleType) -> Parts:
    """The modules of a package that carry a ``CARD``, by the card's name, in alphabetical order.

    Adding a part is adding one file: nothing else lists it.

    >>> import kanon.algorithms
    >>> "gaa" in parts_of(kanon.algorithms)
    True
    """
    return Parts(package)
