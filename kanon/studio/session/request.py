"""A calculation that a page asks for: what is done, and what becomes of the session's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from kanon.studio.session.work import Work, with_fields

Limit = Literal["job_minutes", "study_minutes", "engine_minutes"]
"""The setting that says how long it may take."""

Lane = Literal["short", "long", "study"]
"""What it is held to be before it is known: short, longer than seconds, hours."""


OPENINGS = ("uploading", "opening", "reading", "project", "people")
"""What opens a file. A session opens one at a time, the last it asked for, as each takes memory."""


def called(doing: str) -> str:
    """What a calculation is called where it stands among others."""
    return {
        "advising": "The advisor",
        "bound": "The lower bound",
        "closer": "A closer lower bound",
        "combining": "Releases put together",
        "comparison": "Comparing",
        "counting": "Counting the classes",
        "exercises": "The exercise set",
        "lattice": "The lattice",
        "learning": "Learning",
        "marking": "Marking",
        "opening": "Opening a table",
        "people": "Opening a table",
        "predicting": "Learning from releases",
        "project": "Reading the table",
        "reading": "Reading the table",
        "releasing": "Anonymising and writing the release",
        "reporting": "The report",
        "reverse": "The greatest k",
        "run": "Anonymising",
        "searches": "The searches",
        "simulating": "The study",
        "singling": "Columns together",
        "uploading": "Opening a table",
        "writing": "Writing the release",
    }[doing]


class Calculation(Protocol):
    """A :class:`kanon.studio.jobs.pool.Job`, as far as a session and pages look at it."""

    @property
    def state(self) -> str:
        """Where it stands."""

    @property
    def finished(self) -> bool:
        """Whether it has ended."""

    @property
    def progress(self) -> float:
        """The share that is done."""

    @property
    def text(self) -> str:
        """What it does now."""

    @property
    def result(self) -> object:
        """What came out."""

    @property
    def parts(self) -> tuple[object, ...]:
        """What was found so far."""

    @property
    def error(self) -> str | None:
        """What went wrong."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, at most so many seconds; whether it has."""

    @property
    def seconds(self) -> float:
        """How long it has taken."""

    @property
    def remaining(self) -> float | None:
        """How long it may still take."""

    def cancel(self) -> None:
        """End it."""


def cancelled_run(work: Work) -> Work:
    """The work after a run was cancelled: nothing has changed."""
    return with_fields(work, notice="The run was cancelled; nothing was changed.")


def opening_cancelled(work: Work) -> Work:
    """The work after the opening of a file or a table was cancelled: nothing has changed."""
    return with_fields(work, notice="Opening was cancelled; nothing was changed.")


def reading_cancelled(work: Work) -> Work:
    """The work after reading the table once more was cancelled: nothing has changed."""
    return with_fields(work, notice="Reading was cancelled; nothing was changed.")


def said_on_page(work: Work, sentence: str) -> Work:
    """The work with what went wrong said at the head of the page, after what is said there."""
    return with_fields(work, problem=" ".join(filter(None, [work.message.problem, sentence])))


@dataclass(frozen=True, eq=False)
class Request:
    """What a page asks for."""

    doing: str  # What is done, in a word of :func:`called`; a session does each once at a time
    function: Callable[..., object]  # What a worker calls, after its progress
    arguments: tuple[object, ...]
    # The work with the result; with None of a study that ended early, whose findings are the parts
    # of the job, and of what was complete although it was cancelled.
    then: Callable[[Work, Any], Work]
    limit: Limit = "job_minutes"  # See :data:`Limit`
    # See :data:`Lane`. What is short may be begun twice, so that what writes never is.
    lane: Lane = "short"
    # The work while it is done, beside that it is.
    begins: Callable[[Work], Work] = lambda work: work
    # What is done whatever came of it; see :meth:`kanon.studio.jobs.pool.Jobs.submit`.
    after: Callable[[], object] = lambda: None
    cancelled: Callable[[Work], Work] = cancelled_run  # The work after it was cancelled
    # The work with the sentence that says why it failed.
    failed: Callable[[Work, str], Work] = said_on_page
    # What is said where its worker died; see :meth:`kanon.studio.jobs.pool.Jobs.submit`.
    died: str = ""
    studying: str = ""  # Of a study the fingerprint that its findings are kept under
    # Whether what is the user's comes along; see :func:`kanon.studio.session.state.put`.
    carry: bool = True
