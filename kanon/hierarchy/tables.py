"""Hierarchies as tables to edit and paste, with a row per leaf or a row per edge."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.edit import with_weights
from kanon.hierarchy.files import SEPARATORS, HierarchyFile, parse_csv
from kanon.hierarchy.lines import build_tree_from_lines, check_number, write_tree_lines
from kanon.hierarchy.tree import LARGEST_WEIGHT, Hierarchy

_EDGE_COLUMNS = ("parent", "child", "weight")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


def build_level_table(tree: Hierarchy) -> pd.DataFrame:
    """One row per leaf: the leaf, and in "level c" the highest node above it of level <= c."""
    columns = ["leaf", *(f"level {level}" for level in range(1, tree.height))]
    return pd.DataFrame(write_tree_lines(tree), columns=columns, dtype=object)


def read_level_table(table: pd.DataFrame, weights_from: Hierarchy | None = None) -> Hierarchy:
    cells = [[_read_cell(cell) for cell in row] for row in table.itertuples(index=False, name=None)]
    used = [column for column in range(table.shape[1]) if any(row[column] for row in cells)]
    rows = [
        (f"Row {place}", [row[column] for column in used])
        for place, row in enumerate(cells, start=1)
        if any(row)
    ]
    if not rows:
        raise HierarchyError("The table has no rows. Add one per value.")
    root = next(row[-1] for _, row in rows if row[-1])
    tree = build_tree_from_lines((place, list(_fill_row(row, root))) for place, row in rows)
    if weights_from is None or weights_from.weight is None or tree.n_nodes == 1:
        return tree
    return with_weights(tree, _keep_weights(tree, weights_from, weights_from.weight))


def find_new_edges(tree: Hierarchy, before: Hierarchy) -> list[str]:
    old = {label: above for label, above, _ in before.entries()}
    return [
        tree.labels[node]
        for node in range(tree.root)
        if old.get(tree.labels[node]) != tree.labels[tree.parent[node]]
    ]


def build_edge_table(tree: Hierarchy, weights: np.ndarray | None = None) -> pd.DataFrame:
    """One row per edge, parents first; siblings in their order."""
    weight_array = tree.weight if weights is None else weights
    rows: list[tuple[str, str, float]] = []
    for label, above, _ in tree.entries():
        if above is not None or tree.n_nodes == 1:
            weight = np.nan if weight_array is None else float(weight_array[tree.node_of[label]])
            rows.append((above or "", label, weight))
    return pd.DataFrame(rows, columns=list(_EDGE_COLUMNS)).astype({"weight": np.float64})


def read_edge_table(table: pd.DataFrame) -> Hierarchy:
    place = {_read_cell(name).casefold(): column for column, name in enumerate(table.columns)}
    absent = [name for name in ("parent", "child") if name not in place]
    if absent:
        raise HierarchyError(
            f'The table has no column "{absent[0]}". It needs "parent" and "child", and may have '
            '"weight".'
        )
    columns = [place[name] for name in _EDGE_COLUMNS if name in place]
    rows = table.iloc[:, columns].itertuples(index=False, name=None)
    return _build_from_edges((f"Row {row}", cells) for row, cells in enumerate(rows, start=1))


def read_pasted_tree(text: str) -> HierarchyFile:
    """Build the tree of a text pasted from a spreadsheet or an editor.

    With a header that names parent and child (and perhaps weight) it has a row per edge; otherwise
    a row per value, as in a CSV file.
    """
    edge_header = _find_edge_header(text)
    if edge_header is None:
        return parse_csv(text)
    separator, header = edge_header
    order = [header.index(name) for name in _EDGE_COLUMNS if name in header]
    return HierarchyFile(_build_from_edges(_read_edge_lines(text, separator, len(header), order)))


def parse_weight(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text.strip()) else -1.0
    if not 0 <= number <= LARGEST_WEIGHT:
        raise HierarchyError(
            "The weight {cells} is not allowed. Enter a number from 0 to "
            f"{LARGEST_WEIGHT:g}, with a decimal point if needed.",
            [text.strip()],
        )
    return number


# Rows per leaf


def _read_cell(cell: Any) -> str:
    """Read a cell as text; None, NaN and the like are blank."""
    if isinstance(cell, str):
        return convert_to_text(cell)
    return "" if cell is None or bool(pd.isna(cell)) else convert_to_text(cell)


def _fill_row(row: list[str], root: str) -> Iterator[str]:
    """Fill blank cells from the left; a blank first cell stays, and is an error later."""
    last = row[0]
    for cell in row[:-1]:
        last = cell or last
        yield last
    yield row[-1] or root


def _keep_weights(tree: Hierarchy, old: Hierarchy, old_weights: np.ndarray) -> np.ndarray:
    """Take the old weight of each edge, else that of its heaviest sibling, else 1."""
    before = {label: (above, weight) for label, above, weight in old.entries()}
    weights = np.full(tree.n_nodes, np.nan)
    heaviest: dict[int, float] = {}
    for node in range(tree.root):
        parent = int(tree.parent[node])
        above, weight = before.get(tree.labels[node], (None, None))
        if weight is not None and above == tree.labels[parent]:
            weights[node] = weight
            heaviest[parent] = max(heaviest.get(parent, 0.0), weight)
    for node in np.flatnonzero(np.isnan(weights)).tolist():
        weights[node] = heaviest.get(int(tree.parent[node]), 1.0)
    return weights


# Rows per edge


def _build_from_edges(rows: Iterable[tuple[str, tuple[Any, ...]]]) -> Hierarchy:
    """Build the tree of ``(place, (parent, child[, weight]))``; errors name the place."""
    place_of: dict[str, str] = {}
    parent_of: dict[str, str | None] = {}
    weight_of: dict[str, float | None] = {}
    for place, cells in rows:
        parent, child, weight = (*map(_read_cell, cells), "")[:3]
        if not parent and not child and not weight:
            continue
        if not child:
            raise HierarchyError(f"{place}: the child is blank; every edge needs one.")
        if child in place_of:
            raise HierarchyError(
                f"{place}: {{cells}} is listed as a child a second time (first: "
                f"{place_of[child]}); every node has one parent.",
                [child],
            )
        if child == parent:
            raise HierarchyError(f"{place}: {{cells}} is its own parent.", [child])
        place_of[child], parent_of[child] = place, parent or None
        try:
            weight_of[child] = parse_weight(weight) if weight else None
        except HierarchyError as error:
            raise error.add_place(place) from None
    if not place_of:
        raise HierarchyError("The table has no rows. Add one per edge.")
    _add_root(place_of, parent_of)
    try:
        return Hierarchy.from_entries((x, up, weight_of.get(x)) for x, up in parent_of.items())
    except HierarchyError as error:
        first = place_of.get(str(error.cells[0])) if error.cells else None
        raise (error if first is None else error.add_place(first)) from None


def _add_root(place_of: Mapping[str, str], parent_of: dict[str, str | None]) -> None:
    """Find the one node without a parent; if there is none, the parents form a cycle."""
    roots: list[str] = []
    for child, parent in list(parent_of.items()):
        if parent is None:
            roots.append(child)
        elif parent not in parent_of:
            parent_of[parent] = None
            roots.append(parent)
        if len(roots) > 1:
            raise HierarchyError(
                f"{place_of[child]}: the tree would have two roots ({{cells}}). Make one of them "
                "a child.",
                roots[:2],
            )


# Pasted text


def _find_edge_header(text: str) -> tuple[str, list[str]] | None:
    for separator in SEPARATORS:
        _, cells = next(_read_rows(text.removeprefix("\ufeff"), separator), (0, []))
        names = [cell.strip().casefold() for cell in cells]
        has_edge_names = len(set(names)) == len(names) and set(names) <= set(_EDGE_COLUMNS)
        if has_edge_names and {"parent", "child"} <= set(names):
            return separator, names
    return None


def _read_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        yield from ((reader.line_num, row) for row in reader if any(cell.strip() for cell in row))
    except csv.Error:
        raise HierarchyError(
            "The text cannot be read as a table: a cell is too long, or a quote is not closed."
        ) from None


def _read_edge_lines(
    text: str, separator: str, width: int, order: list[int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    lines = _read_rows(text, separator)
    next(lines)
    for number, (line, cells) in enumerate(lines):
        check_number("nodes", number + 2)  # the root has no edge above it
        if len(cells) > width:
            raise HierarchyError(
                f"Line {line} has {len(cells)} cells and the header has {width}. Put cells that "
                "contain the separator in quotes."
            )
        row = [*cells, *[""] * (width - len(cells))]
        yield f"Line {line}", tuple(row[place] for place in order)
