"""Handing in the answers to an exercise set, on the page Learn."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kanon.studio.learn.exercises import attempt_at, handed_in, look, scored
from kanon.studio.learn.exercises_state import ExercisesView
from kanon.studio.learn.small_tables import small_table
from kanon.studio.session.state import bound
from kanon.teaching.answers import name_in_file
from kanon.teaching.exercises import ExerciseSet
from kanon.teaching.question import heading


def hand_in(exercises: ExerciseSet, view: ExercisesView) -> None:
    """What was answered, with its points where it is for practice, and the file of answers."""
    if exercises.exam:
        _answered(exercises, view)
    else:
        _points(exercises, view)
    name, button = st.columns([2, 1], vertical_alignment="bottom")
    name.text_input(
        "Name or pseudonym",
        **bound("exercise-student", view.student, "student", into=look),
        max_chars=100,
        help="It stands in the file of answers. Nothing is sent: you hand the file in yourself.",
    )
    with button:
        if not view.student.strip():
            st.button(
                "Download the answers",
                icon=":material/download:",
                disabled=True,
                key="exercise-nameless",
                help="Type a name or a pseudonym first.",
                width="stretch",
            )
            return
        made = handed_in(view, exercises)  # below 1 MB, so Streamlit knows the file by its content
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


def part(points: float, most: float) -> str:
    """Some points of those that there are."""
    return f"{points:.4g} of {most:g}"


def _headings(exercises: ExerciseSet) -> list[str]:
    return [heading(place, one) for place, one in enumerate(exercises.questions, start=1)]


def _points(exercises: ExerciseSet, view: ExercisesView) -> None:
    """All points, with their reasons."""
    found = scored(view, exercises)
    st.subheader(f"{part(found.points, found.most)} points")
    small_table(
        pd.DataFrame(
            {
                "question": _headings(exercises),
                "points": [part(one.points, one.most) for one in found.marks],
                "why": [one.sentence for one in found.marks],
            }
        )
    )


def _answered(exercises: ExerciseSet, view: ExercisesView) -> None:
    """Which questions of an exam are answered; their marks come later."""
    attempt = attempt_at(view, exercises)
    if attempt.closed:
        st.info(
            "The exam is closed on this page: its answers stay as they are.",
            icon=":material/lock:",
        )
    there = [one.id in attempt.answers for one in exercises.questions]
    small_table(
        pd.DataFrame(
            {
                "question": _headings(exercises),
                "answer": ["answered" if one else "no answer" for one in there],
            }
        )
    )
