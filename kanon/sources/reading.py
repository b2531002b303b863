"""Read a table file exactly as it is written, and report and keep how it is stored.

Cells of a CSV stay text, because a column that is not recoded must be released unchanged: ``007``
is not 7 and ``1.10`` is not 1.1. Files with types keep them.

>>> file = read_table(b"age;zip\\n39;007\\n?;1.10\\n", "people.csv")
>>> file.table["zip"].tolist(), dict(file.missing)
(['007', '1.10'], {'age': 1})
>>> file.found[:2]
("Separator ';' and encoding UTF-8 were found.", "1 column has missing cells ('?'): 'age' 1.")
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from kanon.base.formatting import count_noun, write_count
from kanon.base.kinds import find_number_kinds
from kanon.base.spelling import KNOWN_MARKERS
from kanon.errors import NotAFile, TableError, list_names, quote
from kanon.settings import describe_exceeded_limit, get_byte_limit
from kanon.sources.encodings import get_empty_file_error
from kanon.sources.formats import find_format
from kanon.sources.limits import check_unpacked
from kanon.sources.memory import MemoryTable
from kanon.sources.missing import (
    OddNumber,
    describe_missing_cells,
    find_odd_numbers,
    mark_blanks_missing,
    mark_missing,
    trim_texts,
)
from kanon.sources.read_settings import ReadSettings
from kanon.sources.sheet_rows import count_footer, describe_footer, drop_footer
from kanon.sources.text_form import PLAIN, TextForm

_WHOLE, _ZERO = r"^[+-]?\d+$", r"^[+-]?\d+\.0$"
_COMMA, _POINT = r"^[+-]?\d+,\d+$", r"^[+-]?\d+\.\d+$"
_LONG = r"^-?\d{16,}$"
_SCIENTIFIC = r"^[+-]?\d([.,]\d+)?[eE]\+?(1[5-9]|[2-9]\d)$"


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table that was read, with remarks about it.

    Attributes
    ----------
    kind
        A name of :data:`kanon.sources.formats.FORMATS`.
    settings
        What was given or detected; None only where the format has no such setting.
    markers_present
        Every text that is or looks like a marker, used or not, with its number of cells.
    unclear
        Why the first line, which is read as names or a record, may be the other of the two.
    """

    name: str
    kind: str
    table: pd.DataFrame
    settings: ReadSettings
    found: tuple[str, ...]  # sentences about how it was read
    missing: Mapping[str, int]  # the number of missing cells of every column that has some
    markers_present: Mapping[str, int]
    odd: tuple[OddNumber, ...] = ()  # they may stand for a missing one, and count as values
    sheets: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # their rows and columns
    form: TextForm = PLAIN
    footer_like: int = 0  # rows at the end that look like totals or notes but count as records
    unclear: str = ""

    @property
    def notices(self) -> tuple[str, ...]:
        """The sentences for the command line: all but separator and encoding."""
        return self.found if self.settings.separator is None else self.found[1:]

    @cached_property
    def records(self) -> MemoryTable:
        return MemoryTable(self.table, form=self.form)


def read_table(
    data: bytes | Path, name: str | None = None, settings: ReadSettings | None = None
) -> TableFile:
    """Read a table; the ending of its name decides the format.

    The first line holds the column names; for an XLSX see
    :func:`kanon.sources.typed_files.read_sheet`. A blank line is not a record. A cell of an XLSX
    that shows an error, such as ``#DIV/0!``, is missing.

    Parameters
    ----------
    name
        Needed with a content.
    settings
        What is known about the file; by default everything is detected.

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
    table_format = find_format(name)
    content = read_file_content(data) if isinstance(data, Path) else bytes(data)
    if not content.strip():
        raise get_empty_file_error(name)

    read = table_format.read(content, name, settings)
    table, blank = drop_blank_records(read.table)
    if table_format.cells == "text":
        table = drop_footer(table, settings.footer, name)
    if table.empty:
        raise TableError(f"{quote(name)} has a header but no records.")
    remarks = [*read.found, *describe_blank_records(blank)]

    _check_record_lengths(table, name)
    # On a sheet a column of numbers is one in which all cells are.
    in_sheet = table_format.cells == "sheet"
    markers = settings.missing_markers
    table, present = mark_missing(table, KNOWN_MARKERS if markers is None else markers, in_sheet)
    used = tuple(m for m in KNOWN_MARKERS if m in present) if markers is None else markers
    missing = {str(c): int(n) for c, n in table.isna().sum().items() if n}
    checks_footer = settings.footer is None and table_format.cells != "typed"
    footer_like = count_footer(table) if checks_footer else 0
    remarks += describe_footer(settings.footer, footer_like)
    remarks += describe_long_numbers(table, in_sheet)
    remarks += [*describe_missing_cells(missing, present, used), *describe_mixed_numbers(table)]
    used_settings = replace(
        settings, separator=read.separator, encoding=read.encoding, missing_markers=used,
        sheet=read.sheet,
    )  # fmt: skip
    return TableFile(
        name, table_format.name, table, used_settings, tuple(remarks), missing, present,
        find_odd_numbers(table, in_sheet), read.sheets, read.form, footer_like,
    )  # fmt: skip


def drop_blank_records(table: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The records that are not blank, and the number of blank ones.

    >>> rows, blank = drop_blank_records(pd.DataFrame({"a": ["1", " ", ""], "b": ["", "", "2"]}))
    >>> rows.to_numpy().tolist(), blank
    ([['1', ''], ['', '2']], 1)
    """
    blank = np.arange(len(table))
    for place in range(table.shape[1]):
        cells = mark_blanks_missing(table.iloc[blank, [place]])
        blank = blank[cells.isna().to_numpy(dtype=bool)[:, 0]]
        if not len(blank):
            return table, 0
    return table.drop(index=table.index[blank]).reset_index(drop=True), len(blank)


def describe_blank_records(records: int) -> list[str]:
    """A sentence on the empty records that were skipped; none if there are none."""
    were = "record was" if records == 1 else "records were"
    return [f"{write_count(records)} empty {were} skipped."] if records else []


def _check_record_lengths(table: pd.DataFrame, name: str) -> None:
    for column, cells in table.items():
        if isinstance(cells.dtype, pd.StringDtype):
            longest = cells.str.len().max()
        elif cells.dtype == object:
            longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=0)
        else:
            continue
        if longest > get_byte_limit("record_megabytes"):
            what = f"Column {quote(column)} of {quote(name)} has a cell that is too long"
            raise TableError(describe_exceeded_limit("record_megabytes", what))


def read_file_content(path: Path) -> bytes:
    """The content of a table file, unless it is larger than it may unpack to."""
    try:
        check_unpacked(path.name, path.stat().st_size)  # unpacked it is no smaller
        if not (path.is_file() or path.is_dir()):
            raise NotAFile(path)
        return path.read_bytes()
    except FileNotFoundError:
        reason = "does not exist"
    except IsADirectoryError:
        reason = "is a folder, not a file"
    except (OSError, ValueError) as error:
        reason = f"cannot be opened ({getattr(error, 'strerror', None) or 'not a usable path'})"
    raise TableError(f"{quote(path, 200)} {reason}.")


def describe_mixed_numbers(table: pd.DataFrame) -> list[str]:
    """A sentence per column and pair of spellings, with numbers of distinct values.

    >>> describe_mixed_numbers(pd.DataFrame({"age": ["39", "39.0", "40"], "zip": ["1", "2", "3"]}))
    ["'age' has numbers written in two ways, with '.0' (1 value) and without: they count as the ...]
    """
    return [
        f"{quote(name)} has numbers written in two ways, {ways}."
        for name, column in table.items()
        for ways in _describe_spellings(column, _find_distinct_texts(column))
    ]


def describe_long_numbers(table: pd.DataFrame, in_sheet: bool = False) -> list[str]:
    """A sentence about the columns whose long numbers may have lost their last digits.

    >>> describe_long_numbers(pd.DataFrame({"id": [9.1e18, 1.0], "n": [0.5, 1.5]}))[0][:42]
    "The numbers in 'id' have more than 15 digi"
    """
    cut = [str(name) for name, column in table.items() if _has_cut_numbers(column, in_sheet)]
    return [
        f"The numbers in {list_names(cut)} have more than 15 digits. Spreadsheets and "
        "floating-point numbers keep only 15, so different numbers may have become equal. Save "
        "them as text."
    ] * bool(cut)


def _find_distinct_texts(column: pd.Series) -> Any:
    texts = trim_texts(column)
    return None if texts is None else pc.drop_null(pc.unique(texts))


def _filter_texts(texts: Any, form: str) -> Any:
    return texts.filter(pc.match_substring_regex(texts, form))


def _has_cut_numbers(column: pd.Series, in_sheet: bool) -> bool:
    if pd.api.types.is_float_dtype(column):
        return bool((column.abs() >= 2**53).any())
    if in_sheet and pd.api.types.is_integer_dtype(column):
        column = column.astype("str")
    texts = _find_distinct_texts(column)
    if texts is None:
        return False
    long = _filter_texts(texts, _LONG) if in_sheet else []
    cut = len(long) > 1 and pc.all(pc.ends_with(long, "0")).as_py()
    return bool(cut or len(_filter_texts(texts, _SCIENTIFIC)))


def _describe_spellings(column: pd.Series, texts: Any) -> Iterator[str]:
    if texts is None:
        return
    whole, zero = _filter_texts(texts, _WHOLE), _filter_texts(texts, _ZERO)
    if len(whole) and len(zero):
        yield f"with '.0' ({count_noun(len(zero), 'value')}) and without: they count as the same"
    comma, point = _filter_texts(texts, _COMMA), _filter_texts(texts, _POINT)
    both = len(comma) and len(point)
    if both and not find_number_kinds([*comma.to_pylist(), *point.to_pylist()]):
        yield (
            f"with a comma ({count_noun(len(comma), 'value')}) and with a point "
            f"({count_noun(len(point), 'value')}): they count as different values"
        )
    differing = len(whole) - len(pc.unique(pc.utf8_ltrim(whole, "0")))
    if differing:
        yield (
            f"with zeros in front ({count_noun(differing, 'value')}) and without: they count as "
            "different values"
        )
    typed = column.dropna() if column.dtype == object and len(whole) else []
    if any(isinstance(cell, int | float) for cell in typed):
        yield f"as text ({count_noun(len(whole), 'value')}) and as numbers: they count as the same"
