"""Several hierarchies at once, in memory: files and zips matched to columns, and back."""

import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon.base.formatting import thin
from kanon.base.unzipping import TooLarge, TooMany, Unreadable, unzipped
from kanon.errors import HierarchyError, quoted
from kanon.hierarchy.files import (
    HierarchyFile,
    column_of_json,
    read_hierarchy,
    text_of_file,
    to_csv,
    to_json,
)
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import bytes_of, exceeded, settings

_PREFIX = "hierarchy_"
_LONGEST_SAFE = 50


@dataclass(frozen=True)
class FileResult:
    file: str  # its name in the upload, or inside the zip
    column: str | None = None  # the column that it stands for, or None
    imported: HierarchyFile | None = None  # the hierarchy with its notes, or None
    problem: str | None = None  # what is wrong, in a sentence, or None
    exact: bool = False  # whether the column is the one that is named to the letter


def read_bundle(
    files: Sequence[tuple[str, bytes]], columns: Sequence[str]
) -> tuple[FileResult, ...]:
    """Read hierarchies from CSV, JSON, GraphML and zip files, and match them to columns.

    A file stands for the column that its JSON names, or that its own name ends with: ``age.csv``,
    ``hierarchy_age.csv``, ``adult_hierarchy_age.csv``; the longest column that fits wins. If none
    does, capitals, blanks, underscores and hyphens count as alike. Of a CSV and a JSON for one
    column in one zip the JSON is taken, because it can hold weights.
    """
    found: list[FileResult] = []
    left, nodes = bytes_of("hierarchies_megabytes"), 0
    for name, content in files:
        zipped = _ending(name) == "zip"
        inside = _unzipped(name, content, left) if zipped else [(name, content)]
        if isinstance(inside, FileResult):
            found.append(inside)
            continue
        left -= sum(len(data) for _, data in inside)
        if left < 0:
            found.append(FileResult(name, problem=_too_large(name)))
            break
        read = []
        for member, data in inside:
            too_many = nodes >= settings().hierarchy_nodes
            one = _too_many(member) if too_many else _read_one(member, data, columns)
            nodes += 0 if one.imported is None else one.imported.hierarchy.n_nodes
            read.append(one)
        found += _json_before_csv(read) if zipped else read
    return tuple(_each_column_once(found))


def write_bundle(hierarchies: Mapping[str, Hierarchy]) -> bytes:
    """A zip with a CSV and a JSON (which has the weights and the column's name) per column."""
    out = io.BytesIO()
    taken: set[str] = set()
    with zipfile.ZipFile(out, "w") as archive:
        for column, tree in hierarchies.items():
            name = safe_name(column, taken)
            taken.add(name.casefold())
            for ending, text in (("csv", to_csv(tree)), ("json", to_json(tree, column))):
                member = zipfile.ZipInfo(f"{_PREFIX}{name}.{ending}")  # dated 1980, always
                member.compress_type = zipfile.ZIP_DEFLATED
                member.create_system = 3
                member.external_attr = 0o644 << 16
                archive.writestr(member, text.encode())
    return out.getvalue()


def safe_name(column: str, taken: Collection[str] = ()) -> str:
    """A part of a file name that every system allows, and that no other column has taken.

    >>> safe_name("a/b"), safe_name("a:b", {"a_b"})
    ('a_b', 'a_b 2')
    """
    kept = "".join(mark if mark.isalnum() or mark in "-_. " else "_" for mark in column)
    base = name = kept[:_LONGEST_SAFE]
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{base} {number}"
    return name


def _ending(name: str) -> str:
    return _base(name).rpartition(".")[2].lower()


def _base(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


def _stem(name: str) -> str:
    return re.sub(r"-[0-9a-f]{12}( \(\d+\))?$", "", _base(name).rpartition(".")[0])


# Reading


def _read_one(name: str, content: bytes, columns: Sequence[str]) -> FileResult:
    ending = _ending(name)
    if ending == "zip":
        problem = f"{quoted(_base(name))} is a zip inside a zip; unpack it first."
        return FileResult(name, problem=problem)
    if ending not in ("csv", "json", "graphml"):
        return FileResult(name, problem=f"{quoted(_base(name))} is neither CSV, JSON nor GraphML.")
    try:
        imported = read_hierarchy(content, name)
    except HierarchyError as error:
        return FileResult(name, _column_by_stem(_stem(name), columns), problem=error.sentence)
    named = column_of_json(text_of_file(content, name)) if ending == "json" else None
    column = None if named is None else _column_by_key(named, columns)
    if column is not None:
        return FileResult(name, column, imported, exact=column == named)
    column = _column_by_stem(_stem(name), columns)
    exact = column is not None and _says(_stem(name), column, "_")
    return FileResult(name, column, imported, exact=exact)


def _unzipped(name: str, content: bytes, left: int) -> list[tuple[str, bytes]] | FileResult:
    if len(content) > left:
        return FileResult(name, problem=_too_large(name))
    try:
        members = list(unzipped(content, left, settings().hierarchies_files, _counts))
    except TooLarge:
        return FileResult(name, problem=_too_large(name))
    except TooMany as error:
        has = f"{quoted(_base(name))} has {thin(error.args[0])} members"
        return FileResult(name, problem=exceeded("hierarchies_files", has))
    except Unreadable:
        problem = (
            f"{quoted(_base(name))} cannot be unpacked: it is damaged, locked, no zip, or packed "
            "in another way than the usual one (Deflate)."
        )
        return FileResult(name, problem=problem)
    if not members:
        problem = f"{quoted(_base(name))} holds no CSV, JSON or GraphML file."
        return FileResult(name, problem=problem)
    return members


def _counts(member: str) -> bool:
    """Whether a member of a zip is a file that somebody put there, and not his computer."""
    parts = [part for part in re.split(r"[/\\]", member) if part != "."]
    hidden = any(part == "__MACOSX" or part.startswith(".") for part in parts)
    return bool(parts and parts[-1]) and not hidden


def _too_many(name: str) -> FileResult:
    before = f"{quoted(_base(name))} is not read, load it afterwards: the files before it are large"
    return FileResult(name, problem=exceeded("hierarchy_nodes", before))


def _too_large(name: str) -> str:
    has = f"With {quoted(_base(name))} the upload has more, unpacked"
    return exceeded("hierarchies_megabytes", has)


# Matching


def _column_by_key(named: str, columns: Sequence[str]) -> str | None:
    if named in columns:
        return named
    alike = [column for column in columns if _alike(column) and _alike(column) == _alike(named)]
    return alike[0] if alike else None


def _column_by_stem(stem: str, columns: Sequence[str]) -> str | None:
    """The longest column that a file's name says, to the letter if possible."""
    exact = [column for column in columns if _says(stem, column, "_")]
    if not exact:
        named = _alike(stem)
        exact = [c for c in columns if _alike(c) and _says(named, _alike(c), " ")]
    return max(exact, key=len, default=None)


def _says(stem: str, column: str, between: str) -> bool:
    prefixed = f"hierarchy{between}{column}"
    return stem in (column, prefixed) or stem.endswith(between + prefixed)


def _alike(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _json_before_csv(found: Sequence[FileResult]) -> list[FileResult]:
    """Without each CSV whose column, or whose name, a readable JSON of the same zip has too."""
    better = [one for one in found if one.imported and _ending(one.file) == "json"]
    columns = {one.column for one in better if one.column is not None}
    names = {one.file.rpartition(".")[0] for one in better}
    return [
        one
        for one in found
        if _ending(one.file) != "csv"
        or (one.column not in columns and one.file.rpartition(".")[0] not in names)
    ]


def _each_column_once(found: Sequence[FileResult]) -> Iterator[FileResult]:
    """Of files for one column the first stands for it, those that name it to the letter first."""
    first: dict[str, FileResult] = {}
    for one in sorted(found, key=lambda one: not one.exact):
        if one.imported is not None and one.column is not None:
            first.setdefault(one.column, one)
    for one in found:
        if one.imported is None or one.column is None or first[one.column] is one:
            yield one
            continue
        note = (
            f"It also stands for the column {quoted(one.column)}, which "
            f"{quoted(_base(first[one.column].file))} is taken for."
        )
        imported = replace(one.imported, notes=(*one.imported.notes, note))
        yield replace(one, column=None, imported=imported)
