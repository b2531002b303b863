"""What an engine offers: rows as an expression, numbers from it, releases written by it."""

import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet

from kanon.base.parallel import side_by_side
from kanon.base.progress import Progress
from kanon.errors import TableError, listing, quoted
from kanon.sources.addresses import Address
from kanon.sources.first_line import column_names
from kanon.sources.formats import FORMATS
from kanon.sources.stored_values import OURS
from kanon.stored_classes import PartWork

Writer = Callable[[Any, Path, str, Progress, Sequence[str]], None]
"""Writes what an expression yields to a path where nothing is yet, as ``folder`` (of Parquet
files), ``parquet``, ``csv`` or ``tsv``, sorted by :func:`kanon.sources.engine_order.sort_rows`."""


class Workspace(Protocol):
    """Where an engine keeps tables that queries go on from; nobody else sees them."""

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        """Compute what an expression yields, once."""

    def drop(self, kept: Any) -> None:
        """Give up a table that was kept."""

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        """Do some work on the rows of each part by themselves, several parts at once."""


@dataclass(frozen=True, eq=False)
class Rows:
    # the table as an Ibis expression, its columns by their names without outer blanks
    expression: Any
    fetch: Callable[[Any], Any]  # runs an expression and returns its few rows as an Arrow table
    write: Writer  # writes what an expression yields
    kinds: Sequence[str]  # what it can write
    found: tuple[str, ...] = ()  # short sentences for a person, about how the table was read
    # what was found about a text file: separator and encoding
    settings: tuple[str | None, str | None] = (None, None)
    workspace: Workspace | None = None  # where it keeps tables that queries go on from
    # whether ``write`` needs no connection that was opened for the folder
    writes_anywhere: bool = False


@contextmanager
def saying(
    name: str, errors: tuple[type[Exception], ...], said: Callable[[str], str | None]
) -> Any:
    try:
        with warnings.catch_warnings():  # what an engine's own parts will do without one day
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except Exception as error:
        # Not "except errors": that asks no class whether it takes an error of a driver for its own.
        if not isinstance(error, errors):
            raise
        message = "out of memory" if isinstance(error, MemoryError) else str(error)
        sentence = said(message) or (
            f"The engine could not go on with {quoted(name)} ({type(error).__name__})."
        )
        raise TableError(sentence) from None


def find_sentence(sentences: Mapping[str, str], message: str, name: str, **more: str) -> str | None:
    fits = (said for pattern, said in sentences.items() if re.search(pattern, message))
    said = next(fits, None)
    return None if said is None else said.format(name=quoted(name), **more)


def watched(
    work: Callable[[], object],
    done: Callable[[], float],
    stop: Callable[[], None],
    progress: Progress,
    text: str,
) -> None:
    """Run something in a thread and tell how far it is, five times a second."""
    furthest = 0.0
    with ThreadPoolExecutor(1) as alone:
        running = alone.submit(work)
        try:
            while wait([running], timeout=0.2).not_done:
                furthest = max(furthest, min(done(), 0.99))
                progress(furthest, text)
        except BaseException:
            stop()
            raise
        running.result()


def parts_here(
    fetch: Callable[[Any], pa.Table], append: Callable[[pa.Table], None], kept: Any, part: str,
    sizes: Mapping[int, int], work: PartWork, schema: pa.Schema, progress: Progress,
) -> None:  # fmt: skip
    asking = threading.Lock()

    def one(number: int, told: Progress) -> None:
        with asking:
            rows = fetch(kept.filter(kept[part] == number).drop(part))
        found = work(rows, told).cast(schema)
        with asking:
            append(found)

    works = [partial(one, number) for number in sizes]
    side_by_side(works, progress, "part", weights=list(sizes.values()))


def chosen_table(address: Address, tables: Sequence[str]) -> str:
    if address.table is None and len(tables) == 1:
        return tables[0]
    if address.table in tables:
        return str(address.table)
    if not tables:
        raise TableError(f"The database {quoted(address.shown)} has no tables.")
    what = "has no such table" if address.table else "has several tables; name one after a '#'"
    raise TableError(f"{quoted(address.shown)} {what}: it has {listing(tables, most=12)}.")


def named(rows: Any, name: str) -> Any:
    columns = column_names(rows.columns, name)
    for column, kind in zip(columns, rows.schema().types, strict=True):
        if column.casefold().startswith(OURS):
            raise TableError(
                f"Column {quoted(column)} of {quoted(name)} has a name that begins with "
                f"{quoted(OURS)}, as those of kanon's own do: rename it."
            )
        if kind.is_unknown() or kind.is_interval():
            raise TableError(
                f"Column {quoted(column)} of {quoted(name)} has a type whose cells are neither "
                "text, numbers nor dates: convert it, or leave it out."
            )
    return rows.rename(dict(zip(columns, rows.columns, strict=True)))


def sql_name(text: str) -> str:
    """The name of a table or a column as SQL writes it.

    >>> sql_name('a"b')
    '"a""b"'
    """
    return '"' + text.replace('"', '""') + '"'


def check_cases(columns: Sequence[str], name: str) -> None:
    """Check that no two names differ by case alone: the engine takes them for one."""
    known: dict[str, str] = {}
    for column in columns:
        other = known.setdefault(column.casefold(), column)
        if other != column:
            raise TableError(
                f"The columns {quoted(other)} and {quoted(column)} of {quoted(name)} differ by "
                "upper and lower case alone, which cannot be told apart here: rename one, or "
                "upload the file."
            )


def parquet_parts(address: Address) -> list[Path]:
    """The files of a table: the one at an address, or all in a folder; they have to agree.

    Engines settle differences in silence: by the first file, or by what fits all.
    """
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
