"""Start, stop and collect the calculation of a session: a run, or a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kanon.comparison import TIE_SEEDS, Comparison, lines_of
from kanon.errors import KanonError
from kanon.measures.along import Curves, Points
from kanon.plan import Plan
from kanon.run import Prepared, Solution, measured_metrics, prepare, solve
from kanon.studio import state
from kanon.studio.shared import jobs, last_job
from kanon.studio.work import (
    Compared,
    Result,
    Work,
    compared_metrics,
    comparison_settings,
    plan_of,
    settings_of,
    shown_k,
    usable_metrics,
)
from kanon.sweep import Configuration, configurations, solve_sweep, tasks_of

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
    metrics = measured_metrics(plan, [plan.metric.name])
    _submit("run", then, solve, plan.algorithm.name, task, metrics)


def _with_result(prepared: Prepared, settings: str, work: Work, solution: Solution) -> Work:
    return replace(work, result=Result(prepared, solution, settings))


def compare(what_if: bool = False) -> None:
    """Compare the chosen metrics in a worker, under several tie seeds if bands are wanted.

    Parameters
    ----------
    what_if
        Whether to keep the comparison that there is, as what was before an edit.
    """
    work = state.work()
    if work.busy:
        return
    try:
        plan = plan_of(work)
        metrics = compared_metrics(work)
        if what_if and "custom" in usable_metrics(work):
            metrics = list(dict.fromkeys([*metrics, "custom"]))  # the weights were just edited
        seeds = [*dict.fromkeys([work.tie_seed, *(TIE_SEEDS if work.bands else ())])]
        wanted = configurations(plan, metrics, [plan.algorithm.strategy], seeds)
        prepared = prepare(plan, work.table)
        ks = shown_k(plan.algorithm.name, prepared.classes.n_records, also=work.k)
        tasks = tasks_of(prepared, wanted)
        replace(tasks[0], k=max(ks)).check()
    except KanonError as error:
        state.change(problem=error.sentence)
        return
    measured = measured_metrics(plan, metrics)
    empty = Comparison((), tuple(measured), prepared.classes.n_records, tuple(ks))
    before = work.comparison if what_if else None
    settings = comparison_settings(work, plan, metrics)
    then = partial(_with_comparison, empty, wanted, settings, before)
    _submit("comparison", then, solve_sweep, plan.algorithm.name, tasks, ks, measured)


def _with_comparison(
    empty: Comparison,
    wanted: Sequence[Configuration],
    settings: str,
    before: Compared | None,
    work: Work,
    found: Sequence[Curves | Points],
) -> Work:
    assert work.job is not None
    made = replace(empty, lines=lines_of(wanted, found, empty.measured))
    compared = Compared(made, settings, work.job.seconds)
    both = None if before is None else (before, compared)
    return replace(work, comparison=compared, what_if=both)


def _submit(
    doing: str,
    then: Callable[[Work, Any], Work],
    function: Callable[..., object],
    *arguments: object,
) -> None:
    job = jobs().submit(function, *arguments)
    last_job().append(job)
    state.change(job=job, doing=doing, then=then)


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
    idle: dict[str, Any] = {"job": None, "doing": "", "then": None}
    if job.state == "done":
        found = then(work, job.result)
        state.put(replace(found, **idle, problem=None, notice=None))
    elif job.state == "cancelled":
        compared = work.comparison
        bands = work.bands and compared is not None and compared.comparison.has_bands
        notice = "The run was cancelled; nothing was changed."
        state.change(**idle, bands=bands, notice=notice)
    else:
        state.change(**idle, problem=job.error)


def outdated(work: Work) -> bool:
    """Whether the result on screen was made with other settings than those chosen now."""
    return work.result is not None and _differ(work, settings_of, work.result.settings)


def comparison_outdated(work: Work) -> bool:
    """Whether the comparison on screen lacks something of what is chosen now."""
    if work.comparison is None:
        return False
    comparison = work.comparison.comparison
    there = {line.configuration.metric for line in comparison.lines}
    if not there.issuperset(compared_metrics(work)) or (work.bands and not comparison.has_bands):
        return True
    return _differ(work, partial(comparison_settings, metrics=there), work.comparison.settings)


def _differ(work: Work, settings: Callable[[Work, Plan], str], made_with: str) -> bool:
    try:
        return settings(work, plan_of(work)) != made_with
    except KanonError:
        return True
