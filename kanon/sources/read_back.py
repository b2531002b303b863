"""The file of a release, read as a recipient will read it.

It shares no code with the modules that write files or read tables, nor their mistakes.
"""

import csv
import io
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from python_calamine import CalamineError, CalamineWorkbook

Columns = tuple[list[str], list[Any]]
"""The names of the columns, and the cells of each as a chunked array of Arrow."""

UNREADABLE = (pa.ArrowException, CalamineError, OSError, ValueError, csv.Error, StopIteration)
"""The exceptions for a file that cannot be read."""

_LONGEST_RECORD = 8 << 20


def read_back_text(content: bytes, separator: str = ",", encoding: str = "utf-8") -> Columns:
    content = content if encoding == "utf-8" else content.decode(encoding).encode()
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


def read_back_parquet(content: bytes, *_: object) -> Columns:
    table = pyarrow.parquet.read_table(pa.BufferReader(content))
    return table.column_names, table.columns


def read_back_feather(content: bytes, *_: object) -> Columns:
    table = pyarrow.feather.read_table(pa.BufferReader(content))
    return table.column_names, table.columns


def read_back_sheet(content: bytes, *_: object) -> Columns:
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    header, *rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    texts = zip(*(map(_read_cell, row) for row in rows), strict=True)
    columns = list(texts) if rows else [()] * len(header)
    cells = [pa.chunked_array([pa.array(column, pa.string())]) for column in columns]
    return [*map(_read_cell, header)], cells


def read_back_labelled(content: bytes, *_: object) -> Columns:
    """The labels of codes in an SPSS or Stata file, and other cells as they are."""
    import pyreadstat  # only for these files, as it takes a while

    read = pyreadstat.read_sav if content.startswith(b"$FL") else pyreadstat.read_dta
    try:
        table, head = read(io.BytesIO(content))
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        raise ValueError("not a file of SPSS or Stata") from None
    cells = []
    for name, column in table.items():
        labels = head.variable_value_labels.get(name, {})
        filled = zip(column, column.notna(), strict=True)
        texts = [
            _read_cell(labels.get(cell, cell)) if is_there else None for cell, is_there in filled
        ]
        cells.append(pa.chunked_array([pa.array(texts, pa.string())]))
    return head.column_names, cells


def _read_cell(cell: Any) -> str:
    """The text of a cell of a kind of file where every number may be a float."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
