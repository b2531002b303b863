"""Signals that ask a command to stop: Ctrl-C, a polite kill, a closed terminal.

All three are raised in the main thread like Ctrl-C, so that unfinished work is cleared away.
"""

import signal
import sys
from typing import Any

_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last

_REPEAT_SECONDS = 0.1  # until it is raised again: libraries take it for their own error, and go on

_handled_signals: list[int] = []
_received_signals: list[int] = []


class Stopped(KeyboardInterrupt):
    """A signal came. (Python itself would note a KeyboardInterrupt, and end by SIGINT.)"""


def raise_signals() -> None:
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive_signal)
            _handled_signals.append(number)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise_stopped)
    sys.unraisablehook = _ignore_unraisable


def stop_signals() -> None:
    for number in _handled_signals:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def has_received_signal() -> bool:
    """Whether a signal came; a library may have turned its exception into another error."""
    return bool(_received_signals)


def get_stop_status() -> int:
    """The exit status of the signal that came; that of Ctrl-C if none was handled."""
    return 128 + (_received_signals[0] if _received_signals else signal.SIGINT)


def _receive_signal(number: int, frame: Any) -> None:
    _received_signals.append(number)
    _raise_stopped(number, frame)


def _raise_stopped(*_: Any) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _REPEAT_SECONDS)
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, Stopped):
            return
        error = error.__context__
    raise Stopped


def _ignore_unraisable(unraisable: Any) -> None:
    """Stay silent about a signal where nothing can be raised: it is raised again."""
    if not issubclass(unraisable.exc_type, Stopped):
        sys.__unraisablehook__(unraisable)
