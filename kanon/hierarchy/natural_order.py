"""The order in which people read labels: numbers by size, words by the alphabet."""

import math
import re

from kanon.base.kinds import ColumnKind, compute_sort_sizes

_LEADING = re.compile(r"([<>]?)([+-]?[0-9]{1,300}(?:\.[0-9]+)?)")
_DIGITS = re.compile(r"([0-9]+)")
_ENDS = {"<": -1, "": 0, ">": 1}
_PLAIN = ColumnKind("decimal", "1234.56")


def make_sort_key(
    text: str, read_as: ColumnKind = _PLAIN
) -> tuple[int, int, float, tuple[object, ...], str]:
    """A sort key for names: numbers or dates of a kind, then intervals by bounds, then texts.

    >>> kind = ColumnKind("date", "DD.MM.YYYY")
    >>> sorted(["1990", "02.01.1981", "01.05.1981"], key=lambda text: make_sort_key(text, kind))
    ['02.01.1981', '01.05.1981', '1990']
    """
    value = compute_sort_sizes([text], read_as) if any(map(str.isdigit, text)) else None
    if value is not None:
        return 0, 0, value[0], (), text
    leading = _LEADING.match(text)
    # "-10 to -6" comes before "-5 to -1", and "<20" and ">80" come first and last.
    kind, end, start = 2, 0, math.inf
    if leading:
        kind, end, start = 1, _ENDS[leading[1]], float(leading[2])
    # Texts stand at even places and digits at odd ones, so that only like kinds are compared;
    # digits by length and then by text, because Python refuses to read very long numbers.
    parts: list[object] = []
    for place, part in enumerate(_DIGITS.split(text.casefold())):
        digits = part.lstrip("0")
        parts.append((len(digits), digits) if place % 2 else part)
    return kind, end, start, tuple(parts), text
