"""Which settings for this purpose? What the release is for, and whether it has what that asks."""

from __future__ import annotations

import streamlit as st

from kanon.studio.decide import advice_panel, greatest_k_panel, purpose_panel, simulated_panel
from kanon.studio.decide.state import DecideView
from kanon.studio.session.state import bound
from kanon.studio.session.work import Work
from kanon.studio.shell.frame import classes_elsewhere, head, unready

PARTS = {
    "purpose": ("1 What is it for?", purpose_panel.show),
    "settings": ("2 Which settings?", advice_panel.show),
    "reverse": ("3 Greatest k for a given l or t", greatest_k_panel.show),
    "study": ("4 Which strategy in general?", simulated_panel.show),
}
"""The parts by their names in :class:`kanon.studio.decide.state.DecideView`: title, and what draws
it from what the session works on."""


def choose_part(work: Work) -> None:
    """Which part of the page is open."""
    st.segmented_control(
        "Look at",
        list(PARTS),
        **bound("decide-part", work.view(DecideView).part, "part", into=DecideView, keep=True),
        format_func=lambda name: PARTS[name][0],
        label_visibility="collapsed",
    )


def page() -> None:
    """Draw the page."""
    work = head("Which settings for this purpose?", aloud=True)
    unready(work)
    choose_part(work)
    part = work.view(DecideView).part
    if part == "purpose" or not classes_elsewhere(work):  # that one asks first
        PARTS[part][1](work)
