"""Workers killed at random moments: told of, replaced, and nothing left of them."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from kanon.algorithms.solution import run_algorithm
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.run import PreparedRun, prepare
from kanon.sources.addresses import Address
from kanon.sources.opening import open_stored_file
from kanon.sources.read_settings import ReadSettings
from kanon.sources.stored_source import StoredSource, get_part_path, remove_part
from kanon.studio.jobs.job import Job
from kanon.studio.jobs.pool import Jobs
from kanon.studio.jobs.stored_table import open_stored_work, prepare_and_solve, write_release

__all__ = ["STAGES", "Killed", "kill_workers"]

CONTENT: dict[str, Any] = {
    "version": 2,
    "columns": {
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"build": "intervals", "widths": [10, 50]},
        },
        "zip": {"role": "quasi-identifier", "hierarchy": {"build": "mask", "keep": [3, 2, 1]}},
    },
    "algorithm": {"name": "gaa"},
    "privacy": [{"model": "k-anonymity", "k": 5}],
}

STAGES = ("opening", "counting", "merging", "sweeping", "writing")
"""What a worker may be doing."""


class Broken(AssertionError):
    """A killed worker was not told of, or something was left of it."""


@dataclass
class Killed:
    """How often a worker was killed while it did what.

    Attributes
    ----------
    during
        Per stage how often a worker was killed, and the server told of it.
    spared
        How often the job was done all the same: before the signal came, or by a fresh worker, as
        the killed one had not begun it.
    slowest
        The most seconds from the signal to the sentence.
    again
        The most seconds from the signal to the end of the next job, by a fresh worker.
    """

    during: Counter = field(default_factory=Counter)
    spared: int = 0
    slowest: float = 0.0
    again: float = 0.0


@dataclass(frozen=True)
class _Scene:
    """A folder with a table in it, and what there is to do about it."""

    folder: Path
    jobs: Jobs
    submit: Mapping[str, Callable[[], Job]]
    records: int
    others: frozenset[int]

    def workers(self) -> set[int]:
        """The processes of the jobs."""
        return _children() - self.others


def answer(progress: Callable[[float, str], object]) -> int:
    """The job after a killed one."""
    return os.getpid()


def kill_workers(wanted: int, seed: int, records: int) -> Killed:
    """Kill workers until so many were killed in the middle of a job, stage after stage.

    Parameters
    ----------
    wanted
        How many; who had finished before the signal came, or had not begun, does not count.
    seed
        Of the moments.
    records
        How many records the table has, which decides how long a stage lasts.

    Raises
    ------
    Broken
        A job did not fail with the sentence about a worker that ended; the next one did not work;
        a process, a file or a piece of shared memory was left.
    """
    draw, found = Random(seed), Killed()
    with _scene(records) as scene:
        lasts = {stage: _seconds(scene, stage) for stage in STAGES}
        while found.during.total() < wanted:
            stage = min(STAGES, key=lambda stage: found.during[stage])
            _kill(scene, stage, draw.uniform(0, lasts[stage]), found)
    return found


@contextlib.contextmanager
def _scene(records: int) -> Iterator[_Scene]:
    """A table of all different records, in memory and as a file, and jobs with one worker."""
    with tempfile.TemporaryDirectory(prefix="kanon-kills-") as name:
        folder, temporary = Path(name) / "tables", Path(name) / "temporary"
        folder.mkdir()
        temporary.mkdir()
        draw = np.random.default_rng(1)
        frame = pd.DataFrame(
            {
                "age": draw.integers(0, 100, records),
                "zip": [f"{code:05}" for code in draw.integers(0, 99_999, records)],
            }
        )
        path = folder / "table.parquet"
        frame.to_parquet(path)
        plan, before = Plan.from_content(CONTENT), os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = str(temporary)  # of the workers; this process has its own already
        try:
            others = frozenset(_children())
            with Jobs() as jobs:
                work = _work(jobs, path, frame, plan)
                yield _Scene(folder, jobs, work, records, others)
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def _work(
    jobs: Jobs, path: Path, frame: pd.DataFrame, plan: Plan
) -> Mapping[str, Callable[[], Job]]:
    """Per stage how its job is submitted."""
    address, target = Address(str(path)), Address(str(path.with_name("release.parquet")))
    table = open_stored_file(address, "duckdb").records
    stored = prepare(plan, table)
    solution = run_algorithm(lambda *_: None, "gaa", stored.task(), [])
    prepared: PreparedRun = prepare(plan, frame)
    task, metrics = prepared.check(), [metric_named(name) for name in PUBLISHED]
    runs = [PlannedRun("gaa", prepared.guided_by(metric=name).task()) for name in PUBLISHED]
    assert isinstance(stored.source, StoredSource)

    def write() -> Job:
        part = get_part_path(target.path)
        given = (stored.source, solution.at(plan.k), CONTENT, target, part, "")
        return jobs.submit(write_release, *given, after=partial(remove_part, part))

    return {
        "opening": lambda: jobs.submit(open_stored_work, address, "duckdb", ReadSettings()),
        "counting": lambda: jobs.submit(prepare_and_solve, CONTENT, table),
        "merging": lambda: jobs.submit(run_algorithm, "gaa", task, metrics),
        "sweeping": lambda: jobs.submit(run_sweep, runs, [5, 50], metrics),
        "writing": write,
    }


def _seconds(scene: _Scene, stage: str) -> float:
    """How long a job takes that nobody kills, by a worker that has done it before."""
    for _ in range(2):
        job = _ended(scene.submit[stage]())
        _require(job.state == "done", f"{stage}: {job.error}")
        _remove_release(scene)
    return job.seconds


def _kill(scene: _Scene, stage: str, after: float, found: Killed) -> None:
    _ended(scene.jobs.submit(answer))  # the worker is there, and has nothing to do
    (worker,) = scene.workers()
    memory = _shared_memory()
    job = scene.submit[stage]()
    time.sleep(after)
    os.kill(worker, signal.SIGKILL)
    began = time.perf_counter()
    _ended(job)
    told = time.perf_counter() - began
    _until_dead(worker)  # it may have been idle already, and then nobody has waited for its end
    following = _ended(scene.jobs.submit(answer))
    again = time.perf_counter() - began
    _require(following.state == "done", f"{stage}, then: {following.error}")
    _require(following.result != worker, f"{stage}: killed, and yet it answers")
    _require(scene.workers() == {following.result}, f"{stage}: another process is left")
    _require(_shared_memory() <= memory, f"{stage}: shared memory is left")
    temporary = scene.folder.with_name("temporary")
    _require(not any(temporary.iterdir()), f"{stage}: something is left in a temporary folder")
    if job.state == "done":
        found.spared += 1
        _remove_release(scene)
    else:
        said = job.error or ""
        _require(said.startswith("The worker process ended unexpectedly"), f"{stage}: {said!r}")
        release = scene.folder / "release.parquet"
        if stage == "writing" and release.exists():  # it had its name; the answer did not come
            _require(len(pd.read_parquet(release)) == scene.records, "half a release has a name")
            _remove_release(scene)
        found.during[stage] += 1
        found.slowest, found.again = max(found.slowest, told), max(found.again, again)
    left = {path.name for path in scene.folder.iterdir()}
    _require(left == {"table.parquet"}, f"{stage}: the folder holds {sorted(left)}")


def _ended(job: Job) -> Job:
    _require(job.wait(60), "a job goes on")
    return job


def _remove_release(scene: _Scene) -> None:
    (scene.folder / "release.parquet").unlink(missing_ok=True)


def _children() -> set[int]:
    """The processes that this one has started and that are not gone. Linux only."""
    listed = Path("/proc/self/task").glob("*/children")
    found: set[int] = set()
    for file in listed:
        with contextlib.suppress(OSError):  # that thread has ended meanwhile
            found |= set(map(int, file.read_text().split()))
    return found


def _until_dead(process: int) -> None:
    """Wait until no thread of a killed process runs, though its parent may not know it yet."""
    of = Path(f"/proc/{process}")
    with contextlib.suppress(OSError):
        while len(list((of / "task").iterdir())) > 1 or " Z " not in (of / "stat").read_text():
            time.sleep(0.001)


def _shared_memory() -> set[str]:
    """The pieces of shared memory that Python's processes have. Linux only."""
    kinds = ("psm_", "sem.", "kanon", "pym-")
    return {path.name for path in Path("/dev/shm").iterdir() if path.name.startswith(kinds)}


def _require(true: object, otherwise: str) -> None:
    if not true:
        raise Broken(otherwise)
