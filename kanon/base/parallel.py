"""Several pieces of work over the cores, with one progress."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kanon.base.formatting import counted
from kanon.base.progress import Progress

Found = TypeVar("Found")

_here = threading.local()
"""Whether this thread is one of several already: what it starts then goes one after the other."""


class _Stopped(Exception):
    """Another piece of work has failed."""


def cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    works: Sequence[Callable[[Progress], Found]],
    progress: Progress,
    what: str,
    workers: int | None = None,
    weights: Sequence[float] | None = None,
) -> list[Found]:
    """Do several pieces of work at once, as many as there are cores.

    >>> squares = [lambda told, n=n: n * n for n in range(4)]
    >>> side_by_side(squares, lambda part, text: None, "square", workers=2)
    [0, 1, 4, 9]
    """
    if not works:
        return []
    heavy = [1.0] * len(works) if weights is None else [float(weight) for weight in weights]
    whole = sum(heavy) or 1.0
    done = [0.0] * len(works)
    lock, stopped = threading.Lock(), threading.Event()

    def one(place: int) -> Found:
        def told(fraction: float, _: str = "") -> None:
            if stopped.is_set():
                raise _Stopped
            with lock:
                done[place] = max(done[place], fraction)
                ready = sum(part >= 1 for part in done)
                text = f"{ready} of {counted(len(works), what)} done"
                share = sum(part * weight for part, weight in zip(done, heavy, strict=True))
                progress(min(1.0, share / whole), text)

        _here.among_others = True
        try:
            told(0.0)
            found = works[place](told)
            told(1.0)
            return found
        except BaseException:
            stopped.set()
            raise

    at_once = 1 if getattr(_here, "among_others", False) else workers or cores()
    first = sorted(range(len(works)), key=lambda place: -heavy[place])
    with ThreadPoolExecutor(min(at_once, len(works))) as pool:
        running = {place: pool.submit(one, place) for place in first}
        try:
            failures = [running[place].exception() for place in range(len(works))]
        except BaseException:  # the user interrupts
            stopped.set()
            raise
    for failure in failures:
        if failure is not None and not isinstance(failure, _Stopped):
            raise failure
    return [running[place].result() for place in range(len(works))]
