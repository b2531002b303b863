"""Run several tasks on all cores, with one progress."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kanon.base.formatting import count_noun
from kanon.base.progress import Progress

Result = TypeVar("Result")

_here = threading.local()
"""Whether this thread is already one of several; its own tasks then run one after another."""


class _Stopped(Exception):
    """Another task has failed."""


def count_cores() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_side_by_side(
    tasks: Sequence[Callable[[Progress], Result]],
    progress: Progress,
    noun: str,
    workers: int | None = None,
    weights: Sequence[float] | None = None,
) -> list[Result]:
    """Run several tasks at once, as many as there are cores.

    >>> squares = [lambda progress, n=n: n * n for n in range(4)]
    >>> run_side_by_side(squares, lambda part, text: None, "square", workers=2)
    [0, 1, 4, 9]
    """
    if not tasks:
        return []
    shares = [1.0] * len(tasks) if weights is None else [float(weight) for weight in weights]
    whole = sum(shares) or 1.0
    progress_by_task = [0.0] * len(tasks)
    lock, stop = threading.Lock(), threading.Event()

    def run_task(place: int) -> Result:
        def report(fraction: float, _: str = "") -> None:
            if stop.is_set():
                raise _Stopped
            with lock:
                progress_by_task[place] = max(progress_by_task[place], fraction)
                ready = sum(part >= 1 for part in progress_by_task)
                text = f"{ready} of {count_noun(len(tasks), noun)} done"
                share = sum(
                    part * weight for part, weight in zip(progress_by_task, shares, strict=True)
                )
                progress(min(1.0, share / whole), text)

        _here.among_others = True
        try:
            report(0.0)
            result = tasks[place](report)
            report(1.0)
            return result
        except BaseException:
            stop.set()
            raise

    at_once = 1 if getattr(_here, "among_others", False) else workers or count_cores()
    first = sorted(range(len(tasks)), key=lambda place: -shares[place])
    with ThreadPoolExecutor(min(at_once, len(tasks))) as pool:
        running = {place: pool.submit(run_task, place) for place in first}
        try:
            failures = [running[place].exception() for place in range(len(tasks))]
        except BaseException:  # the user interrupts
            stop.set()
            raise
    for failure in failures:
        if failure is not None and not isinstance(failure, _Stopped):
            raise failure
    return [running[place].result() for place in range(len(tasks))]
