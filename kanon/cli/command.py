"""A command, and all there are: adding one is adding a file to this folder."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

import kanon.cli


@dataclass(frozen=True)
class Command:
    """What a command's file carries as ``COMMAND``, beside ``add_arguments`` and ``execute``.

    Attributes
    ----------
    name
        What is typed after ``python -m kanon``.
    help
        What it does, in half a sentence.
    place
        Where it stands among the commands of ``--help``: after all others, if not given.
    """

    name: str
    help: str
    place: int = 1000


def commands() -> list[ModuleType]:
    """The modules of this folder that carry a command, in the order of ``--help``.

    >>> [module.COMMAND.name for module in commands()][:3]
    ['app', 'run', 'sweep']
    """
    names = [info.name for info in pkgutil.iter_modules(kanon.cli.__path__)]
    modules = [importlib.import_module(f"kanon.cli.{name}") for name in names]
    found = [module for module in modules if hasattr(module, "COMMAND")]
    return sorted(found, key=lambda module: (module.COMMAND.place, module.COMMAND.name))
