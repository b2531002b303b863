"""The blank that some programs write after every separator."""

from __future__ import annotations

import re


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


def without_padding(content: bytes, separator: str) -> bytes:
    """The content without blanks after separators; quoted parts stay.

    >>> without_padding(b'a, b\\n39, "x, y"\\n', ",")
    b'a,b\\n39,"x, y"\\n'
    """
    mark = separator.encode()
    content = _masked(content, mark)
    while mark + b" " in content:
        content = content.replace(mark + b" ", mark)
    return content.replace(b"\0", mark)


def _masked(content: bytes, mark: bytes) -> bytes:
    """The content with NUL, which no text has, for every separator inside quotes."""
    if b'"' not in content:
        return content
    # A quote opens a cell only at its beginning: 5'11" is a plain text.
    inside = rb'"(?<![^\s"' + re.escape(mark) + rb']")[^"]*"'
    return re.sub(inside, lambda match: match.group().replace(mark, b"\0"), content)
