"""Helpers for the tests in a real browser: a server of our own, and what a user does there."""

import ast
import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Download,
    Error,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from kanon.studio.session.text import strip_for_screen_reader
from support.paths import ROOT

# Longer than a page takes on a machine that others use as well; what must be quick says so itself.
expect.set_options(timeout=20_000)

OUTPUT = ROOT / "tests" / "output"
PICTURES = bool(os.environ.get("KANON_PICTURES"))
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
HERE = ("127.0.0.1", "localhost")
VIEWPORT = {"width": 1280, "height": 720}
OUTDATED = "Settings have changed since this was made; press Anonymise"
RESULT = "Stronger blue"


def _question(page: Path) -> str:
    """What a page asks in its first line; of a question with a number in it, what stands before."""
    for node in ast.walk(ast.parse(page.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "draw_page_head":
            asked = node.args[0]
            begun = asked.values[0] if isinstance(asked, ast.JoinedStr) else asked
            return ast.literal_eval(begun).strip()
    raise AssertionError(f"{page} asks nothing")


QUESTIONS = {
    page.stem.capitalize(): _question(ROOT / "kanon" / "studio" / page.stem / "page.py")
    for page in sorted((ROOT / "pages").glob("*.py"))
}
# Counts how often a script has begun to run, by what Streamlit tells its own tests.
COUNT_RUNS = """
window.runs = 0;
new MutationObserver(changes => changes.forEach(change => {
  if (change.target.dataset.testScriptState === "running") window.runs += 1;
})).observe(document, {subtree: true, attributeFilter: ["data-test-script-state"]});
"""

# Counts the ends of runs as well: of a quick run React draws the beginning and the end at once, so
# that the attribute never says "running". A message of the server is a Protocol Buffer of fields
# that are a number (of type 0) or have a length (of type 2); field 6 tells how a run has ended.
COUNT_ENDS = """
const endsRun = bytes => {
  let at = 0;
  const number = () => {
    let found = 0, by = 1, byte;
    do { byte = bytes[at++]; found += (byte & 127) * by; by *= 128; } while (byte & 128);
    return found;
  };
  while (at < bytes.length) {
    const field = number(), value = number();
    if (field === 6 * 8) return value !== 2; // 2: another run follows at once
    if (field % 8 === 2) at += value;
  }
  return false;
};
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer && endsRun(new Uint8Array(data))) window.runs += 1;
    });
  }
};
"""


def _is_worker(pid: str) -> bool:
    """Whether it is no process that compiles behind the page."""
    return b"kanon.studio.jobs.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


# --- the server -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Server:
    """A dashboard that listens."""

    url: str
    process: subprocess.Popen
    log: Path

    def workers(self) -> set[int]:
        """The server's worker processes that still run. Linux only."""
        found = set()
        for listed in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # the thread has just ended
                found |= {int(pid) for pid in listed.read_text().split() if _is_worker(pid)}
        return found

    def check_log(self) -> None:
        """Nothing that the server has told is of an error."""
        told = self.log.read_text("utf-8")
        assert "Traceback" not in told and "Uncaught" not in told, told

    def wait_for_the_end_of_one(self, workers: set[int]) -> None:
        """Wait until one of these processes runs no more."""
        end = time.monotonic() + 5
        while workers <= self.workers():
            assert time.monotonic() < end, "a process goes on"
            time.sleep(0.02)  # between two polls of a condition


AS_IN_README = (sys.executable, "-m", "streamlit", "run", "app.py", "--server.port")


@contextlib.contextmanager
def serving(
    folder: Path,
    program: Sequence[str | Path] = AS_IN_README,
    current: Path = ROOT,
    port: int | None = None,
    settings: str = "",
) -> Iterator[Server]:
    """Start the dashboard as the readme says; end it, and whatever it started.

    A log that tells of an error is an error. Nothing begins by itself behind a result.
    """
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind((HERE[0], port or 0))
        port = free.getsockname()[1]
    log, quiet = folder / f"server-{port}.log", folder / f"quiet-{port}.toml"
    quiet.write_text(f"alternatives_seconds = 0\ncurve_seconds = 0\n{settings}", "utf-8")
    environment = {"KANON_SETTINGS": str(quiet), **os.environ}
    command = [*program, str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=current, env=environment, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    server = Server(f"http://{HERE[0]}:{port}", process, log)
    try:
        _wait_for(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(ProcessLookupError):  # workers that outlived it
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError("the server left processes behind")
    server.check_log()


def _wait_for(server: Server) -> None:
    end = time.monotonic() + 60
    while True:
        assert server.process.poll() is None, server.log.read_text("utf-8")
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)  # between two polls of a condition


# --- a visitor ------------------------------------------------------------------------------
@dataclass
class Visitor:
    """A browser window of one user, who notes what it asks for and complains of."""

    context: BrowserContext
    page: Page
    asked: list[str]
    complaints: list[str] = field(default_factory=list)
    looked_at: int = 0
    """How many requests were found to stay here; they are in ``asked`` no more."""

    def left_the_host(self) -> list[str]:
        """The requests that went elsewhere."""
        return [
            url
            for url in self.asked
            if not url.startswith(("data:", "blob:")) and urlsplit(url).hostname not in HERE
        ]


WINDOWS: list[Visitor] = []
"""Every window of this process."""


def visit(browser: Browser) -> Visitor:
    context = browser.new_context(accept_downloads=True, viewport=VIEWPORT, locale="en-GB")
    context.set_default_timeout(30_000)
    context.add_init_script(COUNT_RUNS)
    context.add_init_script(COUNT_ENDS)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))

    def watch(opened: Page) -> None:
        opened.on("websocket", lambda socket: asked.append(socket.url))

    context.on("page", watch)  # a copied tab's too
    page = context.new_page()
    visitor = Visitor(context, page, asked)
    page.on("pageerror", lambda error: visitor.complaints.append(f"page: {error}"))
    page.on("console", lambda message: _note(visitor, message))
    WINDOWS.append(visitor)
    return visitor


def taken(windows: list[Visitor], browser: Browser) -> Visitor:
    """A window that another test has left, or else a fresh one."""
    return windows.pop() if windows else visit(browser)


def leave(visitor: Visitor) -> None:
    """Leave the window as a new one is: on no page, with nothing kept but files fetched before."""
    page, context = visitor.page, visitor.context
    if page.url != "about:blank":
        # From a page without a script, which would write down the session it is drawing.
        with contextlib.suppress(Error):  # the server is gone, and what was kept for it
            page.goto(urljoin(page.url, "/_stcore/health"))
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.mouse.move(0, 0)
    page.goto("about:blank")
    page.set_viewport_size(VIEWPORT)
    context.clear_cookies()
    context.clear_permissions()


def check(visitor: Visitor) -> None:
    """The window has asked for something, and neither left this machine nor complained."""
    assert visitor.asked, "nothing was watched"
    assert visitor.left_the_host() == [], visitor.left_the_host()
    assert visitor.complaints == [], visitor.complaints
    visitor.looked_at += len(visitor.asked)
    visitor.asked.clear()


def _note(visitor: Visitor, message) -> None:
    where = urlsplit(message.location.get("url", "")).path
    # Opened at /data, Streamlit first looks for itself under /data/_stcore.
    searching = where.count("/") > 2 and "/_stcore/" in where
    if message.type == "error" and not searching:
        visitor.complaints.append(f"console: {message.text} ({where})")


# --- what a user does -----------------------------------------------------------------------
def idle(page: Page) -> None:
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


@contextlib.contextmanager
def answered(page: Page) -> Iterator[None]:
    """Do something that the server answers with a run of the page, and wait for its end."""
    idle(page)
    before = page.evaluate("window.runs")
    yield
    page.wait_for_function("before => window.runs > before", arg=before)
    idle(page)
    page.wait_for_timeout(50)  # between a run that was under way and the one that answers
    idle(page)


def open_start(page: Page, server: Server) -> None:
    page.goto(server.url)
    wait_for_result(page)


def open_data(page: Page, server: Server) -> None:
    """Open the dashboard on the page Data, where nothing is run yet."""
    page.goto(f"{server.url}/data")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(QUESTIONS["Data"], timeout=30_000)
    idle(page)


def go(page: Page, title: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(QUESTIONS[title])
    idle(page)


def named(page: Page, role: str, name: str, column: str) -> Locator:
    """A control whose name holds a column's, written as it is or escaped for Markdown."""
    either = [
        page.get_by_role(role, name=name % one, exact=True)
        for one in (column, strip_for_screen_reader(column))
    ]
    return either[0].or_(either[1])


def _chosen(control: Locator, option: str) -> bool:
    """Whether the option is chosen, and not only typed to look for it.

    While a page is drawn anew, the control that is going stands beside the one that is coming.
    """
    expect(control).to_have_count(1)
    with contextlib.suppress(Error):  # two again: ask once more
        value, opened = control.evaluate("e => [e.value, e.getAttribute('aria-expanded')]")
        return bool(value == option and opened == "false")
    return False


def choose(page: Page, control: Locator, option: str) -> None:
    if _chosen(control, option):
        return
    end, tried = time.monotonic() + 30, False
    with answered(page):
        while not _chosen(control, option):
            assert time.monotonic() < end, f"{option} cannot be chosen"
            # A list that has just opened closes when the answer to an earlier choice arrives, and
            # scrolls to what the pointer reaches: the option may be gone when it is let go.
            with contextlib.suppress(Error):
                control.click()
                if tried:  # of a long list only what is in sight exists: look for it by typing
                    control.fill(option)
                tried = True
                chosen = page.get_by_role("option", name=option, exact=True)
                chosen.hover(timeout=1000)
                chosen.click(timeout=1000)


def choose_behind(page: Page, opener: Locator, option: str) -> None:
    """Open a popover that asks one thing, and choose in it, which closes it."""
    body = page.get_by_test_id("stPopoverBody")
    control = body.get_by_role("combobox")
    with answered(page):  # the page is told that it is open
        opener.click()
    # While the page is drawn anew, the control that is going stands beside the one that is coming.
    expect(control).to_have_count(1)
    with answered(page):
        control.click()
        page.get_by_role("option", name=option, exact=True).click()
    expect(body).to_have_count(0)


def give_role(page: Page, column: str, role: str) -> None:
    choose(page, named(page, "combobox", "Role of %s", column), role)


def build(page: Page, column: str, builder: str) -> None:
    choose(page, named(page, "combobox", "Hierarchy of %s", column), builder)


def line_of(page: Page, column: str) -> Locator:
    """The controls in the line of a column on the page Data."""
    label = named(page, "combobox", "Hierarchy of %s", column)
    return page.get_by_test_id("stHorizontalBlock").filter(has=label).first


@contextlib.contextmanager
def details_of(page: Page, column: str) -> Iterator[Locator]:
    """What is behind Details in the line of a column on the page Data."""
    line_of(page, column).get_by_role("button", name="Details").click()
    yield page.get_by_test_id("stPopoverBody")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def press_lines(page: Page, *names: str) -> None:
    """Press chips of metrics, algorithms or strategies on the page Compare."""
    page.get_by_test_id("stMain").get_by_role("button", name="Lines").click()
    for name in names:
        with answered(page):
            page.get_by_test_id("stPopoverBody").get_by_role(
                "button", name=name, exact=True
            ).click()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def type_in(page: Page, control: Locator, text: str) -> None:
    if control.input_value() == text:
        return
    with answered(page):
        control.fill(text)
        control.press("Enter")
    expect(control).to_have_value(text)


def upload(page: Page, file: Path | dict, records: str) -> None:
    """Upload a table on the page Data; wait until so many records are told of."""
    with answered(page):
        page.locator('[class*="st-key-upload-"] input[type="file"]').set_input_files(file)
    expect(page.get_by_role("heading", name=f"{records} records,")).to_be_visible(timeout=30_000)


def open_tables(page: Page, tab: str) -> None:
    """Open a way to another table on the page Data: folded once a table of one's own is open."""
    way, folded = page.get_by_role("tab", name=tab), page.get_by_text("Load another table")
    expect(way.or_(folded).first).to_be_visible()
    if folded.count() and not way.is_visible():
        folded.click()
    way.click()


def in_memory(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "text/csv", "buffer": content}


def button(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMain").get_by_role("button", name=label, exact=True)


def wait_for_result(page: Page, seconds: float = 120) -> None:
    """Wait for the end of a run that gives a table its first result."""
    page.get_by_text(RESULT).wait_for(timeout=1000 * seconds)
    expect(button(page, "Anonymise")).to_be_enabled(timeout=1000 * seconds)
    idle(page)


def anonymise(page: Page) -> None:
    button(page, "Anonymise").click()
    wait_for_result(page)


def compare(page: Page) -> None:
    """Press the button on the page Compare and wait for the first comparison of a table."""
    button(page, "Compare").click()
    page.get_by_text("By what the metrics have in common").wait_for(timeout=120_000)
    page.locator(".cursor .numbers td").first.wait_for()
    expect(button(page, "Compare")).to_be_enabled()
    idle(page)


def make_report(page: Page) -> None:
    expect(button(page, "Make the report")).to_be_enabled(timeout=120_000)
    button(page, "Make the report").click()
    page.get_by_text("To make the same report").wait_for(timeout=120_000)
    idle(page)


def renew(page: Page) -> None:
    """Press the button and wait until the outdated result has been replaced."""
    expect(page.get_by_text(OUTDATED)).to_be_visible()
    button(page, "Anonymise").click()
    expect(page.get_by_text(OUTDATED)).to_have_count(0)
    wait_for_result(page)


def download(page: Page, label: str, ends: str = "", unlike: Download | None = None) -> Download:
    """Press a download button and wait for the file.

    A button that the browser has not drawn anew yet gives the file that it names: press again
    until the name ends so, or is not that of another file.
    """
    old = "" if unlike is None else unlike.suggested_filename
    for _ in range(20):
        with page.expect_download() as coming:
            button(page, label).click()
        name = coming.value.suggested_filename
        if name.endswith(ends) and name != old:
            return coming.value
        page.wait_for_timeout(500)
    raise AssertionError(f"{label} gives {name}")


def taken_away(page: Page, chart: str, form: str) -> Download:
    """Press the link that makes a picture of a chart, and wait for the file."""
    with page.expect_download() as coming:
        page.locator(f".st-key-{chart}-picture").get_by_role("button", name=form).click()
    return coming.value


def tab_to(page: Page, target: Locator, most: int = 120) -> None:
    target.wait_for(state="attached")
    for _ in range(most):
        if target.evaluate("one => one === one.getRootNode().activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the tabulator does not reach {target}")


def picture(page: Page, name: str) -> None:
    """Save what is on screen, the whole page, under tests/output/, if pictures are asked for.

    For one of the whole page, all that is on it is drawn twice more.
    """
    if not PICTURES:
        return
    OUTPUT.mkdir(exist_ok=True)
    height = page.evaluate("document.querySelector('[data-testid=stMain]')?.scrollHeight ?? 720")
    page.screenshot(path=OUTPUT / f"{name}.png")
    size = page.viewport_size or VIEWPORT
    page.set_viewport_size({**size, "height": max(size["height"], int(height) + 20)})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
    page.screenshot(path=OUTPUT / f"{name}-whole.png")
    page.set_viewport_size(size)


NAVIGATION = "[data-testid=stSidebarNavItems]"
"""Streamlit's own list of pages has its headings between the list and its items."""


def barriers(page: Page) -> list[str]:
    """What keeps somebody out: what axe-core calls serious or critical, with where it is."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']}: {rule['help']} ({node['html'][:200]})"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
        if not (rule["id"] in ("list", "listitem") and _in_navigation(page, node["target"][0]))
    ]


def _in_navigation(page: Page, target: str) -> bool:
    return bool(page.locator(target).evaluate(f"found => !!found.closest('{NAVIGATION}')"))


def picture_for_docs(page: Page, title: str) -> None:
    """Save the upper part of a page under tests/output/pages/, from where ``make pictures`` copies.

    In 256 colours, so that the repository stays small.
    """
    if not PICTURES:
        return
    (OUTPUT / "pages").mkdir(parents=True, exist_ok=True)
    page.mouse.move(0, 0)
    page.set_viewport_size({**VIEWPORT, "height": 960})
    for chart in page.locator('[data-testid="stPlotlyChart"]').all():
        chart.locator(".main-svg").first.wait_for()
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = seen.quantize(256, dither=Image.Dither.NONE)
    few.save(OUTPUT / "pages" / f"{title.lower()}.png", optimize=True)
    page.set_viewport_size(VIEWPORT)


def open_offline(chrome: Browser, path: Path, pictures: int = 3) -> None:
    """Open a report without a connection: it draws, and hands out its numbers."""
    context = chrome.new_context(viewport=VIEWPORT, offline=True)
    try:
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        if pictures:
            assert page.locator("figure .main-svg").first.is_visible()
        assert page.locator(".js-plotly-plot").count() == pictures
        assert asked == [path.as_uri()] and said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= VIEWPORT["width"]
        page.set_viewport_size({"width": 420, "height": 800})  # a telephone
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        cut = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
        assert page.locator(".stacked td, .stacked th, p, li, caption").evaluate_all(cut) == 0
        page.set_viewport_size(VIEWPORT)
        with page.expect_download() as download:
            page.get_by_role("link", name="All numbers as JSON").click()
        assert download.value.suggested_filename == "report.json"
        assert all(url.startswith("data:") for url in asked[1:])
    finally:
        context.close()


# --- fixtures -------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def running(chromium, tmp_path_factory):
    """One server for all tests that need none of their own."""
    # All tests leave their sessions there: none pushes out another one's.
    with serving(tmp_path_factory.mktemp("server"), settings="kept_sessions = 200\n") as server:
        yield server


def write_measured(module) -> None:
    """Write what a module has measured, if anything, under tests/output/."""
    if measured := getattr(module, "MEASURED", {}):
        OUTPUT.mkdir(exist_ok=True)
        (OUTPUT / module.TIMINGS).write_text(json.dumps(measured, indent=2) + "\n", "utf-8")


@pytest.fixture(scope="module")
def server(running, request):
    """The server, for a module; what the module has measured is written in the end."""
    yield running
    running.check_log()
    write_measured(request.module)


@pytest.fixture(scope="session")
def chrome(chromium):
    """One browser for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        watched = [visitor.context for visitor in WINDOWS]
        assert all(context in watched for context in browser.contexts), "a window nobody watched"
        for visitor in WINDOWS:
            assert visitor.left_the_host() == [], visitor.left_the_host()
        browser.close()
    OUTPUT.mkdir(exist_ok=True)
    requests = sum(visitor.looked_at + len(visitor.asked) for visitor in WINDOWS)
    asked = {"windows": len(WINDOWS), "requests": requests}
    (OUTPUT / "requests.json").write_text(json.dumps(asked), "utf-8")


@pytest.fixture(scope="session")
def windows():
    return []


@pytest.fixture
def visitors(windows, request):
    """The windows of a test; in the end, none of them has left this machine or complained."""
    opened: list[Visitor] = []
    yield opened
    for number, visitor in enumerate(opened):
        picture(visitor.page, re.sub(r"\W+", "-", f"{request.node.name}-{number}").strip("-"))
    assert opened
    for visitor in opened:
        leave(visitor)
        check(visitor)
        windows.append(visitor)


@pytest.fixture
def open_window(chrome, windows, visitors):
    def opened():
        visitors.append(taken(windows, chrome))
        return visitors[-1].page

    return opened


@pytest.fixture
def page(open_window):
    return open_window()


def no_wider_than_the_window(page):
    for part in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{part}.scrollWidth <= {part}.clientWidth"), part
