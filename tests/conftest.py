"""What all tests share: the Adult table, Chromium, and a loud list of what was not run."""

import gc
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from support.browser import chrome, open_window, page, running, server, visitors, windows
from support.command_line import folder, kanon
from support.dashboard import downloads, no_job_is_left, own_workers, start, workers
from support.people_texts import people

# Fixtures of many files: of pages, in a browser and without; of the command line; of engines.
__all__ = [
    "chrome",
    "downloads",
    "folder",
    "kanon",
    "no_job_is_left",
    "open_window",
    "own_workers",
    "page",
    "people",
    "running",
    "server",
    "start",
    "visitors",
    "windows",
    "workers",
]

IN_CI = os.environ.get("CI") == "true"
SLOW = frozenset(Path(__file__).with_name("slow.txt").read_text("utf-8").split())
"""What `make quick` leaves out, as it takes long; `make slow` measures it anew."""
SLOW_FIXTURES = frozenset({"site", "spark", "tried", "wheel", "advised", "port"})
"""Made once for a module: whichever test comes first takes long, so all that need them are slow."""


def _leave_to_the_night(items):
    """Of a test that is ``sampled(n)`` the gate has the first of its cases, and every n-th."""
    met = Counter()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and "nightly" not in item.keywords:
            test = item.nodeid.partition("[")[0]
            if met[test] % sampled.args[0]:
                item.add_marker("nightly")
            met[test] += 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Deselect the heavy tests unless they were asked for by ``-m``; begin with the slow ones."""
    items.sort(key=lambda item: "browser" not in item.keywords)
    for item in items:
        if item.nodeid.partition("[")[0] in SLOW or SLOW_FIXTURES.intersection(item.fixturenames):
            item.add_marker("slow")
    _leave_to_the_night(items)
    if config.option.markexpr:
        return
    heavy = [item for item in items if "nightly" in item.keywords]
    config.hook.pytest_deselected(items=heavy)
    items[:] = [item for item in items if "nightly" not in item.keywords]


class OneBrowser(LoadFileScheduling):
    """A file at a time per worker, and all tests in a browser on one of them.

    Two browsers, two servers and two workers wait for each other on two cores, and so do the
    tests: both take more than twice as long. Beside them the other worker has the rest to do.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        return "browser" if path.startswith("tests/browser/") else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out the tests in the order in which they were collected."""
    config.option.loadscopereorder = False
    return OneBrowser(config, log)


def pytest_terminal_summary(terminalreporter):
    """Say loudly which tests a missing browser or table kept from running."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        terminalreporter.section("NOT RUN ON THIS MACHINE", sep="!")
        for reason in sorted({str(report.longrepr[2]) for report in skipped}):
            terminalreporter.line(reason)


def _absent(what: str) -> None:
    """In CI a missing part is a failure; at home its tests are listed as not run."""
    if IN_CI:
        pytest.fail(f"{what}; in CI nothing is skipped")
    pytest.skip(what)


@pytest.fixture(scope="session")
def adult_path() -> Path:
    """The real Adult table (30,162 records), from the environment variable KANON_ADULT."""
    given = os.environ.get("KANON_ADULT", "")
    if not given or not Path(given).is_file():
        _absent("Adult is missing: set KANON_ADULT to the path of adult.csv")
    return Path(given).resolve()


@pytest.fixture(scope="session")
def arx_projects() -> Path:
    """The folder of five projects that come with ARX, from the environment variable KANON_ARX."""
    given = os.environ.get("KANON_ARX", "")
    if not given or not Path(given).is_dir():
        _absent("ARX's projects are missing: set KANON_ARX to their folder")
    return Path(given)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium browser: KANON_CHROMIUM, or one on the search path."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = os.environ.get("KANON_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        _absent("a browser is missing: install Chromium or set KANON_CHROMIUM to its path")
    return str(found)


@pytest.fixture
def limits(tmp_path, monkeypatch):
    """Sets limits as an operator does: ``limits(rows=3)``."""

    def write(text: str = "", **values: object) -> None:
        path = tmp_path / f"settings-{len(list(tmp_path.iterdir()))}.toml"  # each is read once
        path.write_text(text + "".join(f"{name} = {value}\n" for name, value in values.items()))
        monkeypatch.setenv("KANON_SETTINGS", str(path))

    return write


def pytest_collection_finish():
    """Have the collector of garbage pass over the tests themselves: pages and servers run it."""
    gc.collect()
    gc.freeze()
