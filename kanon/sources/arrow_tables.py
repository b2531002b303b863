"""A table as Parquet, Feather, XLSX and the release check hold it: each column of one type.

A type or a buffer may hold more than its cells: values of suppressed records, which a file would
give away. So columns are written bare.
"""

import io
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from kanon.base.values import convert_to_text
from kanon.errors import TableError, quote
from kanon.sources.formulas import is_formula

_ONE_TYPE = {
    *("string", "integer", "floating", "mixed-integer-float", "boolean", "decimal"),
    *("date", "datetime", "time", "timedelta", "empty"),
}

SHEET_RECORDS = 1_048_575  # the most records that fit on a sheet below its header
_SHEET_COLUMNS = 16_384
_SHEET_TEXT = 32_767
_SHEET_DIGITS = 10**15
_SHEET_CREATED = datetime(1980, 1, 1)  # the day that zips begin with, not when it was released
_SHEET_FIRST_DAY = pd.Timestamp(1900, 3, 1)  # Excel counts a 29 February 1900, which never was


def write_parquet(table: pd.DataFrame, *_: object) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(build_arrow_table(table), buffer)
    return buffer.getvalue()


def write_feather(table: pd.DataFrame, *_: object) -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(build_arrow_table(table), buffer)
    return buffer.getvalue()


def build_arrow_table(table: pd.DataFrame) -> pa.Table:
    """A table as Parquet and Feather hold it: columns of mixed types as text, no index."""
    names = [str(name) for name in table.columns]
    return pa.table([_convert_column(column) for _, column in table.items()], names=names)


def cast_to_text(column: pd.Series) -> pd.Series:
    # Value by value: a lookup of distinct values would take True for 1.
    texts = [
        None if pd.isna(cell) else cell if isinstance(cell, str) else convert_to_text(cell)
        for cell in column
    ]
    return pd.Series(texts, dtype="str")


def _convert_column(column: pd.Series) -> Any:
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        # pyarrow would drop the time from a moment that follows a date.
        dates = kind in ("date", "datetime") and column.dropna().map(type).nunique() > 1
        # It would also convert moments of several zones to one, and drop the zones of times.
        zones = find_time_zones(column) if kind in ("date", "datetime", "time") else {None}
        zoned = len(zones) > 1 or (kind == "time" and zones != {None})
        if dates or zoned or kind not in _ONE_TYPE:
            column = cast_to_text(column)
    column = trim_column(column)
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):  # whole numbers beyond 64 bits, periods, …
        array = None
    # Neither DuckDB, which checks the release, nor others read half floats and 39 digits or more.
    if array is not None and pa.types.is_float16(array.type):
        return array.cast(pa.float32())
    if array is None or pa.types.is_decimal256(array.type):
        return pa.array(cast_to_text(column), from_pandas=True)
    return array


def find_time_zones(column: pd.Series) -> set[Any]:
    """The time zones of a column of objects; None among them for cells without one."""
    return {getattr(value, "tzinfo", None) for value in column.dropna()}


def trim_column(column: pd.Series) -> pd.Series:
    """The same cells without unused categories and without numbers beneath missing cells.

    pandas marks a whole number as missing but leaves it in the buffer, and Feather would write it.
    """
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if isinstance(kind, pd.ArrowDtype) and pa.types.is_dictionary(kind.pyarrow_dtype):
        return column.astype(pd.ArrowDtype(kind.pyarrow_dtype.value_type))
    cells = column.array
    masked = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
    if isinstance(cells, masked) and column.hasnans:
        filled = cells.to_numpy(dtype=cells.dtype.numpy_dtype, na_value=0)
        array = type(cells)(filled, column.isna().to_numpy())
        return pd.Series(array, index=column.index, name=column.name)
    return column


def trim_index(index: pd.Index) -> pd.Index:
    if isinstance(index, pd.CategoricalIndex):
        return index.remove_unused_categories()
    if isinstance(index, pd.MultiIndex):
        return index.remove_unused_levels()
    return index


def build_sheet_columns(table: pd.DataFrame) -> list[pd.Series]:
    if len(table) > SHEET_RECORDS or table.shape[1] > _SHEET_COLUMNS:
        raise TableError(
            f"A table of {len(table):,} records and {table.shape[1]:,} columns does not fit on a"
            f" sheet: XLSX allows {SHEET_RECORDS:,} and {_SHEET_COLUMNS:,}; use CSV or Parquet."
        )
    columns = [_fit_sheet_column(column) for _, column in table.items()]
    for name, column in zip(table.columns, columns, strict=True):
        if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
            _check_cell_lengths(str(name), column)
    return columns


def write_sheet(table: pd.DataFrame, *_: object) -> bytes:
    columns = build_sheet_columns(table)
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
        # The same table gives the same bytes on any day: checksums are compared.
        writer.book.set_properties({"created": _SHEET_CREATED})
        fitting.to_excel(writer, index=False, sheet_name="table")
        _mark_formula_texts(writer, fitting)
    return buffer.getvalue()


def _mark_formula_texts(writer: Any, table: pd.DataFrame) -> None:
    """Mark formula-like cells as text for good: without the mark, an edit would make them run."""
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


def _fit_sheet_column(column: pd.Series) -> pd.Series:
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
        return column if fits else cast_to_text(column)
    if kind in ("date", "datetime", "datetime64"):
        if column.dtype == object and find_time_zones(column) - {None}:
            return cast_to_text(column)
        days = pd.to_datetime(column)
        plain = days.dt.tz is None and not (days < _SHEET_FIRST_DAY).any()
        return column if plain else cast_to_text(column)
    if kind in ("mixed-integer", "mixed-integer-float", "decimal"):
        simple = column.dropna().map(lambda v: isinstance(v, (str, float)) or _is_short(v))
        return column if simple.all() else cast_to_text(column)
    return cast_to_text(column)


def _is_short(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and abs(int(value)) < _SHEET_DIGITS


def _check_cell_lengths(name: str, column: pd.Series) -> None:
    if max((len(v) for v in column if isinstance(v, str)), default=0) > _SHEET_TEXT:
        raise TableError(
            f"Column {quote(name)} has a cell of more than {_SHEET_TEXT:,} characters, the most"
            " that XLSX allows: use CSV or Parquet."
        )
