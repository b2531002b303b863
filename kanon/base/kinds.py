"""The kind of a column: how its texts are read as numbers, dates or times.

A cell stays the text that it is, as does a leaf of a hierarchy: a kind is only a way to read it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Literal

import numpy as np

from kanon.base.date_texts import EIGHT_DIGITS, date_regex, moment_of
from kanon.base.formatting import counted
from kanon.errors import PlanError, TableError, quoted

WHOLE = ("1234", "1,234", "1.234", "1 234", "1'234")
DECIMAL = ("1234.56", "1234,56", "1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56")
DATES = (
    "YYYY-MM-DD", "DD.MM.YYYY", "DD.MM.YY", "DD/MM/YYYY", "MM/DD/YYYY", "DD/MM/YY", "MM/DD/YY",
    "DD-MM-YYYY", "MM-DD-YYYY", "DD-MM-YY", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD", "DDMMYYYY",
    "MMDDYYYY", "DD MMM YYYY", "DD MMM YY", "DD-MMM-YYYY", "DD-MMM-YY", "DD/MMM/YYYY", "DDMMMYYYY",
    "DDMMMYY", "YYYY-MMM-DD", "MMM DD, YYYY", "MMM YYYY", "MMM-YYYY", "MMM-YY", "MMMYYYY",
    "YYYY-MM", "YYYY/MM", "MM/YYYY", "MM.YYYY", "MM-YYYY", "YYYY-Q1", "Q1 YYYY", "YYYY",
)  # fmt: skip
"""Patterns of dates; where several fit, as day and month first, the earlier one is likelier."""

AND_ALSO = " or "
"""What stands between the patterns of a column whose dates are written in several ways."""

PATTERNS: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "code": (),
    "whole number": WHOLE,
    "decimal": DECIMAL,
    "date": DATES,
    "date and time": tuple(pattern for pattern in DATES if "DD" in pattern),
    "time": ("HH:MM",),
}
"""The kinds, and in which ways each may be written."""

_PLAIN = (WHOLE[0], DECIMAL[0])  # what Python reads as a number by itself

Resolution = Literal["time", "day", "month", "quarter", "year"]


@dataclass(frozen=True)
class ColumnKind:
    """How the texts of a column are read.

    >>> kind = ColumnKind.parse("date DD.MM.YY from 1927")
    >>> [kind.moment(text).year for text in ("04.03.81", "4.3.26", "4.3.27")], str(kind)
    ([1981, 2026, 1927], 'date DD.MM.YY from 1927')
    >>> ColumnKind.parse("decimal 1.234,56").number("€ 1.200,5")
    1200.5
    >>> ColumnKind.parse("date DD.MM.YYYY or YYYY-MM-DD").moment("1981-03-04").day
    4
    """

    # a key of :data:`PATTERNS`, and one of its ways to write it
    name: str
    pattern: str = ""
    # of two-digit years the earliest: they are the hundred years from there on
    first_year: int | None = None

    @classmethod
    def parse(cls, text: str) -> ColumnKind:
        """A kind from its text, such as ``decimal 1.234,56``.

        Two-digit years without ``from`` end with this year, as nobody is born later.
        """
        found = re.fullmatch(r"(.*?)(?: from (\d{1,4}))?", text)
        plain, first = (text, None) if found is None else found.groups()
        for name, patterns in PATTERNS.items():
            pattern = plain.removeprefix(name).removeprefix(" ")
            several = pattern.split(AND_ALSO) if "date" in name else [pattern]
            known = {*several} <= {*(patterns or ("",))} and len({*several}) == len(several)
            fits_year = first is None or _short(pattern)
            if plain == f"{name} {pattern}".strip() and known and fits_year:
                return cls.of(name, pattern, None if first is None else int(first))
        name = next((name for name in sorted(PATTERNS, reverse=True) if text.startswith(name)), "")
        if PATTERNS.get(name):
            more = "; or in another way of docs/reference/kinds.md"
            raise PlanError(
                f"The kind {quoted(text)} is not written in a known way; a {name} is written "
                f"{'; '.join(PATTERNS[name][:12])}{more if PATTERNS[name][12:] else ''}."
            )
        raise PlanError(
            f"The kind {quoted(text)} is unknown; known are {', '.join(PATTERNS)}, followed by the "
            "way in which it is written, such as 'date DD.MM.YYYY'."
        )

    @classmethod
    def of(cls, name: str, pattern: str = "", first_year: int | None = None) -> ColumnKind:
        """A kind; of two-digit years the last is this one, unless their first is given."""
        if _short(pattern) and first_year is None:
            first_year = date.today().year - 99
        return cls(name, pattern, first_year)

    def __str__(self) -> str:
        since = "" if self.first_year is None else f" from {self.first_year}"
        return f"{self.name} {self.pattern}{since}".strip()

    @property
    def is_number(self) -> bool:
        """Whether its texts are numbers."""
        return self.name in ("whole number", "decimal")

    @property
    def is_moment(self) -> bool:
        """Whether its texts are dates or times."""
        return self.name in ("date", "date and time", "time")

    @property
    def resolution(self) -> Resolution:
        """What the texts of a date or time say at the finest."""
        if self.name in ("time", "date and time"):
            return "time"
        named: tuple[Resolution, ...] = ("day", "month", "quarter", "year")
        marks = (next(filter(one.__contains__, "DMQY")) for one in self.pattern.split(AND_ALSO))
        return named[max("DMQY".index(mark) for mark in marks)]

    def number(self, text: str) -> float | None:
        """A text as a number, whatever unit stands beside it; None if it is none of this kind."""
        return self._bare_number(_without_unit(text)[0])

    def _bare_number(self, text: str) -> float | None:
        if self.pattern in _PLAIN:
            plain = _plain_numbers([text])
            value = None if plain is None else float(plain[0])
        else:
            value = _marked_number(text, self.pattern)
        whole = self.name == "decimal" or value is None or value.is_integer()
        return value if whole else None

    def moment(self, text: str) -> datetime | None:
        """A text as a moment, a time as one of the first day of all; None if it is none."""
        text = text if text.isascii() else unicodedata.normalize("NFC", text)
        for pattern in self.pattern.split(AND_ALSO):
            match = date_regex(self.name, pattern).fullmatch(text)
            moment = match and moment_of(match.groupdict(), self.first_year)
            if moment:
                return moment
        return None

    def misfits(self, texts: Sequence[str]) -> list[str]:
        """The texts that are not of this kind; of numbers those too that have another unit."""
        if self.is_moment:
            return [text for text in texts if self.moment(text) is None]
        if not self.is_number:
            return []
        units = {text: _without_unit(text) for text in texts}
        often = Counter(unit for _, unit in units.values()).most_common(1)
        return [
            text
            for text, (bare, unit) in units.items()
            if unit != often[0][0] or self._bare_number(bare) is None
        ]

    def check(self, column: str, texts: Sequence[str]) -> None:
        """Check that the values of a column are of this kind."""
        bad = self.misfits(texts)
        if bad:
            some = counted(len(bad), "distinct value is", "distinct values are")
            said = "dates with times" if self.name == "date and time" else f"{self.name}s"
            since = "" if self.first_year is None else f", with years from {self.first_year} on"
            raise TableError(
                f"Column {quoted(column)}: {some} not {said} written {self.pattern}{since} "
                "({cells}).",
                bad,
            )


TEXT, CODE = ColumnKind("text"), ColumnKind("code")


def fitting(texts: Sequence[str]) -> tuple[ColumnKind, ...]:
    """The kinds that all of some texts are of, the likeliest first; a text is always one.

    >>> [str(kind) for kind in fitting(["3/4/1981", "5/6/1990"])]
    ['date DD/MM/YYYY', 'date MM/DD/YYYY', 'text']
    >>> [str(kind) for kind in fitting(["1.234", "950"])]
    ['whole number 1.234', 'decimal 1234.56', 'text']
    >>> [str(kind) for kind in fitting(["E11.9", "J45"])], str(fitting(["04.03.1981"])[0])
    (['code', 'text'], 'date DD.MM.YYYY')
    """
    if not texts:
        return (TEXT,)
    moments, numbers_ = _find_moment_kinds(texts), number_kinds(texts)
    codes = [CODE] if all(map(_CODE.fullmatch, texts)) else []
    if [kind.pattern for kind in moments] in [[pattern] for pattern in EIGHT_DIGITS]:
        found = [*moments, *numbers_, *codes]
    elif moments and moments[0].pattern in EIGHT_DIGITS:  # day or month first: to be asked
        found = [*(numbers_ or codes), *moments]
    elif numbers_ and like_postcodes(texts):
        found = [*codes, *numbers_, *moments]
    elif numbers_:
        found = [*numbers_, *moments, *(codes if str(numbers_[0]) == "whole number 1234" else [])]
    elif moments:
        found = list(moments)
    else:
        found = codes
    return (*found, TEXT)


def recognise(texts: Sequence[str]) -> ColumnKind:
    """The likeliest kind of some texts; see :func:`fitting`. Their order does not matter.

    >>> str(recognise(["1.234,50", "12,00"])), str(recognise(["007", "12"]))
    ('decimal 1.234,56', 'code')
    """
    return fitting(texts)[0]


def doubts(fits: Sequence[ColumnKind]) -> list[ColumnKind]:
    """What the values may be as well as the likeliest of the kinds that fit, if that is a guess.

    >>> [str(kind) for kind in doubts(fitting(["3/4/1981"]))], doubts(fitting(["13/4/1981"]))
    (['date MM/DD/YYYY'], [])
    """
    return [
        kind for kind in fits[1:] if kind.is_number or (kind.is_moment and kind.pattern != "YYYY")
    ]


def number_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    """The kinds of numbers that all of some texts are of, the likeliest first."""
    if not texts or not _like_a_number(_without_unit(texts[0])[0]):
        return []
    bare, units = zip(*map(_without_unit, texts), strict=True)
    if len(set(units)) > 1:
        return []
    found = []
    plain = _plain_numbers(bare)
    if plain is not None:
        whole = bool(np.all(plain == np.round(plain)))
        name, pattern = ("whole number", WHOLE[0]) if whole else ("decimal", DECIMAL[0])
        found.append(ColumnKind(name, pattern))
    for name, patterns in (("whole number", WHOLE[1:]), ("decimal", DECIMAL[1:])):
        found += [ColumnKind(name, pattern) for pattern in patterns if _all_marked(bare, pattern)]
    short = any(len(text.lstrip("+-−")) == 3 and text[-3:].isdigit() for text in bare)
    if len(found) > 1 and found[1].pattern == "1.234" and short:
        found[:2] = found[1], found[0]
    return found


def moment_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    """The kinds of dates and times that all of some texts are of, the likeliest first."""
    kinds = _find_moment_kinds(texts)
    return [] if len(kinds) > 1 and kinds[0].pattern in EIGHT_DIGITS else kinds


def _find_moment_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    kinds = []
    for name in ("date", "date and time", "time"):
        for pattern in PATTERNS[name]:
            kind = ColumnKind.of(name, pattern)
            if texts and all(kind.moment(text) is not None for text in texts):
                kinds.append(kind)
        if kinds:  # what has no time would be a date and time as well
            break
    return kinds


def numbers(texts: Sequence[str], kind: ColumnKind | None = None) -> np.ndarray | None:
    """The texts as numbers, or None if they are not all finite numbers written alike.

    >>> numbers(["1", "2.5"]), numbers(["1.234,5", "7"])
    (array([1. , 2.5]), array([1234.5,    7. ]))
    >>> numbers(["01", "2"]) is None, numbers(["1_0", "2"]) is None
    (True, True)
    """
    if kind is None:
        kind = next(iter(number_kinds(texts)), TEXT)
    if not kind.is_number or not texts:
        return None
    bare, units = zip(*map(_without_unit, texts), strict=True)
    if len(set(units)) > 1:
        return None
    if kind.pattern in _PLAIN:
        found = _plain_numbers(bare)
    else:
        read = [_marked_number(text, kind.pattern) for text in bare]
        found = None if None in read else np.array(read, dtype=np.float64)
    if found is None or (kind.name == "whole number" and (found != np.round(found)).any()):
        return None
    return found


def read_exact_numbers(
    texts: Sequence[str], kind: ColumnKind | None = None
) -> list[Decimal] | None:
    """The texts as the numbers that are written, without rounding; see :func:`numbers`.

    >>> read_exact_numbers(["0.10", "1e2"]), read_exact_numbers(["1.234,5"])
    ([Decimal('0.10'), Decimal('1E+2')], [Decimal('1234.5')])
    """
    kind = kind or next(iter(number_kinds(texts)), TEXT)
    rounded = numbers(texts, kind)
    if rounded is None:
        return None
    bare = [_without_unit(text)[0] for text in texts]
    if kind.pattern not in _PLAIN:
        bare = [_strip_marks(text, kind.pattern) for text in bare]
    # What a computer takes for 0 may have millions of digits: 1e-99999999.
    return [Decimal(text if size else 0) for text, size in zip(bare, rounded.tolist(), strict=True)]


def moments(texts: Sequence[str], kind: ColumnKind | None = None) -> list[datetime] | None:
    """The texts as moments, or None if they are not all dates or times written alike.

    >>> moments(["04.03.1981", "13.3.1981"])[0].isoformat()
    '1981-03-04T00:00:00'
    """
    if kind is None:
        kind = next(iter(moment_kinds(texts)), TEXT)
    found = [kind.moment(text) for text in texts] if kind.is_moment else []
    told = [moment for moment in found if moment is not None]
    return told if told and len(told) == len(texts) else None


def sizes(texts: Sequence[str], kind: ColumnKind | None = None) -> list[float] | None:
    """What the texts are ordered by: numbers by size, dates by time; None if they are neither.

    >>> sizes(["13.01.1981", "02.03.1980"]) == sorted(sizes(["13.01.1981", "02.03.1980"]))[::-1]
    True
    """
    found = numbers(texts, kind)
    if found is not None:
        return found.tolist()
    told = moments(texts, kind)
    day = timedelta(days=1)
    return None if told is None else [(moment - datetime.min) / day for moment in told]


def are_dates(texts: Sequence[str], share: float = 1) -> bool:
    """Whether such a share of some texts are dates to the day, with a time or without.

    >>> are_dates(["2021-03-04", "4.3.2021 12:30"]), are_dates(["2021-03"]), are_dates([])
    (True, False, False)
    """
    day = ColumnKind.of("date and time", AND_ALSO.join(PATTERNS["date and time"]))
    most = len(texts) - share * len(texts)
    others = itertools.islice((1 for text in texts if not day.moment(text)), int(most) + 1)
    return bool(texts) and sum(others) <= most


# --- numbers --------------------------------------------------------------------------------
_BLANK = "[ \u00a0\u2009\u202f]"
_UNIT = r"(€|\$|£|¥|%|‰|EUR|USD|GBP|CHF|Fr\.|kr|zł)"
_UNIT_BEFORE = re.compile(rf"([+−-]?){_UNIT}{_BLANK}?([+−-]?)(?=\d)")
_UNIT_AFTER = re.compile(rf"(?<=\d){_BLANK}?{_UNIT}")


def _without_unit(text: str) -> tuple[str, str]:
    """A number without the unit beside it, and the unit."""
    if not text or (
        text[-1].isdigit() and (text[0].isdigit() or (text[0] in "+-" and text[1:2].isdigit()))
    ):
        return text, ""  # nearly all of them
    before = _UNIT_BEFORE.match(text)
    if before:
        return before[1] + before[3] + text[before.end() :], before[2]
    for after in _UNIT_AFTER.finditer(text):
        if after.end() == len(text):
            return text[: after.start()], after[1]
    return text, ""


def _plain_numbers(texts: Sequence[str]) -> np.ndarray | None:
    """What Python reads as numbers, but for codes with a leading zero or an underscore."""
    if any(re.match(r"[+-]?0\d", text) or "_" in text for text in texts):
        return None
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    return values if len(values) and np.isfinite(values).all() else None


@cache
def _marked(pattern: str) -> tuple[re.Pattern[str], str]:
    group = pattern[1] if pattern[1] in ",. '" else ""
    mark = pattern[-3] if pattern[-3] in ",." else ""
    sign = {"": "", " ": _BLANK, "'": "['’]"}.get(group, re.escape(group))
    grouped = rf"[1-9]\d{{0,2}}(?:{sign}\d{{3}})+|" if group else ""
    bare = r"[1-9]\d{0,3}|0" if group else r"[1-9]\d*|0"
    decimals = rf"(?:{re.escape(mark)}\d+)?" if mark else ""
    return re.compile(rf"[+−-]?(?:{grouped}{bare}){decimals}"), mark


def _like_a_number(text: str) -> bool:
    shapes = (_marked(pattern)[0] for pattern in (*WHOLE[1:], *DECIMAL[1:]))
    return _plain_numbers([text]) is not None or any(shape.fullmatch(text) for shape in shapes)


def _marked_number(text: str, pattern: str) -> float | None:
    return float(_strip_marks(text, pattern)) if _marked(pattern)[0].fullmatch(text) else None


def _strip_marks(text: str, pattern: str) -> str:
    """A number without the marks of a pattern."""
    mark = _marked(pattern)[1]
    whole, _, decimals = text.partition(mark) if mark else (text, "", "")
    sign = "-" if text[0] in "-−" else ""
    return f"{sign}{re.sub(r'[^0-9]', '', whole)}{decimals and '.'}{decimals}"


def _all_marked(texts: Sequence[str], pattern: str) -> bool:
    """Whether all are written like a pattern, and some have each of its marks."""
    shape, mark = _marked(pattern)
    if not all(map(shape.fullmatch, texts)):
        return False
    whole = [text.partition(mark)[0] if mark else text for text in texts]
    grouped = any(not part.lstrip("+−-").isdigit() for part in whole)
    return grouped == (pattern[1] in ",. '") and any(mark in text for text in texts)


_CODE = re.compile(r"\d+|(?=.*\d)(?=.*[^\W\d_])[^\W_]([^\W_]|[._/-])*[+*!†]?")


def like_postcodes(texts: Sequence[str]) -> bool:
    """Whether many whole numbers of one length, from 10000 on, stand for no size.

    >>> like_postcodes([str(number) for number in range(47601, 47620)])
    True
    """
    length = len(texts[0]) if texts else 0
    return (
        length >= 5
        and len(texts) > 12
        and all(len(text) == length and text.isdigit() for text in texts)
    )


def _short(pattern: str) -> bool:
    """Whether a pattern has years of two digits."""
    return any("YY" in one and "YYYY" not in one for one in pattern.split(AND_ALSO))
