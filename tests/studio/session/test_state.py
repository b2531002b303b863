"""What callbacks read of the widgets."""

import pytest
import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from kanon.schema import Role
from kanon.studio.session import state
from kanon.studio.session.hierarchy_choices import set_missing_rule, set_role
from kanon.studio.session.table_loading import open_uploaded_table

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


def test_only_hierarchies_whose_values_change_are_built_again():
    """Without b the record that lacks it stays, and so does its value 9 of a."""
    content = b"a,b,c\n1,x,u\n2,x,u\n1,y,v\n2,y,v\n9,,v\n"
    work = open_uploaded_table(content, "t.csv", 1)
    for column in "abc":
        work = set_role(work, column, Role.QUASI_IDENTIFIER)
    work = set_missing_rule(work, "drop-records")
    before = work.table.choices
    after = set_role(work, "c", Role.INSENSITIVE).table.choices
    assert after["a"] is before["a"] and after["b"] is before["b"]
    without = set_role(work, "b", Role.INSENSITIVE).table.choices
    assert "9" not in before["a"].counts and without["a"].counts["9"] == 1
    assert "9" in without["a"].tree.labels
