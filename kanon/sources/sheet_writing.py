"""An XLSX file of a table: what Excel would change is written as text."""

import io
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from kanon.errors import TableError, quoted
from kanon.sources.arrow_tables import as_text, time_zones
from kanon.sources.formulas import is_formula

SHEET_RECORDS = 1_048_575  # the most records that fit on a sheet below its header

_SHEET_COLUMNS = 16_384
_SHEET_TEXT = 32_767
_SHEET_DIGITS = 10**15
_SHEET_CREATED = datetime(1980, 1, 1)  # the day that zips begin with, not when it was released
_SHEET_FIRST_DAY = pd.Timestamp(1900, 3, 1)  # Excel counts a 29 February 1900 that never was


def sheet_columns(table: pd.DataFrame) -> list[pd.Series]:
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


def sheet_bytes(table: pd.DataFrame, *_: object) -> bytes:
    columns = sheet_columns(table)
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
        return column if fits else as_text(column)
    if kind in ("date", "datetime", "datetime64"):
        if column.dtype == object and time_zones(column) - {None}:
            return as_text(column)
        days = pd.to_datetime(column)
        plain = days.dt.tz is None and not (days < _SHEET_FIRST_DAY).any()
        return column if plain else as_text(column)
    if kind in ("mixed-integer", "mixed-integer-float", "decimal"):
        simple = column.map(lambda v: isinstance(v, (str, float)) or _short(v), na_action="ignore")
        return column if (simple | column.isna()).all() else as_text(column)
    return as_text(column)


def _short(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and abs(int(value)) < _SHEET_DIGITS


def _check_lengths(name: str, column: pd.Series) -> None:
    if max((len(v) for v in column if isinstance(v, str)), default=0) > _SHEET_TEXT:
        raise TableError(
            f"Column {quoted(name)} has a cell of more than {_SHEET_TEXT:,} characters, the most"
            " that XLSX allows: use CSV or Parquet."
        )
