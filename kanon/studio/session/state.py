"""The one place that touches Streamlit's session state.

A session owns one frozen state under a key that no widget has, because Streamlit drops the keys of
widgets when the user leaves a page. Widgets show its values, and their callbacks replace it. The
server stores it too, for pages that were reloaded or lost their connection.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.uploaded_file_manager import DeletedFile

from kanon.errors import KanonError
from kanon.studio.session.named_configurations import carried
from kanon.studio.session.parts import Message, SessionPart
from kanon.studio.session.samples import FIRST
from kanon.studio.session.server import desks, owner, seat, ticking
from kanon.studio.session.session_store import Desk, new_token
from kanon.studio.session.table_loading import sample_work
from kanon.studio.session.text import plain
from kanon.studio.session.work import Work, begun_since, called, for_another_table, is_same

_WORK, _SALT, _MEMORY, _ENTERED = "kanon-work", "kanon-salt", "kanon-memory", "kanon-entered"
_TOKEN, _SETTLED, _FORGOTTEN = "kanon-token", "kanon-settled", "kanon-forgotten"
_FIRST, _LOST = "kanon-first", "kanon-lost"
_SAID_ON = "said-on"  # remembers the page on which the last message was first read

T = TypeVar("T")


def work() -> Work:
    """The state of this session; at first the census sample."""
    if _WORK not in st.session_state:
        st.session_state[_WORK] = st.session_state[_FIRST] = sample_work(FIRST)
    stored: Work = st.session_state[_WORK]
    return stored


def put(new: Work, carry: bool = True) -> None:
    """Replace the state; calculations on an old table are stopped, and a notice says so."""
    old = st.session_state.get(_WORK)
    if old is not None:
        new = _cancel_missing(old, new)
    if old is not None and old.version != new.version:
        st.session_state.pop(_MEMORY, None)
        if carry:  # the metrics, board, answers, configurations and entries of the user
            new = carried(old, for_another_table(old, new))
    st.session_state[_WORK] = new
    lay_down()


def _cancel_missing(old: Work, new: Work) -> Work:
    """Cancel what the new state does not run, and say so of what was begun by hand."""
    ended = [
        doing
        for doing, calculation in old.running.items()
        if new.running.get(doing) is not calculation
    ]
    unfinished = [doing for doing in ended if not old.running[doing].job.finished]
    for doing in ended:
        old.running[doing].job.cancel()
    titles = [called(doing) for doing in unfinished if (doing, old.version) != ("run", 0)]
    if not titles:
        return new
    sentence = f"Stopped because another table was opened: {', '.join(titles)}."
    return new.with_notice(" ".join(filter(None, [new.message.notice, sentence])))


def enter() -> None:
    st.session_state[_ENTERED] = True


def entered() -> bool:
    return _ENTERED in st.session_state


def change(*parts: SessionPart) -> None:
    """Replace sections of the state and clear the message."""
    if not all(is_same(work().view(type(part)), part) for part in parts):
        put(silent().with_parts(*parts))


def silent() -> Work:
    return work().with_parts(Message())


def attempt(make: Callable[[], Work], at: str = "", carry: bool = True) -> bool:
    """Replace the state by what ``make`` returns, or show the problem that the user can fix."""
    try:
        new = make()
    except KanonError as error:
        change(Message(problem=error.sentence, problem_at=at))
        return False
    put(new, carry)
    return True


def said_here(at: str) -> None:
    current = work()
    if current.message.problem_at != at:
        return
    if current.message.problem:
        st.error(plain(current.message.problem), icon=":material/error:")
    elif current.message.notice:
        st.success(plain(current.message.notice), icon=":material/check:")


def leave_behind(page: str) -> None:
    message = work().message
    if not (message.problem or message.notice):
        forget(_SAID_ON)
    elif remembered(_SAID_ON, message, lambda: page) != page:
        forget(_SAID_ON)
        put(silent())


def seeded(key: str, value: object) -> str:
    """Set the value that a widget shows, and return its key."""
    st.session_state[key] = value
    return key


def typed(key: str) -> Any:
    """The user's entry in a widget; for callbacks."""
    value = st.session_state.get(key)
    if isinstance(value, list):
        return [file for file in value if not isinstance(file, DeletedFile)]
    return None if isinstance(value, DeletedFile) else value


def remembered(name: str, key: Hashable, make: Callable[[], T]) -> T:
    """The result of ``make``, kept in this session until ``key`` changes."""
    memory: dict[str, tuple[Hashable, Any]] = st.session_state.setdefault(_MEMORY, {})
    if name not in memory or memory[name][0] != key:
        memory[name] = (key, make())
    result: T = memory[name][1]
    return result


def first_time(name: str, key: Hashable) -> bool:
    mark = object()
    return remembered(name, key, lambda: mark) is mark


def forget(name: str) -> None:
    st.session_state.get(_MEMORY, {}).pop(name, None)


def salt() -> str:
    """A secret of this session, for file names that no other session may share."""
    if _SALT not in st.session_state:
        st.session_state[_SALT] = Desk().salt
    secret: str = st.session_state[_SALT]
    return secret


def bound(
    key: str,
    value: object,
    take: str | Callable[..., object],
    *args: Any,
    into: type[SessionPart] | Callable[..., object] = change,
    read: Callable[[Any], Any] = lambda value: value,
    keep: bool = False,
) -> dict[str, Any]:
    seeded(key, value)

    def changed() -> None:
        if ticking():  # the browser has not drawn the new value yet: nobody chose the old one
            return
        value_typed = typed(key)
        if keep and value_typed is None:
            return
        new = read(value_typed)
        if callable(take):
            take(*args, new)
        elif isinstance(into, type):
            change(replace(work().view(into), **{take: new}))
        else:
            into(**{take: new})

    return {"key": key, "on_change": changed}


# --- what outlives the page -----------------------------------------------------------------
def token() -> str:
    if _TOKEN not in st.session_state:
        st.session_state[_TOKEN] = new_token()
    secret: str = st.session_state[_TOKEN]
    return secret


def visitor() -> str:
    """The owner in the queue of jobs: the logged-in person, or else this tab."""
    return owner() or token()


def settled() -> bool:
    """Whether the page was drawn once, so that its tab could name an earlier session."""
    return _SETTLED in st.session_state


def lose() -> None:
    st.session_state[_LOST] = True


def lost() -> bool:
    return _LOST in st.session_state


def begin_anew() -> None:
    st.session_state.pop(_LOST, None)
    settle()


def settle() -> None:
    st.session_state[_SETTLED] = True
    lay_down()


def lay_down() -> None:
    """Store all that this session owns on the server; without a server do nothing."""
    if runtime.exists():
        memory = st.session_state.setdefault(_MEMORY, {})
        work, first = st.session_state.get(_WORK), st.session_state.get(_FIRST)
        begun = work is not None and (first is None or begun_since(first, work))
        desk = Desk(work, memory, salt(), begun)
        desks().put(token(), seat().session, desk, owner())


def come_back(earlier_token: str) -> bool:
    """Take over the stored session of a token; False if there is none."""
    if earlier_token == token():
        return True  # sent twice: it has it already
    stored = desks().take(earlier_token, seat().session, owner())
    if stored is None:
        return False
    desks().clear(token())
    st.session_state[_TOKEN], desk = stored
    st.session_state[_MEMORY], st.session_state[_SALT] = desk.memory, desk.salt
    st.session_state.pop(_WORK, None)
    if desk.work is not None:
        st.session_state[_WORK] = desk.work
    return True


def forget_everything() -> None:
    """Delete all of this session: its state, runs, files and widgets."""
    work = st.session_state.get(_WORK)
    Desk(work, st.session_state.get(_MEMORY, {})).cleared()
    if runtime.exists():
        session = seat().session
        desks().forget(token())
        runtime.get_instance().uploaded_file_mgr.remove_session_files(session)
        runtime.get_instance().media_file_mgr.clear_session_refs(session)
    st.session_state.clear()
    st.session_state[_FORGOTTEN] = True


def forgotten() -> bool:
    return _FORGOTTEN in st.session_state
