"""How does it work? Every algorithm step by step, attacks played out, exercises."""

from dataclasses import replace

import streamlit as st

from kanon.language import say
from kanon.studio import state
from kanon.studio.frame import head
from kanon.studio.lessons_attacks import show_attacks
from kanon.studio.lessons_exercises import show_exercises
from kanon.studio.lessons_large import LARGE
from kanon.studio.lessons_steps import show_steps

PARTS = {"steps": say("Step by step"), "attacks": say("Attacks"), "exercises": say("Exercises")}
SHOW = {"steps": show_steps, "attacks": show_attacks, "exercises": show_exercises}


def change(**parts):
    """Change what the page shows."""
    state.change(lessons=replace(state.work().lessons, **parts))


work = head(say("How does it work, step by step?"))
with st.container(horizontal=True, vertical_alignment="center"):
    st.segmented_control(
        say("Look at"),
        list(PARTS),
        key=state.seeded("learn-part", work.lessons.part),
        format_func=PARTS.get,
        on_change=lambda: change(part=state.typed("learn-part") or work.lessons.part),
        label_visibility="collapsed",
    )
    st.toggle(
        say("Large type"),
        key=state.seeded("learn-large", work.lessons.large),
        on_change=lambda: change(large=state.typed("learn-large")),
        help=say("For a projector: text and pictures are large enough for the last row."),
    )
if work.lessons.large:
    st.html(LARGE)
SHOW[work.lessons.part](work)
