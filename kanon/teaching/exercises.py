"""Exercise sets and answers as files: read, written, marked for a student and for a class.

docs/how-to/exercises.md describes both files. A set holds no answers: they follow from its tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, StringConstraints, ValidationError

from kanon.base.checked_json import Strict, problem, read_json
from kanon.base.formatting import thin
from kanon.base.own_files import own_file
from kanon.base.progress import Progress, no_progress
from kanon.errors import ExerciseError, KanonError, PlanError, listing, quoted
from kanon.settings import MEGABYTE, read_up_to
from kanon.teaching.question import Mark
from kanon.teaching.questions import KINDS, AnyQuestion
from kanon.teaching.small_tables import ExerciseTable, SmallTable

BUILT_IN = own_file("sample_data", "exercises", "first-set.json")
"""The exercise set that comes with kanon."""

MOST_QUESTIONS = 50
"""The most questions of a set."""

MEGABYTES = 1
"""The most megabytes of a set, and of a file of answers."""

_MOST_BYTES = MEGABYTES * MEGABYTE

_MOST_TABLES = 20

_SET, _ANSWERS = "exercise file", "answer file"

Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ExerciseSet(Strict):
    """A set of exercises.

    Attributes
    ----------
    format, version
        What the file is: ``kanon-exercises``, 1.
    title, author
        For its readers; the author may be left empty.
    tables
        The tables, by the names that questions use.
    questions
        The questions, in their order.
    """

    format: Literal["kanon-exercises"] = "kanon-exercises"
    version: Literal[1] = 1
    title: Name
    author: Annotated[str, StringConstraints(max_length=100)] = ""
    tables: dict[Name, ExerciseTable] = Field(min_length=1, max_length=_MOST_TABLES)
    questions: list[AnyQuestion] = Field(min_length=1, max_length=MOST_QUESTIONS)

    @cached_property
    def made(self) -> Mapping[str, SmallTable]:
        """The tables, counted."""
        found = {}
        for name, given in self.tables.items():
            try:
                found[name] = given.made()
            except KanonError as error:
                raise error.within(f"Table {quoted(name)}") from None
        return found

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen digits that only this set has: by them answers find their set."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def points(self) -> float:
        """What all questions are worth together."""
        return sum(question.points for question in self.questions)

    def table_of(self, question: AnyQuestion) -> SmallTable:
        """The table that a question is about."""
        return self.made[question.table]

    def mark(self, question: AnyQuestion, answer: Any) -> Mark:
        """What an answer to a question of this set is worth; None is no answer."""
        if answer is None:
            return Mark(0.0, "Not answered.")
        return question.mark(self.table_of(question), answer)

    def check(self, progress: Progress = no_progress) -> None:
        """Check what no single key shows: tables, names, and that all questions have an answer.

        Parameters
        ----------
        progress
            Told after each question: the least alteration of a table may take half a second.

        Raises
        ------
        KanonError
            The first thing that is wrong.
        """
        names = [question.id for question in self.questions]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ExerciseError(
                f"Two questions have the id {quoted(twice[0])}; each needs one of its own."
            )
        known = listing(self.made, most=_MOST_TABLES)
        for number, question in enumerate(self.questions, start=1):
            place = f"Question {quoted(question.id)}"
            if question.table not in self.made:
                raise ExerciseError(
                    f"{place}: there is no table {quoted(question.table)}; known are {known}."
                )
            try:
                question.check(self.table_of(question))
            except KanonError as error:
                raise error.within(place) from None
            progress(number / len(self.questions), f"Question {number} of {len(self.questions)}")

    def to_json(self) -> str:
        """The set as a file."""
        content = self.model_dump(mode="json", exclude_none=True)
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


class Answers(Strict):
    """What one student answered.

    Attributes
    ----------
    format, version
        What the file is: ``kanon-answers``, 1.
    set
        The fingerprint of the exercise set.
    student
        A name or a pseudonym, as it was typed.
    answers
        Per question, by its id, the answer; docs/how-to/exercises.md says what each kind takes.
    """

    format: Literal["kanon-answers"] = "kanon-answers"
    version: Literal[1] = 1
    set: str
    student: Name
    answers: dict[str, Any] = Field(default_factory=dict, max_length=MOST_QUESTIONS)

    def to_json(self) -> str:
        """The answers as a file."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"


@dataclass(frozen=True)
class QuestionMark:
    """A question of a set with the mark of one answer.

    Attributes
    ----------
    id
        The question.
    points, most
        The points that were got, and that there are.
    sentence
        Why.
    """

    id: str
    points: float
    most: float
    sentence: str


@dataclass(frozen=True)
class StudentMarks:
    """The answers of one student, marked.

    Attributes
    ----------
    student
        The name in the file.
    marks
        One per question, in the order of the set.
    """

    student: str
    marks: tuple[QuestionMark, ...]

    @property
    def points(self) -> float:
        """The points of all questions together."""
        return sum(mark.points for mark in self.marks)

    @property
    def most(self) -> float:
        """The points that there are."""
        return sum(mark.most for mark in self.marks)


def read_exercises(source: Path | bytes, progress: Progress = no_progress) -> ExerciseSet:
    """Read and check an exercise set.

    Parameters
    ----------
    source
        A file, or what is in it: at most 1 MB.

    Raises
    ------
    KanonError
        It cannot be read, is no exercise set, or has something that is not allowed; the sentence
        says what and where.

    >>> read_exercises(BUILT_IN).title
    'First steps in k-anonymity'
    """
    found = _validated(ExerciseSet, source, _SET, "kanon-exercises")
    found.check(progress)
    return found


def read_answers(source: Path | bytes) -> Answers:
    """Read a student's answers; what they are worth is for :func:`score` to say.

    Parameters
    ----------
    source
        A file, or what is in it: at most 1 MB.

    Raises
    ------
    ExerciseError
        It cannot be read, or is no file of answers.
    """
    return _validated(Answers, source, _ANSWERS, "kanon-answers")


def score(exercises: ExerciseSet, answers: Answers) -> StudentMarks:
    """Mark the answers of one student.

    Parameters
    ----------
    answers
        Answers to it; a question that is left out gets no points.

    Raises
    ------
    ExerciseError
        They answer another set, or a question that the set does not have.
    """
    if answers.set != exercises.fingerprint:
        raise ExerciseError(
            f"These answers are to another exercise set, {quoted(answers.set)}; this one, "
            f"{quoted(exercises.title)}, is {quoted(exercises.fingerprint)}."
        )
    known = {question.id for question in exercises.questions}
    strange = [name for name in answers.answers if name not in known]
    if strange:
        raise ExerciseError(
            f"The answers have a question {quoted(strange[0])}, which the set does not have."
        )
    marks = []
    for question in exercises.questions:
        mark = exercises.mark(question, answers.answers.get(question.id))
        points = question.points * mark.share
        marks.append(QuestionMark(question.id, points, question.points, mark.sentence))
    return StudentMarks(answers.student, tuple(marks))


def score_files(
    exercises: ExerciseSet,
    files: Sequence[tuple[str, Path | bytes]],
    progress: Progress = no_progress,
) -> pd.DataFrame:
    """Mark a class from files; one that cannot be read or marked is a row that says why.

    Parameters
    ----------
    files
        Names, and files or what is in them.

    Returns
    -------
    pandas.DataFrame
        A row per file, in the order given: ``file``, ``student``, the points of each question under
        its id, ``points`` of all, ``of`` how many, ``percent``, and ``problem``: a sentence, and no
        points, where a file is no answers to this set; else empty.
    """
    rows = []
    for number, (name, source) in enumerate(files, start=1):
        try:
            row = _row(exercises, score(exercises, read_answers(source))) | {"problem": ""}
        except ExerciseError as error:
            row = {"student": "", "problem": error.sentence}
        rows.append({"file": name, **row})
        progress(number / len(files), f"File {number} of {len(files)}")
    columns = ["file", "student", *_questions(exercises), "points", "of", "percent", "problem"]
    return pd.DataFrame(rows, columns=columns)


def _questions(exercises: ExerciseSet) -> list[str]:
    """The columns of the questions: none is called like a column beside them."""
    return [f"question {question.id}" for question in exercises.questions]


def _row(exercises: ExerciseSet, scored: StudentMarks) -> dict[str, Any]:
    names = zip(_questions(exercises), scored.marks, strict=True)
    return {
        "student": scored.student,
        **{name: round(mark.points, 2) for name, mark in names},
        "points": round(scored.points, 2),
        "of": scored.most,
        "percent": round(100 * scored.points / scored.most, 1),
    }


def _validated(model: type[Any], source: Path | bytes, what: str, name: str) -> Any:
    """A file as a checked object."""
    content = _checked(source, what)
    if not isinstance(content, dict) or content.get("format") != name:
        raise ExerciseError(f"This is no {what}: it has to be an object with the format '{name}'.")
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
                f"{what.capitalize()} key {path}.kind has to be one of {', '.join(KINDS)}."
            ) from None
        raise problem(first, path, what, ExerciseError) from None


def _checked(source: Path | bytes, what: str) -> Any:
    """What a file holds, as JSON."""
    try:
        data, size = (
            read_up_to(MEGABYTES * MEGABYTE, source)
            if isinstance(source, Path)
            else (source, len(source))
        )
        text = data.decode("utf-8-sig")
    except (OSError, ValueError):
        raise ExerciseError(f"The {what} cannot be read; it has to be JSON in UTF-8.") from None
    if size > MEGABYTES * MEGABYTE:
        raise ExerciseError(
            f"The {what} has {thin(size)} bytes; the most allowed is {MEGABYTES} MB."
        )
    try:
        return read_json(text, f"The {what}")
    except PlanError as error:
        raise ExerciseError(str(error)) from None
