"""Exercises on the page Learn: from one state to the next, and what a worker does for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon.errors import ExerciseError
from kanon.studio.jobs.worker import Progress
from kanon.studio.learn.exercises_state import Attempt, ExercisesView, Scores, clock
from kanon.studio.learn.state import LessonsView
from kanon.studio.session import state
from kanon.studio.session.work import Request, Work, opening_cancelled
from kanon.teaching.answers import MOST_CHANGES, AnswerChange, Answers, read_answers
from kanon.teaching.by_hand import unchanged
from kanon.teaching.exercises import ExerciseSet, read_exercises
from kanon.teaching.least_questions import LevelsQuestion, RecodeQuestion
from kanon.teaching.marks import StudentMarks, marked_class, score
from kanon.teaching.questions import AnyQuestion

_NOBODY = "(no name)"


# --- for a worker ---------------------------------------------------------------------------
def opened_set(progress: Progress, content: bytes) -> ExerciseSet:
    """A checked set, with the best answers that were found on the way."""
    return read_exercises(content, progress)


def marked_files(
    progress: Progress, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]
) -> Scores:
    """The marks of a class."""
    return Scores(exercises.fingerprint, marked_class(exercises, files, progress))


def exercises_request(_: Work, content: bytes) -> Request:
    """Read and check an exercise set: its best answers may take seconds to find."""
    return Request("exercises", opened_set, (content,), with_set, cancelled=opening_cancelled)


def marking_request(_: Work, exercises: ExerciseSet, files: Sequence[tuple[str, bytes]]) -> Request:
    """Mark the answers of a class."""
    return Request(
        "marking", marked_files, (exercises, files), with_scores,
        cancelled=lambda work: work.with_notice("Marking was cancelled; nothing was changed."),
    )  # fmt: skip


def with_set(work: Work, found: ExerciseSet) -> Work:
    """The work with another set open, at its first question; answers to others stay."""
    view = work.view(LessonsView).exercises
    attempts = {found.fingerprint: Attempt(), **view.attempts}
    return _changed(work, opened=found, place=0, attempts=attempts, uploads=view.uploads + 1)


def with_scores(work: Work, found: Scores) -> Work:
    """The work with the marks of a class."""
    return _changed(work, scores=found, uploads=work.view(LessonsView).exercises.uploads + 1)


def _changed(work: Work, **fields: Any) -> Work:
    view = replace(work.view(LessonsView).exercises, **fields)
    return work.with_parts(replace(work.view(LessonsView), exercises=view))


# --- on the page ----------------------------------------------------------------------------
def change(make: Callable[[ExercisesView], ExercisesView]) -> None:
    """Change what is shown to what is made of it."""
    lessons = state.work().view(LessonsView)
    state.change(replace(lessons, exercises=make(lessons.exercises)))


def look(**fields: Any) -> None:
    """Show something else."""
    change(lambda view: replace(view, **fields))


# --- what a student does --------------------------------------------------------------------
def attempt_at(view: ExercisesView, exercises: ExerciseSet) -> Attempt:
    """What was done with a set so far."""
    return view.attempts.get(exercises.fingerprint, Attempt())


def answer_now(attempt: Attempt, exercises: ExerciseSet, question: AnyQuestion) -> Any:
    """What a question is answered with; a table that is not touched is as it stands."""
    if question.id in attempt.answers:
        return attempt.answers[question.id]
    table = exercises.table_of(question)
    if isinstance(question, RecodeQuestion):
        return unchanged(table)
    if isinstance(question, LevelsQuestion):
        return dict.fromkeys(table.classes.attributes, 0)
    return None


def answered(
    view: ExercisesView, exercises: ExerciseSet, question: AnyQuestion, answer: Any
) -> ExercisesView:
    """Another answer; the mark of the one before does not count any more. None is no answer."""
    return _on(view, exercises, lambda attempt: _with_answer(attempt, question.id, answer))


def checked(view: ExercisesView, exercises: ExerciseSet, question: AnyQuestion) -> ExercisesView:
    """The answer to a question, marked."""

    def marked(attempt: Attempt) -> Attempt:
        mark = exercises.mark(question, answer_now(attempt, exercises, question))
        return replace(attempt, marks={**attempt.marks, question.id: mark})

    return _on(view, exercises, marked)


def hint_shown(
    view: ExercisesView, exercises: ExerciseSet, question: AnyQuestion, shown: bool
) -> ExercisesView:
    """Show the hint to a question, or hide it."""

    def looked(attempt: Attempt) -> Attempt:
        one = {question.id}
        return replace(attempt, hinted=attempt.hinted | one if shown else attempt.hinted - one)

    return _on(view, exercises, looked)


def solution_shown(
    view: ExercisesView, exercises: ExerciseSet, question: AnyQuestion, shown: bool
) -> ExercisesView:
    """Show the solution of a question, or hide it."""

    def looked(attempt: Attempt) -> Attempt:
        one = {question.id}
        return replace(attempt, shown=attempt.shown | one if shown else attempt.shown - one)

    return _on(view, exercises, looked)


def begun_anew(view: ExercisesView, exercises: ExerciseSet, question: AnyQuestion) -> ExercisesView:
    """A question as if it had not been answered; it can be undone."""
    return _on(
        view,
        exercises,
        lambda attempt: replace(
            _with_answer(attempt, question.id, None), before=replace(attempt, before=None)
        ),
    )


def closed(view: ExercisesView, exercises: ExerciseSet) -> ExercisesView:
    """The exam is over here: its answers stay as they are, and can be marked."""
    return _on(view, exercises, lambda attempt: replace(attempt, before=None, closed=True))


def undone(view: ExercisesView, exercises: ExerciseSet) -> ExercisesView:
    """As it was before many answers were changed at once."""
    return _on(view, exercises, lambda attempt: attempt.before or attempt)


def with_answers(view: ExercisesView, exercises: ExerciseSet, content: bytes) -> ExercisesView:
    """Go on with the answers of a file, and keep earlier ones; ExerciseError for a wrong file."""
    found = read_answers(content)
    score(exercises, found)
    given = {name: answer for name, answer in found.answers.items() if answer is not None}
    now = attempt_at(view, exercises)
    before = replace(now, before=None) if now.answers else None
    taken = Attempt(answers=given, before=before)
    if exercises.exam:
        if now.closed:
            raise ExerciseError("The exam is closed here: its answers stay as they are.")
        if not found.as_handed_in:
            raise ExerciseError(
                "An exam goes on from a file that was saved here and not changed since; this "
                "one has no log of answers, or another fingerprint."
            )
        log = tuple(found.log or ())
        taken = replace(taken, log=log, opened=clock() - (log[-1].at if log else 0.0))
    attempts = {**view.attempts, exercises.fingerprint: taken}
    return replace(view, attempts=attempts, student=found.student, uploads=view.uploads + 1)


def scored(view: ExercisesView, exercises: ExerciseSet) -> StudentMarks:
    """What all answers so far are worth, checked or not."""
    return score(exercises, _file(exercises, attempt_at(view, exercises), view.student))


def points_so_far(attempt: Attempt, exercises: ExerciseSet) -> float:
    """The points of the answers that were checked and not changed since."""
    worth = {question.id: question.points for question in exercises.questions}
    return sum(mark.share * worth[name] for name, mark in attempt.marks.items())


def handed_in(view: ExercisesView, exercises: ExerciseSet) -> Answers:
    """The file of answers; ExerciseError if there is no name."""
    if not view.student.strip():
        raise ExerciseError("Type a name or a pseudonym: it stands in the file of answers.")
    return _file(exercises, attempt_at(view, exercises), view.student)


def _file(exercises: ExerciseSet, attempt: Attempt, student: str) -> Answers:
    known = [question.id for question in exercises.questions]
    given = {name: attempt.answers[name] for name in known if name in attempt.answers}
    named = student.strip()[:100] or _NOBODY
    found = Answers(set=exercises.fingerprint, student=named, answers=given)
    if not exercises.exam:
        return found
    return found.model_copy(update={"version": 2, "log": list(attempt.log)}).handed_in()


def _with_answer(attempt: Attempt, name: str, answer: Any) -> Attempt:
    given = _without(attempt.answers, name)
    return replace(
        attempt,
        answers=given if answer is None else {**given, name: answer},
        marks=_without(attempt.marks, name),
        shown=attempt.shown - {name},
        before=None,
    )


def _without(mapping: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key != name}


def _on(
    view: ExercisesView, exercises: ExerciseSet, change: Callable[[Attempt], Attempt]
) -> ExercisesView:
    before = attempt_at(view, exercises)
    if before.closed:
        return view
    after = change(before)
    if exercises.exam:
        after = replace(after, log=_logged(before, after), opened=before.opened)
    return replace(view, attempts={**view.attempts, exercises.fingerprint: after})


def _logged(before: Attempt, after: Attempt) -> tuple[AnswerChange, ...]:
    """The log of an exam, with the answers that were changed now."""
    names = {**before.answers, **after.answers}
    at = round(clock() - before.opened, 1)
    changed = [
        AnswerChange(at=at, question=name)
        for name in names
        if before.answers.get(name) != after.answers.get(name)
    ]
    return (*before.log, *changed)[:MOST_CHANGES]
