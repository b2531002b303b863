"""Fair timings on a machine that does other things too."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Timed", "alternately", "exponent"]


@dataclass(frozen=True)
class Timed:
    """The seconds of several repetitions of one thing.

    >>> Timed((2.0, 1.0, 4.0)).best, Timed((2.0, 1.0, 4.0)).median, Timed((2.0, 1.0, 4.0)).worst
    (1.0, 2.0, 4.0)
    """

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least: what other processes disturbed least."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.median(self.seconds))

    @property
    def worst(self) -> float:
        """The most: with the best, the spread."""
        return max(self.seconds)


def alternately(
    *works: Callable[[], Any],
    repetitions: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[tuple[Timed, ...], tuple[Any, ...]]:
    """Time several things in turn, so that a busy minute disturbs all of them alike.

    Each runs once before, untimed: that compiles and loads what it needs, and gives its result.

    Parameters
    ----------
    works
        What to time.
    repetitions
        How many times each.
    clock
        Tells the seconds; ``time.process_time`` tells those that the processor worked.

    Returns
    -------
    timed : tuple of Timed
        The seconds of each.
    results : tuple
        What each returned in its untimed run.
    """
    results = tuple(work() for work in works)
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repetitions):
        for spent, work in zip(seconds, works, strict=True):
            gc.collect()  # what the one left behind is not the other's to clear away
            started = clock()
            work()
            spent.append(clock() - started)
    return tuple(Timed(tuple(spent)) for spent in seconds), results


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The b of ``seconds = a * size ** b``, by least squares on logarithms.

    >>> round(exponent([10, 20, 40], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
