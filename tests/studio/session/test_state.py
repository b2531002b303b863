"""What callbacks read of the widgets."""

import pytest
import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from kanon.studio.session import state

GONE = DeletedFile("1")


@pytest.mark.parametrize(
    ("given", "typed"),
    [("3", "3"), (GONE, None), ([GONE, "a file"], ["a file"]), (["a", "b"], ["a", "b"])],
)
def test_files_that_are_stored_no_longer_were_not_chosen(monkeypatch, given, typed):
    monkeypatch.setattr(st, "session_state", {"field": given})
    assert state.get_widget_value("field") == typed
    assert state.get_widget_value("another") is None


def test_a_widget_that_is_no_longer_drawn_chooses_nothing(monkeypatch):
    """The browser may send it once more while the popover that held it closes."""
    shown, taken = {}, []
    monkeypatch.setattr(st, "session_state", shown)
    changed = state.attach_widget("chips", ["ncp"], taken.append, read=tuple)["on_change"]
    changed()
    assert taken == [("ncp",)]
    shown.clear()
    changed()
    assert taken == [("ncp",)]
