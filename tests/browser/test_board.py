"""The board of Compare in a real browser: arranged, saved and loaded, moved without the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = pytest.mark.browser

MEASURED: dict[str, object] = {}
TIMINGS = "timings-board.json"

# Moves the slider; tells where every dot stood before and after, and that nobody was asked between.
MOVE = """async (slider, step) => {
    const root = slider.getRootNode().querySelector('.cursor');
    const places = () => [...root.querySelectorAll('.overlay .dot')].map(dot => {
        const box = dot.getBoundingClientRect();
        return [box.x, box.y].map(Math.round).join();
    });
    const before = places(), runs = window.runs, began = performance.now();
    slider.value = Number(slider.value) + step;
    slider.dispatchEvent(new Event('input'));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return {before, after: places(), runs: window.runs - runs, took: performance.now() - began};
}"""


@pytest.fixture(scope="module")
def comparison(server, chrome, windows):
    """A window with a comparison of two metrics, for all tests of this module."""
    visitor = by.taken(windows, chrome)
    page = visitor.page
    by.open_start(page, server)
    by.go(page, "Compare")
    for name in ("Distortion", "Total", "LLM", "WLLM", "WNLLM"):
        with by.answered(page):
            page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True).click()
    by.compare(page)
    yield page
    by.leave(visitor)
    by.check(visitor)
    windows.append(visitor)


@pytest.fixture
def compared(comparison, request):
    """The page with the comparison, and the board at Costs."""
    page = comparison
    if not by.button(page, "Costs").is_visible():
        page.get_by_text("Arrange the board").click()
    with by.answered(page):
        by.button(page, "Costs").click()
    yield page
    by.picture(page, request.node.name)


def panel(page, place):
    return page.get_by_test_id("stMain").get_by_role("combobox", name=f"Panel {place}", exact=True)


def heads(page):
    """The titles of the panels, as the chart shows them: a while after the page was run."""
    return expect(page.locator(".st-key-board .annotation-text tspan.line:first-child"))


def numbered(titles):
    return [f"{numeral} {title}" for numeral, title in zip("①②③④⑤⑥", titles, strict=False)]


@pytest.mark.nightly
def test_panels_are_chosen_saved_and_loaded(compared, tmp_path):
    page = compared
    by.choose(page, panel(page, 5), "Minimum k against alteration")
    by.choose(page, panel(page, 2), "Cost matrix of a column")
    column = page.get_by_role("combobox", name="Column", exact=True)
    by.choose(page, column, "sex")
    expect(page.locator(".st-key-board .heatmaplayer image")).to_have_count(1)
    shown = ["Mean alteration", "sex: cost as NLLM counts", "At root", "Deleted among modified",
             "Minimum k against alteration"]  # fmt: skip
    heads(page).to_have_text(numbered(shown))
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= 1280")
    saved = json.loads(Path(by.download(page, "Save the layout").path()).read_text("utf-8"))
    assert saved["panels"][1] == {"kind": "matrix", "column": "sex", "metric": "nllm"}
    with by.answered(page):
        by.button(page, "l and t").click()
    heads(page).to_have_count(2)
    field = page.locator('[class*="st-key-board-file-"] input[type="file"]')
    with by.answered(page):
        field.set_input_files(by.in_memory("bad.json", b'{"version": 1, "panel": []}'))
    expect(page.get_by_text("Layout key panel: there is no such key").first).to_be_visible()
    heads(page).to_have_count(2)  # nothing is lost
    with by.answered(page):
        field.set_input_files(by.in_memory("good.json", json.dumps(saved).encode()))
    expect(page.get_by_text("The layout was loaded.").first).to_be_visible()
    heads(page).to_have_text(numbered(shown))
    by.go(page, "Data")
    by.go(page, "Compare")
    page.locator(".cursor .numbers td").first.wait_for()
    heads(page).to_have_text(numbered(shown))  # the layout stays with the session


@pytest.mark.nightly
def test_the_cursor_moves_every_panel_without_asking(compared):
    page = compared
    by.choose(page, panel(page, 5), "Minimum k against alteration")
    slider = page.get_by_role("slider", name="Move k")
    found = slider.evaluate(MOVE, 20)
    assert len(found["before"]) == len(found["after"]) == 5 * 2
    moved = [one != other for one, other in zip(found["before"], found["after"], strict=True)]
    assert all(moved), "the scatter's dots move as those of the curves do"
    assert found["runs"] == 0
    MEASURED["board of five, moved, ms"] = round(found["took"], 1)
    by.idle(page)
    finding = page.locator(".cursor .finding")
    expect(finding).to_contain_text("beats")
    # A click in a panel without an axis for k leaves the cursor where it is.
    here = page.locator(".cursor").get_attribute("data-k")
    chart = page.locator(".st-key-board .js-plotly-plot")
    box = chart.bounding_box()
    chart.click(position={"x": 0.55 * box["width"], "y": 0.7 * box["height"]})
    assert page.locator(".cursor").get_attribute("data-k") == here
    chart.click(position={"x": 0.2 * box["width"], "y": 0.3 * box["height"]})
    assert page.locator(".cursor").get_attribute("data-k") != here
    by.idle(page)


def test_the_numbers_scroll_within_themselves_and_are_reached_by_keyboard(compared):
    page = compared
    with by.answered(page):
        by.button(page, "Privacy and cost").click()
    place = page.locator(".cursor .place")
    inside = place.evaluate(
        "one => [one.getBoundingClientRect().right <= innerWidth, one.clientHeight > 60]"
    )
    assert inside == [True, True]
    slider = page.get_by_role("slider", name="Move k")
    slider.focus()
    page.keyboard.press("Tab")
    assert place.evaluate("one => one === one.getRootNode().activeElement")
    swatches = page.locator(".cursor .legend li svg")
    expect(swatches).to_have_count(2)
    expect(page.locator(".cursor .legend li").first).to_have_text("NCP")
