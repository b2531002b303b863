"""Builders: a hierarchy from the values of a column and a few parameters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from kanon.base.formatting import counted
from kanon.base.values import canonical_text, numbers
from kanon.errors import HierarchyError
from kanon.hierarchy.lines import check_number, tree_from_lines
from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy

DATE_LEVELS = ("day", "month", "quarter", "year", "decade")
"""The levels that :func:`dates` knows, from fine to coarse."""


def suppression(values: Sequence[str]) -> Hierarchy:
    """Every value directly under the root: keep or lose. Height 2.

    >>> suppression(["F", "M"]).labels
    ('F', 'M', '*')
    """
    return tree_of_paths([[value] for value in _distinct(values)])


def intervals(
    values: Sequence[str],
    widths: Sequence[float],
    origin: float = 0,
    lowest: float | None = None,
    highest: float | None = None,
) -> Hierarchy:
    """Numbers in nested intervals, aligned at ``origin``.

    Parameters
    ----------
    values
        The numbers that occur, as text.
    widths
        The widths of the intervals, from narrow to wide, each a multiple of the one before.
    origin
        A bound of the intervals of every width.
    lowest, highest
        Numbers below ``lowest`` share one group, numbers above ``highest`` another; the intervals
        beside them end there.

    Raises
    ------
    HierarchyError
        A value is not a number, or the widths do not nest.

    Examples
    --------
    >>> tree = intervals(["17", "18", "23"], widths=[5, 10])
    >>> tree.labels
    ('17', '18', '23', '15-19', '10-19', '20-24', '20-29', '*')
    """
    check_number("levels", len(widths) + 2)
    texts = _distinct(values)
    parsed = parsed_numbers(texts)
    _check_widths(widths)
    if not math.isfinite(origin):
        raise HierarchyError("The origin of intervals has to be a finite number.")
    if any(bound is not None and not math.isfinite(bound) for bound in (lowest, highest)):
        raise HierarchyError("The lowest and the highest bound have to be finite numbers.")
    farthest = float(np.abs(parsed).max())
    if not math.isfinite(farthest + abs(origin) + 2 * widths[-1]):
        raise HierarchyError(
            f"The width {widths[-1]:g} is too wide for numbers as large as those of the column."
        )
    if float(np.abs(parsed - origin).max()) / widths[0] > 1e14:
        raise HierarchyError(
            f"The width {widths[0]:g} is too narrow for numbers as large as those of the column."
        )
    if lowest is not None and highest is not None and lowest >= highest:
        raise HierarchyError(
            f"The lowest bound {canonical_text(lowest)} has to be below the highest bound "
            f"{canonical_text(highest)}."
        )
    whole = bool(
        np.all(parsed == np.round(parsed))
        and all(float(number).is_integer() for number in [*widths, origin])
    )
    lines = []
    for value, text in sorted(zip(parsed.tolist(), texts, strict=True)):
        if lowest is not None and value < lowest:
            lines.append([text, f"<{canonical_text(lowest)}"])
        elif highest is not None and value > highest:
            lines.append([text, f">{canonical_text(highest)}"])
        else:
            bounds = (
                -math.inf if lowest is None else lowest, math.inf if highest is None else highest
            )  # fmt: skip
            lines.append([text, *(_interval(value, w, origin, whole, bounds) for w in widths)])
    return tree_of_paths(lines)


def ordered(values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
    """Values in an order of their own, neighbours in groups, neighbouring groups in groups.

    Groups are named by their first and last value. The last group of a level may be smaller; a
    group of one value adds no level, nor does one that holds them all.

    Parameters
    ----------
    values
        The values, in the order that makes neighbours of them.
    sizes
        How many values form a group, how many of these a group of the next level, and so on.

    Raises
    ------
    HierarchyError
        A size is not a whole number of at least 2, or two groups would get one name.

    Examples
    --------
    >>> ordered(["low", "fair", "good", "high", "top"], [2, 2]).labels[5:]
    ('low – fair', 'good – high', 'low – high', '*')
    """
    if not sizes or any(not is_whole(size) or size < 2 for size in sizes):
        raise HierarchyError("Ordered groups have sizes that are whole numbers of at least 2.")
    texts = _distinct(values)
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
    """How many characters :func:`mask` keeps if it masks ``step`` of them at a time.

    Parameters
    ----------
    longest
        The characters of the longest code.
    step
        The characters that each level masks.

    Raises
    ------
    HierarchyError
        The step is not a whole number of at least 1, or leaves no character.

    Examples
    --------
    >>> mask_steps(5, 1), mask_steps(8, 3)
    ([4, 3, 2, 1], [5, 2])
    """
    if not is_whole(step) or step < 1:
        raise HierarchyError("A step masks a whole number of characters, at least 1.")
    if step >= longest:
        raise HierarchyError(
            f"A step of {counted(int(step), 'character')} leaves nothing of codes of at most "
            f"{counted(int(longest), 'character')}; choose a smaller step."
        )
    return list(range(int(longest) - int(step), 0, -int(step)))


def mask(values: Sequence[str], keep: Sequence[int], side: str = "left") -> Hierarchy:
    """Codes whose characters are masked step by step: those that keep the same share a group.

    Where all codes have one length, a star stands for each masked character. Otherwise one star
    stands for whatever is masked, nothing included, as codes of any length may keep the same.

    Parameters
    ----------
    values
        The codes that occur.
    keep
        How many characters stay at each level, from many to few. A shorter code skips the level.
    side
        Which characters stay: the ``"left"`` or the ``"right"`` ones.

    Raises
    ------
    HierarchyError
        ``keep`` does not fall from level to level, or ``side`` is unknown.

    Examples
    --------
    >>> mask(["4711", "4712"], keep=[3, 1]).labels
    ('4711', '4712', '471*', '4***', '*')
    >>> mask(["E11", "E11.9", "E11.72"], keep=[3]).labels
    ('E11', 'E11.72', 'E11.9', 'E11*', '*')
    """
    if side not in ("left", "right"):
        raise HierarchyError(f"The side of a mask is 'left' or 'right', not {str(side)[:40]!r}.")
    if not keep or any(
        isinstance(count, bool) or count != int(count) or count < 1 for count in keep
    ):
        raise HierarchyError(
            "A mask keeps at least 1 character at each level; then comes the root."
        )
    if any(wide <= narrow for wide, narrow in itertools.pairwise(keep)):
        raise HierarchyError("A mask has to keep fewer characters from level to level.")

    texts = sorted(_distinct(values), key=lambda text: text if side == "left" else text[::-1])
    one_length = len(set(map(len, texts))) == 1

    def masked(text: str, count: int) -> str:
        if len(text) < count or (one_length and len(text) == count):
            return text
        hidden = "*" * (len(text) - int(count)) if one_length else "*"
        return text[: int(count)] + hidden if side == "left" else hidden + text[-int(count) :]

    return tree_of_paths([[text, *(masked(text, count) for count in keep)] for text in texts])


def dates(values: Sequence[str], levels: Sequence[str]) -> Hierarchy:
    """Dates (written 2021-03-04) raised to months, quarters, years, decades.

    Parameters
    ----------
    values
        ISO 8601 dates or times, as text; 2021 and 2021-03 count as dates too.
    levels
        Some of day, month, quarter, year, decade, from fine to coarse.

    Raises
    ------
    HierarchyError
        A value is not such a date, or a level is unknown or out of order.

    Examples
    --------
    >>> dates(["2021-03-04", "2021-05-01"], ["quarter", "year"]).labels
    ('2021-03-04', '2021-05-01', '2021-Q1', '2021-Q2', '2021', '*')
    """
    unknown = [level for level in levels if level not in DATE_LEVELS]
    if unknown or not levels:
        raise HierarchyError(
            f"The levels of dates are {', '.join(DATE_LEVELS)}, not {str(unknown or 'none')[:60]}."
        )
    ranks = [DATE_LEVELS.index(level) for level in levels]
    if ranks != sorted(set(ranks)):
        raise HierarchyError("The levels of dates have to go from fine to coarse, each once.")
    parsed = {text: _date(text) for text in _distinct(values)}
    bad = [text for text, value in parsed.items() if value is None]
    if bad:
        raise HierarchyError(
            f"Dates are written like 2021-03-04; {_are(bad)} not ({{cells}}).",
            bad,
        )
    found = [(value, text) for text, value in parsed.items() if value is not None]
    return tree_of_paths(
        [[text, *(_period(v, level) for level in levels)] for v, text in sorted(found)]
    )


def groups(levels: Sequence[Mapping[str, Sequence[str]]]) -> Hierarchy:
    """Groups by hand: each level names groups and their members.

    Members are values or groups of an earlier level. A group that no later level names hangs
    under the root; the name ``*`` is the root itself.

    Raises
    ------
    HierarchyError
        A member stands in two groups, or the groups are no tree.

    Examples
    --------
    >>> groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}]).labels
    ('Cat', 'Lion', 'Dog', 'Felid', '*')
    """
    parent_of: dict[str, str] = {}
    for level in levels:
        for name, members in level.items():
            group = canonical_text(name)
            for member in map(canonical_text, members):
                if member in parent_of:
                    raise HierarchyError(
                        "The member {cells} stands in two groups; it can be in one.", [member]
                    )
                if member == group:
                    raise HierarchyError(
                        "The group {cells} has a member of the same name; rename the group by "
                        "adding ' (group)' to its name.",
                        [member],
                    )
                parent_of[member] = group
    for group in list(dict.fromkeys(parent_of.values())):
        if group != ROOT_LABEL:
            parent_of.setdefault(group, ROOT_LABEL)
    entries = [(member, group, None) for member, group in parent_of.items()]
    return Hierarchy.from_entries([*entries, (ROOT_LABEL, None, None)])


def tree_of_paths(lines: Sequence[Sequence[str]]) -> Hierarchy:
    """The tree of the paths of all values, each from the value to just below the root."""
    if not lines:
        raise HierarchyError("The column has no values to build a hierarchy from.")
    if any(not cells[0] for cells in lines):
        raise HierarchyError("A value is blank; let blank cells count as missing.")
    try:
        return tree_from_lines(("", [*cells, ROOT_LABEL]) for cells in lines)
    except HierarchyError as error:
        raise HierarchyError(
            "A value of the column is called like a group made from other values ({cells}); "
            "choose other levels, or take the hierarchy from a file.",
            error.cells[:1],
        ) from None


def run_label(texts: Sequence[str], first: int, last: int, between: str) -> str:
    """The name of a run of values: one value is itself, all of them are the root."""
    if first == last:
        return texts[first]
    if last - first + 1 == len(texts):
        return ROOT_LABEL
    return f"{texts[first]}{between}{texts[last]}"


def parsed_numbers(texts: list[str]) -> np.ndarray:
    """Texts as numbers, or an error that names those that are none."""
    parsed = numbers(texts)
    if parsed is None:
        bad = [text for text in texts if numbers([text]) is None]
        raise HierarchyError(f"Intervals need numbers; {_are(bad)} not ({{cells}}).", bad)
    return parsed


def is_whole(number: object) -> bool:
    """Whether something is a whole number; true and false are none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(canonical_text, values)))


def _are(values: Sequence[str]) -> str:
    return counted(len(values), "distinct value is", "distinct values are")


def _check_widths(widths: Sequence[float]) -> None:
    if not widths or any(not 0 < width < math.inf for width in widths):
        raise HierarchyError("Intervals need at least one width, each a number above 0.")
    for narrow, wide in itertools.pairwise(widths):
        if wide <= narrow:
            raise HierarchyError(
                f"The width {wide:g} has to be larger than the width {narrow:g} before it."
            )
        times = wide / narrow
        if not math.isfinite(times) or not math.isclose(times, round(times)):
            raise HierarchyError(
                f"The width {wide:g} is not a multiple of the width {narrow:g} before it; "
                "nested intervals need that."
            )


def _interval(
    value: float, width: float, origin: float, whole: bool, bounds: tuple[float, float]
) -> str:
    """The interval of a value, cut off at the bounds beyond which other groups begin."""
    # Rounding undoes noise such as 0.3 / 0.1 = 2.9999999999999996.
    start = origin + math.floor(round((value - origin) / width, 9)) * width
    if not whole:
        # 15 digits are all that a number holds for sure; fewer could give two intervals one name.
        end = f"<{start + width:.15g}" if start + width <= bounds[1] else f"{bounds[1]:.15g}"
        return f"{max(start, bounds[0]):.15g} to {end}"
    low, high = int(start), int(start + width - 1)
    low = low if low >= bounds[0] else math.ceil(bounds[0])
    high = high if high <= bounds[1] else math.floor(bounds[1])
    if low == high:
        return str(low)
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"


def _date(text: str) -> datetime | None:
    for candidate in (text, f"{text}-01", f"{text}-01-01"):
        try:
            return datetime.fromisoformat(candidate).replace(tzinfo=None)
        except ValueError:
            continue
    return None


def _period(value: datetime, level: str) -> str:
    return {
        "day": f"{value:%Y-%m-%d}",
        "month": f"{value:%Y-%m}",
        "quarter": f"{value.year:04d}-Q{(value.month + 2) // 3}",
        "year": f"{value.year:04d}",
        "decade": f"{value.year // 10 * 10:04d}s",
    }[level]
