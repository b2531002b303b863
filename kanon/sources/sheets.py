"""An XLSX file in its parts: its size, the extent of its sheets, and how they show numbers.

A reader of sheets allocates every cell from the first to the last, so two cells in opposite corners
would take all memory; also as many texts as the file promises. So it gets only parts that were
counted here. It gives each number as a float: 1067 for a postcode shown as 01067, and the same
float for different numbers of more than 15 digits. Both are looked up in the parts of the file.
"""

import io
import operator
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from xml.parsers import expat

from kanon.base.formatting import write_count
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, extract_members
from kanon.errors import TableError, quote
from kanon.settings import describe_exceeded_limit, get_byte_limit, get_settings
from kanon.sources.limits import check_unpacked

_MOST_MEMBERS = 10_000
_MOST_COLUMNS = 16_384
"""The last column of a sheet is XFD; a reader believes any letters before a row number."""

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
_Parser = Callable[[str], tuple[tuple[str, str], ...] | None]


def check_book(data: bytes, name: str) -> bytes:
    """The XML parts of an XLSX file, unpacked and counted, as a file of its own."""
    out = io.BytesIO()
    taken: set[str] = set()
    try:
        most = get_byte_limit("unpacked_megabytes")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as book:
            parts = extract_members(
                data, most, _MOST_MEMBERS, lambda part: part.lower().endswith((".xml", ".rels"))
            )
            for part, content in parts:
                if part.lower() in taken:
                    raise Unreadable
                taken.add(part.lower())
                _check_extent(content, name)
                book.writestr(zipfile.ZipInfo(part), content)
        with zipfile.ZipFile(out) as book:
            check_unpacked(name, measure_copied_texts(book, most))
    except TooLarge:
        what = f"{quote(name)} unpacks to more"
        raise TableError(describe_exceeded_limit("unpacked_megabytes", what)) from None
    except TooMany as error:
        raise TableError(
            f"{quote(name)} has {write_count(error.args[0])} parts; the limit is "
            f"{write_count(_MOST_MEMBERS)}."
        ) from None
    return out.getvalue()


def _check_extent(content: bytes, name: str) -> None:
    for count in _TEXTS.finditer(content):  # the reader makes room for as many
        if len(count[1]) > 18 or int(count[1]) > get_settings().cells:
            what = f"{quote(name)} claims to have {count[1].decode()} texts"
            raise TableError(describe_exceeded_limit("cells", what))
    rows, columns = measure_extent(content)
    if columns > _MOST_COLUMNS:
        raise TableError(
            f"A sheet of {quote(name)} spans {write_count(columns)} columns; an XLSX file has "
            f"at most {write_count(_MOST_COLUMNS)}."
        )
    if rows * columns > get_settings().cells:
        reach = f"{write_count(rows)} rows and {write_count(columns)} columns"
        what = f"A sheet of {quote(name)} spans {reach}"
        raise TableError(describe_exceeded_limit("cells", what))


def measure_extent(content: bytes) -> tuple[int, int]:
    """The most rows and columns that the cells of a sheet may span."""
    rows, letters, tagged, untagged, start = {b"0"}, {b""}, 0, 0, 0
    while start < len(content):  # piece by piece, each of them whole tags
        end = content.find(b"<", start + _PIECE)
        end = end if end >= 0 else len(content)
        for letter, row in _PLACE.findall(content, start, end):
            letters.add(letter)
            rows.add(row or b"0")
            tagged += bool(letter)
            untagged += not letter
        start = end
    last_row = max(map(int, rows))
    last_column = max(map(decode_column_letters, letters))
    beyond = len(_CELL.findall(content)) > tagged
    if beyond or len(_ROW.findall(content)) > untagged:
        lines = _ROW.split(content)
        last_row += len(lines) - 1
        last_column += max(len(_CELL.findall(line)) for line in lines) if beyond else 0
    return last_row, last_column


def decode_column_letters(letters: bytes) -> int:
    number = 0
    for letter in letters[:8].upper():
        number = 26 * number + letter - 64
    return number


def measure_copied_texts(book: zipfile.ZipFile, most: int) -> int:
    """The bytes of the shared texts once each cell has its own copy, as a reader makes them.

    A long text with very many cells would take all memory, however small the unpacked file is.
    """
    texts = b"".join(book.read(name) for name in book.namelist() if name.lower() == _TEXTS_PART)
    sizes: Sequence[int] = ()
    largest = 0
    for name in book.namelist() if texts else ():
        content = book.read(name)
        cells = sum(1 for _ in _SHARED.finditer(content))
        if cells * len(texts) > most:
            sizes = sizes or measure_shared_texts(texts)
            if cells * max(sizes, default=0) > most:
                largest = max(largest, _measure_copies(content, cells, sizes))
    return largest


def _measure_copies(content: bytes, cells: int, sizes: Sequence[int]) -> int:
    plain = Counter(int(cell[1]) for cell in _PLAIN.finditer(content))
    known = {text: times for text, times in plain.items() if text < len(sizes)}
    copied = sum(times * sizes[text] for text, times in known.items())
    return copied + (cells - sum(known.values())) * max(sizes)


def measure_shared_texts(content: bytes) -> list[int]:
    sizes: list[int] = []
    inside = False

    def start(name: str, _: object) -> None:
        nonlocal inside
        if name == "si":
            if inside:
                raise Unreadable
            inside = True
            sizes.append(0)

    def end(name: str) -> None:
        nonlocal inside
        inside = inside and name != "si"

    def add_text(text: str) -> None:
        if inside:
            sizes[-1] += len(text)

    # In this encoding each character is a byte.
    walk_xml(content.removeprefix(b"\xef\xbb\xbf"), start, end, add_text, "iso-8859-1")
    return sizes


def walk_xml(
    content: bytes,
    start_element: Callable[[str, Mapping[str, str]], None],
    end_element: Callable[[str], None] = lambda name: None,
    add_text: Callable[[str], None] = lambda text: None,
    encoding: str | None = None,
) -> None:
    """Parse an XML part, names without their namespace prefix."""

    def refuse_declaration(*_: object) -> None:
        raise Unreadable

    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: start_element(name.rpartition(":")[2], given)
    parser.EndElementHandler = lambda name: end_element(name.rpartition(":")[2])
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = add_text, refuse_declaration
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise Unreadable from None


def find_exact_cells(book: bytes, sheet: str) -> dict[int, dict[int, str | int]]:
    """Per column and row, from 0, the numbers that a reader gives differently than the sheet."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        names = {name.lower(): name for name in parts.namelist()}

        def content(path: str) -> bytes:
            part = parts.read(names[path.lower()]) if path.lower() in names else b""
            return part or b"<none/>"

        cells = content(_find_sheet_part(sheet, content))
        formats = _find_code_formats(content("xl/styles.xml"))
        return _read_cells(cells, formats) if formats or _LONG.search(cells) else {}


def _parse_code(section: str) -> tuple[tuple[str, str], ...] | None:
    """The digits and texts of a number format, if it writes codes."""
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


def write_by_format(number: int, code: str, tokens_of: _Parser = _parse_code) -> str | None:
    """Write a whole number in a format of codes; None for a format of amounts.

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
    digits, characters = list(str(abs(number))), list[str]()
    first = next(place for place, (kind, _) in enumerate(tokens) if kind)
    for place in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[place]
        if kind:
            text = digits.pop() if digits else "0" if kind == "0" else ""
        characters.append(text)
        if place == first:
            characters += reversed(digits)
    sign = "-" if number < 0 and len(sections) == 1 else ""
    return sign + "".join(reversed(characters)).strip()


def _find_sheet_part(sheet: str, content: Callable[[str], bytes]) -> str:
    targets, wanted = {}, ""

    def read_relation(name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    def read_sheet_name(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal wanted
        if name == "sheet" and attributes.get("name") == sheet:
            wanted = next((text for key, text in attributes.items() if key.endswith(":id")), "")

    walk_xml(content("xl/_rels/workbook.xml.rels"), read_relation)
    walk_xml(content("xl/workbook.xml"), read_sheet_name)
    target = targets.get(wanted, "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _find_code_formats(styles: bytes) -> dict[str, str]:
    codes: dict[str, str] = {}
    used: list[str] = []
    inside = ""

    def read_element(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal inside
        if name in ("cellXfs", "cellStyleXfs", "dxfs"):
            inside = name
        elif name == "numFmt" and inside != "dxfs":
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "xf" and inside == "cellXfs":
            used.append(attributes.get("numFmtId", ""))

    walk_xml(styles, read_element)
    by_style = {str(place): codes[number] for place, number in enumerate(used) if number in codes}
    return {s: code for s, code in by_style.items() if any(map(_parse_code, code.split(";")))}


def _read_cells(content: bytes, formats: Mapping[str, str]) -> dict[int, dict[int, str | int]]:
    tokens_of = cache(_parse_code)  # for this file only: its formats may be confidential
    exact: dict[int, dict[int, str | int]] = {}
    padded: set[int] = set()
    row = column = -1
    code: str | None = None
    value: list[str] | None = None
    is_number = False

    def start_element(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column, code, value, is_number
        if name == "row":
            row = int(attributes["r"]) - 1 if attributes.get("r", "").isdecimal() else row + 1
            column = -1
        elif name == "c":
            place = _CELL_PLACE.fullmatch(attributes.get("r", ""))
            column = decode_column_letters(place[1].encode()) - 1 if place else column + 1
            row = int(place[2]) - 1 if place else row
            code = formats.get(attributes.get("s", ""))
            is_number = attributes.get("t", "n") == "n"
        elif name == "v" and is_number:
            value = []

    def end_element(name: str) -> None:
        nonlocal value
        if name != "v" or value is None:
            return
        text, value = "".join(value).strip(), None
        if re.fullmatch(r"-?\d+\.0+", text):
            text = text.partition(".")[0]
        if not _WHOLE.fullmatch(text) or len(text) > _MOST_DIGITS:
            return
        text_shown = None if code is None else write_by_format(int(text), code, tokens_of)
        if text_shown is None and len(text.lstrip("-")) < 16:
            return
        if text_shown not in (None, text):
            padded.add(column)
        exact.setdefault(column, {})[row] = text_shown or int(text)

    def add_text(text: str) -> None:
        if value is not None:
            value.append(text)

    walk_xml(content, start_element, end_element, add_text)
    return {
        column: {
            row: cell for row, cell in cells.items() if column in padded or isinstance(cell, int)
        }
        for column, cells in exact.items()
    }
