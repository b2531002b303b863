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

from kanon.base.progress import Progress, ignore_progress
from kanon.errors import TableError, quote
from kanon.sources.addresses import Address
from kanon.sources.encodings import decode
from kanon.sources.engine_order import sort_rows
from kanon.sources.engines.duckdb_errors import DUCKDB_ERRORS, explain_duckdb_error
from kanon.sources.engines.rows import (
    Rows,
    check_cases,
    choose_table,
    escape_sql_name,
    list_parquet_parts,
    normalise_columns,
    replace_engine_errors,
    run_parts_here,
    run_with_progress,
)
from kanon.sources.engines.settings import (
    get_duckdb_settings,
    list_scratch_folders,
    set_spilling_limit,
)
from kanon.sources.first_line import SAMPLE, find_view_names, read_column_names, read_first_line
from kanon.sources.formats import ENGINE_KINDS, FORMATS, find_format, find_stored_format
from kanon.sources.limits import limit_growth, measure_path
from kanon.sources.read_settings import ReadSettings
from kanon.sources.separators import SEPARATORS, check_separator, find_separator, is_padded
from kanon.sources.text_files import strip_separator_line
from kanon.stored_classes import PartWork

_SAMPLE = 1 << 20
_ENCODINGS = {"utf-8": "utf-8", "ascii": "utf-8", "iso8859-1": "latin-1"}


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name = address.name
    translate_errors = partial(
        replace_engine_errors, name, DUCKDB_ERRORS, partial(explain_duckdb_error, address)
    )
    with translate_errors():
        connection = ibis.duckdb.connect(":memory:", **get_duckdb_settings(bool(writes)))
        set_spilling_limit(connection.raw_sql)
        table_format = find_stored_format(address)
        opener = _OPENERS.get(address.kind if table_format is None else table_format.cells)
        if opener is None:
            raise TableError(
                f"{quote(name)} cannot be read where it is stored: choose a Parquet file or "
                "folder, or a CSV, TSV, DuckDB or SQLite file."
            )
        rows, remarks, text_settings = opener(connection, address, settings)
        folders = ", ".join(
            _quote_sql(str(folder.resolve())) for folder in [*writes, *list_scratch_folders()]
        )
        connection.raw_sql(f"SET allowed_directories=[{folders}]")
        connection.raw_sql("SET enable_progress_bar=true")  # else query_progress stays empty
        connection.raw_sql("SET enable_progress_bar_print=false")
        connection.raw_sql("SET enable_external_access=false")
        connection.raw_sql("SET lock_configuration=true")
        # From here on a view that reads other files is refused.
        expression = normalise_columns(rows(), name)

    def fetch(wanted: Any) -> Any:
        with translate_errors():
            return connection.to_pyarrow(wanted)

    def write(wanted: Any, path: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with translate_errors():
            wanted = _create_lookup_tables(connection, sort_rows(wanted, by))
            whole = 100 * _estimate_final_progress(connection, wanted)
            run_with_progress(
                partial(_write_rows, connection, wanted, path, kind),
                lambda: connection.con.query_progress() / whole,
                connection.con.interrupt,
                progress,
                "Writing the release",
            )

    workspace = _DuckdbWorkspace(connection, translate_errors)
    return Rows(expression, fetch, write, ENGINE_KINDS, remarks, text_settings, workspace)


class _DuckdbWorkspace:
    """Temporary tables of a connection: in memory, or in ``KANON_SCRATCH`` if that is set."""

    def __init__(self, connection: Any, translate_errors: Callable[[], Any]) -> None:
        self._connection, self._translate_errors = connection, translate_errors

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        name = f"kanon_{uuid4().hex}"
        with self._translate_errors():
            own = _create_lookup_tables(self._connection, wanted)
            statement = f"CREATE TEMP TABLE {name} AS {self._connection.compile(own)}"
            work, database = partial(self._connection.raw_sql, statement), self._connection.con
            get_progress = database.query_progress
            run_with_progress(
                work, lambda: get_progress() / 100, database.interrupt, progress, text
            )
            _drop_lookup_tables(self._connection, own)
            return self._connection.table(name, database=("temp", "main"))

    def drop(self, kept: Any) -> None:
        with self._translate_errors():
            self._connection.raw_sql(f"DROP TABLE IF EXISTS temp.main.{kept.op().name}")

    def run_by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        connection, name = self._connection, f"kanon_{uuid4().hex}"
        append = partial(_append_rows, connection, name)
        with self._translate_errors():
            connection.con.register(f"{name}_given", schema.empty_table())
            connection.raw_sql(f"CREATE TEMP TABLE {name} AS SELECT * FROM {name}_given")
            connection.con.unregister(f"{name}_given")
            try:
                run_parts_here(
                    connection.to_pyarrow, append, kept, part, sizes, work, schema, progress
                )
            except BaseException:
                connection.raw_sql(f"DROP TABLE temp.main.{name}")
                raise
            return connection.table(name, database=("temp", "main"))


def _write_rows(connection: Any, wanted: Any, path: Path, kind: str) -> None:
    if kind == "folder":  # one file: several written at once would have no order
        path.mkdir()
        connection.to_parquet(wanted, path / "data_0.parquet")
    elif FORMATS[kind].cells == "text":
        connection.to_csv(wanted, path, delimiter=FORMATS[kind].separator or ",")
    else:
        connection.to_parquet(wanted, path)


@contextmanager
def sort_batches(
    batches: Any, by: Sequence[str], address: Address, total: int, progress: Progress
) -> Iterator[Any]:
    connection = ibis.duckdb.connect(":memory:", **get_duckdb_settings())
    try:
        with replace_engine_errors(
            address.name, (duckdb.Error,), partial(explain_duckdb_error, address)
        ):
            set_spilling_limit(connection.raw_sql)
            connection.create_table("rows", schema=ibis.Schema.from_pyarrow(batches.schema))
            records = 0
            for batch in batches:
                _append_rows(connection, "rows", pa.Table.from_batches([batch]))
                records += batch.num_rows
                progress(min(0.99, records / max(total, 1)), "Writing the release")
            yield connection.to_pyarrow_batches(sort_rows(connection.table("rows"), by))
    finally:
        connection.disconnect()


def _append_rows(connection: Any, name: str, rows: pa.Table) -> None:
    connection.con.register(f"{name}_given", rows)
    connection.raw_sql(f"INSERT INTO {name} SELECT * FROM {name}_given")
    connection.con.unregister(f"{name}_given")


def add_table(
    parts: Path,
    target: Address,
    check: Callable[[Any, str], object] = lambda opened, table: None,
    progress: Progress = ignore_progress,
) -> None:
    """Make a new table of a DuckDB file from Parquet files, completely or not at all."""
    name = target.path.name
    folder = Address(str(target.path.parent), name)  # the file itself may not be there yet
    new, before = not target.path.exists(), _measure_file(target.path)
    files = ", ".join(_quote_sql(str(part)) for part in sorted(parts.glob("*.parquet")))
    try:
        with (
            replace_engine_errors(name, DUCKDB_ERRORS, partial(explain_duckdb_error, folder)),
            duckdb.connect(str(target.path), config=get_duckdb_settings(True)) as connection,
        ):
            set_spilling_limit(connection.execute)
            if _has_listed_table(connection, target):
                raise _build_taken_error(target)
            table = escape_sql_name(str(target.table))
            statement = (
                f"CREATE TABLE {table} AS "
                f"SELECT * FROM read_parquet([{files}], hive_partitioning=false)"
            )
            report = limit_growth(
                progress, target.path, lambda: _measure_file(target.path) - before
            )
            text = "Writing the release"
            connection.begin()  # if this is interrupted, nothing of the table stays
            work = partial(connection.execute, statement)
            run_with_progress(work, lambda: 0.0, connection.interrupt, report, text)
            report(1.0, text)
            check(connection, table)
            connection.commit()
    except BaseException:
        if new:
            target.path.unlink(missing_ok=True)
        raise


def check_new_table(target: Address) -> None:
    if has_table(target):
        raise _build_taken_error(target)


def has_table(target: Address) -> bool:
    if not target.path.exists():
        return False
    folder = Address(str(target.path.parent), target.path.name)
    with (
        replace_engine_errors(
            target.path.name, DUCKDB_ERRORS, partial(explain_duckdb_error, folder)
        ),
        duckdb.connect(str(target.path), True, get_duckdb_settings()) as connection,
    ):
        return _has_listed_table(connection, target)


def _has_listed_table(connection: Any, target: Address) -> bool:
    listed = connection.execute("SELECT table_name FROM information_schema.tables")
    return (target.table,) in listed.fetchall()


def _build_taken_error(target: Address) -> TableError:
    return TableError(
        f"{quote(target.path.name)} already has a table {quote(target.table)}: choose another name."
    )


def _measure_file(path: Path) -> int:
    """The bytes of a DuckDB file and of its write-ahead log."""
    return measure_path(path) + measure_path(path.with_name(f"{path.name}.wal"))


def _create_lookup_tables(connection: Any, wanted: Any) -> Any:
    replacements = {}
    for memory_table in wanted.op().find(ibis.expr.operations.InMemoryTable):
        name = f"{_LOOKUP}{uuid4().hex}"
        lookup = memory_table.data.to_pyarrow(memory_table.schema)
        connection.con.register(f"{name}, given", lookup)
        cells = [f'"{column}"' for column in lookup.column_names]
        for j, kind in enumerate(lookup.schema.types):
            # Joined and written as numbers, not as texts. The type lists only values that occur:
            # others would get into the release.
            if pa.types.is_dictionary(kind) and len(lookup):
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
        replacements[memory_table] = connection.table(name, database=("temp", "main")).op()
    return wanted.op().replace(replacements).to_expr()


def _drop_lookup_tables(connection: Any, wanted: Any) -> None:
    for table in wanted.op().find(ibis.expr.operations.DatabaseTable):
        if table.name.startswith(_LOOKUP):
            connection.raw_sql(f"DROP TABLE IF EXISTS temp.main.{escape_sql_name(table.name)}")


_LOOKUP = "kanon: known "


def _estimate_final_progress(connection: Any, wanted: Any) -> float:
    """DuckDB's progress when all is done: it counts each join as still to come."""
    explained = connection.raw_sql(f"EXPLAIN (FORMAT json) {connection.compile(wanted)}")
    node = json.loads(explained.fetchone()[1])[0]
    joins = 0
    while node["children"]:  # the first child of a join has the rows
        joins += "HASH_JOIN" in node["name"]
        node = node["children"][0]
    return 1 / (1 + joins)


def _quote_sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_OpenedRows = tuple[Callable[[], Any], tuple[str, ...], tuple[str | None, str | None]]
"""A function that gives the rows once other files are locked; remarks; separator and encoding."""


def _open_parquet(connection: Any, address: Address, settings: ReadSettings) -> _OpenedRows:
    parts = list_parquet_parts(address)
    files = "[" + ", ".join(_quote_sql(str(part)) for part in parts) + "]"
    # Else a folder called "zip=007" would stand for a column.
    reader = f"read_parquet({files}, hive_partitioning=false)"
    connection.raw_sql(f"CREATE VIEW rows AS SELECT * FROM {reader}")
    connection.raw_sql(f"SET allowed_paths={files}")
    remark = f"{len(parts)} Parquet files." if len(parts) > 1 else "A Parquet file."
    return lambda: connection.table("rows"), (remark,), (None, None)


def _open_csv(connection: Any, address: Address, settings: ReadSettings) -> _OpenedRows:
    path, name = address.path.resolve(), address.name
    with path.open("rb") as file:
        content = file.read(_SAMPLE)
    if not content.strip():
        raise TableError(f"{quote(name)} has no header.")
    if len(content) == _SAMPLE:
        content = content[: content.rfind(b"\n") + 1]
    if not content:
        raise TableError(f"The first line of {quote(name)} is longer than a megabyte.")
    sample, encoding, _ = decode(content, name, settings.encoding)
    sample, named_separator = strip_separator_line(sample)
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
            f"{quote(name)} is in the encoding {encoding.upper()}, which the engine cannot read: "
            "convert the file to UTF-8, or upload it."
        )
    padded = is_padded(sample, separator)
    if padded and b'"' in sample:
        raise TableError(
            f"{quote(name)} has a space after every separator and cells in quotes, which the "
            "engine cannot read: remove those spaces, or upload the file."
        )
    lines = io.StringIO(sample.decode(), newline="")
    records = islice(csv.reader(lines, delimiter=separator), SAMPLE + 1)
    first = read_first_line(list(records), name, settings.header)
    names, skip = first.names, first.lines_above + (named_separator is not None)
    check_cases(names, name)
    if len(names) == 1:
        raise TableError(
            f"{quote(name)} has only one column if {quote(separator)} separates its cells: "
            "choose another separator, or upload the file."
        )
    columns = ", ".join(f"{_quote_sql(column)}: 'VARCHAR'" for column in names)
    filled = ", ".join(_quote_sql(column) for column in names)
    connection.raw_sql(
        f"CREATE VIEW rows AS SELECT * FROM read_csv({_quote_sql(str(path))}, "
        f"header={not first.is_record}, skip={skip}, hive_partitioning=false, "
        f"auto_detect=false, columns={{{columns}}}, force_not_null=[{filled}], "
        f"delim={_quote_sql(separator)}, quote='\"', escape='\"', strict_mode=true, "
        f"encoding='{_ENCODINGS[encoding]}')"
    )
    connection.raw_sql(f"SET allowed_paths=[{_quote_sql(str(path))}]")
    remarks = [f"Separator {quote(separator)} and encoding {encoding.upper()}.", *first.remarks]
    if padded:
        remarks.append("The space after every separator was skipped.")

    def get_rows() -> Any:
        table = connection.table("rows")
        if not padded:
            return table
        return table.select([table[name].re_replace("^ +", "").name(name) for name in names])

    return get_rows, tuple(remarks), (separator, encoding)


def _open_database(connection: Any, address: Address, settings: ReadSettings) -> _OpenedRows:
    connection.raw_sql(f"ATTACH {_quote_sql(str(address.path.resolve()))} AS given (READ_ONLY)")
    listed = connection.raw_sql(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'given' "
        "AND table_schema = 'main' ORDER BY ALL"
    )
    table = choose_table(address, [name for (name,) in listed.fetchall()])
    remark = (f"Table {quote(table)} of a DuckDB file.",)
    return lambda: _select_plain_cells(connection, table), remark, (None, None)


_DEFINITIONS = """SELECT name, string_agg(sql, ' ') FROM (
    SELECT database_name, view_name AS name, sql FROM duckdb_views()
    UNION ALL SELECT database_name, table_name, sql FROM duckdb_tables()
    UNION ALL SELECT database_name, function_name, macro_definition FROM duckdb_functions()
) WHERE database_name = 'given' GROUP BY name"""


def _select_plain_cells(connection: Any, table: str) -> Any:
    """The rows of a table, in which texts that a collation treats as equal stay distinct.

    Sums of whole numbers get the type that a Parquet file has for them. The type of an enumeration
    lists all its values, also those of suppressed records: its cells become texts.
    """
    rows = connection.table(table, database=("given", "main"))
    statements = dict(connection.raw_sql(_DEFINITIONS).fetchall())
    read_column_names(find_view_names(rows.columns, table, statements), table)
    listed = connection.con.execute(
        "SELECT column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = 'given' AND schema_name = 'main' AND table_name = ?",
        [table],
    )
    cells = ", ".join(
        _select_cell(escape_sql_name(column), kind) for column, kind in listed.fetchall()
    )
    return connection.sql(
        f"SELECT {cells} FROM given.main.{escape_sql_name(table)}", schema=rows.schema()
    )


_ENUMERATION = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")


def _select_cell(name: str, kind: str) -> str:
    """The SQL that selects a column of some type."""
    if kind == "VARCHAR":
        return f"{name} COLLATE C AS {name}"
    wanted = "DECIMAL(38, 0)" if kind == "HUGEINT" else _ENUMERATION.sub("VARCHAR", kind)
    return name if wanted == kind else f"CAST({name} AS {wanted}) AS {name}"


_OPENERS = {"typed": _open_parquet, "text": _open_csv, "duckdb": _open_database}
