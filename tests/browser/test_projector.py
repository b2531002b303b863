"""The projector's pictures in a real browser: all of each is seen, nothing covers anything else."""

import re
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

from kanon.algorithms.catalogue import algorithms
from kanon.strategies import STRATEGIES
from kanon.teaching.attacks import ATTACKS
from kanon.teaching.presets import PRESETS, choose_preset
from support import browser as by

pytestmark = pytest.mark.browser

SIZES = ({"width": 1024, "height": 768}, {"width": 1280, "height": 720})
LARGER = {"width": 1920, "height": 1080}
LEAST = 16  # of a letter, in pixels
WRONG = (Path(by.__file__).parent / "fits.js").read_text("utf-8")


def opened(server, page):
    page.goto(f"{server.url}/learn")
    expect(page.get_by_role("heading", level=3)).to_contain_text("Step 0 of", timeout=30_000)
    by.idle(page)


def project(page):
    page.get_by_role("button", name="Projector").click()
    page.locator(".stage").wait_for()
    by.idle(page)


def back(page):
    page.keyboard.press("Escape")
    page.locator(".stage").wait_for(state="detached")
    by.idle(page)


def chosen(page, name):
    """The page at an algorithm, on the table that shows it best; its last step."""
    module = algorithms()[name]
    by.choose(page, page.get_by_role("combobox", name="Algorithm"), module.CARD.title)
    table = page.get_by_role("combobox", name="Table of the lesson")
    by.choose(page, table, PRESETS[choose_preset(module)].title)
    by.idle(page)
    step = page.get_by_role("heading", level=3)
    expect(step).to_contain_text("Step 0 of")
    return int(step.inner_text().partition(":")[0].split()[-1])


def pressed(page, key, number):
    page.keyboard.press(key)
    expect(page.get_by_role("heading", level=3)).to_contain_text(f"Step {number} of")
    by.idle(page)


def drawn(page):
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 60)))")


def wrong(page, sizes=SIZES):
    """What does not fit at each size, and where the parts stand."""
    found, places = [], []
    for size in sizes:
        page.set_viewport_size(size)
        drawn(page)
        answer = page.evaluate(WRONG, LEAST)
        assert answer["texts"] > 10, "next to nothing is shown"
        found += [(size["width"], each) for each in answer["found"]]
        places.append(
            page.locator(
                ".stage > :not(style), .side > *, [class*=st-key-projector-picture]"
            ).evaluate_all(
                "all => all.map((e) => { const b = e.getBoundingClientRect();"
                " return [e.className.split(' ')[0], b.x, b.y, b.width, b.height].join(); })"
            )
        )
    return found, places


def walked(page, name, keys, sizes=SIZES):
    """What is wrong at the steps that keys lead to; nothing moves from one to the next."""
    found, stood = [], None
    for key, number in keys:
        pressed(page, key, number)
        faults, places = wrong(page, sizes)
        found += [(name, number, *fault) for fault in faults]
        assert stood in (None, places), (name, number)
        stood = places
    return found


@pytest.mark.nightly
def test_the_picture_grows_and_shrinks_with_the_window(server, page):
    opened(server, page)
    project(page)
    for size, zoom in ((LARGER, 1.5), (SIZES[0], 1)):
        page.set_viewport_size(size)
        page.wait_for_function(
            """zoom => {
              const chart = document.querySelector(".st-key-projector-picture .main-svg");
              const box = chart.getBoundingClientRect();
              return Math.hypot(box.width - 560 * zoom, box.height - 320 * zoom) < 3;
            }""",
            arg=zoom,
        )
    back(page)


@pytest.mark.nightly
def test_every_step_of_every_lesson_fits_the_projector(server, page):
    opened(server, page)
    found = []
    try:
        for name in algorithms():
            last = chosen(page, name)
            project(page)
            page.emulate_media(color_scheme="light")
            steps = [("PageDown", step) for step in range(1, last + 1)]
            found += walked(page, name, [("Home", 0), *steps])
            page.emulate_media(color_scheme="dark")  # its colours are the same at every step
            found += walked(page, name, [("Home", 0), ("End", last)])
            back(page)
    finally:
        page.emulate_media(color_scheme="light")
    assert not found, "\n".join(map(str, found))


def beside(page, name, strategy="", table="hospital"):
    """The page at two lessons on a table, GAA and another one; their last step."""
    by.choose(page, page.get_by_role("combobox", name="Table of the lesson"), PRESETS[table].title)
    toggle = page.get_by_role("switch", name="Compare with another")
    if not toggle.is_checked():
        with by.answered(page):
            page.get_by_text("Compare with another").click()
    second = page.get_by_role("combobox", name="Second algorithm")
    by.choose(page, second, algorithms()[name].CARD.title)
    if strategy:
        second = page.get_by_role("combobox", name="Second strategy")
        by.choose(page, second, STRATEGIES[strategy].title)
    texts = (
        page.locator(".st-key-two").get_by_text(re.compile(r"Step \d+ of \d+:")).all_inner_texts()
    )
    return max(int(number) for text in texts for number in re.findall(r" of (\d+):", text))


@pytest.mark.nightly
def test_two_lessons_are_one_picture_that_one_key_moves(server, page):
    opened(server, page)
    last = beside(page, "gaa", "s3")
    project(page)
    found = walked(page, "two", [("End", last), ("PageUp", last - 1), ("PageUp", last - 2)])
    heads = page.locator(".side h4")
    assert [text.partition(":")[0] for text in heads.all_inner_texts()] == [
        STRATEGIES[name].title.partition(":")[0] for name in ("s1", "s3")
    ]
    before = heads.all_inner_texts()
    pressed(page, "PageUp", last - 3)
    assert all(map(str.__ne__, before, heads.all_inner_texts())), "both moved"
    by.picture(page, "projector-two")
    back(page)
    expect(page.locator(".st-key-two")).to_be_visible()
    assert not found, "\n".join(map(str, found))


DOTS = """() => [...document.querySelectorAll('*')].map(one => one.shadowRoot)
    .concat(document).flatMap(one => one ? [...one.querySelectorAll('.overlay line.line')] : [])
    .map(one => one.getBoundingClientRect().x)"""


@pytest.mark.nightly  # in every run, its letters: tests/charts/test_board.py
def test_the_board_is_three_pictures_that_one_cursor_moves(server, page):
    """Of the release on screen alone, which needs no comparison of several."""
    by.open_start(page, server)
    by.go(page, "Compare")
    by.compare(page)
    with by.answered(page):
        by.button(page, "Projector").click()
    expect(page.locator(".st-key-board .annotation-text")).to_have_count(3)
    faults = wrong(page)[0]
    page.set_viewport_size(SIZES[0])
    drawn(page)
    before = page.evaluate(DOTS)
    page.keyboard.press("PageDown")
    drawn(page)
    after = page.evaluate(DOTS)
    by.picture(page, "projector-board")
    assert len(before) == 3 and all(x < then for x, then in zip(before, after, strict=True))
    with by.answered(page):
        page.keyboard.press("Escape")
    expect(page.locator(".st-key-board-place")).to_be_visible()
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.nightly
@pytest.mark.parametrize("table", PRESETS)
def test_every_lesson_fits_beside_another(server, page, table):
    """Each lesson of the table is on one side of a pair, so that a step shows two lessons."""
    opened(server, page)
    project(page)
    lessons = [name for name in algorithms() if name != "mdav" or table == "points"]
    pairs = [*zip(lessons[::2], lessons[1::2], strict=False)]
    if len(lessons) % 2:
        pairs.append((lessons[0], lessons[-1]))
    found = []
    for one, other in pairs:
        address = f"{server.url}/learn?table={table}&algorithm={one}&second_algorithm={other}"
        page.goto(address)  # the session comes back, and is still on the projector
        sides = page.locator(".side h4")
        expect(sides.last).to_contain_text(algorithms()[other].CARD.title, timeout=60_000)
        expect(sides.first).to_contain_text(algorithms()[one].CARD.title)
        by.idle(page)
        last = int(page.locator(".stage .head").inner_text().split(",")[0].split()[-1])
        steps = [("PageDown", step) for step in range(1, last)]
        found += walked(page, (one, other), [("Home", 0), *steps], SIZES[:1])
        found += walked(page, (one, other), [("End", last)])
    by.picture(page, f"projector-two-{table}")
    if "mdav" not in lessons:  # it takes no texts: its side says so
        back(page)
        last = beside(page, "mdav", table=table)
        project(page)
        found += walked(page, "mdav", [("Home", 0), ("End", last)])
    assert not found, "\n".join(map(str, found))


@pytest.mark.nightly
def test_a_wide_table_of_thirty_records_and_attacks_fit_too(server, page):
    """What changed is shown, and how much more there is; an attack is one picture as well."""
    n = 30
    table = pd.DataFrame(
        {
            "occupation of the household": [f"occupation number {i % 9}" for i in range(n)],
            "age": [20 + i for i in range(n)],
            "region": [f"region {i % 4}" for i in range(n)],
            "married": [("yes", "no", "widowed")[i % 3] for i in range(n)],
            "household": [str(1 + i % 5) for i in range(n)],
            "illness": [("cold", "gastric ulcer", "heart disease")[i % 3] for i in range(n)],
        }
    )
    by.open_data(page, server)
    by.upload(page, by.in_memory("people.csv", table.to_csv(index=False).encode()), "30")
    for column in table.columns[:-1]:
        by.give_role(page, column, "quasi-identifier")
    by.give_role(page, "illness", "sensitive")
    by.go(page, "Learn")
    by.choose(page, page.get_by_role("combobox", name="Table of the lesson"), "The table I work on")
    by.type_in(page, page.get_by_label("Records of the lesson"), "30")
    project(page)
    found = []
    for number in (1, 2):
        pressed(page, "PageDown", number)
        found += wrong(page)[0]
    by.picture(page, "projector-thirty")
    records, weighed = page.locator(".stage .records"), page.locator(".stage .weighed")
    for part in (records, weighed):
        assert part.locator("tr[hidden]").count() > 0
        left = part.locator(".more:not([hidden])").last.inner_text()
        assert left.startswith("… and ") and left.endswith(" more")
    assert records.locator("tr:has(.now)[hidden]").count() == 0, "what changed is seen"
    assert weighed.locator("tr.chosen[hidden]").count() == 0
    back(page)
    page.get_by_test_id("stMain").get_by_text("Attacks", exact=True).click()
    by.idle(page)
    for name in ATTACKS:
        page.get_by_test_id("stMain").get_by_text(ATTACKS[name].title, exact=True).click()
        by.idle(page)
        project(page)
        heading = page.get_by_role("heading", level=3)
        for step in range(1, 6):
            expect(heading).to_contain_text(f"{step}. ")
            by.idle(page)
            found += [(name, step, *fault) for fault in wrong(page)[0]]
            if step < 5:
                page.keyboard.press("PageDown")
        by.picture(page, f"projector-{name}")
        back(page)
    assert not found, "\n".join(map(str, found))
