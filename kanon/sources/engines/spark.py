"""Spark, for tables too large for one machine. Optional: needs pyspark and Java 17 or newer."""

import os
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kanon.base.progress import Progress, ignore_progress
from kanon.errors import TableError, quote
from kanon.sources.addresses import Address
from kanon.sources.engine_order import sort_rows
from kanon.sources.engines.rows import (
    Rows,
    check_cases,
    list_parquet_parts,
    normalise_columns,
    replace_engine_errors,
)
from kanon.sources.engines.spark_cluster import SparkCluster, SparkJobs, WarningsOff
from kanon.sources.engines.spark_errors import SPARK_ERRORS, explain_spark_error
from kanon.sources.engines.spark_task import PartTask
from kanon.sources.first_line import SAMPLE, read_first_line
from kanon.sources.formats import find_stored_format
from kanon.sources.read_settings import ReadSettings
from kanon.sources.separators import check_separator
from kanon.stored_classes import PartWork

_PLACE = "kanon:place"


def open_rows(address: Address, settings: ReadSettings, writes: Sequence[Path] = ()) -> Rows:
    name, table_format = address.name, find_stored_format(address)
    with (
        WarningsOff(),
        replace_engine_errors(name, SPARK_ERRORS, partial(explain_spark_error, name)),
    ):
        cluster = _get_cluster(os.environ.get("KANON_SPARK", "local[*]"))
        session = cluster.session
        connection = ibis.pyspark.connect(session)
        text_settings: tuple[str | None, str | None] = (None, None)
        remarks: tuple[str, ...] = ()
        if table_format is None:
            raise TableError(
                f"Spark cannot read {quote(name)}: choose a Parquet file or folder, or a CSV or "
                "TSV file."
            )
        if table_format.cells == "typed":
            files = list(map(str, list_parquet_parts(address)))
            frame = cluster.run(lambda _: session.read.parquet(*files), ignore_progress, "")
        else:
            separator = settings.separator or table_format.separator or ","
            check_separator(separator)
            text_settings = (separator, "utf-8")
            read_csv = partial(
                session.read.csv, str(address.path.resolve()), sep=separator,
                quote='"', escape='"', mode="FAILFAST", inferSchema=False, enforceSchema=False,
                encoding=settings.encoding or "utf-8",
            )  # fmt: skip
            sample = cluster.run(
                lambda _: read_csv(header=False).head(SAMPLE + 1), ignore_progress, ""
            )
            # Spark would name a nameless column, and rename both of two with the same name.
            texts = [[cell or "" for cell in row] for row in sample]
            first = read_first_line(texts, name, settings.header)
            if first.lines_above or re.match('"?sep=', texts[0][0]):
                raise TableError(
                    f"Spark cannot skip the lines above the header of {quote(name)}: delete them."
                )
            check_cases(first.names, name)
            remarks = first.remarks
            frame = cluster.run(lambda _: read_csv(header=not first.is_record), ignore_progress, "")
            frame = frame.toDF(*first.names)
            frame = frame.na.fill("")  # an empty cell of a text file is an empty text
        view = f"kanon_{os.urandom(8).hex()}"
        frame.createOrReplaceTempView(view)
        rows = normalise_columns(connection.table(view), name)

    def fetch(wanted: Any) -> Any:
        with cluster.replace_spark_errors(name):
            return cluster.run(lambda _: connection.to_pyarrow(wanted), ignore_progress, "")

    def release(wanted: Any, target: str, jobs: SparkJobs) -> None:
        frame = build_data_frame(connection, wanted)
        jobs.estimate_stages(frame)
        frame.write.parquet(target)

    def write(wanted: Any, target: Path, kind: str, progress: Progress, by: Sequence[str]) -> None:
        with cluster.replace_spark_errors(name):
            work = partial(release, sort_rows(wanted, by), str(target))
            cluster.run(work, progress, "Writing the release")

    workspace = SparkWorkspace(cluster, connection, name)
    return Rows(
        rows,
        fetch,
        write,
        ("folder",),
        ("Read by Spark.", *remarks),
        text_settings,
        workspace,
        writes_anywhere=True,
    )


@cache  # one per master; its first start takes ten seconds
def _start_cluster(master: str) -> SparkCluster:
    return SparkCluster(master)


def _get_cluster(master: str) -> SparkCluster:
    """The cluster of a master; a new one if the last was lost."""
    cluster = _start_cluster(master)
    if not cluster.alive:
        _start_cluster.cache_clear()
        cluster = _start_cluster(master)
    return cluster


class SparkWorkspace:
    """See :class:`kanon.sources.engines.rows.Workspace`."""

    def __init__(self, cluster: SparkCluster, connection: Any, name: str) -> None:
        self._cluster = cluster
        self._connection = connection
        self._name = name
        self._frames: dict[str, Any] = {}
        # A session outlives its tables: those of a collected workspace are dropped.
        weakref.finalize(self, _drop_frames, cluster, self._frames).atexit = False

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        return self._keep_frame(partial(build_data_frame, self._connection, wanted), progress, text)

    def drop(self, kept: Any) -> None:
        view = kept.op().name
        with self._cluster.replace_spark_errors(self._name):
            self._cluster.session.catalog.dropTempView(view)
            self._frames.pop(view).unpersist(blocking=True)

    def run_by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        session = self._cluster.session
        order = sorted(sizes, key=lambda number: (-sizes[number], number))
        places = pa.table(
            {part: pa.array(order, pa.int64()), _PLACE: pa.array(range(len(order)), pa.int32())}
        )
        result_schema = from_arrow_schema(schema)
        ready = session.sparkContext.accumulator(0)
        rows_schema = kept.drop(part).schema().to_pyarrow()
        task = PartTask(work, rows_schema, to_arrow_schema(result_schema), ready)
        records = max(1, sum(sizes.values()))

        def build_frame() -> Any:
            # One task per part; tasks with low numbers begin first. A hash of the parts would put
            # several into one task and leave others empty.
            placed = functions.broadcast(session.createDataFrame(places))
            rows = build_data_frame(self._connection, kept).join(placed, part)
            rows = rows.repartitionById(max(1, len(order)), functions.col(_PLACE))
            return rows.drop(part, _PLACE).mapInArrow(task, result_schema)

        with self._cluster.replace_spark_errors(self._name):
            self._cluster.check_executors()
        return self._keep_frame(build_frame, progress, text, lambda: ready.value / records)

    def _keep_frame(
        self,
        build_frame: Callable[[], Any],
        progress: Progress,
        text: str,
        share: Callable[[], float] | None = None,
    ) -> Any:
        view = f"kanon_{os.urandom(8).hex()}"
        frames: list[Any] = []

        def work(jobs: SparkJobs) -> None:
            # Spark takes equal plans for one, and would drop both when one is dropped.
            frame = build_frame().filter(functions.lit(view).isNotNull())
            jobs.estimate_stages(frame)
            frames.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
            frame.count()

        with self._cluster.replace_spark_errors(self._name):
            try:
                self._cluster.run(work, progress, text, share)
            except BaseException:
                for frame in frames:
                    frame.unpersist(blocking=True)
                raise
            frames[0].createOrReplaceTempView(view)
            self._frames[view] = frames[0]
            return self._connection.table(view)


def _drop_frames(cluster: SparkCluster, frames: dict[str, Any]) -> None:
    with suppress(Exception):  # the session may have ended
        for view, frame in frames.items():
            cluster.session.catalog.dropTempView(view)
            frame.unpersist()


def build_data_frame(connection: Any, wanted: Any) -> Any:
    connection._run_pre_execute_hooks(wanted)  # registers the tables in memory
    return connection.raw_sql(connection.compile(wanted))
