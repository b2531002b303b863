"""Codes in a hierarchy: cut at separators, then to prefixes, then joined by ranges of codes."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from kanon.base.checked_json import Strict
from kanon.base.own_files import own_file
from kanon.base.values import canonical_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import is_whole, tree_of_paths
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy

_NUMBER = re.compile(r"(\D*)(\d+)(?:\s*[-–]\s*(\d+)$)?")
"""What a code begins with: perhaps letters, then a number, perhaps to another one ("10-19")."""

_AFTER_ALL = "\U0010ffff"
"""Sorts after every character of a code: so the end of a range holds what begins with it."""


class CodeRange(Strict):
    """A range of codes, both ends included, and what it is called."""

    first: str
    last: str
    name: str

    def _inside(self, other: CodeRange) -> bool:
        return other.first <= self.first and self.last + _AFTER_ALL <= other.last + _AFTER_ALL


def codes(
    values: Sequence[str],
    separators: str = ".",
    prefixes: Sequence[int] = (),
    ranges: Iterable[CodeRange] = (),
) -> Hierarchy:
    """Codes under what they begin with, and that under ranges of codes."""
    given = list(ranges)
    if not separators.strip() and not prefixes and not given:
        raise HierarchyError(
            "Codes need separators to cut them at, lengths of prefixes, or ranges of codes."
        )
    _check_prefixes(prefixes, given)
    texts = sorted(dict.fromkeys(map(canonical_text, values)))
    parts = {text: _parts(text, separators, prefixes) for text in texts}
    groups = set(itertools.chain.from_iterable(parts.values()))
    shortest = {[text, *parts[text]][-1] for text in texts}
    above = _ranges_above(shortest, given, separators)
    if given and not any(above.values()):
        raise HierarchyError("No value of the column lies in one of the ranges of codes.")
    paths = []
    for text in texts:
        beginnings = [text, *parts[text]] if text in groups else parts[text]
        named = [f"{part} (group)" if part in parts else part for part in beginnings]
        paths.append([text, *named, *above[[text, *parts[text]][-1]]])
    return tree_of_paths(paths)


def parse_ranges(text: str) -> list[CodeRange]:
    """Read lines ``from;to;name``; without a name the range is called "from–to"."""
    found: list[CodeRange] = []
    separator = next((sign for sign in ";\t," if sign in text), ";")
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if not any(row) or (not found and [cell.lower() for cell in row[:2]] == ["from", "to"]):
                continue
            found.append(_range(row, f"Line {reader.line_num} of the ranges"))
            check_number("nodes", len(found))
    except csv.Error:
        raise HierarchyError("The ranges of codes are no lines from;to;name.") from None
    return found


def ranges_text(ranges: Iterable[CodeRange]) -> str:
    """The lines that :func:`parse_ranges` reads."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(
        [one.first, one.last, one.name] for one in ranges
    )
    return out.getvalue().rstrip("\n")


@cache
def icd_10_chapters() -> tuple[CodeRange, ...]:
    """The 22 chapters of the International Classification of Diseases, 10th revision."""
    path = own_file("hierarchies", "icd-10", "chapters.csv")
    return tuple(parse_ranges(path.read_text("utf-8")))


def outside_ranges(tree: Hierarchy, ranges: Iterable[CodeRange]) -> list[str]:
    """What stands directly under the root of :func:`codes` without being a range."""
    names = {canonical_text(one.name) for one in ranges}
    top = (tree.labels[node] for node in tree.children[tree.root])
    return [label for label in top if label not in names]


def find_values_beyond_names(tree: Hierarchy, ranges: Iterable[CodeRange]) -> dict[str, list[str]]:
    """Per range of :func:`codes`, the values that stand in it and whose number lies outside.

    Where all its values are equally long, as postcodes are, their beginning alone is meant.
    """
    beyond = {}
    for one in ranges:
        first, last = _NUMBER.fullmatch(one.first.upper()), _NUMBER.fullmatch(one.last.upper())
        node = tree.node_of.get(canonical_text(one.name))
        if not first or not last or node is None or first[1] != last[1]:
            continue
        leaves = tree.labels[tree.first[node] : tree.last[node]]
        numbers = {leaf: match for leaf in leaves if (match := _NUMBER.match(leaf.upper()))}
        alike = len({len(match[2]) for match in numbers.values()}) == 1
        values = [
            leaf
            for leaf, match in numbers.items()
            if (not alike and not int(first[2]) <= int(match[2]) <= int(last[2]))
            or (match[3] and not match[1] and int(match[3]) > int(last[2]))
        ]
        if values:
            beyond[one.name] = values
    return beyond


def _range(row: Sequence[str], place: str) -> CodeRange:
    if len(row) not in (2, 3) or not row[0] or not row[1]:
        raise HierarchyError(f"{place} is not from;to;name, with two codes and a name.")
    return CodeRange(first=row[0], last=row[1], name="".join(row[2:]) or f"{row[0]}–{row[1]}")


def _check_prefixes(prefixes: Sequence[int], ranges: Sequence[CodeRange]) -> None:
    if any(not is_whole(count) or count < 1 for count in prefixes):
        raise HierarchyError("A prefix has a whole number of characters, at least 1.")
    if any(wide <= narrow for wide, narrow in itertools.pairwise(prefixes)):
        raise HierarchyError("Prefixes have to get shorter from level to level.")
    longest = max((len(one.first) for one in ranges), default=0)
    if prefixes and prefixes[-1] < longest:
        raise HierarchyError(
            f"A prefix of {prefixes[-1]} is too short to lie in a range, as the ends of the ranges "
            f"have up to {longest} characters; let no prefix be shorter, or leave the ranges out."
        )


def _parts(text: str, separators: str, prefixes: Sequence[int]) -> list[str]:
    """What a code begins with, from long to short; the same for all that begin with a part."""
    found = [text]
    marks = "".join(separators.split())
    while True:
        cut = max((found[-1].rfind(mark) for mark in marks), default=-1)
        part = canonical_text(found[-1][: max(cut, 0)].rstrip(marks or None))
        if not part:
            break
        found.append(part)
    whole = found[-1]
    found += [canonical_text(whole[: int(count)]) for count in prefixes if count < len(whole)]
    return [part for part in dict.fromkeys(found[1:]) if part]


def _ranges_above(
    codes: Iterable[str], ranges: Sequence[CodeRange], separators: str
) -> Mapping[str, list[str]]:
    codes = list(codes)
    digits = _find_number_width(codes, ranges)
    checked = [_checked(one, separators, digits) for one in ranges]
    for name, following in itertools.pairwise(sorted(one.name for one in checked)):
        if name == following:
            raise HierarchyError("Two ranges of codes are called {cells}; rename one.", [name])
    widest_first = sorted(checked, key=lambda one: one.last + _AFTER_ALL, reverse=True)
    waiting = sorted(widest_first, key=lambda one: one.first)[::-1]
    found: dict[str, list[str]] = {}
    around: list[CodeRange] = []
    for own, code in sorted((_pad_number(code.upper(), digits), code) for code in codes):
        while waiting and waiting[-1].first <= own:
            _enter(waiting.pop(), around)
        while around and around[-1].last + _AFTER_ALL < own:
            around.pop()
        found[code] = [one.name for one in reversed(around) if len(own) >= len(one.first)]
    while waiting:
        _enter(waiting.pop(), around)
    return found


def _enter(one: CodeRange, around: list[CodeRange]) -> None:
    while around and around[-1].last + _AFTER_ALL < one.first:
        around.pop()
    if around and not one._inside(around[-1]):
        raise HierarchyError(
            "Two ranges of codes overlap ({cells}); one has to lie beside or inside the other.",
            [around[-1].name, one.name],
        )
    around.append(one)


def _find_number_width(codes: Iterable[str], ranges: Sequence[CodeRange]) -> int:
    """The digits of the longest number, if numbers are compared as numbers; else 0."""
    ends = [
        (one.first, one.last) for one in ranges if one.first.isdecimal() and one.last.isdecimal()
    ]
    parts = {match[2] for match in map(_NUMBER.match, codes) if match and not match[1]}
    texts = {*itertools.chain.from_iterable(ends), *parts}
    if not ends or any(text[0] == "0" and len(text) > 1 for text in texts):
        return 0
    sizes = set(map(int, parts))
    several = len({len(end) for both in ends for end in both}) > 1
    if several or any(int(a) <= size <= int(b) for a, b in ends for size in sizes):
        return max(map(len, texts))
    return 0


def _pad_number(code: str, digits: int) -> str:
    """A code with zeros before the number that it begins with, so that texts sort as numbers."""
    return re.sub(r"^\d+", lambda number: number[0].zfill(digits), code)


def _checked(one: CodeRange, separators: str, digits: int) -> CodeRange:
    first = _pad_number(one.first.strip().upper(), digits)
    last = _pad_number(one.last.strip().upper(), digits)
    if not first or len(first) != len(last) or first > last:
        raise HierarchyError(
            "A range of codes goes from a code to a later one with as many characters; {cells} "
            "does not.",
            [f"{one.first}–{one.last}"],
        )
    if set(first + last) & set(separators):
        raise HierarchyError(
            "Ranges of codes are of what stands before the first separator; {cells} has one.",
            [f"{one.first}–{one.last}"],
        )
    if not canonical_text(one.name):
        raise HierarchyError("The range of codes {cells} has no name.", [f"{first}–{last}"])
    return CodeRange(first=first, last=last, name=canonical_text(one.name))
