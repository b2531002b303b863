"""Numbers as they stand in sentences."""

from __future__ import annotations

__all__ = ["counted", "thin"]


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
