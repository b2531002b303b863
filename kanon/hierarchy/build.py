"""Builders: a hierarchy from the values of a column and a few parameters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import networkx as nx
import numpy as np

from kanon.errors import HierarchyError
from kanon.hierarchy.lines import tree_from_lines
from kanon.hierarchy.tree import ROOT_LABEL, Hierarchy
from kanon.values import canonical_text, numbers
from kanon.words import counted

__all__ = ["DATE_LEVELS", "dates", "from_graph", "groups", "intervals", "mask", "suppression"]

DATE_LEVELS = ("day", "month", "quarter", "year", "decade")
"""The levels that :func:`dates` knows, from fine to coarse."""


def suppression(values: Sequence[str]) -> Hierarchy:
    """Every value directly under the root: keep or lose. Height 2.

    >>> suppression(["F", "M"]).labels
    ('F', 'M', '*')
    """
    return _tree([[value] for value in _distinct(values)])


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
        Numbers below ``lowest`` share one group, numbers above ``highest`` another.

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
    texts = _distinct(values)
    parsed = numbers(texts)
    if parsed is None:
        bad = [text for text in texts if numbers([text]) is None]
        raise HierarchyError(
            f"Intervals need numbers; {_are(bad)} not ({{cells}}).",
            bad,
        )
    _check_widths(widths)
    if not math.isfinite(origin):
        raise HierarchyError("The origin of intervals has to be a finite number.")
    if any(bound is not None and not math.isfinite(bound) for bound in (lowest, highest)):
        raise HierarchyError("The lowest and the highest bound have to be finite numbers.")
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
            lines.append([text, *(_interval(value, width, origin, whole) for width in widths)])
    return _tree(lines)


def mask(values: Sequence[str], keep: Sequence[int], side: str = "left") -> Hierarchy:
    """Codes whose characters are masked step by step.

    Parameters
    ----------
    values
        The codes that occur.
    keep
        How many characters stay at each level, from many to few.
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

    def masked(text: str, count: int) -> str:
        hidden = "*" * max(len(text) - int(count), 0)
        if not hidden:
            return text
        return text[: int(count)] + hidden if side == "left" else hidden + text[-int(count) :]

    texts = sorted(_distinct(values), key=lambda text: text if side == "left" else text[::-1])
    return _tree([[text, *(masked(text, count) for count in keep)] for text in texts])


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
    return _tree([[text, *(_period(v, level) for level in levels)] for v, text in sorted(found)])


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
                    raise HierarchyError("The member {cells} stands in two groups.", [member])
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


def from_graph(graph: nx.DiGraph) -> Hierarchy:
    """A hierarchy from a networkx arborescence with edges parent → child.

    An edge's attribute ``weight`` becomes the edge weight.

    Raises
    ------
    HierarchyError
        The graph is not an arborescence.

    Examples
    --------
    >>> from_graph(nx.DiGraph([("*", "a"), ("*", "b")])).labels
    ('a', 'b', '*')
    """
    if not graph or not nx.is_arborescence(graph):
        raise HierarchyError(
            "The graph is not an arborescence: one root, and one parent for every other node."
        )
    root = next(node for node, degree in graph.in_degree() if degree == 0)
    entries: list[tuple[str, str | None, float | None]] = [(str(root), None, None)]
    for parent, child in nx.dfs_edges(graph, root):
        entries.append((str(child), str(parent), graph.edges[parent, child].get("weight")))
    return Hierarchy.from_entries(entries)


def _tree(lines: Sequence[Sequence[str]]) -> Hierarchy:
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


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(canonical_text, values)))


def _are(values: Sequence[str]) -> str:
    return counted(len(values), "distinct value is", "distinct values are")


def _check_widths(widths: Sequence[float]) -> None:
    if not widths or any(not 0 < width < math.inf for width in widths):
        raise HierarchyError("Intervals need at least one width, each a number above 0.")
    for narrow, wide in itertools.pairwise(widths):
        if wide <= narrow or not math.isclose(wide / narrow, round(wide / narrow)):
            raise HierarchyError(
                f"The width {wide:g} is not a multiple of the width {narrow:g} before it; "
                "nested intervals need that."
            )


def _interval(value: float, width: float, origin: float, whole: bool) -> str:
    # Rounding undoes noise such as 0.3 / 0.1 = 2.9999999999999996.
    start = origin + math.floor(round((value - origin) / width, 9)) * width
    if not whole:
        # 15 digits are all that a number holds for sure; fewer could give two intervals one name.
        return f"{start:.15g} to <{start + width:.15g}"
    low, high = int(start), int(start + width - 1)
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
