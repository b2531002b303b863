"""The kinds of the columns of a session: found from the values, and chosen by the user."""

from __future__ import annotations

from dataclasses import replace

from kanon.base.date_patterns import MixedDates, find_date_patterns
from kanon.base.kinds import CODE, TEXT, ColumnKind, fitting
from kanon.studio.session.choices import start_with
from kanon.studio.session.hierarchy_choices import with_choice, with_choices
from kanon.studio.session.work import Work

_BY_KIND = ("suppression", "intervals", "quantiles", "dates", "ages", "mask")
"""The builders that a column starts with, as its kind is."""


def kinds_of(work: Work, column: str) -> tuple[ColumnKind, ...]:
    """The kinds that all values of a column are of, the likeliest first."""
    dates = find_mixed_dates(work, column)
    together = () if dates is None or dates.rest else dates.kinds
    return (*fitting(work.table.records.counted(column).texts), *together)


def find_mixed_dates(work: Work, column: str) -> MixedDates | None:
    """The patterns of a column of dates that are not all written in one way."""
    counts = work.table.records.counted(column).counts
    eight_digits = all(len(text) == 8 and text.isdecimal() for text in counts)
    if fitting(list(counts))[0] not in (TEXT, CODE) and not eight_digits:
        return None
    dates = find_date_patterns(counts)
    return dates if dates and (dates.rest or len(dates.patterns) > 1) else None


def with_kind(work: Work, column: str, kind: ColumnKind) -> Work:
    """The work with a column read in another way, and what depends on that made anew."""
    values = work.table.file.records.counted(column)
    kind.check(column, values.texts)
    kinds = {name: one for name, one in work.table.kinds.items() if name != column}
    if kind != fitting(values.texts)[0]:
        kinds[column] = kind
    work = with_choices(
        work.with_parts(replace(work.table, kinds=kinds), replace(work.message, problem=None))
    )
    old = work.table.choices.get(column)
    if old is None or old.builder not in _BY_KIND:
        return work
    return with_choice(
        work, column, start_with(column, work.table.complete_records.counted(column))
    )
