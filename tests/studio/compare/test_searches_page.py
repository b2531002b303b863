"""The searches of the lattice on the page Compare, driven by AppTest."""

from __future__ import annotations

from kanon.algorithms import samarati
from kanon.base.formatting import thin
from kanon.charts.searches import claims_said, finding, over_k_chart
from kanon.experiments.searches import SEARCHES, lattice_sizes, most_evaluated
from kanon.run import prepare
from kanon.studio.compare.searches import (
    columns_table,
    how_searches,
    plan_of_searches,
    settings_of_searches,
)
from support.dashboard import (
    COMPARE,
    DATA,
    PEOPLE,
    WORK,
    build,
    captions,
    chart_titles,
    frame_k,
    frame_metric,
    give_role,
    go,
    infos,
    page_text,
    press,
    problems,
    settled,
    warnings,
    with_people,
    work,
)
from support.works import with_fields

NOT_RUN, OUTDATED = "have not been run against each other", "press Run the three searches to renew"


def searches(at):
    """Look at the searches on the page Compare."""
    go(at, COMPARE).button_group(key="compare-table").set_value("searches")
    return go(at)


def measured(at):
    """Run the searches, and wait for them."""
    return settled(press(at, "Run the three searches"))


def test_the_searches_are_run_and_shown_without_any_comparison(start):
    at = searches(start(sample="census"))
    assert NOT_RUN in infos(at)[-1] and not chart_titles(at) and not problems(at)
    trees = list(work(at).table.trees.values())
    (said,) = [one for one in captions(at) if one.startswith("The lattice of 6")]
    sizes = lattice_sizes(trees)
    assert thin(sizes["lattice_nodes"]) in said and thin(sizes["largest_height"]) in said
    assert f"Improved greedy {most_evaluated('improved-greedy', trees)}" in said
    measured(at)
    found = work(at).findings.searched.searches
    assert not problems(at) and not warnings(at) and len(infos(at)) == 1  # nothing compared yet
    assert (
        chart_titles(at)[0] == finding(found) and "with 6 quasi-identifiers" in chart_titles(at)[1]
    )
    for sentence in claims_said(found):
        assert sentence in page_text(at)
    assert any("No search suppressed records" in one for one in captions(at))
    (table,) = at.table
    assert list(table.value.index) == ["3", "4", "5", "6"]
    assert table.value.equals(columns_table(found))
    assert "in our words" in page_text(at) and "binary search" in page_text(at)
    offered = {one.proto.label for one in at.get("download_button")}
    assert {"Data", "Data over quasi-identifiers"} <= offered


def test_the_numbers_are_those_of_the_searches(start):
    """Of the page's own settings: metric, weights of columns, suppression, Samarati's choices."""
    at = searches(start())
    measured(at)
    from_page = work(at).findings.searched.searches
    task = prepare(plan_of_searches(work(at)), work(at).table.records).task()
    for k in from_page.ks:
        row = from_page.over_k.query("k == @k and algorithm == 'samarati'").iloc[0]
        release = samarati.anonymise(task.for_k(k))
        assert row["nodes_evaluated"] == release.trace.evaluated
        assert row["level_of_generalisation"] == sum(release.trace.node)
    assert from_page.ks == (3, 4, 5, 10), "ten records"
    (table,) = at.table
    assert list(table.value.index) == ["3"] and len(chart_titles(at)) == 1, "one point is no curve"


def test_other_settings_outdate_the_searches_and_a_run_renews_them(start):
    at = settled(press(go(start(), COMPARE), "Compare"))
    assert at.table and at.button_group(key="compare-table").value == "areas"
    measured(searches(at))
    first = work(at).findings.searched
    assert finding(first.searches) in chart_titles(at)
    assert work(at).findings.comparison is not None and not warnings(at), "both are there"
    at.button_group(key="compare-table").set_value("places")
    go(at)
    assert finding(first.searches) not in chart_titles(at) and at.table
    assert finding(first.searches) in chart_titles(searches(at)), "kept"

    at.number_input(key=frame_k(at)).set_value(4)
    assert not [one for one in warnings(go(at)) if OUTDATED in one], "they run over k"
    at.selectbox(key=frame_metric(at)).set_value("total")
    at.session_state[WORK] = with_fields(work(go(at)), suppression=0.2)
    go(at)
    assert any(OUTDATED in one for one in warnings(at))
    assert work(at).findings.searched is first and chart_titles(at)
    assert any("opacity: 0.45" in one.proto.body for one in at.get("html"))
    measured(at)
    assert not [one for one in warnings(at) if OUTDATED in one]
    found = work(at).findings.searched.searches
    assert found.metric.name == "total" and found.limit == 2
    assert 0 < found.over_k["suppressed"].max() <= 2
    assert any("up to 2 records" in one for one in captions(at))


# --- texts ------------------------------------------------------------------------------------
def test_names_from_a_table_are_text_and_nothing_else(start):
    at = start(sample=None)
    table = PEOPLE.rename(columns={"zip": "![x](http://a.b)"})
    with_people(go(at, DATA), table)
    for column in table.columns:
        wanted = "insensitive" if column in ("name", "disease") else "quasi-identifier"
        give_role(at, column, type(work(at).table.roles[column])(wanted))
    for column in ("age", "![x](http://a.b)", "sex"):
        if work(at).table.choices[column].plan is None:
            build(at, column, "suppression")
    measured(searches(at))
    (table,) = at.table
    assert "![x](" not in table.value["Which"].iloc[0]
    figure = over_k_chart(work(at).findings.searched.searches).to_json()
    assert "http://a.b" not in figure


def test_the_fingerprint_knows_what_matters(start):
    now = work(start())
    same = settings_of_searches(now)
    for change in ({"k": 7}, {"algorithm": "datafly"}, {"strategy": "l"}, {"bands": True}):
        assert settings_of_searches(with_fields(now, **change)) == same, change
    options = {"samarati": {"loss": "precision"}}
    for change in (
        {"metric": "ncp"},
        {"suppression": 0.1},
        {"options": options},
        {"attribute_weights": {now.table.quasi_identifiers[0]: 2.0}},
        {"version": now.version + 1},
    ):
        assert settings_of_searches(with_fields(now, **change)) != same, change


def test_how_it_is_computed_names_metric_and_columns(start):
    at = start(sample="census")
    said = how_searches(work(at)).replace("\\", "")
    assert "the first 3 to 6 quasi-identifiers" in said and "as NLLM counts" in said
    assert all(f"**{name}.**" in said for name in ("Datafly", "Samarati"))
    assert said.count("All values of a quasi-identifier are raised to one level") == 1
    assert len(SEARCHES) == 3
