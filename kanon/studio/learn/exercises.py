"""Exercises on the page Learn: changes of their state, and what a worker does for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kanon.errors import ExerciseError
from kanon.studio.jobs.worker import Progress
from kanon.studio.learn.state import (
    Attempt,
    ExercisesView,
    LessonsView,
    Scores,
    clock,
    look,
    with_look,
)
from kanon.studio.session import state
from kanon.studio.session.work import Request, Work, opening_cancelled
from kanon.teaching.answers import MOST_CHANGES, AnswerChange, Answers, read_answers
from kanon.teaching.by_hand import unchanged
from kanon.teaching.exercises import ExerciseSet, read_exercises
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion
from kanon.teaching.marks import marked_class, score
from kanon.teaching.questions import AnyQuestion

_NOBODY = "(no name)"


# --- for a worker ---------------------------------------------------------------------------
def opened_set(progress: Progress, content: bytes) -> ExerciseSet:
    return read_exercises(content, progress)


def marked_files(
    progress: Progress, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]
) -> Scores:
    return Scores(exercises.fingerprint, marked_class(exercises, files, progress))


def exercises_request(_: Work, content: bytes) -> Request:
    return Request("exercises", opened_set, (content,), with_set, cancelled=opening_cancelled)


def marking_request(_: Work, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]) -> Request:
    return Request(
        "marking", marked_files, (exercises, files), with_scores,
        cancelled=lambda work: work.with_notice("Marking was cancelled; nothing was changed."),
    )  # fmt: skip


def with_set(work: Work, exercises: ExerciseSet) -> Work:
    view = work.view(LessonsView).exercises
    attempts, uploads = {exercises.fingerprint: Attempt(), **view.attempts}, view.uploads + 1
    return with_look(
        work, "exercises", opened=exercises, place=0, attempts=attempts, uploads=uploads
    )


def with_scores(work: Work, scores: Scores) -> Work:
    uploads = work.view(LessonsView).exercises.uploads + 1
    return with_look(work, "exercises", scores=scores, uploads=uploads)


# --- what a student does --------------------------------------------------------------------
def attempt_at(view: ExercisesView, exercises: ExerciseSet) -> Attempt:
    return view.attempts.get(exercises.fingerprint, Attempt())


def change_attempt(exercises: ExerciseSet, make: Callable[[Attempt], Attempt]) -> None:
    """Change what was done with a set; a closed exam stays, and an open one keeps a log."""
    view = state.work().view(LessonsView).exercises
    before = attempt_at(view, exercises)
    if before.closed:
        return
    after = make(before)
    if exercises.exam:
        after = replace(after, log=_expand_log(before, after), opened=before.opened)
    look("exercises", attempts={**view.attempts, exercises.fingerprint: after})


def answer_now(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Any:
    if question.id in attempt.answers:
        return attempt.answers[question.id]
    table = exercises.table_of(question)
    if isinstance(question, RecodeQuestion):
        return unchanged(table)
    if isinstance(question, LevelsQuestion):
        return dict.fromkeys(table.classes.attributes, 0)
    return None


def with_answer(attempt: Attempt, name: str, answer: Any) -> Attempt:
    """Replace an answer and drop its mark; None removes the answer."""
    answers, marks = ({**old} for old in (attempt.answers, attempt.marks))
    marks.pop(name, None)
    answers.pop(name, None)
    if answer is not None:
        answers[name] = answer
    open_solutions = attempt.shown - {name}
    return replace(attempt, answers=answers, marks=marks, shown=open_solutions, before=None)


def with_mark(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Attempt:
    mark = exercises.mark(question, answer_now(attempt, exercises, question))
    return replace(attempt, marks={**attempt.marks, question.id: mark})


def begin_anew(attempt: Attempt, name: str) -> Attempt:
    return replace(with_answer(attempt, name, None), before=replace(attempt, before=None))


def with_answers(view: ExercisesView, exercises: ExerciseSet, content: bytes) -> ExercisesView:
    """Continue with the answers of a file; the earlier ones can be restored."""
    file_answers = read_answers(content)
    score(exercises, file_answers)
    answers = {name: answer for name, answer in file_answers.answers.items() if answer is not None}
    now = attempt_at(view, exercises)
    before = replace(now, before=None) if now.answers else None
    new_attempt = Attempt(answers=answers, before=before)
    if exercises.exam:
        if now.closed:
            raise ExerciseError("The exam is closed here: its answers can no longer change.")
        if not file_answers.as_handed_in:
            raise ExerciseError(
                "Continue an exam from a file that was saved here and not changed since; this "
                "one has no log of answers, or another fingerprint."
            )
        log = tuple(file_answers.log or ())
        new_attempt = replace(new_attempt, log=log, opened=clock() - (log[-1].at if log else 0.0))
    attempts = {**view.attempts, exercises.fingerprint: new_attempt}
    return replace(view, attempts=attempts, student=file_answers.student, uploads=view.uploads + 1)


def points_so_far(attempt: Attempt, exercises: ExerciseSet) -> float:
    worth = {question.id: question.points for question in exercises.questions}
    return sum(mark.share * worth[name] for name, mark in attempt.marks.items())


def answers_of(view: ExercisesView, exercises: ExerciseSet) -> Answers:
    attempt = attempt_at(view, exercises)
    question_ids = [question.id for question in exercises.questions]
    answered = {name: attempt.answers[name] for name in question_ids if name in attempt.answers}
    student = view.student.strip()[:100] or _NOBODY
    file_answers = Answers(set=exercises.fingerprint, student=student, answers=answered)
    if not exercises.exam:
        return file_answers
    return file_answers.model_copy(update={"version": 2, "log": list(attempt.log)}).handed_in()


def _expand_log(before: Attempt, after: Attempt) -> tuple[AnswerChange, ...]:
    names = {**before.answers, **after.answers}
    at = round(clock() - before.opened, 1)
    changes = [
        AnswerChange(at=at, question=name)
        for name in names
        if before.answers.get(name) != after.answers.get(name)
    ]
    return (*before.log, *changes)[:MOST_CHANGES]
