"""A playlist in a real browser: a presenter's remote goes from link to link, on every page."""

import pytest
from playwright.sync_api import expect

from kanon.teaching.playlist import Link, create_playlist
from support import browser as by

pytestmark = pytest.mark.browser

LINKS = (
    Link(page="learn", title="GAA", table="hospital", k=3, step=6, last_step=7, projector=True),
    Link(page="learn", title="Linkage", attack="linkage", step=2, projector=True),
    Link(page="anonymise", title="Voters", sample="voters", k=4),
    Link(page="learn", title="Exercises", exercises=True),
)

MENU = "[class*='st-key-playlist-menu'] button"


def put(page, playlist):
    with by.answered(page):
        page.locator(MENU).click(timeout=60_000)
    field = page.locator('[class*="st-key-playlist-file-"] input[type="file"]')
    with by.answered(page):
        field.set_input_files(by.in_memory("plan.json", playlist.to_json().encode()))
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


# In every run, what its links open: tests/studio/learn/test_playlist_page.py.
@pytest.mark.nightly
def test_a_remote_opens_one_link_after_another(server, page):
    page.goto(f"{server.url}/learn?algorithm=datafly&table=hospital&step=2")
    step = page.get_by_role("heading", level=3)
    expect(step).to_contain_text("Step 2 of", timeout=60_000)
    by.idle(page)
    put(page, create_playlist("Three pages", LINKS))
    bar = page.locator(".st-key-playlist")
    expect(bar).to_contain_text("5 steps")
    page.keyboard.press("PageDown")
    expect(step).to_contain_text("Step 6 of")
    expect(page.locator(".stage .records")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(step).to_contain_text("Step 7 of")
    by.idle(page)
    page.keyboard.press("PageDown")
    expect(step).to_contain_text("2. What the attacker knows")
    by.idle(page)
    page.keyboard.press("PageDown")
    expect(page.get_by_role("heading", level=1)).to_contain_text("What does k = 4 cost?")
    expect(page.locator(".stage")).to_have_count(0)
    expect(bar).to_contain_text("4 of 5: Voters")
    by.picture(page, "playlist-bar")
    by.idle(page)
    page.keyboard.press("PageDown")
    expect(page.get_by_text("The k of the table")).to_be_visible()
    by.idle(page)
    page.keyboard.press("PageUp")
    expect(page.get_by_role("heading", level=1)).to_contain_text("What does k = 4 cost?")
    by.idle(page)
    page.keyboard.press("PageUp")
    expect(page.locator(".stage")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".stage")).to_have_count(0)
    by.idle(page)
    with by.answered(page):
        page.locator(MENU).click()
    by.picture(page, "playlist-menu")
