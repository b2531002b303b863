"""Start, stop and collect the run of a session."""

from __future__ import annotations

from typing import cast

from kanon.errors import KanonError
from kanon.run import Solution, prepare, solve
from kanon.studio import state
from kanon.studio.shared import jobs, last_job
from kanon.studio.work import Result, Work, plan_of, settings_of

__all__ = ["cancel", "collect", "first", "outdated", "start"]


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
    job = jobs().submit(solve, plan.algorithm.name, task, prepared.measured_metrics())
    last_job().append(job)
    state.change(job=job, running=(prepared, settings_of(work, plan)))


def first() -> None:
    """At the first start, run the sample, so that a result is on screen."""
    work = state.work()
    if work.version == 0 and not work.started:
        state.change(started=True)
        start()


def cancel() -> None:
    """Stop the run; the result of an earlier one stays."""
    work = state.work()
    if work.job is not None:
        work.job.cancel()


def collect() -> None:
    """Take the result of a run that has ended, or say why there is none."""
    work = state.work()
    job, running = work.job, work.running
    if job is None or running is None or not job.finished:
        return
    if job.state == "done":
        prepared, settings = running
        result = Result(prepared, cast(Solution, job.result), settings)
        state.change(job=None, running=None, result=result)
    elif job.state == "cancelled":
        state.change(job=None, running=None, notice="The run was cancelled; nothing was changed.")
    else:
        state.change(job=None, running=None, problem=job.error)


def outdated(work: Work) -> bool:
    """Whether the result on screen was made with other settings than those chosen now."""
    if work.result is None:
        return False
    try:
        return settings_of(work, plan_of(work)) != work.result.settings
    except KanonError:
        return True
