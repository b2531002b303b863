"""Keeps what each session owns for a while after its page has gone; a page with its token gets it.

Nothing is written to disk. Nothing here knows Streamlit.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from kanon.base.formatting import count_noun
from kanon.studio.session.work import SessionState


def create_token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, eq=False)
class StoredSession:
    work: SessionState | None = None  # None until something was begun
    memory: dict[str, Any] = field(default_factory=dict)  # Cached results, by name
    # The secret in the names of its downloads.
    salt: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    has_user_changes: bool = True  # Whether anything was chosen; a mere visit is deleted first

    def copy_state(self) -> StoredSession:
        """The same state for another session, which shares no run and no secret with this one."""
        work = self.work
        if work is not None:
            work = replace(
                work,
                running={},
                kept=replace(work.kept, made=[*work.kept.made], reports=[*work.kept.reports]),
            )
        return StoredSession(work)

    def clear_all(self) -> None:
        if self.work is not None:
            for calculation in self.work.running.values():
                calculation.job.cancel()
        self.memory.clear()


_REMEMBERED = 1000  # mere visits whose end is remembered


@dataclass
class _StoredPlace:
    desk: StoredSession
    session: str
    owner: str
    group: object
    end_timer: threading.Timer | None = None


class SessionStore:
    """What all sessions own, by their tokens. Every thread may call."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds = seconds
        self._most_away = most if seconds > 0 else 0
        self._places: dict[str, _StoredPlace] = {}  # the one that was left last is last
        self._cleared_visits: deque[str] = deque(maxlen=_REMEMBERED)
        self._lock = threading.RLock()

    @property
    def keep_time_text(self) -> str:
        """How long an abandoned session is kept, in words.

        >>> SessionStore(1800, 1).keep_time_text, SessionStore(90, 1).keep_time_text
        ('30 minutes', '90 seconds')
        """
        minutes, rest = divmod(self.seconds, 60)
        if rest:
            return count_noun(round(self.seconds), "second")
        return count_noun(int(minutes), "minute")

    @property
    def has_abandoned_sessions(self) -> bool:
        with self._lock:
            return any(place.end_timer is not None for place in self._places.values())

    def __len__(self) -> int:
        return len(self._places)

    def store_session(self, token: str, session: str, desk: StoredSession, owner: str = "") -> None:
        with self._lock:
            before = self._places.get(token)
            self._stop_timer(before)
            group = owner or (before.group if before is not None else object())
            self._places[token] = _StoredPlace(desk, session, owner, group)

    def take(self, token: str, session: str, owner: str = "") -> tuple[str, StoredSession] | None:
        """Give a stored session to the page that names its token; None if there is none."""
        with self._lock:
            place = self._places.get(token)
            if place is None or place.owner != owner:
                return None
            if place.end_timer is None and place.session != session:
                token, copy = create_token(), place.desk.copy_state()
                self._places[token] = _StoredPlace(copy, session, owner, place.group)
                return token, copy
            self._stop_timer(place)
            place.session = session
            return token, place.desk

    def mark_abandoned(self, session: str) -> None:
        """Note that a session has left; what it owns is kept for a while."""
        with self._lock:
            for token, place in list(self._places.items()):
                if place.session != session or place.end_timer is not None:
                    continue
                wait = min(self.seconds, threading.TIMEOUT_MAX)
                place.end_timer = threading.Timer(wait, self._remove_stale, (token, place))
                place.end_timer.daemon = True
                place.end_timer.start()
                self._places[token] = self._places.pop(token)
            away = [token for token, place in self._places.items() if place.end_timer is not None]
            away.sort(key=lambda token: self._places[token].desk.has_user_changes)
            for token in away[: max(0, len(away) - self._most_away)]:
                self.clear(token)

    def clear(self, token: str) -> None:
        with self._lock:
            place = self._places.pop(token, None)
            self._stop_timer(place)
        if place is not None:
            if not place.desk.has_user_changes:
                self._cleared_visits.append(token)
            place.desk.clear_all()

    def was_mere_visit(self, token: str) -> bool:
        """Whether what was cleared of a session was nothing that anybody chose."""
        return token in self._cleared_visits

    def delete_all_of_owner(self, token: str) -> None:
        """Delete a session at once, and those that the same owner or its copies left behind."""
        with self._lock:
            if token in self._places:
                group = self._places[token].group
                away = [
                    other for other, place in self._places.items() if place.end_timer is not None
                ]
                for other in away:
                    if self._places[other].group == group:
                        self.clear(other)
            self.clear(token)

    def _remove_stale(self, token: str, place: _StoredPlace) -> None:
        with self._lock:
            # The visitor may have come back just now, and even left again.
            if self._places.get(token) is place and place.end_timer is threading.current_thread():
                self.clear(token)

    @staticmethod
    def _stop_timer(place: _StoredPlace | None) -> None:
        if place is not None and place.end_timer is not None:
            place.end_timer.cancel()
            place.end_timer = None
