"""Dates in several formats in one column: the patterns that occur, and what fits none."""

import itertools
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from kanon.base.kinds import AND_ALSO, PATTERNS, ColumnKind

_MOST_VALUES = 10_000
_FIRST = 50  # this many values show whether a column holds dates


class DatePattern(NamedTuple):
    """A pattern of dates in a column, with an example and the moment that it means."""

    pattern: str
    values: int
    example: str
    moment: datetime


class MixedDates(NamedTuple):
    kinds: tuple[ColumnKind, ...]  # several where day and month could be swapped
    patterns: tuple[DatePattern, ...]  # by the first of the kinds
    rest: Mapping[str, int]


def find_date_patterns(counts: Mapping[str, int]) -> MixedDates | None:
    """Find the fewest patterns that read most dates of a column; None if few values are dates.

    Where day and month could be swapped, both readings are proposed, never mixed: of 13/04/1981
    and 04/13/1981 one is left over.

    >>> dates = find_date_patterns({"14.03.1981": 2, "1981-03-15": 1, "13.1.1980": 1, "n. d.": 3})
    >>> str(dates.kinds[0]), dates.rest
    ('date DD.MM.YYYY or YYYY-MM-DD', {'n. d.': 3})
    >>> find_date_patterns({"nurse": 2, "14.03.1981": 1, "baker": 1}) is None
    True
    """
    first = list(itertools.islice(counts, _FIRST))
    datetimes = ColumnKind.create_kind("date and time", AND_ALSO.join(PATTERNS["date and time"]))
    dates = ColumnKind.create_kind("date", AND_ALSO.join(PATTERNS["date"]))
    n_dates = sum(bool(datetimes.moment(text) or dates.moment(text)) for text in first)
    if len(counts) > _MOST_VALUES or 2 * n_dates < len(first) or not n_dates:
        return None
    texts_by_pattern, name = max(
        ((_choose_patterns(counts, name), name) for name in ("date", "date and time")),
        key=lambda choice: sum(map(len, choice[0].values())),
    )
    read = set(itertools.chain.from_iterable(texts_by_pattern.values()))
    if 2 * len(read) < len(counts):
        return None
    ways = []
    for pattern, texts in texts_by_pattern.items():
        swapped = _convert_day_to_month(pattern)
        either = swapped and not ColumnKind.create_kind(name, swapped).find_misfits(texts)
        ways.append((pattern, swapped) if either else (pattern,))
    kinds = tuple(
        ColumnKind.create_kind(name, AND_ALSO.join(patterns))
        for patterns in itertools.product(*ways)
    )
    examples = tuple(
        DatePattern(pattern, len(texts), texts[0], moment)
        for pattern, texts in texts_by_pattern.items()
        if (moment := ColumnKind.create_kind(name, pattern).moment(texts[0]))
    )
    return MixedDates(kinds, examples, {text: n for text, n in counts.items() if text not in read})


def _choose_patterns(counts: Mapping[str, int], name: str) -> dict[str, list[str]]:
    """Choose the pattern that reads most of the remaining texts, until none reads any."""
    readable = {}
    for pattern in PATTERNS[name]:
        kind = ColumnKind.create_kind(name, pattern)
        if texts := [text for text in counts if kind.moment(text)]:
            readable[pattern] = texts
    texts_by_pattern: dict[str, list[str]] = {}
    while readable:
        best = max(readable, key=lambda pattern: len(readable[pattern]))  # of equals the first
        texts_by_pattern[best] = readable.pop(best)
        readable.pop(_convert_day_to_month(best), None)
        readings = set(texts_by_pattern[best])
        remaining = {
            p: [text for text in texts if text not in readings] for p, texts in readable.items()
        }
        readable = {pattern: texts for pattern, texts in remaining.items() if texts}
    return texts_by_pattern


def _convert_day_to_month(pattern: str) -> str:
    """Return the pattern with month and day swapped, or "" if there is none."""
    swapped = pattern.translate(str.maketrans("DM", "MD"))
    return swapped if swapped in PATTERNS["date"] else ""
