"""How does it work? Every algorithm step by step, attacks played out, exercises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from kanon.base.language import say
from kanon.studio.learn.attacks_panel import show_attacks
from kanon.studio.learn.exercises_panel import show_exercises
from kanon.studio.learn.large_type import LARGE
from kanon.studio.learn.narrow import NARROW
from kanon.studio.learn.state import LessonsView
from kanon.studio.learn.steps_panel import show_steps
from kanon.studio.session import state
from kanon.studio.session.binding import bound
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import head

PARTS = {"steps": say("Step by step"), "attacks": say("Attacks"), "exercises": say("Exercises")}
SHOW = {"steps": show_steps, "attacks": show_attacks, "exercises": show_exercises}


def change(**parts: Any) -> None:
    """Change what the page shows."""
    state.change(view=replace(state.work().view(LessonsView), **parts))


def choices(work: Work) -> None:
    """Which part of the page is open, and how large its type is."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            say("Look at"),
            list(PARTS),
            **bound("learn-part", work.view(LessonsView).part, "part", into=LessonsView, keep=True),
            format_func=lambda name: PARTS[name],
            label_visibility="collapsed",
        )
        st.toggle(
            say("Large type"),
            **bound("learn-large", work.view(LessonsView).large, "large", into=LessonsView),
            help=say("For a projector: text and pictures are large enough for the last row."),
        )


def page() -> None:
    """Draw the page."""
    work = head(say("How does it work, step by step?"))
    choices(work)
    if work.view(LessonsView).large:
        st.html(LARGE)
    part = work.view(LessonsView).part
    if part != "steps":
        st.html(NARROW)
    SHOW[part](work)
