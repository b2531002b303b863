"""Dates and times as text: what they look like, and the moments that they mean."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from kanon.base.data_files import read_data


def _fold_word(word: str) -> str:
    """A word without case and accents, as people type the names of months."""
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(mark for mark in apart if not unicodedata.combining(mark))


_WORDS = read_data(__file__)

_MONTHS = {
    _fold_word(name): number
    for number, names in enumerate(_WORDS["months"], 1)
    for name in names.split()
}

_WEEKDAYS = frozenset(_WORDS["weekdays"].split())

EIGHT_DIGITS = ("YYYYMMDD", "DDMMYYYY", "MMDDYYYY")

_PARTS = {
    "YYYY": r"(?P<year>\d{4})", "YY": r"(?P<short>\d{2})", "MMM": r"(?P<name>[^\W\d_]{3,})\.?",
    "MM": r"(?P<month>\d{1,2})", "DD": r"(?P<day>\d{1,2})", "Q1": "Q(?P<quarter>[1-4])",
    "HH:MM": r"(?P<hour>\d{1,2})(?P<mark>[:])(?P<minute>\d{2})"
    r"(?:(?P=mark)(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?",
}  # fmt: skip

_WEEKDAY = r"(?:(?P<weekday>[^\W\d_]{2,10})\.?,? )?"
_ZONE = (
    r"(?: ?(?:Z|UTC|GMT|MES?Z|[A-Z]{1,3}T)?(?:[+-]\d{1,2}(?::?\d\d){0,2})?(?: ?\[?\w+/\w+\]?)?)?"
)


@cache
def build_date_regex(name: str, pattern: str) -> re.Pattern[str]:
    """Match texts written in a pattern of dates or times."""
    parts = [
        _PARTS.get(part) or re.escape(part) for part in re.split(f"({'|'.join(_PARTS)})", pattern)
    ]
    shape = "".join(parts)
    if "DD" not in pattern or pattern in EIGHT_DIGITS:  # 12-3456 is no month
        shape = shape.replace(r"\d{4}", r"(?:1[89]|2[01])\d\d")
    if pattern in EIGHT_DIGITS:
        shape = shape.replace("{1,2}", "{2}")
    if "MMM" in pattern and " " in pattern:
        shape = shape.replace("{1,2})", "{1,2})(?:st|nd|rd|th|er)?").replace(r",\ ", r",?\ ")
    if pattern.startswith("DD MMM"):
        shape = shape.replace(r"\ ", r"\.? ", 1)
    if "DD" in pattern:
        shape = _WEEKDAY + shape
    if name == "date and time":
        marks = "[:.h]?" if pattern in EIGHT_DIGITS else "[:.h]"
        time = _PARTS["HH:MM"].replace("[:]", marks)
        shape += rf"(?:(?:[T:]|,? (?:um |at |à )?){time}(?: Uhr)?{_ZONE})?"
    elif name == "time":  # 08:15-10:30 has no zone
        shape += r"(?: ?(?:Z|UTC|GMT)|\+\d\d(?::?\d\d)?|-\d\d)?"
    return re.compile(shape)


def read_moment(parts: Mapping[str, str | None], first_year: int | None) -> datetime | None:
    """Return the moment that the parts of a text mean, if there is such a day and time."""
    values = {key: value for key, value in parts.items() if value is not None}
    year = int(values.get("year", 1))
    if "short" in values and first_year is not None:
        year = first_year + (int(values["short"]) - first_year) % 100
    month = int(values.get("month", 1))
    if "name" in values:
        month = _MONTHS.get(_fold_word(values["name"]), 0)
    if "weekday" in values and _fold_word(values["weekday"]) not in _WEEKDAYS:
        return None
    if "quarter" in values:
        month = 3 * int(values["quarter"]) - 2
    hour = int(values.get("hour", 0))
    if "half" in values:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (values["half"] in "Pp")
    try:
        return datetime(
            year, month, int(values.get("day", 1)), hour, int(values.get("minute", 0)),
            int(values.get("second", 0)), int(values.get("part", "0")[:6].ljust(6, "0")),
        )  # fmt: skip
    except ValueError:
        return None
