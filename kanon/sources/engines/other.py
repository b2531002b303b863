"""Any other database that Ibis reaches, by its URL; SQLite files too.

A column of SQLite may hold cells of any type, whatever type it was declared with. So the types are
those of the cells; a column with cells of several types is refused.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import ibis
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.engines.duckdb import sorted_batches
from kanon.sources.engines.rows import (
    Rows,
    chosen_table,
    find_sentence,
    named,
    parts_here,
    saying,
    sql_name,
)
from kanon.sources.first_line import column_names, names_in_view
from kanon.sources.formats import ENGINE_KINDS, FORMATS
from kanon.sources.read_settings import ReadSettings
from kanon.stored_classes import PartWork

BATCH = 65_536  # so many records are fetched at a time
_TYPES = {"integer": "int64", "real": "float64", "text": "string", "blob": "binary"}
_NAMES = {"integer": "whole numbers", "real": "numbers", "text": "texts", "blob": "bytes"}
_EXACT = 2**53  # up to here every whole number is a floating point number as well


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name = address.name
    checked = partial(saying, name, _ERRORS, partial(_said, name))
    with checked():
        if not address.is_url:
            connection = connected(address.path)
            table = chosen_table(address, connection.list_tables())
            rows, batches_of = rows_of(connection, table, name), partial(batches, connection)
        else:
            connection = _server(address)
            table = chosen_table(address, connection.list_tables())
            rows = connection.table(table)
            batches_of = partial(connection.to_pyarrow_batches, chunk_size=BATCH)
        rows = named(rows, name)

    def fetch(wanted: Any) -> Any:
        with checked(), batches_of(wanted) as found:
            return found.read_all()

    def write(wanted: Any, path: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with checked():
            total = fetch(rows.aggregate(n=rows.count()))["n"][0].as_py()
            with (
                batches_of(wanted) as found,
                sorted_batches(found, by, address, int(total), progress) as ordered,
            ):
                _write(ordered, path, kind)

    workspace = None
    if not address.is_url:  # what a server lets be kept there is not known
        workspace = TemporaryTables(connection, checked)
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
    sqlite3.Error, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError,
    _Driver,
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


def connected(path: Path) -> Any:
    """A file, to be read alone and by any thread: a dashboard asks from one after another."""
    place = f"file:{quote(str(path.resolve()))}?mode=ro"
    with path.open("rb") as file:
        logged = file.read(20)[18:] == bytes([2, 2])  # the header of a file with a log
    if logged and not Path(f"{path}-wal").exists():
        place += "&immutable=1"
    connection = sqlite3.connect(place, uri=True, check_same_thread=False)
    connection.execute("PRAGMA temp_store = MEMORY")
    return ibis.sqlite.from_connection(connection)


def rows_of(connection: Any, table: str, name: str) -> Any:
    """The rows of a table, texts apart where a collation takes them for the same."""
    asked = connection.con.execute(f"SELECT * FROM {sql_name(table)} LIMIT 0")
    columns = [column for column, *_ in asked.description]
    statements = connection.con.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL")
    column_names(names_in_view(columns, table, dict(statements)), name)
    kinds = ", ".join(f"typeof({sql_name(column)})" for column in columns)
    ends = ", ".join(f"min({sql_name(column)}), max({sql_name(column)})" for column in columns)
    found = connection.con.execute(
        f"SELECT {kinds}, {ends} FROM {sql_name(table)} GROUP BY {kinds}"
    ).fetchall()
    schema = {}
    for j, column in enumerate(columns):
        least, most = len(columns) + 2 * j, len(columns) + 2 * j + 1
        schema[column] = _type_of(
            {row[j] for row in found},
            all(max(row[most], -row[least]) <= _EXACT for row in found if row[j] == "integer"),
            f"Column {quoted(column)} of {quoted(name)}",
        )
    cells = ", ".join(
        f"{sql_name(column)} COLLATE BINARY AS {sql_name(column)}" for column in columns
    )
    return connection.sql(f"SELECT {cells} FROM {sql_name(table)}", schema=ibis.schema(schema))


def _type_of(kinds: set[str], exact: bool, what: str) -> str:
    kinds = kinds - {"null"}
    if kinds == {"integer", "real"} and exact:
        return "float64"
    if len(kinds) > 1:
        several = " and ".join(_NAMES[kind] for kind in sorted(kinds))
        raise TableError(
            f"{what} changes its type: its cells are {several}. Every row has to have the same "
            "type."
        )
    return _TYPES[next(iter(kinds), "text")]


class TemporaryTables:
    """Temporary tables of a connection: SQLite keeps them in memory, see :func:`connected`."""

    def __init__(self, connection: Any, checked: Callable[[], Any]) -> None:
        self._connection, self._checked = connection, checked

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        name, schema = f"kanon {uuid4().hex}", wanted.as_table().schema()
        with self._checked(), _own_tables(self._connection, wanted) as own:
            query = self._connection.compile(own)
            self._connection.con.execute(f"CREATE TEMP TABLE {sql_name(name)} AS {query}")
            return _table(self._connection, name, schema)

    def drop(self, kept: Any) -> None:
        name = re.search(r'"(kanon [0-9a-f]{32})"', kept.op().query)
        assert name is not None
        with self._checked():
            self._connection.con.execute(f"DROP TABLE IF EXISTS temp.{sql_name(name[1])}")

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        name = f"kanon {uuid4().hex}"

        def fetch(asked: Any) -> pa.Table:
            with batches(self._connection, asked) as found:
                return found.read_all()

        with self._checked():
            _create(self._connection, name, schema.names)
            parts_here(
                fetch, lambda rows: _insert(self._connection, name, rows), kept, part, sizes, work,
                schema, progress,
            )  # fmt: skip
            return _table(self._connection, name, ibis.Schema.from_pyarrow(schema))


def batches(connection: Any, wanted: Any) -> Any:
    """What an expression yields, in batches: cells as they are, never by way of other types."""
    schema = wanted.as_table().schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, _fetched(connection, wanted, schema))


def _fetched(connection: Any, wanted: Any, schema: Any) -> Iterator[Any]:
    with (
        _own_tables(connection, wanted) as own,
        closing(connection.con.execute(connection.compile(own))) as cursor,
    ):
        while some := cursor.fetchmany(BATCH):
            cells = zip(zip(*some, strict=True), schema.types, strict=True)
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, kind) for column, kind in cells], schema=schema
            )


@contextmanager
def _own_tables(connection: Any, wanted: Any) -> Iterator[Any]:
    own, names = {}, []
    try:
        for known in wanted.op().find(ibis.expr.operations.InMemoryTable):
            given, name = known.data.to_pyarrow(known.schema), f"kanon: known {uuid4().hex}"
            names.append(name)
            _create(connection, name, given.column_names)
            _insert(connection, name, given)
            own[known] = _table(connection, name, known.schema).op()
        yield wanted.op().replace(own).to_expr()
    finally:
        for name in names:
            connection.con.execute(f"DROP TABLE temp.{sql_name(name)}")


def _table(connection: Any, name: str, schema: Any) -> Any:
    return connection.sql(f"SELECT * FROM temp.{sql_name(name)}", schema=schema)


def _create(connection: Any, name: str, columns: Sequence[str]) -> None:
    listed = ", ".join(sql_name(column) for column in columns)
    connection.con.execute(f"CREATE TEMP TABLE {sql_name(name)} ({listed})")


def _insert(connection: Any, name: str, given: pa.Table) -> None:
    connection.con.executemany(
        f"INSERT INTO temp.{sql_name(name)} VALUES ({', '.join('?' * given.num_columns)})",
        zip(*(column.to_pylist() for column in given.columns), strict=True),
    )
