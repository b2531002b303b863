"""The Parquet files that a table consists of, which have to agree before any engine reads them.

Engines settle differences in silence: by the first file, or by what fits all.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.engines.rows import check_cases
from kanon.sources.first_line import column_names
from kanon.sources.formats import FORMATS


def parquet_parts(address: Address) -> list[Path]:
    """The files of a table: the one at an address, or all in a folder."""
    path = address.path.resolve()
    parts = [path]
    if path.is_dir():
        endings = FORMATS["parquet"].endings
        files = (part for part in sorted(path.glob("**/*")) if part.is_file())
        parts = [part for part in files if part.suffix.lower() in endings]
    parts = [part for part in parts if not _hidden(part.relative_to(path))]
    if not parts:
        raise TableError(f"The folder {quoted(address.name)} holds no Parquet file.")
    first = _columns(parts[0])
    check_cases(list(first), address.name)
    for part in parts[1:]:
        _check_same(address, parts[0], first, part, _columns(part))
    return parts


def _hidden(path: Path) -> bool:
    return any(name.startswith((".", "_")) for name in path.parts)


def _columns(part: Path) -> dict[str, Any]:
    try:
        schema = pyarrow.parquet.read_schema(part)
    except (pa.ArrowException, OSError):
        raise TableError(
            f"{quoted(part.name)} cannot be read as Parquet: it is damaged, locked or another kind "
            "of file."
        ) from None
    column_names(schema.names, part.name)  # as an engine would rename the second of two
    return {name: _plain(kind) for name, kind in zip(schema.names, schema.types, strict=True)}


def _plain(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind


def _check_same(
    address: Address, first: Path, columns: dict[str, Any], part: Path, its: dict[str, Any]
) -> None:
    for column in [*columns, *(name for name in its if name not in columns)]:
        if columns.get(column) == its.get(column):
            continue
        where = f"{quoted(first.name)} and {quoted(part.name)} of {quoted(address.name)}"
        if column in columns and column in its:
            raise TableError(
                f"Column {quoted(column)} changes its type between {where}: every file has to have "
                "the same type."
            )
        raise TableError(
            f"Column {quoted(column)} is in one alone of {where}: every file has to have the same "
            "columns."
        )
