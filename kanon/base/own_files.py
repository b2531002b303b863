"""Paths of the files that come with kanon and stand beside the package in a clone."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "dashboard"  # made of the clone's top level by setup.py


def find_own_file(*names: str) -> Path:
    """A file or folder that comes with kanon, in a clone or an installation.

    >>> find_own_file("sample_data", "hospital.csv").is_file(), find_own_file("app.py").is_file()
    (True, True)
    """
    return (_INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent).joinpath(*names)
