"""The page Utility in a real browser: every part, a matrix downloaded, a tree trained."""

from __future__ import annotations

import io
import time

import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = pytest.mark.browser

MEASURED: dict[str, object] = {}
TIMINGS = "timings-utility.json"


def part(page, name):
    with by.answered(page):
        page.get_by_role("radio", name=name).click()
    by.idle(page)


@pytest.mark.nightly
def test_what_can_be_learnt_is_looked_at_downloaded_and_trained(server, page):
    by.open_start(page, server)
    by.go(page, "Utility")
    expect(page.get_by_text("changed most").first).to_be_visible()
    part(page, "As a matrix")
    part(page, "proportional")
    page.get_by_role("button", name="Parquet, original values").click()
    expect(page.get_by_text("This file holds original values of your table")).to_be_visible()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Parquet, original values").click()
    assert "original-values" in caught.value.suggested_filename
    released = pd.read_parquet(io.BytesIO(caught.value.path().read_bytes()))
    assert len(released) == 30_000
    assert "person" not in released.columns
    sexes = [name for name in released.columns if name.startswith("sex_") and name != "sex_*"]
    assert len(sexes) == 2
    assert (released[sexes].sum(axis=1) - 1).abs().max() < 1e-5
    part(page, "Learning")
    by.choose(page, page.get_by_role("combobox", name="Classifier"), "Decision tree")
    began = time.monotonic()
    by.button(page, "Train 10 classifiers").click()
    expect(page.get_by_text("Mean Accuracy is highest in")).to_be_visible(timeout=60_000)
    MEASURED["seconds until ten trees are trained and shown"] = round(time.monotonic() - began, 2)
    expect(page.get_by_role("button", name="Train 10 classifiers")).to_have_count(0)
    part(page, "Which measure predicts")
    expect(page.get_by_role("button", name="Train 224 classifiers")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
