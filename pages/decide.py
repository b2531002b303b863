"""Which settings for this purpose? What the release is for, and whether it has what that asks."""

from dataclasses import replace

import streamlit as st

from kanon.language import say
from kanon.studio import decide_advice, decide_purpose, decide_reverse, decide_study, state
from kanon.studio.frame import head, unready

PARTS = {
    "purpose": (say("1 What is it for?"), decide_purpose.show),
    "settings": (say("2 Which settings?"), decide_advice.show),
    "reverse": (say("3 The other way round"), decide_reverse.show),
    "study": (say("4 Which strategy in general?"), decide_study.show),
}
"""The parts by their names in :class:`kanon.studio.decide_view.DecideView`: title, and what draws
it from what the session works on."""


def choose_part(work):
    """Which part of the page is open."""
    st.segmented_control(
        say("Look at"),
        list(PARTS),
        key=state.seeded("decide-part", work.deciding.part),
        format_func=lambda name: PARTS[name][0],
        on_change=lambda: state.change(
            deciding=replace(
                state.work().deciding, part=state.typed("decide-part") or work.deciding.part
            )
        ),
        label_visibility="collapsed",
    )


work = head(say("Which settings for this purpose?"), aloud=True)
unready(work)
choose_part(work)
PARTS[work.deciding.part][1](work)
