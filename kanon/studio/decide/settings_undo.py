"""The button that undoes a change of settings by the Decide page."""

from dataclasses import replace

import streamlit as st

from kanon.studio.decide.state import DecidePart, DecideView
from kanon.studio.session import state
from kanon.studio.session.changed_settings import describe_change, is_still_current
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.work import SessionState


def take_settings(
    work: SessionState, part: DecidePart, notice: str, *settings: StateSection
) -> SessionState:
    change = describe_change(work, work.view(DecideView).taken.get(part), *settings)
    changes = {**work.view(DecideView).taken, part: change}
    deciding = replace(work.view(DecideView), taken=changes)
    return work.replace_sections(*settings, deciding, Message(notice=notice))


def can_undo_settings(work: SessionState, part: DecidePart) -> bool:
    return is_still_current(work, work.view(DecideView).taken.get(part))


def undo_settings(work: SessionState, part: DecidePart) -> SessionState:
    if not can_undo_settings(work, part):
        return work
    before = work.view(DecideView).taken[part].undo(work)
    others = {name: change for name, change in work.view(DecideView).taken.items() if name != part}
    deciding = replace(work.view(DecideView), taken=others)
    return before.replace_sections(deciding, Message(notice="The previous settings are back."))


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
