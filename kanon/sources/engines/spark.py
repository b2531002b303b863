"""Spark: where one machine is not enough. Optional: it needs pyspark, and Java 17 or newer."""

import os
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import ibis

from kanon.base.progress import Progress, no_progress
from kanon.errors import TableError, quoted
from kanon.sources.addresses import Address
from kanon.sources.engine_order import sort_rows
from kanon.sources.engines.parts import parquet_parts
from kanon.sources.engines.rows import Rows, check_cases, named, saying
from kanon.sources.engines.spark_cluster import SparkCluster, SparkJobs, quietly
from kanon.sources.engines.spark_errors import SPARK_ERRORS, sentence
from kanon.sources.engines.spark_workspace import SparkWorkspace, data_frame
from kanon.sources.first_line import SAMPLE, read_first_line
from kanon.sources.formats import find_stored_format
from kanon.sources.read_settings import ReadSettings
from kanon.sources.separators import check_separator


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name, its = address.name, find_stored_format(address)
    with quietly(), saying(name, SPARK_ERRORS, partial(sentence, name)):
        cluster = _cluster(os.environ.get("KANON_SPARK", "local[*]"))
        session = cluster.session
        connection = ibis.pyspark.connect(session)
        found: tuple[str | None, str | None] = (None, None)
        remarks: tuple[str, ...] = ()
        if its is None:
            raise TableError(
                f"{quoted(name)} cannot be read by Spark: allowed are Parquet (a file or a "
                "folder), CSV and TSV."
            )
        if its.cells == "typed":
            files = list(map(str, parquet_parts(address)))
            frame = cluster.run(lambda _: session.read.parquet(*files), no_progress, "")
        else:
            separator = settings.separator or its.separator or ","
            check_separator(separator)
            found = (separator, "utf-8")
            reading = partial(
                session.read.csv, str(address.path.resolve()), sep=separator,
                quote='"', escape='"', mode="FAILFAST", inferSchema=False, enforceSchema=False,
                encoding=settings.encoding or "utf-8",
            )  # fmt: skip
            sample = cluster.run(lambda _: reading(header=False).head(SAMPLE + 1), no_progress, "")
            # Spark would name a column that has no name, and rename both of two with the same.
            texts = [[cell or "" for cell in row] for row in sample]
            first = read_first_line(texts, name, settings.header)
            if first.lines_above or re.match('"?sep=', texts[0][0]):
                raise TableError(
                    f"Spark cannot skip the lines above the header of {quoted(name)}: delete them."
                )
            check_cases(first.names, name)
            remarks = first.remarks
            frame = cluster.run(lambda _: reading(header=not first.is_record), no_progress, "")
            frame = frame.toDF(*first.names)
            frame = frame.na.fill("")  # a cell of a text file is a text, if an empty one
        view = f"kanon_{os.urandom(8).hex()}"
        frame.createOrReplaceTempView(view)
        rows = named(connection.table(view), name)

    def fetch(wanted: Any) -> Any:
        with cluster.asked(name):
            return cluster.run(lambda _: connection.to_pyarrow(wanted), no_progress, "")

    def release(wanted: Any, target: str, jobs: SparkJobs) -> None:
        frame = data_frame(connection, wanted)
        jobs.expect(frame)
        frame.write.parquet(target)

    def write(wanted: Any, target: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with cluster.asked(name):
            work = partial(release, sort_rows(wanted, by), str(target))
            cluster.run(work, progress, "Writing the release")

    workspace = SparkWorkspace(cluster, connection, name)
    return Rows(
        rows,
        fetch,
        write,
        ("folder",),
        ("Read by Spark.", *remarks),
        found,
        workspace,
        writes_anywhere=True,
    )


def _cluster(master: str) -> SparkCluster:
    """The session on a master; a new one if the last was lost."""
    found = _session(master)
    if not found.alive:
        _session.cache_clear()
        found = _session(master)
    return found


@cache
def _session(master: str) -> SparkCluster:
    """One session per master; its first start takes ten seconds."""
    return SparkCluster(master)
