"""Hierarchies as lines, one per leaf: ``leaf, level 1, …, root``, for files and builders."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from kanon.base.formatting import write_count
from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import describe_exceeded_limit, get_settings


def check_number(part: Literal["nodes", "levels"], number: int) -> None:
    limit = f"hierarchy_{part}"
    if number > getattr(get_settings(), limit):
        what = f"The hierarchy has {write_count(number)} {part} or more"
        raise HierarchyError(describe_exceeded_limit(limit, what))


def build_tree_from_lines(
    lines: Iterable[tuple[str, Sequence[str]]], limits: bool = False
) -> Hierarchy:
    """Build a tree from ``(place, cells)``; errors name the place."""
    place_of: dict[str, str] = {}
    parent_of: dict[str, str] = {}
    root: str | None = None
    for place, cells in lines:
        path = _read_path(place, cells)
        leaf = path[0]
        if leaf in place_of:
            raise HierarchyError(
                f"{place}: the value {{cells}} is listed a second time (first: {place_of[leaf]}).",
                [leaf],
            )
        place_of[leaf] = place
        if root is None:
            root = path[-1]
        elif path[-1] != root:
            raise HierarchyError(
                f"{place}: the hierarchy has two roots ({{cells}}); "
                "end every line with the same one.",
                [root, path[-1]],
            )
        if limits:
            check_number("nodes", len(parent_of) + len(path))
            check_number("levels", len(path))
        for below, above in itertools.pairwise(path):
            parent = parent_of.setdefault(below, above)
            if parent != above:
                raise HierarchyError(
                    f"{place}: a node has two parents ({{cells}}: the node, then its parents). "
                    "Give the groups different names.",
                    [below, parent, above],
                )
    if root is None:
        raise HierarchyError("The hierarchy has no lines; it needs one line per value.")
    groups = set(parent_of.values()) | {root}
    clash = next((leaf for leaf in place_of if leaf in groups and len(place_of) > 1), None)
    if clash is not None:
        raise HierarchyError(
            f"{place_of[clash]}: {{cells}} is the name of a value and of a group. Rename the "
            "group by adding ' (group)' to its name.",
            [clash],
        )
    entries = [(node, above, None) for node, above in parent_of.items()]
    return Hierarchy.from_entries([*entries, (root, None, None)])


def rename_repeated_names(
    lines: Sequence[tuple[str, Sequence[str]]],
) -> tuple[list[tuple[str, list[str]]], dict[str, list[str]]] | None:
    """Rename names that occur at several levels; returns the lines and the new names by name.

    A level that all members of a group skip is no level of its own. None if the lines are still
    no tree, because a name has two parents at one level.
    """
    rows = [[convert_to_text(cell) for cell in cells] for _, cells in lines]
    root = rows[0][-1] if rows else ""
    members: dict[tuple[int, str], set[tuple[int, str]]] = {}
    parent: dict[tuple[int, str], str] = {}
    for row in rows:
        if len(set(row)) < len([1 for _ in itertools.groupby(row)]) or row[0] in (root, ""):
            return None  # a name above itself
        for column, (below, above) in enumerate(itertools.pairwise(row)):
            if parent.setdefault((column, below), above) != above:
                return None
            members.setdefault((column + 1, above), set()).add((column, below))
    lowest: dict[tuple[int, str], int] = {}  # the lowest level of a node that occurs at several
    levels: dict[str, set[int]] = {}
    for column, label in sorted({*parent, *members}):
        inside = members.get((column, label), set())
        start = lowest[column - 1, label] if (column - 1, label) in inside else column
        # A value cannot be a group that has other members.
        lowest[column, label] = start if start or len(inside) < 2 else column
        levels.setdefault(label, set()).add(lowest[column, label])
    levels.pop(root, None)
    names: dict[tuple[int, str], str] = {}
    new_names: dict[str, list[str]] = {}
    for label, columns in levels.items():
        for column in sorted(columns)[1:]:
            word = "group" if columns == {0, column} else f"level {column}"
            names[column, label] = f"{label} ({word})"
            new_names.setdefault(label, []).append(f"{label} ({word})")
    if {*names.values()} & {*levels}:
        return None
    renamed_rows = [
        [label if label == root else names.get((lowest[column, label], label), label)
         for column, label in enumerate(row)]
        for row in rows
    ]  # fmt: skip
    return [(place, row) for (place, _), row in zip(lines, renamed_rows, strict=True)], new_names


def write_tree_lines(hierarchy: Hierarchy) -> list[list[str]]:
    """Write the lines of a tree, each of length h; column c has the highest node of level <= c."""
    columns = [hierarchy.at_level(c)[: hierarchy.n_leaves] for c in range(hierarchy.height)]
    return [[hierarchy.labels[node] for node in row] for row in np.stack(columns, axis=1).tolist()]


def _read_path(place: str, cells: Sequence[str]) -> list[str]:
    path: list[str] = []
    labels: set[str] = set()
    for cell in cells:
        label = convert_to_text(cell)
        if not label:
            raise HierarchyError(
                f"{place}: a cell is empty. Repeat the cell to its left to skip a level."
            )
        if path and label == path[-1]:
            continue
        if label in labels:
            raise HierarchyError(
                f"{place}: {{cells}} is above itself; a path has to rise to the root.", [label]
            )
        path.append(label)
        labels.add(label)
    return path
