"""One machine, several visitors: how long a short run takes beside the long ones of others."""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from benchmarks.case import CaseError
from benchmarks.reliability.kills import CONTENT
from kanon.algorithms.solution import run_algorithm
from kanon.experiments.simulated.study import create_study, list_missing_runs
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.metrics import PUBLISHED, metric_named
from kanon.plan import Plan
from kanon.run import prepare
from kanon.settings import get_settings
from kanon.sources.addresses import Address
from kanon.sources.opening import open_stored_file
from kanon.sources.read_settings import ReadSettings
from kanon.studio.jobs.job import Job
from kanon.studio.jobs.lanes import STUDY
from kanon.studio.jobs.partial_results import run_simulations
from kanon.studio.jobs.pool import Jobs
from kanon.studio.jobs.processes import load_kernels
from kanon.studio.jobs.stored_table import open_stored_work, prepare_and_solve

__all__ = ["Visited", "visit"]

FEW, COMPARED, MANY, STORED = 60, 20_000, 100_000, 5_000_000
"""The records of the short run, of comparisons and the study, of the long run, and of the file."""

PAUSE = 3.0
"""The most seconds that the visitor with short runs looks at a result."""

Submit = Callable[[], Job]


@dataclass
class Visited:
    """What the visitors did, and how long the one with short runs waited.

    Attributes
    ----------
    heavy
        Of each visitor with long calculations how many of them were done.
    begins, results
        Of each short run the seconds from the press to its begin, and to its result.
    """

    heavy: Counter = field(default_factory=Counter)
    begins: list[float] = field(default_factory=list)
    results: list[float] = field(default_factory=list)


def visit(seconds: float, seed: int) -> Visited:
    """Let five visitors ask for long calculations, one after the other, and one for short ones.

    All come at once to a server that has just started. What they ask for is handed to the workers
    as the pages do it, with the operator's settings.

    Raises
    ------
    CaseError
        A calculation failed.
    """
    found, draw, most = Visited(), Random(seed), get_settings()
    places = (most.jobs_at_once, most.long_jobs_at_once, most.studies_at_once)
    with tempfile.TemporaryDirectory() as folder, Jobs(places, warm=load_kernels) as jobs:
        short, heavy = _work(jobs, Path(folder))
        over, failed = threading.Event(), list[str]()

        def go_on(name: str, submits: Iterator[Submit]) -> None:
            for submit in submits:
                job = submit()
                while not job.wait(0.1):
                    if over.is_set():
                        job.cancel()
                if over.is_set():
                    return
                if job.state != "done":
                    failed.append(f"{name}: {job.error}")
                    return
                found.heavy[name] += 1

        visitors = [
            threading.Thread(target=go_on, args=(name, itertools.cycle(submits)))
            for name, submits in heavy.items()
        ]
        for visitor in visitors:
            visitor.start()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end and not failed:
                _run(short, found)
                time.sleep(draw.uniform(0, PAUSE))
        finally:
            over.set()
            for visitor in visitors:
                visitor.join()
        if failed:
            raise CaseError(failed[0])
    return found


def _run(short: Submit, found: Visited) -> None:
    began = time.perf_counter()
    job = short()
    job.wait()
    took = time.perf_counter() - began
    if job.state != "done":
        raise CaseError(f"A short run failed: {job.error}")
    found.results.append(took)
    found.begins.append(took - job.worked)


def _work(jobs: Jobs, folder: Path) -> tuple[Submit, Mapping[str, list[Submit]]]:
    """The short run, and what each of the others asks for in turn."""
    plan = Plan.from_content(CONTENT)
    small, compared, large = (
        prepare(plan, _table(records, 90_000)) for records in (FEW, COMPARED, MANY)
    )
    metrics = [metric_named(name) for name in PUBLISHED]
    runs = [PlannedRun("gaa", compared.guided_by(metric=name).task()) for name in PUBLISHED]
    study = create_study(compared)
    _table(STORED, 3_000).to_parquet(folder / "table.parquet")
    stored = Address(str(folder / "table.parquet"))

    def asked(visitor: str, function: Callable[..., object], *given: object) -> Submit:
        lane = STUDY if function is run_simulations else 0
        return partial(jobs.submit, function, *given, visitor=visitor, lane=lane)

    def opened(visitor: str) -> list[Submit]:
        table = open_stored_file(stored, "duckdb").records
        return [
            asked(visitor, open_stored_work, stored, "duckdb", ReadSettings()),
            asked(visitor, prepare_and_solve, CONTENT, table),
        ]

    sweep = (run_sweep, runs, [5, 50, 500], metrics)
    return asked("short", run_algorithm, "gaa", small.check(), metrics[:1]), {
        "a comparison": [asked("a comparison", *sweep)],
        "another comparison": [asked("another comparison", *sweep)],
        "a run": [asked("a run", run_algorithm, "gaa", large.check(), metrics)],
        "a table in a file": opened("a table in a file"),
        "a study": [asked("a study", run_simulations, study, list_missing_runs([]))],
    }


def _table(records: int, places: int) -> pd.DataFrame:
    """A table of persons of a hundred ages in so many places."""
    draw = np.random.default_rng(1)
    places_of = pd.Series(draw.integers(0, places, records)).astype(str).str.zfill(5)
    return pd.DataFrame({"age": draw.integers(0, 100, records), "zip": places_of})
