"""An XLSX file in its parts: how large it is, how far its sheets reach, and how they show numbers.

A reader of sheets makes room for every cell from the first to the last, so two cells in opposite
corners would take all memory; and for as many texts as it is promised. It is given nothing but what
was counted here, whatever else the file may hold, or say of itself. It gives each number as a
float: 1067 of a postcode that is shown as 01067, and two numbers of more than 15 digits as one.
Both are looked up in the parts of the file.
"""

import io
import operator
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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

_TEXTS_PART = "xl/sharedstrings.xml"  # the reader takes its name in small or large letters
_SHARED = re.compile(rb"""[\s"']t\s*=\s*["']s["']""")
_PLAIN = re.compile(
    _SHARED.pattern
    + rb"""(?:\s{1,9}[\w:]{1,32}=["'][^"'<>]{0,64}["']){0,9}\s{0,9}>"""
    + rb"""\s{0,99}<(?:\w{1,32}:)?v>([0-9]{1,9})</(?:\w{1,32}:)?v>\s{0,99}</(?:\w{1,32}:)?c>"""
)

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
            "=": operator.eq, "<>": operator.ne}  # fmt: skip
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[[^\]]*\]|([0#])|([-/():+ ])|(.)', re.DOTALL)
_LONG = re.compile(rb"<(?:\w+:)?v>\s*-?\d{16,}\s*<")
_WHOLE = re.compile(r"-?\d+")
_CELL_PLACE = re.compile(r"([A-Za-z]{1,3})(\d{1,9})")
_MOST_DIGITS = 1000
_Tokens = Callable[[str], tuple[tuple[str, str], ...] | None]


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


def exact_cells(book: bytes, sheet: str) -> dict[int, dict[int, str | int]]:
    """Per column the rows of numbers that a reader does not give as they are shown, both from 0."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        names = {name.lower(): name for name in parts.namelist()}

        def content(path: str) -> bytes:
            found = parts.read(names[path.lower()]) if path.lower() in names else b""
            return found or b"<none/>"

        cells = content(_part_of(sheet, content))
        formats = _code_formats(content("xl/styles.xml"))
        return _cells(cells, formats) if formats or _LONG.search(cells) else {}


def _tokens(section: str) -> tuple[tuple[str, str], ...] | None:
    """The places of digits and the texts of a format, if it writes codes."""
    tokens: list[tuple[str, str]] = []
    for in_quotes, escaped, digit, plain, other in _TOKEN.findall(section):
        if other == "@" or (other and other not in "'"):
            return None
        tokens.append((digit, in_quotes or escaped or plain or other))
    places = [place for place, (kind, _) in enumerate(tokens) if kind]
    if not places or len(tokens) > _MOST_DIGITS:
        return None
    padded = [kind for kind, _ in tokens if kind].count("0") > 1 and tokens[places[0]][0] == "0"
    between = "".join(text for kind, text in tokens[places[0] : places[-1]] if not kind)
    return tuple(tokens) if padded or between.strip(" '.,\u00a0\u202f\u2019") else None


def write_by_format(number: int, code: str, tokens_of: _Tokens = _tokens) -> str | None:
    """Write a whole number as a format of codes shows it; None for a format of amounts.

    >>> write_by_format(5551234, "[<=9999999]###-####;(###) ###-####")
    '555-1234'
    >>> [write_by_format(7, code) for code in ('"A-"000', "#,##0", "# ##0", '0" kg"', "0.00")]
    ['A-007', None, None, None, None]
    """
    sections = code.split(";")
    chosen = sections[1] if number < 0 and len(sections) > 1 else sections[0]
    for section in sections:
        if condition := _CONDITION.search(section):
            chosen = section
            if _COMPARE[condition[1]](number, float(condition[2])):
                break
        elif _CONDITION.search(code):
            chosen = section
            break
    tokens = tokens_of(chosen)
    if tokens is None:
        return None
    digits, shown = list(str(abs(number))), list[str]()
    first = next(place for place, (kind, _) in enumerate(tokens) if kind)
    for place in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[place]
        if kind:
            text = digits.pop() if digits else "0" if kind == "0" else ""
        shown.append(text)
        if place == first:
            shown += reversed(digits)
    sign = "-" if number < 0 and len(sections) == 1 else ""
    return sign + "".join(reversed(shown)).strip()


def _part_of(sheet: str, content: Callable[[str], bytes]) -> str:
    targets, wanted = {}, ""

    def relation(name: str, given: Mapping[str, str]) -> None:
        if name == "Relationship":
            targets[given.get("Id", "")] = given.get("Target", "")

    def named(name: str, given: Mapping[str, str]) -> None:
        nonlocal wanted
        if name == "sheet" and given.get("name") == sheet:
            wanted = next((text for key, text in given.items() if key.endswith(":id")), "")

    walk_xml(content("xl/_rels/workbook.xml.rels"), relation)
    walk_xml(content("xl/workbook.xml"), named)
    target = targets.get(wanted, "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _code_formats(styles: bytes) -> dict[str, str]:
    codes: dict[str, str] = {}
    used: list[str] = []
    inside = ""

    def begun(name: str, given: Mapping[str, str]) -> None:
        nonlocal inside
        if name in ("cellXfs", "cellStyleXfs", "dxfs"):
            inside = name
        elif name == "numFmt" and inside != "dxfs":
            codes[given.get("numFmtId", "")] = given.get("formatCode", "")
        elif name == "xf" and inside == "cellXfs":
            used.append(given.get("numFmtId", ""))

    walk_xml(styles, begun)
    code_of = {str(place): codes[used_id] for place, used_id in enumerate(used) if used_id in codes}
    return {style: code for style, code in code_of.items() if any(map(_tokens, code.split(";")))}


def _cells(content: bytes, formats: Mapping[str, str]) -> dict[int, dict[int, str | int]]:
    tokens_of = cache(_tokens)  # of this file alone: a format is text of its owner
    shown: dict[int, dict[int, str | int]] = {}
    padded: set[int] = set()
    row = column = -1
    code: str | None = None
    value: list[str] | None = None
    is_number = False

    def begun(name: str, given: Mapping[str, str]) -> None:
        nonlocal row, column, code, value, is_number
        if name == "row":
            row = int(given["r"]) - 1 if given.get("r", "").isdecimal() else row + 1
            column = -1
        elif name == "c":
            place = _CELL_PLACE.fullmatch(given.get("r", ""))
            column = column_number(place[1].encode()) - 1 if place else column + 1
            row = int(place[2]) - 1 if place else row
            code = formats.get(given.get("s", ""))
            is_number = given.get("t", "n") == "n"
        elif name == "v" and is_number:
            value = []

    def ended(name: str) -> None:
        nonlocal value
        if name != "v" or value is None:
            return
        text, value = "".join(value).strip(), None
        if re.fullmatch(r"-?\d+\.0+", text):
            text = text.partition(".")[0]
        if not _WHOLE.fullmatch(text) or len(text) > _MOST_DIGITS:
            return
        told = None if code is None else write_by_format(int(text), code, tokens_of)
        if told is None and len(text.lstrip("-")) < 16:
            return
        if told not in (None, text):
            padded.add(column)
        shown.setdefault(column, {})[row] = told or int(text)

    def said(text: str) -> None:
        if value is not None:
            value.append(text)

    walk_xml(content, begun, ended, said)
    return {
        column: {
            row: cell for row, cell in cells.items() if column in padded or isinstance(cell, int)
        }
        for column, cells in shown.items()
    }
