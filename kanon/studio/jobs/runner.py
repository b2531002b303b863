"""Start, stop and collect the calculations of a session, whatever page asks for them."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from kanon.errors import KanonError
from kanon.settings import exceeded, settings
from kanon.studio.jobs.job import Job
from kanon.studio.jobs.lanes import LONG, SHORT, STUDY
from kanon.studio.jobs.pool import Jobs
from kanon.studio.jobs.processes import compile_the_rest, load_kernels
from kanon.studio.session import state
from kanon.studio.session.changed_settings import made_with
from kanon.studio.session.parts import Message
from kanon.studio.session.work import (
    OPENINGS,
    CalculationState,
    Request,
    Work,
    called,
    said_on_page,
)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The job runner of this server; its workers load the compiled kernels in advance."""
    most = settings()
    places = (most.jobs_at_once, most.long_jobs_at_once, most.studies_at_once)
    return Jobs(places, warm=load_kernels, idle=compile_the_rest)


_LANES = {"short": SHORT, "long": LONG, "study": STUDY}


def run(
    make: Callable[..., Request | Work | None],
    *arguments: object,
    refused: Callable[[Work, str], Work] = said_on_page,
    wait: float = 0,
) -> None:
    """Start a page's request in a worker; a refusal is shown and changes nothing."""
    collect()  # what has just ended is not lost, whatever comes of this one
    work = state.work()
    try:
        request = make(work, *arguments)
    except KanonError as error:
        state.put(refused(work.with_parts(Message()), error.sentence))
        return
    if isinstance(request, Request):
        if request.doing in OPENINGS:
            for doing in OPENINGS:
                cancel(doing)
            collect()
        elif request.doing in work.running:
            return
        job = _start_request(state.work(), request)
        if wait:
            job.wait(wait)
    elif request is not None:
        state.put(request.with_parts(Message()))


def _start_request(work: Work, request: Request) -> Job:
    deadline = 60 * getattr(settings(), request.limit)
    late = exceeded(request.limit, "The calculation was stopped: it took too many minutes")
    job = jobs().submit(
        request.function,
        *request.arguments,
        deadline=deadline,
        after=request.after,
        late=late,
        died=request.died,
        visitor=state.visitor(),
        name=called(request.doing),
        lane=_LANES[request.lane],
    )
    running = {**work.running, request.doing: CalculationState(job, request, work)}
    state.put(replace(request.begins(work.with_parts(Message())), running=running))
    return job


def cancel(doing: str) -> None:
    calculation = state.work().running.get(doing)
    if calculation is not None:
        calculation.job.cancel()


def collect() -> None:
    for doing, calculation in state.work().running.items():
        work = state.work()
        # An earlier one may have opened another table, which cancels the others.
        if calculation.job.finished and work.running.get(doing) is calculation:
            new = _take_over(work, calculation)
            running = {name: other for name, other in new.running.items() if name != doing}
            state.put(replace(new, running=running), calculation.request.carry)


def _take_over(work: Work, calculation: CalculationState) -> Work:
    job, request = calculation.job, calculation.request
    if job.state == "done":
        try:
            new = request.then(work, job.result)  # with what was said while it ran
        except KanonError as error:  # the table has changed meanwhile
            return _handle_failure(work, request, error.sentence)
        return (
            made_with(new, request.doing, calculation.began) if new.version == work.version else new
        )
    if job.parts:  # of a study, what was found so far stays
        cancelled = f"The {'study' if request.studying else 'search'} was cancelled."
        sentence = f"{job.error or cancelled} What was found so far is kept."
        problem, notice = (sentence, None) if job.error else (work.message.problem, sentence)
        return request.then(work, None).with_parts(Message(problem=problem, notice=notice))
    if job.state == "cancelled":
        return request.cancelled(work)
    return _handle_failure(work, request, job.error or "")


def _handle_failure(work: Work, request: Request, sentence: str) -> Work:
    silent = replace(work.message, notice=None, problem_at="")
    return request.failed(work.with_parts(silent), sentence)
