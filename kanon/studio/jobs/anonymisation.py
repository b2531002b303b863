"""The run that makes a release: by the current settings, and once by itself at the first start."""

from dataclasses import replace
from functools import partial

from kanon.algorithms.solution import Solution, run_algorithm
from kanon.errors import KanonError
from kanon.plan import Plan
from kanon.run import PreparedRun, measured_metrics, prepare
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import prepare_and_solve
from kanon.studio.session import state
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.work import JobRequest, SessionState

_SOON = 0.5
"""Seconds that the first result takes once all is compiled: then no bar is drawn."""


def run_first_time() -> None:
    """Run the sample at the first start, so that a result is on screen."""
    work = state.get_session()
    if work.version == 0 and not work.shared.first_run_started:
        state.update_sections(replace(state.get_session().shared, first_run_started=True))
        runner.run_request(request_anonymisation)
        if (calculation := state.get_session().running.get("run")) is not None:
            calculation.job.wait(_SOON)


def request_anonymisation(work: SessionState) -> JobRequest:
    """Request a run of the current settings; KanonError if no release can meet the plan."""
    plan = build_plan(work)
    if isinstance(work.table.records, StoredTable):  # to count its classes may take long
        content = plan.model_dump(mode="json")
        then = partial(_store_engine_result, plan, hash_run_inputs(work, plan))
        return JobRequest(
            "run", prepare_and_solve, (content, work.table.records), then, limit="engine_minutes"
        )
    prepared = prepare(plan, work.table.records)
    arguments = (plan.algorithm.name, prepared.check(), measured_metrics(plan, [plan.metric.name]))
    return JobRequest(
        "run",
        run_algorithm,
        arguments,
        partial(_store_result, prepared, hash_run_inputs(work, plan)),
    )


def _store_result(
    prepared: PreparedRun, settings: str, work: SessionState, solution: Solution
) -> SessionState:
    return work.replace_sections(
        replace(work.findings, result=AnonymisationResult(prepared, solution, settings))
    )


def _store_engine_result(
    plan: Plan, settings: str, work: SessionState, worker_answer: tuple[StoredSource, int, Solution]
) -> SessionState:
    source, dropped, solution = worker_answer
    if isinstance(work.table.records, StoredTable):
        work.table.records.collect_answers(source.table)
    return _store_result(PreparedRun(plan, source, dropped), settings, work, solution)


def has_outdated_result(work: SessionState) -> bool:
    result = work.findings.result
    if result is None:
        return False
    try:
        return get_result_inputs(work) != (True, result.settings)
    except KanonError:
        return True


def get_result_inputs(work: SessionState) -> tuple[bool, str]:
    """Whether the result knows the chosen k, and a fingerprint of all else that it depends on."""
    result = work.findings.result
    if result is None:
        return False, ""
    most = min(work.settings.k, result.prepared.classes.n_records)
    return result.k_for(most) == most, hash_run_inputs(work, build_plan(work))
