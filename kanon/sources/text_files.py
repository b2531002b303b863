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

from kanon.errors import TableError, quoted
from kanon.settings import bytes_of, exceeded, settings
from kanon.sources.encodings import decode
from kanon.sources.first_line import SAMPLE, FirstLine, is_filled, read_first_line
from kanon.sources.limits import check_size
from kanon.sources.read_settings import FileContent, ReadSettings
from kanon.sources.separators import (
    SEPARATORS,
    check_separates,
    check_separator,
    find_separator,
    is_padded,
    shown,
    without_padding,
)
from kanon.sources.sheet_rows import fill_notes
from kanon.sources.text_form import TextForm


def read_text(data: bytes, name: str, settings: ReadSettings, separates: str = "") -> FileContent:
    given = settings.separator
    _check_ends(data, name)  # before anything is made of a line without an end
    content, encoding, guessed = decode(data, name, settings.encoding)
    content, named_separator = without_separator_line(content)
    likely: str | None
    if given is None:
        likely = named_separator or find_separator(content, separates)
    else:
        check_separator(given)
        check_separates(content, given, name)
        likely = given
    found = [_about(likely, given is not None, encoding, settings.encoding is not None)]
    # A single column needs some separator for its settings: one that splits nothing.
    free = (s for s in SEPARATORS if s.encode() not in content)
    separator = likely or next(free, SEPARATORS[0])
    if guessed:
        found.append(f"{encoding.upper()} is a guess: check names with accents.")
    if is_padded(content, separator):
        content = without_padding(content, separator)
        found.append("The blank after every separator was skipped.")
    content = fill_notes(content, separator)
    table, first = _parse(content, separator, name, settings.header)
    form = TextForm.of_content(data, "," if separates else separator, encoding)
    return FileContent(table, [*found, *first.remarks], separator, encoding, form)


def _about(separator: str | None, told_separator: bool, encoding: str, told_encoding: bool) -> str:
    first = f"Separator {shown(separator)}" if separator else "One column without a separator"
    second = f"encoding {encoding.upper()}"
    how = ["given" if told else "found" for told in (told_separator, told_encoding)]
    if how[0] == how[1]:
        return f"{first} and {second} were {how[0]}."
    return f"{first} was {how[0]}, {second} was {how[1]}."


def _records(content: bytes, separator: str) -> Any:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=separator, strict=True)


def without_separator_line(content: bytes) -> tuple[bytes, str | None]:
    """A content without the first line ``sep=;`` of Excel, and the separator that it names.

    >>> without_separator_line(b"sep=;\\na;b\\n"), without_separator_line(b"sep=x,b\\n")
    ((b'a;b\\n', ';'), (b'sep=x,b\\n', None))
    """
    line = re.match(rb'("?)sep=(.)\1(\r\n|\n|\r)', content, re.IGNORECASE)
    return (content[line.end() :], line[2].decode("ascii", "replace")) if line else (content, None)


def _parse(
    content: bytes, separator: str, name: str, header: bool | None
) -> tuple[pd.DataFrame, FirstLine]:
    ends = [end for end in (content.find(b"\n"), content.find(b"\r")) if end >= 0]
    first = min(ends, default=len(content))
    check_size(name, 0, content.count(separator.encode(), 0, first) + 1)
    try:
        records = _records(content, separator)
        sample = list(islice(records, SAMPLE + 1))
        if b'"' in content:
            # pyarrow takes a quote that is never closed, and text after a closed one, as they
            # come; the strict reader refuses both. The queue keeps nothing.
            deque(records, maxlen=0)
    except csv.Error:
        raise _first_fault(content, separator, name, None) from None
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
                block_size=bytes_of("record_megabytes"),
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
        raise _first_fault(content, separator, name, width) from None


def _check_lines(content: bytes, separator: str, name: str, width: int) -> None:
    """Check the records before they are parsed; ends of lines are counted first, which is quick."""
    lines = max(content.count(b"\n"), content.count(b"\r"))
    most = settings()
    if lines > most.rows or lines * width > most.cells:  # some may be blank, or inside quotes
        check_size(name, sum(map(bool, _records(content, separator))) - 1, width)


def _first_fault(content: bytes, separator: str, name: str, width: int | None) -> TableError:
    """The first line that is no record, found by walking (only once it is known that one is)."""
    reader = _records(content, separator)
    line = 1
    try:
        for row in reader:
            if is_filled(row) and width is not None and len(row) != width:
                return _ragged(f"Line {line} of {quoted(name)}", len(row), width, separator)
            line = reader.line_num + 1
    except csv.Error:
        return TableError(
            f"Line {line} of {quoted(name)} has a quote that is not closed where its cell ends:"
            ' inside quotes a quote is written twice ("").'
        )
    return _too_long(name)


def _check_ends(content: bytes, name: str) -> None:
    """Check that no line is longer than a record may be, from an end to the last one in reach."""
    start, most = 0, bytes_of("record_megabytes")
    while len(content) - start > most:
        ends = (content.rfind(end, start, start + most + 1) for end in (b"\n", b"\r"))
        end = max(ends)
        if end < 0:
            raise _too_long(name)
        start = end + 1


def _too_long(name: str) -> TableError:
    what = f"{quoted(name)} has a record (a line) that is too long"
    return TableError(exceeded("record_megabytes", what))


def _ragged(line: str, cells: int, width: int, separator: str) -> TableError:
    has = f"{line} has {'1 cell' if cells == 1 else f'{cells} cells'} where the header has {width}"
    if width > 1:
        return TableError(f"{has}.")
    return TableError(
        f"{has}, with the separator {shown(separator)}: the first line must name every column; if"
        " there is only one, give a separator that does not occur."
    )
