"""The separator of a text file: what may be one, and which one it is."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from kanon.errors import TableError, quote

SEPARATORS = (",", ";", "\t", "|")
"""The separators that are detected; any other one must be given."""

_SAMPLE_BYTES = 1 << 18
_SAMPLE_RECORDS = 100

# Python's csv module, everywhere, refuses cells over 128 kB; a long free text is no error.
csv.field_size_limit(2**31 - 1)


def describe_separator(separator: str) -> str:
    return {"\t": "tab", "\n": "line break", "": "''", " ": "' '"}.get(separator, quote(separator))


def check_separator(separator: str) -> None:
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise TableError(
            f"Separator {describe_separator(separator)} is not allowed: choose one ASCII character "
            "such as ',', ';', '|' or a tab, but not a quote or a line break."
        )


def check_separates(content: bytes, separator: str, name: str) -> None:
    """Refuse a separator that separates nothing where another one fits every line."""
    if max(_count_cells(content, separator), default=0) > 1:
        return
    for other in SEPARATORS:
        widths = _count_cells(content, other)
        if _has_equal_widths(widths):
            raise TableError(
                f"Separator {describe_separator(separator)} does not separate anything in "
                f"{quote(name)}: with {describe_separator(other)} every line has {widths[0]} cells."
            )


def find_separator(content: bytes, likely: str = "") -> str | None:
    """The likely separator, or None if nothing seems to separate cells.

    One that cuts all records into equally many cells wins; the next best serves for a ragged file,
    whose bad line can be named then. Among equally good ones the likely one wins.
    """

    def rank_separator(separator: str) -> tuple[int, float]:
        widths = _count_cells(content, separator)
        if _has_equal_widths(widths):
            return 3, widths[0]
        several = Counter(width for width in widths if width > 1)
        most = max(several.values(), default=0) / max(len(widths), 1)
        if most >= 0.5:
            return 2, most
        separated = several.total()
        # Half of all lines are enough even below a header of one cell, such as a title.
        if separated and (2 * separated >= len(widths) or (widths[0] > 1 and separated > 1)):
            return 1, widths[0]
        return 0, 0

    best = max(sorted(SEPARATORS, key=lambda sign: sign != likely), key=rank_separator)
    return best if rank_separator(best)[0] else None


def _count_cells(content: bytes, separator: str) -> list[int]:
    sample = content[:_SAMPLE_BYTES].decode(errors="ignore")
    reader = csv.reader(
        io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=separator != " "
    )
    widths = [len(row) for row in islice(reader, _SAMPLE_RECORDS + 1)]
    if len(content) > _SAMPLE_BYTES and 1 < len(widths) <= _SAMPLE_RECORDS:
        widths.pop()  # the sample ends within this record
    return [width for width in widths if width]


def _has_equal_widths(widths: Sequence[int]) -> bool:
    return bool(widths) and min(widths) == max(widths) > 1


def is_padded(content: bytes, separator: str) -> bool:
    """Whether a blank follows every separator below the first line, outside quotes."""
    mark = separator.encode()
    start = content.find(b"\n") + 1
    if separator == " " or content.find(mark + b" ", start) < 0:
        return False
    body = _mask_quoted(content[start:], mark)
    return body.count(mark) == body.count(mark + b" ") > 0


def remove_padding(content: bytes, separator: str) -> bytes:
    """The content without blanks after separators; quoted parts stay."""
    mark = separator.encode()
    content = _mask_quoted(content, mark)
    while mark + b" " in content:
        content = content.replace(mark + b" ", mark)
    return content.replace(b"\0", mark)


def _mask_quoted(content: bytes, mark: bytes) -> bytes:
    """The content with NUL, which no text has, for every separator inside quotes."""
    if b'"' not in content:
        return content
    # A quote opens a cell only at its beginning: 5'11" is a plain text.
    inside = rb'"(?<![^\s"' + re.escape(mark) + rb']")[^"]*"'
    return re.sub(inside, lambda match: match.group().replace(mark, b"\0"), content)
