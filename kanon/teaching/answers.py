"""A student's answers as a file: read, written, and whether it was changed since it was handed in.

docs/how-to/exercises.md describes the file, and what its fingerprint shows and does not show.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import category, normalize

from pydantic import Field, StringConstraints

from kanon.base.checked_json import Strict
from kanon.errors import ExerciseError
from kanon.teaching.exercises import MOST_QUESTIONS, Name, validated

MOST_CHANGES = 2_000
"""The most changes of a log; what is changed after them is not logged."""


class AnswerChange(Strict):
    """That an answer was changed.

    Attributes
    ----------
    at
        Seconds since the exam was opened.
    question
        Whose answer, by its id.
    """

    at: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    question: Annotated[str, StringConstraints(max_length=40)]


class Answers(Strict):
    """What one student answered.

    Attributes
    ----------
    format, version
        What the file is: ``kanon-answers``, 2 for an exam's, 1 for all others.
    set
        The fingerprint of the exercise set.
    student
        A name or a pseudonym, as it was typed.
    answers
        Per question, by its id, the answer; docs/how-to/exercises.md says what each kind takes.
    log
        When which answer was changed, in an exam.
    fingerprint
        What :attr:`own_fingerprint` was when an exam's answers were handed in.
    """

    format: Literal["kanon-answers"] = "kanon-answers"
    version: Literal[1, 2] = 1
    set: str
    student: Name
    answers: dict[str, Any] = Field(default_factory=dict, max_length=MOST_QUESTIONS)
    log: Annotated[list[AnswerChange], Field(max_length=MOST_CHANGES)] | None = None
    fingerprint: Annotated[str, StringConstraints(max_length=40)] | None = None

    @property
    def own_fingerprint(self) -> str:
        """Twelve letters and digits that change with anything else in the file.

        Few enough to be written down: on paper it is out of reach of whoever changes the file and
        works out a new fingerprint for it.

        >>> Answers(set="0" * 16, student="Chi").own_fingerprint
        'QP2G-EBVE-OMUW'
        """
        content = self.model_dump(mode="json", exclude={"fingerprint"})
        text = json.dumps(content, sort_keys=True)
        letters = base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()
        return "-".join(letters[place : place + 4] for place in (0, 4, 8))

    @property
    def as_handed_in(self) -> bool:
        """Whether they have a log, and the fingerprint that they should have."""
        return self.log is not None and self.fingerprint == self.own_fingerprint

    def handed_in(self) -> Answers:
        """The same with its fingerprint."""
        return self.model_copy(update={"fingerprint": self.own_fingerprint})

    def to_json(self) -> str:
        """The answers as a file."""
        content = self.model_dump(mode="json")
        left_out = [key for key in ("log", "fingerprint") if content[key] is None]
        kept = {key: value for key, value in content.items() if key not in left_out}
        return json.dumps(kept, ensure_ascii=False, indent=1) + "\n"


def read_answers(source: Path | bytes) -> Answers:
    """Read a student's answers; what they are worth is for :func:`kanon.teaching.marks.score`.

    Parameters
    ----------
    source
        A file, or what is in it: at most 1 MB.

    Raises
    ------
    ExerciseError
        It cannot be read, or is no file of answers.
    """
    what = "answer file"
    try:
        found: Answers = validated(Answers, source, what, "kanon-answers")
        found.to_json()  # what was read can be written again
    except (RecursionError, ValueError):
        raise ExerciseError(
            f"The {what} has lists within lists to a depth that is not allowed."
        ) from None
    return found


def name_in_file(student: str) -> str:
    """A name as it can stand in the name of a file, on any system.

    >>> name_in_file(" Zoë O'Hara "), name_in_file("../../etc"), name_in_file("?!")
    ('Zoë-O-Hara', 'etc', 'student')
    """
    whole = normalize("NFC", student)
    kept = "".join(letter if category(letter)[0] in "LMN" else " " for letter in whole)
    return "-".join(kept.split())[:40].strip("-") or "student"
