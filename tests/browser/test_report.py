"""The report in a real browser: made on its page, it asks nobody for anything, and draws."""

import datetime

import pytest

from kanon.plan import Plan
from kanon.report.contents import collect_report
from kanon.report.rendering import render_report
from support import browser as by
from support.people_plans import PEOPLE, plan_with

pytestmark = pytest.mark.browser


@pytest.mark.nightly
def test_a_report_for_publication_opens_offline_without_a_request(chrome, tmp_path):
    report = collect_report(Plan.from_content(plan_with()), PEOPLE, date=datetime.date(2026, 1, 31))
    path = tmp_path / "report.html"
    path.write_bytes(render_report(report.public))
    by.open_offline(chrome, path, pictures=0)


@pytest.mark.nightly
def test_a_report_that_was_made_on_its_page_opens_offline(chrome, server, page, tmp_path):
    by.open_data(page, server)
    by.open_tables(page, "Samples")
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
    by.open_offline(chrome, path)
