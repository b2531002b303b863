"""What an engine offers: rows as an expression, numbers from it, releases written by it."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon.base.progress import Progress
from kanon.errors import TableError, listing, quoted
from kanon.sources.addresses import Address
from kanon.sources.engines.workspace import Workspace
from kanon.sources.first_line import column_names
from kanon.sources.stored_values import OURS

Writer = Callable[[Any, Path, str, Progress, Sequence[str]], None]
"""Writes what an expression yields to a path where nothing is yet, as ``folder`` (of Parquet
files), ``parquet``, ``csv`` or ``tsv``, sorted by :func:`kanon.sources.engine_order.sort_rows`."""


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
