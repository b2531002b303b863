"""Exercises and their answers, on the page Learn."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import one_or_many
from kanon.studio.jobs import runner
from kanon.studio.learn.answer_fields import draw_question
from kanon.studio.learn.exercises import (
    answer_now,
    answers_of,
    attempt_at,
    begin_anew,
    change_attempt,
    exercises_request,
    points_so_far,
    with_answer,
    with_answers,
    with_mark,
)
from kanon.studio.learn.set_editor import show_set_editor
from kanon.studio.learn.state import Attempt, ExercisesView, LessonsView, look
from kanon.studio.learn.teacher_panel import for_the_teacher
from kanon.studio.learn.widgets import icon_button, json_field, small_table
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.teaching.answers import name_in_file
from kanon.teaching.exercises import BUILT_IN, ExerciseSet, read_exercises
from kanon.teaching.hints import hint
from kanon.teaching.marks import score
from kanon.teaching.question import Mark, heading
from kanon.teaching.questions import AnyQuestion
from kanon.teaching.worked import worked

Change = Callable[[Attempt], Attempt]


def show_exercises(work: Work) -> None:
    view = work.view(LessonsView).exercises
    exercises = view.opened or _built_in()
    if work.view(LessonsView).editor.open:
        show_set_editor(work, exercises)
        return
    attempt = attempt_at(view, exercises)
    title = f"**{plain(exercises.title)}**"
    if exercises.author:
        title = f"{title} by {plain(exercises.author)}"
    if exercises.exam:
        title = f"{title} · Exam"
    st.markdown(f"{title} · {_so_far(exercises, attempt)}")
    if not attempt.closed:
        _questions(exercises, attempt, view)
    if attempt.closed or view.place == len(exercises.questions):
        _hand_in(exercises, view)
    else:
        _question(exercises, attempt, view)
    with st.expander("Another exercise set, saved answers", icon=":material/folder:"):
        _files(work, view, exercises)
    with st.expander("For the teacher", attempt.closed, icon=":material/school:"):
        if exercises.exam and not attempt.closed:
            _closing(exercises)
        else:
            for_the_teacher(work, view, exercises)


def _built_in() -> ExerciseSet:
    return state.remembered("built-in exercises", "", lambda: read_exercises(BUILT_IN))


def _closing(exercises: ExerciseSet) -> None:
    st.markdown(
        "Marks, the handout and its solutions are here once the exam is closed on this page. "
        "Then its answers cannot be changed here any more, and can still be downloaded."
    )

    def close(now: Attempt) -> Attempt:
        return replace(now, before=None, closed=True)

    label = "Close the exam on this page"
    icon_button(label, "lock", "exercise-close", change_attempt, exercises, close)


def _so_far(exercises: ExerciseSet, attempt: Attempt) -> str:
    if exercises.exam:
        return f"{len(attempt.answers)} of {len(exercises.questions)} questions answered"
    return one_or_many(
        len(attempt.marks),
        "{got} of {points} points, {count} question checked",
        "{got} of {points} points, {count} questions checked",
        got=f"{points_so_far(attempt, exercises):.4g}",
        points=f"{exercises.points:g}",
    )


# --- from question to question --------------------------------------------------------------
def _questions(exercises: ExerciseSet, attempt: Attempt, view: ExercisesView) -> None:
    last = len(exercises.questions)

    def called(place: int) -> str:
        if place == last:
            return "Hand in"
        return f"{place + 1} {_sign(attempt, exercises.questions[place])}".strip()

    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Question",
            range(last + 1),
            required=True,
            **bound(f"exercise-place-{exercises.fingerprint}", view.place, _go, exercises),
            format_func=called,
            label_visibility="collapsed",
        )
    if attempt.answers and exercises.exam:
        st.caption("… answered")
    elif attempt.answers:
        st.caption("✓ all points · ◐ some points · ✗ none · … answered, not checked")


def _go(exercises: ExerciseSet, place: int | None) -> None:
    """Show a question of the set that is open; a browser may still tell of the one before."""
    now = state.work().view(LessonsView).exercises.opened or _built_in()
    if place is not None and now.fingerprint == exercises.fingerprint:
        look("exercises", place=place)


def _sign(attempt: Attempt, question: AnyQuestion) -> str:
    mark = attempt.marks.get(question.id)
    if mark is None:
        return "…" if question.id in attempt.answers else ""
    return "✓" if mark.share == 1 else "◐" if mark.share else "✗"


def _question(exercises: ExerciseSet, attempt: Attempt, view: ExercisesView) -> None:
    question = exercises.questions[view.place]

    def give(answer: Any) -> None:
        change_attempt(exercises, lambda now: with_answer(now, question.id, answer))

    def draw_beside() -> None:
        _checking(exercises, attempt, view, question)

    draw_question(exercises, attempt, question, view.place + 1, give, draw_beside)
    if question.id in attempt.shown and not exercises.exam:
        _solution(exercises, question)


def _checking(
    exercises: ExerciseSet, attempt: Attempt, view: ExercisesView, question: AnyQuestion
) -> None:
    mark, one = attempt.marks.get(question.id), {question.id}

    def press(label: str, icon: str, name: str, make: Change, **how: Any) -> None:
        icon_button(label, icon, f"exercise-{name}", change_attempt, exercises, make, **how)

    with st.container(horizontal=True):
        if not exercises.exam:
            press(
                "Check", "check", "check", lambda now: with_mark(now, exercises, question),
                type="primary",
            )  # fmt: skip
            label = "Hide the hint" if question.id in attempt.hinted else "Hint"
            press(label, "lightbulb", "hint", lambda now: replace(now, hinted=now.hinted ^ one))
        if mark is not None and not exercises.exam:
            label = "Hide the solution" if question.id in attempt.shown else "Show the solution"
            press(label, "school", "solution", lambda now: replace(now, shown=now.shown ^ one))
        if attempt.before is not None:
            press("Undo", "undo", "undo", lambda now: now.before or now)
        elif question.id in attempt.answers:
            press("Begin anew", "restart_alt", "anew", lambda now: begin_anew(now, question.id))
        last = view.place + 1 == len(exercises.questions)
        on = "Hand in" if last else "Next question"
        following = partial(look, "exercises", place=view.place + 1)
        icon_button(on, "arrow_forward", "exercise-next", following)
    if exercises.exam:
        return
    if mark is not None:
        _marked(mark, question)
    if question.id in attempt.hinted:
        now = answer_now(attempt, exercises, question)
        said = hint(question, exercises.table_of(question), now)
        st.info(plain(said), icon=":material/lightbulb:")


def _solution(exercises: ExerciseSet, question: AnyQuestion) -> None:
    about = (exercises.fingerprint, question.id)
    found = state.remembered(
        "exercise-solution", about, lambda: worked(question, exercises.table_of(question))
    )
    with st.container(border=True):
        st.markdown("**Solution**")
        for sentence in found.sentences:
            st.markdown(plain(sentence))
        small_table(found.arithmetic)


def _marked(mark: Mark, question: AnyQuestion) -> None:
    got = _part(mark.share * question.points, question.points)
    said = f"{got}: {mark.sentence}"
    if mark.share == 1:
        st.success(plain(said), icon=":material/check_circle:")
    elif mark.share:
        st.warning(plain(said), icon=":material/contrast:")
    else:
        st.error(plain(said), icon=":material/cancel:")


# --- handing in -----------------------------------------------------------------------------
def _hand_in(exercises: ExerciseSet, view: ExercisesView) -> None:
    if exercises.exam:
        _answered(exercises, view)
    else:
        _points(exercises, view)
    name, button = st.columns([2, 1], vertical_alignment="bottom")
    name.text_input(
        "Name or pseudonym",
        **bound("exercise-student", view.student, "student", into=partial(look, "exercises")),
        max_chars=100,
        help="It stands in the file of answers. Nothing is sent: you hand the file in yourself.",
    )
    with button:
        if not view.student.strip():
            st.button(
                "Download the answers", icon=":material/download:", key="exercise-nameless",
                disabled=True, help="Type a name or a pseudonym first.", width="stretch",
            )  # fmt: skip
            return
        made = answers_of(view, exercises)  # below 1 MB, so Streamlit knows the file by its content
        st.download_button(
            "Download the answers",
            data=made.to_json().encode(),
            file_name=f"answers-{name_in_file(made.student)}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            type="primary",
            key="exercise-answers",
            width="stretch",
        )
    if made.fingerprint:
        fingerprint = f"**{made.fingerprint}**"
        st.markdown(
            f"Fingerprint of these answers: {fingerprint}. Write it on your teacher's list "
            "when you hand in: any change of the file gives another one."
        )


def _part(points: float, most: float) -> str:
    return f"{points:.4g} of {most:g}"


def _headings(exercises: ExerciseSet) -> list[str]:
    return [heading(place, one) for place, one in enumerate(exercises.questions, start=1)]


def _points(exercises: ExerciseSet, view: ExercisesView) -> None:
    found = score(exercises, answers_of(view, exercises))  # checked or not
    st.subheader(f"{_part(found.points, found.most)} points")
    rows = {
        "question": _headings(exercises),
        "points": [_part(one.points, one.most) for one in found.marks],
        "why": [one.sentence for one in found.marks],
    }
    small_table(pd.DataFrame(rows))


def _answered(exercises: ExerciseSet, view: ExercisesView) -> None:
    attempt = attempt_at(view, exercises)
    if attempt.closed:
        said = "The exam is closed on this page: its answers stay as they are."
        st.info(said, icon=":material/lock:")
    there = [one.id in attempt.answers for one in exercises.questions]
    answers = ["answered" if one else "no answer" for one in there]
    small_table(pd.DataFrame({"question": _headings(exercises), "answer": answers}))


# --- files -----------------------------------------------------------------------------------
def _files(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        json_field(
            "Open an exercise set",
            f"exercise-set-{view.uploads}",
            lambda given: runner.run(exercises_request, given.getvalue()),
            disabled="exercises" in work.running,
            help="A file that your teacher made. Answers to the set that is open stay.",
        )
        if view.opened is not None:
            st.button(
                "Back to the set that comes with kanon",
                key="exercise-built-in",
                on_click=partial(look, "exercises", opened=None, place=0),
            )
    with right:
        json_field(
            "Go on with answers that you saved",
            f"exercise-go-on-{view.uploads}",
            lambda given: state.attempt(lambda: _with_saved(exercises, given.getvalue())),
        )


def _with_saved(exercises: ExerciseSet, content: bytes) -> Work:
    work = state.work()
    lessons = work.view(LessonsView)
    lessons = replace(lessons, exercises=with_answers(lessons.exercises, exercises, content))
    return work.with_parts(lessons, Message(notice="The answers are here again."))
