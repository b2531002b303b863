"""The page Learn in a real browser: by keyboard, by itself, on a projector."""

import pytest
from playwright.sync_api import expect

from support import browser as by

pytestmark = pytest.mark.browser

SOON = 15_000
OLD_PROJECTOR, PHONE = {"width": 1024, "height": 768}, {"width": 420, "height": 800}

# What goes on beyond the right edge of the page, or of a part of it that hides what does.
CUT = """() => {
  const hides = one => getComputedStyle(one).overflowX !== "visible";
  const right = one => one.getBoundingClientRect().right;
  const seen = ":is(p, td, th, button, img, input[role=combobox])";
  return [...document.querySelectorAll(`.stMain ${seen}`)].filter(one => {
    if (hides(one) && one.scrollWidth > one.clientWidth + 1) return true;
    for (let around = one.parentElement; around; around = around.parentElement)
      if (hides(around) && right(one) > right(around) + 1) return true;
    return false;
  }).map(one => one.outerHTML.slice(0, 200));
}"""


@pytest.mark.nightly
def test_keys_work_wherever_no_text_is_typed(server, page):
    page.goto(f"{server.url}/learn")
    step = page.get_by_role("heading", level=3)
    expect(step).to_contain_text("Step 0 of 3: The table", timeout=30_000)
    by.idle(page)
    # A select box that was used, a pill, and a button that was pressed keep the focus.
    by.choose(page, page.get_by_role("combobox", name="Metric"), "NLLM")
    page.keyboard.press("ArrowRight")
    expect(step).to_contain_text("Step 1 of")
    by.idle(page)
    for control, key, number in (
        (page.get_by_role("radio", name="Step by step"), "ArrowRight", 2),
        (by.button(page, "Back"), "End", 3),
    ):
        control.click()
        by.idle(page)
        page.keyboard.press(key)
        expect(step).to_contain_text(f"Step {number} of 3")
        by.idle(page)
    # Who presses faster than the page is drawn goes as many steps.
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(step).to_contain_text("Step 2 of 3")
    by.idle(page)
    # A field in which somebody types has its keys for itself, and what the tabulator has reached
    # is pressed by the space bar.
    page.get_by_role("spinbutton", name="k", exact=True).click()
    page.keyboard.press("Home")
    page.wait_for_timeout(300)
    expect(step).to_contain_text("Step 2 of 3")
    by.tab_to(page, by.button(page, "First"))
    with by.answered(page):
        page.keyboard.press("Space")
    expect(step).to_contain_text("Step 0 of 3")
    expect(by.button(page, "Play")).to_be_visible()


@pytest.mark.nightly
def test_two_lessons_side_by_side_and_what_a_narrow_window_shows(server, page):
    page.goto(f"{server.url}/learn")
    expect(page.get_by_text("Step 0 of 3: The table")).to_be_visible(timeout=30_000)
    by.idle(page)
    with by.answered(page):
        page.get_by_text("Compare with another").click()
    records = page.get_by_role("region", name="Each record and its class.")
    charts = page.locator(".st-key-two [data-testid=stPlotlyChart]")
    expect(charts).to_have_count(2, timeout=SOON)
    page.get_by_role("heading", level=1).click()  # keys belong to a field that has the focus
    for step in ("Step 1 of 3: Merge class 2", "Step 2 of 3: Merge class 3"):
        with by.answered(page):
            page.keyboard.press("ArrowRight")
        expect(page.get_by_text(step)).to_be_visible(timeout=SOON)
    by.idle(page)
    try:
        for size in (by.VIEWPORT, OLD_PROJECTOR):
            page.set_viewport_size(size)
            by.no_wider_than_the_window(page)
            for pair in (charts, records):
                left, right = (pair.nth(side).bounding_box() for side in range(2))
                assert left["y"] == right["y"], "at the same height"
                assert abs(left["width"] - right["width"]) <= 1
                assert left["x"] + left["width"] < right["x"], "and beside each other"
        for part, last in (("Attacks", "Background knowledge"), ("Exercises", "9")):
            page.set_viewport_size(by.VIEWPORT)
            for name in (part, last):
                with by.answered(page):
                    page.get_by_role("radio", name=name, exact=True).click()
            for size in (OLD_PROJECTOR, PHONE):
                page.set_viewport_size(size)
                by.no_wider_than_the_window(page)
                page.wait_for_function(f"() => !({CUT})().length", timeout=SOON)
    finally:
        page.set_viewport_size(by.VIEWPORT)
