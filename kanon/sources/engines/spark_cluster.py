"""A session of Spark: starting and ending it, and running jobs that can be cancelled."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.util import inheritable_thread_target

import kanon
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import TableError, quote
from kanon.sources.engines.rows import replace_engine_errors, run_with_progress
from kanon.sources.engines.spark_errors import LOST, NO_KANON, SPARK_ERRORS, explain_spark_error

Result = TypeVar("Result")

_LOCAL = re.compile(r"local(\[[^\]]+\])?")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CONNECT_SECONDS = 4.0  # within which a machine answers if it answers at all
_CANCEL_SECONDS = 10.0  # within which executors end a task that was cancelled


class SparkCluster:
    def __init__(self, master: str) -> None:
        check_master(master)
        self.master = master
        self.local = bool(_LOCAL.fullmatch(master))
        # seconds that a master has to answer, and to give a first executor
        self.patience = 20.0 if master.startswith("spark:") else 120.0
        self.session = self._start_session()
        self._has_checked_executors = self.local

    @property
    def shown(self) -> str:
        """The master without credentials, in quotes."""
        return quote(hide_credentials(self.master), longest=120)

    def _start_session(self) -> Any:
        running = SparkContext._active_spark_context
        if running is not None and running.appName == "kanon":  # on another master, or ended
            end_session()
        with WarningsOff():
            _launch_java(self._build_settings())
            started = time.monotonic()  # Java may take long to start on a busy machine
            builder = SparkSession.builder.config(conf=self._build_settings())
            with ThreadPoolExecutor(1) as alone:
                future = alone.submit(builder.getOrCreate)
                try:
                    seconds_left = started + self.patience - time.monotonic()
                    session = future.result(None if self.local else max(1.0, seconds_left))
                except TimeoutError:
                    end_session()
                    raise TableError(self._build_start_error()) from None
                except BaseException as error:
                    end_session()
                    if isinstance(error, Exception) and not self.local:
                        raise TableError(self._build_start_error()) from None
                    raise
            context = session.sparkContext
            context.setLogLevel("OFF")  # its log would quote cells
            if "PYSPARK_PYTHON" not in os.environ:  # not whichever python3 comes first
                python = context.getConf().get("spark.pyspark.python")
                context.pythonExec = python or sys.executable
        return session

    def _build_start_error(self) -> str:
        return (
            f"Spark could not start on {self.shown} (KANON_SPARK): no Spark master answers there."
        )

    def _build_settings(self) -> SparkConf:
        options = {
            "spark.master": self.master,
            "spark.app.name": "kanon",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.sql.ansi.enabled": "false",
            "spark.executor.syncLogLevel.enabled": "true",  # their logs would quote cells, too
            "spark.python.task.killTimeout": "200ms",  # cancelled work has nothing to save
        }
        if self.local or any(host in _LOOPBACK for host, _ in _parse_hosts(self.master)):
            options["spark.driver.host"] = options["spark.driver.bindAddress"] = "127.0.0.1"
        if self.local:
            options["spark.sql.shuffle.partitions"] = str(os.cpu_count() or 1)
            # An executor finds the modules that this process finds, wherever it was started.
            options["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        settings = SparkConf(loadDefaults=False)
        for name, value in options.items():
            settings.set(name, value)
        return settings

    @property
    def alive(self) -> bool:
        context = self.session.sparkContext
        active: Any = SparkContext._active_spark_context
        if active is None or context is not active:
            return False
        try:
            return not active._jsc.sc().isStopped()
        except Exception:  # noqa: BLE001 whatever py4j raises, Java does not answer
            return False

    @contextmanager
    def replace_spark_errors(self, name: str) -> Iterator[None]:
        def explain(message: str) -> str | None:
            if not self.alive:
                return LOST.format(name=quote(name))
            return explain_spark_error(name, message)

        with replace_engine_errors(name, SPARK_ERRORS, explain), WarningsOff():
            yield

    def run(
        self,
        work: Callable[[SparkJobs], Result],
        progress: Progress,
        text: str,
        share: Callable[[], float] | None = None,
    ) -> Result:
        jobs = SparkJobs(self, share)
        results: list[Result] = []

        def run_in_group() -> None:
            context = self.session.sparkContext
            context.setJobGroup(jobs.group, "kanon", interruptOnCancel=True)
            results.append(work(jobs))

        # The Java thread of this thread takes the group, and ends with it.
        run_with_progress(
            inheritable_thread_target(run_in_group), jobs.done, jobs.cancel, progress, text
        )
        return results[0]

    def count_executors(self) -> int:
        infos = self.session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        return len(infos) - (not self.local)  # the driver is listed as one

    def check_executors(self) -> None:
        """Check once that executors have this version of kanon."""
        if self._has_checked_executors:
            return
        context = self.session.sparkContext

        def find_version(_: int) -> str:  # sent by value: works where kanon is missing
            try:
                import kanon.sources.engines.spark_task
            except ImportError:
                return ""
            return str(kanon.__version__)

        tasks = max(2, context.defaultParallelism)
        versions = self.run(
            lambda _: set(context.parallelize(range(tasks), tasks).map(find_version).collect()),
            ignore_progress, "",
        )  # fmt: skip
        if "" in versions:
            raise TableError(NO_KANON)
        for other in sorted(versions - {kanon.__version__}):
            raise TableError(
                f"A Spark executor has kanon {quote(other)}, but this computer has "
                f"{quote(kanon.__version__)}: install the same version on every node."
            )
        self._has_checked_executors = True


class SparkJobs:
    def __init__(self, cluster: SparkCluster, share: Callable[[], float] | None) -> None:
        self.group = f"kanon-{os.urandom(8).hex()}"
        self._cluster = cluster
        self._share = share
        self._expected_stages = 1
        self._last_progress = time.monotonic()

    def estimate_stages(self, frame: Any) -> None:
        self._expected_stages = _count_exchanges(frame._jdf.queryExecution().executedPlan()) + 2

    def _list_stages(self) -> list[tuple[int, int, int]]:
        """Per stage the numbers of all, of finished and of running tasks."""
        tracker = self._cluster.session.sparkContext.statusTracker()
        stages = []
        for number in tracker.getJobIdsForGroup(self.group):
            job = tracker.getJobInfo(number)
            for stage in job.stageIds if job else ():
                info = tracker.getStageInfo(stage)
                if info is not None:
                    ended = info.numTasks if job.status == "SUCCEEDED" else info.numCompletedTasks
                    stages.append((info.numTasks, ended, info.numActiveTasks))
        return stages

    def done(self) -> float:
        """The finished share, from 0 to 1."""
        stages, executors = self._list_stages(), self._cluster.count_executors()
        if executors or all(done == tasks for tasks, done, _ in stages):
            self._last_progress = time.monotonic()
        elif time.monotonic() - self._last_progress > self._cluster.patience:
            raise TableError(
                f"{self._cluster.shown} (KANON_SPARK) has provided no executor for "
                f"{self._cluster.patience:.0f} seconds: start workers, or ask for less per "
                "executor (spark.executor.memory, spark.executor.cores)."
            )
        if self._share is not None:
            return self._share()
        ready = sum(done / tasks for tasks, done, _ in stages if tasks)
        return ready / max(self._expected_stages, len(stages))

    def cancel(self) -> None:
        with suppress(Exception):  # a Java process that has ended runs nothing
            context = self._cluster.session.sparkContext
            context._jsc.sc().cancelJobGroupAndFutureJobs(self.group)
            deadline = time.monotonic() + _CANCEL_SECONDS
            while any(active for *_, active in self._list_stages()) and time.monotonic() < deadline:
                time.sleep(0.05)


def _count_exchanges(plan: Any) -> int:
    """The number of exchanges of rows in a physical plan, apart from parts that are cached."""
    name = plan.nodeName()
    if name == "AdaptiveSparkPlan":
        return _count_exchanges(plan.initialPlan())
    children = plan.children()
    below = sum(_count_exchanges(children.apply(place)) for place in range(children.size()))
    return below + name.endswith("Exchange")


class WarningsOff(warnings.catch_warnings):
    """Without the warnings of pyspark about pandas 3 and of its own future."""

    def __enter__(self) -> None:
        super().__enter__()
        for kind in (FutureWarning, DeprecationWarning, ResourceWarning, UserWarning):
            warnings.simplefilter("ignore", kind)


def check_master(master: str) -> None:
    if master.startswith("sc:"):
        raise TableError(
            "KANON_SPARK names a server of Spark Connect (sc://), which cannot give each part its "
            "own task and may log cells: name the master itself, such as spark://host:7077."
        )
    hosts = _parse_hosts(master)
    if not hosts and master != "yarn" and not _LOCAL.fullmatch(master):
        raise TableError(
            "KANON_SPARK must be 'local[n]', 'spark://host:port', 'yarn' or "
            f"'k8s://https://host:port'; {quote(hide_credentials(master))} is none of these."
        )
    for address in hosts:
        with suppress(OSError), socket.create_connection(address, timeout=_CONNECT_SECONDS):
            return
    if hosts:
        raise TableError(
            f"The Spark master does not answer at {quote(hide_credentials(master), 120)} "
            "(KANON_SPARK)."
        )


def _parse_hosts(master: str) -> list[tuple[str, int]]:
    scheme, _, rest = master.partition("://")
    if scheme not in ("spark", "k8s"):
        return []
    hosts = []
    for address in rest.split(",") if scheme == "spark" else [rest]:
        try:
            parts = urlsplit(address if "://" in address else f"//{address}")
            port = parts.port or (80 if parts.scheme == "http" else 443)
        except ValueError:  # a port that is not a number
            return []
        if not parts.hostname or (scheme == "spark" and not parts.port):
            return []
        hosts.append((parts.hostname, port))
    return hosts


def hide_credentials(master: str) -> str:
    """A master without user and password."""
    return re.sub(r"[^/,]*@", "", master)


def _launch_java(settings: SparkConf) -> None:
    home = os.environ.get("JAVA_HOME")
    java = (Path(home) / "bin" / "java").exists() if home else shutil.which("java")
    attached = SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ
    if not java and not attached and os.name != "nt":
        where = f"JAVA_HOME is {quote(home, 120)}" if home else "JAVA_HOME is not set"
        raise TableError(
            f"Spark needs Java 17 or newer, but none was found: {where}. Set JAVA_HOME to the "
            "Java folder that contains bin/java."
        )
    try:
        SparkContext._ensure_initialized(conf=settings)
    except PySparkRuntimeError:
        raise TableError(
            "Spark's Java ended as soon as it started: it needs Java 17 or newer (JAVA_HOME), "
            "valid settings (PYSPARK_SUBMIT_ARGS, spark-defaults.conf), and for 'yarn' "
            "HADOOP_CONF_DIR."
        ) from None


def end_session() -> None:
    """End the session of this process, and its Java process if it has started one."""
    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    session = SparkSession._instantiatedSession
    stopping = threading.Thread(target=_stop_session, args=(session,), daemon=True)
    stopping.start()
    stopping.join(5.0)  # one that waits for a master does not stop
    if process is not None:
        process.stdin.close()  # then it ends itself and removes its files, if it can
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with suppress(Exception):
            gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _stop_session(session: Any) -> None:
    with suppress(Exception), WarningsOff():
        if session is not None:
            session.stop()
