"""The card of a part: what a page needs to offer an algorithm, a metric or a measure."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal

from kanon.base.data_files import read_data


@dataclass(frozen=True)
class Card:
    """The names, the meaning and the source of a part."""

    name: str  # in plans and on the command line
    title: str  # on a page, in sentence case
    summary: str  # one sentence for readers who are not statisticians
    source: str  # the publication that defines it
    unit: str = ""  # of its number; empty for parts that are not numbers
    direction: Literal["lower", "higher", ""] = ""  # which way is better for users of the release
    # the meaning of both ends of its range
    lowest: str = ""
    highest: str = ""

    @property
    def arrow(self) -> str:
        """``↓ better``, ``↑ better`` or nothing."""
        return {"lower": "↓ better", "higher": "↑ better", "": ""}[self.direction]


def read_cards(module: str) -> dict[str, Card]:
    """The cards in the TOML file beside a module, whose ``__file__`` is given, by their names."""
    return {name: Card(name, **texts) for name, texts in read_data(module).items()}


def read_card(module: str, key: str = "") -> Card:
    """The card of a part in ``cards.toml`` of its folder, by the name of its file, or by a key."""
    return Card(**read_data(module, "cards.toml")[key or Path(module).stem])


@dataclass(frozen=True)
class Parameter:
    """An option of one part, besides those that many share."""

    name: str  # the key in plans
    title: str  # the name on a page, in sentence case
    choices: Mapping[str, str]  # by their names in plans the titles on a page
    default: str
    help: str  # what it decides, in a sentence


class Parts(Mapping[str, ModuleType]):
    """See :func:`parts_of`."""

    def __init__(self, package: ModuleType) -> None:
        self._package = package

    def __getitem__(self, name: str) -> ModuleType:
        # Where a file has the name of its part, the others need no import, which takes long.
        file = name.replace("-", "_")
        if file in self._files and _get_part_name(module := self._import_file(file)) == name:
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
        module_by_name = {
            _get_part_name(module): module for module in map(self._import_file, self._files)
        }
        return {name: module_by_name[name] for name in sorted(module_by_name) if name}

    def _import_file(self, file: str) -> ModuleType:
        return importlib.import_module(f"{self._package.__name__}.{file}")


def _get_part_name(module: ModuleType) -> str:
    card = getattr(module, "CARD", None)
    return card.name if isinstance(card, Card) else ""


@cache
def parts_of(package: ModuleType) -> Parts:
    """The modules of a package that carry a ``CARD``, by the card's name, in alphabetical order.

    Adding a part is adding one file, and the texts of its card: nothing else lists it.

    >>> import kanon.algorithms
    >>> "gaa" in parts_of(kanon.algorithms)
    True
    """
    return Parts(package)
