"""The kind of a column: how its texts are read as numbers, dates or times.

Cells and the leaves of a hierarchy stay texts: a kind is only a way to read them.
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

from kanon.base.date_texts import EIGHT_DIGITS, build_date_regex, read_moment
from kanon.base.formatting import count_noun
from kanon.errors import PlanError, TableError, quote

WHOLE = ("1234", "1,234", "1.234", "1 234", "1'234")
DECIMAL = ("1234.56", "1234,56", "1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56")
DATES = (
    "YYYY-MM-DD", "DD.MM.YYYY", "DD.MM.YY", "DD/MM/YYYY", "MM/DD/YYYY", "DD/MM/YY", "MM/DD/YY",
    "DD-MM-YYYY", "MM-DD-YYYY", "DD-MM-YY", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD", "DDMMYYYY",
    "MMDDYYYY", "DD MMM YYYY", "DD MMM YY", "DD-MMM-YYYY", "DD-MMM-YY", "DD/MMM/YYYY", "DDMMMYYYY",
    "DDMMMYY", "YYYY-MMM-DD", "MMM DD, YYYY", "MMM YYYY", "MMM-YYYY", "MMM-YY", "MMMYYYY",
    "YYYY-MM", "YYYY/MM", "MM/YYYY", "MM.YYYY", "MM-YYYY", "YYYY-Q1", "Q1 YYYY", "YYYY",
)  # fmt: skip
"""Patterns of dates; where several fit, the earlier one is likelier."""

AND_ALSO = " or "
"""Joins the patterns of a column whose dates are written in several ways."""

PATTERNS: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "code": (),
    "whole number": WHOLE,
    "decimal": DECIMAL,
    "date": DATES,
    "date and time": tuple(pattern for pattern in DATES if "DD" in pattern),
    "time": ("HH:MM",),
}
"""The kinds, each with the patterns in which it may be written."""

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

    # a key of :data:`PATTERNS`, and one of its patterns
    name: str
    pattern: str = ""
    # the first of the hundred years that two digits mean
    first_year: int | None = None

    @classmethod
    def parse(cls, text: str) -> ColumnKind:
        """Read a kind from its text, such as ``decimal 1.234,56``.

        Two-digit years without ``from`` end with this year, as nobody is born later.
        """
        match = re.fullmatch(r"(.*?)(?: from (\d{1,4}))?", text)
        plain, first = (text, None) if match is None else match.groups()
        for name, patterns in PATTERNS.items():
            pattern = plain.removeprefix(name).removeprefix(" ")
            several = pattern.split(AND_ALSO) if "date" in name else [pattern]
            fits_patterns = {*several} <= {*(patterns or ("",))} and len({*several}) == len(several)
            fits_year = first is None or _has_short_year(pattern)
            if plain == f"{name} {pattern}".strip() and fits_patterns and fits_year:
                return cls.create_kind(name, pattern, None if first is None else int(first))
        name = next((name for name in sorted(PATTERNS, reverse=True) if text.startswith(name)), "")
        if PATTERNS.get(name):
            more = "; docs/reference/kinds.md has more patterns"
            raise PlanError(
                f"The kind {quote(text)} has an unknown pattern; a {name} is written "
                f"{'; '.join(PATTERNS[name][:12])}{more if PATTERNS[name][12:] else ''}."
            )
        raise PlanError(
            f"The kind {quote(text)} is unknown; choose from {', '.join(PATTERNS)}, followed by "
            "its pattern, such as 'date DD.MM.YYYY'."
        )

    @classmethod
    def create_kind(cls, name: str, pattern: str = "", first_year: int | None = None) -> ColumnKind:
        """Build a kind; two-digit years end with this year unless their first is given."""
        if _has_short_year(pattern) and first_year is None:
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
        """The finest unit that the dates or times state."""
        if self.name in ("time", "date and time"):
            return "time"
        resolutions: tuple[Resolution, ...] = ("day", "month", "quarter", "year")
        marks = (next(filter(part.__contains__, "DMQY")) for part in self.pattern.split(AND_ALSO))
        return resolutions[max("DMQY".index(mark) for mark in marks)]

    def number(self, text: str) -> float | None:
        """A text as a number without its unit; None if it is not a number of this kind."""
        return self._read_bare_number(_split_unit(text)[0])

    def _read_bare_number(self, text: str) -> float | None:
        if self.pattern in _PLAIN:
            plain = _read_plain_numbers([text])
            value = None if plain is None else float(plain[0])
        else:
            value = _read_marked_number(text, self.pattern)
        whole = self.name == "decimal" or value is None or value.is_integer()
        return value if whole else None

    def moment(self, text: str) -> datetime | None:
        """A text as a moment, a time as one of the first day; None if it is no moment."""
        text = text if text.isascii() else unicodedata.normalize("NFC", text)
        for pattern in self.pattern.split(AND_ALSO):
            match = build_date_regex(self.name, pattern).fullmatch(text)
            moment = match and read_moment(match.groupdict(), self.first_year)
            if moment:
                return moment
        return None

    def find_misfits(self, texts: Sequence[str]) -> list[str]:
        """The texts that are not of this kind, with numbers that have another unit."""
        if self.is_moment:
            return [text for text in texts if self.moment(text) is None]
        if not self.is_number:
            return []
        units = {text: _split_unit(text) for text in texts}
        often = Counter(unit for _, unit in units.values()).most_common(1)
        return [
            text
            for text, (bare, unit) in units.items()
            if unit != often[0][0] or self._read_bare_number(bare) is None
        ]

    def check(self, column: str, texts: Sequence[str]) -> None:
        """Check that the values of a column are of this kind."""
        bad = self.find_misfits(texts)
        if bad:
            number = count_noun(len(bad), "distinct value is", "distinct values are")
            noun = "dates with times" if self.name == "date and time" else f"{self.name}s"
            since = "" if self.first_year is None else f", with years from {self.first_year} on"
            raise TableError(
                f"Column {quote(column)}: {number} not {noun} written {self.pattern}{since} "
                "({cells}).",
                bad,
            )


TEXT, CODE = ColumnKind("text"), ColumnKind("code")


def find_fitting_kinds(texts: Sequence[str]) -> tuple[ColumnKind, ...]:
    """The kinds that fit all texts, the likeliest first; ``text`` always fits.

    >>> [str(kind) for kind in find_fitting_kinds(["3/4/1981", "5/6/1990"])]
    ['date DD/MM/YYYY', 'date MM/DD/YYYY', 'text']
    >>> [str(kind) for kind in find_fitting_kinds(["1.234", "950"])]
    ['whole number 1.234', 'decimal 1234.56', 'text']
    >>> kinds = find_fitting_kinds(["E11.9", "J45"])
    >>> [str(kind) for kind in kinds], str(find_fitting_kinds(["04.03.1981"])[0])
    (['code', 'text'], 'date DD.MM.YYYY')
    """
    if not texts:
        return (TEXT,)
    moments, numbers_ = _find_moment_kinds(texts), find_number_kinds(texts)
    codes = [CODE] if all(map(_CODE.fullmatch, texts)) else []
    if [kind.pattern for kind in moments] in [[pattern] for pattern in EIGHT_DIGITS]:
        kinds = [*moments, *numbers_, *codes]
    elif moments and moments[0].pattern in EIGHT_DIGITS:  # day or month first: to be asked
        kinds = [*(numbers_ or codes), *moments]
    elif numbers_ and is_like_postcodes(texts):
        kinds = [*codes, *numbers_, *moments]
    elif numbers_:
        kinds = [*numbers_, *moments, *(codes if str(numbers_[0]) == "whole number 1234" else [])]
    elif moments:
        kinds = list(moments)
    else:
        kinds = codes
    return (*kinds, TEXT)


def find_kind(texts: Sequence[str]) -> ColumnKind:
    """The likeliest kind of texts in any order; see :func:`fitting`.

    >>> str(find_kind(["1.234,50", "12,00"])), str(find_kind(["007", "12"]))
    ('decimal 1.234,56', 'code')
    """
    return find_fitting_kinds(texts)[0]


def find_other_kinds(fits: Sequence[ColumnKind]) -> list[ColumnKind]:
    """The other kinds that the values may have, if the likeliest one is a guess.

    >>> guess, sure = (find_fitting_kinds([text]) for text in ("3/4/1981", "13/4/1981"))
    >>> [str(kind) for kind in find_other_kinds(guess)], find_other_kinds(sure)
    (['date MM/DD/YYYY'], [])
    """
    return [
        kind for kind in fits[1:] if kind.is_number or (kind.is_moment and kind.pattern != "YYYY")
    ]


def find_number_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    """The kinds of numbers that fit all texts, the likeliest first."""
    if not texts or not _is_like_number(_split_unit(texts[0])[0]):
        return []
    bare, units = zip(*map(_split_unit, texts), strict=True)
    if len(set(units)) > 1:
        return []
    kinds = []
    plain = _read_plain_numbers(bare)
    if plain is not None:
        whole = bool(np.all(plain == np.round(plain)))
        name, pattern = ("whole number", WHOLE[0]) if whole else ("decimal", DECIMAL[0])
        kinds.append(ColumnKind(name, pattern))
    for name, patterns in (("whole number", WHOLE[1:]), ("decimal", DECIMAL[1:])):
        kinds += [ColumnKind(name, pattern) for pattern in patterns if _has_marks(bare, pattern)]
    short = any(len(text.lstrip("+-−")) == 3 and text[-3:].isdigit() for text in bare)
    if len(kinds) > 1 and kinds[1].pattern == "1.234" and short:
        kinds[:2] = kinds[1], kinds[0]
    return kinds


def find_moment_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    """The kinds of dates and times that fit all texts, the likeliest first."""
    kinds = _find_moment_kinds(texts)
    return [] if len(kinds) > 1 and kinds[0].pattern in EIGHT_DIGITS else kinds


def _find_moment_kinds(texts: Sequence[str]) -> list[ColumnKind]:
    kinds = []
    for name in ("date", "date and time", "time"):
        for pattern in PATTERNS[name]:
            kind = ColumnKind.create_kind(name, pattern)
            if texts and all(kind.moment(text) is not None for text in texts):
                kinds.append(kind)
        if kinds:  # what has no time would be a date and time as well
            break
    return kinds


def read_numbers(texts: Sequence[str], kind: ColumnKind | None = None) -> np.ndarray | None:
    """The texts as numbers, or None if they are not all finite numbers written alike.

    >>> read_numbers(["1", "2.5"]), read_numbers(["1.234,5", "7"])
    (array([1. , 2.5]), array([1234.5,    7. ]))
    >>> read_numbers(["01", "2"]) is None, read_numbers(["1_0", "2"]) is None
    (True, True)
    """
    if kind is None:
        kind = next(iter(find_number_kinds(texts)), TEXT)
    if not kind.is_number or not texts:
        return None
    bare, units = zip(*map(_split_unit, texts), strict=True)
    if len(set(units)) > 1:
        return None
    if kind.pattern in _PLAIN:
        values = _read_plain_numbers(bare)
    else:
        read = [_read_marked_number(text, kind.pattern) for text in bare]
        values = None if None in read else np.array(read, dtype=np.float64)
    if values is None or (kind.name == "whole number" and (values != np.round(values)).any()):
        return None
    return values


def read_exact_numbers(
    texts: Sequence[str], kind: ColumnKind | None = None
) -> list[Decimal] | None:
    """Read the texts as exact numbers, without rounding; see :func:`numbers`.

    >>> read_exact_numbers(["0.10", "1e2"]), read_exact_numbers(["1.234,5"])
    ([Decimal('0.10'), Decimal('1E+2')], [Decimal('1234.5')])
    """
    kind = kind or next(iter(find_number_kinds(texts)), TEXT)
    sizes = read_numbers(texts, kind)
    if sizes is None:
        return None
    bare = [_split_unit(text)[0] for text in texts]
    if kind.pattern not in _PLAIN:
        bare = [_strip_marks(text, kind.pattern) for text in bare]
    # A number that rounds to 0 may have millions of digits: 1e-99999999.
    return [Decimal(text if size else 0) for text, size in zip(bare, sizes.tolist(), strict=True)]


def read_moments(texts: Sequence[str], kind: ColumnKind | None = None) -> list[datetime] | None:
    """The texts as moments, or None if they are not all dates or times written alike.

    >>> read_moments(["04.03.1981", "13.3.1981"])[0].isoformat()
    '1981-03-04T00:00:00'
    """
    if kind is None:
        kind = next(iter(find_moment_kinds(texts)), TEXT)
    readings = [kind.moment(text) for text in texts] if kind.is_moment else []
    values = [moment for moment in readings if moment is not None]
    return values if values and len(values) == len(texts) else None


def compute_sort_sizes(texts: Sequence[str], kind: ColumnKind | None = None) -> list[float] | None:
    """The sort keys of the texts: numbers by size, dates by time; None if they are neither.

    >>> sizes = compute_sort_sizes(["13.01.1981", "02.03.1980"])
    >>> sizes == sorted(sizes)[::-1]
    True
    """
    values = read_numbers(texts, kind)
    if values is not None:
        return values.tolist()
    times = read_moments(texts, kind)
    day = timedelta(days=1)
    return None if times is None else [(moment - datetime.min) / day for moment in times]


def has_dates(texts: Sequence[str], share: float = 1) -> bool:
    """Whether at least this share of the texts are dates to the day, with or without a time.

    >>> has_dates(["2021-03-04", "4.3.2021 12:30"]), has_dates(["2021-03"]), has_dates([])
    (True, False, False)
    """
    day = ColumnKind.create_kind("date and time", AND_ALSO.join(PATTERNS["date and time"]))
    most = len(texts) - share * len(texts)
    misfits = itertools.islice((1 for text in texts if not day.moment(text)), int(most) + 1)
    return bool(texts) and sum(misfits) <= most


# --- numbers --------------------------------------------------------------------------------
_BLANK = "[ \u00a0\u2009\u202f]"
_UNIT = r"(€|\$|£|¥|%|‰|EUR|USD|GBP|CHF|Fr\.|kr|zł)"
_UNIT_BEFORE = re.compile(rf"([+−-]?){_UNIT}{_BLANK}?([+−-]?)(?=\d)")
_UNIT_AFTER = re.compile(rf"(?<=\d){_BLANK}?{_UNIT}")


def _split_unit(text: str) -> tuple[str, str]:
    if not text or (
        text[-1].isdigit() and (text[0].isdigit() or (text[0] in "+-" and text[1:2].isdigit()))
    ):
        return text, ""  # the usual case
    before = _UNIT_BEFORE.match(text)
    if before:
        return before[1] + before[3] + text[before.end() :], before[2]
    for after in _UNIT_AFTER.finditer(text):
        if after.end() == len(text):
            return text[: after.start()], after[1]
    return text, ""


def _read_plain_numbers(texts: Sequence[str]) -> np.ndarray | None:
    """Read numbers as Python does, except codes with a leading zero or an underscore."""
    if any(re.match(r"[+-]?0\d", text) or "_" in text for text in texts):
        return None
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    return values if len(values) and np.isfinite(values).all() else None


@cache
def _build_shape(pattern: str) -> tuple[re.Pattern[str], str]:
    group = pattern[1] if pattern[1] in ",. '" else ""
    mark = pattern[-3] if pattern[-3] in ",." else ""
    sign = {"": "", " ": _BLANK, "'": "['’]"}.get(group, re.escape(group))
    long = rf"[1-9]\d{{0,2}}(?:{sign}\d{{3}})+|" if group else ""
    bare = r"[1-9]\d{0,3}|0" if group else r"[1-9]\d*|0"
    decimals = rf"(?:{re.escape(mark)}\d+)?" if mark else ""
    return re.compile(rf"[+−-]?(?:{long}{bare}){decimals}"), mark


def _is_like_number(text: str) -> bool:
    shapes = (_build_shape(pattern)[0] for pattern in (*WHOLE[1:], *DECIMAL[1:]))
    return _read_plain_numbers([text]) is not None or any(shape.fullmatch(text) for shape in shapes)


def _read_marked_number(text: str, pattern: str) -> float | None:
    return float(_strip_marks(text, pattern)) if _build_shape(pattern)[0].fullmatch(text) else None


def _strip_marks(text: str, pattern: str) -> str:

    mark = _build_shape(pattern)[1]
    whole, _, decimals = text.partition(mark) if mark else (text, "", "")
    sign = "-" if text[0] in "-−" else ""
    return f"{sign}{re.sub(r'[^0-9]', '', whole)}{decimals and '.'}{decimals}"


def _has_marks(texts: Sequence[str], pattern: str) -> bool:
    """Whether all are written in a pattern, and each of its marks occurs."""
    shape, mark = _build_shape(pattern)
    if not all(map(shape.fullmatch, texts)):
        return False
    whole = [text.partition(mark)[0] if mark else text for text in texts]
    has_groups = any(not part.lstrip("+−-").isdigit() for part in whole)
    return has_groups == (pattern[1] in ",. '") and any(mark in text for text in texts)


_CODE = re.compile(r"\d+|(?=.*\d)(?=.*[^\W\d_])[^\W_]([^\W_]|[._/-])*[+*!†]?")


def is_like_postcodes(texts: Sequence[str]) -> bool:
    """Whether these are many whole numbers of one length, from 10000 on, that are no sizes.

    >>> is_like_postcodes([str(number) for number in range(47601, 47620)])
    True
    """
    length = len(texts[0]) if texts else 0
    return (
        length >= 5
        and len(texts) > 12
        and all(len(text) == length and text.isdigit() for text in texts)
    )


def _has_short_year(pattern: str) -> bool:
    return any("YY" in part and "YYYY" not in part for part in pattern.split(AND_ALSO))
