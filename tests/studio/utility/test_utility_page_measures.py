"""What changed, on the page Utility: the part driven by AppTest, its pictures and sentences."""

import json

import numpy as np
import pandas as pd
import pytest

from kanon.charts.associations import build_association_table, draw_associations
from kanon.charts.distributions import build_distributions_table, draw_distribution_panels
from kanon.charts.query_errors import build_query_table, draw_query_errors
from kanon.hierarchy.ranges import build_flat_hierarchy
from kanon.measures import association_change
from kanon.measures.distribution_change import Distribution, distributions
from kanon.measures.query_error import study
from kanon.report.loss import WAY
from kanon.studio.utility.state import UtilityView
from support import dashboard as ui
from support.measured_tables import AGES, SEX, by_hand, recoded
from support.random_tables import PlainTree, Problem
from support.works import with_fields

UTILITY = "pages/utility.py"


def charts(at):
    return [json.loads(one.proto.spec) for one in at.get("plotly_chart")]


def overview_shown(at):
    return next(one.value for one in at.dataframe if WAY in one.value)


@pytest.mark.nightly
def test_what_changed_in_the_worked_table(start):
    """At k = 4 there are [F, Mammal] and [M, Felid], four records each."""
    at = ui.go(ui.anonymised(start(sample="animals-m23")), UTILITY)
    assert not ui.problems(at) and len(charts(at)) == 4
    done = ui.work(at).findings.result.release(4)
    found = {one.name: one.total_variation for one in distributions(done.recoding)}
    assert found["gender"] == 0
    share = f"{100 * found['race']:.1f} %"
    assert f"columns changed by 0.0 % to {share} under equal spread" in ui.chart_titles(at)[0]
    big = ui.numbers(at)
    assert big["Distribution change"] == f"{50 * found['race']:.1f} %"
    assert big["Association change"] == f"{done.measures['association_change']:.3f} of 1"
    assert big["Query error, median"] == f"{done.measures['query_error_percent']:.1f} %"
    assert list(big) == [
        "Distribution change", "Association change", "Query error, median", "Query error, 9 of 10"
    ]  # fmt: skip
    table = overview_shown(at)
    assert table[WAY].dropna().is_monotonic_decreasing
    assert "Classification metric (CM)" in set(table["Measure"]), "of one column without its name"
    assert not set(table["Measure"]) & {"Minimum k"}
    row = table.set_index("Measure").loc["Distribution change"]
    assert f"{row['After']:.1f} {row['Unit']}" == big["Distribution change"], "one notation"
    row = table.set_index("Measure").loc["Average class size (AECS)"]
    assert row["After"] == 4 and row["All at root"] == 8 and row["Better"] == "↓"
    assert table[["Before", "After", "All at root", WAY]].dtypes.eq(float).all()
    row = table.set_index("Measure").loc["Normalised average class size (C_AVG)"]
    assert (row["After"], row["All at root"]) == (4 / 4, 8 / 4), "as a multiple of the k in use"
    assert any(
        "Left out for having fewer than 2 records per value on average: disease" in one.value
        for one in at.caption
    ), "five diseases of eight records"
    assert "disease" not in charts(at)[2]["layout"]["xaxis"]["ticktext"]
    how = " ".join(ui.texts(at))
    assert "√((φ² − chance) / maximum)" in how
    assert "1 000 random counts".replace(" ", "\u202f", 1) in how
    assert not [text for text in ui.texts(at) if "anonymous" in text or " safe" in text]

    assert ui.chart_titles(at)[0].startswith("k = 4: ")
    key = f"utility-attribute-{ui.work(at).version}"
    assert at.selectbox(key=key).value == "race", "what changed most"
    ui.choose(at, key, "gender")
    assert ui.work(at).view(UtilityView).attribute == "gender"
    assert ui.chart_titles(at)[1].startswith("gender: changed by 0.0 %")
    at.select_slider(key="utility-k").set_value(8)
    assert ui.chart_titles(ui.go(at))[0].startswith("k = 8: ")
    assert at.selectbox(key=key).value == "gender", "it stays looked at"
    row = overview_shown(at).set_index("Measure").loc["Average class size (AECS)"]
    assert row["After"] == 8 and row[WAY] == 100


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", ["mondrian", "datafly"])
def test_of_an_algorithm_that_forms_ranges_or_suppresses(start, algorithm):
    at = start(sample="hospital")
    at.session_state["kanon-work"] = with_fields(ui.work(at), algorithm=algorithm)
    at = ui.go(ui.anonymised(ui.go(at, ui.ANONYMISE)), UTILITY)
    assert not ui.problems(at) and len(charts(at)) >= 3


def long_column(number: int, name: str = "n") -> Distribution:
    tree = build_flat_hierarchy([str(value) for value in range(number)])
    before = np.arange(number, dtype=float)
    return Distribution(name, tree, before, before[::-1].copy(), 0, int(before.sum()))


def test_every_column_has_a_panel_with_its_number():
    found = [*distributions(by_hand()), long_column(150, "<b>age</b>")]
    figure = draw_distribution_panels(found, "what changed")
    heads = [one.text for one in figure.layout.annotations]
    assert heads[0] == "<b>q0</b>: 25.0 %" and heads[2].startswith("<b>&lt;b&gt;age&lt;/b&gt;</b>")
    kinds = [one["type"] for one in figure["data"]]
    assert kinds == ["bar"] * 4 + ["scatter"] * 2, "few values as bars, many as outlines"
    assert len(figure["data"][4]["x"]) == 100, "neighbours together, so that it can be read"
    before, after = (np.array(one["y"]) for one in figure["data"][:2])
    assert before.tolist() == [25, 25, 25, 25, 0] and after.tolist() == [25, 25, 25, 0, 25]
    assert figure["layout"]["xaxis"]["ticktext"][-1].startswith("sup"), "the suppressed, last"
    assert sum(figure["data"][4]["y"]) == pytest.approx(100)


def test_values_without_an_order_are_counted_where_their_names_do_not_fit():
    names = [f"a rather long name {'x' * place}" for place in range(60)]
    tree = PlainTree({"*": None, **dict.fromkeys(names, "*")}).build()
    even = np.ones(60)
    found = Distribution("names", tree, even, even, 0, 60)
    small = draw_distribution_panels([found] * 3, "names")
    assert small["layout"]["xaxis"]["ticktext"] == ("60 values",)
    assert small["data"][0]["customdata"][7][0].startswith("a rather long name xxxxxxx")


def test_the_numbers_behind_the_distributions_are_all_of_them():
    table = build_distributions_table(distributions(by_hand()))
    assert table["column"].tolist() == ["q0"] * 5 + ["q1"] * 3
    assert table["value"].tolist() == [*"abcd", "(suppressed)", "F", "M", "(suppressed)"]
    assert table.groupby("column")["records_after"].sum().tolist() == [8, 8]
    assert table["after_percent"].tolist()[-3:] == [100 * 3.5 / 8, 100 * 2.5 / 8, 25]


def test_heatmaps_share_a_scale_and_the_difference_is_centred():
    rows = (("F", "F", "a"), ("F", "F", "b"), ("M", "M", "c"))
    problem = Problem((SEX, SEX, AGES), rows * 2)
    recoding = recoded(problem, {row: (row[0], "*", row[2]) for row in problem.sizes})
    both = association_change.before(recoding.classes), association_change.after(recoding)
    figure = draw_associations(*both, "t")
    then, now, apart = (np.array(one["z"]) for one in figure["data"])
    assert np.allclose(apart, now - then, equal_nan=True) and np.isnan(np.diag(then)).all()
    assert [one["coloraxis"] for one in figure["data"]] == ["coloraxis"] * 2 + ["coloraxis2"]
    scale = figure["layout"]["coloraxis2"]
    assert scale["cmin"] == -scale["cmax"] == -np.nanmax(np.abs(apart))
    assert figure["layout"]["coloraxis"]["cmin"] == 0
    assert figure["data"][0]["text"][0][1] == "1.00"
    table = build_association_table(*both)
    assert table["column"].tolist() == ["q0", "q0", "q1"]
    assert table["cramers_v_before"].iloc[0] == pytest.approx(1)
    assert table["cramers_v_after"].iloc[0] == 0


def test_the_curve_of_errors_ends_where_it_is_said():
    found = study(by_hand())
    figure = draw_query_errors(found, "errors")
    (end,) = {one["x"][-1] for one in figure["data"]}
    for one, chosen in zip(
        figure["data"], (found.queries.of_ranges, ~found.queries.of_ranges), strict=True
    ):
        errors = found.errors[chosen]
        assert one["y"][-1] == pytest.approx(100 * (errors <= end).mean())
        assert ("off by more" in one["name"]) == bool((errors > end).any())
        half = np.searchsorted(one["y"], 50)
        assert one["x"][half] == pytest.approx(np.sort(errors)[249])
    table = build_query_table(found, ("q0", "q1"))
    assert set(table["about"]) <= {"q0 × q1", "q1 × q0"} and len(table) == 1000
    assert pd.Series(found.errors).equals(table["error_percent"])
