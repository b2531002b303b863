"""Many browser sessions at once for minutes, and the memory that the server takes meanwhile."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, TypeVar

from playwright.sync_api import Browser, Page, TimeoutError, expect, sync_playwright

from benchmarks.fresh import ROOT

__all__ = ["Soaked", "by", "growth", "soak", "watch_memory"]

T = TypeVar("T")

sys.path.append(str(ROOT / "tests"))
by: Any = importlib.import_module("support.browser")

EVERY = 2.0
"""Seconds between two looks at the memory."""


@dataclass
class Soaked:
    """What many sessions did, and the memory of the server and its workers meanwhile.

    Attributes
    ----------
    sessions
        How many there were at once.
    steps
        How often what was done.
    slow
        Steps that took longer than 30 s and were given up; the session was closed.
    opened
        Sessions that were begun, those of closed tabs included.
    requests
        Requests that the browsers made, and how many of them left this machine.
    memory
        Pairs of seconds and megabytes (10^6 bytes, resident, of the server and its workers).
    complaints
        What browsers or the server's log complained of.
    """

    sessions: int
    steps: Counter = field(default_factory=Counter)
    slow: Counter = field(default_factory=Counter)
    opened: int = 0
    requests: int = 0
    elsewhere: int = 0
    memory: list[tuple[float, float]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def growth(memory: list[tuple[float, float]]) -> tuple[float, float]:
    """The plateau, and the memory at the end: medians of the middle third and of the last sixth.

    >>> growth([(second, 100 + second % 2) for second in range(60)])
    (100.5, 100.5)
    """
    last = memory[-1][0]
    middle = [size for second, size in memory if last / 3 <= second <= 2 * last / 3]
    end = [size for second, size in memory if second >= last * 5 / 6]
    return float(median(middle)), float(median(end))


def soak(chromium: str, sessions: int, seconds: float, seed: int) -> Soaked:
    """Let sessions work with the dashboard, in turns, while the server works for all of them.

    A session opens a table, runs, moves sliders, changes pages, and now and then closes its tab
    and comes back as a new one. Nobody waits for a run to end.

    Parameters
    ----------
    chromium
        The path of the browser.
    sessions
        How many sessions are open at once.
    seconds
        For how long.
    seed
        What they do.
    """
    found, draw = Soaked(sessions), Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        by.serving(Path(folder)) as server,
        watch_memory(server, found.memory, _measure_resident),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=by.FLAGS)
        visitors = [_arrived(browser, server, found) for _ in range(sessions)]
        end = time.monotonic() + seconds
        found.memory.clear()  # what counts begins with all of them there
        while time.monotonic() < end:
            place = draw.randrange(sessions)
            step = draw.choices([*_STEPS], [weight for weight, _ in _STEPS.values()])[0]
            try:
                if step == "close the tab and come back":
                    _leave(visitors[place], found)
                    visitors[place] = _arrived(browser, server, found)
                else:
                    _STEPS[step][1](visitors[place].page, draw)
                found.steps[step] += 1
            except (TimeoutError, AssertionError) as error:
                found.slow[f"{step}: {str(error).splitlines()[0][:100]}"] += 1
                _leave(visitors[place], found)
                visitors[place] = _arrived(browser, server, found)
        for visitor in visitors:
            _leave(visitor, found)
        browser.close()
    return found


@contextlib.contextmanager
def watch_memory(
    server: Any, memory: list[tuple[float, T]], measure: Callable[[Any], T]
) -> Iterator[None]:
    """Measure the memory of the server and its workers from time to time, with the seconds."""
    done, began = threading.Event(), time.monotonic()

    def look() -> None:
        while not done.wait(EVERY):
            memory.append((time.monotonic() - began, measure(server)))

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()
        first = memory[0][0] if memory else 0.0
        memory[:] = [(second - first, size) for second, size in memory]


def _measure_resident(server: Any) -> float:
    return sum(map(_resident, {server.process.pid, *server.workers()}))


def _resident(process: int) -> float:
    """The memory of a process in megabytes; none of one that is gone. Linux only."""
    with contextlib.suppress(OSError):
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def _arrived(browser: Browser, server: Any, found: Soaked) -> Any:
    visitor = by.visit(browser)
    found.opened += 1
    by.open_data(visitor.page, server)
    return visitor


def _leave(visitor: Any, found: Soaked) -> None:
    found.requests += len(visitor.asked)
    found.elsewhere += len(visitor.left_the_host())
    found.complaints += visitor.complaints
    visitor.context.close()


# --- what a session does ------------------------------------------------------------------------
def _open_table(page: Page, draw: Random) -> None:
    """Upload a table of its own, of 500 to 5,000 records."""
    records = draw.randint(500, 5_000)
    lines = "".join(
        f"{draw.randint(18, 90)},{draw.choice('FM')},{draw.randint(10_000, 10_400)},"
        f"{draw.choice(['flu', 'cold', 'angina'])}\n"
        for _ in range(records)
    )
    content = f"age,sex,zip,ill\n{lines}".encode()
    by.go(page, "Data")
    with by.answered(page):
        page.locator('[class*="st-key-upload-"] input[type="file"]').set_input_files(
            by.in_memory(f"table-{records}.csv", content)
        )


def _run(page: Page, _: Random) -> None:
    """Begin a run, and do not wait for its end."""
    by.go(page, "Anonymise")
    if by.button(page, "Anonymise").is_enabled():
        by.button(page, "Anonymise").click()


def _move_slider(page: Page, draw: Random) -> None:
    """Move k by a few steps, if there is a result already."""
    by.go(page, "Anonymise")
    slider = page.get_by_test_id("stMain").get_by_role("slider")
    if slider.count() == 1 and slider.is_enabled():
        slider.focus()
        for _ in range(draw.randint(1, 5)):
            slider.press(draw.choice(["ArrowRight", "ArrowRight", "ArrowLeft"]))
        by.idle(page)


def _change_page(page: Page, draw: Random) -> None:
    by.go(page, draw.choice([*by.QUESTIONS]))


def _look_elsewhere(page: Page, _: Random) -> None:
    """Reload the page."""
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    by.idle(page)


_STEPS: Mapping[str, tuple[int, Callable[[Page, Random], None]]] = {
    "open a table": (2, _open_table),
    "begin a run": (3, _run),
    "move the slider": (4, _move_slider),
    "change the page": (5, _change_page),
    "reload": (1, _look_elsewhere),
    "close the tab and come back": (1, _change_page),
}
"""What a session may do next, how often in comparison, and how."""
