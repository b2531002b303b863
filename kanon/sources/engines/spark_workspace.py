"""Tables that Spark keeps, and work on their parts in its executors."""

import os
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kanon.base.progress import Progress
from kanon.sources.engines.spark_cluster import SparkCluster, SparkJobs
from kanon.sources.engines.spark_task import PartTask
from kanon.stored_classes import PartWork

_PLACE = "kanon:place"


class SparkWorkspace:
    """See :class:`kanon.sources.engines.workspace.Workspace`."""

    def __init__(self, cluster: SparkCluster, connection: Any, name: str) -> None:
        self._cluster = cluster
        self._connection = connection
        self._name = name
        self._frames: dict[str, Any] = {}
        # A session outlives its tables: what nobody can ask for any more is given up.
        weakref.finalize(self, _give_up, cluster, self._frames).atexit = False

    def keep(self, wanted: Any, progress: Progress, text: str) -> Any:
        return self._kept(partial(data_frame, self._connection, wanted), progress, text)

    def drop(self, kept: Any) -> None:
        view = kept.op().name
        with self._cluster.asked(self._name):
            self._cluster.session.catalog.dropTempView(view)
            self._frames.pop(view).unpersist(blocking=True)

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress, text: str,
    ) -> Any:  # fmt: skip
        """Do some work on the rows of each part by themselves, several parts at once."""
        session = self._cluster.session
        order = sorted(sizes, key=lambda number: (-sizes[number], number))
        places = pa.table(
            {part: pa.array(order, pa.int64()), _PLACE: pa.array(range(len(order)), pa.int32())}
        )
        found = from_arrow_schema(schema)
        ready = session.sparkContext.accumulator(0)
        shown = kept.drop(part).schema().to_pyarrow()
        task = PartTask(work, shown, to_arrow_schema(found), ready)
        records = max(1, sum(sizes.values()))

        def apart() -> Any:
            # A task per part, told by its number: those with low numbers begin first. A hash of
            # the parts would put several into one task and leave others without any.
            placed = functions.broadcast(session.createDataFrame(places))
            rows = data_frame(self._connection, kept).join(placed, part)
            rows = rows.repartitionById(max(1, len(order)), functions.col(_PLACE))
            return rows.drop(part, _PLACE).mapInArrow(task, found)

        with self._cluster.asked(self._name):
            self._cluster.check_executors()
        return self._kept(apart, progress, text, lambda: ready.value / records)

    def _kept(
        self,
        make: Callable[[], Any],
        progress: Progress,
        text: str,
        share: Callable[[], float] | None = None,
    ) -> Any:
        view = f"kanon_{os.urandom(8).hex()}"
        frames: list[Any] = []

        def work(jobs: SparkJobs) -> None:
            # Spark takes equal plans for one, and would give up both when one is dropped.
            frame = make().filter(functions.lit(view).isNotNull())
            jobs.expect(frame)
            frames.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
            frame.count()

        with self._cluster.asked(self._name):
            try:
                self._cluster.run(work, progress, text, share)
            except BaseException:
                for frame in frames:
                    frame.unpersist(blocking=True)
                raise
            frames[0].createOrReplaceTempView(view)
            self._frames[view] = frames[0]
            return self._connection.table(view)


def _give_up(cluster: SparkCluster, frames: dict[str, Any]) -> None:
    with suppress(Exception):  # the session may have ended
        for view, frame in frames.items():
            cluster.session.catalog.dropTempView(view)
            frame.unpersist()


def data_frame(connection: Any, wanted: Any) -> Any:
    connection._run_pre_execute_hooks(wanted)  # registers the tables in memory
    return connection.raw_sql(connection.compile(wanted))
