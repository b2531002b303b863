"""Signals that ask a command to stop: Ctrl-C, a polite kill, a terminal that is closed.

All three are raised in the main thread as Ctrl-C is, so that whatever is half done is cleared away.
"""

import signal
import sys
from typing import Any

_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last

_AGAIN = 0.1
"""After so many seconds it is raised again: libraries take it for an error of theirs, and go on."""

_taken: list[int] = []
_received: list[int] = []


class Stopped(KeyboardInterrupt):
    """A signal came. (Of its base itself Python takes note, and ends by SIGINT in spite of all.)"""


def raise_signals() -> None:
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)
            _taken.append(number)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
    sys.unraisablehook = _unraisable


def ignore_signals() -> None:
    for number in _taken:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def was_stopped() -> bool:
    """Whether a signal came: of what it raised, a library may have made an error of its own."""
    return bool(_received)


def status_when_stopped() -> int:
    """The exit status that tells by which signal; by Ctrl-C where none was taken."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def _receive(number: int, frame: Any) -> None:
    _received.append(number)
    _raise(number, frame)


def _raise(*_: Any) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, Stopped):
            return
        error = error.__context__
    raise Stopped


def _unraisable(found: Any) -> None:
    """Say nothing of a signal that came where nothing can be raised: it is raised again."""
    if not issubclass(found.exc_type, Stopped):
        sys.__unraisablehook__(found)
