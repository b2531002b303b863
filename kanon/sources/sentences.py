"""What several readers say alike."""

from __future__ import annotations

from kanon.errors import TableError, quoted


def empty(name: str) -> TableError:
    """The error for a file that holds nothing.

    >>> print(empty("people.csv"))
    'people.csv' is empty: a header and at least one record are needed.
    """
    return TableError(f"{quoted(name)} is empty: a header and at least one record are needed.")
