"""The runs of *Anonymise*: by its settings, and for more k; and the use of other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from kanon.algorithms.catalogue import algorithm_named, serves_every_k
from kanon.algorithms.solution import Solution, run_algorithm, solve_more_k
from kanon.errors import KanonError
from kanon.plan import Plan
from kanon.recoding import Recoding
from kanon.run import PreparedRun, Run, measured_metrics, prepare
from kanon.settings import get_settings
from kanon.sources.stored import StoredTable
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Table
from kanon.studio.jobs import runner
from kanon.studio.jobs.stored_table import prepare_and_solve
from kanon.studio.session import state
from kanon.studio.session.changed_settings import (
    SettingsChange,
    describe_change,
    is_still_current,
    record_start_state,
)
from kanon.studio.session.findings import AnonymisationResult
from kanon.studio.session.parts import Message, RunSettings, StateSection
from kanon.studio.session.run_plan import build_plan, hash_run_inputs
from kanon.studio.session.sample_results import build_sample_key, get_sample_results
from kanon.studio.session.work import JobRequest, SessionState

_SOON = 0.5
"""Seconds that the first result takes once all is compiled: then no bar is drawn."""


def run_first_time() -> None:
    """Run the sample at the first start, so that a result is on screen."""
    work = state.get_session()
    if work.version or work.findings.result is not None:
        return
    if state.is_first_time("first-run", work.version):
        runner.run_request(request_anonymisation)
        if (calculation := state.get_session().running.get("run")) is not None:
            runner.wait_for_job(calculation.job, _SOON)


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
    task = prepared.check()
    arguments = (plan.algorithm.name, task, measured_metrics(plan, [plan.metric.name]))
    settings = hash_run_inputs(work, plan)
    serves_all = serves_every_k(plan.algorithm.name, task.outliers or task.level_bounds)
    k = None if serves_all and not (task.others or task.of_release) else plan.k
    return JobRequest(
        "run",
        run_algorithm,
        arguments,
        partial(_store_result, prepared, settings),
        sample_key=_build_run_key(work, plan, k),
    )


def _build_run_key(work: SessionState, plan: Plan, k: int | None) -> str:
    return build_sample_key(work, hash_run_inputs(replace(work, version=0), plan), k)


def _store_result(
    prepared: PreparedRun, settings: str, work: SessionState, solution: Solution
) -> SessionState:
    return work.replace_sections(work.findings.keep_solution(prepared, solution, settings))


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


def show_known_result(work: SessionState) -> SessionState:
    """The state that shows the result kept for the current settings; the same if there is none."""
    try:
        result = work.findings.results.get(hash_run_inputs(work, build_plan(work)))
    except KanonError:
        return work
    if result is None or result is work.findings.result:
        return work
    known = work.replace_sections(replace(work.findings, result=result))
    return record_start_state(known, "run", work)


# --- a release in a worker ----------------------------------------------------------------------
class ReleaseParts(NamedTuple):
    """What a worker needs to make a release again, without what is quickly computed."""

    content: Mapping[str, Any]  # of its plan
    table: Table
    recoding: Recoding


def take_apart(run: Run, table: Table) -> ReleaseParts:
    return ReleaseParts(run.prepared.plan.model_dump(mode="json"), table, run.recoding)


def put_together(parts: ReleaseParts) -> Run:
    prepared = prepare(Plan.from_content(parts.content), parts.table)
    return Run(prepared, parts.recoding, 0.0)


# --- more k -------------------------------------------------------------------------------------
_CHUNK = 4.0  # seconds of runs behind the page after which the curve is drawn with their k


def run_chosen_k() -> None:
    """Run for the chosen k, once, if the result lacks only that; the run for another k ends."""
    work = state.get_session()
    result = work.findings.result
    if result is None or "run" in work.running or not _lacks_only_k(work, result):
        return
    k = min(work.settings.k, result.prepared.classes.n_records)
    if state.is_first_time("k-begun", (result.settings, k)):
        runner.cancel_job("k")
        runner.run_request(_build_k_request, result, "k", [k], 0.0, wait=_SOON)
        runner.collect_jobs()


def _lacks_only_k(work: SessionState, result: AnonymisationResult) -> bool:
    try:
        return get_result_inputs(work) == (False, result.settings)
    except KanonError:
        return False


def request_curve(work: SessionState) -> JobRequest | None:
    """Request the next k of a curve that needs a run per k; None if there is nothing to do."""
    result = work.findings.result
    if result is None or result.solution.path is not None or result.prepared.classes.in_engine:
        return None
    card = algorithm_named(result.prepared.plan.algorithm.name).CARD
    missing, left = result.list_missing_k(work.settings.k), get_settings().curve_seconds
    left -= result.seconds_behind
    if card.one_k or not missing or result.solution.seconds > left:
        return None
    return _build_k_request(work, result, "curve", missing, min(_CHUNK, left))


def _build_k_request(
    work: SessionState, result: AnonymisationResult, doing: str, ks: list[int], seconds: float
) -> JobRequest:
    plan, path = build_plan(work), result.solution.path
    task = replace(result.prepared, plan=plan).task()
    task.for_k(ks[0]).check()
    metrics = measured_metrics(plan, [plan.metric.name])
    keys = {k: "" if path is not None else _build_run_key(work, plan, k) for k in ks}
    return JobRequest(
        doing,
        solve_more_k,
        (plan.algorithm.name, task, ks, metrics, path, seconds),
        partial(_store_more_k, doing, result.settings, keys),
        lane="long" if doing == "curve" else "short",
        begins=lambda new: replace(new, message=work.message),  # moving k answers no message
        handle_cancel=lambda work: work,
        sample_key="" if doing == "curve" else keys[ks[0]],
    )


def _store_more_k(
    doing: str,
    settings: str,
    keys: Mapping[int, str],
    work: SessionState,
    of_sample: Solution | None,
) -> SessionState:
    parts: Any = [(of_sample, 0.0)] if of_sample else work.running[doing].job.parts
    findings = work.findings
    for key, (solution, seconds) in zip(keys.values(), parts, strict=False):  # that fitted in time
        get_sample_results().put(key, solution)
        if known := findings.results.get(settings):
            behind = seconds if doing == "curve" else 0.0
            findings = findings.keep_solution(known.prepared, solution, settings, False, behind)
    return work.replace_sections(findings)


# --- other settings -----------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class UsedSettings(StateSection):
    """What *Use this* last made the settings of *Anonymise*."""

    title: str = ""
    change: SettingsChange | None = None
    runs_on_arrival: bool = False  # Whether the page starts the run when it is opened next


def use_settings(work: SessionState, settings: RunSettings, title: str) -> SessionState:
    """Make these the settings; the result is shown if it is known, else *Anonymise* starts it."""
    change = describe_change(work, work.view(UsedSettings).change, settings)
    used = UsedSettings(title, change, runs_on_arrival=True)
    return show_known_result(work.replace_sections(settings, used, Message()))


def can_undo_use(work: SessionState) -> bool:
    return is_still_current(work, work.view(UsedSettings).change)


def undo_use(work: SessionState) -> SessionState:
    change = work.view(UsedSettings).change
    if change is None or not can_undo_use(work):
        return work
    return show_known_result(change.undo(work).replace_sections(UsedSettings(), Message()))
