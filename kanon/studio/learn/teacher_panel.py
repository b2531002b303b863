"""What a teacher does with an exercise set: hand it out, print it, mark a class."""

from __future__ import annotations

import streamlit as st

from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.studio.learn.exercises import look
from kanon.studio.learn.exercises_state import ExercisesView
from kanon.studio.learn.marks_panel import class_field, class_marks
from kanon.studio.learn.set_editor import editor_entry
from kanon.studio.learn.set_editor_state import SetEditorView
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import file_button
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.handout import handout


def for_the_teacher(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    """The files to hand out, and the marks of a class."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Hand out**")
        _handed_out(view, exercises, exercises.fingerprint in work.view(SetEditorView).own_sets)
        editor_entry(work, exercises)
    with right:
        st.markdown("**Mark a class**")
        class_field(work, view, exercises)
    class_marks(view, exercises)


def _handed_out(view: ExercisesView, exercises: ExerciseSet, own: bool) -> None:
    """The set as a file and as a sheet to print; ``own``: it has records of the session's table."""
    file_button(
        "Download the exercise set", lambda: exercises.to_json().encode(), "exercises",
        "json", exercises.fingerprint, "exercise-set", own,
        help="Students open it under “Another exercise set, saved answers”. No answer stands in "
"it.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Costs on the handout",
            ["", *METRICS],
            **bound("exercise-metric", view.metric, "metric", into=look),
            format_func=lambda name: (
                METRICS[name].card.title if name else "Those that the questions go by"
            ),
            width=280,
        )
        st.checkbox(
            "With solutions",
            **bound("exercise-solutions", view.solutions, "solutions", into=look),
        )
    about = (exercises.fingerprint, view.metric, view.solutions)
    try:
        page = state.remembered(
            "handout",
            about,
            lambda: handout(exercises, view.metric or None, solutions=view.solutions),
        )
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    file_button(
        "Download the handout to print", lambda: page.encode(), "handout", "html",
        repr(about), "exercise-handout", own,
        help="A page that opens without a network. Print it from the browser.",
    )  # fmt: skip
