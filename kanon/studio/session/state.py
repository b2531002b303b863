"""The one place that touches Streamlit's session state.

A session owns one frozen state under a key that no widget has, because Streamlit drops the keys of
widgets when the user leaves a page. Widgets show its values, and their callbacks replace it. The
server stores it too, for pages that were reloaded or lost their connection.
"""

import gc
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.uploaded_file_manager import DeletedFile

from kanon.errors import KanonError
from kanon.studio.session.named_configurations import move_configurations
from kanon.studio.session.parts import Message, StateSection
from kanon.studio.session.samples import FIRST
from kanon.studio.session.server import (
    get_connection,
    get_owner,
    get_session_store,
    is_fragment_run,
)
from kanon.studio.session.session_store import StoredSession, create_token
from kanon.studio.session.table_loading import open_sample
from kanon.studio.session.text import escape_markdown
from kanon.studio.session.work import (
    BEHIND,
    SessionState,
    get_job_title,
    has_user_changes,
    is_same_section,
    keep_user_sections,
)

_WORK, _SALT, _MEMORY = "kanon-work", "kanon-salt", "kanon-memory"
_TOKEN, _FIRST = "kanon-token", "kanon-first"
ENTERED = "kanon-entered"  # the page was drawn by app.py
SETTLED = "kanon-settled"  # it was drawn once, so that its tab could name an earlier session
LOST, DELETED = "kanon-lost", "kanon-forgotten"  # its earlier work is gone; the user deleted all
_SAID_ON = "said-on"  # remembers the page on which the last message was first read

T = TypeVar("T")


def get_session() -> SessionState:
    """The state of this session; at first the census sample."""
    if _WORK not in st.session_state:
        st.session_state[_WORK] = st.session_state[_FIRST] = open_sample(FIRST)
    stored: SessionState = st.session_state[_WORK]
    return stored


def set_session(new: SessionState, keep_user_items: bool = True) -> None:
    """Replace the state; calculations on an old table are stopped, and a notice says so."""
    old = st.session_state.get(_WORK)
    if old is not None:
        new = _cancel_missing(old, new)
    if old is not None and old.version != new.version:
        st.session_state.pop(_MEMORY, None)
        if keep_user_items:  # the metrics, board, answers, configurations and entries of the user
            new = move_configurations(old, keep_user_sections(old, new))
    st.session_state[_WORK] = new
    store_session()


def _cancel_missing(old: SessionState, new: SessionState) -> SessionState:
    """Cancel what the new state does not run, and say so of what was begun by hand."""
    ended = [
        doing
        for doing, calculation in old.running.items()
        if new.running.get(doing) is not calculation
    ]
    unfinished = [doing for doing in ended if not old.running[doing].job.finished]
    for doing in ended:
        old.running[doing].job.cancel()
    titles = [
        get_job_title(doing)
        for doing in unfinished
        if doing not in BEHIND and (doing, old.version) != ("run", 0)
    ]
    if not titles:
        return new
    sentence = f"Stopped because the table or its settings have changed: {', '.join(titles)}."
    return new.add_notice(" ".join(filter(None, [new.message.notice, sentence])))


def mark(flag: str) -> None:
    """Set a flag of this tab: :data:`ENTERED`, :data:`SETTLED`, :data:`LOST`, :data:`DELETED`."""
    st.session_state[flag] = True


def is_marked(flag: str) -> bool:
    return flag in st.session_state


def update_sections(*parts: StateSection) -> None:
    """Replace sections of the state and clear the message."""
    if not all(is_same_section(get_session().view(type(part)), part) for part in parts):
        set_session(get_session_without_message().replace_sections(*parts))


def update_fields(kind: type[StateSection], **fields: Any) -> None:
    """Replace fields of one section; for callbacks."""
    update_sections(replace(get_session().view(kind), **fields))


def get_session_without_message() -> SessionState:
    return get_session().replace_sections(Message())


def try_update(make: Callable[[], SessionState], problem_at: str = "", carry: bool = True) -> bool:
    """Replace the state by what ``make`` returns, or show the problem that the user can fix."""
    try:
        new = make()
    except KanonError as error:
        update_sections(Message(problem=error.sentence, problem_at=problem_at))
        return False
    set_session(new, carry)
    return True


def try_step(step: Callable[..., SessionState], *arguments: Any) -> None:
    """Replace the state by ``step`` of it; for callbacks."""
    try_update(lambda: step(get_session(), *arguments))


def show_message_at(at: str) -> None:
    current = get_session()
    if current.message.problem_at != at:
        return
    if current.message.problem:
        st.error(escape_markdown(current.message.problem), icon=":material/error:")
    elif current.message.notice:
        st.success(escape_markdown(current.message.notice), icon=":material/check:")


def clear_message_of_other_page(page: str) -> None:
    message = get_session().message
    if not (message.problem or message.notice):
        clear_cache_entry(_SAID_ON)
    elif get_or_compute(_SAID_ON, message, lambda: page) != page:
        clear_cache_entry(_SAID_ON)
        set_session(get_session_without_message())


def set_widget_value(key: str, value: object) -> str:
    """Set the value that a widget shows, and return its key."""
    st.session_state[key] = value
    return key


def get_widget_value(key: str) -> Any:
    """The user's entry in a widget; for callbacks."""
    value = st.session_state.get(key)
    if isinstance(value, list):
        return [file for file in value if not isinstance(file, DeletedFile)]
    return None if isinstance(value, DeletedFile) else value


def get_or_compute(name: str, key: Hashable, make: Callable[[], T]) -> T:
    """The result of ``make``, kept in this session until ``key`` changes."""
    memory: dict[str, tuple[Hashable, Any]] = st.session_state.setdefault(_MEMORY, {})
    if name not in memory or memory[name][0] != key:
        memory[name] = (key, make())
    result: T = memory[name][1]
    return result


def is_first_time(name: str, key: Hashable) -> bool:
    mark = object()
    return get_or_compute(name, key, lambda: mark) is mark


def clear_cache_entry(name: str) -> None:
    st.session_state.get(_MEMORY, {}).pop(name, None)


def get_download_secret() -> str:
    """A secret of this session, for file names that no other session may share."""
    if _SALT not in st.session_state:
        st.session_state[_SALT] = StoredSession().salt
    secret: str = st.session_state[_SALT]
    return secret


def attach_widget(
    key: str,
    value: object,
    take: str | Callable[..., object],
    *args: Any,
    into: type[StateSection] | Callable[..., object] | None = None,
    read: Callable[[Any], Any] = lambda value: value,
    keep: bool = False,
) -> dict[str, Any]:
    """Have a widget show a value, and take another by a function, or as a field of a section."""
    assert callable(take) or into is not None, take
    set_widget_value(key, value)

    def changed() -> None:
        # The browser has not drawn the new value yet, or still sends a widget that is gone: nobody
        # chose it.
        if is_fragment_run() or key not in st.session_state:
            return
        value_typed = get_widget_value(key)
        if keep and value_typed is None:
            return
        new = read(value_typed)
        if callable(take):
            take(*args, new)
        elif isinstance(into, type):
            update_fields(into, **{take: new})
        elif into is not None:
            into(**{take: new})

    return {"key": key, "on_change": changed}


# --- what outlives the page -----------------------------------------------------------------
def get_token() -> str:
    if _TOKEN not in st.session_state:
        st.session_state[_TOKEN] = create_token()
    secret: str = st.session_state[_TOKEN]
    return secret


def get_visitor() -> str:
    """The owner in the queue of jobs: the logged-in person, or else this tab."""
    return get_owner() or get_token()


def start_again() -> None:
    st.session_state.pop(LOST, None)
    mark_settled()


def mark_settled() -> None:
    mark(SETTLED)
    store_session()


def store_session() -> None:
    """Store all that this session owns on the server; without a server do nothing."""
    if runtime.exists():
        memory = st.session_state.setdefault(_MEMORY, {})
        work = st.session_state.get(_WORK)
        desk = StoredSession(work, memory, get_download_secret(), has_begun())
        get_session_store().store_session(get_token(), get_connection().session, desk, get_owner())


def has_begun() -> bool:
    """Whether the visitor chose anything here, so that there is work to lose."""
    work, first = st.session_state.get(_WORK), st.session_state.get(_FIRST)
    return work is not None and (first is None or has_user_changes(first, work))


def restore_session(earlier_token: str) -> bool:
    """Take over the stored session of a token; False if there is none."""
    if earlier_token == get_token():
        return True  # sent twice: it has it already
    stored = get_session_store().take(earlier_token, get_connection().session, get_owner())
    if stored is None:
        return False
    get_session_store().clear(get_token())
    st.session_state[_TOKEN], desk = stored
    st.session_state[_MEMORY], st.session_state[_SALT] = desk.memory, desk.salt
    st.session_state.pop(_WORK, None)
    if desk.work is not None:
        st.session_state[_WORK] = desk.work
    return True


def delete_all_data() -> None:
    """Delete all of this session: its state, runs, files and widgets."""
    work = st.session_state.get(_WORK)
    StoredSession(work, st.session_state.get(_MEMORY, {})).clear_all()
    if runtime.exists():
        session = get_connection().session
        get_session_store().delete_all_of_owner(get_token())
        runtime.get_instance().uploaded_file_mgr.remove_session_files(session)
        runtime.get_instance().media_file_mgr.clear_session_refs(session)
    st.session_state.clear()
    del work
    gc.collect()
    mark(DELETED)
