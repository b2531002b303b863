"""Signals that ask a command to stop: Ctrl-C, a polite kill, a terminal that is closed.

All three are raised in the main thread as Ctrl-C is, so that whatever is half done is cleared away.
"""

from __future__ import annotations

import signal
import time
from typing import Any

_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last

_SAME = 5.0
"""For so many seconds a further signal counts as the same one: ``timeout`` sends two, who is
impatient more, and what clears away must not be interrupted."""

_taken: list[int] = []
_received: list[tuple[int, float]] = []


def raise_signals() -> None:
    """Have signals raised as KeyboardInterrupt, but for those that whoever calls wants ignored."""
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)
            _taken.append(number)


def ignore_signals() -> None:
    """Have the rest of the process go its way: how the command ended is settled."""
    for number in _taken:
        signal.signal(number, signal.SIG_IGN)


def was_stopped() -> bool:
    """Whether a signal came: of what it raised, a library may have made an error of its own."""
    return bool(_received)


def status_when_stopped() -> int:
    """The exit status that tells by which signal; by Ctrl-C where none was taken."""
    return 128 + (_received[0][0] if _received else signal.SIGINT)


def _raise(number: int, _: Any) -> None:
    now = time.monotonic()
    if not _received or now - _received[-1][1] > _SAME:
        _received.append((number, now))
        raise KeyboardInterrupt
