"""The marks of a student or a class, with remarks on files; see docs/how-to/exercises.md."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

import pandas as pd

from kanon.base.formatting import join_words
from kanon.base.progress import Progress, ignore_progress
from kanon.errors import ExerciseError, join_lines, list_names, quote
from kanon.teaching.exercises import MOST_CHANGES, Answers, ExerciseSet, read_answers
from kanon.teaching.question import Mark, format_question_heading

_LONGEST = 200  # the most letters of an answer that are shown


@dataclass(frozen=True, eq=False)
class ClassMarks:
    fingerprint: str  # of the exercise set
    files: pd.DataFrame  # a row per file, in the order given
    questions: pd.DataFrame

    @property
    def lines(self) -> list[str]:
        lines = []
        for row in self.questions.dropna(subset="mean").to_dict("records"):
            line = (
                f"{row['question']}: {row['mean']:g} of {row['of']:g} on average, "
                f"{row['answered']} answered, {row['right']} right"
            )
            for name in ("most often", "most often wrong"):
                line += f"; {name} {row[name]}" if row[name] else ""
            lines.append(line)
        return lines


def check_answers(exercises: ExerciseSet, answers: Answers) -> None:
    """An ``ExerciseError`` unless the answers are to this set."""
    if answers.set != exercises.fingerprint:
        raise ExerciseError(
            f"These answers belong to another exercise set, {quote(answers.set)}; this one, "
            f"{quote(exercises.title)}, is {quote(exercises.fingerprint)}."
        )
    ids = {question.id for question in exercises.questions}
    unknown_ids = [name for name in (*answers.answers, *answers.help_seen) if name not in ids]
    if unknown_ids:
        raise ExerciseError(
            f"The answers have a question {quote(unknown_ids[0])} that the set does not have."
        )


def mark_answers(exercises: ExerciseSet, answers: Answers) -> tuple[Mark, ...]:
    """The marks of a student, in the order of the set."""
    check_answers(exercises, answers)
    return tuple(
        exercises.mark(question, answers.answers.get(question.id)).count_help(
            answers.help_seen.get(question.id)
        )
        for question in exercises.questions
    )


def mark_class(
    exercises: ExerciseSet,
    files: Sequence[tuple[str, Path | bytes]],
    progress: Progress = ignore_progress,
) -> ClassMarks:
    """Mark the files of a class; the row of one that cannot be marked says why."""
    exercises.check_unlocked()
    rows: list[dict[str, Any]] = []
    read = []
    for number, (name, source) in enumerate(files, start=1):
        row: dict[str, Any] = {"file": name, "student": "", "problem": "", "remark": ""}
        rows.append(row)
        try:
            file = _AnswerFile(name, read_answers(source), row)
            read.append(file)
            row["student"] = file.answers.student
            file.marks = mark_answers(exercises, file.answers)
        except ExerciseError as error:
            row["problem"] = error.sentence
        progress(number / len(files), f"File {number} of {len(files)}")
    _add_remarks(exercises, read)
    for file in read:
        file.row |= _collect_figures(exercises, file)
    columns = [
        "file", "student", *_name_question_columns(exercises), "points", "of", "percent",
        "problem", "remark", "minutes", "fingerprint",
    ]  # fmt: skip
    marked_files = [file for file in read if file.marks and not file.again]
    return ClassMarks(
        exercises.fingerprint,
        pd.DataFrame(rows, columns=columns),
        _build_question_table(exercises, marked_files),
    )


@dataclass(eq=False)
class _AnswerFile:
    name: str
    answers: Answers
    row: dict[str, Any]
    marks: tuple[Mark, ...] = ()  # none if it cannot be marked
    remarks: list[str] = field(default_factory=list)
    again: bool = False

    @property
    def student(self) -> str:
        seen = "".join(c for c in normalize("NFKC", self.answers.student) if category(c) != "Cf")
        return " ".join(seen.casefold().split())


def _name_question_columns(exercises: ExerciseSet) -> list[str]:
    return [f"question {question.id}" for question in exercises.questions]


def _collect_figures(exercises: ExerciseSet, file: _AnswerFile) -> dict[str, Any]:
    figures: dict[str, Any] = {"remark": " ".join(file.remarks)}
    if file.answers.log is not None:
        figures["minutes"] = round(
            max((change.at for change in file.answers.log), default=0.0) / 60, 1
        )
        figures["fingerprint"] = file.answers.own_fingerprint
    if file.marks:
        points = [
            question.points * mark.share
            for question, mark in zip(exercises.questions, file.marks, strict=True)
        ]
        for name, got in zip(_name_question_columns(exercises), points, strict=True):
            figures[name] = round(got, 2)
        figures["points"] = round(sum(points), 2)
        figures["of"] = exercises.points
        figures["percent"] = round(100 * sum(points) / exercises.points, 1)
    return figures


# --- what is odd about a file ---------------------------------------------------------------
def _add_remarks(exercises: ExerciseSet, files: Sequence[_AnswerFile]) -> None:
    contents: dict[str, _AnswerFile] = {}
    names: dict[str, list[_AnswerFile]] = {}
    for file in files:
        first = contents.setdefault(file.answers.own_fingerprint, file)
        if first is not file:
            file.again = True
            file.remarks.append(f"The same answers as in {quote(first.name, 100)}.")
            continue
        if exercises.exam and file.marks:
            file.remarks.extend(_find_exam_problems(exercises, file.answers))
        names.setdefault(file.student, []).append(file)
    for group in names.values():
        for file in group:
            others = [other.name for other in group if other is not file]
            if others:
                file.remarks.append(f"This name is also in {list_names(others)}.")


def _find_exam_problems(exercises: ExerciseSet, answers: Answers) -> Iterator[str]:
    if answers.log is None or answers.fingerprint is None:
        yield "The log or the fingerprint of the exam's answers is missing."
        return
    if answers.fingerprint != answers.own_fingerprint:
        yield "Changed since it was handed in: its fingerprint does not match its content."
    logged = {change.question for change in answers.log}
    missing = [
        str(number)
        for number, question in enumerate(exercises.questions, start=1)
        if answers.answers.get(question.id) is not None and question.id not in logged
    ]
    if missing and len(answers.log) < MOST_CHANGES:
        yield f"Its log has no answer to question {join_words(missing)}."
    times = [change.at for change in answers.log]
    if times != sorted(times):
        yield "The times in its log go backwards."


# --- question by question -------------------------------------------------------------------
def _build_question_table(exercises: ExerciseSet, files: Sequence[_AnswerFile]) -> pd.DataFrame:
    rows = []
    for place, question in enumerate(exercises.questions):
        table = exercises.get_table(question)
        points, answer_counts, wrong_counts = [], Counter[str](), Counter[str]()
        for file in files:
            mark = file.marks[place]
            points.append(question.points * mark.share)
            answer = file.answers.answers.get(question.id)
            if answer is not None:
                text = join_lines(question.describe_answer(table, answer))
                answer_counts[text] += 1
                wrong_counts[text] += mark.share < 1
        rows.append(
            {
                "question": format_question_heading(place + 1, question),
                "mean": round(sum(points) / len(points), 2) if points else None,
                "of": question.points,
                "answered": answer_counts.total(),
                "right": answer_counts.total() - wrong_counts.total(),
                "most often": _describe_most_frequent(answer_counts),
                "most often wrong": _describe_most_frequent(wrong_counts),
            }
        )
    return pd.DataFrame(rows).astype({"mean": float})


def _describe_most_frequent(counts: Counter[str]) -> str:
    text, count = counts.most_common(1)[0] if counts else ("", 0)
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{cut} ({count} of {counts.total()})" if count else ""
