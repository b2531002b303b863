"""Any other database that Ibis reaches, by its URL; SQLite files too."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from sqlite3 import Error as SQLiteError
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.engines import sqlite
from kanon.sources.engines.duckdb import sorted_batches
from kanon.sources.engines.rows import Rows, chosen_table, find_sentence, named, saying
from kanon.sources.formats import ENGINE_KINDS, FORMATS
from kanon.sources.read_settings import ReadSettings


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name = address.name
    checked = partial(saying, name, _ERRORS, partial(_said, name))
    with checked():
        if not address.is_url:
            connection = sqlite.connected(address.path)
            table = chosen_table(address, connection.list_tables())
            rows, batches_of = sqlite.rows_of(connection, table, name), sqlite.batches
        else:
            connection = _server(address)
            table = chosen_table(address, connection.list_tables())
            rows, batches_of = connection.table(table), _batches
        rows = named(rows, name)

    def fetch(wanted: Any) -> Any:
        with checked(), batches_of(connection, wanted) as batches:
            return batches.read_all()

    def write(wanted: Any, path: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with checked():
            total = fetch(rows.aggregate(n=rows.count()))["n"][0].as_py()
            with (
                batches_of(connection, wanted) as batches,
                sorted_batches(batches, by, address, int(total), progress) as ordered,
            ):
                _write(ordered, path, kind)

    workspace = None
    if not address.is_url:  # what a server lets be kept there is not known
        workspace = sqlite.TemporaryTables(connection, checked)
    found = (f"Table {quoted(table)} of {quoted(Address(address.place).shown)}.",)
    return Rows(rows, fetch, write, ENGINE_KINDS, found, workspace=workspace, writes_anywhere=True)


def _server(address: Address) -> Any:
    try:
        return ibis.connect(address.place)
    except ValueError:
        raise TableError(
            f"{quoted(address.shown)} cannot be opened: no database with such a URL is known."
        ) from None
    except ImportError as error:
        raise TableError(
            f"{quoted(address.shown)} needs a package that is not installed"
            f" ({error.name or 'a driver'}): see which one on ibis-project.org, and install it "
            "beside kanon."
        ) from None


def _batches(connection: Any, wanted: Any) -> Any:
    return connection.to_pyarrow_batches(wanted, chunk_size=sqlite.BATCH)


def _write(batches: Any, path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
        path = path / "part-0.parquet"
    if kind != "folder" and FORMATS[kind].cells == "text":
        options = pyarrow.csv.WriteOptions(delimiter=FORMATS[kind].separator or ",")
        writer: Any = pyarrow.csv.CSVWriter(path, batches.schema, write_options=options)
    else:
        writer = pyarrow.parquet.ParquetWriter(path, batches.schema)
    with writer:
        for batch in batches:
            writer.write_batch(batch)


class _AnyDriver(type):
    """Tells the errors of database drivers (PEP 249) by their class names, none being imported."""

    def __instancecheck__(cls, error: object) -> bool:
        return any(one.__name__ == "DatabaseError" for one in type(error).__mro__)


class _Driver(Exception, metaclass=_AnyDriver):
    """An error of any driver."""


_ERRORS = (
    SQLiteError, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError, _Driver,
)  # fmt: skip

_SENTENCES = {
    r"hexdigest": (
        "The engine that has {name} cannot make labels for identifiers: let the plan drop them, "
        "without pseudonyms."
    ),
    r"locked|lock wait|lock timeout|deadlock": (
        "{name} is locked by another program, which writes to its database: wait until that has "
        "finished, or close it there, and try again."
    ),
    r"out of memory|malloc of|shared memory|memory limit": (
        "The database has too little memory for {name}: give it more, name fewer columns, or "
        "export the table as Parquet, which DuckDB reads."
    ),
    r":time\b|\btime\(|timetz|time with time zone|time64": (
        "A column of {name} holds times of day, which the engine cannot compare with their "
        "groups: convert it to text in the database, or leave it out."
    ),
    r"connect|closed|terminat|unreachable|timeout": (
        "The connection to {name} was lost, or cannot be made."
    ),
    r"no space left|disk": "The disk is full: nothing was written under the final name.",
    r"malformed|not a database": (
        "{name} cannot be read: it is damaged, locked or another kind of file."
    ),
    r"convert|invalid literal|datatype": (
        "A column of {name} changes its type: every row has to have the same type."
    ),
}
"""What a database says, in small letters, and the sentence for it."""


def _said(name: str, message: str) -> str | None:
    """A sentence for what a database said, which may quote cells."""
    return find_sentence(_SENTENCES, message.lower(), name)
