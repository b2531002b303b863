"""A table as Parquet, Feather and the release check hold it: each column of one type.

A type or a buffer may hold more than its cells: the values of records that are gone, which a file
would hand out. So columns are written bare.
"""

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from kanon.base.values import canonical_text

_ONE_TYPE = {
    *("string", "integer", "floating", "mixed-integer-float", "boolean", "decimal"),
    *("date", "datetime", "time", "timedelta", "empty"),
}


def parquet_bytes(table: pd.DataFrame, *_: object) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(arrow_table(table), buffer)
    return buffer.getvalue()


def feather_bytes(table: pd.DataFrame, *_: object) -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(arrow_table(table), buffer)
    return buffer.getvalue()


def arrow_table(table: pd.DataFrame) -> pa.Table:
    """A table as Parquet and Feather hold it: columns of mixed types as text, no index."""
    names = [str(name) for name in table.columns]
    return pa.table([_arrow(column) for _, column in table.items()], names=names)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else canonical_text(value)


def as_text(column: pd.Series) -> pd.Series:
    # Value by value: a lookup of distinct values would take True for 1.
    return pd.Series([None if pd.isna(v) else _plain(v) for v in column], dtype="str")


def _arrow(column: pd.Series) -> Any:
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        # pyarrow would cut the hour off a moment that follows a date.
        dates = kind in ("date", "datetime") and column.dropna().map(type).nunique() > 1
        # It would also take moments of several zones to one of them, and the zones off times.
        zones = time_zones(column) if kind in ("date", "datetime", "time") else {None}
        zoned = len(zones) > 1 or (kind == "time" and zones != {None})
        if dates or zoned or kind not in _ONE_TYPE:
            column = as_text(column)
    column = bare_column(column)
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):  # whole numbers beyond 64 bits, periods, …
        found = None
    # Neither DuckDB, which checks the release, nor others read half floats and 39 digits or more.
    if found is not None and pa.types.is_float16(found.type):
        return found.cast(pa.float32())
    if found is None or pa.types.is_decimal256(found.type):
        return pa.array(as_text(column), from_pandas=True)
    return found


def time_zones(column: pd.Series) -> set[Any]:
    """The time zones of a column of objects, None for what has none."""
    return {getattr(value, "tzinfo", None) for value in column.dropna()}


def bare_column(column: pd.Series) -> pd.Series:
    """The same cells, with nothing besides.

    No categories that do not occur, and nothing beneath missing cells: pandas marks a whole number
    as missing and leaves it where it is, and Feather would write it.

    >>> one = pd.Series(["x", "secret"], dtype="category").iloc[:1]
    >>> list(one.cat.categories), list(bare_column(one).cat.categories)
    (['secret', 'x'], ['x'])
    >>> import pyarrow as pa
    >>> missing = pd.Series([1, 77], dtype="Int64").mask([False, True])
    >>> [pa.array(one).buffers()[1].to_pybytes()[8] for one in (missing, bare_column(missing))]
    [77, 0]
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


def bare_index(index: pd.Index) -> pd.Index:
    """The same index without what does not occur in it.

    >>> list(bare_index(pd.CategoricalIndex(["x", "secret"])[:1]).categories)
    ['x']
    """
    if isinstance(index, pd.CategoricalIndex):
        return index.remove_unused_categories()
    if isinstance(index, pd.MultiIndex):
        return index.remove_unused_levels()
    return index
