"""What everybody sees: the tour, the dark theme, a tablet."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from kanon.studio.shell.tour import STEPS
from support import browser as by

pytestmark = pytest.mark.browser

TABLET = {"width": 820, "height": 1180}
PATHS = {f"pages/{title.lower()}.py": title for title in by.QUESTIONS}


def every_page(page):
    for title in by.QUESTIONS:
        by.go(page, title)
        yield title


@pytest.mark.nightly
def test_the_tour_leads_through_five_pages(server, page):
    by.open_start(page, server)
    offered = page.get_by_test_id("stSidebar").get_by_role("button", name="Tour in five steps")
    with by.answered(page):
        offered.click()
    card = page.locator(".st-key-tour")
    for number, step in enumerate(STEPS, start=1):
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_contain_text(by.QUESTIONS[PATHS[step.page]])
        expect(card).to_contain_text(f"Tour, {number} of 5: {step.title}.")
        expect(offered).to_have_count(0)
        by.idle(page)
        if number < len(STEPS):
            by.button(page, "Next").click()
    by.picture(page, "tour")
    by.button(page, "Back").click()
    expect(card).to_contain_text("Tour, 4 of 5")
    by.go(page, "Lattice")  # a stroll of one's own: the tour waits
    expect(card).to_contain_text("Tour, 4 of 5")
    by.button(page, "End the tour").click()
    expect(card).to_have_count(0)
    expect(offered).to_be_visible()


@pytest.mark.nightly
def test_the_dark_theme_is_as_readable(server, page):
    page.emulate_media(color_scheme="dark")
    try:
        by.open_start(page, server)
        found = {}
        for title in every_page(page):
            found |= {title: said} if (said := by.barriers(page)) else {}
            by.picture(page, f"dark-{title.lower()}")
        assert found == {}
    finally:
        page.emulate_media(color_scheme="light")


@pytest.mark.nightly
def test_a_tablet_needs_no_sideways_scrolling(server, page):
    page.set_viewport_size(TABLET)
    by.open_start(page, server)
    for title in by.QUESTIONS:
        page.goto(f"{server.url}/{'' if title == 'Anonymise' else title.lower()}")
        expect(page.get_by_role("heading", level=1)).to_contain_text(by.QUESTIONS[title])
        by.idle(page)
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        for part in ("document.documentElement", "document.querySelector('.stMain')"):
            assert page.evaluate(f"{part}.scrollWidth <= {part}.clientWidth"), (title, part)
        by.picture(page, f"tablet-{title.lower()}")
