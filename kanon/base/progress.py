"""How long tasks report their progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

Progress = Callable[[float, str], None]
"""Receives the share of the task that is done, from 0 to 1, and what is being done."""


class KeepingProgress(Protocol):
    """Progress of a task that hands over each result at once, so that it outlives a cancel."""

    def __call__(self, fraction: float, text: str) -> None: ...

    def keep(self, part: object) -> None:
        """Hand over a result."""


def ignore_progress(fraction: float, text: str) -> None:
    """Ignore all reports."""


def scale_progress(progress: Progress, start: float, end: float) -> Progress:
    """Report a part of a task as the stretch from ``start`` to ``end`` of the whole.

    >>> scale_progress(lambda fraction, text: print(fraction), 0.5, 0.7)(0.5, "")
    0.6
    """
    return lambda fraction, text: progress(start + (end - start) * fraction, text)


# Kernels are compiled once on a machine. The compiling code does not know the waiting code, which
# must not load the compiler to ask. Shared by all threads, as a sweep has many.
_listeners: list[Progress] = []


@contextmanager
def report_preparation(listener: Progress) -> Iterator[None]:
    """Report the progress of compilation to a listener within the block.

    >>> with report_preparation(lambda fraction, text: print(fraction, text)):
    ...     send_preparation(0.25, 19)
    0.25 Preparing this algorithm once, about 20 s
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def send_preparation(fraction: float, seconds: float) -> None:
    """Report which share is compiled, from 0 to 1, and how many seconds all of it takes."""
    if not _listeners:
        return
    about = max(1, round(seconds)) if seconds < 8 else 5 * round(seconds / 5)
    text = f"Preparing this algorithm once, about {about} s"
    for listener in tuple(_listeners):
        listener(fraction, text)
