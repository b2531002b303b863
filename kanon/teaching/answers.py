"""A student's answers as a file; docs/how-to/exercises.md describes its format."""

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
from kanon.teaching.exercises import MOST_QUESTIONS, Name, validate_file

MOST_CHANGES = 2_000  # the most changes in a log; later ones are not logged


class AnswerChange(Strict):
    at: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    question: Annotated[str, StringConstraints(max_length=40)]  # the id of its question


class Answers(Strict):
    # what the file is: ``kanon-answers``, 2 for an exam's, 1 for all others
    format: Literal["kanon-answers"] = "kanon-answers"
    version: Literal[1, 2] = 1
    set: str  # the fingerprint of the exercise set
    student: Name  # a name or a pseudonym, as it was typed
    answers: dict[str, Any] = Field(default_factory=dict, max_length=MOST_QUESTIONS)
    # in an exam: when each answer was changed
    log: Annotated[list[AnswerChange], Field(max_length=MOST_CHANGES)] | None = None
    fingerprint: Annotated[str, StringConstraints(max_length=40)] | None = None

    @property
    def own_fingerprint(self) -> str:
        """Twelve letters and digits that change with anything else in the file.

        >>> Answers(set="0" * 16, student="Chi").own_fingerprint
        'QP2G-EBVE-OMUW'
        """
        content = self.model_dump(mode="json", exclude={"fingerprint"})
        text = json.dumps(content, sort_keys=True)
        letters = base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()
        return "-".join(letters[place : place + 4] for place in (0, 4, 8))

    @property
    def is_as_handed_in(self) -> bool:
        return self.log is not None and self.fingerprint == self.own_fingerprint

    def add_fingerprint(self) -> Answers:
        return self.model_copy(update={"fingerprint": self.own_fingerprint})

    def to_json(self) -> str:
        content = self.model_dump(mode="json")
        empty_keys = [key for key in ("log", "fingerprint") if content[key] is None]
        fields = {key: value for key, value in content.items() if key not in empty_keys}
        return json.dumps(fields, ensure_ascii=False, indent=1) + "\n"


def read_answers(source: Path | bytes) -> Answers:
    kind = "answer file"
    try:
        answers = validate_file(Answers, source, kind, "kanon-answers")
        answers.to_json()  # what was read can be written again
    except (RecursionError, ValueError):
        raise ExerciseError(f"The {kind} has lists nested too deeply.") from None
    return answers


def format_name_for_file(student: str) -> str:
    """A student's name as part of a file name that every system accepts.

    >>> [format_name_for_file(student) for student in (" Zoë O'Hara ", "../../etc", "?!")]
    ['Zoë-O-Hara', 'etc', 'student']
    """
    text = normalize("NFC", student)
    letters = "".join(letter if category(letter)[0] in "LMN" else " " for letter in text)
    return "-".join(letters.split())[:40].strip("-") or "student"
