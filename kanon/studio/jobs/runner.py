"""Start, stop and collect the calculations of a session, whatever page asks for them."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from kanon.errors import KanonError
from kanon.settings import describe_exceeded_limit, get_settings
from kanon.studio.jobs.durations import Effort, get_durations
from kanon.studio.jobs.job import Job
from kanon.studio.jobs.lanes import LONG, SHORT, STUDY
from kanon.studio.jobs.pool import Jobs
from kanon.studio.jobs.processes import load_kernels, start_compiling_rest
from kanon.studio.session import state
from kanon.studio.session.changed_settings import record_start_state
from kanon.studio.session.parts import Message
from kanon.studio.session.sample_results import get_sample_results
from kanon.studio.session.server import give_turn_away
from kanon.studio.session.work import (
    BEHIND,
    BY_ITSELF,
    OPENINGS,
    JobHandle,
    JobRequest,
    RunningJob,
    SessionState,
    add_problem,
)


@st.cache_resource(show_spinner=False)
def get_jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    most = get_settings()
    places = (most.jobs_at_once, most.long_jobs_at_once, most.studies_at_once)
    return Jobs(places, warm=load_kernels, idle=start_compiling_rest)


_LANES = {"short": SHORT, "long": LONG, "study": STUDY}


def run_request(
    make: Callable[..., JobRequest | SessionState | None],
    *arguments: object,
    refused: Callable[[SessionState, str], SessionState] = add_problem,
    wait: float = 0,
    effort: Effort | None = None,
) -> None:
    """Start a page's request in a worker; a refusal is shown and changes nothing.

    ``effort``: how much work it is, from which later durations are learnt.
    """
    collect_jobs()  # what has just ended is not lost, whatever comes of this one
    work = state.get_session()
    try:
        request = make(work, *arguments)
    except KanonError as error:
        state.set_session(refused(work.replace_sections(Message()), error.sentence))
        return
    if isinstance(request, JobRequest):
        if request.job_name in OPENINGS:
            for doing in OPENINGS:
                cancel_job(doing)
            collect_jobs()
        elif request.job_name in work.running:
            return
        if request.job_name not in BY_ITSELF:
            _stop_behind()
        known = get_sample_results().get(request.sample_key)
        if known is not None:
            _use_known_result(request, known)
            return
        job = _start_request(state.get_session(), request, effort or {})
        wait_for_job(job, wait)
    elif request is not None:
        state.set_session(request.replace_sections(Message()))


def _stop_behind() -> None:
    """Make room for what a user wants; what is stopped keeps its results and begins again later."""
    for doing in BEHIND:
        if doing in state.get_session().running:
            cancel_job(doing)
            state.clear_cache_entry(f"{doing}-begun")
    collect_jobs()


def _use_known_result(request: JobRequest, known: object) -> None:
    work = state.get_session()
    new = request.store_result(request.begins(work.replace_sections(Message())), known)
    state.set_session(record_start_state(new, request.job_name, work))


def wait_for_job(job: JobHandle, seconds: float) -> None:
    """Wait a moment for a short one, so that no bar is drawn; meanwhile others' pages are drawn."""
    if seconds:
        give_turn_away()
        job.wait(seconds)


def _start_request(work: SessionState, request: JobRequest, effort: Effort) -> Job:
    deadline = request.seconds or 60 * getattr(get_settings(), request.limit)
    late = describe_exceeded_limit(
        request.limit, "The calculation was stopped: it took too many minutes"
    )
    job = get_jobs().submit(
        request.function,
        *request.arguments,
        deadline=deadline,
        after=request.after,
        late=late,
        died=request.death_message,
        visitor=state.get_visitor(),
        lane=_LANES[request.lane],
        behind=request.job_name in BEHIND,
    )
    running = {**work.running, request.job_name: RunningJob(job, request, work, effort)}
    state.set_session(replace(request.begins(work.replace_sections(Message())), running=running))
    return job


def cancel_job(doing: str) -> None:
    calculation = state.get_session().running.get(doing)
    if calculation is not None:
        calculation.job.cancel()


def collect_jobs() -> None:
    for doing, calculation in state.get_session().running.items():
        work = state.get_session()
        # An earlier one may have opened another table, which cancels the others.
        if calculation.job.finished and work.running.get(doing) is calculation:
            new = _take_over(work, calculation)
            running = {name: other for name, other in new.running.items() if name != doing}
            state.set_session(replace(new, running=running), calculation.request.keep_user_items)


def _take_over(work: SessionState, calculation: RunningJob) -> SessionState:
    job, request = calculation.job, calculation.request
    if request.job_name in BEHIND:  # nobody asked for it, so nothing is said however it ended
        return request.store_result(work, job.result)
    if job.state == "done":
        get_durations().learn(calculation.effort, job.seconds)
        get_sample_results().put(request.sample_key, job.result)
        try:
            new = request.store_result(work, job.result)  # with what was said while it ran
        except KanonError as error:  # the table has changed meanwhile
            return _handle_failure(work, request, error.sentence)
        return _record_start(new, work, calculation)
    if job.parts:  # of a study, what was found so far stays
        cancelled = f"The {request.noun} was cancelled."
        sentence = f"{job.error or cancelled} What was found so far is kept."
        problem, notice = (sentence, None) if job.error else (work.message.problem, sentence)
        new = request.store_result(work, None)
        message = Message(problem=problem, notice=notice)
        return _record_start(new, work, calculation).replace_sections(message)
    if job.state == "cancelled":
        return request.handle_cancel(work)
    return _handle_failure(work, request, job.error or "")


def _record_start(new: SessionState, work: SessionState, calculation: RunningJob) -> SessionState:
    if new.version != work.version:
        return new
    return record_start_state(new, calculation.request.job_name, calculation.began)


def _handle_failure(work: SessionState, request: JobRequest, sentence: str) -> SessionState:
    silent = replace(work.message, notice=None, problem_at="")
    return request.handle_failure(work.replace_sections(silent), sentence)
