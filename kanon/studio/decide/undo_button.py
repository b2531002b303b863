"""The button that undoes a change of settings by the page Decide."""

import streamlit as st

from kanon.studio.decide.settings_undo import as_before, can_go_back
from kanon.studio.decide.state import DecidePart
from kanon.studio.session import state
from kanon.studio.session.work import Work


def back_button(work: Work, part: DecidePart) -> None:
    if can_go_back(work, part):
        st.button(
            "Back to the previous settings",
            icon=":material/undo:",
            type="tertiary",
            key=f"taken-back-{part}",
            help="Brings back the settings from before. Nothing that you chose since is lost.",
            on_click=lambda: state.put(as_before(state.work(), part)),
        )
