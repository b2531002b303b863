"""Who is told that kernels are being compiled, which happens once on a machine.

What is compiled does not know who waits for it, and who waits must not load the compiler to ask.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kanon.base.progress import Progress

_listeners: list[Progress] = []  # of all threads: a sweep compiles in any of its own


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
