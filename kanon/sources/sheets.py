"""An XLSX file before it is read: how large it is unpacked, and how far its sheets reach.

A reader of sheets makes room for every cell from the first to the last, so two cells in opposite
corners would take all memory; and for as many texts as it is promised. It is given nothing but what
was counted here, whatever else the file may hold, or say of itself.
"""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from xml.parsers import expat

from kanon.base.formatting import thin
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, unzipped
from kanon.errors import TableError, quoted
from kanon.settings import bytes_of, exceeded, settings
from kanon.sources.limits import check_unpacked

_MOST_MEMBERS = 10_000
_MOST_COLUMNS = 16_384
"""The last column of a sheet is XFD; a reader believes whatever letters stand before a row."""

_PIECE = 1 << 20
_PLACE = re.compile(rb"""[\s"']r\s*=\s*["']\s*([A-Za-z]*)([0-9]*)""")
_TEXTS = re.compile(rb"""uniqueCount\s*=\s*["']([0-9]+)""")
_ROW = re.compile(rb"<(?:\w+:)?row[\s/>]")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")

_TEXTS_PART = (
    "xl/sharedstrings.xml"  # the reader looks for this name, in small letters or large ones
)
_SHARED = re.compile(rb"""[\s"']t\s*=\s*["']s["']""")
_PLAIN = re.compile(
    _SHARED.pattern
    + rb"""(?:\s{1,9}[\w:]{1,32}=["'][^"'<>]{0,64}["']){0,9}\s{0,9}>"""
    + rb"""\s{0,99}<(?:\w{1,32}:)?v>([0-9]{1,9})</(?:\w{1,32}:)?v>\s{0,99}</(?:\w{1,32}:)?c>"""
)


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


def copied_size(book: zipfile.ZipFile, most: int) -> int:
    """How many bytes the shared texts have once each cell of a sheet has its own copy.

    A reader of sheets makes one for every cell, so that a long text and very many cells that mean
    it would take all memory, however little the file unpacks to.
    """
    texts = b"".join(book.read(name) for name in book.namelist() if name.lower() == _TEXTS_PART)
    sizes: Sequence[int] = ()
    found = 0
    for name in book.namelist() if texts else ():
        content = book.read(name)
        cells = sum(1 for _ in _SHARED.finditer(content))
        if cells * len(texts) > most:
            sizes = sizes or text_sizes(texts)
            if cells * max(sizes, default=0) > most:
                found = max(found, _copied(content, cells, sizes))
    return found


def _copied(content: bytes, cells: int, sizes: Sequence[int]) -> int:
    plain = Counter(int(cell[1]) for cell in _PLAIN.finditer(content))
    known = {text: times for text, times in plain.items() if text < len(sizes)}
    copied = sum(times * sizes[text] for text, times in known.items())
    return copied + (cells - sum(known.values())) * max(sizes)


def text_sizes(content: bytes) -> list[int]:
    """How many bytes each shared text has.

    >>> text_sizes(b"<sst><si><t>abc</t></si><si/><si><r><t>d</t></r><r><t>e</t></r></si></sst>")
    [3, 0, 2]
    """
    sizes: list[int] = []
    inside = False

    def begun(name: str, _: object) -> None:
        nonlocal inside
        if name == "si":
            if inside:
                raise Unreadable
            inside = True
            sizes.append(0)

    def ended(name: str) -> None:
        nonlocal inside
        inside = inside and name != "si"

    def said(text: str) -> None:
        if inside:
            sizes[-1] += len(text)

    # A sign is a byte then, whatever the encoding.
    walk_xml(content.removeprefix(b"\xef\xbb\xbf"), begun, ended, said, "iso-8859-1")
    return sizes


def walk_xml(
    content: bytes,
    begun: Callable[[str, Mapping[str, str]], None],
    ended: Callable[[str], None] = lambda name: None,
    said: Callable[[str], None] = lambda text: None,
    encoding: str | None = None,
) -> None:
    """Go through a part, its names without what stands before a colon."""

    def declared(*_: object) -> None:
        raise Unreadable

    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: begun(name.rpartition(":")[2], given)
    parser.EndElementHandler = lambda name: ended(name.rpartition(":")[2])
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = said, declared
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise Unreadable from None
