"""Exercises and their answers, on the page Learn."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from kanon.base.formatting import choose_plural
from kanon.studio.jobs import runner
from kanon.studio.learn.answer_fields import draw_question
from kanon.studio.learn.exercises import (
    clear_answer,
    close_exam,
    collect_answers,
    count_marks,
    count_points,
    create_exercises_request,
    get_attempt,
    get_current_answer,
    judge_answer,
    load_answers,
    mark_answer,
    open_help,
    set_answer,
    show_place,
    update_attempt,
)
from kanon.studio.learn.set_editor import show_set_editor
from kanon.studio.learn.state import Attempt, ExercisesView, LessonsView, apply_view
from kanon.studio.learn.teacher_panel import show_teacher_panel
from kanon.studio.learn.widgets import draw_icon_button, draw_json_field, draw_small_table
from kanon.studio.session import state
from kanon.studio.session.parts import Message
from kanon.studio.session.state import attach_widget
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import SessionState
from kanon.teaching.exam_code import EXAM_LIMITS
from kanon.teaching.exercises import BUILT_IN, ExerciseSet, format_name_for_file, read_exercises
from kanon.teaching.question import Mark, format_question_heading
from kanon.teaching.questions import AnyQuestion
from kanon.teaching.worked import explain_solution, get_hint

Change = Callable[[Attempt], Attempt]

_MISSES_BEFORE_HINT = 2

_HELP_RULE = (
    "A wrong answer gets a diagnosis. After two wrong answers you can open a hint, for half of the "
    "points; after the hint the solution, for none. Where a class is chosen, the hint opens by "
    "itself after as many wrong answers as there are wrong classes."
)


def show_exercises(work: SessionState) -> None:
    view = work.view(LessonsView).exercises
    exercises = view.opened or _get_built_in_set()
    if work.view(LessonsView).editor.open:
        show_set_editor(work)
        return
    attempt = get_attempt(view, exercises)
    title = f"**{escape_markdown(exercises.title)}**"
    if exercises.author:
        title = f"{title} by {escape_markdown(exercises.author)}"
    if exercises.exam:
        title = f"{title} · Exam"
    st.markdown(f"{title} · {_describe_progress(exercises, attempt)}")
    if not attempt.is_closed:
        _choose_question(exercises, attempt, view)
    if attempt.is_closed or view.place == len(exercises.questions):
        _draw_hand_in(exercises, view)
    else:
        _draw_current_question(exercises, attempt, view)
    with st.expander("Another exercise set, saved answers", icon=":material/folder:"):
        _draw_file_fields(work, view, exercises)
    with st.expander("For the teacher", attempt.is_closed, icon=":material/school:"):
        if exercises.is_locked:
            _draw_closing(exercises)
        else:
            show_teacher_panel(work, view, exercises)


def _get_built_in_set() -> ExerciseSet:
    return state.get_or_compute("built-in exercises", "", lambda: read_exercises(BUILT_IN))


def _draw_closing(exercises: ExerciseSet) -> None:
    def close() -> None:
        code, work = state.get_widget_value("exercise-code"), state.get_session_without_message()
        state.try_update(lambda: close_exam(work, exercises, code or ""))

    st.markdown(
        "Type the code of the exam to get its marks, the handout and the solutions. "
        "Answers given here can then be downloaded but no longer changed."
    )
    with st.form("exercise-close", clear_on_submit=True, border=False):
        st.text_input("Code of the exam", key="exercise-code", type="password", width=340)
        st.form_submit_button(
            "Close the exam on this page",
            icon=":material/lock:",
            on_click=close,
        )
    st.caption(EXAM_LIMITS)


def _describe_progress(exercises: ExerciseSet, attempt: Attempt) -> str:
    if exercises.exam:
        return f"{len(attempt.answers)} of {len(exercises.questions)} questions answered"
    return choose_plural(
        len(attempt.marks),
        "{got} of {points} points, {count} question checked",
        "{got} of {points} points, {count} questions checked",
        got=f"{count_points(attempt, exercises):.4g}",
        points=f"{exercises.points:g}",
    )


# --- from question to question --------------------------------------------------------------
def _choose_question(exercises: ExerciseSet, attempt: Attempt, view: ExercisesView) -> None:
    last = len(exercises.questions)

    def format_place(place: int) -> str:
        if place == last:
            return "Hand in"
        return f"{place + 1} {_get_mark_sign(attempt, exercises.questions[place])}".strip()

    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Question",
            range(last + 1),
            required=True,
            **attach_widget(
                f"exercise-place-{exercises.fingerprint}", view.place, _show_question, exercises
            ),
            format_func=format_place,
            label_visibility="collapsed",
        )
    if attempt.answers and exercises.exam:
        st.caption("… answered")
    elif attempt.answers:
        st.caption("✓ all points · ◐ some points · ✗ none · … answered, not checked")


def _show_question(exercises: ExerciseSet, place: int | None) -> None:
    """Show a question of the open set; a browser may still send one of the set before."""
    now = state.get_session().view(LessonsView).exercises.opened or _get_built_in_set()
    if place is not None and now.fingerprint == exercises.fingerprint:
        show_place(exercises, place)


def _get_mark_sign(attempt: Attempt, question: AnyQuestion) -> str:
    mark = count_marks(attempt).get(question.id)
    if mark is None:
        return "…" if question.id in attempt.answers else ""
    return "✓" if mark.share == 1 else "◐" if mark.share else "✗"


def _draw_current_question(exercises: ExerciseSet, attempt: Attempt, view: ExercisesView) -> None:
    question = exercises.questions[view.place]

    def give(answer: Any) -> None:
        update_attempt(exercises, lambda now: set_answer(now, question.id, answer))

    def draw_beside() -> None:
        _draw_checking(exercises, attempt, view, question)

    draw_question(exercises, attempt, question, view.place + 1, give, draw_beside)
    is_open = attempt.help_seen.get(question.id) == "solution"
    mark = attempt.marks.get(question.id)
    if not exercises.exam and (is_open or (mark is not None and mark.share == 1)):
        _show_solution(exercises, question, is_open)


def _draw_checking(
    exercises: ExerciseSet, attempt: Attempt, view: ExercisesView, question: AnyQuestion
) -> None:
    mark, seen = count_marks(attempt).get(question.id), attempt.help_seen.get(question.id)

    def draw(label: str, icon: str, name: str, make: Change, **options: Any) -> None:
        draw_icon_button(
            label, icon, f"exercise-{name}", update_attempt, exercises, make, **options
        )

    with st.container(horizontal=True):
        if not exercises.exam:
            draw(
                "Check", "check", "check", lambda now: mark_answer(now, exercises, question),
                type="primary", help=_HELP_RULE,
            )  # fmt: skip
            if seen == "hint":
                draw(
                    "Show the solution: no points", "school", "solution",
                    lambda now: open_help(now, question.id, "solution"),
                )  # fmt: skip
            elif seen is None and attempt.misses.get(question.id, 0) >= _MISSES_BEFORE_HINT:
                draw(
                    "Hint: half of the points", "lightbulb", "hint",
                    lambda now: open_help(now, question.id, "hint"),
                )  # fmt: skip
        if attempt.before is not None:
            draw("Undo", "undo", "undo", lambda now: now.before or now)
        elif question.id in attempt.answers:
            draw("Start again", "restart_alt", "anew", lambda now: clear_answer(now, question.id))
        last = view.place + 1 == len(exercises.questions)
        next_label = "Hand in" if last else "Next question"
        draw_icon_button(
            next_label, "arrow_forward", "exercise-next", show_place, exercises, view.place + 1
        )
    if exercises.exam:
        return
    if mark is not None:
        _show_mark(mark, question)
    if seen is not None:
        now = get_current_answer(attempt, exercises, question)
        hint_text = get_hint(question, exercises.get_table(question), now)
        st.info(escape_markdown(hint_text), icon=":material/lightbulb:")


def _show_solution(exercises: ExerciseSet, question: AnyQuestion, is_open: bool) -> None:
    about = (exercises.fingerprint, question.id)
    solution = state.get_or_compute(
        "exercise-solution",
        about,
        lambda: explain_solution(question, exercises.get_table(question)),
    )
    with st.expander("Solution", expanded=is_open):
        for sentence in solution.sentences:
            st.markdown(escape_markdown(sentence))
        draw_small_table(solution.arithmetic)


def _show_mark(mark: Mark, question: AnyQuestion) -> None:
    got = _format_points(mark.share * question.points, question.points)
    text = f"{got}: {mark.sentence}"
    if mark.share == 1:
        st.success(escape_markdown(text), icon=":material/check_circle:")
    elif mark.share:
        st.warning(escape_markdown(text), icon=":material/contrast:")
    else:
        st.error(escape_markdown(text), icon=":material/cancel:")


# --- handing in -----------------------------------------------------------------------------
def _draw_hand_in(exercises: ExerciseSet, view: ExercisesView) -> None:
    if exercises.exam:
        _show_answer_states(exercises, view)
    else:
        _show_points(exercises, view)
    name, button = st.columns([2, 1], vertical_alignment="bottom")
    name.text_input(
        "Name or pseudonym",
        **attach_widget(
            "exercise-student", view.student, "student", into=partial(apply_view, "exercises")
        ),
        max_chars=100,
        help="It is saved in the file of answers. Nothing is sent: you hand the file in yourself.",
    )
    # Below 1 MB, so Streamlit knows the file by its content.
    answers, is_nameless = collect_answers(view, exercises), not view.student.strip()
    with button:
        st.download_button(
            "Download the answers",
            data=answers.to_json().encode(),
            file_name=f"answers-{format_name_for_file(answers.student)}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            type="primary",
            key="exercise-answers",
            disabled=is_nameless,
            help="Type a name or a pseudonym first." if is_nameless else None,
            width="stretch",
        )
    if answers.fingerprint and not is_nameless:
        fingerprint = f"**{answers.fingerprint}**"
        st.markdown(
            f"Fingerprint of these answers: {fingerprint}. Write it on your teacher's list "
            "when you hand in the file: any change to the file changes the fingerprint."
        )


def _format_points(points: float, most: float) -> str:
    return f"{points:.4g} of {most:g}"


def _list_headings(exercises: ExerciseSet) -> list[str]:
    return [
        format_question_heading(place, question)
        for place, question in enumerate(exercises.questions, start=1)
    ]


def _show_points(exercises: ExerciseSet, view: ExercisesView) -> None:
    attempt = get_attempt(view, exercises)
    marks = [  # of all answers, checked or not
        judge_answer(attempt, exercises, question).count_help(attempt.help_seen.get(question.id))
        if question.id in attempt.answers
        else exercises.mark(question, None)
        for question in exercises.questions
    ]
    most = [question.points for question in exercises.questions]
    points = [mark.share * of for mark, of in zip(marks, most, strict=True)]
    st.subheader(f"{_format_points(sum(points), exercises.points)} points")
    rows = {
        "question": _list_headings(exercises),
        "points": list(map(_format_points, points, most)),
        "why": [mark.sentence for mark in marks],
    }
    draw_small_table(pd.DataFrame(rows))


def _show_answer_states(exercises: ExerciseSet, view: ExercisesView) -> None:
    attempt = get_attempt(view, exercises)
    if attempt.is_closed:
        message = "The exam is closed on this page: its answers can no longer change."
        st.info(message, icon=":material/lock:")
    is_answered = [question.id in attempt.answers for question in exercises.questions]
    answers = ["answered" if question else "no answer" for question in is_answered]
    draw_small_table(pd.DataFrame({"question": _list_headings(exercises), "answer": answers}))


# --- files -----------------------------------------------------------------------------------
def _draw_file_fields(work: SessionState, view: ExercisesView, exercises: ExerciseSet) -> None:
    set_place, answers_place = st.columns(2, gap="medium")
    with set_place:
        draw_json_field(
            "Open an exercise set",
            f"exercise-set-{view.uploads}",
            lambda file: runner.run_request(create_exercises_request, file.getvalue()),
            disabled="exercises" in work.running,
            help="A file that your teacher made. Your answers to the open set are kept.",
        )
        if view.opened is not None:
            st.button(
                "Back to the set that comes with kanon",
                key="exercise-built-in",
                on_click=partial(apply_view, "exercises", opened=None, place=0),
            )
    with answers_place:
        draw_json_field(
            "Continue with saved answers",
            f"exercise-go-on-{view.uploads}",
            lambda file: state.try_update(lambda: _apply_saved_answers(exercises, file.getvalue())),
        )


def _apply_saved_answers(exercises: ExerciseSet, content: bytes) -> SessionState:
    work = state.get_session()
    lessons = work.view(LessonsView)
    lessons = replace(lessons, exercises=load_answers(lessons.exercises, exercises, content))
    return work.replace_sections(lessons, Message(notice="Your saved answers are loaded."))
