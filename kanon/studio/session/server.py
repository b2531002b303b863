"""The store of all sessions, and who the visitor is."""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kanon.release.record import LOCAL
from kanon.settings import get_settings
from kanon.studio.session.session_store import SessionStore

_SECONDS, _PARTS = 30.0, 20
"""Garbage is collected this often, and in at most one part of the time of so many."""


@st.cache_resource(show_spinner=False)
def collect_garbage_regularly() -> None:
    """Collect what closed sessions leave behind, but pass over what the imports made.

    While 200,000 objects of modules are looked at, nobody is served. Nothing of a user is among
    them: this is called before anybody's first page is drawn.
    """
    gc.freeze()
    if runtime.exists():
        threading.Thread(target=_collect_garbage, name="kanon-garbage", daemon=True).start()


def _collect_garbage() -> None:
    while True:
        began = time.perf_counter()
        gc.collect()
        time.sleep(max(_SECONDS, (_PARTS - 1) * (time.perf_counter() - began)))


_TURNS, _PATIENCE = threading.Semaphore(2), 5.0
"""So many pages are drawn at once; who has waited so many seconds, waits no more."""

_turn: ContextVar[bool] = ContextVar("turn")


@contextmanager
def take_turn() -> Iterator[None]:
    """Wait until few other pages are being drawn.

    Python runs one thread at a time. Sixty pages that are drawn at once all take as long as the
    last of them, and longer than one after the other, for they also wait for each other's locks.
    """
    before = _turn.set(_TURNS.acquire(timeout=_PATIENCE))
    try:
        yield
    finally:
        if _turn.get():
            _TURNS.release()
        _turn.reset(before)


def give_turn_away() -> None:
    """Let another page be drawn, for this one only waits now; it goes on without."""
    if _turn.get(False):
        _TURNS.release()
        _turn.set(False)


@st.cache_resource(show_spinner=False)
def get_session_store() -> SessionStore:
    limits = get_settings()
    return SessionStore(60 * limits.keep_minutes, limits.kept_sessions)


_claims: ContextVar[dict[str, object]] = ContextVar("claims")


def read_claims() -> dict[str, object]:
    """What the login says of the visitor, also to the rest of this run.

    Streamlit parses its secrets at each look.
    """
    claims: dict[str, object] = dict(st.user)
    _claims.set(claims)
    return claims


def get_owner() -> str:
    """The unique id of the logged-in person; "" where there is no login."""
    claims = _claims.get(None)
    if claims is None:
        claims = dict(st.user)
    return " ".join(str(claims[part]) for part in ("iss", "sub") if part in claims)


def get_login_name() -> str:
    """The logged-in person's name in the operator's record; ``local`` where there is no login."""
    if not st.user.get("is_logged_in"):  # Streamlit makes somebody up then
        return LOCAL
    claims = ("email", "preferred_username", "name")
    return next((str(st.user[part]) for part in claims if st.user.get(part)), get_owner())


@dataclass(frozen=True)
class SessionConnection:
    """Notices the end of a session or of its connection."""

    store: SessionStore
    session: str

    def end_session(self) -> None:
        self.store.mark_abandoned(self.session)


def is_fragment_run() -> bool:
    """Whether only a fragment of the page is drawn again, by its own timer."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


@st.cache_resource(show_spinner=False, scope="session", on_release=SessionConnection.end_session)
def get_connection() -> SessionConnection:
    context = get_script_run_ctx()
    return SessionConnection(get_session_store(), context.session_id if context else "")
