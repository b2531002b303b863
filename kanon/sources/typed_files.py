"""Files that know the types of their cells: Parquet, Feather and XLSX."""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from kanon.base.formatting import write_count
from kanon.base.unzipping import Unreadable
from kanon.base.values import convert_to_text
from kanon.errors import TableError, list_names, quote
from kanon.settings import get_byte_limit
from kanon.sources.arrow_sizes import (
    LONGEST_FOOTER,
    measure_arrow,
    measure_expanded_column,
    measure_parquet,
    read_footer_length,
)
from kanon.sources.first_line import SAMPLE, read_column_names, read_first_line
from kanon.sources.limits import check_days, check_size, check_unpacked, get_date_error
from kanon.sources.read_settings import FileContent, ReadSettings
from kanon.sources.sheet_rows import (
    count_leading_blanks,
    drop_footer,
    find_header,
    find_row_width,
    has_second_header,
    is_filled,
    join_header_rows,
)
from kanon.sources.sheets import check_book, find_exact_cells

# By the cells of a sheet's column: its type without missing cells, and with some.
_SHEET_TYPES = {
    "integer": ("int64", "Int64"),
    "floating": ("float64", "float64"),
    "mixed-integer-float": ("float64", "float64"),
    "boolean": ("bool", "boolean"),
    "string": ("str", "str"),
}


def read_arrow(
    data: bytes, name: str, title: str, open_table: Callable[[bytes, str], Any]
) -> FileContent:
    try:
        content = open_table(data, name)
        check_size(name, content.num_rows, content.num_columns)
        content.validate(full=True)
        check_unpacked(name, sum(map(measure_expanded_column, content.columns)))
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        raise build_damage_error(name, title) from None
    names = read_column_names(content.column_names, name)
    if not names:
        raise TableError(f"{quote(name)} has no columns.")
    columns = zip(names, content.columns, strict=True)
    return FileContent(pd.DataFrame({n: convert_arrow_column(column, n) for n, column in columns}))


def read_parquet(data: bytes, name: str, *_: object) -> FileContent:
    return read_arrow(data, name, "Parquet", _read_parquet_table)


def read_feather(data: bytes, name: str, *_: object) -> FileContent:
    return read_arrow(data, name, "Feather", _read_arrow_table)


def _read_parquet_table(data: bytes, name: str) -> Any:
    """The table in a Parquet file; its size is checked before anything is unpacked."""
    file = pyarrow.parquet.ParquetFile(pa.BufferReader(data))
    metadata, schema = file.metadata, file.schema_arrow
    if read_footer_length(data) > LONGEST_FOOTER:
        raise TableError(
            f"{quote(name)} has too many columns and row groups: write it with larger row groups."
        )
    groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(groups))
    check_size(name, rows, len(schema))
    for field in schema:
        _check_single(field.type, field.name)
    unpacked, repeated = measure_parquet(data)
    check_unpacked(name, unpacked)
    most = get_byte_limit("unpacked_megabytes")
    if unpacked + rows * repeated <= most:
        return file.read()
    batches, size = [], 0  # one stored value may stand for every row
    for batch in file.iter_batches(batch_size=max(1, min(1 << 16, most // repeated))):
        batches.append(batch)
        size += batch.nbytes
        check_unpacked(name, size)
    return pa.Table.from_batches(batches, schema)


def _read_arrow_table(data: bytes, name: str) -> Any:
    if data.startswith(b"FEA1"):  # never compressed
        return pyarrow.feather.read_table(pa.BufferReader(data))
    is_file = data.startswith(b"ARROW1")
    if is_file and not data.endswith(b"ARROW1"):
        raise ValueError("the end of the file is missing")
    stream = memoryview(data)[8:] if is_file else memoryview(data)
    reader = pa.ipc.open_stream(pa.BufferReader(stream))
    rows, unpacked = measure_arrow(stream)
    check_size(name, rows, len(reader.schema))
    check_unpacked(name, unpacked)
    return reader.read_all()


def read_sheet(data: bytes, name: str, settings: ReadSettings) -> FileContent:
    """Read a sheet of an XLSX file, by default the largest that is not hidden.

    Its header is the first filled row. A row over at most half of the columns is taken for a title
    and left out if a wider row of texts follows. A second row of names is joined with the header;
    a row of units is left out. Numbers with a format of codes, such as 00000, are read as shown.
    """
    wanted, header = settings.sheet, settings.header
    try:
        content = check_book(data, name)
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = map(book.get_sheet_by_name, book.sheet_names)
        sizes = {sheet.name: (sheet.height, sheet.width) for sheet in sheets if sheet.height}
        sheet_name = _choose_sheet(book, sizes, name) if wanted is None else wanted
        rows = []
        if sheet_name in sizes:
            rows = book.get_sheet_by_name(sheet_name).to_python(skip_empty_area=False)
        exact = find_exact_cells(content, sheet_name) if rows else {}
    except (CalamineError, Unreadable, OSError, ValueError):
        raise build_damage_error(name, "XLSX") from None
    coded = _put_cells(rows, exact)
    while rows and not is_filled(rows[-1]):
        rows.pop()
    if not rows:
        raise TableError(
            f"{quote(name)} has no sheet {quote(sheet_name)} with data; choose "
            f"{list_names(sizes, most=12)}."
        )
    remarks = []
    if len(sizes) > 1:
        how = f"the largest of {len(sizes)}" if wanted is None else f"one of {len(sizes)}"
        remarks.append(f"Sheet {quote(sheet_name)} was read, {how}.")
    top = find_header(rows)
    below = rows[top:]
    records = [row for row in below if is_filled(row)]
    skipped = len(below) - len(records)
    width = max(map(find_row_width, records))  # further columns may be formatted
    left = min(map(count_leading_blanks, records))
    top_row, *records = (row[left:width] for row in records)
    cells, remark = [convert_to_text(cell) for cell in top_row], ""
    above = rows[top - 1] if top else []
    if header is not False and records and has_second_header(top_row, records[0], records[1:]):
        cells, both = join_header_rows(top_row, records.pop(0))
        remark = (
            f"Rows {write_count(top + 1)} and {write_count(top + 2)} hold the names of the columns."
            if both
            else "The row below the names was left out: it has texts, such as units, where all "
            "rows below have numbers or dates."
        )
    elif is_filled(above) and len({*cells}) < len(cells):
        cells, _ = join_header_rows(above[left:width], top_row)
        remark = (
            f"Rows {write_count(top)} and {write_count(top + 1)} hold the names of the columns."
        )
    if top and not remark.startswith("Rows"):
        rest = "; the rows above it were left out" if any(map(is_filled, rows[:top])) else ""
        remarks.append(f"Row {write_count(top + 1)} holds the names of the columns{rest}.")
    remarks += [remark] if remark else []
    if skipped:
        rows_were = "row was" if skipped == 1 else "rows were"
        remarks.append(f"{write_count(skipped)} empty {rows_were} skipped.")
    records = drop_footer(records, settings.footer, name)
    check_size(name, len(records), width - left)
    texts = [list(map(convert_to_text, row)) for row in records[:SAMPLE]]
    first = read_first_line([cells, *texts], name, header)
    remarks += first.remarks
    records = [top_row, *records] if first.is_record else records
    if coded_names := [first.names[place - left] for place in coded if left <= place < width]:
        remarks.append(
            "These columns were read as the sheet shows them, not as numbers: "
            f"{list_names(coded_names)}."
        )
    table = pd.DataFrame(
        {n: _build_sheet_column([row[i] for row in records]) for i, n in enumerate(first.names)}
    )
    sheet = sheet_name if len(sizes) > 1 else None
    return FileContent(table, remarks, sheet=sheet, sheets=sizes)


def _put_cells(rows: Sequence[list[Any]], exact: Mapping[int, Mapping[int, str | int]]) -> set[int]:
    """Put cells into rows and return the columns that get texts."""
    for column, cells in exact.items():
        for row, cell in cells.items():
            if row < len(rows) and column < len(rows[row]):
                rows[row][column] = cell
    return {
        column
        for column, cells in exact.items()
        if any(isinstance(cell, str) for cell in cells.values())
    }


def _choose_sheet(book: CalamineWorkbook, sizes: Mapping[str, tuple[int, int]], name: str) -> str:
    """The largest sheet, the first of several; a hidden one only where there is no other."""
    if not sizes:
        raise TableError(
            f"{quote(name)} has nothing on any sheet: it needs a header and at least one record."
        )
    visible = {s.name for s in book.sheets_metadata if s.visible is SheetVisibleEnum.Visible}
    return max(sizes, key=lambda sheet: (sheet in visible, math.prod(sizes[sheet])))


def build_damage_error(name: str, kind: str) -> TableError:
    return TableError(
        f"{quote(name)} cannot be read as {kind}: it is damaged, locked or another kind of file."
    )


def convert_arrow_column(column: Any, name: str) -> pd.Series:
    """A column of an Arrow table with its type; whole numbers stay whole beside missing cells."""
    kinds = pa.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    _check_single(column.type, name)
    text = (kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view, kinds.is_string_view)
    try:
        if any(test(column.type) for test in text):
            column = column.cast(pa.large_string())
        if kinds.is_float16(column.type):  # which pandas can neither group nor look up
            column = column.cast(pa.float32())
        if column.null_count and kinds.is_integer(column.type):
            unsigned = column.type == pa.uint64()
            whole = column.cast(pa.uint64() if unsigned else pa.int64())
            dtype = pd.UInt64Dtype() if unsigned else pd.Int64Dtype()
            return pd.Series(dtype.__from_arrow__(whole))
        if column.null_count and kinds.is_boolean(column.type):
            return pd.Series(pd.BooleanDtype().__from_arrow__(column))
        series = column.to_pandas()
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OverflowError):
        if kinds.is_date(column.type):
            raise get_date_error(name) from None
        raise TableError(
            f"Column {quote(name)} holds values other than text, numbers, dates or yes/no: "
            "convert it."
        ) from None
    check_days(series, name)
    return series


def _check_single(kind: Any, name: str) -> None:
    if pa.types.is_nested(kind):
        raise TableError(
            f"Column {quote(name)} holds lists or structures: every cell must be one value."
        )


def _build_sheet_column(cells: Sequence[Any]) -> pd.Series:
    """A column from cells of a sheet, where every number is a float and a blank is ''."""
    values = [None if cell == "" else _convert_whole_number(cell) for cell in cells]
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if any(isinstance(value, int) and abs(value) >= 2**53 for value in values):
        kind = "string"  # as floats, or beyond 64 bits, different numbers would become equal
        values = [None if value is None else convert_to_text(value) for value in values]
    if kind in _SHEET_TYPES:
        return pd.Series(values, dtype=_SHEET_TYPES[kind][None in values])
    column = pd.Series(values, dtype=object)
    if all(value is None or hasattr(value, "year") for value in values):
        return pd.to_datetime(column)
    return column


def _convert_whole_number(cell: Any) -> Any:
    # Beyond 2**53 a float does not say which whole number it stands for.
    exact = isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53
    return int(cell) if exact else cell
