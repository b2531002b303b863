"""An officer's walk: who gets the release, what an attacker gains, verdicts, and the report."""

import io
import json
import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from support import browser as by
from support.controls import check_header
from support.walk import Walk

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

MOST_ACTIONS = 15
QUASI = ["age", "sex", "region", "education", "marital-status", "occupation"]


def test_an_officer_comes_to_a_signed_decision_in_few_actions(server, page):
    walk = Walk(page)
    by.open_start(page, server)
    released = read(walk.download("Released table"))
    walk.go("Decide")
    walk.answer("Who gets the release?", "Researchers")
    walk.answer("How much would it hurt a person to be recognised?", "Much")
    for question in ("Does a contract forbid looking for people?", "Are these people trained"):
        walk.answer("controls", re.compile(question))
    walk.press(by.button(page, "Measure attack and usefulness"))
    expect(by.button(page, "Measure attack and usefulness")).to_have_count(0, timeout=60_000)
    by.idle(page)

    # P(attack) is 0.2 with a contract and training: mean risk 0.05 / 0.2 = 1 in 4, linked 25 %.
    main = page.get_by_test_id("stMain")
    mean = len(released) / released.groupby(QUASI).ngroups
    by.picture(page, "officer-decide")
    lines = main.locator("li").all_inner_texts()
    (line,) = [text for text in lines if "required: at most once in 4" in text]
    assert line.startswith("✓" if mean >= 4 else "✗") and f"{mean:.3g}" in line
    (line,) = [text for text in lines if "required: at most 25 %" in text]
    verdicts = page.get_by_test_id("stTable").filter(has_text="Colleagues only")
    for recipients in ("Anybody", "Researchers", "Colleagues only"):
        expect(verdicts.get_by_role("columnheader", name=recipients)).to_be_visible()
    met = sum(text.startswith("✓") for text in lines)
    cells = verdicts.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert cells[0] == "Thresholds that are met" and cells[4] == f"✗ {met} of {len(lines)}"
    check_header(page)
    by.picture(page, "officer-decide")

    walk.go("Report")
    walk.type("Responsible person", "A. Adams")
    walk.answer("report", "Check the release against its purpose")
    walk.actions.append("press Make the report")
    by.make_report(page)
    report = walk.download("Report").path().read_text("utf-8")
    print(f"{len(walk.actions)} actions: {'; '.join(walk.actions)}")
    numbers = json.loads(walk.download("All numbers as JSON").path().read_text("utf-8"))
    linked = 100 * numbers["evidence"]["linkability"]["value"]
    assert f"{linked:.2f} %" in line and line.startswith("✓" if linked <= 25 else "✗")
    assert numbers["decision"]["thresholds"] and not numbers["decision"]["holds"]
    for text in ("A. Adams", "Researchers", "WP 216", f"{linked:.2f}"):
        assert text in report, text
    by.picture(page, "officer-report")
    assert len(walk.actions) <= MOST_ACTIONS, walk.actions


def read(download):
    text = download.path().read_bytes()
    return pd.read_csv(io.BytesIO(text), sep=";", dtype=str, keep_default_na=False)
