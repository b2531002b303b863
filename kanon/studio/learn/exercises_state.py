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
    """What one student does with one set."""

    answers: Mapping[str, Any] = field(default_factory=dict)  # by question, as files hold them
    marks: Mapping[str, Mark] = field(default_factory=dict)  # of answers that did not change since
    hinted: frozenset[str] = frozenset()  # questions whose hint is visible
    shown: frozenset[str] = frozenset()  # questions whose solution is visible
    before: Attempt | None = None  # before many answers changed at once
    opened: float = field(default_factory=clock)
    log: tuple[AnswerChange, ...] = ()  # which answer changed when, in an exam
    closed: bool = False  # an exam that was closed here


@dataclass(frozen=True, eq=False)
class Scores:
    """The answers of a class to the set of that fingerprint, marked."""

    fingerprint: str
    marks: ClassMarks


@dataclass(frozen=True, eq=False)
class ExercisesView:
    """What is shown."""

    opened: ExerciseSet | None = None
    place: int = 0  # after the last question comes handing in
    attempts: Mapping[str, Attempt] = field(default_factory=dict)  # by the fingerprint of the set
    student: str = ""
    metric: str = ""  # of the handout; empty for those of its questions
    solutions: bool = False  # whether the handout has them
    scores: Scores | None = None
    uploads: int = 0  # files taken, so that a field hands over none twice
