"""The lattice in a real browser: a click on a node chooses it, and it is released."""

import contextlib
import re
import time

import pytest
from playwright.sync_api import TimeoutError, expect

from support import browser as by

pytestmark = pytest.mark.browser

MEASURED: dict[str, object] = {}
TIMINGS = "timings-lattice.json"
CARRIED = "(chart, number) => chart.data[1].customdata[number]"


def levels(page):
    boxes = page.get_by_test_id("stMain").get_by_role("spinbutton")
    names = [box.get_attribute("aria-label") or "" for box in boxes.all()]
    return tuple(
        int(box.input_value())
        for box, name in zip(boxes.all(), names, strict=True)
        if re.search(r": level … of \d+$", name)
    )


def nodes_that_satisfy(page):
    """The circles of the picture: the second trace, after the crosses."""
    chart = page.locator(".st-key-lattice-picture .js-plotly-plot")
    chart.locator(".scatterlayer .trace").nth(1).wait_for()
    return chart.locator(".scatterlayer .trace").nth(1).locator(".points path")


def click(page, number):
    """Click the middle of a circle, wherever the page has scrolled to; its levels."""
    node = nodes_that_satisfy(page).nth(number)
    said = page.locator(".st-key-lattice-picture .hoverlayer .hovertext")
    end = time.monotonic() + 30
    while True:  # a picture that is just drawn anew hears nothing yet
        assert time.monotonic() < end, "the node says nothing under the pointer"
        node.evaluate("one => one.scrollIntoView({block: 'center'})")  # not under the header
        box = node.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x - 40, y + 20)
        page.mouse.move(x, y)
        with contextlib.suppress(TimeoutError):
            said.first.wait_for(timeout=1000)
            break
    # Plotly looks where the pointer is every 50 ms, and a click selects what it saw last.
    page.wait_for_timeout(200)
    with by.answered(page):
        page.mouse.click(x, y)
    chart = page.locator(".st-key-lattice-picture .js-plotly-plot")
    return tuple(map(int, chart.evaluate(CARRIED, number).split()))


@pytest.mark.nightly  # in every run: test_lattice_page.py
def test_a_node_is_clicked_stepped_and_released(server, page):
    by.open_start(page, server)
    by.go(page, "Lattice")
    expect(page.get_by_text("combinations of levels satisfy k = 5")).to_be_visible()
    first = levels(page)
    began = time.monotonic()
    clicked = click(page, 20)
    expect(page.get_by_text("The chosen node")).to_be_visible()
    MEASURED["seconds from a click to the steppers"] = round(time.monotonic() - began, 2)
    assert levels(page) == clicked != first

    # What was clicked, left by a stepper, and clicked again is chosen again.
    age = page.get_by_test_id("stMain").get_by_role("spinbutton", name="age: level … of 4")
    by.type_in(page, age, "3" if clicked[0] != 3 else "2")
    assert levels(page) != clicked
    assert click(page, 20) == levels(page) == clicked

    # By the keyboard: a stepper, then the button.
    by.tab_to(page, age)
    with by.answered(page):
        page.keyboard.press("ArrowUp") if clicked[0] < 4 else page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    assert levels(page)[0] != clicked[0]
    assert click(page, 20) == levels(page) == clicked
    by.button(page, "Use this one").click()
    page.get_by_role("link", name="See the release").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(by.QUESTIONS["Anonymise"], timeout=30_000)
    by.wait_for_result(page)
    expect(page.get_by_role("combobox", name="Algorithm")).to_have_value(re.compile("Levels"))
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 1280
