"""What is released for a class, and coding of extremes, chosen on the page Hierarchies."""

import pytest

from kanon.studio.hierarchies import page as hierarchies_page
from kanon.studio.session.run_plan import apply_plan, build_plan
from support import dashboard as ui


@pytest.fixture
def page(start, monkeypatch):
    monkeypatch.setattr(hierarchies_page, "draw_tree_editor", lambda data, key, edited: None)
    at = ui.with_people(start("pages/data.py"), ui.PEOPLE)
    ui.go(at, ui.HIERARCHIES)
    return ui.enter(at, at.button_group(key=f"tree-column-{ui.work(at).version}"), "age")


@pytest.mark.nightly  # in every run: algorithms/test_written.py
def test_a_mean_and_one_group_above_come_into_the_plan_and_back(page):
    work = ui.work(page)
    place = work.table.hierarchy_columns.index("age")
    ui.choose(page, f"written-{work.version}-{place}", "mean")
    ui.press(page, "One group above the 99 %")
    preview = ui.work(page).table.previews["age"]
    assert (preview.builder, preview.typed["highest"]) == ("intervals", "99 %")
    assert preview.plan.highest == ui.PEOPLE["age"].astype(int).max()  # of so few records
    ui.press(page, "Use it")
    plan = build_plan(ui.work(page))
    assert plan.written == {"age": "mean"}
    assert plan.columns["age"].hierarchy.highest == preview.plan.highest
    assert build_plan(apply_plan(ui.work(page), plan)) == plan
    ui.choose(page, f"written-{work.version}-{place}", "")
    assert build_plan(ui.work(page)).written == {}
