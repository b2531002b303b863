"""The gate of a server that asks for a login: what is drawn before it, and what after."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kanon.studio.session import state
from kanon.studio.session.server import get_owner
from kanon.studio.shell import login
from support.dashboard import APP, WORK

INSIDE = "Somebody's table"


def gated():
    import streamlit as st

    from kanon.studio.shell.login import check_login

    if check_login():
        st.title("Somebody's table")


@pytest.fixture
def gate(monkeypatch):
    """The gate as it is with a login set up or not, asked for or not, logged in or not."""

    def draw(logged_in=None, required="", authlib=True):
        monkeypatch.setattr(st, "user", {} if logged_in is None else {"is_logged_in": logged_in})
        monkeypatch.setenv("KANON_LOGIN", required)
        monkeypatch.setattr(login, "find_spec", lambda name: object() if authlib else None)
        at = AppTest.from_function(gated, default_timeout=30).run()
        assert not at.exception
        return at

    return draw


def titles(at):
    return [title.value for title in at.title]


@pytest.mark.parametrize("required", ["", "off", " "])
def test_without_a_login_everybody_comes_in(gate, required):
    at = gate(required=required)
    assert titles(at) == [INSIDE] and not at.button


@pytest.mark.parametrize("required", ["", "required"])
def test_who_is_not_logged_in_sees_one_button(gate, required):
    at = gate(logged_in=False, required=required)
    assert titles(at) == ["Please log in"]
    assert [button.label for button in at.button] == ["Log in"] and not at.error
    assert "kanon-work" not in at.session_state, "no work was begun"


def test_who_is_logged_in_comes_in_and_can_leave(gate, monkeypatch):
    at = gate(logged_in=True, required="required")
    assert titles(at) == [INSIDE]
    assert [button.label for button in at.sidebar.button] == ["Log out"]
    done = []
    monkeypatch.setattr(state, "delete_all_data", lambda: done.append("forgotten"))
    monkeypatch.setattr(st, "logout", lambda: done.append("out"))
    at.sidebar.button[0].click().run()
    assert done == ["forgotten", "out"]


def test_nobody_else_owns_what_somebody_logged_in_does(monkeypatch):
    users = [
        {"is_logged_in": True, "iss": "https://a.example", "sub": "1", "name": "Ann"},
        {"is_logged_in": True, "iss": "https://b.example", "sub": "1", "name": "Ann"},
        {"is_logged_in": True, "iss": "https://a.example", "sub": "2", "name": "Ann"},
        {"is_logged_in": False},
    ]
    owners = []
    for user in users:
        monkeypatch.setattr(st, "user", user)
        owners.append(get_owner())
    assert len(set(owners)) == 4 and owners[-1] == ""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"required": "required"}, "none is set up. Its operator has to add the section [auth]"),
        ({"required": " Required "}, "none is set up"),
        ({"logged_in": False, "authlib": False}, "needs the package Authlib"),
    ],
)
def test_a_login_that_is_asked_for_and_not_set_up_lets_nobody_in(gate, how, said):
    at = gate(**how)
    assert titles(at) == ["Please log in"] and not at.button
    (error,) = at.error
    assert said in error.value


def test_the_button_begins_the_login(gate, monkeypatch):
    begun = []
    monkeypatch.setattr(st, "login", lambda: begun.append(True))
    at = gate(logged_in=False)
    at.button[0].click().run()
    assert begun == [True] and titles(at) == ["Please log in"]


def test_the_app_begins_with_the_gate(start, monkeypatch):
    monkeypatch.setenv("KANON_LOGIN", "required")
    at = AppTest.from_file(str(APP), default_timeout=30).run()
    assert titles(at) == ["Please log in"] and WORK not in at.session_state
    monkeypatch.delenv("KANON_LOGIN")
    assert WORK in start().session_state
