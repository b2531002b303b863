"""Projects and plans from somebody who means harm, opened in a real browser."""

import contextlib
import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from support import browser as by

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

HARMFUL = [
    "<img src=x onerror=window.harmed=1>",
    "<script>window.harmed=1</script>",
    "![x](http://example.invalid/a.png)",
    "[x](javascript:window.harmed=1)",
    "$\\href{javascript:window.harmed=1}{x}$",
    "</script><svg onload=window.harmed=1>",
    "{{7*7}}{% raw %}",
    "../../../../etc/passwd",
    '=HYPERLINK("http://example.invalid")',
    "\x00\x1b]0;x\x07\u202e",
    "x" * 100_000,
]

NO_TEXTS: list[Any] = [-1, 10**400, 1.5e308, None, True, [], {}, [[[[[]]]]]]

OPENED = "The project was opened on this table."

TABLE = pd.DataFrame({"age": ["30", "31", "40", "41"] * 10, "ill": ["flu", "cold"] * 20})


def leaf(content: Any, chance: random.Random) -> list[Any]:
    """Where a leaf of a structure stands, drawn key by key: a long list counts as one of them."""
    way: list[Any] = []
    while isinstance(content, (dict, list)) and content:
        keys = list(content) if isinstance(content, dict) else range(len(content))
        way.append(chance.choice(keys))
        content = content[way[-1]]
    return way


def spoiled(content: Any, chance: random.Random) -> Any:
    """A copy with one leaf, or one key, replaced."""
    made = copy.deepcopy(content)
    *way, last = leaf(made, chance)
    within = made
    for key in way:
        within = within[key]
    if isinstance(within, dict) and chance.random() < 0.3:
        within[chance.choice(HARMFUL)] = within.pop(last)
    else:
        within[last] = chance.choice([*HARMFUL, *HARMFUL, *NO_TEXTS])
    return made


def no_harm(page: Page) -> None:
    """Nothing has run or been fetched, no mistake is shown, and the page still answers."""
    assert page.evaluate("window.harmed") is None
    assert page.locator("img[onerror], svg[onload], a[href^='javascript']").count() == 0
    assert page.locator("img[src*='example'], a[href*='example.invalid']").count() == 0
    assert page.get_by_test_id("stException").count() == 0


def give(page: Page, field: Locator, content: bytes) -> None:
    with by.answered(page):
        field.set_input_files(by.in_memory("given.json", content))


@pytest.fixture
def good(server, page):
    by.open_data(page, server)
    by.upload(page, by.in_memory("t.csv", TABLE.to_csv(index=False).encode()), "40")
    by.go(page, "Anonymise")
    with by.answered(page):
        by.button(page, "Keep it as it is").click()
    by.anonymise(page)
    with popover(page, "Project"), page.expect_download() as coming:
        page.get_by_role("button", name="Save the project").click()
    return json.loads(coming.value.path().read_text("utf-8"))


@contextlib.contextmanager
def popover(page: Page, name: str) -> Iterator[Locator]:
    """What is behind a button that opens, and its field for a file."""
    page.get_by_role("button", name=re.compile(rf"\b{name}\b")).first.click()  # no Projector
    body = page.locator("[data-testid=stPopoverBody]")
    yield body.locator("input[type=file]")
    page.keyboard.press("Escape")
    expect(body).to_have_count(0)


def test_hostile_projects_do_no_harm_on_any_page(page, good):
    chance, taken = random.Random("hostile projects"), 0
    spoilt = [json.dumps(spoiled(good, chance)).encode() for _ in range(40)]
    for content in [*spoilt, b"\xff\xfe\x00", b"[" * 100_000, b'{"project": 1}', b"null"]:
        with popover(page, "Project") as field:
            give(page, field, content)
            no_harm(page)
        if page.get_by_text(OPENED).count():
            taken += 1
            for title in chance.sample([*by.QUESTIONS], 3):
                by.go(page, title)
                no_harm(page)
    with popover(page, "Project") as field:
        give(page, field, json.dumps(good).encode())
        expect(page.get_by_text(OPENED).first).to_be_visible()
    assert 3 <= taken <= 35, "some are taken and some refused"


def test_hostile_plans_do_no_harm_among_the_kept_ones(page, good):
    chance = random.Random("hostile plans")
    by.go(page, "Compare")
    by.compare(page)
    for _ in range(30):
        with popover(page, "Saved configurations") as field:
            give(page, field.first, json.dumps(spoiled(good["plan"], chance)).encode())
            no_harm(page)
    by.compare(page)
    no_harm(page)
