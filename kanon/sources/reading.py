"""A table file read exactly as it is written: how it is stored is found out, said, and kept.

Cells of a CSV stay text, because a column that nobody recodes must leave as it came: ``007`` is
not 7 and ``1.10`` is not 1.1. Files that know their types keep them.

>>> file = read_table(b"age;zip\\n39;007\\n?;1.10\\n", "people.csv")
>>> file.table["zip"].tolist(), dict(file.missing)
(['007', '1.10'], {'age': 1})
>>> file.found
("Separator ';' and encoding UTF-8 were found.", "1 column has missing cells ('?'): 'age' 1.")
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from charset_normalizer import from_bytes
from python_calamine import CalamineError, CalamineWorkbook

from kanon.errors import TableError, listing, quoted
from kanon.values import canonical_text

__all__ = [
    "ENDINGS",
    "KNOWN_MARKERS",
    "SEPARATORS",
    "ReadSettings",
    "TableFile",
    "check_separator",
    "is_padded",
    "kind_of",
    "read_table",
]

ENDINGS: Mapping[str, str] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".xlsx": "xlsx",
}
"""The kind of table that each allowed file ending stands for."""

KNOWN_MARKERS = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A")
"""Texts that count as a missing cell unless the settings say otherwise."""

SEPARATORS = (",", ";", "\t", "|")
"""The separators that are looked for; any other one has to be given."""

# Tried when a file is neither marked nor valid UTF-8. Without this list the guess falls on
# encodings that hardly anybody uses, because short tables offer little text to judge by.
_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "mac_roman"),
    *("shift_jis", "gb18030", "big5", "euc_kr"),
]
_MARKS = (  # UTF-32 before UTF-16: its mark begins with the other's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 1 << 18
_SAMPLE_RECORDS = 100

# Python's csv module refuses cells over 128 kB; a long free text is no error.
csv.field_size_limit(sys.maxsize)


@dataclass(frozen=True)
class ReadSettings:
    """How a file is to be read; None means that it is to be found out.

    Attributes
    ----------
    separator
        One character between two cells of a CSV or TSV.
    encoding
        The encoding of a CSV or TSV, by a name that Python knows.
    missing_markers
        The texts that count as a missing cell; an empty tuple means none.
    """

    separator: str | None = None
    encoding: str | None = None
    missing_markers: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table that was read, and what was found while reading it.

    Attributes
    ----------
    name
        The name of the file, as given.
    kind
        ``csv``, ``tsv``, ``parquet``, ``feather`` or ``xlsx``.
    table
        The records; missing cells are missing for ``pandas.isna``.
    settings
        What was given or found; None only where the kind of file has no such setting.
    found
        Short sentences for a person.
    missing
        The number of missing cells of every column that has some.
    markers_present
        Every marker that occurs, used or not, with its number of cells.
    """

    name: str
    kind: str
    table: pd.DataFrame
    settings: ReadSettings
    found: tuple[str, ...]
    missing: Mapping[str, int]
    markers_present: Mapping[str, int]


def read_table(
    data: bytes | Path, name: str | None = None, settings: ReadSettings | None = None
) -> TableFile:
    """Read a table whose kind is told by the ending of its name.

    The first line (of an XLSX: the first row of the first sheet) holds the column names. Empty
    lines are no records. A cell of an XLSX that shows an error, such as ``#DIV/0!``, is missing.

    Parameters
    ----------
    data
        The content of the file, or where it is.
    name
        The name of the file; needed with a content.
    settings
        What is known about the file; by default everything is found out.

    Raises
    ------
    TableError
        If the file is not a table, or not one that can be read without guessing at its cells.

    >>> read_table(b"a;b\\n1;2\\n3\\n", "t.csv")
    Traceback (most recent call last):
    kanon.errors.TableError: Line 3 of 't.csv' has 1 cell where the header has 2.
    """
    settings = settings or ReadSettings()
    name = name or (data.name if isinstance(data, Path) else "")
    kind = kind_of(name)
    content = _content(data) if isinstance(data, Path) else bytes(data)
    if not content.strip():
        raise TableError(f"{quoted(name)} is empty: a header and at least one record are needed.")

    given = settings.missing_markers
    separator = encoding = None
    if kind in ("csv", "tsv"):
        table, separator, encoding, found = _read_text(content, name, kind, settings)
    elif kind == "xlsx":
        table, found = _read_sheet(content, name)
    else:
        table, found = _read_arrow(content, name, kind), []
    if table.empty:
        raise TableError(f"{quoted(name)} has a header but no records.")

    table, present = _mark_missing(table, given)
    used = tuple(m for m in KNOWN_MARKERS if m in present) if given is None else given
    missing = {str(c): int(n) for c, n in table.isna().sum().items() if n}
    found += _about_missing(missing, present, used)
    return TableFile(
        name, kind, table, ReadSettings(separator, encoding, used), tuple(found), missing, present
    )


def kind_of(name: str) -> str:
    """The kind of table by the ending of a file name.

    Raises
    ------
    TableError
        If the ending is not one of :data:`ENDINGS`.

    >>> kind_of("People.CSV")
    'csv'
    """
    ending = PurePath(name).suffix.lower()
    if ending not in ENDINGS:
        raise TableError(
            f"{quoted(name)} does not end like a table: allowed are {', '.join(ENDINGS)}."
        )
    return ENDINGS[ending]


def check_separator(separator: str) -> None:
    """Refuse what cannot stand between two cells.

    Raises
    ------
    TableError
        If it is not one ASCII character, or a quote or a line break.

    >>> check_separator("::")
    Traceback (most recent call last):
    kanon.errors.TableError: Separator '::' is not allowed: give one ASCII character ...
    """
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise TableError(
            f"Separator {_shown(separator)} is not allowed: give one ASCII character such as"
            " ',', ';', '|' or a tab, and neither a quote nor a line break."
        )


def is_padded(content: bytes, separator: str) -> bool:
    """Whether a blank follows every separator below the first line, outside quotes.

    >>> is_padded(b"a,b\\n39, x\\n", ","), is_padded(b"a,b\\n39, x\\n40,y\\n", ",")
    (True, False)
    """
    mark = separator.encode()
    start = content.find(b"\n") + 1
    if separator == " " or content.find(mark + b" ", start) < 0:
        return False
    body = _masked(content[start:], mark)
    return body.count(mark) == body.count(mark + b" ") > 0


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        reason = "does not exist"
    except IsADirectoryError:
        reason = "is a folder, not a file"
    except (OSError, ValueError) as error:
        reason = f"cannot be opened ({getattr(error, 'strerror', None) or 'not a usable path'})"
    raise TableError(f"{quoted(path)} {reason}.")


# --- CSV and TSV -----------------------------------------------------------------------------


def _read_text(
    data: bytes, name: str, kind: str, settings: ReadSettings
) -> tuple[pd.DataFrame, str, str, list[str]]:
    content, encoding, guessed = _decode(data, name, settings.encoding)
    separator = settings.separator
    sample = content[:_SAMPLE_BYTES].decode(errors="ignore")
    whole = len(content) <= _SAMPLE_BYTES
    if separator is None:
        likely = _find_separator(sample, whole, kind)
        # A single column needs some separator for its settings: one that splits nothing.
        free = (s for s in SEPARATORS if s.encode() not in content)
        separator = likely or next(free, SEPARATORS[0])
        found = [_about_text(separator if likely else None, settings, encoding)]
    else:
        check_separator(separator)
        _check_given(sample, whole, separator, name)
        found = [_about_text(separator, settings, encoding)]
    if guessed:
        found.append(f"{encoding.upper()} is a guess: check names with accents.")
    if is_padded(content, separator):
        content = _unpadded(content, separator)
        found.append("The blank after every separator was skipped.")
    return _parse(content, separator, name), separator, encoding, found


def _decode(data: bytes, name: str, encoding: str | None) -> tuple[bytes, str, bool]:
    """The content as UTF-8 without a byte order mark, its encoding, and whether it was guessed."""
    guessed = False
    if encoding is not None:
        encoding = _known_encoding(encoding)
        text = _strictly(data, name, encoding)
    else:
        encoding = next((e for mark, e in _MARKS if data.startswith(mark)), None)
        if encoding is not None:
            text = _strictly(data, name, encoding)
        else:
            try:
                text, encoding = data.decode(), "utf-8"
            except UnicodeDecodeError:
                text, encoding = _guess(data, name)
                guessed = True
    if "\0" in text:
        raise _not_text(name)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise TableError(f"{quoted(name)} is empty: a header and at least one record are needed.")
    try:
        return text.encode(), encoding, guessed
    except UnicodeEncodeError:  # half of a pair, which some encodings let through
        raise _undecodable(name, encoding) from None


def _known_encoding(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)  # some codecs are not of text
    except (LookupError, ValueError):
        raise TableError(
            f"Encoding {quoted(encoding)} is not known: allowed are names such as utf-8, utf-16,"
            " latin-1 or cp1252."
        ) from None
    return "utf-8" if found == "utf-8-sig" else found


def _strictly(data: bytes, name: str, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(name, encoding, data.count(b"\n", 0, error.start) + 1) from None
    except (ValueError, LookupError):
        raise _undecodable(name, encoding) from None


def _undecodable(name: str, encoding: str, line: int | None = None) -> TableError:
    where = f"Line {line} of {quoted(name)}" if line else quoted(name)
    return TableError(
        f"{where} cannot be read in the encoding {encoding.upper()}: give another one, or none to"
        " have it found."
    )


def _not_text(name: str) -> TableError:
    return TableError(
        f"{quoted(name)} holds binary data, not text: if it is another kind of table, its name"
        f" must end so (allowed are {', '.join(ENDINGS)})."
    )


def _guess(data: bytes, name: str) -> tuple[str, str]:
    if re.search(rb"[\x00-\x08\x0e-\x1f]", data):
        raise _not_text(name)
    # Only lines with letters outside ASCII tell encodings apart, and some are enough.
    telling = islice(re.finditer(rb"[^\n]*[\x80-\xff][^\n]*", data), 500)
    sample = b"\n".join(match.group()[:2000] for match in telling)
    plausible = {
        encoding: match.chaos
        for match in from_bytes(sample, cp_isolation=_ENCODINGS)
        for encoding in match.could_be_from_charset
    }
    # Names are too short to tell Western from Central European letters: the more usual goes first.
    names = sorted(plausible, key=lambda e: (plausible[e], _ENCODINGS.index(e)))
    for encoding in names:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise TableError(
        f"The encoding of {quoted(name)} cannot be found: give it, for example latin-1 or cp1252."
    )


def _widths(sample: str, whole: bool, separator: str) -> list[int]:
    """The number of cells of the first records, header included."""
    reader = csv.reader(
        io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=separator != " "
    )
    widths = [len(row) for row in islice(reader, _SAMPLE_RECORDS + 1)]
    if not whole and 1 < len(widths) <= _SAMPLE_RECORDS:
        widths.pop()  # the sample ends within this record
    return [width for width in widths if width]


def _steady(widths: Sequence[int]) -> bool:
    return bool(widths) and min(widths) == max(widths) > 1


def _find_separator(sample: str, whole: bool, kind: str) -> str | None:
    """The likely separator, or None if nothing seems to separate cells.

    One that cuts all records into equally many cells wins; the next best is kept for a ragged
    file, so that the bad line can be named.
    """

    def rank(separator: str) -> tuple[int, float]:
        widths = _widths(sample, whole, separator)
        if _steady(widths):
            return 3, widths[0]
        several = Counter(width for width in widths if width > 1)
        most = max(several.values(), default=0) / max(len(widths), 1)
        if most >= 0.5:
            return 2, most
        if widths and widths[0] > 1 and max(widths[1:], default=0) > 1:
            return 1, widths[0]
        return 0, 0

    order = ("\t", ",", ";", "|") if kind == "tsv" else SEPARATORS
    best = max(order, key=rank)
    return best if rank(best)[0] else None


def _check_given(sample: str, whole: bool, separator: str, name: str) -> None:
    widths = _widths(sample, whole, separator)
    if widths and max(widths) > 1:
        return
    for other in SEPARATORS:
        found = _widths(sample, whole, other)
        if _steady(found):
            raise TableError(
                f"Separator {_shown(separator)} does not separate anything in {quoted(name)}:"
                f" with {_shown(other)} every line has {found[0]} cells."
            )


def _masked(content: bytes, mark: bytes) -> bytes:
    """The content with NUL, which no text has, for every separator inside quotes."""
    if b'"' not in content:
        return content
    # A quote opens a cell only at its beginning: 5'11" is a plain text.
    inside = rb'"(?<![^\s"' + re.escape(mark) + rb']")[^"]*"'
    return re.sub(inside, lambda match: match.group().replace(mark, b"\0"), content)


def _unpadded(content: bytes, separator: str) -> bytes:
    """The content without blanks after separators; quoted parts stay."""
    mark = separator.encode()
    content = _masked(content, mark)
    while mark + b" " in content:
        content = content.replace(mark + b" ", mark)
    return content.replace(b"\0", mark)


def _records(content: bytes, separator: str) -> Iterator[list[str]]:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=separator, strict=True)


def _parse(content: bytes, separator: str, name: str) -> pd.DataFrame:
    try:
        header = next((row for row in _records(content, separator) if row), [])
        if b'"' in content:
            # pyarrow takes a quote that is never closed, and text after a closed one, as they
            # come; the strict reader refuses both. The queue keeps nothing.
            deque(_records(content, separator), maxlen=0)
    except csv.Error:
        raise _first_fault(content, separator, name, None) from None
    columns = _column_names(header, name)
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(
                autogenerate_column_names=True, block_size=1 << 23
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={f"f{i}": pa.large_string() for i in range(len(columns))},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        raise _first_fault(content, separator, name, len(columns)) from None
    return table.slice(1).rename_columns(columns).to_pandas()


def _first_fault(content: bytes, separator: str, name: str, width: int | None) -> TableError:
    """The first line that is no record, found by walking (only once it is known that one is)."""
    reader: Any = _records(content, separator)
    line = 1
    try:
        for row in reader:
            if row and width is not None and len(row) != width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                return TableError(
                    f"Line {line} of {quoted(name)} has {cells} where the header has {width}."
                )
            line = reader.line_num + 1
    except csv.Error:
        return TableError(
            f"Line {line} of {quoted(name)} has a quote that is not closed where its cell ends:"
            ' inside quotes a quote is written twice ("").'
        )
    return TableError(f"{quoted(name)} cannot be read: a record is longer than 8 MB.")


def _column_names(cells: Iterable[object], name: str) -> list[str]:
    """The stripped names of the columns, if each has one of its own."""
    names = [str(cell).strip() for cell in cells]
    if "" in names:
        raise TableError(
            f"Column {names.index('') + 1} of {quoted(name)} has no name: every column needs one"
            " in the first line."
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{quoted(name)} has more than one column called {listing(twice)}: names must differ."
        )
    return names


# --- files that know their types -------------------------------------------------------------


def _read_arrow(data: bytes, name: str, kind: str) -> pd.DataFrame:
    source = pa.BufferReader(data)
    try:
        if kind == "parquet":
            content = pyarrow.parquet.ParquetFile(source).read()
        elif data.startswith((b"ARROW1", b"FEA1")):
            content = pyarrow.feather.read_table(source)
        else:
            content = pa.ipc.open_stream(source).read_all()
        content.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        raise TableError(
            f"{quoted(name)} cannot be read as {kind.capitalize()}: it is damaged, locked or"
            " another kind of file."
        ) from None
    names = _column_names(content.column_names, name)
    if not names:
        raise TableError(f"{quoted(name)} has no columns.")
    columns = [_typed(column, n) for column, n in zip(content.columns, names, strict=True)]
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _typed(column: Any, name: str) -> pd.Series:
    """A column of an Arrow table with its type; whole numbers stay whole beside missing ones."""
    kinds = pa.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kinds.is_nested(column.type):
        raise TableError(
            f"Column {quoted(name)} holds lists or structures: every cell must be one value."
        )
    text = (kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view, kinds.is_string_view)
    try:
        if any(test(column.type) for test in text):
            column = column.cast(pa.large_string())
        if column.null_count and kinds.is_integer(column.type):
            unsigned = column.type == pa.uint64()
            whole = column.cast(pa.uint64() if unsigned else pa.int64())
            dtype = pd.UInt64Dtype() if unsigned else pd.Int64Dtype()
            return pd.Series(dtype.__from_arrow__(whole))
        if column.null_count and kinds.is_boolean(column.type):
            return pd.Series(pd.BooleanDtype().__from_arrow__(column))
        return column.to_pandas()
    except (pa.ArrowException, ValueError):
        raise TableError(
            f"Column {quoted(name)} holds values that are not text, numbers, dates or yes/no."
        ) from None


def _read_sheet(data: bytes, name: str) -> tuple[pd.DataFrame, list[str]]:
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
        sheets = book.sheet_names
    except (CalamineError, OSError, ValueError):
        raise TableError(
            f"{quoted(name)} cannot be read as XLSX: it is damaged, locked or another kind of file."
        ) from None
    found = []
    if len(sheets) > 1:
        found.append(f"Sheet {quoted(sheets[0])} was read, the first of {len(sheets)}.")
    while rows and not any(cell != "" for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise TableError(
            f"{quoted(name)} has nothing on its first sheet: a header and at least one record are"
            " needed."
        )
    header, *below = rows
    records = [row for row in below if any(cell != "" for cell in row)]
    if len(records) < len(below):
        found.append(f"{_lines(len(below) - len(records))} skipped.")
    width = len(header)
    while not any(row[width - 1] != "" for row in (header, *records)):
        width -= 1  # formatted, but never filled in
    names = _column_names((canonical_text(cell) for cell in header[:width]), name)
    table = {n: _cells([row[i] for row in records]) for i, n in enumerate(names)}
    return pd.DataFrame(table), found


def _lines(count: int) -> str:
    return "1 empty row was" if count == 1 else f"{_thin(count)} empty rows were"


def _cells(cells: Sequence[Any]) -> pd.Series:
    """A column of a sheet, which stores every number as a float and a blank as ''."""
    values = [None if cell == "" else _whole(cell) for cell in cells]
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "integer":
        return pd.Series(values, dtype="int64" if None not in values else "Int64")
    if kind in ("floating", "mixed-integer-float"):
        return pd.Series(values, dtype="float64")
    if kind == "boolean":
        return pd.Series(values, dtype="bool" if None not in values else "boolean")
    if kind == "string":
        return pd.Series(values, dtype="str")
    if all(value is None or hasattr(value, "year") for value in values):
        return pd.Series(pd.to_datetime(pd.Series(values, dtype=object)))
    return pd.Series(values, dtype=object)


def _whole(cell: Any) -> Any:
    # Beyond 2**53 a float does not say which whole number it stands for.
    return (
        int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell
    )


# --- missing cells ---------------------------------------------------------------------------


def _mark_missing(
    table: pd.DataFrame, given: tuple[str, ...] | None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Make cells that hold a marker missing, and count every marker."""
    used = {marker.strip() for marker in (KNOWN_MARKERS if given is None else given)}
    looked_for = list(dict.fromkeys([*KNOWN_MARKERS, *sorted(used)]))
    total: Counter[str] = Counter()
    columns = {}
    for name, column in table.items():
        texts = _trimmed(column)
        if texts is not None:
            hits = pc.is_in(texts, value_set=pa.array(looked_for, texts.type))
            counts = pc.value_counts(texts.filter(hits)).to_pylist()
            total.update({count["values"]: count["counts"] for count in counts})
            if any(count["values"] in used for count in counts):
                cells = pc.is_in(texts, value_set=pa.array(list(used), texts.type))
                column = column.mask(cells.to_numpy(zero_copy_only=False))
        columns[name] = column
    return pd.DataFrame(columns), {m: total[m] for m in looked_for if total[m]}


def _trimmed(column: pd.Series) -> Any:
    """The texts of a column without outer blanks; None if it has no text."""
    if isinstance(column.dtype, pd.StringDtype):
        texts = pa.array(column, pa.large_string(), from_pandas=True)
    elif column.dtype == object:
        cells = [cell if isinstance(cell, str) else None for cell in column]
        texts = pa.array(cells, pa.large_string())
    else:
        return None
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return pc.utf8_trim_whitespace(texts)


# --- sentences -------------------------------------------------------------------------------


def _thin(count: int) -> str:
    return f"{count:,}".replace(",", "\u2009")


def _shown(separator: str) -> str:
    return {"\t": "tab", "\n": "line break", "": "''", " ": "' '"}.get(separator, quoted(separator))


def _about_text(separator: str | None, settings: ReadSettings, encoding: str) -> str:
    first = f"Separator {_shown(separator)}" if separator else "One column without a separator"
    second = f"encoding {encoding.upper()}"
    told = settings.separator is not None, settings.encoding is not None
    if told[0] == told[1]:
        return f"{first} and {second} were {'given' if told[0] else 'found'}."
    return (
        f"{first} was {'given' if told[0] else 'found'},"
        f" {second} was {'given' if told[1] else 'found'}."
    )


def _marker(marker: str) -> str:
    return quoted(marker) if marker.strip() else "blank"


def _about_missing(
    missing: Mapping[str, int], present: Mapping[str, int], used: Sequence[str]
) -> list[str]:
    sentences = []
    counting = {marker.strip() for marker in used}
    if missing:
        why = ", ".join(_marker(marker) for marker in present if marker in counting)
        parts = [f"{quoted(column)} {_thin(count)}" for column, count in missing.items()]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        sentences.append(
            f"{len(parts)} {'column has' if len(parts) == 1 else 'columns have'} missing cells"
            f"{f' ({why})' if why else ''}: {', '.join(parts[:5])}{more}."
        )
    kept = [
        f"{_marker(marker)} ({_thin(count)})"
        for marker, count in present.items()
        if marker not in counting
    ]
    if kept:
        sentences.append(f"Counted as values, not as missing: {', '.join(kept)}.")
    return sentences
