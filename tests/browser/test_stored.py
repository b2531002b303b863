"""A table that stays where it is, in a real browser: refused, opened, run, its release written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = pytest.mark.browser

RECORDS = 300_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that tables have to be in, and one of them."""
    found = tmp_path_factory.mktemp("tables")
    draw = np.random.default_rng(5)
    people = {
        "age": draw.integers(18, 90, RECORDS).astype(str),
        "sex": draw.choice(["F", "M"], RECORDS),
        "zip": draw.integers(47600, 47640, RECORDS).astype(str),
        "disease": draw.choice(["cold", "flu", "gout"], RECORDS),
    }
    pd.DataFrame(people).to_parquet(found / "people.parquet")
    return found


@pytest.fixture(scope="module")
def server(chromium, folder, tmp_path_factory):
    """A server that allows this folder alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANON_TABLES", str(folder))
        with by.serving(tmp_path_factory.mktemp("server")) as running:
            yield running


def scrolled(page):
    return page.get_by_test_id("stMain").evaluate("one => one.scrollTop")


def open_place(page, path):
    page.get_by_role("textbox", name="Path of a table").fill(str(path))
    by.button(page, "Open the table").click()


@pytest.mark.nightly
def test_a_table_is_opened_where_it_is_and_its_release_written_there(server, page, folder):
    by.open_start(page, server)
    by.go(page, "Data")
    page.get_by_role("tab", name="A path or a database").click()
    open_place(page, "/etc/passwd")
    expect(page.get_by_text("'/etc/passwd' is not allowed: tables have to be in")).to_be_visible()
    expect(page.get_by_role("textbox", name="Path of a table")).to_have_value("/etc/passwd")
    open_place(page, folder / "people.parquet")
    expect(page.get_by_role("heading", name="300\u202f000 records,")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("textbox", name="Path of a table")).to_be_visible()
    by.idle(page)
    for column in ("age", "sex", "zip"):
        by.give_role(page, column, "quasi-identifier")
    by.give_role(page, "disease", "sensitive")
    by.go(page, "Anonymise")
    by.anonymise(page)
    by.to_k(page, 12)
    write = by.button(page, "Write the release")
    write.scroll_into_view_if_needed()
    before = scrolled(page)
    write.click()
    written = page.get_by_text("Written: 300\u202f000 records for k = 12 in")
    expect(written).to_be_visible(timeout=60_000)
    assert abs(scrolled(page) - before) < 200, "the page stays where it was"
    by.idle(page)
    released = pd.read_parquet(folder / "released-k12-gaa-nllm")
    assert len(released) == RECORDS
    assert released.groupby(["age", "sex", "zip"]).size().min() >= 12
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
