"""The first line of a table: the names of its columns, or the first record.

A record that is taken for names is released unchanged. So if the first line looks like a record,
the user has to say what it is.

>>> read_first_line([["age", "sex"], ["39", "F"]], "t.csv").names
['age', 'sex']
>>> read_first_line([["", "sex"], ["0", "F"]], "t.csv").remarks[0]
"The first column has no name: it is called 'column 1'."
>>> read_first_line([["39", "F"], ["50", "F"]], "t.csv")
Traceback (most recent call last):
kanon.errors.UnclearHeader: The first line of 't.csv' seems to be a record: it has a number abov...
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kanon.base.kinds import read_moments, read_numbers
from kanon.base.spelling import KNOWN_MARKERS, LIKELY_MARKERS
from kanon.errors import TableError, UnclearHeader, list_names, quote
from kanon.sources.encodings import get_empty_file_error

SAMPLE = 1000  # records that are examined to tell names from a record


@dataclass(frozen=True)
class FirstLine:
    names: list[str]
    is_record: bool = False
    lines_above: int = 0  # lines with nothing but separators
    lacks_name: bool = False  # it names all columns but the first
    remarks: tuple[str, ...] = ()  # sentences for a person


def is_filled(row: Sequence[str]) -> bool:
    return any(cell and not cell.isspace() for cell in row)


def read_first_line(
    rows: Sequence[Sequence[str]], name: str, header: bool | None = None
) -> FirstLine:
    """The names of the columns, from the first line or made up."""
    filled = [[cell.strip() for cell in row] for row in rows if is_filled(row)]
    if not filled:
        raise get_empty_file_error(name)
    first, records = filled[0], filled[1 : SAMPLE + 1]
    above = next(place for place, row in enumerate(rows) if is_filled(row))
    if header is False:
        remark = "The first line is read as a record, and the columns are numbered."
        return FirstLine(_number_columns(len(first)), True, above, remarks=(remark,))
    lacks_name = _has_unnamed_column(first, records)
    if lacks_name:
        first = ["", *first]
    remarks = []
    if len(first) > 1 and not first[0] and all(first[1:]):
        first = _number_columns(1, first) + first[1:]
        remarks.append(f"The first column has no name: it is called {quote(first[0])}.")
    reason = None if header else find_record(first, records)
    if reason:
        raise UnclearHeader(
            f"The first line of {quote(name)} seems to be a record: {reason}. Say whether it "
            'contains the column names, with --header yes or no, or "header": true or false '
            'under "read" in a plan.',
            reason=reason,
        )
    return FirstLine(read_column_names(first, name), False, above, lacks_name, tuple(remarks))


def _has_unnamed_column(first: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Whether all columns but the first are named, as in files of R: the row names all differ."""
    return (
        len(first) > 1
        and len({row[0] for row in records}) == len(records) > 0
        and all(len(row) == len(first) + 1 for row in records)
        and any(row[-1] for row in records)
    )


def find_record(first: Sequence[str], records: Sequence[Sequence[str]]) -> str | None:
    """Why a first line seems to be a record; None if it reads as names.

    >>> find_record(["id", "2019", "2020"], [["7", "1", "2"]]) is None
    True
    >>> find_record(["M", "flu"], [["F", "cold"], ["M", "none"]])
    'its cell 1 occurs again in the same column'
    """
    names, reasons, numbered = 0, list[str](), list[int]()
    for place, cell in enumerate(first):
        if _is_marker(cell):
            continue
        below = [row[place].strip() for row in records if len(row) > place and row != first]
        below = [text for text in below if not _is_marker(text)]
        kind, kind_below = _find_kind([cell]), _find_kind(below)
        if kind == kind_below == "number":
            numbered.append(place)
        elif kind and kind == kind_below:
            kind = kind.split()[0]
            reasons.append(f"it has a {kind} above {kind}s in column {place + 1}")
        elif cell in below:
            reasons.append(f"its cell {place + 1} occurs again in the same column")
        elif kind is None and kind_below in ("number", "date"):
            names += 1  # no value of such a column, so a name
    if numbered and not (names and len({first[place] for place in numbered}) == len(numbered)):
        return f"it has a number above numbers in column {numbered[0] + 1}"  # no years as names
    if len(reasons) > names:
        return reasons[0]
    twice = next((cell for cell in first if cell and first.count(cell) > 1), None)
    if twice is not None and not names:
        return f"its cell {first.index(twice) + 1} occurs twice in that line"
    return None


def _number_columns(width: int, names: Sequence[str] = ()) -> list[str]:
    mark = "'" if "column 1" in names else ""
    return [f"column {number}{mark}" for number in range(1, width + 1)]


def _is_marker(text: str) -> bool:
    return text in KNOWN_MARKERS or text.casefold() in LIKELY_MARKERS


def _find_kind(texts: Sequence[str]) -> str | None:
    """What all texts are: numbers, dates, or codes of one shape; None if none of these."""
    if not texts:
        return None
    if not any(map(str.isalpha, "".join(texts))) and read_numbers(texts) is not None:
        return "number"  # with a unit it is of one shape
    if read_moments(texts) is not None:
        return "date"
    shapes = {re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text)) for text in texts}
    (shape, *others) = shapes
    return f"code like {shape}" if not others and {"9", "@"} & {*shape} else None


def read_column_names(cells: Iterable[str], name: str) -> list[str]:
    """The names of the columns, without outer blanks."""
    names = [cell.strip() for cell in cells]
    if "" in names:
        raise TableError(
            f"Column {names.index('') + 1} of {quote(name)} has no name: every column needs one"
            " in the first line."
        )
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{quote(name)} has more than one column called {list_names(twice)}: names must differ."
        )
    return names


def find_view_names(columns: Sequence[str], view: str, statements: Mapping[str, str]) -> list[str]:
    """The columns of a view as its SQL names them: an engine adds a number to a repeated name."""
    sources, sql = [view], ""
    for source in sources:
        sql += statements.get(source, "").replace('""', '"') + "\n"
        sources += [other for other in statements if other not in sources and _is_in(sql, other)]
    known = {name.casefold(): name for name in columns}
    plain_names = (re.sub(r"[_:][0-9]+$", "", name).casefold() for name in columns)
    pairs = zip(columns, plain_names, strict=True)
    return [name if _is_in(sql, name) else known.get(plain, name) for name, plain in pairs]


def _is_in(sql: str, name: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE))
