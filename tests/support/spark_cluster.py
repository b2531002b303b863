"""A standalone cluster of Spark on this machine: a master and workers, from pyspark itself."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from support.paths import ROOT
from support.spark import SPARK

_SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_DAEMON = "org.apache.spark.deploy"
_PATIENCE = 30.0


@dataclass
class Cluster:
    """A master on loopback and its workers, each of one core and one gigabyte.

    Attributes
    ----------
    master
        Its address, as KANON_SPARK has it.
    folder
        Where all of it writes.
    """

    master: str
    folder: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(self) -> None:
        """Start another worker, and wait until the master has it."""
        number = len(list(self.folder.glob("worker-*.log")))
        log = self.folder / f"worker-{number}.log"
        self.workers.append(
            _started(
                log, f"{_DAEMON}.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                "--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / f"work-{number}"),
                self.master,
            )
        )  # fmt: skip
        _wait_for(log, "Successfully registered with master", self.workers[-1])

    def kill_worker(self) -> None:
        """Kill a worker and its executors at once, as a power failure does."""
        _kill(self.workers.pop())


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster, and end every process of it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "master.log"
    master = _started(
        log, f"{_DAEMON}.master.Master", "--host", "127.0.0.1", "--port", str(port),
        "--webui-port", "0",
    )  # fmt: skip
    cluster = Cluster(f"spark://127.0.0.1:{port}", folder)
    try:
        _wait_for(log, "I have been elected leader", master)
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        for process in [*cluster.workers, master]:
            _kill(process)


def _started(log: Path, *command: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "JAVA_TOOL_OPTIONS": SPARK["JAVA_TOOL_OPTIONS"],
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(log.parent / "scratch"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with log.open("wb") as written:
        return subprocess.Popen(
            [str(_SPARK_CLASS), *command], env=environment, stdout=written, stderr=written,
            start_new_session=True,
        )  # fmt: skip


def _wait_for(log: Path, line: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while line not in log.read_text("utf-8", "replace"):
        assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8")
        time.sleep(0.05)


def _kill(process: subprocess.Popen[bytes]) -> None:
    for pid in [process.pid, *_below(process.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # its parent's end was its own
            continue
    process.wait()


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_below(child)]
    return found
