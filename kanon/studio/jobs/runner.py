"""Start, stop and collect the one calculation of a session, whatever page asks for it."""

from __future__ import annotations

from collections.abc import Callable

from kanon.base.language import say
from kanon.errors import KanonError
from kanon.settings import exceeded, settings
from kanon.studio.jobs.lanes import LONG, SHORT, STUDY
from kanon.studio.jobs.pool import Job
from kanon.studio.jobs.server_pool import jobs
from kanon.studio.session import state
from kanon.studio.session.request import Request, said_on_page
from kanon.studio.session.work import Work, with_fields

_LANES = {"short": SHORT, "long": LONG, "study": STUDY}


def run(
    make: Callable[..., Request | Work | None],
    *arguments: object,
    refused: Callable[[Work, str], Work] = said_on_page,
    instead: bool = False,
    wait: float = 0,
) -> None:
    """Have a worker do what a page asks for; what cannot be done is said and changes nothing.

    Parameters
    ----------
    make
        Makes the request from the work and the arguments; the work if the result is known without
        a calculation; None if there is nothing to be done.
    *arguments
        What ``make`` is given beside the work.
    refused
        The work with the sentence that says why it cannot be done.
    instead
        Whether it takes the place of a calculation under way; else that one goes on alone.
    wait
        For how many seconds it is waited for before the page is drawn, if it may be done so soon.
    """
    if instead:
        collect()  # what has just ended is not lost, whatever comes of this one
    work = state.work()
    if work.busy and not instead:
        return
    try:
        made = make(work, *arguments)
    except KanonError as error:
        state.put(refused(_silent(work), error.sentence))
        return
    if isinstance(made, Request):
        if instead:  # a study keeps what it has found so far
            cancel()
            collect()
        job = _submit(state.work(), made)
        if wait:
            job.wait(wait)
    elif made is not None:
        state.put(with_fields(made, problem=None, notice=None))


def _submit(work: Work, request: Request) -> Job:
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
        lane=_LANES[request.lane],
    )
    state.put(with_fields(request.begins(_silent(work)), job=job, request=request))
    return job


def cancel() -> None:
    """Stop the calculation; what an earlier one found stays."""
    work = state.work()
    if work.running.job is not None:
        work.running.job.cancel()


def collect() -> None:
    """Take what a calculation that has ended found, or say why there is nothing."""
    work = state.work()
    job, request = work.running.job, work.running.request
    if job is None or request is None or not job.finished:
        return
    if job.state == "done":
        try:
            new = request.then(work, job.result)  # with what was said while it ran
        except KanonError as error:  # the table has changed meanwhile
            new = _failed(work, request, error.sentence)
    elif job.parts:  # of a study, what was found so far stays
        ended = job.error or say("The study was cancelled.")
        kept = ended + " " + say("What was found so far is kept.")
        problem, notice = (kept, None) if job.error else (work.message.problem, kept)
        new = with_fields(request.then(work, None), problem=problem, notice=notice)
    elif job.state == "cancelled":
        new = request.cancelled(work)
    else:
        new = _failed(work, request, job.error or "")
    state.put(with_fields(new, job=None, request=None), request.carry)


def _failed(work: Work, request: Request, sentence: str) -> Work:
    return request.failed(with_fields(work, notice=None, problem_at=""), sentence)


def _silent(work: Work) -> Work:
    """The work without what was said before."""
    return with_fields(work, problem=None, notice=None, problem_at="")
