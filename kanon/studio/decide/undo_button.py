"""The button that undoes a change of settings by the Decide page."""

import streamlit as st

from kanon.studio.decide.settings_undo import can_undo_settings, undo_settings
from kanon.studio.decide.state import DecidePart
from kanon.studio.session import state
from kanon.studio.session.work import SessionState


def show_undo_button(work: SessionState, part: DecidePart) -> None:
    if can_undo_settings(work, part):
        st.button(
            "Back to the previous settings",
            icon=":material/undo:",
            type="tertiary",
            key=f"taken-back-{part}",
            help="Brings back the settings from before. Nothing that you have chosen since is "
            "lost.",
            on_click=lambda: state.set_session(undo_settings(state.get_session(), part)),
        )
