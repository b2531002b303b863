"""What a teacher does with an exercise set: hand it out, print it, mark a class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.language import say, say_of
from kanon.errors import KanonError
from kanon.metrics import METRICS
from kanon.studio.learn.exercises_state import ExercisesView
from kanon.studio.learn.marks_panel import class_field, class_marks
from kanon.studio.learn.state import LessonsView
from kanon.studio.session import state
from kanon.studio.session.binding import bound
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work
from kanon.studio.widgets.files import file_name
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.handout import handout, sheets_of


def for_the_teacher(work: Work, view: ExercisesView, exercises: ExerciseSet) -> None:
    """The files to hand out, and the marks of a class."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{say('Hand out')}**")
        _handed_out(view, exercises)
    with right:
        st.markdown(f"**{say('Mark a class')}**")
        class_field(work, view, exercises)
    class_marks(view, exercises)


def _handed_out(view: ExercisesView, exercises: ExerciseSet) -> None:
    """The set as a file, and as a sheet to print."""
    written = exercises.to_json()
    st.download_button(
        say("Download the exercise set"),
        data=written.encode(),
        file_name=file_name("exercises", "json", exercises.fingerprint),
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        key="exercise-set",
        help=say("Students open it under Files. No answer stands in it."),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            say("Costs on the handout"),
            ["", *METRICS],
            **bound("exercise-metric", view.metric, "metric", into=_look),
            format_func=lambda name: (
                say_of(METRICS[name].card.title) if name else say("Those that the questions go by")
            ),
            width=280,
        )
        st.checkbox(
            say("With solutions"),
            **bound("exercise-solutions", view.solutions, "solutions", into=_look),
        )
    about = (exercises.fingerprint, view.metric, view.solutions)
    try:
        page = state.remembered("handout", about, lambda: _handout(view, exercises))
    except KanonError as error:
        st.error(plain(error.sentence), icon=":material/error:")
        return
    st.download_button(
        say("Download the handout to print"),
        data=page.encode(),
        file_name=file_name("handout", "html", repr(about)),
        mime="text/html",
        icon=":material/print:",
        on_click="ignore",
        key="exercise-handout",
        help=say("A page that opens without a network. Print it from the browser."),
    )


def _handout(view: ExercisesView, exercises: ExerciseSet) -> str:
    return handout(
        exercises.title, sheets_of(exercises), view.metric or None, solutions=view.solutions
    )


def _look(**fields: Any) -> None:
    lessons = state.work().view(LessonsView)
    state.change(view=replace(lessons, exercises=replace(lessons.exercises, **fields)))
