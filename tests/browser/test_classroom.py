"""A class in a real browser: recode by hand, hand in, be marked; the handout on paper."""

import json
import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from kanon.teaching.answers import read_answers
from kanon.teaching.exercise_draft import EMPTY, EMPTY_COLUMN, set_of
from kanon.teaching.exercises import BUILT_IN, read_exercises
from kanon.teaching.handout import handout
from kanon.teaching.marks import score
from support import browser as by

pytestmark = pytest.mark.browser

SET = read_exercises(BUILT_IN)
PLACE = [each.id for each in SET.questions].index("animals")
TITLE = SET.title
SHEETS = {False: 4, True: 5}


def option(page, name):
    with by.answered(page):
        page.get_by_role("radio", name=name, exact=True).click()


def upload(page, label, *files):
    box = page.get_by_test_id("stFileUploader").filter(has_text=label)
    field = box.locator('input[type="file"]')
    expect(field).to_be_enabled(timeout=60_000)  # a first run may be under way
    with by.answered(page):
        field.set_input_files(list(files))


@pytest.mark.nightly  # tests of pages do the same without a browser in every run
def test_a_class_sees_an_attack_recodes_by_hand_and_is_marked(server, page):
    page.goto(f"{server.url}/learn")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(by.QUESTIONS["Learn"], timeout=30_000)
    option(page, "Attacks")
    page.locator(".st-key-attack-next button").first.focus()
    for _ in range(4):  # the story goes on by the arrow keys
        with by.answered(page):
            page.keyboard.press("ArrowRight")
    expect(page.get_by_text("The same attack on one that meets it")).to_be_visible()
    expect(page.get_by_text("and still tells")).to_be_visible()
    option(page, "Exercises")
    option(page, str(PLACE + 1))
    by.choose(page, page.get_by_role("combobox", name="race of record 1"), "felidae")
    raising = page.locator(".st-key-exercise-raise-1 button").first
    for _ in range(2):  # everything to the root, which is the best here
        with by.answered(page):
            raising.click()
    with by.answered(page):
        by.button(page, "Check").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("4 of 4: The table is 3-anonymous")
    assert page.evaluate("document.documentElement.scrollWidth") <= by.VIEWPORT["width"]
    option(page, "Hand in")
    by.type_in(page, page.get_by_role("textbox", name="Name or pseudonym"), "Ada")
    answers = by.download(page, "Download the answers").path().read_bytes()
    found = read_answers(answers)
    question = SET.questions[PLACE]
    assert found.answers == {"animals": question.solution(SET.table_of(question))}
    page.get_by_text("For the teacher").click()
    other = json.dumps({**json.loads(answers), "student": "Bo", "answers": {}}).encode()
    upload(
        page, "Files of answers", *(
            {"name": f"{name}.json", "mimeType": "application/json", "buffer": content}
            for name, content in (("ada", answers), ("bo", other), ("none", b"[]"))
        ),
    )  # fmt: skip
    expect(page.get_by_text("2 files marked, 1 not")).to_be_visible(timeout=60_000)
    page.set_viewport_size({"width": 1024, "height": 768})
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    assert table.bounding_box()["x"] + table.bounding_box()["width"] <= 1024
    page.set_viewport_size(by.VIEWPORT)
    scores = pd.read_csv(by.download(page, "Download the scores as CSV").path())
    assert scores["student"].fillna("").tolist() == ["Ada", "Bo", ""]
    assert scores["points"].fillna(-1).tolist() == [4, 0, -1]
    assert score(SET, found).points == 4
    downloaded = by.download(page, "Download the handout to print").path().read_text("utf-8")
    assert downloaded == handout(SET)


@pytest.mark.nightly
@pytest.mark.parametrize("solutions", SHEETS)
def test_the_handout_opens_offline_and_prints_on_as_few_sheets_as_said(chrome, tmp_path, solutions):
    path = tmp_path / "handout.html"
    path.write_text(handout(SET, solutions=solutions), "utf-8")
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
    path.write_text(handout(set_of(draft)), "utf-8")
    page = chrome.new_page(viewport={"width": round(180 / 25.4 * 96), "height": 1000})
    try:
        page.emulate_media(media="print")
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    finally:
        page.close()
