"""What an engine offers: rows as an expression, results of queries, and written releases."""

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

from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress
from kanon.errors import TableError, list_names, quote
from kanon.sources.addresses import Address
from kanon.sources.first_line import read_column_names
from kanon.sources.formats import FORMATS
from kanon.sources.stored_values import QUERY_PREFIX
from kanon.stored_classes import PartWork

Writer = Callable[[Any, Path, str, Progress, Sequence[str]], None]
"""Writes the rows of an expression to a new path, as ``folder`` (of Parquet files), ``parquet``,
``csv`` or ``tsv``, sorted by :func:`kanon.sources.engine_order.sort_rows`."""


class Workspace(Protocol):
    """Where an engine keeps intermediate tables, out of sight of other users."""

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        """Compute an expression once and keep its rows."""

    def drop(self, kept: Any) -> None:
        """Delete a table that was kept."""

    def run_by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        """Process the rows of each part separately, several parts at once."""


@dataclass(frozen=True, eq=False)
class Rows:
    expression: Any  # the table as an Ibis expression, column names without outer blanks
    fetch: Callable[[Any], Any]  # runs an expression and returns its few rows as an Arrow table
    write: Writer
    kinds: Sequence[str]  # what it can write
    found: tuple[str, ...] = ()  # sentences about how the table was read
    settings: tuple[str | None, str | None] = (None, None)  # separator and encoding of a text file
    workspace: Workspace | None = None
    writes_anywhere: bool = False  # whether ``write`` needs no connection opened for the folder


@contextmanager
def replace_engine_errors(
    name: str, errors: tuple[type[Exception], ...], find_message: Callable[[str], str | None]
) -> Any:
    try:
        with warnings.catch_warnings():  # about the future of an engine's own parts
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except Exception as error:
        # Not "except errors": that would bypass __instancecheck__, which recognises driver errors.
        if not isinstance(error, errors):
            raise
        message = "out of memory" if isinstance(error, MemoryError) else str(error)
        sentence = find_message(message) or (
            f"The engine could not continue with {quote(name)} ({type(error).__name__})."
        )
        raise TableError(sentence) from None


def find_sentence(
    sentences: Mapping[str, str], message: str, name: str, **values: str
) -> str | None:
    matches = (sentence for pattern, sentence in sentences.items() if re.search(pattern, message))
    sentence = next(matches, None)
    return None if sentence is None else sentence.format(name=quote(name), **values)


def run_with_progress(
    work: Callable[[], object],
    measure_progress: Callable[[], float],
    stop: Callable[[], None],
    progress: Progress,
    text: str,
) -> None:
    """Run something in a thread and report its progress five times a second."""
    furthest = 0.0
    with ThreadPoolExecutor(1) as alone:
        running = alone.submit(work)
        try:
            while wait([running], timeout=0.2).not_done:
                furthest = max(furthest, min(measure_progress(), 0.99))
                progress(furthest, text)
        except BaseException:
            stop()
            raise
        running.result()


def run_parts_here(
    fetch: Callable[[Any], pa.Table], append: Callable[[pa.Table], None], kept: Any, part: str,
    sizes: Mapping[int, int], work: PartWork, schema: pa.Schema, progress: Progress,
) -> None:  # fmt: skip
    lock = threading.Lock()

    def process_part(number: int, part_progress: Progress) -> None:
        with lock:
            rows = fetch(kept.filter(kept[part] == number).drop(part))
        result = work(rows, part_progress).cast(schema)
        with lock:
            append(result)

    tasks = [partial(process_part, number) for number in sizes]
    run_side_by_side(tasks, progress, "part", weights=list(sizes.values()))


def choose_table(address: Address, tables: Sequence[str]) -> str:
    if address.table is None and len(tables) == 1:
        return tables[0]
    if address.table in tables:
        return str(address.table)
    if not tables:
        raise TableError(f"The database {quote(address.shown)} has no tables.")
    fault = "has no such table" if address.table else "needs the name of a table after a '#'"
    raise TableError(f"{quote(address.shown)} {fault}: choose from {list_names(tables, most=12)}.")


def normalise_columns(rows: Any, name: str) -> Any:
    columns = read_column_names(rows.columns, name)
    for column, kind in zip(columns, rows.schema().types, strict=True):
        if column.casefold().startswith(QUERY_PREFIX):
            raise TableError(
                f"Column {quote(column)} of {quote(name)} has a name that begins with "
                f"{quote(QUERY_PREFIX)}, which kanon uses for columns of its own: rename it."
            )
        if kind.is_unknown() or kind.is_interval():
            raise TableError(
                f"Column {quote(column)} of {quote(name)} has a type other than text, numbers "
                "or dates: convert it, or leave it out."
            )
    return rows.rename(dict(zip(columns, rows.columns, strict=True)))


def escape_sql_name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def check_cases(columns: Sequence[str], name: str) -> None:
    """Check that no two names differ only by case: the engine takes them for one."""
    known: dict[str, str] = {}
    for column in columns:
        other = known.setdefault(column.casefold(), column)
        if other != column:
            raise TableError(
                f"The columns {quote(other)} and {quote(column)} of {quote(name)} differ only "
                "in upper and lower case, which the engine ignores: rename one, or upload the file."
            )


def list_parquet_parts(address: Address) -> list[Path]:
    """The files of a table: the one at an address, or all in a folder; they must agree.

    Engines would settle differences silently: by the first file, or by what fits all.
    """
    path = address.path.resolve()
    parts = [path]
    if path.is_dir():
        endings = FORMATS["parquet"].endings
        files = (part for part in sorted(path.glob("**/*")) if part.is_file())
        parts = [part for part in files if part.suffix.lower() in endings]
    parts = [
        part
        for part in parts
        if not any(name.startswith((".", "_")) for name in part.relative_to(path).parts)
    ]
    if not parts:
        raise TableError(f"The folder {quote(address.name)} holds no Parquet file.")
    first = _read_column_types(parts[0])
    check_cases(list(first), address.name)
    for part in parts[1:]:
        types = _read_column_types(part)
        for column in {**first, **types}:
            if first.get(column) != types.get(column):
                raise TableError(
                    f"Column {quote(column)} differs between {quote(parts[0].name)} and "
                    f"{quote(part.name)} of {quote(address.name)}: every file must have the same "
                    "columns of the same types."
                )
    return parts


def _read_column_types(part: Path) -> dict[str, Any]:
    try:
        schema = pyarrow.parquet.read_schema(part)
    except (pa.ArrowException, OSError):
        raise TableError(
            f"{quote(part.name)} cannot be read as Parquet: it is damaged, locked or another kind "
            "of file."
        ) from None
    read_column_names(schema.names, part.name)  # as an engine would rename the second of two
    return {
        name: _get_plain_type(kind) for name, kind in zip(schema.names, schema.types, strict=True)
    }


def _get_plain_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind
