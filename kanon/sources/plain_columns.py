"""Columns with nothing but their cells.

A type or a buffer may hold more: the values of records that are gone, which a file would hand out.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa


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
