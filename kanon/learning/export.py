"""A release with its representation, as a file: its own columns, then those of the matrix.

Publishing the matrix with the table is a step after anonymising: all records of a class have the
same row, so they look alike as before. :mod:`kanon.learning.disclosure` measures what the
proportional representation reveals beyond the release.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from kanon.errors import TableError, quote
from kanon.learning.representations import Matrix, columns_of, free_name, represent
from kanon.recoding import Recoding
from kanon.sources.arrow_tables import build_arrow_table
from kanon.sources.formulas import escape_formula, escape_formulas
from kanon.sources.memory import MemorySource
from kanon.sources.row_order import sort_rows
from kanon.sources.text_form import needs_all_quotes

FILE_KINDS = ("parquet", "csv")
"""The file kinds of a release with its representation."""

_BATCH = 65_536  # the records written at a time


def find_new_column_names(source: MemorySource, recoding: Recoding) -> Mapping[str, str]:
    plain, final = _name_columns(source, recoding)
    return {old: new for old, new in zip(plain, final, strict=True) if old != new}


def write_representation_file(
    source: MemorySource,
    recoding: Recoding,
    name: str,
    kind: str,
    neutral: bool = False,
    order: Literal["released", "table"] = "released",
) -> bytes:
    """Write the released table with its representation in batches, never expanded as a whole."""
    if kind not in FILE_KINDS:
        raise TableError(
            f"The file kind {quote(kind)} is unknown; choose from {', '.join(FILE_KINDS)}."
        )
    matrix = represent(name, recoding)
    _, names = _name_columns(source, recoding)
    table = source.release(recoding)
    of_row = source.get_released_positions(recoding)
    if order == "released":
        rows = sort_rows(table, source.pseudonyms)
        table, of_row = table.iloc[rows], of_row[rows]
    if kind == "csv" and neutral:
        table, names = escape_formulas(table), [*map(escape_formula, names)]
    if kind == "csv":
        return _write_csv(table, matrix, names, of_row, neutral)
    whole = name != "proportional"
    return _write_parquet(
        build_arrow_table(table), matrix, names, of_row, np.uint8 if whole else np.float32
    )


def _name_columns(source: MemorySource, recoding: Recoding) -> tuple[list[str], list[str]]:
    plain = columns_of(recoding.classes.attributes, recoding.hierarchies)
    table_columns = {str(column) for column in source.release_rows(recoding, np.arange(0)).columns}
    # Columns that keep their names reserve them before others get a number.
    used = table_columns | set(plain)
    final = []
    for name in plain:
        free = free_name(name, used) if name in table_columns else name
        used.add(free)
        final.append(free)
    return plain, final


def _write_parquet(
    table: pa.Table,
    matrix: Matrix,
    names: Sequence[str],
    of_row: np.ndarray,
    number: type[np.uint8] | type[np.float32],
) -> bytes:
    matrix_fields = [pa.field(name, pa.from_numpy_dtype(number)) for name in names]
    schema = pa.schema([*table.schema, *matrix_fields])
    buffer = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(buffer, schema) as writer:
        for start in range(0, len(of_row), _BATCH):
            classes = of_row[start : start + _BATCH]
            is_suppressed = classes < 0
            dense = np.zeros((len(classes), len(names)), dtype=np.float32)
            for rows in matrix.batches(classes[~is_suppressed], size=_BATCH):  # one batch, or none
                dense[~is_suppressed] = rows
            columns = [pa.array(values.astype(number), mask=is_suppressed) for values in dense.T]
            part = table.slice(start, _BATCH).combine_chunks()
            writer.write_table(pa.table([*part.columns, *columns], schema=schema))
    return buffer.getvalue()


def _write_csv(
    table: pd.DataFrame, matrix: Matrix, names: Sequence[str], of_row: np.ndarray, quotes: bool
) -> bytes:
    """Write CSV with quotes where needed, or around every text if wanted or misreadable."""
    for quoting in (csv.QUOTE_ALL,) if quotes else (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        buffer = io.BytesIO()
        for part in _write_csv_parts(table, matrix, names, of_row, quoting):
            if quoting == csv.QUOTE_MINIMAL and needs_all_quotes(part):
                break
            buffer.write(part)
        else:
            break
    return buffer.getvalue()


def _write_csv_parts(
    table: pd.DataFrame, matrix: Matrix, names: Sequence[str], of_row: np.ndarray, quoting: int
) -> Iterator[bytes]:
    header = pd.DataFrame(columns=[*(str(name) for name in table.columns), *names])
    yield header.to_csv(index=False, lineterminator="\n", quoting=quoting).encode()
    blank = "," * (len(names) - 1)
    for start in range(0, len(table), _BATCH):
        classes = of_row[start : start + _BATCH]
        present = np.unique(classes[classes >= 0])
        text = {
            -1: blank,
            **dict(zip(present.tolist(), _write_matrix_lines(matrix, present), strict=True)),
        }
        table_lines = _write_table_lines(table.iloc[start : start + _BATCH], quoting)
        lines = (
            f"{line},{text[position]}\n"
            for line, position in zip(table_lines, classes.tolist(), strict=True)
        )
        yield "".join(lines).encode()


def _write_table_lines(table: pd.DataFrame, quoting: int) -> list[str]:
    """Write the released cells of each record as CSV, without line ends."""
    end = "\x1e\n"
    while True:  # a cell may contain a line end, so use one that no cell contains
        text = table.to_csv(index=False, header=False, lineterminator=end, quoting=quoting)
        lines: list[str] = text.split(end)
        if len(lines) == len(table) + 1:
            return lines[:-1]
        end = "\x1e" + end


def _write_matrix_lines(matrix: Matrix, classes: np.ndarray) -> Iterator[str]:
    rows = matrix.rows[classes]
    values, place = np.unique(rows.data, return_inverse=True)
    texts = [np.format_float_positional(value, trim="-") for value in values]
    zeros = ["0"] * rows.shape[1]
    for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
        cells = zeros.copy()
        for column, value in zip(
            rows.indices[start:end].tolist(), place[start:end].tolist(), strict=True
        ):
            cells[column] = texts[value]
        yield ",".join(cells)
