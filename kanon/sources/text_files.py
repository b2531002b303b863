"""CSV and TSV, every cell a text exactly as written."""

import csv
import io
import re
from collections import deque
from itertools import islice
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from kanon.base.formatting import count_noun
from kanon.errors import TableError, quote
from kanon.settings import describe_exceeded_limit, get_byte_limit, get_settings
from kanon.sources.encodings import decode
from kanon.sources.first_line import SAMPLE, FirstLine, is_filled, read_first_line
from kanon.sources.limits import check_size
from kanon.sources.read_settings import FileContent, ReadSettings
from kanon.sources.separators import (
    SEPARATORS,
    check_separates,
    check_separator,
    describe_separator,
    find_separator,
    is_padded,
    remove_padding,
)
from kanon.sources.sheet_rows import fill_notes
from kanon.sources.text_form import TextForm


def read_text(data: bytes, name: str, settings: ReadSettings, separates: str = "") -> FileContent:
    separator_set = settings.separator
    _check_ends(data, name)  # before a line without an end takes memory
    content, encoding, guessed = decode(data, name, settings.encoding)
    content, named_separator = strip_separator_line(content)
    likely: str | None
    if separator_set is None:
        likely = named_separator or find_separator(content, separates)
    else:
        check_separator(separator_set)
        check_separates(content, separator_set, name)
        likely = separator_set
    remarks = [_describe_form(likely, encoding, settings)]
    # A single column needs a separator for its settings: one that does not occur.
    free = (s for s in SEPARATORS if s.encode() not in content)
    separator = likely or next(free, SEPARATORS[0])
    if guessed:
        remarks.append(f"{encoding.upper()} is a guess: check names with accents.")
    if is_padded(content, separator):
        content = remove_padding(content, separator)
        remarks.append("The space after every separator was skipped.")
    content = fill_notes(content, separator)
    table, first = _parse_table(content, separator, name, settings.header)
    form = TextForm.find_form(data, "," if separates else separator, encoding)
    return FileContent(table, [*remarks, *first.remarks], separator, encoding, form)


def _describe_form(separator: str | None, encoding: str, settings: ReadSettings) -> str:
    first = "One column without a separator"
    if separator:
        first = f"Separator {describe_separator(separator)}"
    second = f"encoding {encoding.upper()}"
    how = ["found" if s is None else "given" for s in (settings.separator, settings.encoding)]
    if how[0] == how[1]:
        return f"{first} and {second} were {how[0]}."
    return f"{first} was {how[0]}; {second} was {how[1]}."


def _read_records(content: bytes, separator: str) -> Any:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=separator, strict=True)


def strip_separator_line(content: bytes) -> tuple[bytes, str | None]:
    """The content without Excel's first line ``sep=;``, and the separator that it names.

    >>> strip_separator_line(b"sep=;\\na;b\\n"), strip_separator_line(b"sep=x,b\\n")
    ((b'a;b\\n', ';'), (b'sep=x,b\\n', None))
    """
    line = re.match(rb'("?)sep=(.)\1(\r\n|\n|\r)', content, re.IGNORECASE)
    return (content[line.end() :], line[2].decode("ascii", "replace")) if line else (content, None)


def _parse_table(
    content: bytes, separator: str, name: str, header: bool | None
) -> tuple[pd.DataFrame, FirstLine]:
    ends = [end for end in (content.find(b"\n"), content.find(b"\r")) if end >= 0]
    first = min(ends, default=len(content))
    check_size(name, 0, content.count(separator.encode(), 0, first) + 1)
    try:
        records = _read_records(content, separator)
        sample = list(islice(records, SAMPLE + 1))
        if b'"' in content:
            # pyarrow accepts a quote that is never closed, and text after a closed one; the
            # strict reader refuses both. The queue keeps nothing.
            deque(records, maxlen=0)
    except csv.Error:
        raise _find_first_fault(content, separator, name, None) from None
    line = read_first_line(sample, name, header)
    for end in [*islice(re.finditer(rb"\r\n|\n|\r", content), line.lines_above)][-1:]:
        content = content[end.end() :]
    if line.lacks_name:  # as R writes row names
        content = separator.encode() + content
    _check_lines(content, separator, name, len(line.names))
    table = _read_cells(content, separator, name, len(line.names))
    table = table.slice(int(not line.is_record)).rename_columns(line.names)
    return table.to_pandas(), line


def _read_cells(content: bytes, separator: str, name: str, width: int) -> Any:
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(
                column_names=[f"f{i}" for i in range(width)],
                block_size=get_byte_limit("record_megabytes"),
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={f"f{i}": pa.large_string() for i in range(width)},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowMemoryError:
        raise
    except pa.ArrowException:
        blank = rb"(?<![^\r\n])[ \t%b]+(?=[\r\n]|$)" % re.escape(separator.encode())
        filled = content if b'"' in content else re.sub(blank, b"", content)
        if len(filled) < len(content):  # lines of other numbers of separators
            return _read_cells(filled, separator, name, width)
        raise _find_first_fault(content, separator, name, width) from None


def _check_lines(content: bytes, separator: str, name: str, width: int) -> None:
    """Check the number of records before parsing; counting line ends first is quick."""
    lines = max(content.count(b"\n"), content.count(b"\r"))
    most = get_settings()
    if lines > most.rows or lines * width > most.cells:  # some may be blank, or inside quotes
        check_size(name, sum(map(bool, _read_records(content, separator))) - 1, width)


def _find_first_fault(content: bytes, separator: str, name: str, width: int | None) -> TableError:
    """The error for the first line that is not a record, once one is known to exist."""
    reader = _read_records(content, separator)
    line = 1
    try:
        for row in reader:
            if is_filled(row) and width is not None and len(row) != width:
                where = f"Line {line} of {quote(name)}"
                return _get_ragged_error(where, len(row), width, separator)
            line = reader.line_num + 1
    except csv.Error:
        return TableError(
            f"Line {line} of {quote(name)} has a quote that is not closed where its cell ends:"
            ' inside quotes, a quote is written twice ("").'
        )
    return _build_length_error(name)


def _check_ends(content: bytes, name: str) -> None:
    """Check that no line is longer than a record may be."""
    start, most = 0, get_byte_limit("record_megabytes")
    while len(content) - start > most:
        ends = (content.rfind(end, start, start + most + 1) for end in (b"\n", b"\r"))
        end = max(ends)
        if end < 0:
            raise _build_length_error(name)
        start = end + 1


def _build_length_error(name: str) -> TableError:
    what = f"{quote(name)} has a record (a line) that is too long"
    return TableError(describe_exceeded_limit("record_megabytes", what))


def _get_ragged_error(line: str, cells: int, width: int, separator: str) -> TableError:
    start = f"{line} has {count_noun(cells, 'cell')} where the header has {width}"
    if width > 1:
        return TableError(f"{start}.")
    return TableError(
        f"{start}, with the separator {describe_separator(separator)}: the first line must name "
        "every column; if there is only one column, choose a separator that does not occur."
    )
