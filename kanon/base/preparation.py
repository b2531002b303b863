"""Who is told that kernels are being compiled, which happens once on a machine.

What is compiled does not know who waits for it, and who waits must not load the compiler to ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kanon.base.language import say
from kanon.base.progress import Progress, no_progress

_listener: ContextVar[Progress] = ContextVar("listener", default=no_progress)


@contextmanager
def preparation_told(listener: Progress) -> Iterator[None]:
    """Have somebody told, within the block, how far the compiling is.

    >>> with preparation_told(lambda fraction, text: print(fraction, text)):
    ...     tell_preparation(0.25, 19)
    0.25 Preparing this algorithm once, about 20 s
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell_preparation(fraction: float, seconds: float) -> None:
    """Tell how much is compiled, from 0 to 1, of what takes so many seconds in all."""
    about = max(1, round(seconds)) if seconds < 8 else 5 * round(seconds / 5)
    _listener.get()(
        fraction, say("Preparing this algorithm once, about {seconds} s", seconds=about)
    )
