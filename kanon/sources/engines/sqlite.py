"""SQLite files. A column of theirs may hold cells of any type, whatever type it was declared with.

So the types are those of the cells; a column with cells of several types is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import ibis
import pyarrow as pa

from kanon.errors import TableError, quoted
from kanon.sources.engines.rows import sql_name

BATCH = 65_536
"""So many records are fetched at a time."""

_TYPES = {"integer": "int64", "real": "float64", "text": "string", "blob": "binary"}
_NAMES = {"integer": "whole numbers", "real": "numbers", "text": "texts", "blob": "bytes"}

_EXACT = 2**53
"""Up to here every whole number is a floating point number as well."""


def connected(path: Path) -> Any:
    """A file, to be read alone and by any thread: a dashboard asks from one after another.

    Nothing is written: neither what is sorted, nor a log beside a file that is kept with one.
    """
    place = f"file:{quote(str(path.resolve()))}?mode=ro"
    with path.open("rb") as file:
        logged = file.read(20)[18:] == bytes([2, 2])  # the header of a file with a log
    if logged and not Path(f"{path}-wal").exists():
        place += "&immutable=1"
    connection = sqlite3.connect(place, uri=True, check_same_thread=False)
    connection.execute("PRAGMA temp_store = MEMORY")
    return ibis.sqlite.from_connection(connection)


def rows_of(connection: Any, table: str, name: str) -> Any:
    """The rows of a table, texts apart where a collation takes them for the same.

    Parameters
    ----------
    connection
        See :func:`connected`.
    table, name
        The table, and what it is called in messages.

    Raises
    ------
    TableError
        A column holds cells of several types.
    """
    asked = connection.con.execute(f"SELECT * FROM {sql_name(table)} LIMIT 0")
    columns = [column for column, *_ in asked.description]
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
    """The type of a column whose cells are of some kinds.

    Parameters
    ----------
    kinds
        What SQLite calls the types of its cells.
    exact
        Whether all its whole numbers are floating point numbers as well.
    """
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


def batches(connection: Any, wanted: Any) -> Any:
    """What an expression yields, in batches: cells as they are, never by way of other types."""
    schema = wanted.as_table().schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, _fetched(connection, wanted, schema))


def _fetched(connection: Any, wanted: Any, schema: Any) -> Iterator[Any]:
    own, names = {}, []
    for known in wanted.op().find(ibis.expr.operations.InMemoryTable):
        names.append(f"kanon: known {uuid4().hex}")
        own[known] = _put(connection, names[-1], known).op()
    query = connection.compile(wanted.op().replace(own).to_expr())
    try:
        with closing(connection.con.execute(query)) as cursor:
            while some := cursor.fetchmany(BATCH):
                cells = zip(zip(*some, strict=True), schema.types, strict=True)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(column, kind) for column, kind in cells], schema=schema
                )
    finally:
        for name in names:
            connection.con.execute(f"DROP TABLE temp.{sql_name(name)}")


def _put(connection: Any, name: str, known: Any) -> Any:
    """A table from outside as one of the connection's own, in memory."""
    given = known.data.to_pyarrow(known.schema)
    columns = [sql_name(column) for column in given.column_names]
    connection.con.execute(f"CREATE TEMP TABLE {sql_name(name)} ({', '.join(columns)})")
    connection.con.executemany(
        f"INSERT INTO {sql_name(name)} VALUES ({', '.join('?' * len(columns))})",
        zip(*(column.to_pylist() for column in given.columns), strict=True),
    )
    return connection.sql(f"SELECT * FROM temp.{sql_name(name)}", schema=known.schema)
