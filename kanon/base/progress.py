"""How long work tells how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float, str], None]
"""Told how much of the work is done, from 0 to 1, and what is being done."""


def no_progress(fraction: float, text: str) -> None:
    """Tell nobody."""


def stretch(progress: Progress, start: float, end: float) -> Progress:
    """Tell of a part of the work as of the stretch from ``start`` to ``end`` of the whole.

    >>> stretch(lambda fraction, text: print(fraction), 0.5, 0.7)(0.5, "")
    0.6
    """
    return lambda fraction, text: progress(start + (end - start) * fraction, text)


# Who is told that kernels are being compiled, once on a machine. What is compiled does not know who
# waits for it, and who waits must not load the compiler to ask. Of all threads: a sweep has many.
_listeners: list[Progress] = []


@contextmanager
def preparation_told(listener: Progress) -> Iterator[None]:
    """Have somebody told, within the block, how far the compiling is.

    >>> with preparation_told(lambda fraction, text: print(fraction, text)):
    ...     tell_preparation(0.25, 19)
    0.25 Preparing this algorithm once, about 20 s
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell_preparation(fraction: float, seconds: float) -> None:
    """Tell how much is compiled, from 0 to 1, of what takes so many seconds in all."""
    if not _listeners:
        return
    about = max(1, round(seconds)) if seconds < 8 else 5 * round(seconds / 5)
    text = f"Preparing this algorithm once, about {about} s"
    for listener in tuple(_listeners):
        listener(fraction, text)
