"""The kind of a column: as it was found, to be changed."""

from dataclasses import replace
from functools import partial

from streamlit.delta_generator import DeltaGenerator

from kanon.base.date_patterns import MixedDates, find_date_patterns
from kanon.base.formatting import counted, one_or_many, thin
from kanon.base.kinds import AND_ALSO, CODE, TEXT, ColumnKind, doubts, fitting
from kanon.errors import TableError
from kanon.schema import Role
from kanon.studio.session import state
from kanon.studio.session.choices import start_with
from kanon.studio.session.hierarchy_choices import with_choice, with_choices
from kanon.studio.session.state import bound
from kanon.studio.session.text import shortened, spoken
from kanon.studio.session.work import Work

_NAMED = 5  # values that are no dates, with their records


def column_kind(work: Work, position: int, name: str, place: DeltaGenerator) -> str:
    """Draw the kind of a column; returns a sentence if it is a guess, or one of several ways."""
    if work.table.roles[name] is Role.IDENTIFIER:
        return ""
    version = work.version
    known = (work.table.digest, version)
    try:
        found = state.remembered(f"kinds-{position}", known, partial(kinds_of, work, name))
        dates = state.remembered(f"dates-{position}", known, partial(find_mixed_dates, work, name))
    except TableError:  # an engine has too many values of it to be read
        return ""
    chosen = work.table.kinds.get(name)
    shown = chosen or found[0]
    place.selectbox(
        f"Kind of {spoken(name)}",
        list(dict.fromkeys([*map(str, found), str(shown)])),
        **bound(f"kind-{version}-{position}", str(shown), take_kind, version, name),
        label_visibility="collapsed",
        help="How its values are read. A release writes them as they came.",
    )
    if dates is not None:
        return _describe_dates(dates, chosen)
    others = doubts(found)
    if chosen is not None or not others:
        return ""
    return f"Read as {shown}, a guess: it may be {', '.join(map(str, others))}."


def _describe_dates(dates: MixedDates, chosen: ColumnKind | None) -> str:
    kind = chosen if chosen in dates.kinds else dates.kinds[0]
    ways = [
        (
            f"{pattern} ({counted(one.values, 'value')}, "
            f"{one.example} is {format(kind.moment(one.example) or one.moment, '%Y-%m-%d')})"
        )
        for pattern, one in zip(kind.pattern.split(AND_ALSO), dates.patterns, strict=True)
    ]
    written = ", ".join(ways)
    if not dates.rest:
        about = f"Its values are dates, written {written}."
        if chosen in dates.kinds:
            return about
        kinds = " or ".join(map(str, dates.kinds))
        return f"{about} To read them together, choose {kinds}."
    about = f"Most values are dates, written {written}."
    listed = [f"{shortened(text)} ({thin(n)})" for text, n in list(dates.rest.items())[:_NAMED]]
    others = one_or_many(
        len(dates.rest),
        "{count} value has no such pattern: {listed}. If it stands for missing, add it to the "
        "cells that count as missing under 'How it was read'; then the others can be dates.",
        "{count} values have no such pattern: {listed}. If they stand for missing, add them to the "
        "cells that count as missing under 'How it was read'; then the others can be dates.",
        listed=", ".join([*listed, *(["…"] if len(dates.rest) > _NAMED else [])]),
    )
    return f"{about} {others}"


def take_kind(version: int, name: str, kind: str) -> None:
    if state.work().version == version:
        state.attempt(lambda: with_kind(state.work(), name, ColumnKind.parse(kind)))


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
