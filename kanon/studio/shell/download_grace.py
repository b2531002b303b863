"""A press on a download just after another control: the file that the button named is still made.

Streamlit gives each button of a page that is drawn anew another address, and drops the old one at
once: a browser that has not drawn the new button yet asked for a file that was nowhere.
"""

import time
from typing import Any

from streamlit.runtime.media_file_manager import MediaFileManager

GRACE = 30.0  # seconds for which an old address still leads to its file, while its page is open


_clear = MediaFileManager.clear_session_refs


def keep_old_addresses() -> None:
    """Have Streamlit drop the addresses of downloads after some seconds, or with their session."""
    if not hasattr(MediaFileManager, "_remove_orphaned_deferred_callables"):
        return  # another version of Streamlit, which may drop them in another way
    MediaFileManager._remove_orphaned_deferred_callables = _remove_old  # type: ignore[assignment, method-assign]
    MediaFileManager.clear_session_refs = _clear_session  # type: ignore[assignment, method-assign]


def _remove_old(manager: Any) -> None:
    """Called under the manager's lock, whenever a page was drawn or its session has ended."""
    now = time.monotonic()
    files = manager._files_by_session_and_coord.values()
    there = {address for by_place in files for address in by_place.values()}
    for address, entry in list(manager._deferred_callables.items()):
        if address in there:
            entry.pop("kanon_since", None)
        elif now - entry.setdefault("kanon_since", now) > GRACE:
            manager._drop_deferred_id(address)


def _clear_session(manager: Any, session_id: str | None = None) -> None:
    """Called before a page is drawn; with a session where that has ended or forgets everything."""
    _clear(manager, session_id)
    if session_id is not None:
        with manager._lock:
            for address in list(manager._deferred_ids_by_session.get(session_id, ())):
                manager._drop_deferred_id(address)
