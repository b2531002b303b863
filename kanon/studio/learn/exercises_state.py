"""The exercise set of the page Learn: what was answered, checked, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.question import Mark


@dataclass(frozen=True, eq=False)
class Attempt:
    """What one student does with one set.

    Attributes
    ----------
    answers
        Per question, by its id, the answer as files hold it; what was not touched is not there.
    marks
        What the answers are worth that were checked and not changed since.
    shown
        The questions whose best answer is shown.
    before
        How it was before many answers were changed at once, to go back to.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    before: Attempt | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """The answers of a class, marked; see :func:`kanon.teaching.exercises.score_files`."""

    fingerprint: str
    table: pd.DataFrame


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
