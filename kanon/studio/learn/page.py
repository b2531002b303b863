"""How does it work? Every algorithm step by step, attacks played out, exercises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.studio.learn.attacks_panel import show_attacks
from kanon.studio.learn.exercises_panel import show_exercises
from kanon.studio.learn.keys import keys_press
from kanon.studio.learn.lesson import OWN, table_of
from kanon.studio.learn.narrow import NARROW
from kanon.studio.learn.projector import project
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.steps_panel import show_steps
from kanon.studio.session import state
from kanon.studio.session.state import bound
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import head

PARTS = {"steps": "Step by step", "attacks": "Attacks", "exercises": "Exercises"}
SHOW = {"steps": show_steps, "attacks": show_attacks, "exercises": show_exercises}


def change(**parts: Any) -> None:
    """Change what the page shows."""
    state.change(replace(state.work().view(LessonsView), **parts))


def choices(work: Work) -> None:
    """Which part of the page is open, and whether it is projected."""
    view = work.view(LessonsView)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Look at",
            list(PARTS),
            **bound("learn-part", work.view(LessonsView).part, "part", into=LessonsView, keep=True),
            format_func=lambda name: PARTS[name],
            label_visibility="collapsed",
        )
        # Two lessons side by side are one picture too many for a lecture hall.
        if view.part == "attacks" or (view.part == "steps" and view.steps.beside is None):
            st.button(
                "Projector",
                icon=":material/slideshow:",
                key="learn-projector",
                on_click=project,
                help="One picture that fills the window: no controls, nothing to scroll, letters "
                "for the last row. Keys or a presenter go through it; Esc comes back.",
            )


def _of_session(view: LessonsView) -> bool:
    """Whether the page shows the table that the session works on, and room is for its line."""
    return not view.projected and {
        "steps": table_of(view.steps) == OWN, "attacks": view.attack.own, "exercises": False
    }[view.part]  # fmt: skip


def page() -> None:
    """Draw the page."""
    about = _of_session(state.work().view(LessonsView))
    work = head("How does it work, step by step?", line=about)
    part, projected = work.view(LessonsView).part, work.view(LessonsView).projected
    if part != "exercises":
        keys_press(projected)  # here, so that none is lost while the page becomes one picture
    if not projected:
        choices(work)
    if part != "steps":
        st.html(NARROW)
    SHOW[part](work)
