"""DuckDB, embedded: Parquet, CSV and DuckDB files that need not fit into memory."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import ibis
import pyarrow as pa

from kanon.base.progress import Progress, no_progress
from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.encodings import decode
from kanon.sources.engine_order import sort_rows
from kanon.sources.engines.duckdb_errors import DUCKDB_ERRORS, duckdb_sentence
from kanon.sources.engines.rows import (
    Rows,
    check_cases,
    chosen_table,
    named,
    parquet_parts,
    parts_here,
    saying,
    sql_name,
    watched,
)
from kanon.sources.engines.settings import duckdb_settings, limit_spilling, scratch
from kanon.sources.first_line import SAMPLE, column_names, names_in_view, read_first_line
from kanon.sources.formats import ENGINE_KINDS, FORMATS, find_format, find_stored_format
from kanon.sources.limits import growing, size_of
from kanon.sources.read_settings import ReadSettings
from kanon.sources.separators import SEPARATORS, check_separator, find_separator, is_padded
from kanon.sources.text_files import without_separator_line
from kanon.stored_classes import PartWork

_SAMPLE = 1 << 20
_ENCODINGS = {"utf-8": "utf-8", "ascii": "utf-8", "iso8859-1": "latin-1"}


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name = address.name
    checked = partial(saying, name, DUCKDB_ERRORS, partial(duckdb_sentence, address))
    with checked():
        connection = ibis.duckdb.connect(":memory:", **duckdb_settings(bool(writes)))
        limit_spilling(connection.raw_sql)
        its = find_stored_format(address)
        opened = _KINDS.get(address.kind if its is None else its.cells)
        if opened is None:
            raise TableError(
                f"{quoted(name)} cannot be read where it is: allowed are Parquet (a file or a "
                "folder), CSV, TSV, DuckDB and SQLite files."
            )
        rows, found, used = opened(connection, address, settings)
        folders = ", ".join(_sql(str(folder.resolve())) for folder in [*writes, *scratch()])
        connection.raw_sql(f"SET allowed_directories=[{folders}]")
        connection.raw_sql("SET enable_progress_bar=true")  # else nobody is told how far it is
        connection.raw_sql("SET enable_progress_bar_print=false")
        connection.raw_sql("SET enable_external_access=false")
        connection.raw_sql("SET lock_configuration=true")
        expression = named(rows(), name)  # from here on a view that reads other files is refused

    def fetch(wanted: Any) -> Any:
        with checked():
            return connection.to_pyarrow(wanted)

    def write(wanted: Any, path: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with checked():
            wanted = _with_tables(connection, sort_rows(wanted, by))
            whole = 100 * _told_in_the_end(connection, wanted)
            watched(
                partial(_write, connection, wanted, path, kind),
                lambda: connection.con.query_progress() / whole,
                connection.con.interrupt,
                progress,
                "Writing the release",
            )

    workspace = _Workspace(connection, checked)
    return Rows(expression, fetch, write, ENGINE_KINDS, found, used, workspace)


class _Workspace:
    """Temporary tables of a connection: in memory, or in ``KANON_SCRATCH`` where that is named."""

    def __init__(self, connection: Any, checked: Callable[[], Any]) -> None:
        self._connection, self._checked = connection, checked

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        name = f"kanon_{uuid4().hex}"
        with self._checked():
            own = _with_tables(self._connection, wanted)
            making = f"CREATE TEMP TABLE {name} AS {self._connection.compile(own)}"
            work, database = partial(self._connection.raw_sql, making), self._connection.con
            done = database.query_progress
            watched(work, lambda: done() / 100, database.interrupt, progress, text)
            _forget_tables(self._connection, own)
            return self._connection.table(name, database=("temp", "main"))

    def drop(self, kept: Any) -> None:
        with self._checked():
            self._connection.raw_sql(f"DROP TABLE IF EXISTS temp.main.{kept.op().name}")

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        connection, name = self._connection, f"kanon_{uuid4().hex}"
        append = partial(_append, connection, name)
        with self._checked():
            connection.con.register(f"{name}_given", schema.empty_table())
            connection.raw_sql(f"CREATE TEMP TABLE {name} AS SELECT * FROM {name}_given")
            connection.con.unregister(f"{name}_given")
            try:
                parts_here(connection.to_pyarrow, append, kept, part, sizes, work, schema, progress)
            except BaseException:
                connection.raw_sql(f"DROP TABLE temp.main.{name}")
                raise
            return connection.table(name, database=("temp", "main"))


def _write(connection: Any, wanted: Any, path: Path, kind: str) -> None:
    if kind == "folder":  # several files would be written side by side, in no order
        path.mkdir()
        connection.to_parquet(wanted, path / "data_0.parquet")
    elif FORMATS[kind].cells == "text":
        connection.to_csv(wanted, path, delimiter=FORMATS[kind].separator or ",")
    else:
        connection.to_parquet(wanted, path)


@contextmanager
def sorted_batches(
    batches: Any, by: Sequence[str], address: Address, total: int, progress: Progress
) -> Iterator[Any]:
    connection = ibis.duckdb.connect(":memory:", **duckdb_settings())
    try:
        with saying(address.name, (duckdb.Error,), partial(duckdb_sentence, address)):
            limit_spilling(connection.raw_sql)
            connection.create_table("rows", schema=ibis.Schema.from_pyarrow(batches.schema))
            done = 0
            for batch in batches:
                _append(connection, "rows", pa.Table.from_batches([batch]))
                done += batch.num_rows
                progress(min(0.99, done / max(total, 1)), "Writing the release")
            yield connection.to_pyarrow_batches(sort_rows(connection.table("rows"), by))
    finally:
        connection.disconnect()


def _append(connection: Any, name: str, rows: pa.Table) -> None:
    connection.con.register(f"{name}_given", rows)
    connection.raw_sql(f"INSERT INTO {name} SELECT * FROM {name}_given")
    connection.con.unregister(f"{name}_given")


def add_table(
    parts: Path,
    target: Address,
    check: Callable[[Any, str], object] = lambda opened, table: None,
    progress: Progress = no_progress,
) -> None:
    """Make a new table of a DuckDB file from Parquet files; all of it or nothing is there then."""
    name = target.path.name
    folder = Address(str(target.path.parent), name)  # the file itself may not be there yet
    new, before = not target.path.exists(), _bytes_of(target.path)
    files = ", ".join(_sql(str(part)) for part in sorted(parts.glob("*.parquet")))
    try:
        with (
            saying(name, DUCKDB_ERRORS, partial(duckdb_sentence, folder)),
            duckdb.connect(str(target.path), config=duckdb_settings(True)) as connection,
        ):
            limit_spilling(connection.execute)
            if _has(connection, target):
                raise _taken(target)
            table = sql_name(str(target.table))
            making = (
                f"CREATE TABLE {table} AS "
                f"SELECT * FROM read_parquet([{files}], hive_partitioning=false)"
            )
            told = growing(progress, target.path, lambda: _bytes_of(target.path) - before)
            text = "Writing the release"
            connection.begin()  # whatever ends this before its end, nothing of the table stays
            work = partial(connection.execute, making)
            watched(work, lambda: 0.0, connection.interrupt, told, text)
            told(1.0, text)
            check(connection, table)
            connection.commit()
    except BaseException:
        if new:
            target.path.unlink(missing_ok=True)
        raise


def check_new_table(target: Address) -> None:
    if has_table(target):
        raise _taken(target)


def has_table(target: Address) -> bool:
    if not target.path.exists():
        return False
    folder = Address(str(target.path.parent), target.path.name)
    with (
        saying(target.path.name, DUCKDB_ERRORS, partial(duckdb_sentence, folder)),
        duckdb.connect(str(target.path), True, duckdb_settings()) as connection,
    ):
        return _has(connection, target)


def _has(connection: Any, target: Address) -> bool:
    listed = connection.execute("SELECT table_name FROM information_schema.tables")
    return (target.table,) in listed.fetchall()


def _taken(target: Address) -> TableError:
    return TableError(
        f"{quoted(target.path.name)} has a table {quoted(target.table)} already: give another name."
    )


def _bytes_of(path: Path) -> int:
    """The bytes of a DuckDB file and of what was not taken over into it yet."""
    return size_of(path) + size_of(path.with_name(f"{path.name}.wal"))


def _with_tables(connection: Any, wanted: Any) -> Any:
    own = {}
    for known in wanted.op().find(ibis.expr.operations.InMemoryTable):
        name = f"{_KNOWN}{uuid4().hex}"
        given = known.data.to_pyarrow(known.schema)
        connection.con.register(f"{name}, given", given)
        cells = [f'"{column}"' for column in given.column_names]
        for j, kind in enumerate(given.schema.types):
            # Joined and written as numbers, not as texts. Its values are those that occur: a type
            # with others would take them into the release.
            if pa.types.is_dictionary(kind) and len(given):
                cell, labels = cells[j], f'"{name}, labels {j}"'
                connection.raw_sql(
                    f"CREATE TYPE {labels} AS ENUM "
                    f'(SELECT DISTINCT {cell} FROM "{name}, given" ORDER BY 1)'
                )
                cells[j] = f"CAST({cell} AS {labels}) AS {cell}"
        connection.raw_sql(
            f'CREATE TEMP TABLE "{name}" AS SELECT {", ".join(cells)} FROM "{name}, given"'
        )
        connection.con.unregister(f"{name}, given")
        own[known] = connection.table(name, database=("temp", "main")).op()
    return wanted.op().replace(own).to_expr()


def _forget_tables(connection: Any, wanted: Any) -> None:
    for table in wanted.op().find(ibis.expr.operations.DatabaseTable):
        if table.name.startswith(_KNOWN):
            connection.raw_sql(f"DROP TABLE IF EXISTS temp.main.{sql_name(table.name)}")


_KNOWN = "kanon: known "


def _told_in_the_end(connection: Any, wanted: Any) -> float:
    """The share that DuckDB calls done when all is: it counts each join as something to come."""
    explained = connection.raw_sql(f"EXPLAIN (FORMAT json) {connection.compile(wanted)}")
    node = json.loads(explained.fetchone()[1])[0]
    joins = 0
    while node["children"]:  # the first one of a join has the rows
        joins += "HASH_JOIN" in node["name"]
        node = node["children"][0]
    return 1 / (1 + joins)


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_Opened = tuple[Callable[[], Any], tuple[str, ...], tuple[str | None, str | None]]
"""What yields the rows once nothing else can be reached; what was found; how a text is read."""


def _parquet(connection: Any, address: Address, settings: ReadSettings) -> _Opened:
    parts = parquet_parts(address)
    files = "[" + ", ".join(_sql(str(part)) for part in parts) + "]"
    # Else a folder called "zip=007" would stand for a column.
    reader = f"read_parquet({files}, hive_partitioning=false)"
    connection.raw_sql(f"CREATE VIEW rows AS SELECT * FROM {reader}")
    connection.raw_sql(f"SET allowed_paths={files}")
    found = f"{len(parts)} Parquet files." if len(parts) > 1 else "A Parquet file."
    return lambda: connection.table("rows"), (found,), (None, None)


def _csv(connection: Any, address: Address, settings: ReadSettings) -> _Opened:
    path, name = address.path.resolve(), address.name
    with path.open("rb") as file:
        content = file.read(_SAMPLE)
    if not content.strip():
        raise TableError(f"{quoted(name)} has no header.")
    if len(content) == _SAMPLE:
        content = content[: content.rfind(b"\n") + 1]
    if not content:
        raise TableError(f"The first line of {quoted(name)} is longer than a megabyte.")
    sample, encoding, _ = decode(content, name, settings.encoding)
    sample, named_separator = without_separator_line(sample)
    separator = (
        settings.separator
        or named_separator
        or find_separator(sample, find_format(path.name).separator)
    )
    if separator is None:
        separator = next(sign for sign in SEPARATORS if sign.encode() not in sample)
    check_separator(separator)
    if encoding not in _ENCODINGS:
        raise TableError(
            f"{quoted(name)} is in the encoding {encoding.upper()}, which cannot be read where the "
            "file is: convert it to UTF-8, or upload it."
        )
    padded = is_padded(sample, separator)
    if padded and b'"' in sample:
        raise TableError(
            f"{quoted(name)} has a blank after every separator and cells in quotes, which cannot "
            "be read where the file is: write it without those blanks, or upload it."
        )
    lines = io.StringIO(sample.decode(), newline="")
    records = islice(csv.reader(lines, delimiter=separator), SAMPLE + 1)
    first = read_first_line(list(records), name, settings.header)
    names, skip = first.names, first.lines_above + (named_separator is not None)
    check_cases(names, name)
    if len(names) == 1:
        raise TableError(
            f"{quoted(name)} has one column alone if {quoted(separator)} separates its cells: "
            "choose another separator, or upload the file."
        )
    columns = ", ".join(f"{_sql(column)}: 'VARCHAR'" for column in names)
    filled = ", ".join(_sql(column) for column in names)
    connection.raw_sql(
        f"CREATE VIEW rows AS SELECT * FROM read_csv({_sql(str(path))}, "
        f"header={not first.is_record}, skip={skip}, hive_partitioning=false, "
        f"auto_detect=false, columns={{{columns}}}, force_not_null=[{filled}], "
        f"delim={_sql(separator)}, quote='\"', escape='\"', strict_mode=true, "
        f"encoding='{_ENCODINGS[encoding]}')"
    )
    connection.raw_sql(f"SET allowed_paths=[{_sql(str(path))}]")
    found = [f"Separator {quoted(separator)} and encoding {encoding.upper()}.", *first.remarks]
    if padded:
        found.append("The blank after every separator was skipped.")

    def rows() -> Any:
        read = connection.table("rows")
        if not padded:
            return read
        return read.select([read[name].re_replace("^ +", "").name(name) for name in names])

    return rows, tuple(found), (separator, encoding)


def _database(connection: Any, address: Address, settings: ReadSettings) -> _Opened:
    connection.raw_sql(f"ATTACH {_sql(str(address.path.resolve()))} AS given (READ_ONLY)")
    listed = connection.raw_sql(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'given' "
        "AND table_schema = 'main' ORDER BY ALL"
    )
    table = chosen_table(address, [name for (name,) in listed.fetchall()])
    found = (f"Table {quoted(table)} of a DuckDB file.",)
    return lambda: _as_it_is(connection, table), found, (None, None)


_SQL = """SELECT name, string_agg(sql, ' ') FROM (
    SELECT database_name, view_name AS name, sql FROM duckdb_views()
    UNION ALL SELECT database_name, table_name, sql FROM duckdb_tables()
    UNION ALL SELECT database_name, function_name, macro_definition FROM duckdb_functions()
) WHERE database_name = 'given' GROUP BY name"""


def _as_it_is(connection: Any, table: str) -> Any:
    """The rows of a table, its texts apart where a collation takes them for the same.

    Sums of whole numbers get the type that a Parquet file has for them. The type of an enumeration
    lists all its values, and would take those of suppressed records along: its cells become texts.
    """
    rows = connection.table(table, database=("given", "main"))
    statements = dict(connection.raw_sql(_SQL).fetchall())
    column_names(names_in_view(rows.columns, table, statements), table)
    listed = connection.con.execute(
        "SELECT column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = 'given' AND schema_name = 'main' AND table_name = ?",
        [table],
    )
    cells = ", ".join(_cell(sql_name(column), kind) for column, kind in listed.fetchall())
    return connection.sql(f"SELECT {cells} FROM given.main.{sql_name(table)}", schema=rows.schema())


_ENUMERATION = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")


def _cell(name: str, kind: str) -> str:
    """A column of some type, as SQL asks for it.

    >>> _cell('"a"', "ENUM('x', 'it''s, y')[]")
    'CAST("a" AS VARCHAR[]) AS "a"'
    """
    if kind == "VARCHAR":
        return f"{name} COLLATE C AS {name}"
    wanted = "DECIMAL(38, 0)" if kind == "HUGEINT" else _ENUMERATION.sub("VARCHAR", kind)
    return name if wanted == kind else f"CAST({name} AS {wanted}) AS {name}"


_KINDS = {"typed": _parquet, "text": _csv, "duckdb": _database}
