"""Numbers for people: rounding never makes an uncertain value look certain."""

from collections.abc import Iterable
from typing import Literal

CountedUnit = Literal["records", "persons"]
"""What is counted: records, or persons where a column identifies them."""


def write_percent(number: float) -> str:
    """A percentage with one decimal; only exact 0 and 100 read as 0 and 100.

    >>> write_percent(12.34), write_percent(0.01), write_percent(0), write_percent(99.95)
    ('12.3 %', '< 0.1 %', '0.0 %', '> 99.9 %')
    """
    number = float(f"{number:.12g}")  # the error of a sum of fractions does not count
    if 0 < number < 0.05:
        return "< 0.1 %"
    if 99.9 < number < 100 and f"{number:.1f}" == "100.0":
        return "> 99.9 %"
    return f"{number:.1f} %"


def write_number(number: float, digits: int = 4) -> str:
    """A number with some digits, and more where it would falsely read as a whole number.

    >>> write_number(4.4321), write_number(1.00004), write_number(6.999999999999999)
    ('4.432', '1.00004', '7')
    """
    number = float(f"{number:.12g}")  # the error of a logarithm does not count
    while digits < 12 and is_falsely_whole(f"{number:.{digits}g}", number):
        digits += 1
    return f"{number:.{digits}g}"


def is_falsely_whole(text: str, number: float) -> bool:
    """Whether a text reads as a whole number although the number is not whole.

    >>> is_falsely_whole("1.00", 1.004), is_falsely_whole("1.00", 1.0)
    (True, False)
    """
    return float(text).is_integer() and float(text) != number


def write_count(number: float) -> str:
    """A count with thin spaces between thousands.

    >>> write_count(30162) == "30\\u202f162"
    True
    """
    return f"{number:,.0f}".replace(",", "\u202f")


def count_noun(number: int, singular: str, plural: str = "") -> str:
    """A count with its noun.

    >>> count_noun(1, "record"), count_noun(2, "class", "classes")
    ('1 record', '2 classes')
    """
    return f"{write_count(number)} {singular if number == 1 else plural or singular + 's'}"


def choose_plural(number: int, singular: str, plural: str, /, **values: object) -> str:
    """The singular or plural text, with the count as ``{count}`` and other values by name.

    >>> choose_plural(2, "{count} {noun} is left", "{count} {noun}s are left", noun="row")
    '2 rows are left'
    """
    return (singular if number == 1 else plural).format(count=write_count(number), **values)


def join_words(items: Iterable[object]) -> str:
    """Join items with commas and "and", unquoted; :func:`kanon.errors.list_names` quotes names.

    >>> join_words(["a"]), join_words(["a", "b"]), join_words("abc"), join_words([])
    ('a', 'a and b', 'a, b and c', '')
    """
    *firsts, last = [*map(str, items)] or [""]
    return f"{', '.join(firsts)} and {last}" if firsts else last
