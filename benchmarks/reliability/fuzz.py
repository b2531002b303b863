"""Broken input, fed to kanon: either an answer or one sentence, within five seconds."""

from __future__ import annotations

import multiprocessing
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.reliability.targets import TARGETS, Target, check_sentence
from kanon.errors import KanonError, PlanWarning, PrivacyWarning

__all__ = ["LONGEST", "Fed", "feed", "feed_all", "one"]

LONGEST = 5.0
"""The most seconds that an input may take."""


class Finding(AssertionError):
    """An input that kanon neither took nor refused with a sentence, or that took too long."""


@dataclass
class Fed:
    """What came of the inputs of one target.

    Attributes
    ----------
    inputs, refused
        How many there were, and how many of them were refused with a sentence.
    slowest
        The most seconds that one of them took.
    seconds
        How long all of them took, the making included.
    findings
        What was neither taken nor refused with a sentence, or took too long.
    """

    inputs: int = 0
    refused: int = 0
    slowest: float = 0.0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def add(self, other: Fed) -> None:
        """Add what came of other inputs of the same target."""
        self.inputs += other.inputs
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.seconds += other.seconds
        self.findings += other.findings


def one(target: Target, draw: Random) -> tuple[bool, float]:
    """Make an input and feed it; whether it was refused, and how many seconds it took.

    Raises
    ------
    Finding
        It took too long.
    Exception
        Whatever kanon raised that is no :class:`~kanon.errors.KanonError`; most warnings too.
    """
    given = target.make(draw)
    refused, began = False, time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        warnings.simplefilter("ignore", PlanWarning)
        try:
            target.feed(given)
        except KanonError as error:
            refused = True
            check_sentence(error)
    took = time.perf_counter() - began
    if took > LONGEST:
        raise Finding(f"it took {took:.1f} s")
    return refused, took


def feed(
    name: str, numbers: range, seed: int, told: Callable[[int], object] = lambda _: None
) -> Fed:
    """Feed a target.

    Parameters
    ----------
    name
        The target.
    numbers
        Which inputs: number i is made from ``Random(f"{seed}/{name}/{i}")``.
    seed
        The seed of all.
    told
        Told the number of each input before it is fed.
    """
    found, began = Fed(), time.perf_counter()
    for number in numbers:
        told(number)
        source = f"{seed}/{name}/{number}"
        found.inputs += 1
        try:
            refused, took = one(TARGETS[name], Random(source))
        except Exception as error:  # noqa: BLE001  that is what is looked for
            found.findings.append(f"{source}: {type(error).__name__}: {error}"[:500])
        else:
            found.refused += refused
            found.slowest = max(found.slowest, took)
    found.seconds = time.perf_counter() - began
    return found


# --- many of them, in processes that may die ----------------------------------------------------
CHUNK = 10_000
PATIENCE = 60.0
"""After so many seconds without another input a process hangs; it is killed."""

MEMORY = 8 << 30
"""The most memory, in bytes, that a process may ask for: a file must not take the machine down."""


def feed_all(
    total: int, seed: int, processes: int = 2, names: Sequence[str] = tuple(TARGETS)
) -> dict[str, Fed]:
    """Feed all targets, each with its share.

    Parameters
    ----------
    total
        How many inputs all targets get together.
    seed
        The seed of all.
    processes
        How many work side by side. One that dies or hangs is a finding, and the next goes on.
    names
        Which targets; the others get none.
    """
    results = {name: Fed() for name in names}
    waiting = deque(
        (name, range(first, min(first + CHUNK, total * TARGETS[name].share // 1000)))
        for name in names
        for first in range(0, total * TARGETS[name].share // 1000, CHUNK)
    )
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                name, numbers = waiting.popleft()
            done, rest = _in_a_process(name, numbers, seed)
            with lock:
                results[name].add(done)
                if rest:
                    waiting.appendleft((name, rest))

    threads = [threading.Thread(target=work) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _in_a_process(name: str, numbers: range, seed: int) -> tuple[Fed, range]:
    """Feed in a process of its own; what came of it, and what is left if the process died."""
    context = multiprocessing.get_context("spawn")
    at = context.Value("q", numbers.start, lock=False)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(name, numbers, seed, at, theirs), daemon=True)
    began = time.perf_counter()
    process.start()
    theirs.close()
    before, since = -1, time.monotonic()
    while not ours.poll(1):
        if at.value != before:
            before, since = at.value, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            process.kill()
    try:
        done, rest = ours.recv(), range(0)
    except EOFError:  # the process is gone
        reached = int(at.value)
        done = Fed(inputs=reached + 1 - numbers.start, seconds=time.perf_counter() - began)
        done.findings.append(f"{seed}/{name}/{reached}: the process died, or hung and was killed")
        rest = range(reached + 1, numbers.stop)
    process.join()
    return done, rest


def _child(name: str, numbers: range, seed: int, at: Any, answer: Any) -> None:
    import resource  # not on Windows

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def told(number: int) -> None:
        at.value = number

    answer.send(feed(name, numbers, seed, told))
