"""The page of a report in a real browser: it asks nobody for anything, and draws."""

from __future__ import annotations

import datetime

import pytest
from browser import VIEWPORT
from people_plans import PEOPLE, plan_with

from kanon.plan import Plan
from kanon.report.gathering import gather
from kanon.report.public import for_publication
from kanon.report.rendering import rendered

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("public", [False, True], ids=["internal", "public"])
def test_a_report_opens_offline_without_a_request(chrome, tmp_path, public):
    report = gather(Plan.from_content(plan_with()), PEOPLE, date=datetime.date(2026, 1, 31))
    path = tmp_path / "report.html"
    path.write_bytes(rendered(for_publication(report) if public else report))
    context = chrome.new_context(viewport=VIEWPORT, offline=True)
    try:
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        assert page.locator("figure .main-svg").first.is_visible()
        assert page.locator(".js-plotly-plot").count() == 3
        assert asked == [path.as_uri()] and said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= VIEWPORT["width"]
        with page.expect_download() as download:
            page.get_by_role("link", name="All numbers as JSON").click()
        assert download.value.suggested_filename == "report.json"
        assert all(url.startswith("data:") for url in asked[1:])
    finally:
        context.close()
