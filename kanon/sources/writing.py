"""Write a table so that reading it again gives the same cells.

>>> table_bytes(pd.DataFrame({"zip": ["007", None], "note": ["a,b", "c"]}), "csv")
b'zip,note\\n007,"a,b"\\n,c\\n'
"""

import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from kanon.errors import TableError, quote
from kanon.sources.formats import FORMATS
from kanon.sources.limits import check_room
from kanon.sources.text_form import PLAIN, TextForm


def write_whole(content: bytes, path: Path) -> None:
    """Write a file completely or not at all, in place of an existing one.

    The new file keeps the permissions of the old one.

    Raises
    ------
    TableError
        If the place cannot be written to, is a pipe, a device or write-protected, or lacks
        room.
    """
    check_replaceable(path)
    check_room(path, len(content))
    # In the same folder, so that the last step is atomic.
    beside = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        try:
            with beside.open("xb") as file:
                keep_mode(beside, path)
                file.write(content)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise TableError(
            f"{quote(path)} cannot be written: {(error.strerror or 'no reason given').lower()}."
        ) from None


def check_replaceable(path: Path) -> None:
    """Check that a path is no pipe or device, and not write-protected."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or writing will report the error
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise TableError(
            f"{quote(path, 200)} is a pipe or a device, not a file: choose another name."
        )
    # As root, kanon could write to all files; a protected one is still refused.
    if not mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise TableError(
            f"{quote(path, 200)} is write-protected: choose another name, or allow writing to it."
        )


def keep_mode(part: Path, path: Path) -> None:
    """Give a file the permissions of the one that it will replace, if there is one."""
    if path.is_file():
        part.chmod(path.stat().st_mode & 0o777)


def table_bytes(
    table: pd.DataFrame, kind: str, form: TextForm = PLAIN, neutral: bool = False
) -> bytes:
    """The content of a table file; the index of the table is not part of it.

    A CSV or TSV has quotes where they are needed and missing cells empty; ``form`` is for these
    two. With ``neutral``, cells of a CSV or TSV that a spreadsheet would take for a
    formula begin with an apostrophe, and all are in quotes; in XLSX they are marked as text and
    stay as they are, always, and Parquet and Feather have no formulas. Columns of mixed types
    or time zones and numbers of 39 digits or more become text in Parquet and Feather, and whatever
    Excel would change (long numbers, dates before March 1900, time zones) becomes text in XLSX.

    Raises
    ------
    TableError
        If the kind is not one of :data:`kanon.sources.formats.FORMATS`, the table does not fit on
        a sheet, or the encoding lacks some of its characters.

    >>> table_bytes(pd.DataFrame({"a": [1], "b": [None]}), "csv", TextForm(";"))
    b'a;b\\n1;\\n'
    """
    if kind not in FORMATS:
        raise TableError(f"Kind {quote(kind)} is unknown: choose from {', '.join(FORMATS)}.")
    return FORMATS[kind].write(table, FORMATS[kind].set_separator(form), neutral)


def explain_unwritable(kind: str, make: Callable[[], pd.DataFrame]) -> str | None:
    """A sentence that says why a table cannot be written as a kind; None if it can.

    >>> explain_unwritable("csv", lambda: pd.DataFrame()) is None
    True
    """
    check = FORMATS[kind].check
    try:
        if check is not None:
            check(make())
    except TableError as error:
        return error.sentence
    return None
