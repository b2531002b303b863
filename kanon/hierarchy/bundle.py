"""Several hierarchies at once, in memory: match files and zips to columns, and write them."""

import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon.base.formatting import write_count
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, extract_members
from kanon.errors import HierarchyError, quote
from kanon.hierarchy.files import (
    HierarchyFile,
    column_of_json,
    read_hierarchy,
    text_of_file,
    to_csv,
    to_json,
)
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import describe_exceeded_limit, get_byte_limit, get_settings

_PREFIX = "hierarchy_"
_LONGEST_SAFE = 50


@dataclass(frozen=True)
class FileResult:
    file: str  # its name in the upload, or inside the zip
    column: str | None = None  # the column that it belongs to, or None
    hierarchy_file: HierarchyFile | None = None  # the hierarchy with its notes, or None
    problem: str | None = None  # what is wrong, in a sentence, or None
    exact: bool = False  # whether it names the column exactly


def read_bundle(
    files: Sequence[tuple[str, bytes]], columns: Sequence[str]
) -> tuple[FileResult, ...]:
    """Read hierarchies from CSV, JSON, GraphML and zip files, and match them to columns.

    A file belongs to the column that its JSON names, or that its own name ends with: ``age.csv``,
    ``hierarchy_age.csv``, ``adult_hierarchy_age.csv``; the longest column that fits wins. If none
    does, case and the difference of blanks, underscores and hyphens are ignored. Of a CSV and a
    JSON for one column in one zip, the JSON is taken because it can hold weights.
    """
    results: list[FileResult] = []
    bytes_left, nodes = get_byte_limit("hierarchies_megabytes"), 0
    for name, content in files:
        is_zip = _get_ending(name) == "zip"
        inside = _extract_members(name, content, bytes_left) if is_zip else [(name, content)]
        if isinstance(inside, FileResult):
            results.append(inside)
            continue
        bytes_left -= sum(len(data) for _, data in inside)
        if bytes_left < 0:
            results.append(FileResult(name, problem=_describe_size_limit(name)))
            break
        read = []
        for member, data in inside:
            too_many = nodes >= get_settings().hierarchy_nodes
            result = _refuse_nodes(member) if too_many else _read_member(member, data, columns)
            nodes += 0 if result.hierarchy_file is None else result.hierarchy_file.hierarchy.n_nodes
            read.append(result)
        results += _drop_duplicate_csv(read) if is_zip else read
    return tuple(_keep_first_per_column(results))


def write_bundle(hierarchies: Mapping[str, Hierarchy]) -> bytes:
    """Write a zip with a CSV and a JSON (with the weights and the column's name) per column."""
    out = io.BytesIO()
    names: set[str] = set()
    with zipfile.ZipFile(out, "w") as archive:
        for column, tree in hierarchies.items():
            name = build_safe_name(column, names)
            names.add(name.casefold())
            for ending, text in (("csv", to_csv(tree)), ("json", to_json(tree, column))):
                member = zipfile.ZipInfo(f"{_PREFIX}{name}.{ending}")  # dated 1980, always
                member.compress_type = zipfile.ZIP_DEFLATED
                member.create_system = 3
                member.external_attr = 0o644 << 16
                archive.writestr(member, text.encode())
    return out.getvalue()


def build_safe_name(column: str, used_names: Collection[str] = ()) -> str:
    """A part of a file name that every system allows and no other column uses."""
    safe = "".join(mark if mark.isalnum() or mark in "-_. " else "_" for mark in column)
    base = name = safe[:_LONGEST_SAFE]
    number = 1
    while name.casefold() in used_names:
        number += 1
        name = f"{base} {number}"
    return name


def _get_ending(name: str) -> str:
    return _get_base_name(name).rpartition(".")[2].lower()


def _get_base_name(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


def _get_stem(name: str) -> str:
    return re.sub(r"-[0-9a-f]{12}( \(\d+\))?$", "", _get_base_name(name).rpartition(".")[0])


# Reading


def _read_member(name: str, content: bytes, columns: Sequence[str]) -> FileResult:
    ending = _get_ending(name)
    if ending == "zip":
        problem = f"{quote(_get_base_name(name))} is a zip inside a zip; unpack it first."
        return FileResult(name, problem=problem)
    if ending not in ("csv", "json", "graphml"):
        return FileResult(
            name, problem=f"{quote(_get_base_name(name))} is not a CSV, JSON or GraphML file."
        )
    try:
        hierarchy_file = read_hierarchy(content, name)
    except HierarchyError as error:
        return FileResult(name, _match_stem(_get_stem(name), columns), problem=error.sentence)
    name_in_file = column_of_json(text_of_file(content, name)) if ending == "json" else None
    column = None if name_in_file is None else _match_key(name_in_file, columns)
    if column is not None:
        return FileResult(name, column, hierarchy_file, exact=column == name_in_file)
    column = _match_stem(_get_stem(name), columns)
    exact = column is not None and _matches_column(_get_stem(name), column, "_")
    return FileResult(name, column, hierarchy_file, exact=exact)


def _extract_members(
    name: str, content: bytes, most_bytes: int
) -> list[tuple[str, bytes]] | FileResult:
    if len(content) > most_bytes:
        return FileResult(name, problem=_describe_size_limit(name))
    try:
        members = list(
            extract_members(content, most_bytes, get_settings().hierarchies_files, _is_own_file)
        )
    except TooLarge:
        return FileResult(name, problem=_describe_size_limit(name))
    except TooMany as error:
        finding = f"{quote(_get_base_name(name))} has {write_count(error.args[0])} members"
        return FileResult(name, problem=describe_exceeded_limit("hierarchies_files", finding))
    except Unreadable:
        problem = (
            f"{quote(_get_base_name(name))} cannot be unpacked: it is damaged, encrypted, not a "
            "zip file, or compressed with something other than Deflate. Zip the files again."
        )
        return FileResult(name, problem=problem)
    if not members:
        problem = f"{quote(_get_base_name(name))} has no CSV, JSON or GraphML file."
        return FileResult(name, problem=problem)
    return members


def _is_own_file(member: str) -> bool:
    """Whether a user, not the operating system, put a member into a zip."""
    parts = [part for part in re.split(r"[/\\]", member) if part != "."]
    hidden = any(part == "__MACOSX" or part.startswith(".") for part in parts)
    return bool(parts and parts[-1]) and not hidden


def _refuse_nodes(name: str) -> FileResult:
    label = quote(_get_base_name(name))
    finding = f"{label} was not read because the files before it are large (load it separately)"
    return FileResult(name, problem=describe_exceeded_limit("hierarchy_nodes", finding))


def _describe_size_limit(name: str) -> str:
    finding = f"With {quote(_get_base_name(name))} the upload unpacks to more"
    return describe_exceeded_limit("hierarchies_megabytes", finding)


# Matching


def _match_key(key: str, columns: Sequence[str]) -> str | None:
    if key in columns:
        return key
    alike = [column for column in columns if _fold(column) and _fold(column) == _fold(key)]
    return alike[0] if alike else None


def _match_stem(stem: str, columns: Sequence[str]) -> str | None:
    """Find the longest column that a file's name ends with, exactly if possible."""
    exact = [column for column in columns if _matches_column(stem, column, "_")]
    if not exact:
        folded = _fold(stem)
        exact = [c for c in columns if _fold(c) and _matches_column(folded, _fold(c), " ")]
    return max(exact, key=len, default=None)


def _matches_column(stem: str, column: str, separator: str) -> bool:
    with_prefix = f"hierarchy{separator}{column}"
    return stem in (column, with_prefix) or stem.endswith(separator + with_prefix)


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _drop_duplicate_csv(results: Sequence[FileResult]) -> list[FileResult]:
    """Drop each CSV whose column or name a readable JSON of the same zip has too."""
    better = [file for file in results if file.hierarchy_file and _get_ending(file.file) == "json"]
    columns = {file.column for file in better if file.column is not None}
    names = {file.file.rpartition(".")[0] for file in better}
    return [
        file
        for file in results
        if _get_ending(file.file) != "csv"
        or (file.column not in columns and file.file.rpartition(".")[0] not in names)
    ]


def _keep_first_per_column(results: Sequence[FileResult]) -> Iterator[FileResult]:
    """Keep one file for each column: one that names it exactly, else the first."""
    first: dict[str, FileResult] = {}
    for file in sorted(results, key=lambda file: not file.exact):
        if file.hierarchy_file is not None and file.column is not None:
            first.setdefault(file.column, file)
    for file in results:
        if file.hierarchy_file is None or file.column is None or first[file.column] is file:
            yield file
            continue
        note = (
            f"It also fits the column {quote(file.column)}, but "
            f"{quote(_get_base_name(first[file.column].file))} is used for that column."
        )
        hierarchy_file = replace(file.hierarchy_file, notes=(*file.hierarchy_file.notes, note))
        yield replace(file, column=None, hierarchy_file=hierarchy_file)
