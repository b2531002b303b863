"""The searches of the lattice on the page Compare, driven by AppTest."""

import pytest

from kanon.algorithms import samarati
from kanon.charts.searches import describe_searches, draw_over_k
from kanon.run import prepare
from kanon.studio.compare.searches_panel import plan_searches
from support import dashboard as ui
from support.works import with_fields

OUTDATED = "press Run the three searches to renew"


def searches(at):
    return ui.enter(at, ui.go(at, ui.COMPARE).button_group(key="compare-table"), "searches")


def measured(at):
    return ui.settled(ui.press(at, "Run the three searches"))


@pytest.mark.nightly
def test_the_numbers_are_those_of_the_searches(start):
    """Of the page's own settings: metric, weights of columns, suppression, Samarati's choices."""
    at = searches(start())
    measured(at)
    from_page = ui.work(at).findings.searches.searches
    task = prepare(plan_searches(ui.work(at)), ui.work(at).table.records).task()
    for k in from_page.ks:
        row = from_page.over_k.query("k == @k and algorithm == 'samarati'").iloc[0]
        release = samarati.anonymise(task.for_k(k))
        assert row["nodes_evaluated"] == release.trace.evaluated
        assert row["level_of_generalisation"] == sum(release.trace.node)
    assert from_page.ks == (3, 4, 5, 10), "ten records"
    (table,) = at.dataframe
    assert set(table.value["columns"]) == {3}
    assert len(ui.chart_titles(at)) == 1, "one point is no curve"


@pytest.mark.nightly
def test_other_settings_outdate_the_searches_and_a_run_renews_them(start):
    at = ui.settled(ui.press(ui.go(start(), ui.COMPARE), "Compare"))
    assert at.table and at.button_group(key="compare-table").value == "areas"
    measured(searches(at))
    first = ui.work(at).findings.searches
    assert describe_searches(first.searches) in ui.chart_titles(at)
    assert ui.work(at).findings.comparison is not None and not ui.warnings(at), "both are there"
    ui.enter(at, at.button_group(key="compare-table"), "places")
    assert describe_searches(first.searches) not in ui.chart_titles(at) and at.table
    assert describe_searches(first.searches) in ui.chart_titles(searches(at)), "kept"

    at.number_input(key=ui.frame_k(at)).set_value(4)
    assert not [one for one in ui.warnings(ui.go(at)) if OUTDATED in one], "they run over k"
    at.selectbox(key=ui.frame_metric(at)).set_value("total")
    at.session_state[ui.WORK] = with_fields(ui.work(ui.go(at)), suppression=0.2)
    ui.go(at)
    assert any(OUTDATED in one for one in ui.warnings(at))
    assert ui.work(at).findings.searches is first and ui.chart_titles(at)
    assert any("opacity: 0.45" in one.proto.body for one in at.get("html"))
    measured(at)
    assert not [one for one in ui.warnings(at) if OUTDATED in one]
    found = ui.work(at).findings.searches.searches
    assert found.metric.name == "total" and found.limit == 2
    assert 0 < found.over_k["suppressed"].max() <= 2
    assert any("up to 2 records" in one for one in ui.captions(at))


@pytest.mark.nightly
def test_names_from_a_table_are_text_and_nothing_else(start):
    at = start(sample=None)
    table = ui.PEOPLE.rename(columns={"zip": "![x](http://a.b)"})
    ui.with_people(ui.go(at, ui.DATA), table)
    for column in table.columns:
        wanted = "insensitive" if column in ("name", "disease") else "quasi-identifier"
        ui.give_role(at, column, type(ui.work(at).table.roles[column])(wanted))
    for column in ("age", "![x](http://a.b)", "sex"):
        if ui.work(at).table.choices[column].plan is None:
            ui.build(at, column, "suppression")
    measured(searches(at))
    figure = draw_over_k(ui.work(at).findings.searches.searches).to_json()
    assert "http://a.b" not in figure
