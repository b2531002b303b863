"""A release with its representation, as a file: its own columns, then those of the matrix.

Publishing the matrix with the table is a step after anonymising: all records of a class have the
same row, so they are as alike as before. What the proportional one tells beyond the release is
measured in :mod:`kanon.learning.disclosure`.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from kanon.errors import TableError, quoted
from kanon.learning.representations import Matrix, columns_of, free_name, represent
from kanon.recoding import Recoding
from kanon.sources.arrow_tables import arrow_table
from kanon.sources.formulas import neutral_text, neutralised
from kanon.sources.memory import MemorySource
from kanon.sources.row_order import sort_rows
from kanon.sources.text_form import misread_bare

FILE_KINDS = ("parquet", "csv")
"""The kinds of file that a release with its representation is written as."""

_BATCH = 65_536  # so many records are written at a time


def renamed(source: MemorySource, recoding: Recoding) -> Mapping[str, str]:
    plain, final = _names(source, recoding)
    return {old: new for old, new in zip(plain, final, strict=True) if old != new}


def representation_file(
    source: MemorySource,
    recoding: Recoding,
    name: str,
    kind: str,
    neutral: bool = False,
    order: Literal["released", "table"] = "released",
) -> bytes:
    """The released table with its representation, written in batches: never expanded at once."""
    if kind not in FILE_KINDS:
        raise TableError(f"Kind {quoted(kind)} is not known: allowed are {', '.join(FILE_KINDS)}.")
    matrix = represent(name, recoding)
    _, names = _names(source, recoding)
    table = source.release(recoding)
    of_row = source.class_of_rows(recoding)
    if order == "released":
        rows = sort_rows(table, source.pseudonyms)
        table, of_row = table.iloc[rows], of_row[rows]
    if kind == "csv" and neutral:
        table, names = neutralised(table), [*map(neutral_text, names)]
    if kind == "csv":
        return _csv(table, matrix, names, of_row, neutral)
    whole = name != "proportional"
    return _parquet(arrow_table(table), matrix, names, of_row, np.uint8 if whole else np.float32)


def _names(source: MemorySource, recoding: Recoding) -> tuple[list[str], list[str]]:
    plain = columns_of(recoding.classes.attributes, recoding.hierarchies)
    taken = {str(one) for one in source.release_rows(recoding, np.arange(0)).columns}
    # A column that keeps its name has it before another one gets a number.
    used = taken | set(plain)
    final = []
    for name in plain:
        found = free_name(name, used) if name in taken else name
        used.add(found)
        final.append(found)
    return plain, final


def _parquet(
    table: pa.Table,
    matrix: Matrix,
    names: Sequence[str],
    of_row: np.ndarray,
    number: type[np.uint8] | type[np.float32],
) -> bytes:
    added = [pa.field(name, pa.from_numpy_dtype(number)) for name in names]
    schema = pa.schema([*table.schema, *added])
    buffer = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(buffer, schema) as writer:
        for start in range(0, len(of_row), _BATCH):
            here = of_row[start : start + _BATCH]
            gone = here < 0
            dense = np.zeros((len(here), len(names)), dtype=np.float32)
            for rows in matrix.batches(here[~gone], size=_BATCH):  # one batch, or none
                dense[~gone] = rows
            columns = [pa.array(each.astype(number), mask=gone) for each in dense.T]
            part = table.slice(start, _BATCH).combine_chunks()
            arrays = [*(_one(column) for column in part.columns), *columns]
            writer.write_table(pa.table(arrays, schema=schema))
    return buffer.getvalue()


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], type=column.type)


def _csv(
    table: pd.DataFrame, matrix: Matrix, names: Sequence[str], of_row: np.ndarray, quotes: bool
) -> bytes:
    """With quotes where they are needed; around every text if asked or if it could be misread."""
    for quoting in (csv.QUOTE_ALL,) if quotes else (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        buffer = io.BytesIO()
        for part in _csv_parts(table, matrix, names, of_row, quoting):
            if quoting == csv.QUOTE_MINIMAL and misread_bare(part):
                break
            buffer.write(part)
        else:
            break
    return buffer.getvalue()


def _csv_parts(
    table: pd.DataFrame, matrix: Matrix, names: Sequence[str], of_row: np.ndarray, quoting: int
) -> Iterator[bytes]:
    header = pd.DataFrame(columns=[*(str(name) for name in table.columns), *names])
    yield header.to_csv(index=False, lineterminator="\n", quoting=quoting).encode()
    blank = "," * (len(names) - 1)
    for start in range(0, len(table), _BATCH):
        here = of_row[start : start + _BATCH]
        present = np.unique(here[here >= 0])
        text = {-1: blank, **dict(zip(present.tolist(), _lines(matrix, present), strict=True))}
        released = _released_lines(table.iloc[start : start + _BATCH], quoting)
        lines = (
            f"{line},{text[position]}\n"
            for line, position in zip(released, here.tolist(), strict=True)
        )
        yield "".join(lines).encode()


def _released_lines(table: pd.DataFrame, quoting: int) -> list[str]:
    """The released cells of each record as CSV, without the line's end."""
    end = "\x1e\n"
    while True:  # a cell may hold a line's end, so lines are told apart by what no cell holds
        text = table.to_csv(index=False, header=False, lineterminator=end, quoting=quoting)
        lines: list[str] = text.split(end)
        if len(lines) == len(table) + 1:
            return lines[:-1]
        end = "\x1e" + end


def _lines(matrix: Matrix, classes: np.ndarray) -> Iterator[str]:
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
