"""Cancel on every page, two users at once, and workers that die, in a real browser."""

import os
import random
import re
import signal
import sys
import time
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

MEASURED: dict[str, object] = {}
TIMINGS = "timings-reliability.json"

CANCELS = ("Anonymise", "Hierarchies", "Lattice", "Compare", "Privacy", "Utility")
"""The pages where a calculation is begun; each has a Cancel that stops any."""

# All different, and any two as different as any others: no branch of a search can be cut.
HARD = "age,born,sex\n" + "".join(f"{i},{i},{'FM'[i % 2]}\n" for i in range(45_000))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table that takes an engine a while to open."""
    found = tmp_path_factory.mktemp("tables")
    draw = np.random.default_rng(5)
    columns = {f"c{place}": draw.integers(0, 900_000, 1_500_000) for place in range(12)}
    pd.DataFrame(columns).to_parquet(found / "many.parquet")
    return found


@pytest.fixture(scope="module")
def server(chromium, folder, tmp_path_factory):
    """A server of its own: its worker is killed, and it may open a table where it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANON_TABLES", str(folder))
        with by.serving(tmp_path_factory.mktemp("server")) as running:
            yield running
    by.write_measured(sys.modules[__name__])


def hard_run(page, server):
    """A run that takes minutes, ready to be begun."""
    by.open_data(page, server)
    by.upload(page, by.in_memory("hard.csv", HARD.encode()), "45\u202f000")
    for column in ("age", "born", "sex"):
        by.give_role(page, column, "quasi-identifier")
        by.build(page, column, "All or nothing")


def begin(page):
    by.go(page, "Anonymise")
    by.button(page, "Anonymise").click()
    expect(page.get_by_text(re.compile("classes left of 45.000"))).to_be_visible(timeout=60_000)


def cancelled(page, server):
    """Press Cancel; after how many seconds the page says so, and that its process is gone."""
    # What a page itself begins, as Lattice does, has a Cancel of its own until it is there.
    expect(by.button(page, "Cancel")).to_have_count(1, timeout=60_000)
    workers = server.workers()
    began = time.monotonic()
    by.button(page, "Cancel").click()
    expect(page.get_by_text("cancelled").first).to_be_visible(timeout=10_000)
    seconds = time.monotonic() - began
    server.wait_for_the_end_of_one(workers)
    by.idle(page)
    return round(seconds, 2)


def test_cancel_on_every_page(server, page, folder):
    hard_run(page, server)
    took = {}
    for title in CANCELS:
        begin(page)
        by.go(page, title)
        took[title] = cancelled(page, server)
    by.go(page, "Data")
    by.open_tables(page, "A path or a database")
    page.get_by_role("textbox", name="Path of a table").fill(str(folder / "many.parquet"))
    by.button(page, "Open the table").click()
    expect(by.button(page, "Cancel")).to_be_enabled()
    took["Data"] = cancelled(page, server)
    MEASURED["cancel, s"] = took


LEAVE = """title => {
    const find = (within, name) => [...document.querySelectorAll(within)]
        .find(one => one.innerText.includes(name)).click();
    find('[data-testid=stSidebarNav] a', title);
    find('[data-testid=stMain] button', 'Cancel');
}"""


def test_a_page_that_is_left_may_still_ask(server, page):
    """It names itself, and the page that was chosen is drawn all the same."""
    hard_run(page, server)
    for title in ("Privacy", "Compare", "Data"):
        begin(page)
        by.idle(page)
        page.evaluate(LEAVE, title)
        expect(page.get_by_role("heading", level=1)).to_contain_text(by.QUESTIONS[title])
        expect(page.get_by_text("cancelled").first).to_be_visible()
        expect(by.button(page, "Cancel")).to_have_count(0)
        by.idle(page)
        assert urlsplit(page.url).path == f"/{title.lower()}"


def press(slider, key, heading, before):
    """Press a key until the heading has changed; a busy browser may lose one: users repeat it."""
    slider.press(key)
    try:
        expect(heading).not_to_have_text(before, timeout=10_000)
    except AssertionError:
        slider.press(key)
        expect(heading).not_to_have_text(before, timeout=30_000)


def test_a_user_clicks_while_another_ones_run_takes_the_worker(server, open_window):
    """What the second user does needs no worker, but the server and the processors are the same."""
    busy, other = open_window(), open_window()
    by.open_start(other, server)
    found = MEASURED["clicks, s"] = {}
    for who in ("alone", "beside a run"):
        if who == "beside a run":
            hard_run(busy, server)
            begin(busy)
        slider = other.get_by_role("slider")
        slider.focus()
        found[who] = []
        for step in range(16):
            heading = other.get_by_role("heading", level=1)
            before = heading.inner_text()
            with by.answered(other):
                began = time.monotonic()
                slider.press("ArrowRight" if step % 4 else "ArrowLeft")
                expect(heading).not_to_have_text(before, timeout=30_000)
                found[who].append(round(time.monotonic() - began, 3))
    by.button(busy, "Cancel").click()
    expect(busy.get_by_text("Cancelled; nothing was changed.")).to_be_visible()


def extract(seed):
    """A table of 8,000 persons as a file: three columns to know them by, and a diagnosis."""
    draw = np.random.default_rng(seed)
    columns = {
        "age": draw.integers(0, 100, 8000),
        "zip": draw.integers(10_000, 12_000, 8000),
        "sex": draw.choice(["F", "M"], 8000),
        "diagnosis": draw.choice(["asthma", "cold", "flu", "gout"], 8000),
    }
    return by.in_memory("extract.csv", pd.DataFrame(columns).to_csv(index=False).encode())


def open_extract(page, server, seed):
    by.open_data(page, server)
    by.upload(page, extract(seed), "8\u202f000")
    for column in ("age", "zip", "sex"):
        by.give_role(page, column, "quasi-identifier")
    by.give_role(page, "diagnosis", "sensitive")


def pressed(page, label, result):
    """Press a button; after how many seconds the page shows what comes of it."""
    began = time.monotonic()
    by.button(page, label).click()
    page.get_by_text(result).first.wait_for(timeout=120_000)
    seconds = round(time.monotonic() - began, 2)
    by.idle(page)
    return seconds


def test_somebody_anonymises_and_reports_while_the_advisor_works_for_another(server, open_window):
    advised, other = open_window(), open_window()
    found = MEASURED["beside an advisor, s"] = {}
    for seed, who in ((1, "with nobody beside"), (2, "another visitor's release")):
        open_extract(other, server, seed)
        by.go(other, "Anonymise")
        if seed == 2:
            open_extract(advised, server, 3)
            by.go(advised, "Decide")
            advised.get_by_role("radio", name="2 Which settings?").click()
            by.button(advised, "Try every configuration").click()
            under_way = advised.get_by_text(re.compile("^The advisor: .* for [0-9]+ s"))
            expect(under_way).to_be_visible(timeout=60_000)
        found[who] = pressed(other, "Anonymise", by.RESULT)
    expect(other.get_by_text("The advisor")).to_have_count(0)
    by.go(advised, "Anonymise")
    found["the advised visitor's release"] = pressed(advised, "Anonymise", by.RESULT)
    by.go(advised, "Report")
    found["and its report"] = pressed(advised, "Make the report", "To make the same report")
    expect(under_way).to_be_visible()
    advised.locator(".st-key-cancel-advising").get_by_role("button").click()
    expect(under_way).to_have_count(0)


def kill_workers(server):
    """Kill the one that calculates, and another one if it is idle."""
    for worker in server.workers():
        os.kill(worker, signal.SIGKILL)
        server.wait_for_the_end_of_one({worker})


def test_a_worker_that_is_killed_is_told_of_on_every_page_and_the_next_run_works(server, page):
    draw = random.Random(1)
    hard_run(page, server)
    told = page.get_by_text("The worker process ended unexpectedly")
    killed = 0
    for title in CANCELS:
        begin(page)
        by.go(page, title)
        expect(told).to_have_count(0)
        page.wait_for_timeout(1000 * draw.random())
        kill_workers(server)
        expect(told.first).to_be_visible()
        by.idle(page)
        killed += 1
    by.go(page, "Data")  # a reload would bring the hard table back: another one is chosen instead
    by.open_tables(page, "Samples")
    with by.answered(page):
        by.button(page, "Hospital, ten records").click()
    by.go(page, "Anonymise")
    by.anonymise(page)
    MEASURED["kills"] = killed
