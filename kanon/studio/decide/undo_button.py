"""The way back from settings that a button of the page Decide has taken over."""

import streamlit as st

from kanon.studio.decide.settings_undo import as_before, can_go_back
from kanon.studio.decide.state import DecidePart
from kanon.studio.session import state
from kanon.studio.session.work import Work


def back_button(work: Work, part: DecidePart) -> None:
    if can_go_back(work, part):
        st.button(
            "Back to the settings before",
            icon=":material/undo:",
            type="tertiary",
            key=f"taken-back-{part}",
            help="As they were before this button. Nothing that you chose since is lost.",
            on_click=lambda: state.put(as_before(state.work(), part)),
        )
