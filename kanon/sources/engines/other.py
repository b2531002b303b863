"""Any other database that Ibis reaches, by its URL; SQLite files too.

A column of SQLite may hold cells of any type, whatever its declared type. So the cells decide the
type, and a column with cells of several types is refused.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url
from uuid import uuid4

import ibis
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from kanon.base.data_files import read_data
from kanon.base.progress import Progress
from kanon.errors import TableError, quote
from kanon.sources.addresses import Address
from kanon.sources.engines.duckdb import sort_batches
from kanon.sources.engines.rows import (
    Rows,
    choose_table,
    escape_sql_name,
    find_sentence,
    normalise_columns,
    replace_engine_errors,
    run_parts_here,
)
from kanon.sources.first_line import find_view_names, read_column_names
from kanon.sources.formats import ENGINE_KINDS, FORMATS
from kanon.sources.read_settings import ReadSettings
from kanon.stored_classes import PartWork

BATCH = 65_536  # records that are fetched at a time
_TYPES = {"integer": "int64", "real": "float64", "text": "string", "blob": "binary"}
_NAMES = {"integer": "whole numbers", "real": "numbers", "text": "texts", "blob": "bytes"}
_EXACT = 2**53  # up to here every whole number is a floating point number as well


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name = address.name
    translate_errors = partial(replace_engine_errors, name, _ERRORS, partial(_explain_error, name))
    with translate_errors():
        if not address.is_url:
            connection = open_sqlite(address.path)
            table = choose_table(address, connection.list_tables())
            rows = select_sqlite_rows(connection, table, name)
            batches_of = partial(read_sqlite_batches, connection)
        else:
            connection = _connect_server(address)
            table = choose_table(address, connection.list_tables())
            rows = connection.table(table)
            batches_of = partial(connection.to_pyarrow_batches, chunk_size=BATCH)
        rows = normalise_columns(rows, name)

    def fetch(wanted: Any) -> Any:
        with translate_errors(), batches_of(wanted) as reader:
            return reader.read_all()

    def write(wanted: Any, path: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with translate_errors():
            total = fetch(rows.aggregate(n=rows.count()))["n"][0].as_py()
            with (
                batches_of(wanted) as reader,
                sort_batches(reader, by, address, int(total), progress) as ordered,
            ):
                _write_batches(ordered, path, kind)

    workspace = None
    if not address.is_url:  # a server may not allow temporary tables
        workspace = TemporaryTables(connection, translate_errors)
    notes = (f"Table {quote(table)} of {quote(Address(address.place).shown)}.",)
    return Rows(rows, fetch, write, ENGINE_KINDS, notes, workspace=workspace, writes_anywhere=True)


def _connect_server(address: Address) -> Any:
    try:
        return ibis.connect(address.place)
    except ValueError:
        raise TableError(
            f"{quote(address.shown)} cannot be opened: its URL is not that of a known database."
        ) from None
    except ImportError as error:
        raise TableError(
            f"{quote(address.shown)} needs a package that is not installed"
            f" ({error.name or 'a driver'}): look it up on ibis-project.org, and install it "
            "alongside kanon."
        ) from None


def _write_batches(batches: Any, path: Path, kind: str) -> None:
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


class _DriverErrors(type):
    """Recognises errors of database drivers (PEP 249) by class name, without importing any."""

    def __instancecheck__(cls, error: object) -> bool:
        return any(base.__name__ == "DatabaseError" for base in type(error).__mro__)


class _DriverError(Exception, metaclass=_DriverErrors):
    pass


_ERRORS = (
    sqlite3.Error, OSError, MemoryError, pa.ArrowException, ibis.common.exceptions.IbisError,
    _DriverError,
)  # fmt: skip

_SENTENCES = read_data(__file__)
"""Patterns of database messages in lower case, and the sentence for each."""


def _explain_error(name: str, message: str) -> str | None:
    """A sentence in place of the database's own message, which may quote cells."""
    return find_sentence(_SENTENCES, message.lower(), name)


def open_sqlite(path: Path) -> Any:
    """Open a SQLite file read-only, for any thread: a dashboard asks from several in turn."""
    place = f"file:{quote_url(str(path.resolve()))}?mode=ro"
    with path.open("rb") as file:
        logged = file.read(20)[18:] == bytes([2, 2])  # the header of a file with a log
    if logged and not Path(f"{path}-wal").exists():
        place += "&immutable=1"
    connection = sqlite3.connect(place, uri=True, check_same_thread=False)
    connection.execute("PRAGMA temp_store = MEMORY")
    return ibis.sqlite.from_connection(connection)


def select_sqlite_rows(connection: Any, table: str, name: str) -> Any:
    """The rows of a table, in which texts that a collation treats as equal stay distinct."""
    cursor = connection.con.execute(f"SELECT * FROM {escape_sql_name(table)} LIMIT 0")
    columns = [column for column, *_ in cursor.description]
    statements = connection.con.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL")
    read_column_names(find_view_names(columns, table, dict(statements)), name)
    kinds = ", ".join(f"typeof({escape_sql_name(column)})" for column in columns)
    ends = ", ".join(
        f"min({escape_sql_name(column)}), max({escape_sql_name(column)})" for column in columns
    )
    extremes = connection.con.execute(
        f"SELECT {kinds}, {ends} FROM {escape_sql_name(table)} GROUP BY {kinds}"
    ).fetchall()
    schema = {}
    for j, column in enumerate(columns):
        least, most = len(columns) + 2 * j, len(columns) + 2 * j + 1
        schema[column] = _find_type(
            {row[j] for row in extremes},
            all(max(row[most], -row[least]) <= _EXACT for row in extremes if row[j] == "integer"),
            f"Column {quote(column)} of {quote(name)}",
        )
    names = [escape_sql_name(column) for column in columns]
    cells = ", ".join(f"{name} COLLATE BINARY AS {name}" for name in names)
    query = f"SELECT {cells} FROM {escape_sql_name(table)}"
    return connection.sql(query, schema=ibis.schema(schema))


def _find_type(kinds: set[str], exact: bool, where: str) -> str:
    kinds = kinds - {"null"}
    if kinds == {"integer", "real"} and exact:
        return "float64"
    if len(kinds) > 1:
        several = " and ".join(_NAMES[kind] for kind in sorted(kinds))
        raise TableError(
            f"{where} mixes types: its cells are {several}. Every row must have the same type."
        )
    return _TYPES[next(iter(kinds), "text")]


class TemporaryTables:
    """Temporary tables of a connection: SQLite keeps them in memory, see :func:`connected`."""

    def __init__(self, connection: Any, translate_errors: Callable[[], Any]) -> None:
        self._connection, self._translate_errors = connection, translate_errors

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        name, schema = f"kanon {uuid4().hex}", wanted.as_table().schema()
        with self._translate_errors(), _create_lookup_tables(self._connection, wanted) as own:
            query = self._connection.compile(own)
            self._connection.con.execute(f"CREATE TEMP TABLE {escape_sql_name(name)} AS {query}")
            return _select_all(self._connection, name, schema)

    def drop(self, kept: Any) -> None:
        name = re.search(r'"(kanon [0-9a-f]{32})"', kept.op().query)
        assert name is not None
        with self._translate_errors():
            self._connection.con.execute(f"DROP TABLE IF EXISTS temp.{escape_sql_name(name[1])}")

    def run_by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        name = f"kanon {uuid4().hex}"

        def fetch(rows: Any) -> pa.Table:
            with read_sqlite_batches(self._connection, rows) as reader:
                return reader.read_all()

        with self._translate_errors():
            _create_table(self._connection, name, schema.names)
            run_parts_here(
                fetch, partial(_insert_rows, self._connection, name), kept, part, sizes, work,
                schema, progress,
            )  # fmt: skip
            return _select_all(self._connection, name, ibis.Schema.from_pyarrow(schema))


def read_sqlite_batches(connection: Any, wanted: Any) -> Any:
    """The rows of an expression in batches, cells without a detour through other types."""
    schema = wanted.as_table().schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, _fetch_batches(connection, wanted, schema))


def _fetch_batches(connection: Any, wanted: Any, schema: Any) -> Iterator[Any]:
    with (
        _create_lookup_tables(connection, wanted) as own,
        closing(connection.con.execute(connection.compile(own))) as cursor,
    ):
        while rows := cursor.fetchmany(BATCH):
            cells = zip(zip(*rows, strict=True), schema.types, strict=True)
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, kind) for column, kind in cells], schema=schema
            )


@contextmanager
def _create_lookup_tables(connection: Any, wanted: Any) -> Iterator[Any]:
    replacements, names = {}, []
    try:
        for memory_table in wanted.op().find(ibis.expr.operations.InMemoryTable):
            lookup = memory_table.data.to_pyarrow(memory_table.schema)
            name = f"kanon: known {uuid4().hex}"
            names.append(name)
            _create_table(connection, name, lookup.column_names)
            _insert_rows(connection, name, lookup)
            replacements[memory_table] = _select_all(connection, name, memory_table.schema).op()
        yield wanted.op().replace(replacements).to_expr()
    finally:
        for name in names:
            connection.con.execute(f"DROP TABLE temp.{escape_sql_name(name)}")


def _select_all(connection: Any, name: str, schema: Any) -> Any:
    return connection.sql(f"SELECT * FROM temp.{escape_sql_name(name)}", schema=schema)


def _create_table(connection: Any, name: str, columns: Sequence[str]) -> None:
    listed = ", ".join(escape_sql_name(column) for column in columns)
    connection.con.execute(f"CREATE TEMP TABLE {escape_sql_name(name)} ({listed})")


def _insert_rows(connection: Any, name: str, rows: pa.Table) -> None:
    connection.con.executemany(
        f"INSERT INTO temp.{escape_sql_name(name)} VALUES ({', '.join('?' * rows.num_columns)})",
        zip(*(column.to_pylist() for column in rows.columns), strict=True),
    )
