"""One press on Compare with Adult, from a fresh session to nine drawn panels, in a browser."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.case import Case, CaseError
from benchmarks.fresh import ROOT
from benchmarks.markdown import aim, seconds, spread, table
from benchmarks.plans import adult_path
from benchmarks.timing import Timed
from kanon.studio.compare.choices_panel import PRESETS

__all__ = ["CASE"]

VISITS = 5
"""How many visitors press, each in a window of its own with a table that nobody has run."""

MOST = 10.0
"""Seconds that it may take on two cores."""

PRESET = PRESETS["everything"]

# Whether every panel has a line or a picture in it.
DRAWN = """number => {
    const panels = [...document.querySelectorAll('.st-key-board .cartesianlayer .subplot')];
    return panels.length === number
        && panels.every(panel => panel.querySelector('.js-line, image'));
}"""


def _run() -> str:
    chromium = os.environ.get("KANON_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        raise CaseError("A browser is missing: install Chromium or set KANON_CHROMIUM.")
    sys.path.append(str(ROOT / "tests"))
    by: Any = importlib.import_module("support.browser")
    with (
        tempfile.TemporaryDirectory() as folder,
        by.serving(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=by.FLAGS)
        pressed = [_pressed(by, browser, server) for _ in range(VISITS)]
        browser.close()
    waited, spent = (Timed(each) for each in zip(*pressed, strict=True))
    return "\n\n".join(
        [
            f"Adult is loaded, and on Compare *{PRESET.title}* is pressed: seven runs, and "
            f"{len(PRESET.panels)} panels. {VISITS} visitors one after the other, each with a "
            "window and a session of his own; the first one finds a server that has computed "
            "nothing yet. CPU is that of the server and its workers together.",
            table(
                ["what", "seconds"],
                [
                    ["from the press to the last panel", spread(waited)],
                    ["the first visitor", seconds(waited.seconds[0])],
                    ["CPU", spread(spent)],
                ],
            ),
            aim(
                f"at most {MOST:.0f} s on two cores", f"worst {seconds(waited.worst)} s",
                waited.worst <= MOST,
            ),
        ]
    )  # fmt: skip


def _pressed(by: Any, browser: Browser, server: Any) -> tuple[float, float]:
    """The seconds until all is drawn for a new visitor, and those of the processors."""
    visitor = by.visit(browser)
    page = visitor.page
    by.open_data(page, server)
    by.upload(page, adult_path(), "30\u202f162")
    by.go(page, "Compare")
    began, before = time.perf_counter(), _processor_seconds(server.process.pid)
    by.button(page, PRESET.title).click()
    page.wait_for_function(DRAWN, arg=len(PRESET.panels), timeout=120_000)
    page.locator(".cursor .numbers td").first.wait_for()
    waited = time.perf_counter() - began
    spent = _processor_seconds(server.process.pid) - before
    by.check(visitor)
    visitor.context.close()
    by.WINDOWS.remove(visitor)
    return waited, spent


def _processor_seconds(pid: int) -> float:
    """Those of a process and all that it has started. Linux only."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    started = [int(child) for listed in children for child in listed.read_text("ascii").split()]
    own = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    ticks = sum(map(int, own[11:15]))  # its own, and those of children that have ended
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_processor_seconds, started))


CASE = Case(
    name="adult-board",
    about="one press on Compare with Adult, until nine panels are drawn in a browser",
    classes=19_501,
    run=_run,
    needs_adult=True,
)
