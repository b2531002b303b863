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
