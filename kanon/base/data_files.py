"""Data and texts that stand in a TOML file beside their module."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


def read_data(module: str, name: str = "") -> dict[str, Any]:
    """The content of a TOML file beside a module, whose ``__file__`` is given.

    Without a name it is the file of the same name as the module.
    """
    path = Path(module).with_name(name) if name else Path(module).with_suffix(".toml")
    return _read_file(path)


@cache
def _read_file(path: Path) -> dict[str, Any]:
    """Several parts have their texts in one file, which is read once; nobody changes them."""
    return tomllib.loads(path.read_text("utf-8"))
