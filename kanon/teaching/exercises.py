"""Exercise sets and answers as files, described in docs/how-to/exercises.md.

Solutions are computed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from unicodedata import category, normalize

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
)

from kanon.base.checked_json import Strict, describe_problem, read_json
from kanon.base.formatting import write_count
from kanon.base.own_files import find_own_file
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import ExerciseError, KanonError, PlanError, list_names, quote
from kanon.settings import MEGABYTE, read_up_to
from kanon.teaching.exam_code import EXAM_LIMITS, check_code, check_hash
from kanon.teaching.question import Help, Mark
from kanon.teaching.questions import KINDS, AnyQuestion
from kanon.teaching.small_tables import ExerciseTable, SmallTable

BUILT_IN = find_own_file("sample_data", "exercises", "first-set.json")
"""The exercise set that comes with kanon."""

MOST_QUESTIONS = 50  # the most questions of a set

MEGABYTES = 1  # the most for a set, and for a file of answers

_MOST_BYTES = MEGABYTES * MEGABYTE

_MOST_TABLES = 20

M = TypeVar("M", bound=BaseModel)

Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ExerciseSet(Strict):
    # what the file is: ``kanon-exercises``, 1
    format: Literal["kanon-exercises"] = "kanon-exercises"
    version: Literal[1] = 1
    title: Name = Field(title="Title of the set")
    author: Annotated[str, StringConstraints(max_length=100)] = Field(
        default="", title="Author, may be empty"
    )
    # in an exam answers are marked only after they were handed in
    exam: Annotated[bool, Field(strict=True)] = Field(
        default=False,
        title="It is an exam",
        description="Students cannot check their answers. Marks and solutions need the teacher's "
        f"code. {EXAM_LIMITS}",
    )
    # of an exam, the salt and the hash of the teacher's code
    code: Annotated[str, AfterValidator(check_hash)] = ""
    tables: dict[Name, ExerciseTable] = Field(min_length=1, max_length=_MOST_TABLES)
    questions: list[AnyQuestion] = Field(min_length=1, max_length=MOST_QUESTIONS)
    _is_unlocked: bool = PrivateAttr(default=False)

    @property
    def is_locked(self) -> bool:
        """Whether it is an exam whose code was not given."""
        return self.exam and not self._is_unlocked

    def unlock(self, code: str) -> ExerciseSet:
        """This exam with its marks and solutions open; an ``ExerciseError`` for a wrong code."""
        check_code(code, self.code)
        unlocked = self.model_copy()
        unlocked._is_unlocked = True
        return unlocked

    def check_unlocked(self) -> None:
        if self.is_locked:
            raise ExerciseError("This is an exam: its marks and solutions need the teacher's code.")

    @cached_property
    def made(self) -> Mapping[str, SmallTable]:
        tables = {}
        for name, table in self.tables.items():
            try:
                tables[name] = table.build_small_table()
            except KanonError as error:
                raise error.add_place(f"Table {quote(name)}") from None
        return tables

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that link files of answers to this set."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def points(self) -> float:
        return sum(question.points for question in self.questions)

    def get_table(self, question: AnyQuestion) -> SmallTable:
        return self.made[question.table]

    def mark(self, question: AnyQuestion, answer: Any) -> Mark:
        self.check_unlocked()
        if answer is None:
            return Mark(0.0, "Not answered.")
        return question.mark(self.get_table(question), answer)

    def check(
        self,
        progress: Progress = ignore_progress,
        describe: Callable[[int, AnyQuestion], str] = lambda _, q: f"Question {quote(q.id)}",
    ) -> None:
        """Check what no single key shows: tables, names, and that all questions have an answer."""
        if self.exam and not self.code:
            raise ExerciseError(
                "It is an exam without a teacher's code. Type one in the editor of the page Learn. "
                "To open such a file there, first set its key 'exam' to false."
            )
        names = [question.id for question in self.questions]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ExerciseError(f"Two questions have the id {quote(twice[0])}; give each its own.")
        known = list_names(self.made, most=_MOST_TABLES)
        for number, question in enumerate(self.questions, start=1):
            place = describe(number, question)
            if question.table not in self.made:
                raise ExerciseError(
                    f"{place}: there is no table {quote(question.table)}; choose from {known}."
                )
            try:
                question.check(self.get_table(question))
            except KanonError as error:
                raise error.add_place(place) from None
            progress(number / len(self.questions), f"Question {number} of {len(self.questions)}")

    def to_json(self) -> str:
        unused = set() if self.code else {"code"}
        content = self.model_dump(mode="json", exclude_none=True, exclude=unused)
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def read_exercises(source: Path | bytes, progress: Progress = ignore_progress) -> ExerciseSet:
    exercises = validate_file(ExerciseSet, source, "exercise file", "kanon-exercises")
    exercises.check(progress)
    return exercises


def validate_file(model: type[M], source: Path | bytes, kind: str, name: str) -> M:
    content = _read_checked_json(source, kind)
    if not isinstance(content, dict) or content.get("format") != name:
        raise ExerciseError(f"This is not an {kind}: it must be an object with format '{name}'.")
    return validate_content(model, content, kind)


def validate_content(model: type[M], content: Any, kind: str) -> M:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = list(first["loc"])
        if place[:1] == ["questions"]:
            del place[2:3]  # its kind, by which pydantic chose the class
        path = ".".join(map(str, place))
        if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
            raise ExerciseError(
                f"{kind.capitalize()} key {path}.kind must be one of {', '.join(KINDS)}."
            ) from None
        raise describe_problem(first, path, kind, ExerciseError) from None


def _read_checked_json(source: Path | bytes, kind: str) -> Any:
    try:
        data, size = (
            read_up_to(MEGABYTES * MEGABYTE, source)
            if isinstance(source, Path)
            else (source, len(source))
        )
    except (OSError, ValueError):
        raise ExerciseError(f"The {kind} cannot be read; it has to be JSON in UTF-8.") from None
    if size > MEGABYTES * MEGABYTE:
        raise ExerciseError(
            f"The {kind} is {write_count(size)} bytes; the limit is {write_count(_MOST_BYTES)}."
        )
    try:
        return read_json(data, f"The {kind}")
    except PlanError as error:
        raise ExerciseError(str(error)) from None


# --- answers --------------------------------------------------------------------------------
MOST_CHANGES = 2_000  # the most changes in a log; later ones are not logged


class AnswerChange(Strict):
    at: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    question: Annotated[str, StringConstraints(max_length=40)]  # the id of its question


class Answers(Strict):
    # what the file is: ``kanon-answers``, 2 for an exam's, 3 where help was seen, 1 for all others
    format: Literal["kanon-answers"] = "kanon-answers"
    version: Literal[1, 2, 3] = 1
    set: str  # the fingerprint of the exercise set
    student: Name  # a name or a pseudonym, as it was typed
    answers: dict[str, Any] = Field(default_factory=dict, max_length=MOST_QUESTIONS)
    # in practice: the help that was seen, by question
    help_seen: dict[str, Help] = Field(default_factory=dict, max_length=MOST_QUESTIONS)
    # in an exam: when each answer was changed
    log: Annotated[list[AnswerChange], Field(max_length=MOST_CHANGES)] | None = None
    fingerprint: Annotated[str, StringConstraints(max_length=40)] | None = None

    @property
    def own_fingerprint(self) -> str:
        """Twelve letters and digits that change with anything else in the file.

        >>> Answers(set="0" * 16, student="Chi").own_fingerprint
        'QP2G-EBVE-OMUW'
        """
        content = self._build_content("fingerprint")
        text = json.dumps(content, sort_keys=True)
        letters = base64.b32encode(hashlib.sha256(text.encode()).digest()).decode()
        return "-".join(letters[place : place + 4] for place in (0, 4, 8))

    @property
    def is_as_handed_in(self) -> bool:
        return self.log is not None and self.fingerprint == self.own_fingerprint

    def add_fingerprint(self) -> Answers:
        return self.model_copy(update={"fingerprint": self.own_fingerprint})

    def to_json(self) -> str:
        empty_keys = [key for key in ("log", "fingerprint") if getattr(self, key) is None]
        content = self._build_content(*empty_keys)
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def _build_content(self, *left_out: str) -> dict[str, Any]:
        """The file's keys; it has ``help_seen`` only where help was seen, as earlier files."""
        return self.model_dump(
            mode="json", exclude={*left_out, *([] if self.help_seen else ["help_seen"])}
        )


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
