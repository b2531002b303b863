"""Spark: where one machine is not enough. Optional: it needs pyspark, and Java 17 or newer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import ibis
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kanon.base.progress import Progress
from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.engines.parts import parquet_parts
from kanon.sources.engines.rows import Rows, named, saying, watched
from kanon.sources.reading import ReadSettings
from kanon.sources.separators import check_separator

_ERRORS = (
    PySparkException, Py4JError, OSError, ConnectionError, ibis.common.exceptions.IbisError,
)  # fmt: skip


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    """Open a table.

    ``KANON_SPARK`` names the master, ``local[*]`` by default. Every node of a cluster has to see
    the table and the folder of the release under the same path.

    Parameters
    ----------
    address
        A Parquet or CSV file or a folder of Parquet files.
    settings
        How a CSV is read; its separator is a comma unless it is given, and it is UTF-8.

    Raises
    ------
    TableError
        It is not a table that can be read.
    """
    name, kind = address.name, address.kind
    with _quietly(), saying(name, _ERRORS, partial(_said, name)):
        session = _session(os.environ.get("KANON_SPARK", "local[*]"))
        connection = ibis.pyspark.connect(session)
        path = str(address.path.resolve())
        found: tuple[str | None, str | None] = (None, None)
        if kind in ("folder", "parquet", "pq"):
            frame = session.read.parquet(*map(str, parquet_parts(address)))
        elif kind in ("csv", "txt", "tsv", "tab"):
            separator = settings.separator or ("\t" if kind in ("tsv", "tab") else ",")
            check_separator(separator)
            found = (separator, "utf-8")
            frame = session.read.csv(
                path, sep=separator, header=True, quote='"', escape='"', mode="FAILFAST",
                inferSchema=False, enforceSchema=False, encoding=settings.encoding or "utf-8",
            )  # fmt: skip
            frame = frame.na.fill("")  # a cell of a text file is a text, if an empty one
        else:
            raise TableError(
                f"{quoted(name)} cannot be read by Spark: allowed are Parquet (a file or a "
                "folder), CSV and TSV."
            )
        view = f"kanon_{os.urandom(8).hex()}"
        frame.createOrReplaceTempView(view)
        rows = named(connection.table(view), name)

    def fetch(wanted: Any) -> Any:
        with saying(name, _ERRORS, partial(_said, name)), _quietly():
            return connection.to_pyarrow(wanted)

    def write(wanted: Any, target: Path, kind: str, progress: Progress) -> None:
        with saying(name, _ERRORS, partial(_said, name)), _quietly():
            watched(
                partial(connection.to_parquet_dir, wanted, target),
                lambda: 0.0,
                session.sparkContext.cancelAllJobs,
                progress,
                "Writing the release",
            )

    return Rows(rows, fetch, write, ("folder",), ("Read by Spark.",), found)


@cache
def _session(master: str) -> Any:
    """One session per master; its first start takes ten seconds."""
    with _quietly():
        building = (
            SparkSession.builder.master(master)
            .appName("kanon")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .config("spark.sql.ansi.enabled", "false")
        )
        if master.startswith("local"):  # nobody else has to reach it
            building = building.config("spark.driver.host", "127.0.0.1")
            building = building.config("spark.driver.bindAddress", "127.0.0.1")
            building = building.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
        session = building.getOrCreate()
        session.sparkContext.setLogLevel("OFF")  # its log would quote cells
    return session


class _quietly(warnings.catch_warnings):
    """Without the warnings of pyspark about pandas 3 and of its own future."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", UserWarning)


def _said(name: str, message: str) -> str | None:
    """A sentence for what Spark said, which may quote cells."""
    if "MALFORMED" in message or "Malformed" in message:
        return f"{quoted(name)} has a line that does not fit its header."
    if "No space left" in message:
        return "The disk is full: nothing was written under the final name."
    if any(
        part in message for part in ("Connection refused", "not connected", "stopped", "Answer")
    ):
        return f"The connection to Spark was lost while it worked on {quoted(name)}."
    if "CANNOT_READ_FILE_FOOTER" in message or "is not a Parquet file" in message:
        return f"{quoted(name)} cannot be read as Parquet: it is damaged or another kind of file."
    if any(part in message for part in ("PARQUET_COLUMN", "CAST_INVALID", "CANNOT_MERGE")):
        return f"A column of {quoted(name)} changes its type: every file has to have the same type."
    return None
