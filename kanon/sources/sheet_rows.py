"""Tell the rows of a sheet apart: records, names of columns, units, totals or notes."""

import io
import re
from collections.abc import Sequence
from numbers import Real
from typing import Any

import pandas as pd

from kanon.base.formatting import count_noun
from kanon.base.spelling import KNOWN_MARKERS, LIKELY_MARKERS
from kanon.base.values import convert_to_text
from kanon.errors import TableError, quote

_TOTAL = re.compile(
    r"((grand|overall|sub)[ -]?)?(totals?|sums?)|all|average|mean|median|count"
    r"|(gesamt|end|zwischen)?summe|gesamt|insgesamt|mittelwert|durchschnitt|anzahl"
    r"|(sous-)?total( g[eé]n[eé]ral)?|somme|ensemble|moyenne"
)
_NOTE_WORDS = r"[*†‡]|\(?\d+\)|(source|note|quelle|hinweis|anmerkung|stand|remarque)\b"
_NOTE = re.compile(f":|^({_NOTE_WORDS})")
_LONGEST_NOTES = 10_000
_MOST_BELOW = 10  # rows at the end that are examined

Row = Sequence[Any]


def is_filled(row: Row) -> bool:
    return any(cell != "" for cell in row)


def find_row_width(row: Row) -> int:
    """The place of the last filled cell of a row, counted from 1; 0 if none is."""
    return next((place for place in range(len(row), 0, -1) if row[place - 1] != ""), 0)


def count_leading_blanks(row: Row) -> int:
    """The number of blank cells of a row before the first filled one."""
    return next((place for place, cell in enumerate(row) if cell != ""), len(row))


def find_header(rows: Sequence[Row]) -> int:
    """The first filled row, or below a title the first row of texts in over half of the columns.

    >>> find_header([["A title", ""], ["", ""], ["age", "sex"], [39, "F"]])
    2
    >>> find_header([["age", ""], [39, "F"]])
    0
    """
    filled = [place for place, row in enumerate(rows) if is_filled(row)]
    width = max(map(find_row_width, rows)) - min(
        count_leading_blanks(rows[place]) for place in filled
    )
    across = (place for place in filled if 2 * sum(cell != "" for cell in rows[place]) > width)
    header = next(across, filled[0])
    return header if all(isinstance(cell, str) for cell in rows[header]) else filled[0]


def has_second_header(first: Row, second: Row, below: Sequence[Row]) -> bool:
    """Whether a row below the header holds further names or units instead of a record.

    >>> has_second_header(["name", "age"], ["", "years"], [["Ana", 30], ["Ben", 41]])
    True
    >>> has_second_header(["name", "age"], ["Ana", "unknown"], [["Ben", 41], ["Eve", 30]])
    False
    """
    if len(below) < 2 or not all(isinstance(cell, str) for cell in second):
        return False
    filled = {place for place, cell in enumerate(second) if cell.strip()}
    sizes = set()
    for place in range(len(second)):
        cells = [row[place] for row in below if row[place] != ""]
        if len(cells) > 1 and not any(isinstance(cell, str) for cell in cells):
            sizes.add(place)
        elif second[place] in cells:
            return False
    above = [second[place].strip() for place in filled & sizes]
    marked = any(text in KNOWN_MARKERS or text.lower() in LIKELY_MARKERS for text in above)
    digits = any(character.isdigit() for text in above for character in text)
    return bool(above) and 2 * len(above) >= len(sizes) and not (marked or digits)


def join_header_rows(first: Row, second: Row) -> tuple[list[str], bool]:
    """The names from two header rows, and whether the second row contributes to them.

    >>> join_header_rows(["id", "2020", "", "2021"], ["", "m", "f", "m"])
    (['id', '2020 m', '2020 f', '2021 m'], True)
    >>> join_header_rows(["Person", "", "Visit"], ["age", "sex", "ill"])
    (['age', 'sex', 'ill'], True)
    >>> join_header_rows(["name", "age"], ["", "years"])
    (['name', 'age'], False)
    """
    above, below = [convert_to_text(cell) for cell in first], [text.strip() for text in second]
    if all(above) and len(set(above)) == len(above):
        return above, False
    groups: list[str] = []
    for text in above:
        groups.append(text or (groups[-1] if groups else ""))
    names = [text or group for text, group in zip(below, groups, strict=True)]
    if len(set(names)) < len(names):
        pairs = zip(groups, below, strict=True)
        names = [" ".join(filter(None, pair)) for pair in pairs]
    return names, True


def fill_notes(content: bytes, separator: str) -> bytes:
    """Pad notes in the last lines of a CSV to the number of cells of the header."""
    header = next((line for line in io.BytesIO(content) if line.strip()), b"")
    sign = separator.encode()
    missing = header.count(sign)
    lines = content[-_LONGEST_NOTES:].split(b"\n")
    for place in range(len(lines) - 1, max(len(lines) - _MOST_BELOW, 1), -1):
        line = lines[place].rstrip(b"\r")
        if not line.strip():
            continue
        text = line.decode("utf-8", "replace")
        is_note = sign not in line and (missing > 1 or _NOTE.search(text.lower()))
        is_source = sign in line and re.match(_NOTE_WORDS, text.lower())
        letters = re.search(r"[^\W\d_]{2}", text)
        if line.count(sign) >= missing or b'"' in line or not letters or not (is_note or is_source):
            break
        end = lines[place][len(line) :]
        lines[place] = (b'"%b"' % line if is_source else line) + missing * sign + end
    return content[:-_LONGEST_NOTES] + b"\n".join(lines)


def drop_footer(records: Any, footer: int | None, name: str) -> Any:
    if not footer:
        return records
    if footer >= len(records):
        raise TableError(
            f"{quote(name)} has {count_noun(len(records), 'row')} below its header, but {footer} "
            "at the end are to be left out (footer): leave out fewer."
        )
    return records[:-footer]


def count_footer(table: pd.DataFrame) -> int:
    footer = 0
    for place in range(len(table) - 1, max(len(table) - _MOST_BELOW - 1, 1), -1):
        row = [_strip_cell(cell) for cell in table.iloc[place]]
        filled = [cell for cell in row if cell != ""]
        if _is_note(row, filled):
            if _has_sparse_rows(table.iloc[:place]):
                break
        elif not (_is_total_name(filled) or _is_sum(table.iloc[:place], row)):
            break
        footer = len(table) - place
    return footer


def describe_footer(left_out: int | None, looks_like: int) -> list[str]:
    number = left_out or looks_like
    rows = "The last row" if number == 1 else f"The last {number} rows"
    if left_out:
        return [f"{rows} {'was' if number == 1 else 'were'} left out, as requested."]
    if not looks_like:
        return []
    looks, counts = ("looks", "counts as a record") if number == 1 else ("look", "count as records")
    them = "it" if number == 1 else "them"
    return [
        f"{rows} {looks} like a total or a note, and {counts}. To leave {them} out, set "
        f"read.footer in a plan, or --footer, to {looks_like}; 0 keeps {them}."
    ]


def _strip_cell(cell: Any) -> Any:
    return cell.strip() if isinstance(cell, str) else "" if pd.isna(cell) else cell


def _is_total_name(filled: Row) -> bool:
    first = filled[0] if filled else ""
    return (
        isinstance(first, str)
        and bool(_TOTAL.fullmatch(first.lower().rstrip(" :.=")))
        and any(_parse_number(cell) is not None for cell in filled[1:])
    )


def _is_note(row: Row, filled: Row) -> bool:
    if len(filled) != 1 or len(row) < 2 or not re.search(r"[^\W\d_]{2}", str(filled[0])):
        return False
    return len(row) > 2 or bool(_NOTE.search(str(filled[0]).lower()))


def _is_sum(above: pd.DataFrame, row: Row) -> bool:
    """Whether a row is blank where the rows above are filled, and their sum elsewhere."""
    near = above.tail(20).map(_strip_cell)
    blank = [place for place, cell in enumerate(row) if cell == ""]
    if len(above) < 3 or not any(near.iloc[:, place].ne("").all() for place in blank):
        return False
    for place, cell in enumerate(row):
        if total := _parse_number(cell):
            numbers = pd.to_numeric(above.iloc[:, place], errors="coerce")
            if numbers.notna().all() and abs(numbers.sum() - total) <= 1e-9 * abs(total):
                return True
    return False


def _parse_number(cell: Any) -> float | None:
    if isinstance(cell, str):
        return float(cell) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", cell) else None
    return float(cell) if isinstance(cell, Real) else None


def _has_sparse_rows(records: pd.DataFrame) -> bool:
    """Whether a record has only one filled cell, apart from notes at the end."""
    filled = records.map(_strip_cell).ne("").sum(axis=1).to_numpy()
    last = len(filled)
    while last and filled[last - 1] == 1:
        last -= 1
    return bool((filled[:last] == 1).any())
