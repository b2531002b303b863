"""Start, stop and collect the calculation of a session: a run, or a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kanon.comparison import PAPER_K, TIE_SEEDS, Comparison, Line
from kanon.errors import KanonError
from kanon.measures.along import Curves, Points
from kanon.run import Prepared, Solution, prepare, serves_every_k, solve
from kanon.studio import state
from kanon.studio.shared import jobs, last_job
from kanon.studio.work import (
    Compared,
    Result,
    Work,
    comparison_settings,
    k_grid,
    plan_of,
    settings_of,
)
from kanon.sweep import Configuration, check_k, configurations, measured_in, solve_sweep, tasks_of

__all__ = ["cancel", "collect", "compare", "comparison_outdated", "first", "outdated", "start"]


def start() -> None:
    """Run the current settings in a worker; what cannot run is said and changes nothing."""
    work = state.work()
    if work.busy:
        return
    try:
        plan = plan_of(work)
        prepared = prepare(plan, work.table)
        task = prepared.task()
        task.check()
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    then = partial(_with_result, prepared, settings_of(work, plan))
    _submit(then, solve, plan.algorithm.name, task, prepared.measured_metrics())


def _with_result(prepared: Prepared, settings: str, work: Work, solution: Solution) -> Work:
    return replace(work, result=Result(prepared, solution, settings))


def compare() -> None:
    """Compare the chosen metrics in a worker, under several tie seeds if bands are wanted."""
    work = state.work()
    if work.busy:
        return
    try:
        plan = plan_of(work)
        seeds = [work.tie_seed, *(TIE_SEEDS if work.bands else ())]
        wanted = configurations(plan, work.compared, tie_seeds=seeds)
        prepared = prepare(plan, work.table)
        n_records = prepared.classes.n_records
        ks = k_grid(n_records, also=work.k)
        if not serves_every_k(plan.algorithm.name):
            ks = sorted(k for k in {*PAPER_K, work.k} if k <= n_records)
        check_k(ks, n_records)
        tasks = tasks_of(prepared, wanted)
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    measured = measured_in(plan, wanted)
    empty = Comparison((), tuple(measured), n_records, tuple(ks))
    then = partial(_with_comparison, empty, wanted, len(seeds), comparison_settings(work, plan))
    _submit(then, solve_sweep, plan.algorithm.name, tasks, ks, measured)


def _with_comparison(
    empty: Comparison,
    wanted: Sequence[Configuration],
    seeds: int,
    settings: str,
    work: Work,
    found: Sequence[Curves | Points],
) -> Work:
    """The work with one line per ``seeds`` runs: the first is the line's own, the others ties."""
    known = {metric.name: metric for metric in empty.measured}
    assert work.job is not None
    seconds = work.job.seconds
    lines = tuple(
        Line(wanted[at], known[wanted[at].metric], found[at], tuple(found[at + 1 : at + seeds]))
        for at in range(0, len(wanted), seeds)
    )
    return replace(work, comparison=Compared(replace(empty, lines=lines), settings, seconds))


def _submit(
    then: Callable[[Work, Any], Work], function: Callable[..., object], *arguments: object
) -> None:
    job = jobs().submit(function, *arguments)
    last_job().append(job)
    state.change(job=job, then=then)


def first() -> None:
    """At the first start, run the sample, so that a result is on screen."""
    work = state.work()
    if work.version == 0 and not work.started:
        state.change(started=True)
        start()


def cancel() -> None:
    """Stop the calculation; what an earlier one found stays."""
    work = state.work()
    if work.job is not None:
        work.job.cancel()


def collect() -> None:
    """Take what a calculation that has ended found, or say why there is nothing."""
    work = state.work()
    job, then = work.job, work.then
    if job is None or then is None or not job.finished:
        return
    if job.state == "done":
        state.put(replace(then(work, job.result), job=None, then=None, problem=None, notice=None))
    elif job.state == "cancelled":
        state.change(job=None, then=None, notice="The run was cancelled; nothing was changed.")
    else:
        state.change(job=None, then=None, problem=job.error)


def outdated(work: Work) -> bool:
    """Whether the result on screen was made with other settings than those chosen now."""
    if work.result is None:
        return False
    try:
        return settings_of(work, plan_of(work)) != work.result.settings
    except KanonError:
        return True


def comparison_outdated(work: Work) -> bool:
    """Whether the comparison on screen lacks something of what is chosen now."""
    if work.comparison is None:
        return False
    comparison = work.comparison.comparison
    there = {line.configuration.metric for line in comparison.lines}
    if not there.issuperset(work.compared) or (work.bands and not comparison.has_bands):
        return True
    try:
        return comparison_settings(work, plan_of(work)) != work.comparison.settings
    except KanonError:
        return True
