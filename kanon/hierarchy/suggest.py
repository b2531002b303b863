"""A hierarchy to start from, suggested from the values; the user sees it and changes it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

import numpy as np

from kanon.base.formatting import counted, thin
from kanon.base.kinds import ColumnKind, like_postcodes, moment_kinds, moments, numbers
from kanon.base.values import canonical_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import ages, are_periods, date_levels, dates, mask, suppression
from kanon.hierarchy.codes import codes as codes_cut
from kanon.hierarchy.codes import icd_10_chapters
from kanon.hierarchy.frequencies import by_frequency, quantile_intervals
from kanon.hierarchy.tree import Hierarchy

_Level = TypeVar("_Level")

_FEW = 12  # up to so many distinct values, keeping or losing a value is a fair start


@dataclass(frozen=True)
class SuggestedBuilder:
    """A builder with its parameters, as a plan names it, and why in one sentence."""

    builder: str
    reason: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def suggest_builder(values: Sequence[str], kind: ColumnKind | None = None) -> SuggestedBuilder:
    """Suggest a builder for the distinct values of a column.

    Many numbers become intervals, dates periods, codes of the ICD stand in its chapters, long codes
    of equal length are masked; anything else is kept or lost. No level is suggested that holds all
    values, such as the year of dates of one year.

    >>> suggest_builder([str(age) for age in range(17, 91)]).parameters
    {'widths': [5, 10, 20]}
    >>> suggest_builder([f"{day:02d}.03.{year}" for year in (1981, 1982) for day in range(1, 9)])
    SuggestedBuilder(builder='dates', reason='Its values are dates or times.', \
parameters={'levels': ['month', 'quarter', 'year']})
    >>> suggest_builder(["F", "M"]).builder
    'suppression'

    Parameters
    ----------
    kind
        How the values are read, where somebody said so.
    """
    if len(values) <= _FEW:
        return SuggestedBuilder("suppression", "It has few values: each is kept or lost.")
    builder = _builder_for(values, kind)
    parameters = starting_parameters(builder, values, kind)
    suggested = SuggestedBuilder(builder, _REASONS[builder], parameters)
    if _divides(suggested, values):
        return suggested
    return SuggestedBuilder("suppression", "No group parts its values: each is kept or lost.")


_REASONS = {
    "intervals": "Its values are numbers.",
    "dates": "Its values are dates or times.",
    "codes": "Its values look like codes of the ICD-10.",
    "mask": "Its values are codes of equal length.",
    "suppression": "Its values have no order: each is kept or lost.",
}


def _builder_for(values: Sequence[str], kind: ColumnKind | None) -> str:
    if not values:
        return "suppression"
    if numbers(values, kind) is not None and (kind is not None or not like_postcodes(values)):
        return "intervals"
    if are_periods(values, kind):
        return "dates"
    if _look_like_icd(values):
        return "codes"
    codes = len(set(map(len, values))) == 1 and " " not in "".join(values)
    return "mask" if codes and 4 <= len(values[0]) <= 12 else "suppression"


def _divides(suggested: SuggestedBuilder, values: Sequence[str]) -> bool:
    if suggested.builder == "mask":
        return len({value[:-1] for value in values}) > 1
    if suggested.builder == "codes":
        return _can_be_built(suggested, dict.fromkeys(values, 1), None)
    return suggested.parameters.get("levels") != []


def propose(counts: Mapping[str, int], kind: ColumnKind | None = None) -> SuggestedBuilder:
    """Propose a builder from the values of a column and how many records have each.

    Many numbers go into intervals with about as many records each, dates into periods, codes of the
    ICD into its chapters, many codes of equal length are masked, many other texts share a group if
    they are rare (fewer than 5 records, or than 1 % of all); anything else is kept or lost.

    >>> ages = propose({str(age): 408 for age in range(17, 91)})
    >>> ages.builder, ages.parameters
    ('quantiles', {'parts': [16, 8, 4, 2]})
    >>> propose({"F": 10, "M": 20}).reason
    'It holds 2 values: each is kept or lost.'
    """
    return next(one for one in _candidates(counts, kind) if _can_be_built(one, counts, kind))


def _candidates(counts: Mapping[str, int], kind: ColumnKind | None) -> Iterator[SuggestedBuilder]:
    """What fits the values, best first; the last of them can always be built."""
    values = [canonical_text(value) for value in counts]
    records = [int(count) for count in counts.values()]
    builder, many = _builder_for(values, kind), len(values) > _FEW
    if builder == "dates":
        yield from _periods(values, kind)
    elif many and builder == "intervals":
        yield _quantiles(records)
    elif many and builder == "codes":
        reason = (
            f"It holds {counted(len(values), 'value')}, {thin(_like_icd(values))} of which look "
            "like codes of the ICD-10: they are cut at the point, then joined by chapter."
        )
        yield SuggestedBuilder("codes", reason, starting_parameters("codes", values))
    elif many and builder == "mask":
        length = counted(len(values[0]), "character")
        reason = (
            f"It holds {counted(len(values), 'code')} of {length}: they are masked from the right."
        )
        yield SuggestedBuilder("mask", reason, starting_parameters("mask", values))
    elif many:
        yield from _frequency(records)
    reason = f"It holds {counted(len(values), 'value')}: each is kept or lost."
    yield SuggestedBuilder("suppression", reason)


def _can_be_built(
    proposal: SuggestedBuilder, counts: Mapping[str, int], kind: ColumnKind | None
) -> bool:
    if proposal.builder == "suppression":
        return True
    try:
        given = {"kind": kind} if proposal.builder in ("dates", "quantiles") else {}
        tree = _BUILDERS[proposal.builder](counts, *proposal.parameters.values(), **given)
    except HierarchyError:
        return False
    return len(tree.children[tree.root]) > 1


_BUILDERS: Mapping[str, Callable[..., Hierarchy]] = {
    "codes": lambda counts, *parameters: codes_cut(list(counts), *parameters),
    "dates": lambda counts, levels, kind: dates(list(counts), levels, kind),
    "frequency": by_frequency,
    "mask": lambda counts, keep: mask(list(counts), keep),
    "quantiles": quantile_intervals,
    "suppression": lambda counts: suppression(list(counts)),
}


def _periods(values: Sequence[str], kind: ColumnKind | None) -> Iterator[SuggestedBuilder]:
    """From the finest period that fits up, or from years up if some of the values are years."""
    finest = _levels(values, kind)
    held = counted(len(values), "date" if "year" in finest else "time")
    for levels in (finest, ["year", "decade"], ["decade"]):
        reason = f"It holds {held}: they are joined by {', '.join(levels)}."
        yield SuggestedBuilder("dates", reason, {"levels": levels})


def _levels(values: Sequence[str], kind: ColumnKind | None) -> list[str]:
    """Periods to start with: from months up, of more values than a year has days from years up."""
    known = kind or next(iter(moment_kinds(values)), None)
    allowed = date_levels(known)
    times = moments(values, known) or []
    by_time = [values[times.index(end(times))] for end in (min, max)] if times else values
    several = _select_dividing(lambda levels: dates(by_time, levels, known), allowed)
    if "year" not in allowed:
        return several
    first = "year" if len(values) > 366 else "month"
    start = allowed[allowed.index(first) if first in allowed else 0 :]
    finer = several[:-1] if known is None or known.resolution != "time" else several
    return [level for level in several if level in start] or finer[-2:]


def _select_dividing(
    build: Callable[[list[_Level]], Hierarchy], levels: Sequence[_Level]
) -> list[_Level]:
    def divides(level: _Level) -> bool:
        try:
            tree = build([level])
        except HierarchyError:
            return True  # said where it is built
        return len(tree.children[tree.root]) > 1

    return [level for level in levels if divides(level)]


def _quantiles(records: Sequence[int]) -> SuggestedBuilder:
    """As many intervals, up to 16, as leave two numbers to each on average."""
    most = next(parts for parts in (16, 8, 4) if len(records) >= 2 * parts or parts == 4)
    each = round(sum(records) / most)
    uneven = max(records) > 2 * each
    reason = (
        f"It holds {counted(len(records), 'number')}: {'up to ' if uneven else ''}{most} intervals "
        f"with about {counted(each, 'record')} each"
    )
    # A number is never split, so one with many records makes a large interval.
    rest = f"; its most frequent number alone has {thin(max(records))}." if uneven else "."
    parts = [part for part in (16, 8, 4, 2) if part <= most]
    return SuggestedBuilder("quantiles", reason + rest, {"parts": parts})


def _frequency(records: Sequence[int]) -> Iterator[SuggestedBuilder]:
    least = max(5, sum(records) // 100)
    rare = sum(count < least for count in records)
    if rare < 2 or rare == len(records):  # one rare value alone would hide in no group
        return
    reason = (
        f"It holds {counted(len(records), 'text')}, {thin(rare)} of them with fewer than "
        f"{counted(least, 'record')}: these share a group first."
    )
    yield SuggestedBuilder("frequency", reason, {"least": least})


def starting_parameters(
    builder: str, values: Sequence[str], kind: ColumnKind | None = None
) -> dict[str, Any]:
    """Parameters to start a builder with, whether or not it is the one that fits best.

    >>> starting_parameters("mask", ["47601", "47702"])
    {'keep': [4, 3]}
    """
    if builder == "intervals":
        parsed = numbers(values, kind)
        if parsed is None:
            parsed = numbers([value for value in values if numbers([value], kind) is not None])
        return {} if parsed is None else {"widths": _ladder(float(parsed.max() - parsed.min()))}
    if builder == "mask":
        longest = max(map(len, values), default=0)
        keep = list(range(longest - 1, max(longest - 5, 1), -1)) or [1]
        several = [count for count in keep if len({value[:count] for value in values}) > 1]
        return {"keep": several or keep[:1]}
    if builder == "codes":
        chapters = list(icd_10_chapters()) if _look_like_icd(values) else []
        if not _select_dividing(lambda ranges: codes_cut(values, ".", [], *ranges), [chapters]):
            chapters = []
        return {"separators": ".", "prefixes": [], "ranges": chapters}
    if builder == "dates":
        return {"levels": _levels(values, kind)}
    if builder == "ages":
        today, widths = date.today(), [1, 5, 10, 20]
        several = _select_dividing(lambda width: ages(values, today, width, kind=kind), widths)
        return {"widths": several or widths[:1], "day": today.isoformat()}
    return {}


def strays(values: Sequence[str]) -> list[str]:
    """The few texts among numbers: perhaps they stand for missing.

    >>> strays([*map(str, range(40)), "k.A."])
    ['k.A.']
    """
    texts = [value for value in values if not any(map(str.isdigit, value))]
    few = 0 < len(texts) <= 3 and len(texts) <= 0.1 * len(values)
    odd = set(texts)
    return texts if few and numbers([one for one in values if one not in odd]) is not None else []


def _look_like_icd(values: Sequence[str]) -> bool:
    """Whether at least 9 of 10 values are a letter, two digits, and perhaps a point and more."""
    return 10 * _like_icd(values) >= 9 * max(1, len(values))


def _like_icd(values: Sequence[str]) -> int:
    return sum(map(bool, map(_ICD.fullmatch, values)))


_ICD = re.compile(r"[A-Z]\d\d(\.[\d-]{1,4})?[+*!†]?")
"""A code of the ICD-10, perhaps with the mark that some countries set after it."""


def _ladder(span: float) -> list[float]:
    """Three widths of 1, 2 or 5 times a power of ten that nest, for a range of numbers."""
    unit = 10.0 ** np.floor(np.log10(span / 20)) if span > 0 else 1.0
    factor = next(step for step in (1, 2, 5, 10) if unit * step >= span / 20)
    narrow = unit * factor
    steps = (narrow, narrow * 2, narrow * 4)
    return [int(step) if float(step).is_integer() else float(f"{step:.12g}") for step in steps]
