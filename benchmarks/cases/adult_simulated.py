"""The simulated study on Adult: 21 columns, seven strategies, eleven k, stopped and gone on."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from benchmarks.case import Case, CaseError
from benchmarks.markdown import aim, seconds, table, times
from benchmarks.plans import adult_content, adult_path
from benchmarks.timing import alternately
from kanon.algorithms import gaa
from kanon.base.parallel import count_cores
from kanon.base.progress import ignore_progress
from kanon.experiments.simulated.files import create_study_inputs, read_study, write_study
from kanon.experiments.simulated.study import (
    RunResult,
    Study,
    create_study,
    list_missing_runs,
    run_study,
)
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.opening import open_table
from kanon.strategies import SCOPES
from kanon.studio.jobs.partial_results import run_simulations
from kanon.studio.jobs.pool import Jobs

__all__ = ["CASE", "ENOUGH", "MOST_CANCEL", "MOST_SECONDS"]

METRIC = "total"
MOST_SECONDS = 15 * 60
ENOUGH = 40
"""A study is cancelled after so many results."""

MOST_CANCEL = 2.0
"""The seconds after which a cancelled study has to be over."""


def _run() -> str:
    plan = Plan.from_content(adult_content(METRIC, 2))
    prepared = prepare(plan, open_table(adult_path()).table)
    rows, spent = [], {}
    for scope in SCOPES:
        study = create_study(prepared.guided_by(scope=scope))
        (alone,), _ = alternately(partial(gaa.merge_path, study.task), repetitions=3)
        spent[scope], found = _timed(study)
        rows.append(
            [
                f"scope {scope}",
                seconds(spent[scope]),
                seconds(alone.best),
                times(spent[scope] / alone.best),
            ]
        )
        if scope == "table":
            _check_going_on(study, found)
            late = _cancelled(study)
    header = ["all 147 results", f"s on {count_cores()} cores", "s of one run of S1", "ratio"]
    return "\n\n".join(
        [
            "All nine columns are quasi-identifiers, Total guides, areas on k from 3 to 5000 over "
            "the eleven k. One run of S1 serves all columns, so there are 127 runs. Stopped after "
            "a third and gone on with from its file, a study gives the same file, byte by byte. "
            "What the studies say is in docs/figures/simulated.md.",
            table(header, rows),
            aim(
                "each below 15 minutes",
                " and ".join(f"{seconds(each)} s" for each in spent.values()),
                max(spent.values()) < MOST_SECONDS,
            ),
            aim("cancelled within 2 s", f"{seconds(late)} s", late < MOST_CANCEL),
        ]
    )


def _timed(study: Study) -> tuple[float, list[RunResult]]:
    results: list[RunResult] = []
    started = time.perf_counter()
    run_study(ignore_progress, study, list_missing_runs([]), results.append)
    return time.perf_counter() - started, results


class _Stopped(Exception):
    """Enough was found."""


def _check_going_on(study: Study, whole: Sequence[RunResult]) -> None:
    """Check that a study that was stopped comes out as one that was not."""
    kept: list[RunResult] = []

    def keep(one: RunResult) -> None:
        if 3 * len(kept) >= len(whole):
            raise _Stopped
        kept.append(one)

    with suppress(_Stopped):
        run_study(ignore_progress, study, list_missing_runs([]), keep)
    made = create_study_inputs(study)
    kept = read_study(write_study(made, kept), made)
    run_study(ignore_progress, study, list_missing_runs(kept), kept.append)
    if write_study(made, kept) != write_study(made, whole):
        raise CaseError("A study that was stopped came out otherwise.")


def _cancelled(study: Study) -> float:
    """How long it takes from the cancel of a study until its worker process has ended."""
    ended = threading.Event()
    with Jobs() as jobs:
        job = jobs.submit(run_simulations, study, list_missing_runs([]), after=ended.set)
        while len(job.parts) < ENOUGH:
            if job.wait(0.05):
                raise CaseError(f"The study ended before it was cancelled: {job.error}")
        started = time.perf_counter()
        job.cancel()
        ended.wait()
        return time.perf_counter() - started


CASE = Case(
    name="adult-simulated",
    about="the simulated study on Adult: 21 columns × seven strategies, at both scopes",
    classes=19_502,
    run=_run,
    needs_adult=True,
)
