"""What a sheet shows of its numbers: codes with the zeros and dashes of their format, all digits.

The reader of sheets gives each number as a float: 1067 of a postcode that is shown as 01067, and
two numbers of more than 15 digits as one. Both are looked up in the parts of the file.
"""

import io
import operator
import re
import zipfile
from collections.abc import Callable, Mapping
from functools import cache

from kanon.sources.sheets import column_number, walk_xml

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
            "=": operator.eq, "<>": operator.ne}  # fmt: skip
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[[^\]]*\]|([0#])|([-/():+ ])|(.)', re.DOTALL)
_LONG = re.compile(rb"<(?:\w+:)?v>\s*-?\d{16,}\s*<")
_WHOLE = re.compile(r"-?\d+")
_PLACE = re.compile(r"([A-Za-z]{1,3})(\d{1,9})")
_MOST_DIGITS = 1000
_Tokens = Callable[[str], tuple[tuple[str, str], ...] | None]


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
    for quoted, escaped, digit, plain, other in _TOKEN.findall(section):
        if other == "@" or (other and other not in "'"):
            return None
        tokens.append((digit, quoted or escaped or plain or other))
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
            place = _PLACE.fullmatch(given.get("r", ""))
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
