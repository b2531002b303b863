"""What several readers say alike."""

from __future__ import annotations

from kanon.errors import TableError, quoted

__all__ = ["empty", "thin"]


def thin(count: int) -> str:
    """A count with thin spaces between its thousands.

    >>> thin(30162) == "30\\u2009162"
    True
    """
    return f"{count:,}".replace(",", "\u2009")


def empty(name: str) -> TableError:
    """The error for a file that holds nothing.

    >>> print(empty("people.csv"))
    'people.csv' is empty: a header and at least one record are needed.
    """
    return TableError(f"{quoted(name)} is empty: a header and at least one record are needed.")
