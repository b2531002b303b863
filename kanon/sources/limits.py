"""How large a table may be that is read into memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kanon.base.formatting import counted, thin
from kanon.errors import TableError, quoted
from kanon.settings import MEGABYTE, bytes_of, exceeded, settings
from kanon.stored_classes import too_many_classes

_OURS: ContextVar[bool] = ContextVar("of_our_own", default=False)


@contextmanager
def of_our_own() -> Iterator[None]:
    """Within it a table may have any size: a sample that comes with kanon is nobody's upload.

    >>> with of_our_own():
    ...     check_size("census.csv", 10**12, 9)
    """
    before = _OURS.set(True)
    try:
        yield
    finally:
        _OURS.reset(before)


def check_size(name: str, rows: int, columns: int) -> None:
    """Check the records, columns and cells of a table, as soon as they are known.

    >>> check_size("t.csv", 3, 2_000_000)
    Traceback (most recent call last):
    kanon.errors.TableError: 't.csv' has 2...000...000 columns; the most allowed is ...
    """
    if _OURS.get():
        return
    most = settings()
    found = {"columns": columns, "rows": rows, "cells": rows * columns}
    words = {"columns": "column", "rows": "record", "cells": "cell"}
    for limit, number in found.items():
        if number > getattr(most, limit):
            raise TableError(exceeded(limit, f"{quoted(name)} has {counted(number, words[limit])}"))


def check_unpacked(name: str, size: int) -> None:
    if size > bytes_of("unpacked_megabytes"):
        what = f"{quoted(name)} unpacks to {thin(-(-size // MEGABYTE))} MB or more"
        raise TableError(exceeded("unpacked_megabytes", what))


def check_classes(number: int) -> None:
    if number > settings().classes:
        raise too_many_classes(number)
