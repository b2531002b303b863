"""The store of all sessions, and who the visitor is."""

import gc
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kanon.release.record import LOCAL
from kanon.settings import settings
from kanon.studio.session.session_store import Desks


@st.cache_resource(show_spinner=False)
def imports_set_aside() -> None:
    """Have the collector of garbage pass over what the imports made.

    Streamlit runs it after every script, and every look at 200,000 objects of modules would take a
    tenth of a second in which nobody else is served. What comes later is collected as ever. Nothing
    of a user is there yet: this is called before anybody's first page is drawn.
    """
    gc.freeze()


@st.cache_resource(show_spinner=False)
def desks() -> Desks:
    limits = settings()
    return Desks(60 * limits.keep_minutes, limits.kept_sessions)


def owner() -> str:
    """The unique id of the logged-in person; "" where there is no login."""
    return " ".join(str(st.user[part]) for part in ("iss", "sub") if part in st.user)


def login_name() -> str:
    """The logged-in person's name in the operator's record; ``local`` where there is no login."""
    if not st.user.get("is_logged_in"):  # Streamlit makes somebody up then
        return LOCAL
    claims = ("email", "preferred_username", "name")
    return next((str(st.user[part]) for part in claims if st.user.get(part)), owner())


@dataclass(frozen=True)
class Seat:
    """Notices the end of a session or of its connection."""

    desks: Desks
    session: str

    def leave(self) -> None:
        self.desks.leave(self.session)


def ticking() -> bool:
    """Whether only a fragment of the page is drawn again, by its own timer."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


@st.cache_resource(show_spinner=False, scope="session", on_release=Seat.leave)
def seat() -> Seat:
    context = get_script_run_ctx()
    return Seat(desks(), context.session_id if context else "")
