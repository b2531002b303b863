"""Exercises and their answers, on the page Learn."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kanon.base.formatting import one_or_many
from kanon.studio.jobs import runner
from kanon.studio.learn.answer_fields import answer_field, is_wide, question_shown, trees_shown
from kanon.studio.learn.exercises import (
    answer_now,
    attempt_at,
    begun_anew,
    change,
    checked,
    closed,
    exercises_request,
    hint_shown,
    look,
    points_so_far,
    solution_shown,
    undone,
    with_answers,
)
from kanon.studio.learn.exercises_state import Attempt, ExercisesView
from kanon.studio.learn.hand_in_panel import hand_in, part
from kanon.studio.learn.set_editor import show_set_editor
from kanon.studio.learn.set_editor_state import SetEditorView
from kanon.studio.learn.small_tables import small_table
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.teacher_panel import for_the_teacher
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.uploads import upload_field
from kanon.teaching.exercises import BUILT_IN, MEGABYTES, ExerciseSet, read_exercises
from kanon.teaching.hints import hint
from kanon.teaching.question import Mark
from kanon.teaching.questions import AnyQuestion
from kanon.teaching.worked import worked


def show_exercises(work: Work) -> None:
    """Draw an exercise set."""
    view = work.view(LessonsView).exercises
    exercises = view.opened or _built_in()
    if work.view(SetEditorView).open:
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
        hand_in(exercises, view)
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
    """The set that comes with kanon."""
    return state.remembered("built-in exercises", "", lambda: read_exercises(BUILT_IN))


def _closing(exercises: ExerciseSet) -> None:
    """An exam is marked when it is over."""
    st.markdown(
        "Marks, the handout and its solutions are here once the exam is closed on this page. "
        "Then its answers cannot be changed here any more, and can still be downloaded."
    )
    st.button(
        "Close the exam on this page",
        icon=":material/lock:",
        key="exercise-close",
        on_click=change,
        args=(lambda now: closed(now, exercises),),
    )


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
    """The questions in a row, each with a sign for how far it is."""
    places = [*range(len(exercises.questions)), len(exercises.questions)]

    def called(place: int) -> str:
        if place == len(exercises.questions):
            return "Hand in"
        return f"{place + 1} {_sign(attempt, exercises.questions[place])}".strip()

    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Question",
            places,
            required=True,
            **bound(
                f"exercise-place-{exercises.fingerprint}",
                view.place,
                lambda value: _go(exercises, value),
            ),
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
        look(place=place)


def _sign(attempt: Attempt, question: AnyQuestion) -> str:
    mark = attempt.marks.get(question.id)
    if mark is None:
        return "…" if question.id in attempt.answers else ""
    return "✓" if mark.share == 1 else "◐" if mark.share else "✗"


def _question(exercises: ExerciseSet, attempt: Attempt, view: ExercisesView) -> None:
    """What is asked, the field to answer it, and beside or below that what came of it."""
    question = exercises.questions[view.place]
    question_shown(exercises, question, view.place + 1)
    if is_wide(exercises, question):
        answer_field(exercises, attempt, question, change)
        left, right = st.columns(2, gap="medium")
    else:
        answering, left = st.columns([7, 5], gap="medium")
        right = left
        with answering:
            answer_field(exercises, attempt, question, change)
    with left:
        _checking(exercises, attempt, view, question)
    with right:
        trees_shown(exercises, question)
    if question.id in attempt.shown and not exercises.exam:
        _solution(exercises, question)


def _checking(
    exercises: ExerciseSet, attempt: Attempt, view: ExercisesView, question: AnyQuestion
) -> None:
    """Check, hints and the solution, where it is for practice; back, and on."""
    mark = attempt.marks.get(question.id)
    with st.container(horizontal=True):
        if not exercises.exam:
            _helps(exercises, attempt, question)
        if attempt.before is not None:
            st.button(
                "Undo",
                icon=":material/undo:",
                key="exercise-undo",
                on_click=change,
                args=(lambda now: undone(now, exercises),),
            )
        elif question.id in attempt.answers:
            st.button(
                "Begin anew",
                icon=":material/restart_alt:",
                key="exercise-anew",
                on_click=change,
                args=(lambda now: begun_anew(now, exercises, question),),
            )
        last = view.place + 1 == len(exercises.questions)
        st.button(
            "Hand in" if last else "Next question",
            icon=":material/arrow_forward:",
            key="exercise-next",
            on_click=lambda: look(place=view.place + 1),
        )
    if exercises.exam:
        return
    if mark is not None:
        _marked(mark, question)
    if question.id in attempt.hinted:
        now = answer_now(attempt, exercises, question)
        said = hint(question, exercises.table_of(question), now)
        st.info(plain(said), icon=":material/lightbulb:")


def _helps(exercises: ExerciseSet, attempt: Attempt, question: AnyQuestion) -> None:
    """The buttons that an exam does not have."""
    st.button(
        "Check",
        type="primary",
        icon=":material/check:",
        key="exercise-check",
        on_click=change,
        args=(lambda now: checked(now, exercises, question),),
    )
    hinted = question.id in attempt.hinted
    st.button(
        "Hide the hint" if hinted else "Hint",
        icon=":material/lightbulb:",
        key="exercise-hint",
        on_click=change,
        args=(lambda now: hint_shown(now, exercises, question, not hinted),),
    )
    if question.id in attempt.marks:
        shown = question.id in attempt.shown
        st.button(
            "Hide the solution" if shown else "Show the solution",
            icon=":material/school:",
            key="exercise-solution",
            on_click=change,
            args=(lambda now: solution_shown(now, exercises, question, not shown),),
        )


def _solution(exercises: ExerciseSet, question: AnyQuestion) -> None:
    """The solution with its arithmetic, across the page."""
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
    got = part(mark.share * question.points, question.points)
    said = f"{got}: {mark.sentence}"
    if mark.share == 1:
        st.success(plain(said), icon=":material/check_circle:")
    elif mark.share:
        st.warning(plain(said), icon=":material/contrast:")
    else:
        st.error(plain(said), icon=":material/cancel:")


# --- files -----------------------------------------------------------------------------------
def _files(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    """Another set, the one that comes with kanon, and answers that were saved."""
    left, right = st.columns(2, gap="medium")
    with left:
        key = f"exercise-set-{view.uploads}"
        upload_field(
            "Open an exercise set",
            MEGABYTES,
            type="json",
            key=key,
            disabled="exercises" in work.running,
            on_change=_take_set,
            args=(key,),
            help="A file that your teacher made. Answers to the set that is open stay.",
        )
        if view.opened is not None:
            st.button(
                "Back to the set that comes with kanon",
                key="exercise-built-in",
                on_click=lambda: look(opened=None, place=0),
            )
    with right:
        field = f"exercise-go-on-{view.uploads}"
        upload_field(
            "Go on with answers that you saved",
            MEGABYTES,
            type="json",
            key=field,
            on_change=_take_answers,
            args=(field, exercises),
        )


def _take_set(key: str) -> None:
    given = state.typed(key)
    if given is not None:
        runner.run(exercises_request, given.getvalue())


def _take_answers(key: str, exercises: ExerciseSet) -> None:
    given = state.typed(key)
    if given is None:
        return

    def taken() -> Work:
        work = state.work()
        view = with_answers(work.view(LessonsView).exercises, exercises, given.getvalue())
        lessons = replace(work.view(LessonsView), exercises=view)
        said = "The answers are here again."
        return work.with_parts(lessons, Message(notice=said))

    state.attempt(taken)
