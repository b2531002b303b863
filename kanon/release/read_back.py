"""The file of a release, read afresh as whoever gets it will read it.

It shares no code with what writes files or reads tables, so that their mistakes are not its own.

>>> names, cells = read_back(b"age,ill\\n*,flu\\n*,\\n", "csv")
>>> names, [column.to_pylist() for column in cells]
(['age', 'ill'], [['*', '*'], ['flu', '']])
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from python_calamine import CalamineError, CalamineWorkbook

UNREADABLE = (pa.ArrowException, CalamineError, OSError, ValueError, csv.Error, StopIteration)
"""What is raised for a file that cannot be read."""

_LONGEST_RECORD = 8 << 20


def read_back(
    content: bytes, kind: str, separator: str = ",", encoding: str = "utf-8"
) -> tuple[list[str], list[Any]]:
    """The names of the columns of a file, and their cells.

    Parameters
    ----------
    kind
        ``csv``, ``tsv``, ``parquet``, ``feather`` or ``xlsx``.
    separator, encoding
        How a CSV is written; of a TSV the encoding.

    Returns
    -------
    names : list of str
        The header.
    cells : list of pyarrow.ChunkedArray
        Per column its cells: as text, where the kind does not know their types.

    Raises
    ------
    Exception
        One of :data:`UNREADABLE`.
    """
    if kind in ("csv", "tsv"):
        plain = content if encoding == "utf-8" else content.decode(encoding).encode()
        return _text_file(plain, "\t" if kind == "tsv" else separator)
    return _READERS[kind](content)


def _text_file(content: bytes, separator: str) -> tuple[list[str], list[Any]]:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    names = next(csv.reader(lines, delimiter=separator, strict=True))
    table = pyarrow.csv.read_csv(
        pa.BufferReader(content),
        pyarrow.csv.ReadOptions(autogenerate_column_names=True, block_size=_LONGEST_RECORD),
        pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(
            column_types={f"f{place}": pa.large_string() for place in range(len(names))}
        ),
    )
    return names, table.slice(1).columns


def _parquet(content: bytes) -> tuple[list[str], list[Any]]:
    table = pyarrow.parquet.read_table(pa.BufferReader(content))
    return table.column_names, table.columns


def _feather(content: bytes) -> tuple[list[str], list[Any]]:
    table = pyarrow.feather.read_table(pa.BufferReader(content))
    return table.column_names, table.columns


def _xlsx(content: bytes) -> tuple[list[str], list[Any]]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    header, *rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    texts = zip(*(map(_text, row) for row in rows), strict=True)
    columns = list(texts) if rows else [()] * len(header)
    return [*map(_text, header)], [pa.chunked_array([pa.array(c, pa.string())]) for c in columns]


def _text(cell: Any) -> str:
    """A cell of a sheet, where every number is a float."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


_READERS: Mapping[str, Callable[[bytes], tuple[list[str], list[Any]]]] = {
    "parquet": _parquet,
    "feather": _feather,
    "xlsx": _xlsx,
}
