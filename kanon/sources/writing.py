"""A table written so that reading it again gives the same cells.

>>> table_bytes(pd.DataFrame({"zip": ["007", None], "note": ["a,b", "c"]}), "csv")
b'zip,note\\n007,"a,b"\\n,c\\n'
"""

from __future__ import annotations

import csv
import io
import os
import stat
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from kanon.base.values import canonical_text
from kanon.errors import TableError, quoted
from kanon.sources.formulas import is_formula, neutralised
from kanon.sources.padding import is_padded
from kanon.sources.plain_columns import bare_column
from kanon.sources.room import check_room
from kanon.sources.separators import check_separator
from kanon.sources.text_form import PLAIN, TextForm

KINDS = ("csv", "tsv", "parquet", "feather", "xlsx")
"""The kinds of table file, by the ending of their names."""

MIME: Mapping[str, str] = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
    "feather": "application/vnd.apache.arrow.file",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""What a browser is told that a download is."""

SHEET_RECORDS = 1_048_575
"""The most records that fit on a sheet below its header."""

_SHEET_COLUMNS = 16_384
_SHEET_TEXT = 32_767
_SHEET_DIGITS = 10**15
_SHEET_CREATED = datetime(1980, 1, 1)  # the day that zips begin with, not when it was released
_SHEET_FIRST_DAY = pd.Timestamp(1900, 3, 1)  # Excel counts a 29 February 1900 that never was

_ONE_TYPE = {
    *("string", "integer", "floating", "mixed-integer-float", "boolean", "decimal"),
    *("date", "datetime", "time", "timedelta", "empty"),
}


def write_whole(content: bytes, path: Path) -> None:
    """Write a file that appears complete or not at all; one that stood there is replaced.

    The new file may be read and written by whom the old one allowed it, never by more.

    Raises
    ------
    TableError
        If the place cannot be written to, is a pipe, a device or write-protected, or lacks the
        room.
    """
    check_replaceable(path)
    check_room(path, len(content))
    # In the same folder, so that the last step cannot stop halfway.
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
            f"{quoted(path)} cannot be written: {(error.strerror or 'no reason given').lower()}."
        ) from None


def check_replaceable(path: Path) -> None:
    """Check that what stands at a path, if anything, is a file that another one may replace.

    Raises
    ------
    TableError
        It is a pipe or a device, or it is write-protected.
    """
    try:
        found = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or writing will say what is wrong
        return
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):
        raise TableError(
            f"{quoted(path, 200)} is a pipe or a device, not a file: give another name."
        )
    # Who runs kanon as root may write to all files, and has protected this one all the same.
    if not found & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise TableError(
            f"{quoted(path, 200)} is write-protected: give another name, or allow writing to it."
        )


def keep_mode(part: Path, path: Path) -> None:
    """Let the same people read and write a file as the one that it will replace, if there is one.

    Raises
    ------
    OSError
        The rights cannot be set.
    """
    if path.is_file():
        part.chmod(path.stat().st_mode & 0o777)


def table_bytes(
    table: pd.DataFrame, kind: str, form: TextForm = PLAIN, neutral: bool = False
) -> bytes:
    """The content of a table file; the index of the table is not part of it.

    A CSV or TSV has quotes where they are needed and missing cells empty; ``form`` is for these
    two. With ``neutral``, cells of a CSV or TSV that a spreadsheet would take for a
    formula begin with an apostrophe, and all stand in quotes; in XLSX they are marked as text and
    stay as they are, always, and Parquet and Feather have no formulas. Columns of mixed types
    or time zones and numbers of 39 digits or more become text in Parquet and Feather, and whatever
    Excel would change (long numbers, dates before March 1900, time zones) becomes text in XLSX.

    Raises
    ------
    TableError
        If the kind is not one of :data:`KINDS`, the table does not fit on a sheet, or the encoding
        lacks some of its characters.

    >>> table_bytes(pd.DataFrame({"a": [1], "b": [None]}), "csv", TextForm(";"))
    b'a;b\\n1;\\n'
    """
    if neutral and kind in ("csv", "tsv"):
        table = neutralised(table)
    if kind == "csv":
        check_separator(form.separator)
        return _text(table, form, neutral)
    if kind == "tsv":
        return _text(table, replace(form, separator="\t"), neutral)
    if kind == "xlsx":
        return _sheet(table)
    if kind not in KINDS:
        raise TableError(f"Kind {quoted(kind)} is not known: allowed are {', '.join(KINDS)}.")
    content = arrow_table(table)
    buffer = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(content, buffer)
    else:
        pyarrow.feather.write_feather(content, buffer)
    return buffer.getvalue()


def arrow_table(table: pd.DataFrame) -> pa.Table:
    """A table as Parquet and Feather hold it: columns of mixed types as text, no index."""
    names = [str(name) for name in table.columns]
    return pa.table([_arrow(column) for _, column in table.items()], names=names)


def misread_bare(content: bytes, separator: str = ",") -> bool:
    """Whether a CSV with quotes only where the csv module puts them would not be read as it is.

    It leaves some bytes bare that a reader would take for a line's end, for padding, or for the
    mark of the encoding.

    >>> misread_bare(b"a,b\\r"), misread_bare(b"a,b\\n")
    (True, False)
    """
    return b"\r" in content or is_padded(content, separator) or content.startswith(b"\xef\xbb\xbf")


def _text(table: pd.DataFrame, form: TextForm, quotes: bool) -> bytes:
    def written(quoting: Any, line_end: str = "\n") -> str:
        return table.to_csv(
            sep=form.separator, index=False, lineterminator=line_end, quoting=quoting
        )

    quoting: Any = csv.QUOTE_ALL if quotes else csv.QUOTE_MINIMAL
    content = written(quoting)
    if not quotes and misread_bare(content.encode(), form.separator):
        quoting = csv.QUOTE_ALL
        content = written(quoting)
    return form.encoded(content if form.line_end == "\n" else written(quoting, form.line_end))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else canonical_text(value)


def _as_text(column: pd.Series) -> pd.Series:
    # Value by value: a lookup of distinct values would take True for 1.
    return pd.Series([None if pd.isna(v) else _plain(v) for v in column], dtype="str")


def _arrow(column: pd.Series) -> Any:
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        # pyarrow would cut the hour off a moment that follows a date.
        dates = kind in ("date", "datetime") and column.dropna().map(type).nunique() > 1
        # It would also take moments of several zones to one of them, and the zones off times.
        zones = _zones(column) if kind in ("date", "datetime", "time") else {None}
        zoned = len(zones) > 1 or (kind == "time" and zones != {None})
        if dates or zoned or kind not in _ONE_TYPE:
            column = _as_text(column)
    column = bare_column(column)
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):  # whole numbers beyond 64 bits, periods, …
        found = None
    # Neither DuckDB, which checks the release, nor others read half floats and 39 digits or more.
    if found is not None and pa.types.is_float16(found.type):
        return found.cast(pa.float32())
    if found is None or pa.types.is_decimal256(found.type):
        return pa.array(_as_text(column), from_pandas=True)
    return found


def _zones(column: pd.Series) -> set[Any]:
    """The time zones of a column of objects, None for what has none."""
    return {getattr(value, "tzinfo", None) for value in column.dropna()}


def why_not(kind: str, make: Callable[[], pd.DataFrame]) -> str | None:
    """Why a table cannot be written as a kind, in a sentence; None if it can.

    Parameters
    ----------
    kind
        One of :data:`KINDS`; only XLSX has limits.
    make
        Makes the table, if it has to be looked at.

    >>> why_not("csv", lambda: pd.DataFrame()) is None
    True
    """
    if kind == "xlsx":
        try:
            _sheet_columns(make())
        except TableError as error:
            return error.sentence
    return None


def _sheet_columns(table: pd.DataFrame) -> list[pd.Series]:
    """The columns as a sheet can hold them, or the reason why it cannot."""
    if len(table) > SHEET_RECORDS or table.shape[1] > _SHEET_COLUMNS:
        raise TableError(
            f"A table of {len(table):,} records and {table.shape[1]:,} columns does not fit on a"
            f" sheet: XLSX allows {SHEET_RECORDS:,} and {_SHEET_COLUMNS:,}; use CSV or Parquet."
        )
    columns = [_sheet_column(column) for _, column in table.items()]
    for name, column in zip(table.columns, columns, strict=True):
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            _check_lengths(str(name), column)
    return columns


def _sheet(table: pd.DataFrame) -> bytes:
    columns = _sheet_columns(table)
    fitting = pd.concat(columns, axis=1) if columns else table
    fitting.columns = pd.Index([str(name) for name in table.columns], dtype=object)
    options = {
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "in_memory": True,  # no copy of the records in a temporary folder
    }
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="xlsxwriter", engine_kwargs={"options": options}) as writer:
        # The same table is the same bytes on any day: checksums are compared.
        writer.book.set_properties({"created": _SHEET_CREATED})
        fitting.to_excel(writer, index=False, sheet_name="table")
        _mark_texts(writer, fitting)
    return buffer.getvalue()


def _mark_texts(writer: Any, table: pd.DataFrame) -> None:
    """Mark what begins like a formula as text for good: else it would be one after an edit."""
    sheet, cell = writer.sheets["table"], writer.book.add_format({"quote_prefix": True})
    header = writer.book.add_format({"quote_prefix": True, "bold": True})
    for place, name in enumerate(table.columns):
        if is_formula(name):
            sheet.write_string(0, place, name, header)
        column = table.iloc[:, place]
        if column.dtype != object and not isinstance(column.dtype, pd.StringDtype):
            continue
        for row, text in enumerate(column, start=1):
            if isinstance(text, str) and is_formula(text):
                sheet.write_string(row, place, text, cell)


def _sheet_column(column: pd.Series) -> pd.Series:
    """The column, or its text where Excel would change the values."""
    column = column.reset_index(drop=True)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("string", "boolean", "floating", "empty"):
        return column
    if kind == "integer":
        values = column.dropna()
        fits = (
            not len(values) or max(abs(int(values.min())), abs(int(values.max()))) < _SHEET_DIGITS
        )
        return column if fits else _as_text(column)
    if kind in ("date", "datetime", "datetime64"):
        if column.dtype == object and _zones(column) - {None}:
            return _as_text(column)
        days = pd.to_datetime(column)
        plain = days.dt.tz is None and not (days < _SHEET_FIRST_DAY).any()
        return column if plain else _as_text(column)
    if kind in ("mixed-integer", "mixed-integer-float", "decimal"):
        simple = column.map(lambda v: isinstance(v, (str, float)) or _short(v), na_action="ignore")
        return column if (simple | column.isna()).all() else _as_text(column)
    return _as_text(column)


def _short(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and abs(int(value)) < _SHEET_DIGITS


def _check_lengths(name: str, column: pd.Series) -> None:
    if max((len(v) for v in column if isinstance(v, str)), default=0) > _SHEET_TEXT:
        raise TableError(
            f"Column {quoted(name)} has a cell of more than {_SHEET_TEXT:,} characters, the most"
            " that XLSX allows: use CSV or Parquet."
        )
