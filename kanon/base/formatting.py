"""Numbers as they stand in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Counted = Literal["records", "persons"]
"""What numbers count: records, or persons where a column tells them apart."""


def percent(number: float) -> str:
    """A percentage with one decimal; what is not quite 0 or 100 does not look like it.

    >>> percent(12.34), percent(0.01), percent(0)
    ('12.3 %', '< 0.1 %', '0.0 %')
    """
    if 0 < number < 0.05:
        return "< 0.1 %"
    if 99.95 < number < 100:
        return "> 99.9 %"
    return f"{number:.1f} %"


def thin(number: float) -> str:
    """A count with thin spaces between its thousands.

    >>> thin(30162) == "30\\u202f162"
    True
    """
    return f"{number:,.0f}".replace(",", "\u202f")


def counted(number: int, one: str, more: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "record"), counted(2, "class", "classes")
    ('1 record', '2 classes')
    """
    return f"{thin(number)} {one if number == 1 else more or one + 's'}"


def joined(items: Iterable[object]) -> str:
    """Some things as one says them, as they are; :func:`kanon.errors.listing` quotes names.

    >>> joined(["a"]), joined(["a", "b"]), joined("abc"), joined([])
    ('a', 'a and b', 'a, b and c', '')
    """
    *others, last = [*map(str, items)] or [""]
    return f"{', '.join(others)} and {last}" if others else last
