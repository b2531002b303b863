"""Codes in a hierarchy: cut at separators, then to prefixes, then grouped by ranges of codes."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from kanon.base.checked_json import Strict
from kanon.base.own_files import find_own_file
from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.build import is_whole, tree_of_paths
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy

_NUMBER = re.compile(r"(\D*)(\d+)(?:\s*[-–]\s*(\d+)$)?")
"""The beginning of a code: optional letters, a number, perhaps up to another ("10-19")."""

_AFTER_ALL = "\U0010ffff"
"""Sorts after every character of a code, so that a range includes all that begin with its end."""


class CodeRange(Strict):
    """A range of codes, both ends included, and its name."""

    first: str
    last: str
    name: str

    def _is_inside(self, outer: CodeRange) -> bool:
        return outer.first <= self.first and self.last + _AFTER_ALL <= outer.last + _AFTER_ALL


def build_code_hierarchy(
    values: Sequence[str],
    separators: str = ".",
    prefixes: Sequence[int] = (),
    ranges: Iterable[CodeRange] = (),
) -> Hierarchy:
    """Codes under their beginnings, and these under ranges of codes."""
    spans = list(ranges)
    if not separators.strip() and not prefixes and not spans:
        raise HierarchyError(
            "Choose separators at which to cut the codes, lengths of prefixes, or ranges of codes."
        )
    _check_prefixes(prefixes, spans)
    texts = sorted(dict.fromkeys(map(convert_to_text, values)))
    parts = {text: _split_code(text, separators, prefixes) for text in texts}
    groups = set(itertools.chain.from_iterable(parts.values()))
    shortest = {[text, *parts[text]][-1] for text in texts}
    above = _find_ranges_above(shortest, spans, separators)
    if spans and not any(above.values()):
        raise HierarchyError("No value of the column lies in any of the ranges of codes.")
    paths = []
    for text in texts:
        beginnings = [text, *parts[text]] if text in groups else parts[text]
        names = [f"{part} (group)" if part in parts else part for part in beginnings]
        paths.append([text, *names, *above[[text, *parts[text]][-1]]])
    return tree_of_paths(paths)


def parse_ranges(text: str) -> list[CodeRange]:
    """Read lines ``from;to;name``; without a name the range is called "from–to"."""
    spans: list[CodeRange] = []
    separator = next((sign for sign in ";\t," if sign in text), ";")
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if not any(row) or (not spans and [cell.lower() for cell in row[:2]] == ["from", "to"]):
                continue
            spans.append(_parse_range(row, f"Line {reader.line_num} of the ranges"))
            check_number("nodes", len(spans))
    except csv.Error:
        raise HierarchyError("Write each range of codes as a line from;to;name.") from None
    return spans


def write_ranges(ranges: Iterable[CodeRange]) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(
        [span.first, span.last, span.name] for span in ranges
    )
    return out.getvalue().rstrip("\n")


@cache
def read_icd_10_chapters() -> tuple[CodeRange, ...]:
    """The 22 chapters of the International Classification of Diseases, 10th revision."""
    path = find_own_file("hierarchies", "icd-10", "chapters.csv")
    return tuple(parse_ranges(path.read_text("utf-8")))


def find_outside_ranges(tree: Hierarchy, ranges: Iterable[CodeRange]) -> list[str]:
    """The labels directly under the root of :func:`codes` that are not ranges."""
    names = {convert_to_text(span.name) for span in ranges}
    top = (tree.labels[node] for node in tree.children[tree.root])
    return [label for label in top if label not in names]


def find_values_beyond_names(tree: Hierarchy, ranges: Iterable[CodeRange]) -> dict[str, list[str]]:
    """Per range of :func:`codes`, the values in it whose number lies outside.

    Where all its values are equally long, as postcodes are, only their beginnings count.
    """
    beyond = {}
    for span in ranges:
        first, last = (_NUMBER.fullmatch(span.first.upper()), _NUMBER.fullmatch(span.last.upper()))
        node = tree.node_of.get(convert_to_text(span.name))
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
            beyond[span.name] = values
    return beyond


def _parse_range(row: Sequence[str], place: str) -> CodeRange:
    if len(row) not in (2, 3) or not row[0] or not row[1]:
        raise HierarchyError(f"{place} has to be from;to;name, with two codes and a name.")
    return CodeRange(first=row[0], last=row[1], name="".join(row[2:]) or f"{row[0]}–{row[1]}")


def _check_prefixes(prefixes: Sequence[int], ranges: Sequence[CodeRange]) -> None:
    if any(not is_whole(count) or count < 1 for count in prefixes):
        raise HierarchyError("A prefix has to have a whole number of characters, at least 1.")
    if any(wide <= narrow for wide, narrow in itertools.pairwise(prefixes)):
        raise HierarchyError("Prefixes have to get shorter from level to level.")
    longest = max((len(span.first) for span in ranges), default=0)
    if prefixes and prefixes[-1] < longest:
        raise HierarchyError(
            f"A prefix of {prefixes[-1]} is too short to lie in a range: the ends of the ranges "
            f"have up to {longest} characters. Use longer prefixes, or remove the ranges."
        )


def _split_code(text: str, separators: str, prefixes: Sequence[int]) -> list[str]:
    """Cut a code to its beginnings, from long to short."""
    beginnings = [text]
    marks = "".join(separators.split())
    while True:
        cut = max((beginnings[-1].rfind(mark) for mark in marks), default=-1)
        part = convert_to_text(beginnings[-1][: max(cut, 0)].rstrip(marks or None))
        if not part:
            break
        beginnings.append(part)
    whole = beginnings[-1]
    beginnings += [convert_to_text(whole[: int(count)]) for count in prefixes if count < len(whole)]
    return [part for part in dict.fromkeys(beginnings[1:]) if part]


def _find_ranges_above(
    codes: Iterable[str], ranges: Sequence[CodeRange], separators: str
) -> Mapping[str, list[str]]:
    codes = list(codes)
    digits = _find_number_width(codes, ranges)
    uniform = [_check_range(span, separators, digits) for span in ranges]
    for name, following in itertools.pairwise(sorted(span.name for span in uniform)):
        if name == following:
            raise HierarchyError("Two ranges of codes are called {cells}; rename one.", [name])
    widest_first = sorted(uniform, key=lambda span: span.last + _AFTER_ALL, reverse=True)
    waiting = sorted(widest_first, key=lambda span: span.first)[::-1]
    names_by_code: dict[str, list[str]] = {}
    enclosing: list[CodeRange] = []
    for padded, code in sorted((_fill_number(code.upper(), digits), code) for code in codes):
        while waiting and waiting[-1].first <= padded:
            _add_range(waiting.pop(), enclosing)
        while enclosing and enclosing[-1].last + _AFTER_ALL < padded:
            enclosing.pop()
        names_by_code[code] = [
            span.name for span in reversed(enclosing) if len(padded) >= len(span.first)
        ]
    while waiting:
        _add_range(waiting.pop(), enclosing)
    return names_by_code


def _add_range(span: CodeRange, enclosing: list[CodeRange]) -> None:
    while enclosing and enclosing[-1].last + _AFTER_ALL < span.first:
        enclosing.pop()
    if enclosing and not span._is_inside(enclosing[-1]):
        raise HierarchyError(
            "Two ranges of codes overlap ({cells}). Place one beside or inside the other.",
            [enclosing[-1].name, span.name],
        )
    enclosing.append(span)


def _find_number_width(codes: Iterable[str], ranges: Sequence[CodeRange]) -> int:
    """Find the digits of the longest number, if codes are compared as numbers; else 0."""
    ends = [
        (span.first, span.last)
        for span in ranges
        if span.first.isdecimal() and span.last.isdecimal()
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


def _fill_number(code: str, digits: int) -> str:
    """Pad the number at the start of a code with zeros, so that texts sort as numbers."""
    return re.sub(r"^\d+", lambda number: number[0].zfill(digits), code)


def _check_range(span: CodeRange, separators: str, digits: int) -> CodeRange:
    first = _fill_number(span.first.strip().upper(), digits)
    last = _fill_number(span.last.strip().upper(), digits)
    if not first or len(first) != len(last) or first > last:
        raise HierarchyError(
            "A range of codes has to go from one code to a later one of the same length; {cells} "
            "does not.",
            [f"{span.first}–{span.last}"],
        )
    if set(first + last) & set(separators):
        raise HierarchyError(
            "The ends of a range of codes cannot contain a separator; {cells} does.",
            [f"{span.first}–{span.last}"],
        )
    if not convert_to_text(span.name):
        raise HierarchyError("The range of codes {cells} has no name.", [f"{first}–{last}"])
    return CodeRange(first=first, last=last, name=convert_to_text(span.name))
