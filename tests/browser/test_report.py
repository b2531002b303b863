"""The report in a real browser: made on its page, it asks nobody for anything, and draws."""

import datetime

import pytest

from kanon.plan import Plan
from kanon.report.contents import gather
from kanon.report.rendering import rendered
from support import browser as by
from support.people_plans import PEOPLE, plan_with

pytestmark = pytest.mark.browser


def opens_offline(chrome, path, pictures=3):
    """A report opens without a connection, draws, and hands out its numbers."""
    context = chrome.new_context(viewport=by.VIEWPORT, offline=True)
    try:
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        if pictures:
            assert page.locator("figure .main-svg").first.is_visible()
        assert page.locator(".js-plotly-plot").count() == pictures
        assert asked == [path.as_uri()] and said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= by.VIEWPORT["width"]
        page.set_viewport_size({"width": 420, "height": 800})  # a telephone
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        cut = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
        assert page.locator(".told td, .told th, p, li, caption").evaluate_all(cut) == 0
        page.set_viewport_size(by.VIEWPORT)
        with page.expect_download() as download:
            page.get_by_role("link", name="All numbers as JSON").click()
        assert download.value.suggested_filename == "report.json"
        assert all(url.startswith("data:") for url in asked[1:])
    finally:
        context.close()


@pytest.mark.nightly
def test_a_report_for_publication_opens_offline_without_a_request(chrome, tmp_path):
    report = gather(Plan.from_content(plan_with()), PEOPLE, date=datetime.date(2026, 1, 31))
    path = tmp_path / "report.html"
    path.write_bytes(rendered(report.public))
    opens_offline(chrome, path, pictures=0)


def test_a_report_that_was_made_on_its_page_opens_offline(chrome, server, page, tmp_path):
    by.open_data(page, server)
    page.get_by_role("tab", name="Samples").click()
    with by.answered(page):
        by.button(page, "Hospital, ten records").click()
    by.go(page, "Report")
    by.type_in(page, page.get_by_role("textbox", name="Recipient"), "Teaching <b>$x$</b>")
    by.make_report(page)
    page.get_by_text("Preview", exact=True).click()
    shown = page.frame_locator("iframe")
    shown.get_by_text("Teaching <b>$x$</b>").wait_for()
    shown.locator("figure .main-svg").last.wait_for()
    assert shown.locator(".js-plotly-plot").count() == 3
    assert page.evaluate("document.querySelector('.stMain').scrollWidth") <= by.VIEWPORT["width"]
    path = tmp_path / "report.html"
    by.download(page, "Report").save_as(path)
    opens_offline(chrome, path)
