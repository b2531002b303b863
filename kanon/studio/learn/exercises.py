"""Exercises on the page Learn: changes of their state, and what a worker does for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon.errors import ExerciseError
from kanon.studio.jobs.worker import Progress
from kanon.studio.learn.state import (
    Attempt,
    ExercisesView,
    LessonsView,
    apply_view,
    read_clock,
    update_view,
)
from kanon.studio.session import state
from kanon.studio.session.work import JobRequest, SessionState
from kanon.teaching.by_hand import build_unchanged_answer
from kanon.teaching.diagnosis import find_mistake
from kanon.teaching.exercises import (
    MOST_CHANGES,
    AnswerChange,
    Answers,
    ExerciseSet,
    read_answers,
    read_exercises,
)
from kanon.teaching.marks import ClassMarks, check_answers, mark_class
from kanon.teaching.question import Help, LevelsQuestion, Mark, RecodeQuestion
from kanon.teaching.questions import AnyQuestion, ChoiceQuestion

_NOBODY = "(no name)"


# --- for a worker ---------------------------------------------------------------------------
def open_set(progress: Progress, content: bytes) -> ExerciseSet:
    return read_exercises(content, progress)


def mark_files(
    progress: Progress, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]
) -> ClassMarks:
    return mark_class(exercises, files, progress)


def create_exercises_request(_: SessionState, content: bytes) -> JobRequest:
    return JobRequest("exercises", open_set, (content,), set_exercises)


def create_marking_request(
    _: SessionState, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]
) -> JobRequest:
    return JobRequest(
        "marking", mark_files, (exercises, files), set_scores,
    )  # fmt: skip


def set_exercises(work: SessionState, exercises: ExerciseSet) -> SessionState:
    view = work.view(LessonsView).exercises
    attempts, uploads = {exercises.fingerprint: Attempt(), **view.attempts}, view.uploads + 1
    return update_view(
        work, "exercises", opened=exercises, place=0, attempts=attempts, uploads=uploads
    )


def close_exam(work: SessionState, exercises: ExerciseSet, code: str) -> SessionState:
    """Unlock the exam by its code; its answers stay as they are."""
    unlocked, view = exercises.unlock(code), work.view(LessonsView).exercises
    closed = replace(get_attempt(view, exercises), before=None, is_closed=True)
    attempts = {**view.attempts, exercises.fingerprint: closed}
    return update_view(work, "exercises", opened=unlocked, attempts=attempts)


def set_scores(work: SessionState, scores: ClassMarks) -> SessionState:
    uploads = work.view(LessonsView).exercises.uploads + 1
    return update_view(work, "exercises", scores=scores, uploads=uploads)


# --- what a student does --------------------------------------------------------------------
def get_attempt(view: ExercisesView, exercises: ExerciseSet) -> Attempt:
    return view.attempts.get(exercises.fingerprint, Attempt())


def is_exam_open(view: ExercisesView) -> bool:
    opened = view.opened
    return opened is not None and opened.is_locked and not get_attempt(view, opened).is_closed


def update_attempt(exercises: ExerciseSet, make: Callable[[Attempt], Attempt]) -> None:
    """Change what was done with a set; a closed exam stays, and an open one keeps a log."""
    view = state.get_session().view(LessonsView).exercises
    before = get_attempt(view, exercises)
    if before.is_closed:
        return
    after = make(before)
    after = replace(after, help_seen=_join_help(before.help_seen, after.help_seen))  # also undone
    if exercises.exam:
        after = replace(after, log=_expand_log(before, after), opened=before.opened)
    apply_view("exercises", attempts={**view.attempts, exercises.fingerprint: after})


def get_current_answer(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Any:
    if question.id in attempt.answers:
        return attempt.answers[question.id]
    table = exercises.get_table(question)
    if isinstance(question, RecodeQuestion):
        return build_unchanged_answer(table)
    if isinstance(question, LevelsQuestion):
        return dict.fromkeys(table.classes.attributes, 0)
    return None


def set_answer(attempt: Attempt, name: str, answer: Any) -> Attempt:
    """Replace an answer and drop its mark; None removes the answer."""
    answers, marks = ({**old} for old in (attempt.answers, attempt.marks))
    marks.pop(name, None)
    answers.pop(name, None)
    if answer is not None:
        answers[name] = answer
    return replace(attempt, answers=answers, marks=marks, before=None)


def judge_answer(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Mark:
    """The mark of an answer in practice, before help counts; a wrong one gets a diagnosis."""
    answer = get_current_answer(attempt, exercises, question)
    mark = exercises.mark(question, answer)
    is_open = attempt.help_seen.get(question.id) == "solution"
    if mark.share == 1 or answer is None or is_open:
        return mark
    return Mark(mark.share, find_mistake(question, exercises.get_table(question), answer))


def mark_answer(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Attempt:
    name, mark = question.id, judge_answer(attempt, exercises, question)
    if get_current_answer(attempt, exercises, question) is None:
        return replace(attempt, marks={**attempt.marks, name: mark})
    is_miss = mark.share < 1 and name not in attempt.marks  # the same answer counts once
    misses = {**attempt.misses, name: attempt.misses.get(name, 0) + is_miss}
    after = replace(attempt, marks={**attempt.marks, name: mark}, misses=misses)
    if is_miss and isinstance(question, ChoiceQuestion):
        wrong = question.count_wrong_choices(exercises.get_table(question))
        if misses[name] >= wrong and name not in attempt.help_seen:
            return open_help(after, name, "hint")  # nothing is left to guess
    return after


def show_place(exercises: ExerciseSet, place: int) -> None:
    """Show a question or, after the last one, handing in, which checks what was practised."""

    def mark_all(attempt: Attempt) -> Attempt:
        for question in exercises.questions:
            if question.id in attempt.answers:
                attempt = mark_answer(attempt, exercises, question)
        return attempt

    if place == len(exercises.questions) and not exercises.exam:
        update_attempt(exercises, mark_all)
    apply_view("exercises", place=place)


def count_marks(attempt: Attempt) -> dict[str, Mark]:
    """The marks of checked answers, less what help costs."""
    return {
        name: mark.count_help(attempt.help_seen.get(name)) for name, mark in attempt.marks.items()
    }


def open_help(attempt: Attempt, name: str, kind: Help) -> Attempt:
    return replace(attempt, help_seen={**attempt.help_seen, name: kind})


def _join_help(first: Mapping[str, Help], second: Mapping[str, Help]) -> dict[str, Help]:
    solutions = {name: help for name, help in first.items() if help == "solution"}
    return {**first, **second, **solutions}


def clear_answer(attempt: Attempt, name: str) -> Attempt:
    return replace(set_answer(attempt, name, None), before=replace(attempt, before=None))


def load_answers(view: ExercisesView, exercises: ExerciseSet, content: bytes) -> ExercisesView:
    """Continue with the answers of a file; the earlier ones can be restored."""
    file_answers = read_answers(content)
    check_answers(exercises, file_answers)
    answers = {name: answer for name, answer in file_answers.answers.items() if answer is not None}
    now = get_attempt(view, exercises)
    before = replace(now, before=None) if now.answers else None
    seen = _join_help(now.help_seen, file_answers.help_seen)
    new_attempt = Attempt(answers=answers, help_seen=seen, before=before)
    if exercises.exam:
        if now.is_closed:
            raise ExerciseError("The exam is closed here: its answers can no longer change.")
        if not file_answers.is_as_handed_in:
            raise ExerciseError(
                "An exam can only be continued from a file that was saved here and not changed "
                "since. This file has no log of answers, or its fingerprint does not match."
            )
        log = tuple(file_answers.log or ())
        new_attempt = replace(
            new_attempt, log=log, opened=read_clock() - (log[-1].at if log else 0.0)
        )
    attempts = {**view.attempts, exercises.fingerprint: new_attempt}
    return replace(view, attempts=attempts, student=file_answers.student, uploads=view.uploads + 1)


def count_points(attempt: Attempt, exercises: ExerciseSet) -> float:
    worth = {question.id: question.points for question in exercises.questions}
    return sum(mark.share * worth[name] for name, mark in count_marks(attempt).items())


def collect_answers(view: ExercisesView, exercises: ExerciseSet) -> Answers:
    attempt = get_attempt(view, exercises)
    question_ids = [question.id for question in exercises.questions]
    answered = {name: attempt.answers[name] for name in question_ids if name in attempt.answers}
    student = view.student.strip()[:100] or _NOBODY
    seen = {name: help for name, help in attempt.help_seen.items() if name in question_ids}
    file_answers = Answers(
        version=3 if seen else 1, set=exercises.fingerprint, student=student, answers=answered,
        help_seen=seen,
    )  # fmt: skip
    if not exercises.exam:
        return file_answers
    return file_answers.model_copy(
        update={"version": 2, "log": list(attempt.log)}
    ).add_fingerprint()


def _expand_log(before: Attempt, after: Attempt) -> tuple[AnswerChange, ...]:
    names = {**before.answers, **after.answers}
    at = round(read_clock() - before.opened, 1)
    changes = [
        AnswerChange(at=at, question=name)
        for name in names
        if before.answers.get(name) != after.answers.get(name)
    ]
    return (*before.log, *changes)[:MOST_CHANGES]
