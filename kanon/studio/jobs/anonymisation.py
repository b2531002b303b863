"""The run that makes a release: by the current settings, and once by itself at the first start."""

from dataclasses import replace
from functools import partial

from kanon.algorithms.solution import Solution, solve
from kanon.errors import KanonError
from kanon.plan import Plan
from kanon.run import PreparedRun, measured_metrics, prepare
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import prepare_and_solve
from kanon.studio.session import state
from kanon.studio.session.findings import Result
from kanon.studio.session.run_plan import plan_of, settings_of
from kanon.studio.session.work import Request, Work

_SOON = 0.5
"""Seconds that the first result takes once all is compiled: then no bar is drawn."""


def first() -> None:
    """Run the sample at the first start, so that a result is on screen."""
    work = state.work()
    if work.version == 0 and not work.shared.started:
        state.change(replace(state.work().shared, started=True))
        runner.run(anonymisation_request)
        if (calculation := state.work().running.get("run")) is not None:
            calculation.job.wait(_SOON)


def anonymisation_request(work: Work) -> Request:
    """Request a run of the current settings; KanonError if no release can meet the plan."""
    plan = plan_of(work)
    if isinstance(work.table.records, StoredTable):  # to count its classes may take long
        content = plan.model_dump(mode="json")
        then = partial(_store_engine_result, plan, settings_of(work, plan))
        return Request(
            "run", prepare_and_solve, (content, work.table.records), then, limit="engine_minutes"
        )
    prepared = prepare(plan, work.table.records)
    arguments = (plan.algorithm.name, prepared.check(), measured_metrics(plan, [plan.metric.name]))
    return Request(
        "run", solve, arguments, partial(_store_result, prepared, settings_of(work, plan))
    )


def _store_result(prepared: PreparedRun, settings: str, work: Work, solution: Solution) -> Work:
    return work.with_parts(replace(work.findings, result=Result(prepared, solution, settings)))


def _store_engine_result(
    plan: Plan, settings: str, work: Work, worker_answer: tuple[StoredSource, int, Solution]
) -> Work:
    source, dropped, solution = worker_answer
    if isinstance(work.table.records, StoredTable):
        work.table.records.learn(source.table)
    return _store_result(PreparedRun(plan, source, dropped), settings, work, solution)


def outdated(work: Work) -> bool:
    result = work.findings.result
    if result is None:
        return False
    try:
        return result_depends_on(work) != (True, result.settings)
    except KanonError:
        return True


def result_depends_on(work: Work) -> tuple[bool, str]:
    """Whether the result knows the chosen k, and a fingerprint of all else that it depends on."""
    result = work.findings.result
    if result is None:
        return False, ""
    most = min(work.settings.k, result.prepared.classes.n_records)
    return result.k_for(most) == most, settings_of(work, plan_of(work))
