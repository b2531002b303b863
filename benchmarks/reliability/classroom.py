"""A class of 60 at one server: how long each of them waits, and what memory that takes.

Each student follows a lesson on *Learn* step by step, then anonymises a sample, and so on. Most
of them are clients without a browser (``client.py``); some use a real one.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Error, Page, expect, sync_playwright

from benchmarks.case import CaseError
from benchmarks.reliability.client import Client, ClientError, fetch_files
from benchmarks.reliability.soak import by, watch_memory
from kanon.algorithms.catalogue import FAMILIES, algorithm_named, algorithms, short_title
from kanon.studio.session.samples import FIRST, SAMPLES

__all__ = ["BROWSERS", "ClassFigures", "hold_class", "limit_memory", "summarise"]

BROWSERS = 2
"""The sessions that are real browsers."""

READING, LOOKING = (6.0, 18.0), (8.0, 30.0)
"""The least and most seconds that a student reads a step, and looks at a choice or a result."""

STEPS, MOVES = (5, 10), (1, 3)
"""The least and most steps of a lesson that a student takes, and moves of k after a run."""

SERVER_MB, SESSION_MB, WORKERS_MB = 250, 55, 2_800
"""The memory that docs/operate/service.md names: the server's, a session's, all workers'."""

EVERYWHERE = ("gaa", "datafly", "incognito", "samarati", "mondrian", "ola")
SMALL = (*EVERYWHERE, "k-member", "kaca", "oka", "optimal")
RUNS = {"census": EVERYWHERE, "voters": EVERYWHERE, "hospital": SMALL, "animals-m23": SMALL}
"""The samples that a class anonymises, and by which algorithms: none takes two seconds alone."""

_STALE = ("There is no result", "Settings have changed")

_QUESTION = {"learn": "How does it work", "": "What does k ="}


@dataclass
class ClassFigures:
    """What a class has seen.

    Attributes
    ----------
    waits
        The seconds of each wait for an answer, by what was done.
    errors
        What went wrong: exceptions and problems on a page, answers that did not come or were
        wrong, dropped connections.
    memory
        Of some moments the second, and the megabytes (10^6 bytes, proportional set size) of the
        server and of its workers.
    busy
        The processor seconds of the server, per second of the lesson.
    """

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[float, tuple[float, float]]] = field(default_factory=list)
    busy: float = 0.0


class LessonOver(Exception):
    """The time is up."""


@dataclass
class Student:
    """One of the class: what is drawn for them, and where their waits are noted."""

    draw: Random
    figures: ClassFigures
    end: float = math.inf  # known once the first one has come
    sample: str = SAMPLES[FIRST].title  # the one that a browser shows

    @property
    def remaining(self) -> float:
        """The seconds to the end of the lesson, and a moment more."""
        return min(max(self.end - time.monotonic(), 0) + 0.1, 3600)

    @contextlib.contextmanager
    def wait_for(self, action: str) -> Iterator[None]:
        """Note how long an action takes, unless the lesson is over."""
        if time.monotonic() > self.end:
            raise LessonOver
        began = time.perf_counter()
        yield
        self.figures.waits[action].append(time.perf_counter() - began)

    def choose_run(self) -> tuple[str, str, int]:
        """Draw a sample, an algorithm and a k, the first two by their titles."""
        sample = self.draw.choice([*RUNS])
        name = self.draw.choice(RUNS[sample])
        k = self.draw.randint(2, 4 if RUNS[sample] is SMALL else 25)
        card = algorithm_named(name).CARD
        return SAMPLES[sample].title, f"{short_title(name)} — {FAMILIES[card.family]}", k


def limit_memory(sessions: int) -> int:
    """The megabytes that docs/operate/service.md allows a server, and its workers, with sessions.

    >>> limit_memory(60)
    6350
    """
    return SERVER_MB + SESSION_MB * sessions + WORKERS_MB


def summarise(waits: Sequence[float]) -> list[float]:
    """How many waits there were, their median, 95th percentile and worst, in seconds.

    >>> summarise([1.0, 3.0, 2.0])
    [3, 2.0, 3.0, 3.0]
    """
    high = quantiles(waits, n=20, method="inclusive")[-1] if len(waits) > 20 else max(waits)
    return [len(waits), median(waits), high, max(waits)]


def hold_class(sessions: int, seconds: float, seed: int, browsers: int = BROWSERS) -> ClassFigures:
    """Let a class use one server, which ``streamlit run app.py`` starts.

    They come within the first tenth of the time, a minute at most. Unless ``KANON_SETTINGS`` names
    other settings, nothing begins by itself behind a result, as docs/operate/service.md advises
    for many users.

    Raises
    ------
    CaseError
        There is no browser, or nobody was answered.
    """
    chromium = os.environ.get("KANON_CHROMIUM") or shutil.which("chromium")
    if browsers and not chromium:
        raise CaseError("A browser is missing: install Chromium or set KANON_CHROMIUM.")
    figures = ClassFigures()
    with tempfile.TemporaryDirectory() as folder:
        try:
            with by.serving(Path(folder)) as server:
                _attend_lesson(server, sessions, seconds, seed, chromium, browsers, figures)
        except AssertionError as error:  # of its log, or of processes that outlive it
            figures.errors.append(f"server: {error}")
    if not figures.waits:
        raise CaseError(f"Nobody was answered: {'; '.join(figures.errors)}")
    return figures


def _attend_lesson(
    server: Any, sessions: int, seconds: float, seed: int, chromium: str | None, browsers: int,
    figures: ClassFigures,
) -> None:  # fmt: skip
    students = [Student(Random(f"{seed}/{place}"), figures) for place in range(sessions)]
    files: list[str] = []
    threads = []
    with watch_memory(server, figures.memory, _measure_memory):
        for student in students[:browsers]:  # one after the other: each takes both processors
            opened = threading.Event()
            arguments = (chromium, server, student, files, opened)
            threads.append(threading.Thread(target=_use_browser, args=arguments))
            threads[-1].start()
            opened.wait()  # from then on it is known which files a browser fetches
        began, used = time.monotonic(), _read_processor_seconds(server.process.pid)
        for student in students:
            student.end = began + seconds
        arrival = min(60.0, seconds / 10)
        asyncio.run(_attend_all(server.url, students[browsers:], arrival, files))
        for thread in threads:
            thread.join()
    spent = time.monotonic() - began
    figures.busy = (_read_processor_seconds(server.process.pid) - used) / spent


# --- without a browser --------------------------------------------------------------------------
async def _attend_all(
    address: str, students: Sequence[Student], arrival: float, files: Sequence[str]
) -> None:
    # As many files at once as browsers would fetch.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max(len(students), 1)))
    await asyncio.gather(*(_attend(address, student, arrival, files) for student in students))


async def _attend(address: str, student: Student, arrival: float, files: Sequence[str]) -> None:
    await asyncio.sleep(student.draw.uniform(0, arrival))
    client = None
    try:
        with student.wait_for("fetch the files of the page"):
            await fetch_files([f"{address}/", f"{address}/_stcore/health", *files])
        with student.wait_for("come in"):
            client = await Client.open_page(address, "learn")
        while True:
            await _follow_lesson(client, student)
            await _anonymise_sample(client, student)
    except LessonOver:
        pass
    except (ClientError, LookupError, ValueError) as error:
        student.figures.errors.append(f"{type(error).__name__}: {error}")
    finally:
        if client is not None:
            student.figures.errors += client.errors
            await client.close()


async def _follow_lesson(client: Client, student: Student) -> None:
    draw, box_key = student.draw, "learn-algorithm"
    await _think(client, student, READING)
    if client.page != client.pages["learn"]:
        go = lambda: client.go("learn")  # noqa: E731
        await _act(client, student, "open Learn", go, _QUESTION["learn"], calculates=False)
        await _think(client, student, READING)
    box = client.get_widget("selectbox", box_key)
    others = [title for title in box.options if title != client.states[box.id].string_value]
    choose = lambda: client.choose(box_key, draw.choice(others))  # noqa: E731
    await _act(client, student, "choose a lesson", choose, "Step 0 of", calculates=False)
    for step in range(1, draw.randint(*STEPS) + 1):
        await _think(client, student, READING)
        if client.get_widget("button", "learn-next").disabled:
            break
        press = lambda: client.press("learn-next")  # noqa: E731
        await _act(client, student, "take a step", press, f"Step {step} of", calculates=False)


async def _anonymise_sample(client: Client, student: Student) -> None:
    draw, (sample, algorithm, k) = student.draw, student.choose_run()
    await _think(client, student, LOOKING)
    await _act(client, student, "open Anonymise", lambda: client.go(""), _QUESTION[""])
    for action, choose, shown in (
        ("choose a sample", lambda: client.choose("frame-sample", sample), _QUESTION[""]),
        ("choose an algorithm", lambda: client.choose("run-algorithm", algorithm), ""),
        ("choose k", lambda: client.type_number(f"frame-k-{_read_k(client)}", k), f"k = {k} "),
    ):
        await _think(client, student, LOOKING)
        await _act(client, student, action, choose, shown)

    await _think(client, student, LOOKING)
    await _act(client, student, "anonymise", lambda: client.press("run"), f"k = {k} ")
    for _ in range(draw.randint(*MOVES)):
        await _think(client, student, LOOKING)
        k = int(draw.choice(list(client.get_widget("slider", "run-k").options)[:6]))
        move = lambda: client.slide("run-k", str(k))  # noqa: B023, E731
        await _act(client, student, "move k", move, f"k = {k} ")


async def _act(
    client: Client,
    student: Student,
    action: str,
    act: Callable[[], Awaitable[None]],
    heading: str,
    calculates: bool = True,
) -> None:
    """Do something, and note how long it takes until the page shows what comes of it."""

    def is_shown() -> bool:
        headings = (text.replace("\\", "") for text in client.read_headings())
        has_old_result = action in ("anonymise", "move k") and any(
            text.startswith(_STALE) for text in client.read_alerts()
        )
        busy = calculates and bool(client.timers)
        return any(heading in text for text in headings) and not (busy or has_old_result)

    with student.wait_for(action):
        await act()
        await client.wait_for(is_shown, f"{action}: the page shows no '{heading}'")


async def _think(client: Client, student: Student, seconds: tuple[float, float]) -> None:
    await asyncio.sleep(min(student.draw.uniform(*seconds), student.remaining))
    await client.wait_for(lambda: True, "The page was not complete")


def _read_k(client: Client) -> str:
    (question,) = (text for text in client.read_headings() if text.startswith(_QUESTION[""]))
    return question.split()[4]


# --- with a browser -----------------------------------------------------------------------------
def _use_browser(
    chromium: str, server: Any, student: Student, files: list[str], opened: threading.Event
) -> None:
    visitor = None
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=by.FLAGS)
            visitor = by.visit(browser)
            page = visitor.page
            with student.wait_for("come in (browser)"):
                page.goto(f"{server.url}/learn")
                expect(page.get_by_text("Step 0 of")).to_be_visible(timeout=60_000)
                by.idle(page)
            if not files:
                files += [url for url in visitor.asked if "/static/" in url]
            opened.set()
            with contextlib.suppress(LessonOver):
                while True:
                    _follow_lesson_in_browser(page, student)
                    _anonymise_in_browser(page, student)
            browser.close()
    except (Error, AssertionError) as error:
        student.figures.errors.append(f"browser: {str(error).splitlines()[0]}")
    finally:
        opened.set()
        if visitor is not None:
            student.figures.errors += visitor.complaints


def _follow_lesson_in_browser(page: Page, student: Student) -> None:
    draw, titles = student.draw, [module.CARD.title for module in algorithms().values()]
    _look_at_page(page, student, READING)
    with student.wait_for("open Learn (browser)"):
        by.go(page, "Learn")
    _look_at_page(page, student, READING)
    with student.wait_for("choose a lesson (browser)"):
        by.choose(page, page.get_by_role("combobox", name="Algorithm"), draw.choice(titles))
    for _ in range(draw.randint(*STEPS)):
        _look_at_page(page, student, READING)
        if by.button(page, "Next").is_disabled():
            break
        with student.wait_for("take a step (browser)"), by.answered(page):
            by.button(page, "Next").click()


def _anonymise_in_browser(page: Page, student: Student) -> None:
    main = page.get_by_test_id("stMain")
    _look_at_page(page, student, LOOKING)
    with student.wait_for("open Anonymise (browser)"):
        by.go(page, "Anonymise")
        _wait_for_calculations_in_browser(page)
    sample, algorithm, _ = student.choose_run()
    opener = main.get_by_role("button", name=re.compile("^Table: "))
    _look_at_page(page, student, LOOKING)
    if sample != student.sample:  # no answer comes to what is chosen already
        student.sample = sample
        with student.wait_for("choose a sample (browser)"):
            by.choose_behind(page, opener, sample)
    _look_at_page(page, student, LOOKING)
    with student.wait_for("choose an algorithm (browser)"):
        by.choose(page, main.get_by_role("combobox", name="Algorithm"), algorithm)
        _wait_for_calculations_in_browser(page)
    _look_at_page(page, student, LOOKING)
    with student.wait_for("anonymise (browser)"):
        with by.answered(page):
            by.button(page, "Anonymise").click()
        _wait_for_calculations_in_browser(page)
    expect(page.get_by_text(by.OUTDATED)).to_have_count(0)
    slider = main.get_by_role("slider")
    for move in range(student.draw.randint(*MOVES)):
        _look_at_page(page, student, LOOKING)
        with student.wait_for("move k (browser)"):
            with by.answered(page):
                slider.press("ArrowLeft" if move % 2 else "ArrowRight")
            _wait_for_calculations_in_browser(page)


def _wait_for_calculations_in_browser(page: Page) -> None:
    expect(by.button(page, "Cancel")).to_have_count(0, timeout=60_000)
    expect(by.button(page, "Anonymise")).to_be_enabled(timeout=60_000)
    by.idle(page)


def _look_at_page(page: Page, student: Student, seconds: tuple[float, float]) -> None:
    page.wait_for_timeout(1000 * min(student.draw.uniform(*seconds), student.remaining))


# --- memory and processor -----------------------------------------------------------------------
def _measure_memory(server: Any) -> tuple[float, float]:
    return _read_megabytes(server.process.pid), sum(map(_read_megabytes, server.workers()))


def _read_megabytes(process: int) -> float:
    """The proportional set size of a process; none of one that is gone. Linux only."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
        (line,) = (line for line in lines if line.startswith("Pss:"))
        return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _read_processor_seconds(process: int) -> float:
    after_name = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
