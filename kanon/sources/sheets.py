"""An XLSX file before it is read: how large it is unpacked, and how far its sheets reach.

A reader of sheets makes room for every cell from the first to the last, so two cells in opposite
corners would take all memory; and for as many texts as it is promised. It is given nothing but what
was counted here, whatever else the file may hold, or say of itself.
"""

import io
import re
import zipfile

from kanon.base.formatting import thin
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, unzipped
from kanon.errors import TableError, quoted
from kanon.settings import bytes_of, exceeded, settings
from kanon.sources.limits import check_unpacked
from kanon.sources.shared_texts import copied_size

_MOST_MEMBERS = 10_000
_MOST_COLUMNS = 16_384
"""The last column of a sheet is XFD; a reader believes whatever letters stand before a row."""

_PIECE = 1 << 20
_PLACE = re.compile(rb"""[\s"']r\s*=\s*["']\s*([A-Za-z]*)([0-9]*)""")
_TEXTS = re.compile(rb"""uniqueCount\s*=\s*["']([0-9]+)""")
_ROW = re.compile(rb"<(?:\w+:)?row[\s/>]")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")


def checked_book(data: bytes, name: str) -> bytes:
    """The XML parts of an XLSX file, unpacked and counted, as a file of its own."""
    out = io.BytesIO()
    taken: set[str] = set()
    try:
        most = bytes_of("unpacked_megabytes")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as book:
            for part, content in unzipped(data, most, _MOST_MEMBERS, _is_xml):
                if part.lower() in taken:
                    raise Unreadable
                taken.add(part.lower())
                _check_extent(content, name)
                book.writestr(zipfile.ZipInfo(part), content)
        with zipfile.ZipFile(out) as book:
            check_unpacked(name, copied_size(book, most))
    except TooLarge:
        what = f"{quoted(name)} unpacks to more"
        raise TableError(exceeded("unpacked_megabytes", what)) from None
    except TooMany as error:
        raise TableError(
            f"{quoted(name)} has {thin(error.args[0])} parts; the most allowed is "
            f"{thin(_MOST_MEMBERS)}."
        ) from None
    return out.getvalue()


def _is_xml(part: str) -> bool:
    return part.lower().endswith((".xml", ".rels"))


def _check_extent(content: bytes, name: str) -> None:
    for told in _TEXTS.finditer(content):  # the reader makes room for as many
        if len(told[1]) > 18 or int(told[1]) > settings().cells:
            raise TableError(exceeded("cells", f"{quoted(name)} promises {told[1].decode()} texts"))
    rows, columns = extent(content)
    if columns > _MOST_COLUMNS:
        raise TableError(
            f"A sheet of {quoted(name)} has cells over {thin(columns)} columns; an XLSX has at "
            f"most {thin(_MOST_COLUMNS)}."
        )
    if rows * columns > settings().cells:
        reach = f"{thin(rows)} rows and {thin(columns)} columns"
        raise TableError(exceeded("cells", f"A sheet of {quoted(name)} has cells over {reach}"))


def extent(content: bytes) -> tuple[int, int]:
    """How many rows and columns the cells of a sheet reach over, at most."""
    rows, letters, placed, told, start = {b"0"}, {b""}, 0, 0, 0
    while start < len(content):  # piece by piece, each of them whole tags
        end = content.find(b"<", start + _PIECE)
        end = end if end >= 0 else len(content)
        for letter, row in _PLACE.findall(content, start, end):
            letters.add(letter)
            rows.add(row or b"0")
            placed += bool(letter)
            told += not letter
        start = end
    last_row = max(map(int, rows))
    last_column = max(map(column_number, letters))
    beyond = len(_CELL.findall(content)) > placed
    if beyond or len(_ROW.findall(content)) > told:
        lines = _ROW.split(content)
        last_row += len(lines) - 1
        last_column += max(len(_CELL.findall(line)) for line in lines) if beyond else 0
    return last_row, last_column


def column_number(letters: bytes) -> int:
    """The number of a column by its letters.

    >>> column_number(b"A"), column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters[:8].upper():
        number = 26 * number + letter - 64
    return number
