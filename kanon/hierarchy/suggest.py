"""A first hierarchy, suggested from the values; users see it and can change it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

import numpy as np

from kanon.base.formatting import count_noun, write_count
from kanon.base.kinds import (
    ColumnKind,
    find_moment_kinds,
    is_like_postcodes,
    read_moments,
    read_numbers,
)
from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import ages, are_periods, date_levels, dates, mask, suppression
from kanon.hierarchy.codes import build_code_hierarchy as codes_cut
from kanon.hierarchy.codes import read_icd_10_chapters
from kanon.hierarchy.frequencies import build_by_frequency, build_quantile_intervals
from kanon.hierarchy.tree import Hierarchy

_Level = TypeVar("_Level")

_FEW = 12  # up to this many distinct values, keeping or losing each is a fair start


@dataclass(frozen=True)
class SuggestedBuilder:
    """A builder with its parameters, as in a plan, and the reason in one sentence."""

    builder: str
    reason: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def suggest_builder(values: Sequence[str], kind: ColumnKind | None = None) -> SuggestedBuilder:
    """Suggest a builder for the distinct values of a column.

    Many numbers become intervals, dates periods, ICD codes go into its chapters, long codes of
    equal length are masked; anything else is kept or lost. No suggested level has all values in
    one group, such as the year of dates of one year.

    >>> suggest_builder([str(age) for age in range(17, 91)]).parameters
    {'widths': [5, 10, 20]}
    >>> suggest_builder([f"{day:02d}.03.{year}" for year in (1981, 1982) for day in range(1, 9)])
    SuggestedBuilder(builder='dates', reason='Its values are dates or times.', \
parameters={'levels': ['month', 'quarter', 'year']})
    >>> suggest_builder(["F", "M"]).builder
    'suppression'
    """
    if len(values) <= _FEW:
        return SuggestedBuilder("suppression", "It has few values: each is kept or lost.")
    builder = _choose_builder(values, kind)
    parameters = starting_parameters(builder, values, kind)
    suggestion = SuggestedBuilder(builder, _REASONS[builder], parameters)
    if _is_dividing(suggestion, values):
        return suggestion
    return SuggestedBuilder("suppression", "Groups cannot divide its values: each is kept or lost.")


_REASONS = {
    "intervals": "Its values are numbers.",
    "dates": "Its values are dates or times.",
    "codes": "Its values look like ICD-10 codes.",
    "mask": "Its values are codes of equal length.",
    "suppression": "Its values have no order: each is kept or lost.",
}


def _choose_builder(values: Sequence[str], kind: ColumnKind | None) -> str:
    if not values:
        return "suppression"
    may_be_sizes = kind is not None or not is_like_postcodes(values)
    if may_be_sizes and read_numbers(values, kind) is not None:
        return "intervals"
    if are_periods(values, kind):
        return "dates"
    if _has_icd_codes(values):
        return "codes"
    codes = len(set(map(len, values))) == 1 and " " not in "".join(values)
    return "mask" if codes and 4 <= len(values[0]) <= 12 else "suppression"


def _is_dividing(suggestion: SuggestedBuilder, values: Sequence[str]) -> bool:
    if suggestion.builder == "mask":
        return len({value[:-1] for value in values}) > 1
    if suggestion.builder == "codes":
        return _can_build(suggestion, dict.fromkeys(values, 1), None)
    return suggestion.parameters.get("levels") != []


def propose(counts: Mapping[str, int], kind: ColumnKind | None = None) -> SuggestedBuilder:
    """Propose a builder from the values of a column and their numbers of records.

    Many numbers go into intervals with about equally many records, dates into periods, ICD codes
    into its chapters, many codes of equal length are masked, many other texts share a group if
    they are rare (fewer than 5 records, or than 1 % of all); anything else is kept or lost.

    >>> ages = propose({str(age): 408 for age in range(17, 91)})
    >>> ages.builder, ages.parameters
    ('quantiles', {'parts': [16, 8, 4, 2]})
    >>> propose({"F": 10, "M": 20}).reason
    'It has 2 values: each is kept or lost.'
    """
    return next(first for first in _propose_all(counts, kind) if _can_build(first, counts, kind))


def _propose_all(counts: Mapping[str, int], kind: ColumnKind | None) -> Iterator[SuggestedBuilder]:
    """Propose what fits the values, best first; the last can always be built."""
    values = [convert_to_text(value) for value in counts]
    records = [int(count) for count in counts.values()]
    builder, many = _choose_builder(values, kind), len(values) > _FEW
    if builder == "dates":
        yield from _propose_periods(values, kind)
    elif many and builder == "intervals":
        yield _propose_quantiles(records)
    elif many and builder == "codes":
        reason = (
            f"It has {count_noun(len(values), 'value')}, {write_count(_count_icd_codes(values))} "
            "of which look like ICD-10 codes: they are cut at the point, then grouped by chapter."
        )
        yield SuggestedBuilder("codes", reason, starting_parameters("codes", values))
    elif many and builder == "mask":
        length = count_noun(len(values[0]), "character")
        reason = (
            f"It has {count_noun(len(values), 'code')} of {length}: they are masked from the right."
        )
        yield SuggestedBuilder("mask", reason, starting_parameters("mask", values))
    elif many:
        yield from _propose_frequency_groups(records)
    reason = f"It has {count_noun(len(values), 'value')}: each is kept or lost."
    yield SuggestedBuilder("suppression", reason)


def _can_build(
    proposal: SuggestedBuilder, counts: Mapping[str, int], kind: ColumnKind | None
) -> bool:
    if proposal.builder == "suppression":
        return True
    try:
        options = {"kind": kind} if proposal.builder in ("dates", "quantiles") else {}
        tree = _BUILDERS[proposal.builder](counts, *proposal.parameters.values(), **options)
    except HierarchyError:
        return False
    return len(tree.children[tree.root]) > 1


_BUILDERS: Mapping[str, Callable[..., Hierarchy]] = {
    "codes": lambda counts, *parameters: codes_cut(list(counts), *parameters),
    "dates": lambda counts, levels, kind: dates(list(counts), levels, kind),
    "frequency": build_by_frequency,
    "mask": lambda counts, keep: mask(list(counts), keep),
    "quantiles": build_quantile_intervals,
    "suppression": lambda counts: suppression(list(counts)),
}


def _propose_periods(values: Sequence[str], kind: ColumnKind | None) -> Iterator[SuggestedBuilder]:
    """Propose the finest periods that fit and, if some values are years, years and decades."""
    finest = _choose_periods(values, kind)
    n_dates = count_noun(len(values), "date" if "year" in finest else "time")
    for levels in (finest, ["year", "decade"], ["decade"]):
        reason = f"It has {n_dates}: they are grouped by {', '.join(levels)}."
        yield SuggestedBuilder("dates", reason, {"levels": levels})


def _choose_periods(values: Sequence[str], kind: ColumnKind | None) -> list[str]:
    """Choose first periods: from months up; from years up for more values than a year has days."""
    reading = kind or next(iter(find_moment_kinds(values)), None)
    possible = date_levels(reading)
    times = read_moments(values, reading) or []
    by_time = [values[times.index(end(times))] for end in (min, max)] if times else values
    several = _select_dividing(lambda levels: dates(by_time, levels, reading), possible)
    if "year" not in possible:
        return several
    first = "year" if len(values) > 366 else "month"
    start = possible[possible.index(first) if first in possible else 0 :]
    finer = several[:-1] if reading is None or reading.resolution != "time" else several
    return [level for level in several if level in start] or finer[-2:]


def _select_dividing(
    build: Callable[[list[_Level]], Hierarchy], levels: Sequence[_Level]
) -> list[_Level]:
    def is_dividing(level: _Level) -> bool:
        try:
            tree = build([level])
        except HierarchyError:
            return True  # reported when it is built
        return len(tree.children[tree.root]) > 1

    return [level for level in levels if is_dividing(level)]


def _propose_quantiles(records: Sequence[int]) -> SuggestedBuilder:
    """Propose up to 16 intervals, with at least two numbers each on average."""
    most = next(parts for parts in (16, 8, 4) if len(records) >= 2 * parts or parts == 4)
    average = round(sum(records) / most)
    uneven = max(records) > 2 * average
    reason = (
        f"It has {count_noun(len(records), 'number')}: {'up to ' if uneven else ''}{most} "
        f"intervals with about {count_noun(average, 'record')} each"
    )
    # A number is never split, so one with many records makes a large interval.
    rest = f"; its most frequent number alone has {write_count(max(records))}." if uneven else "."
    parts = [part for part in (16, 8, 4, 2) if part <= most]
    return SuggestedBuilder("quantiles", reason + rest, {"parts": parts})


def _propose_frequency_groups(records: Sequence[int]) -> Iterator[SuggestedBuilder]:
    least = max(5, sum(records) // 100)
    rare = sum(count < least for count in records)
    if rare < 2 or rare == len(records):  # one rare value alone has no group to hide in
        return
    reason = (
        f"It has {count_noun(len(records), 'text')}, {write_count(rare)} of them with fewer than "
        f"{count_noun(least, 'record')}: these are first put into one group."
    )
    yield SuggestedBuilder("frequency", reason, {"least": least})


def starting_parameters(
    builder: str, values: Sequence[str], kind: ColumnKind | None = None
) -> dict[str, Any]:
    """First parameters for any builder, whether or not it fits best.

    >>> starting_parameters("mask", ["47601", "47702"])
    {'keep': [4, 3]}
    """
    if builder == "intervals":
        sizes = read_numbers(values, kind)
        if sizes is None:
            numbers = [value for value in values if read_numbers([value], kind) is not None]
            sizes = read_numbers(numbers)
        return {} if sizes is None else {"widths": _choose_widths(float(sizes.max() - sizes.min()))}
    if builder == "mask":
        longest = max(map(len, values), default=0)
        keep = list(range(longest - 1, max(longest - 5, 1), -1)) or [1]
        several = [count for count in keep if len({value[:count] for value in values}) > 1]
        return {"keep": several or keep[:1]}
    if builder == "codes":
        chapters = list(read_icd_10_chapters()) if _has_icd_codes(values) else []
        if not _select_dividing(lambda ranges: codes_cut(values, ".", [], *ranges), [chapters]):
            chapters = []
        return {"separators": ".", "prefixes": [], "ranges": chapters}
    if builder == "dates":
        return {"levels": _choose_periods(values, kind)}
    if builder == "ages":
        today, widths = date.today(), [1, 5, 10, 20]
        several = _select_dividing(lambda width: ages(values, today, width, kind=kind), widths)
        return {"widths": several or widths[:1], "day": today.isoformat()}
    return {}


def strays(values: Sequence[str]) -> list[str]:
    """The few texts among numbers, which may mark missing values.

    >>> strays([*map(str, range(40)), "k.A."])
    ['k.A.']
    """
    texts = [value for value in values if not any(map(str.isdigit, value))]
    few = 0 < len(texts) <= 3 and len(texts) <= 0.1 * len(values)
    numbers = [value for value in values if any(map(str.isdigit, value))] if few else []
    return texts if read_numbers(numbers) is not None else []


def _has_icd_codes(values: Sequence[str]) -> bool:
    """Whether at least 9 of 10 values look like ICD-10 codes."""
    return 10 * _count_icd_codes(values) >= 9 * max(1, len(values))


def _count_icd_codes(values: Sequence[str]) -> int:
    return sum(map(bool, map(_ICD.fullmatch, values)))


_ICD = re.compile(r"[A-Z]\d\d(\.[\d-]{1,4})?[+*!†]?")
"""An ICD-10 code, perhaps with the mark that some countries add."""


def _choose_widths(span: float) -> list[float]:
    """Choose three nested widths of 1, 2 or 5 times a power of ten for a range of numbers."""
    unit = 10.0 ** np.floor(np.log10(span / 20)) if span > 0 else 1.0
    factor = next(step for step in (1, 2, 5, 10) if unit * step >= span / 20)
    narrow = unit * factor
    steps = (narrow, narrow * 2, narrow * 4)
    return [int(step) if float(step).is_integer() else float(f"{step:.12g}") for step in steps]
