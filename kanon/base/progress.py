"""How long work tells how far it is."""

from collections.abc import Callable

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
