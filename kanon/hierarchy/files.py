"""Hierarchy files: CSV (one line per leaf), JSON (nodes with edge weights), and graphs."""

import csv
import io
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon.base.encodings import decode_guessed_text, find_marked_encoding, is_binary
from kanon.base.formatting import count_noun, write_count
from kanon.base.values import MISSING_LABEL, convert_to_text
from kanon.errors import HierarchyError, list_names, quote
from kanon.hierarchy.lines import (
    build_tree_from_lines,
    check_number,
    rename_repeated_names,
    write_tree_lines,
)
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import (
    MEGABYTE,
    describe_exceeded_limit,
    get_byte_limit,
    get_settings,
    read_up_to,
)

SEPARATORS = (";", ",", "\t", "|")
"""The separators of cells, in the order in which they are tried."""

_LEVEL_HEADER = re.compile(r"level[ _-]?\d+", re.IGNORECASE)


@dataclass(frozen=True)
class HierarchyFile:
    """A hierarchy read from a file, and sentences on how the tree differs from the file."""

    hierarchy: Hierarchy
    notes: tuple[str, ...] = ()  # for example that every line skips a level


def read_hierarchy(source: Path | bytes, name: str | None = None) -> HierarchyFile:
    """Read a hierarchy file, CSV, JSON or GraphML by its ending.

    Raises
    ------
    HierarchyError
        The file cannot be read, is too large, or does not describe a tree.
    """
    title = name or (source.name if isinstance(source, Path) else "hierarchy.csv")
    text, notes = _read_text(source, title)
    if title.lower().endswith(".json"):
        return HierarchyFile(parse_json(text), notes)
    if title.lower().endswith(".graphml"):
        from kanon.hierarchy.graphs import parse_graphml  # networkx is for graphs alone

        return HierarchyFile(parse_graphml(text), notes)
    csv_file = parse_csv(text)
    return HierarchyFile(csv_file.hierarchy, (*notes, *csv_file.notes))


def text_of_file(source: Path | bytes, title: str) -> str:
    """The text of a hierarchy file: UTF-8, or the encoding that its mark or its letters show."""
    return _read_text(source, title)[0]


def _read_text(source: Path | bytes, title: str) -> tuple[str, tuple[str, ...]]:
    try:
        most = get_byte_limit("hierarchies_megabytes")
        data, size = read_up_to(most, source) if isinstance(source, Path) else (source, len(source))
        if size > most:
            finding = f"The hierarchy file {quote(title)} has {write_count(size / MEGABYTE)} MB"
            raise HierarchyError(describe_exceeded_limit("hierarchies_megabytes", finding))
        return data.decode(find_marked_encoding(data) or "utf-8").removeprefix("\ufeff"), ()
    except UnicodeDecodeError:
        is_certain = find_marked_encoding(data) or is_binary(data)
        guess = None if is_certain else decode_guessed_text(data)
        if guess is None:
            raise HierarchyError(
                f"The hierarchy file {quote(title)} is not text in a known encoding. Save it as "
                "CSV (UTF-8) or JSON."
            ) from None
        return guess[0], (f"{guess[1].upper()} is a guess: check names with accents.",)
    except (OSError, ValueError):  # a name may hold what no file system takes
        raise HierarchyError(f"The hierarchy file {quote(title)} cannot be opened.") from None


def parse_csv(text: str) -> HierarchyFile:
    """Read lines ``leaf;level 1;…;*``.

    The separator (``;``, ``,``, tab or ``|``) is detected; a header is recognised by cells such as
    "leaf" or "level 1". A repeated cell means that the edge skips the level. As in ARX, a line
    without a value (``;*``) stands for missing cells, and a name may occur at two levels:
    the upper one is called "name (group)" where it is a value too, else "name (level 2)".
    Identical lines count once. The notes report all of this.

    >>> parse_csv("a;A;*\\nb;A;*\\nf;f;*").hierarchy
    <Hierarchy of 5 nodes, 3 leaves, height 3>
    >>> parse_csv("a;a;*\\nb;a;*\\nb;a;*").notes
    ("'a' occurs at two levels; the upper one is called 'a (group)'.", 'Identical lines count \
once; 1 line was left out.')

    Raises
    ------
    HierarchyError
        The lines have different lengths, do not describe a tree, or describe one with more nodes
        than the settings allow.
    """
    if "\0" in text:
        raise HierarchyError("The hierarchy is not a text file. Save it as CSV (UTF-8) or JSON.")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise HierarchyError("The hierarchy file is empty; it needs one line per value.")
    rows, n_duplicates = _split_lines(text)
    if _is_header(rows):
        rows = rows[1:]
    check_number("nodes", len(rows) + 1)
    rows, notes = _place_missing(rows)
    lines = [(f"Line {line}", cells) for line, cells in rows]
    try:
        hierarchy = build_tree_from_lines(lines, limits=True)
    except HierarchyError:
        renaming = rename_repeated_names(lines)
        if renaming is None:
            raise
        lines, new_names = renaming
        hierarchy = build_tree_from_lines(lines, limits=True)
        notes.append(_describe_names(new_names))
    width = len(rows[0][1])
    empty_levels = [
        column
        for column in range(1, width)
        if all(cells[column].strip() == cells[column - 1].strip() for _, cells in rows)
    ]
    notes += [
        f"Level {column} repeats level {column - 1} in every line and was left out."
        for column in empty_levels
    ]
    if n_duplicates:
        left_out = count_noun(n_duplicates, "line was", "lines were")
        notes.append(f"Identical lines count once; {left_out} left out.")
    return HierarchyFile(hierarchy, tuple(notes))


def _place_missing(
    rows: list[tuple[int, list[str]]],
) -> tuple[list[tuple[int, list[str]]], list[str]]:
    blank = next((row for row in rows if not row[1][0].strip()), None)
    if blank is None or not blank[1][-1].strip() or len(rows) < 2:
        return rows, []
    line, cells = blank
    above = [cell.strip() for cell in cells if cell.strip()]
    note = f"Line {line} has no value, so it stands for missing cells, {quote(MISSING_LABEL)}."
    rest = [row for row in rows if row is not blank]
    if set(above) <= {rest[0][1][-1].strip()}:
        return rest, [note]
    full_cells = [MISSING_LABEL]
    for cell in cells[1:]:
        full_cells.append(cell.strip() or full_cells[-1])
    return [(line, full_cells) if row is blank else row for row in rows], [note]


def _describe_names(new_names: dict[str, list[str]]) -> str:
    upper = list_names(itertools.chain.from_iterable(new_names.values()))
    if len(new_names) == 1:
        return f"{list_names(new_names)} occurs at two levels; the upper one is called {upper}."
    names = count_noun(len(new_names), "name")
    return f"{names} occur at several levels; the upper ones are called {upper}."


def to_csv(hierarchy: Hierarchy, separator: str = ";") -> str:
    """Write the lines of a tree: everything but the edge weights.

    >>> print(to_csv(parse_csv("f,f,*\\na,A,*").hierarchy), end="")
    f;f;*
    a;A;*
    """
    lines = write_tree_lines(hierarchy)
    # One cell alone is no hierarchy file; the same label twice is a tree of one node.
    lines = lines if hierarchy.height > 1 else [line * 2 for line in lines]
    if _is_header([(1, lines[0])]) or lines[0][0].startswith("\ufeff"):
        # A value named "leaf" would pass for a header, so a real header is written.
        lines.insert(0, ["leaf", *(f"level {level}" for level in range(1, len(lines[0])))])
    # Unquoted, a bare carriage return would pass for a line end, and a separator that is tried
    # earlier for that of the file.
    risky = ("\r", *SEPARATORS[: SEPARATORS.index(separator)])
    quote_all = any(mark in label for label in hierarchy.labels for mark in risky)
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=separator,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
    )
    writer.writerows(lines)
    return out.getvalue()


def parse_json(text: str) -> Hierarchy:
    """Read ``{"nodes": [{"name", "parent", "weight"}, …]}``; the root has no parent.

    Keys other than ``"nodes"`` are ignored; :func:`column_of_json` reads one of them. Graphs of
    networkx and d3 are read too: see :func:`kanon.hierarchy.graphs.parse_node_link`.

    Raises
    ------
    HierarchyError
        The text is not such an object, does not describe a tree, or describes one with more nodes
        than the settings allow.
    """
    content = _parse_json_text(text)
    nodes = content.get("nodes") if isinstance(content, dict) else None
    if not isinstance(nodes, list):
        raise HierarchyError('A hierarchy in JSON has to be an object with a list "nodes".')
    if _is_node_link(content):
        from kanon.hierarchy.graphs import parse_node_link

        return parse_node_link(content)
    check_number("nodes", len(nodes))
    return parse_nodes(nodes)


def _is_node_link(content: dict[str, Any]) -> bool:
    """Whether JSON is a graph: nodes with an ``id`` beside ``edges``, or the older ``links``."""
    has_edges = any(isinstance(content.get(key), list) for key in ("edges", "links"))
    return has_edges and any(
        isinstance(node, dict) and "id" in node for node in content["nodes"][:1]
    )


def column_of_json(text: str) -> str | None:
    """The column that a hierarchy in JSON names as its own, or None.

    >>> column_of_json('{"column": "age", "nodes": []}')
    'age'
    >>> column_of_json("no JSON") is None
    True
    """
    try:
        content = _parse_json_text(text)
    except HierarchyError:
        return None
    column = content.get("column") if isinstance(content, dict) else None
    return column if isinstance(column, str) else None


def parse_nodes(nodes: list[Any]) -> Hierarchy:
    """Build a tree from the list ``nodes`` of a hierarchy in JSON.

    >>> parse_nodes([{"name": "*"}, {"name": "a", "parent": "*", "weight": 2}]).weight.tolist()
    [2.0, 0.0]
    """
    entries = []
    for position, node in enumerate(nodes, start=1):
        if not isinstance(node, dict) or "name" not in node:
            raise HierarchyError(f'Node {position} has no "name"; every node needs one.')
        unknown = sorted(set(node) - {"name", "parent", "weight"})
        if unknown:
            raise HierarchyError(
                f"Node {position} has the unknown key {{cells}}; "
                "choose from name, parent and weight.",
                [unknown[0]],
            )
        name, parent = node["name"], node.get("parent")
        if not isinstance(name, str | int | float) or not isinstance(
            parent, str | int | float | None
        ):
            raise HierarchyError(
                f"Node {position}: the name has to be text, and the parent the name of a node."
            )
        entries.append((str(name), None if parent is None else str(parent), node.get("weight")))
    tree = Hierarchy.from_entries(entries)
    check_number("levels", tree.height)
    return tree


def to_nodes(hierarchy: Hierarchy) -> list[dict[str, Any]]:
    """The list ``nodes`` of a hierarchy in JSON, parents first."""
    return [
        {"name": label, "parent": parent, **({} if weight is None else {"weight": weight})}
        for label, parent, weight in hierarchy.entries()
    ]


def to_json(hierarchy: Hierarchy, column: str | None = None) -> str:
    """Write a tree with its edge weights, and with the column that it belongs to, if given.

    >>> tree = parse_nodes([{"name": "*"}, {"name": "a", "parent": "*", "weight": 2}])
    >>> parse_json(to_json(tree, "animal")) == tree
    True
    >>> column_of_json(to_json(tree, "animal"))
    'animal'
    """
    content: dict[str, Any] = {} if column is None else {"column": column}
    content["nodes"] = to_nodes(hierarchy)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _parse_json_text(text: str) -> Any:
    try:
        content = json.loads(text, object_pairs_hook=_refuse_repeated_keys)
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HierarchyError(
            "The hierarchy file is not valid text: it contains half a character."
        ) from None
    except (ValueError, RecursionError):
        raise HierarchyError("The hierarchy file is not valid JSON.") from None
    return content


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise HierarchyError(
            "The hierarchy file has the same key twice in one object. Write each key only once."
        )
    return content


def _split_lines(text: str) -> tuple[list[tuple[int, list[str]]], int]:
    """Split into numbered lines by the separator that fits all; count the duplicate lines."""
    best: list[tuple[int, list[str]]] | None = None
    most = get_settings().hierarchy_nodes + 2
    # First with strict quotes: in "a;b","c" the semicolon is no separator.
    for strict, separator in itertools.product((True, False), SEPARATORS):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
        try:
            full = ((reader.line_num, row) for row in reader if any(c.strip() for c in row))
            first_of: dict[tuple[str, ...], tuple[int, list[str]]] = {}
            lines = 0
            for row in full:
                lines += 1
                first_of.setdefault(tuple(map(convert_to_text, row[1])), row)
                # A header and one line more than allowed show that it is too large.
                if len(first_of) == most:
                    break
            rows = list(first_of.values())
        except csv.Error:
            continue
        if not rows:
            raise HierarchyError("The hierarchy file is empty; it needs one line per value.")
        if len(rows[0][1]) > 1:
            width = next((len(cells) for _, cells in rows if cells[0].strip()), 0)
            rows = [(line, _fill_line(cells, width)) for line, cells in rows]
            if all(len(cells) == len(rows[0][1]) for _, cells in rows):
                return rows, lines - len(rows)
            best = best or rows
    if best is None:
        raise HierarchyError(
            "The hierarchy file has one column. Write each line as leaf;level 1;…;* with ; or , "
            "between the cells."
        )
    width = len(best[0][1])
    line, cells = next((line, cells) for line, cells in best if len(cells) != width)
    raise HierarchyError(
        f"Line {line} has {len(cells)} cells and line {best[0][0]} has {width}. "
        "Repeat a cell to skip a level."
    )


def _fill_line(cells: list[str], width: int) -> list[str]:
    """Widen a line without a value to the others' length: ARX writes just ";*"."""
    return ["", *cells[1:], *cells[-1:] * (width - len(cells))] if not cells[0].strip() else cells


def _is_header(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first line has names: "leaf" in front, or levels and another last cell."""
    cells = [cell.strip() for cell in rows[0][1]]
    if cells[0].lower() in ("leaf", "value", "level 0"):
        return True
    levels = cells[1:-1]
    if not levels or len(rows) < 2 or cells[-1] == rows[1][1][-1].strip():
        return False
    return all(_LEVEL_HEADER.fullmatch(cell) for cell in levels)
