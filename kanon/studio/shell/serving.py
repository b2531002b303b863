"""Start and end of the server, logs without cell values, and the check of its settings."""

import atexit
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit import error_util, net_util
from streamlit.elements import exception
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.media_file_manager import MediaFileManager, _get_session_id
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.starlette import App

from kanon.errors import TRACEBACK, SettingsError, describe_safely
from kanon.settings import get_settings
from kanon.studio.shell.relied_upon import check_required_internals

GRACE = 30.0  # seconds for which an old address still leads to its file, while its page is open

_SWITCH = 0.001
"""The seconds after which a thread lets another one run.

Python's 0.005 are what each file and each message waits for while a page is drawn, several times.
"""

FAILED = (
    "This page has failed because of an error in kanon. What you have chosen and typed is kept. "
    "Please report it to the operator: the log says where it happened, without any values from "
    "your table."
)

_make_record = logging.getLogRecordFactory()
_clear_refs = MediaFileManager.clear_session_refs
# None in another version of Streamlit, which may do in another way what is mended here.
_create_runner: Any = getattr(AppSession, "_create_scriptrunner", None)
_run_script: Any = getattr(ScriptRunner, "_run_script", None)
_request_rerun: Any = getattr(ScriptRequests, "_request_rerun_locked", None)


def prepare_server() -> None:
    """Get ready to serve; exit with a sentence where that would not be safe."""
    try:
        check_required_internals()
    except SettingsError as error:
        sys.exit(error.sentence)
    keep_quiet()
    keep_old_addresses()
    keep_last_events()
    keep_chosen_page()
    sys.setswitchinterval(_SWITCH)


@asynccontextmanager
async def end_cleanly(_: App) -> AsyncIterator[None]:
    """Clean up and exit with status 0; the server would raise the signal that ended it again."""
    yield
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def keep_quiet() -> None:
    """Have Streamlit ask nobody for this machine's address, and log no text of an exception.

    Where a page of another site tries to connect, Streamlit compares its origin with the addresses
    of this machine, and would ask a server of Amazon for the outer one. An exception that no page
    expected is logged with its text, which may quote a cell: here by its type and its places
    alone, unless a developer asks for more.
    """
    net_util.get_external_ip = lambda: None
    if os.environ.get(TRACEBACK):
        return
    vars(exception).update(_GENERIC_UNCAUGHT_EXCEPTION_TEXT=FAILED)
    vars(error_util).update(_print_rich_exception=_refuse_traceback)
    logging.setLogRecordFactory(_build_log_record)
    if threading.excepthook is threading.__excepthook__:  # nobody else looks at it
        threading.excepthook = _log_thread_failure


def _build_log_record(*arguments: Any, **keywords: Any) -> logging.LogRecord:
    record = _make_record(*arguments, **keywords)
    if isinstance(record.args, tuple):
        record.args = tuple(
            describe_safely(argument) if isinstance(argument, BaseException) else argument
            for argument in record.args
        )
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {describe_safely(error)}", ()
    record.exc_info = None
    return record


def _refuse_traceback(error: BaseException) -> None:
    """Stand in for the coloured traceback with its text; what this raises is logged."""
    raise NotImplementedError


def _log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    if failure.exc_value is not None and failure.exc_type is not SystemExit:
        logging.getLogger(__name__).error(
            "A thread has failed: %s", describe_safely(failure.exc_value)
        )


def keep_old_addresses() -> None:
    """Have Streamlit drop the files of a page after some seconds, or with their session.

    It gives each button of a page that is drawn anew another address, and drops the old one at
    once: a browser that has not drawn the new button yet asked for a file that was nowhere. So did
    one whose page was about to be drawn when another session's had just been.
    """
    if not hasattr(MediaFileManager, "_remove_orphaned_deferred_callables"):
        return  # another version of Streamlit, which may drop them in another way
    MediaFileManager._remove_orphaned_deferred_callables = _remove_old_addresses  # type: ignore[assignment, method-assign]
    MediaFileManager._get_inactive_file_ids = _list_old_files  # type: ignore[assignment, method-assign]
    MediaFileManager.clear_session_refs = _clear_session  # type: ignore[assignment, method-assign]


def _remove_old_addresses(manager: Any) -> None:
    """Called under the manager's lock, when a page was drawn or a session ended."""
    shown = _list_shown_ids(manager)
    for address, entry in list(manager._deferred_callables.items()):
        if _is_old(entry, address in shown):
            manager._drop_deferred_id(address)


def _list_old_files(manager: Any) -> set[str]:
    """Called under the manager's lock."""
    shown = _list_shown_ids(manager)
    files = manager._file_metadata.items()
    return {name for name, file in files if _is_old(vars(file), name in shown)}


def _list_shown_ids(manager: Any) -> set[str]:
    files = manager._files_by_session_and_coord.values()
    return {name for by_place in files for name in by_place.values()}


def _is_old(entry: dict[str, Any], shown: bool) -> bool:
    """Whether what an entry is about has been on no page for some seconds."""
    moment = time.monotonic()
    if shown:
        entry.pop("kanon_since", None)
    return not shown and moment - entry.setdefault("kanon_since", moment) > GRACE


def _clear_session(manager: Any, session_id: str | None = None) -> None:
    """Called before a page is drawn, and with the id of a session that has ended."""
    with manager._lock:
        own = session_id or _get_session_id()
        files = manager._file_metadata
        for name in manager._files_by_session_and_coord.get(own, {}).values():
            if name in files:
                vars(files[name]).setdefault("kanon_sessions", set()).add(own)
    _clear_refs(manager, session_id)
    if session_id is None:
        return
    with manager._lock:
        for address in list(manager._deferred_ids_by_session.get(session_id, ())):
            manager._drop_deferred_id(address)
        shown = _list_shown_ids(manager)
        for name, file in list(files.items()):
            sessions = vars(file).get("kanon_sessions", set())
            if session_id in sessions:
                sessions.remove(session_id)
                if not sessions and name not in shown:
                    manager._delete_file(name)


def keep_last_events() -> None:
    """Have Streamlit hear a page to its end before a fragment of it is drawn again.

    A fragment that was asked for while the last elements of its page were on their way was drawn
    by another runner, and what the former one had still said was ignored: the page lacked its
    end, and a browser that found no place for the fragment showed an error instead of the page.
    """
    if _create_runner:
        AppSession._create_scriptrunner = _create_runner_in_turn  # type: ignore[assignment, method-assign]


def _create_runner_in_turn(session: Any, rerun: RerunData) -> None:
    former = session._scriptrunner
    if former is None or not rerun.fragment_id:
        _create_runner(session, rerun)
        return

    def start() -> None:
        if session._state == AppSessionState.SHUTDOWN_REQUESTED:
            return
        runner = session._scriptrunner  # by now perhaps one that draws the whole page
        if runner in (former, None) or not runner.request_rerun(rerun):
            _create_runner(session, rerun)

    session._event_loop.call_soon(start)  # what the former one said is in the loop already


def check_settings() -> bool:
    """Whether the settings are valid; if not, every page shows the problem."""
    try:
        get_settings()
    except SettingsError as error:
        # Most imports are for these; the workers should not wait for them.
        from kanon.studio.session.text import escape_markdown
        from kanon.studio.shell.navigation import show_only_page

        sentence = escape_markdown(error.sentence)

        def show_problem() -> None:
            st.error(sentence, icon=":material/error:")

        show_only_page(show_problem, "Settings")
        return False
    return True


def keep_chosen_page() -> None:
    """Have Streamlit draw a fragment on the page that was chosen last, whichever asked for it.

    What a page that is being left still asks for, as a line of progress does, names that page. The
    browser threw the new page away when the fragment was drawn; and where the new page had not
    been begun, the old one was drawn instead.
    """
    if _run_script:
        ScriptRunner._run_script = _run_on_chosen_page  # type: ignore[assignment, method-assign]
    if _request_rerun:
        ScriptRequests._request_rerun_locked = _request_on_chosen_page  # type: ignore[assignment, method-assign]


def _run_on_chosen_page(runner: Any, rerun: RerunData) -> None:
    page = runner._pages_manager.current_page_script_hash
    if rerun.fragment_id_queue and page:
        rerun = replace(rerun, page_script_hash=page, page_name="")
    _run_script(runner, rerun)


def _request_on_chosen_page(requests: Any, rerun: RerunData) -> bool:
    """Called under the lock of the requests of a runner, which makes one of those that wait."""
    waiting = requests._rerun_data
    is_page = not (waiting.fragment_id_queue or waiting.is_fragment_scoped_rerun)
    if rerun.fragment_id and requests._state is ScriptRequestType.RERUN and is_page:
        rerun = replace(
            rerun,
            page_script_hash=waiting.page_script_hash,
            page_name=waiting.page_name,
            query_string=waiting.query_string,
            is_history_navigation=waiting.is_history_navigation,
        )
    return _request_rerun(requests, rerun)
