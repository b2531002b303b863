"""The exercise set of the page Learn: what was answered, checked, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from kanon.teaching.answers import AnswerChange
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.marks import ClassMarks
from kanon.teaching.question import Mark


def clock() -> float:
    """Seconds by the clock of the server, which nobody sets."""
    return monotonic()


@dataclass(frozen=True, eq=False)
class Attempt:
    """What one student does with one set.

    Attributes
    ----------
    answers
        Per question, by its id, the answer as files hold it; what was not touched is not there.
    marks
        What the answers are worth that were checked and not changed since.
    hinted, shown
        The questions whose hint is shown, and whose solution is.
    before
        How it was before many answers were changed at once, to go back to.
    opened
        When it began, by the clock of the server.
    log
        When which answer was changed, in an exam.
    closed
        Whether nothing can be changed any more, as an exam was closed here.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    hinted: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    before: Attempt | None = None
    opened: float = field(default_factory=clock)
    log: tuple[AnswerChange, ...] = ()
    closed: bool = False


@dataclass(frozen=True, eq=False)
class Scores:
    """The answers of a class to the set of that fingerprint, marked."""

    fingerprint: str
    marks: ClassMarks


@dataclass(frozen=True, eq=False)
class ExercisesView:
    """What is shown.

    Attributes
    ----------
    opened
        The set that was loaded; None for the one that comes with kanon.
    place
        The place of the question that is shown; after the last one comes handing in.
    attempts
        What was done with each set, by its fingerprint.
    student
        The name or pseudonym, as it was typed.
    metric, solutions
        Whose costs the handout shows, empty for those that its questions go by; and whether it has
        the solutions.
    scores
        The marks of a class.
    uploads
        How many files were taken, so that a field does not hand over a file again.
    """

    opened: ExerciseSet | None = None
    place: int = 0
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    student: str = ""
    metric: str = ""
    solutions: bool = False
    scores: Scores | None = None
    uploads: int = 0
