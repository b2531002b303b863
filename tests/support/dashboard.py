"""Helpers for the tests of the pages: the dashboard, driven by AppTest."""

import contextlib
import functools
import io
import json
import re
import socket
import subprocess
import types
from dataclasses import replace

import pandas as pd
import pytest
import streamlit
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

from kanon.settings import get_settings
from kanon.studio.anonymise import alternatives
from kanon.studio.jobs import anonymisation, processes, runner
from kanon.studio.session.sample_results import get_sample_results
from kanon.studio.session.table_loading import open_sample
from kanon.studio.shell.guard import Guard
from support import job_functions
from support.paths import ROOT
from support.works import with_fields

# Which packages are installed, and what the pages say, changes in no test, but Streamlit's AppTest
# looks it all up again per dashboard and per click: a quarter of the time.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)
local_script_runner.ScriptCache = functools.cache(local_script_runner.ScriptCache)
Guard.stands = True  # no server is asked

HIERARCHIES, METRICS_PAGE = "pages/hierarchies.py", "pages/metrics.py"
APP = ROOT / "app.py"
DATA, ANONYMISE, COMPARE = "pages/data.py", "pages/anonymise.py", "pages/compare.py"
WORK = "kanon-work"
CANCELLED = "Cancelled; nothing was changed."
OUTDATED = "Settings have changed since this was made; press Anonymise"

PEOPLE = pd.DataFrame(
    {
        "name": [f"Person {i}" for i in range(12)],
        "age": [21, 22, 23, 24, 31, 32, 33, 34, 41, 42, 43, 44],
        "zip": ["47601", "47602", "47605", "47611", "47612", "47901"] * 2,
        "sex": ["F", "M", "F"] * 4,
        "disease": ["cold", "flu", "asthma", "gout"] * 3,
    }
)


# --- workers --------------------------------------------------------------------------------
@pytest.fixture(scope="session")
def workers():
    """All workers that the pages start; none of them outlives the tests."""
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            if self.args[-1] == "kanon.studio.jobs.worker":  # not the one that compiles the rest
                started.append(self)

    patch = pytest.MonkeyPatch()
    patch.setattr(
        processes, "subprocess", types.SimpleNamespace(**{**vars(subprocess), "Popen": Recorded})
    )
    runner.get_jobs.clear()
    _one_place()
    yield started
    runner.get_jobs().close()
    runner.get_jobs.clear()
    patch.undo()
    assert started, "no test started a worker, so this fixture watched the wrong place"
    assert [worker.pid for worker in started if worker.poll() is None] == []


def _one_place():
    """Start a server's workers with one place for everybody, so that a test can hold it."""
    with pytest.MonkeyPatch.context() as patch:
        alone = replace(get_settings(), jobs_at_once=1, long_jobs_at_once=0, studies_at_once=0)
        patch.setattr(runner, "get_settings", lambda: alone)
        runner.get_jobs()


@contextlib.contextmanager
def other_workers():
    """Other workers for a while, with the limits that there are when the first is asked for."""

    def none() -> None:
        runner.get_jobs().close()
        runner.get_jobs.clear()

    none()
    yield
    none()
    _one_place()


@pytest.fixture
def own_workers(workers):
    with other_workers():
        yield


@pytest.fixture
def no_job_is_left():
    """Each test ends what it began, so that none waits for another one's run."""
    sessions = []
    yield sessions
    for at in sessions:
        for one in at.session_state[WORK].running.values():
            one.job.cancel()


@contextlib.contextmanager
def held_worker():
    """Another session's run holds the only worker, so that no other one is done meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        job = runner.get_jobs().submit(job_functions.wait_for, listening.getsockname()[1])
        connection, _ = listening.accept()
        with connection:
            yield
        assert job.wait(20)


def limit_behind(monkeypatch, alternatives_seconds=0, curve_seconds=0):
    seconds = {"alternatives_seconds": alternatives_seconds, "curve_seconds": curve_seconds}
    limits = replace(get_settings(), **seconds)
    for module in (alternatives, anonymisation):
        monkeypatch.setattr(module, "get_settings", lambda: limits)


def settle_all(at):
    """Wait until nothing begins any more."""
    while work(at).running:
        settled(at)
    return at


# --- what a user does and sees --------------------------------------------------------------
@pytest.fixture
def start(workers, no_job_is_left, monkeypatch):
    """Open the dashboard as if a sample had been chosen some time ago, or for the first time.

    AppTest draws what ``app.py`` draws at first alone, and later the pages by themselves: what is
    typed in the frame is ``typed``, by key, before it is drawn. Nothing begins by itself behind a
    result, unless ``behind`` says for how many seconds what does.
    """

    get_sample_results.clear()  # what another test has computed

    def begin(page=ANONYMISE, sample="hospital", typed=None, **behind):
        limit_behind(monkeypatch, **behind)
        at = AppTest.from_file(str(APP), default_timeout=30)
        for key, value in (typed or {}).items():
            at.session_state[key] = value
        if sample is not None:
            at.session_state[WORK] = open_sample(sample, version=1)
        no_job_is_left.append(go(at))
        return at if page == ANONYMISE else go(at, page)

    return begin


@pytest.fixture
def downloads(monkeypatch):
    """What the buttons of all pages hand over: per key the name of the file and what makes it."""
    found = {}
    real = streamlit.download_button

    def button(label, data, **how):
        found[how.get("key", label)] = how["file_name"], data if callable(data) else lambda: data
        return real(label, data=data, **how)

    monkeypatch.setattr(streamlit, "download_button", button)
    return found


def go(at, page=None):
    """Draw the page again, or another one; a page never shows a traceback."""
    if page is not None:
        at.switch_page(page)
    at.session_state["compare-lines"] = True  # open: else its chips are not there
    at.run()
    assert [error.value for error in at.exception] == []
    return at


def work(at):
    return at.session_state[WORK]


def settled(at):
    """Wait for what is under way, and draw what came of it."""
    assert all(job.job.wait(60) for job in work(at).running.values()), "waited in vain"
    return go(at)


def job_of(at):
    """The job of the only calculation under way; None without one."""
    return next((job.job for job in work(at).running.values()), None)


def button(at, label):
    (found,) = [button for button in at.button if button.label == label]
    return found


def press(at, label):
    found = button(at, label)
    assert not found.disabled, label
    found.click()
    return go(at)


def ask_for_original_values(at):
    """Press the first button of a file with original values, if this session was not asked yet."""
    for one in [button for button in at.button if (button.key or "").endswith("-ask")][:1]:
        one.click()
        go(at)
    return at


def anonymised(at):
    if not any(button.label == "Anonymise" for button in at.button):
        go(at, ANONYMISE)
    return settled(press(at, "Anonymise"))


def enter(at, control, value):
    """Type or choose a value in a control."""
    control.set_value(value)
    return go(at)


def click(at, control):
    """Click on a button, or on a box."""
    control.click()
    return go(at)


def change(at, **fields):
    """Give some fields of the session other values."""
    at.session_state[WORK] = with_fields(work(at), **fields)
    return go(at)


def choose(at, key, value):
    return enter(at, at.selectbox(key=key), value)


def frame_k(at):
    return f"frame-k-{work(at).settings.k}"


def frame_metric(at):
    return f"frame-metric-{work(at).settings.metric}"


def cost_key(at):
    return f"run-cost-{work(at).version}-{work(at).settings.cost}"


def key_of(at, column, what):
    """The key of a control in the line of a column: ``role``, ``builder``, ``widths``, …"""
    position = list(work(at).table.roles).index(column)
    if what == "role":
        return f"role-{work(at).version}-{position}"
    return f"hierarchy-{work(at).version}-{position}-{what}"


def give_role(at, column, role):
    return choose(at, key_of(at, column, "role"), role)


def build(at, column, builder, **typed):
    choose(at, key_of(at, column, "builder"), builder)
    for field, text in typed.items():
        at.text_input(key=key_of(at, column, field)).set_value(text)
        go(at)
    return at


def upload(at, name, content):
    at.file_uploader(key=f"upload-{work(at).version}").set_value((name, content, "text/plain"))
    return settled(go(at))


def upload_tree(at, column, name, content):
    choose(at, key_of(at, column, "builder"), "file")
    at.file_uploader(key=key_of(at, column, "file")).set_value((name, content, "text/plain"))
    return go(at)


def problems(at):
    return [error.value.replace("\\", "") for error in at.error]


def texts(at):
    return [text.value.replace("\\", "") for text in at.markdown]


def page_text(at):
    return "\n".join([*texts(at), *captions(at)])


def button_labels(at):
    return [button.label for button in at.button]


def popovers(at):
    return [one.proto.popover.label.replace("\\", "") for one in at.get("popover")]


def infos(at):
    return [info.value.replace("\\", "") for info in at.info]


def chart_titles(at):
    specs = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    return [spec["layout"]["title"]["text"] for spec in specs]


def told_to_cursor(at):
    every = [one.proto for one in at.get("bidi_component")]
    (found,) = [one for one in every if one.component_name == "kanon_cursor"]
    return json.loads(found.json)


def waits(at):
    """The seconds after which the page, or a part of it, asks to be drawn again."""
    every = [one.proto for one in at.get("bidi_component")]
    return [json.loads(one.json)["seconds"] for one in every if one.component_name == "kanon_timer"]


def board_lines(at):
    return [drawn["name"] for drawn in told_to_cursor(at)["lines"]]


def captions(at):
    return [caption.value.replace("\\", "") for caption in at.caption]


def warnings(at):
    return [warning.value for warning in at.warning]


def title(at):
    (found,) = at.title
    return found.value


def numbers(at):
    """The big numbers by their labels, without the arrow of the better direction."""
    return {re.sub(r" [↑↓].*", "", number.label): number.value for number in at.metric}


def number(text):
    return float(re.sub(r"[^\d.]", "", text))


def shown(at):
    (found,) = at.dataframe
    return found.value


def after(at):
    _, found = at.dataframe
    return found.value


def line(at):
    return at.caption[0].value.replace("\\", "")


def as_bytes(table, kind, **options):
    if kind == "csv":
        return table.to_csv(index=False, **options).encode()
    buffer = io.BytesIO()
    table.to_parquet(buffer) if kind == "parquet" else table.to_excel(buffer, index=False)
    return buffer.getvalue()


def with_people(at, table=PEOPLE):
    return upload(at, "people.csv", as_bytes(table, "csv"))
