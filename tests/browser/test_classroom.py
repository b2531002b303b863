"""A class in a real browser: recode by hand, hand in, be marked; the handout on paper."""

import re

import pytest
from playwright.sync_api import expect

from kanon.teaching.exercise_draft import EMPTY, EMPTY_COLUMN, build_exercise_set
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import write_handout

pytestmark = pytest.mark.browser

SET = read_exercises(BUILT_IN)
TITLE = SET.title
SHEETS = {False: 4, True: 5}


@pytest.mark.nightly
@pytest.mark.parametrize("solutions", SHEETS)
def test_the_handout_opens_offline_and_prints_on_as_few_sheets_as_said(chrome, tmp_path, solutions):
    path = tmp_path / "handout.html"
    path.write_text(write_handout(SET, solutions=solutions), "utf-8")
    context = chrome.new_context(offline=True)
    try:
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(path.as_uri())
        expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
        assert asked == [path.as_uri()] and said == []
        printed = page.pdf(prefer_css_page_size=True)
        sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
        assert sheets == SHEETS[solutions]
    finally:
        context.close()


@pytest.mark.nightly
def test_a_table_of_many_columns_stays_on_its_sheet(chrome, tmp_path):
    """Wider than the paper, a browser would print everything smaller, or cut it off."""
    cells = [f"a long value {n % 3}" for n in range(20)]
    columns = [{**EMPTY_COLUMN, "name": f"column {name}", "cells": cells} for name in "abcdef"]
    table = {"name": "wide", "columns": columns, "own": False}
    asked = {"id": "q", "table": "wide", "kind": "recode", "k": 2}
    path = tmp_path / "wide.html"
    draft = {**EMPTY, "title": "Wide", "tables": [table], "questions": [asked]}
    path.write_text(write_handout(build_exercise_set(draft)), "utf-8")
    page = chrome.new_page(viewport={"width": round(180 / 25.4 * 96), "height": 1000})
    try:
        page.emulate_media(media="print")
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    finally:
        page.close()
