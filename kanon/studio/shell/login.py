"""The login page: without a login nobody sees another page or gets a session.

An identity provider (OpenID Connect) decides; the operator names it in the section ``[auth]`` of
Streamlit's secrets, see docs/operate/deployment.md. Without the section no login is needed, unless
``KANON_LOGIN=required`` asks for one: then a forgotten section lets nobody in.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec

import streamlit as st

from kanon.studio.session import state
from kanon.studio.session.server import read_claims
from kanon.studio.shell.navigation import show_only_page


def needs_login(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the operator asks for a login; a misspelt wish counts as one.

    >>> needs_login({"KANON_LOGIN": "required"}), needs_login({"KANON_LOGIN": "yes"})
    (True, True)
    >>> needs_login({"KANON_LOGIN": "off"}), needs_login({})
    (False, False)
    """
    return environment.get("KANON_LOGIN", "").strip().lower() not in ("", "0", "false", "no", "off")


def check_login() -> bool:
    """Whether the pages may be drawn; if not, draw the login page."""
    # Streamlit says True or False where a login is set up, and nothing where none is.
    logged_in = read_claims().get("is_logged_in")
    if logged_in is None and not needs_login():
        return True
    if logged_in:
        with st.sidebar:
            st.button("Log out", icon=":material/logout:", on_click=_log_out, width="stretch")
        return True
    show_only_page(_log_in, "Log in")
    return False


def _log_in() -> None:
    st.title("Please log in")
    if st.user.get("is_logged_in") is None:
        st.error(
            "This server requires a login, but none is set up. Its operator has to add the section "
            "[auth] to its secrets (see docs/operate/deployment.md).",
            icon=":material/error:",
        )
    elif find_spec("authlib") is None:
        st.error(
            "The login of this server needs the package Authlib, which is not installed. Its "
            "operator has to run pip install authlib.",
            icon=":material/error:",
        )
    else:
        st.markdown("Log in to work with personal data on this server.")
        st.button("Log in", type="primary", icon=":material/login:", on_click=st.login)


def _log_out() -> None:
    """Delete all for the next user of this tab."""
    state.delete_all_data()
    st.logout()
