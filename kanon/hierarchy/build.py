"""Builders: a hierarchy from the values of a column and a few parameters."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np

from kanon.base.date_patterns import find_date_patterns
from kanon.base.formatting import count_noun
from kanon.base.kinds import PATTERNS, ColumnKind, find_moment_kinds, read_exact_numbers
from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.interval_paths import build_interval_paths
from kanon.hierarchy.lines import build_tree_from_lines, check_number
from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy

DATE_LEVELS = ("hour", "part of day", "day", "month", "quarter", "year", "decade")
"""The levels that :func:`dates` knows, from fine to coarse."""

_FIRST_LEVEL = {"time": 0, "day": 2, "month": 3, "quarter": 4, "year": 5}
"""The place of the finest level by the resolution of the texts."""

_NO_VALUES = "The column has no values to build a hierarchy from."


def suppression(values: Sequence[str]) -> Hierarchy:
    """Every value directly under the root: all or nothing. Height 2.

    >>> suppression(["F", "M"]).labels
    ('F', 'M', '*')
    """
    return tree_of_paths([[value] for value in _list_distinct(values)])


def intervals(
    values: Sequence[str],
    widths: Sequence[float],
    origin: float = 0,
    lowest: float | None = None,
    highest: float | None = None,
    kind: ColumnKind | None = None,
) -> Hierarchy:
    """Numbers in nested intervals, aligned at ``origin``.

    Values, widths and bounds are taken as the decimals that are written, without rounding.

    >>> tree = intervals(["17", "18", "23"], widths=[5, 10])
    >>> tree.labels
    ('17', '18', '23', '15-19', '10-19', '20-24', '20-29', '*')
    >>> intervals(["1.234,50", "980,00"], widths=[1000]).labels
    ('980,00', '1.234,50', '0 to <1000', '1000 to <2000', '*')
    >>> intervals(["0.3", "0.6"], widths=[0.1]).labels
    ('0.3', '0.6', '0.3 to <0.4', '0.6 to <0.7', '*')

    Parameters
    ----------
    widths
        The widths of the intervals, from narrow to wide, each a multiple of the one before. With
        bounds there may be none: then the values between them stay as they are.
    origin
        A bound of the intervals of every width.
    lowest, highest
        Numbers below ``lowest`` share one group, numbers above ``highest`` another; the intervals
        beside them end there.

    Raises
    ------
    HierarchyError
        A value is not a number, the widths do not nest, or there are neither widths nor bounds.
    """
    check_number("levels", len(widths) + 2)
    texts = _list_distinct(values)
    numbers = list(map(Fraction, parsed_numbers(texts, kind)))
    return tree_of_paths(build_interval_paths(texts, numbers, widths, origin, (lowest, highest)))


def ages(
    values: Sequence[str],
    day: date,
    widths: Sequence[float],
    lowest: float | None = None,
    highest: float | None = None,
    kind: ColumnKind | None = None,
) -> Hierarchy:
    """Dates of birth as ages on a day, in whole years, in nested intervals.

    >>> ages(["04.03.1981", "26.11.1981"], date(2026, 11, 25), [1, 10]).labels
    ('26.11.1981', '04.03.1981', 'age 44', 'age 45', 'age 40-49', '*')

    Parameters
    ----------
    day
        The day on which the ages are counted. People born on 29 February turn a year older on
        1 March where there is no such day.
    widths, lowest, highest
        See :func:`intervals`; a width of 1 is the age itself.

    Raises
    ------
    HierarchyError
        A value is not a date, has no day, or lies after the day; or the widths do not nest.
    """
    check_number("levels", len(widths) + 2)
    if any(not float(width).is_integer() for width in widths):
        raise HierarchyError("The widths of age intervals have to be whole years.")
    texts = _list_distinct(values)
    moment_by_text, form = _parse_dates(texts, kind)
    if form is not None and (form.name == "time" or form.resolution not in ("day", "time")):
        raise HierarchyError("Ages need dates with a day, but these values have none.")
    late = [text for text in texts if moment_by_text[text].date() > day]
    if late:
        raise HierarchyError(
            f"Ages are calculated as of {day.isoformat()}; {_count(late)} later ({{cells}}).", late
        )
    years = [
        day.year - born.year - ((day.month, day.day) < (born.month, born.day))
        for born in (moment_by_text[text] for text in texts)
    ]
    paths = build_interval_paths(texts, list(map(Fraction, years)), widths, 0, (lowest, highest))
    return tree_of_paths([[text, *(f"age {name}" for name in names)] for text, *names in paths])


def ordered(values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
    """Values in a given order: neighbours in groups, neighbouring groups in larger groups.

    Groups are named by their first and last value. The last group of a level may be smaller; a
    group of one value adds no level, nor does one that holds them all.

    >>> ordered(["low", "fair", "good", "high", "top"], [2, 2]).labels[5:]
    ('low – fair', 'good – high', 'low – high', '*')

    Parameters
    ----------
    sizes
        How many values form a group, how many of those form one of the next level, and so on.

    Raises
    ------
    HierarchyError
        A size is not a whole number of at least 2, or two groups would get one name.
    """
    if not sizes or any(not is_whole(size) or size < 2 for size in sizes):
        raise HierarchyError("The sizes of ordered groups have to be whole numbers of at least 2.")
    texts = _list_distinct(values)
    paths = [[text] for text in texts]
    length = 1
    start_of: dict[str, int] = {}
    for size in sizes:
        length = min(length * int(size), len(texts) or 1)
        for first in range(0, len(texts), length):
            last = min(first + length, len(texts)) - 1
            name = run_label(texts, first, last, " – ")
            if last > first and start_of.setdefault(name, first) != first:
                raise HierarchyError("Two groups would be called {cells}; change a size.", [name])
            for place in range(first, last + 1):
                paths[place].append(name)
    return tree_of_paths(paths)


def mask_steps(longest: int, step: int) -> list[int]:
    """How many characters :func:`mask` keeps at each level if it masks ``step`` at a time.

    >>> mask_steps(5, 1), mask_steps(8, 3)
    ([4, 3, 2, 1], [5, 2])

    Parameters
    ----------
    longest
        The characters of the longest code.

    Raises
    ------
    HierarchyError
        The step is not a whole number of at least 1, or leaves no character.
    """
    if not is_whole(step) or step < 1:
        raise HierarchyError("A step has to mask a whole number of characters, at least 1.")
    if step >= longest:
        raise HierarchyError(
            f"A step of {count_noun(int(step), 'character')} leaves nothing of codes with up to "
            f"{count_noun(int(longest), 'character')}; choose a smaller step."
        )
    return list(range(int(longest) - int(step), 0, -int(step)))


def mask(values: Sequence[str], keep: Sequence[int], side: str = "left") -> Hierarchy:
    """Codes whose characters are masked step by step; codes with the same remainder form a group.

    Where all codes have one length, a star stands for each masked character. Otherwise one star
    stands for all masked characters, or none, as codes of different lengths may share a remainder.

    >>> mask(["4711", "4712"], keep=[3, 1]).labels
    ('4711', '4712', '471*', '4***', '*')
    >>> mask(["E11", "E11.9", "E11.72"], keep=[3]).labels
    ('E11', 'E11.72', 'E11.9', 'E11*', '*')

    Parameters
    ----------
    keep
        How many characters stay at each level, from many to few. A shorter code skips the level.
    side
        Which characters stay: the ``"left"`` or the ``"right"`` ones.

    Raises
    ------
    HierarchyError
        ``keep`` does not fall from level to level, or ``side`` is unknown.
    """
    if side not in ("left", "right"):
        raise HierarchyError(f"A mask's side has to be 'left' or 'right', not {str(side)[:40]!r}.")
    if not keep or any(isinstance(n, bool) or n != int(n) or n < 1 for n in keep):
        raise HierarchyError(
            "A mask has to keep at least 1 character at each level below the root."
        )
    if any(wide <= narrow for wide, narrow in itertools.pairwise(keep)):
        raise HierarchyError("A mask has to keep fewer characters from level to level.")

    texts = sorted(_list_distinct(values), key=lambda text: text if side == "left" else text[::-1])
    one_length = len(set(map(len, texts))) == 1

    def mask_text(text: str, count: int) -> str:
        if len(text) < count or (one_length and len(text) == count):
            return text
        hidden = "*" * (len(text) - int(count)) if one_length else "*"
        return text[: int(count)] + hidden if side == "left" else hidden + text[-int(count) :]

    return tree_of_paths([[text, *(mask_text(text, count) for count in keep)] for text in texts])


def dates(
    values: Sequence[str], levels: Sequence[str], kind: ColumnKind | None = None
) -> Hierarchy:
    """Dates and times raised to hours, days, months, quarters, years, decades.

    >>> dates(["2021-03-04", "2021-05-01"], ["quarter", "year"]).labels
    ('2021-03-04', '2021-05-01', '2021-Q1', '2021-Q2', '2021', '*')
    >>> dates(["04.03.1981", "14.03.1979"], ["year", "decade"]).labels
    ('14.03.1979', '04.03.1981', '1979', '1970s', '1981', '1980s', '*')

    Parameters
    ----------
    values
        Dates or times, as text, all written alike; or ISO 8601 dates, 2021 and 2021-03 included.
    levels
        Some of hour, part of day, day, month, quarter, year, decade, from fine to coarse.

    Raises
    ------
    HierarchyError
        A value is not such a date, or a level is unknown, out of order or finer than the dates.
    """
    unknown = [level for level in levels if level not in DATE_LEVELS]
    if unknown or not levels:
        raise HierarchyError(
            f"Levels of dates can be {', '.join(DATE_LEVELS)}, not {str(unknown or 'none')[:60]}."
        )
    ranks = [DATE_LEVELS.index(level) for level in levels]
    if ranks != sorted(set(ranks)):
        raise HierarchyError("List the levels of dates from fine to coarse, each once.")
    texts = _list_distinct(values)
    moment_by_text, form = _parse_dates(texts, kind)
    possible = date_levels(form)
    beyond = [level for level in levels if level not in possible]
    if beyond:
        raise HierarchyError(
            f"The values contain no {beyond[0]}; choose from {', '.join(possible)}."
        )
    clock = form is not None and form.name == "time"
    return tree_of_paths(
        [
            [text, *(_name_period(moment, level, clock) for level in levels)]
            for moment, text in sorted((moment, text) for text, moment in moment_by_text.items())
        ]
    )


def date_levels(kind: ColumnKind | None) -> tuple[str, ...]:
    """The levels of :func:`dates` that values of a kind have; without a kind, of ISO 8601 dates.

    >>> date_levels(ColumnKind("date", "MM/YYYY")), date_levels(ColumnKind("time", "HH:MM"))
    (('month', 'quarter', 'year', 'decade'), ('hour', 'part of day'))
    """
    if kind is None:
        return DATE_LEVELS[2:]
    if kind.name == "time":
        return DATE_LEVELS[:2]
    return DATE_LEVELS[_FIRST_LEVEL[kind.resolution] :]


def groups(levels: Sequence[Mapping[str, Sequence[str]]]) -> Hierarchy:
    """Groups that a user makes: each level names groups and their members.

    Members are values or groups of an earlier level. A group that no later level names stands
    under the root; the name ``*`` is the root itself.

    >>> groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}]).labels
    ('Cat', 'Lion', 'Dog', 'Felid', '*')

    Raises
    ------
    HierarchyError
        A member is in two groups, or the groups do not form a tree.
    """
    parent_by_member: dict[str, str] = {}
    for level in levels:
        for name, members in level.items():
            group = convert_to_text(name)
            for member in map(convert_to_text, members):
                if member in parent_by_member:
                    raise HierarchyError(
                        "The member {cells} is in two groups; put it in one.", [member]
                    )
                if member == group:
                    raise HierarchyError(
                        "The group {cells} has a member of the same name; rename the group by "
                        "adding ' (group)' to its name.",
                        [member],
                    )
                parent_by_member[member] = group
    for group in list(dict.fromkeys(parent_by_member.values())):
        if group != ROOT_LABEL:
            parent_by_member.setdefault(group, ROOT_LABEL)
    entries = [(member, group, None) for member, group in parent_by_member.items()]
    return Hierarchy.from_entries([*entries, (ROOT_LABEL, None, None)])


def tree_of_paths(lines: Sequence[Sequence[str]]) -> Hierarchy:
    """Build the tree from the paths of all values, each from the value to just below the root."""
    if not lines:
        raise HierarchyError(_NO_VALUES)
    if any(not cells[0] for cells in lines):
        raise HierarchyError("A value is blank; let blank cells count as missing.")
    try:
        return build_tree_from_lines(("", [*cells, ROOT_LABEL]) for cells in lines)
    except HierarchyError as error:
        raise HierarchyError(
            "A value of the column has the name of a group of other values ({cells}). Choose "
            "other levels, or load the hierarchy from a file.",
            error.cells[:1],
        ) from None


def run_label(texts: Sequence[str], first: int, last: int, between: str) -> str:
    """The name of a run of values: one value is itself, all of them are the root."""
    if first == last:
        return texts[first]
    if last - first + 1 == len(texts):
        return ROOT_LABEL
    return f"{texts[first]}{between}{texts[last]}"


def parsed_numbers(texts: list[str], kind: ColumnKind | None = None) -> list[Decimal]:
    """Read texts as exact numbers, or raise an error that names the others."""
    numbers = read_exact_numbers(texts, kind)
    if numbers is None:
        if not texts:
            raise HierarchyError(_NO_VALUES)
        bad, how = _find_misfits(texts, kind, ("whole number", "decimal"))
        raise HierarchyError(
            f"Intervals need numbers{how}; {_count(bad)} something else ({{cells}}).", bad
        )
    return numbers


def _find_misfits(
    texts: Sequence[str], kind: ColumnKind | None, names: Sequence[str]
) -> tuple[list[str], str]:
    if kind is not None and kind.name not in names:
        return list(texts), f" (the column is of the kind {kind})"
    kinds = [ColumnKind.create_kind(name, pattern) for name in names for pattern in PATTERNS[name]]
    bad, best = min(
        ((candidate.find_misfits(texts), candidate) for candidate in ([kind] if kind else kinds)),
        key=lambda choice: len(choice[0]),
    )
    plain = len(bad) == len(texts) or best.pattern in ("1234", "1234.56")
    return bad, "" if plain else f" written {best.pattern}"


def _parse_dates(
    texts: list[str], kind: ColumnKind | None
) -> tuple[dict[str, datetime], ColumnKind | None]:
    form = kind or next(iter(find_moment_kinds(texts)), None)
    moment_by_text = _read_dates(texts, form)
    dates = {text: moment for text, moment in moment_by_text.items() if moment is not None}
    if len(dates) == len(texts):
        return dates, form
    bad, how = _find_misfits(texts, kind, ("date", "date and time", "time"))
    if not bad:
        raise HierarchyError(
            "The dates could be written DDMMYYYY or MMDDYYYY. Choose the kind of the column on the "
            "Data page, or with read.kinds in a plan."
        )
    if kind is None:
        no_iso_dates = [text for text in texts if dates.get(text) is None]
        bad, how = min((bad, how), (no_iso_dates, ""), key=lambda choice: len(choice[0]))
    how = how or " such as 2021-03-04 or 04.03.2021"
    several = find_date_patterns(dict.fromkeys(texts, 1)) if kind is None else None
    together = "" if not several or several.rest else f"; the kind '{several.kinds[0]}' fits all"
    raise HierarchyError(
        f"Dates{how} are needed; {_count(bad)} something else ({{cells}}){together}.", bad
    )


def _read_dates(texts: Sequence[str], kind: ColumnKind | None) -> dict[str, datetime | None]:
    """Read each text by its kind or ISO 8601; empty if the kind has no dates or times."""
    if kind is None:
        return {text: _parse_iso_date(text) for text in texts}
    return {text: kind.moment(text) for text in texts} if kind.is_moment else {}


def are_periods(values: Sequence[str], kind: ColumnKind | None = None) -> bool:
    """Whether :func:`dates` takes all values.

    >>> are_periods(["2021-03-04", "2021"]), are_periods(["2021-03-04", "spring"])
    (True, False)
    """
    moment_of = _read_dates(values, kind or next(iter(find_moment_kinds(values)), None))
    return bool(moment_of) and None not in moment_of.values()


def is_whole(number: object) -> bool:
    """Whether an object is a whole number; true and false are not."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _list_distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(convert_to_text, values)))


def _count(values: Sequence[str]) -> str:
    return count_noun(len(values), "distinct value is", "distinct values are")


def _parse_iso_date(text: str) -> datetime | None:
    for candidate in (text, f"{text}-01", f"{text}-01-01"):
        try:
            return datetime.fromisoformat(candidate).replace(tzinfo=None)
        except ValueError:
            continue
    return None


def _name_period(value: datetime, level: str, clock: bool) -> str:
    """Name a moment at a level; a time alone has no day."""
    first = value.hour - value.hour % 6
    name = {
        "hour": f"{value.hour:02d}:00 to <{value.hour + 1:02d}:00",
        "part of day": f"{first:02d}:00 to <{first + 6:02d}:00",
        "day": f"{value:%Y-%m-%d}",
        "month": f"{value:%Y-%m}",
        "quarter": f"{value.year:04d}-Q{(value.month + 2) // 3}",
        "year": f"{value.year:04d}",
        "decade": f"{value.year // 10 * 10:04d}s",
    }[level]
    return f"{value:%Y-%m-%d} {name}" if level in DATE_LEVELS[:2] and not clock else name
