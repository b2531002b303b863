"""Runs: what a release holds, and what a run is made of."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_index_equal, assert_series_equal

from kanon.algorithms.catalogue import algorithms, serves_every_k
from kanon.algorithms.lower_bound import lower_bound
from kanon.algorithms.solution import run_algorithm
from kanon.errors import MetricError, PrivacyWarning, TableError, Unsatisfiable
from kanon.hierarchy.build import suppression
from kanon.measures import alteration
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import finished, prepare, run
from kanon.schema import Role, Schema
from kanon.sources.addresses import Address
from kanon.sources.coverage import count_values, find_uncovered_values
from kanon.sources.exposure import measure_exposure
from kanon.sources.memory import MemorySource, MemoryTable, build_column_classes
from kanon.sources.opening import open_address
from kanon.sources.rows import compute_rise
from support.people_plans import HIERARCHY, PEOPLE, changed, one_column, plan_with
from support.plans import make_plan, plan_content, qi, qi_with
from support.random_tables import examples, problems


# --- Releases -----------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("hierarchy", [{"build": "suppression"}, {"build": "mask", "keep": [1]}])
def test_a_quasi_identifier_without_any_value(tmp_path, engine, hierarchy):
    path = tmp_path / "t.csv"
    path.write_text("age,town,ill\n30,,a\n30,,b\n40,,a\n40,,b\n", "utf-8")
    table = open_address(Address(str(path)), engine)
    content = plan_content({"age": qi(), "town": qi_with(hierarchy), "ill": {"role": "sensitive"}})
    for missing in (None, "drop-records"):
        with pytest.raises(TableError, match="another role for 'town', which has no value"):
            run(Plan.from_content({**content, "read": {"missing": missing}}), table)
    done = run(Plan.from_content({**content, "read": {"missing": "as-value"}}), table)
    assert done.recoding.min_k == 2 and done.recoding.n_classes == 2
    if engine == "memory":
        assert done.released()["town"].tolist() == ["(missing)"] * 4


def test_no_record_is_complete_although_every_column_has_values():
    table = pd.DataFrame({"age": ["30", None], "sex": [None, "F"]})
    with pytest.raises(TableError, match="leaves none: count missing as a value"):
        MemoryTable(table).complete(["age", "sex"])


@pytest.mark.parametrize(
    ("index", "named"),
    [
        (pd.Index(["SECRET", "b", "c", "d", "e", "f"]), "The table's index is"),
        (pd.Index([11, 12, 13, 14, 15, 17], name="patient"), "The table's index 'patient' is"),
        (pd.RangeIndex(6, name="bed"), "The table's index 'bed' is"),
        (
            pd.MultiIndex.from_product([["SECRET", "ward"], [1, 2, 3]], names=["place", "bed"]),
            "The table's index 'place' and 'bed' of 2 levels is",
        ),
    ],
)
def test_an_index_that_says_more_than_a_place_is_left_out(index, named):
    table = PEOPLE.head(6).set_axis(index)
    done = run(Plan.from_content(plan_with()), table)
    with pytest.warns(PrivacyWarning) as warned:
        released = done.released()
    (said,) = [str(one.message) for one in warned]
    assert said.startswith(named) and "SECRET" not in said
    assert released.index.equals(pd.RangeIndex(len(released))) and released.index.name is None
    asked = done.released(index=True)
    assert {*asked.index} <= {*index}
    assert_frame_equal(asked.reset_index(drop=True), released)


@pytest.mark.parametrize("index", [pd.RangeIndex(6), pd.RangeIndex(3, 9), pd.Index(range(6))])
def test_a_plain_index_stays_also_where_records_are_left_out(index):
    table = PEOPLE.head(6).set_axis(index)
    table["age"] = table["age"].where(table.index != index[2])
    plan = plan_with(read={"missing": "drop-records"})
    released = run(Plan.from_content(plan), table).released(order="table")
    assert {*released.index} == {*index} - {index[2]}


def test_a_release_by_hand():
    content = plan_with(algorithm={"name": "gaa", "metric": "ncp"})
    done = run(Plan.from_content(content), PEOPLE)
    released = done.released(order="table")
    assert released.columns.tolist() == ["age", "sex", "disease", "note"]
    assert released["age"].tolist() == ["31", "30-39", "30-39", "50-59", "50-59", "31"]
    assert released["sex"].tolist() == ["F", "F", "F", "*", "*", "F"]
    assert_frame_equal(released[["disease", "note"]], PEOPLE[["disease", "note"]])
    sizes = released.groupby(["age", "sex"]).size()
    found = done.measures
    assert (found["records"], found["classes"], found["min_k"]) == (6, len(sizes), sizes.min())
    assert (found["suppressed"], found["dropped"]) == (0, 0)
    assert found["seconds"] >= 0
    assert list(found["alteration"]) == [
        *("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
    ]


def test_a_composed_metric_guides_and_is_measured():
    content = plan_with(metrics={"mine": {"intermediate": "levels", "multiplier": "none"}})
    content["algorithm"]["metric"] = "mine"
    mine = run(Plan.from_content(content), PEOPLE)
    content["algorithm"]["metric"] = "total"
    total = run(Plan.from_content(content), PEOPLE)
    assert_frame_equal(mine.released(), total.released())
    assert mine.measures["alteration"]["mine"] == mine.measures["alteration"]["total"]
    assert "mine" not in total.measures["alteration"]


def test_attribute_weights_guide_the_search_alone():
    """Two ways to make a pair: the attribute that weighs nothing is given up."""
    table = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]})
    columns = {name: qi() for name in "ab"}
    for kept, weights in (("a", {"a": 1, "b": 0}), ("b", {"a": 0}), ("a", {"a": 3})):
        algorithm = {"name": "gaa", "metric": "ncp", "attribute_weights": weights}
        plan = Plan.from_content(plan_with(columns=columns, algorithm=algorithm))
        done = run(plan, table)
        given_up = "b" if kept == "a" else "a"
        assert done.released(order="table")[kept].tolist() == table[kept].tolist()
        assert set(done.released()[given_up]) == {"*"}
        assert done.measures["alteration"]["ncp"] == 50


def test_rows_aligned_with_the_table_keep_its_order_and_index():
    table = PEOPLE.copy()
    table.index = pd.Index([3, 3, None, "x", -1, 3], dtype=object, name="row")
    before = table.copy(deep=True)
    done = run(Plan.from_content(plan_with()), table)
    released = done.released(index=True, order="table")
    assert released.index.equals(table.index)
    assert released.index.name == "row"
    assert_series_equal(released["disease"], table["disease"])
    assert_series_equal(released["note"], table["note"])
    assert_frame_equal(table, before)
    asked = run(Plan.from_content(plan_with(order="table")), PEOPLE).released()
    assert_frame_equal(asked, released.set_axis(PEOPLE.index))


def test_rows_leave_in_the_order_of_their_released_cells():
    done = run(Plan.from_content(plan_with(algorithm={"name": "gaa", "metric": "ncp"})), PEOPLE)
    released = done.released()
    assert released["age"].tolist() == ["31", "31", "30-39", "30-39", "50-59", "50-59"]
    assert_index_equal(released.index, pd.RangeIndex(6))
    rows, aligned = (
        [str(row) for row in one.to_numpy().tolist()]
        for one in (released, done.released(order="table"))
    )
    assert sorted(rows) == sorted(aligned) and rows != aligned
    labelled = done.released(index=True)
    assert_frame_equal(labelled, done.released(order="table").loc[labelled.index])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted({*algorithms()} - {"levels", "mdav"}))
@examples(60, in_gate=2)
@given(problems(max_records=8), st.randoms(use_true_random=False))
def test_a_release_does_not_depend_on_the_order_of_the_table(name, problem, random):
    """As algorithms see classes alone; of chosen levels and of numbers alone others tell."""
    assume(len(problem.rows) > 1)
    table = problem.frame()
    places = random.sample(range(len(table)), len(table))
    plan = Plan.from_content(problem.plan(k=2, name=name))
    first, second = (
        run(plan, rows).content("csv")
        for rows in (table, table.iloc[places].reset_index(drop=True))
    )
    assert first == second


def test_rows_that_differ_in_pseudonyms_alone_are_shuffled():
    content = changed("columns", "name", "pseudonym", to=True)
    content["columns"]["age"]["hierarchy"] = {"build": "suppression"}
    content["privacy"] = [{"model": "k-anonymity", "k": 40}]
    table = pd.DataFrame(
        {"name": [f"p{i:02}" for i in range(40)], "age": range(40), "sex": "F", "disease": "flu"}
    )
    orders = set()
    for _ in range(3):
        done = run(Plan.from_content(content), table)
        labels = dict(zip(done.released(order="table")["name"], table["name"], strict=True))
        orders.add(tuple(labels[label] for label in done.released()["name"]))
        assert done.released().equals(done.released()), "one order for a run"
    assert len(orders) == 3 and tuple(table["name"]) not in orders


def test_other_columns_pass_through_unchanged():
    extra = {
        "texts": ["007", "1.10", "é", None, "a\nb", "="],
        "times": pd.to_datetime(["2021-03-04 10:11", None, *["2020-01-01 00:00"] * 4]),
        "kinds": pd.Categorical(list("abcabc")),
        "whole": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        "things": [1, "1", 1.0, None, True, (1, 2)],
    }
    table = PEOPLE.assign(**extra)
    content = plan_with()
    content["columns"]["kinds"] = {"role": "sensitive"}
    content["columns"]["texts"] = {"role": "insensitive"}
    released = run(Plan.from_content(content), table).released(order="table")
    untouched = ["disease", "note", *extra]
    assert_frame_equal(released[untouched], table[untouched])
    assert released.columns.tolist() == [c for c in table.columns if c != "name"]


def test_pseudonyms_keep_a_person_together_and_tell_nothing():
    content = changed("columns", "name", "pseudonym", to=True)
    table = pd.concat([PEOPLE] * 4, ignore_index=True)
    table.loc[5, "name"] = None
    table["name"] = [
        None if pd.isna(name) else f"{name}{i % 12}" for i, name in enumerate(table["name"])
    ]
    seen = set()
    for _ in range(4):
        released = run(Plan.from_content(content), table).released(order="table")
        assert released.columns.tolist() == table.columns.tolist()
        pairs = {*zip(table["name"].dropna(), released["name"].dropna(), strict=True)}
        n = table["name"].nunique()
        assert len(pairs) == n
        assert {label for _, label in pairs} == {f"P_{i}" for i in range(1, n + 1)}
        assert pd.isna(released["name"].iloc[5])
        assert released["name"].isna().sum() == 1
        seen.add(tuple(released["name"].fillna("")))
    assert len(seen) > 1, "random, and from no seed"


# --- Solutions, sources, suggestions ------------------------------------------------------------
def test_one_run_serves_every_k_or_says_so():
    assert serves_every_k("gaa")
    assert not serves_every_k("gaa-small")
    prepared = prepare(Plan.from_content(plan_with()), PEOPLE)
    told: list[float] = []
    for name in ("gaa", "gaa-small"):
        found = run_algorithm(
            lambda part, text: told.append(part), name, prepared.task(), [metric_named("ncp")]
        )
        assert (found.path is None) == (name == "gaa-small")
        assert found.curves is not None
        k = prepared.plan.k
        assert found.known == (None if name == "gaa" else (k,))
        assert found.at(k).min_k >= k
        assert finished(prepared, found.at(k), 0.0).released().shape == (6, 4)
    assert told


def test_a_setting_that_an_algorithm_does_not_take_changes_nothing():
    taken = {"tie_seed": 5, "cost": "representatives", "attribute_weights": {"age": 3.0}}
    plain = prepare(Plan.from_content(plan_with(algorithm={"name": "oka"})), PEOPLE).task()
    told = prepare(Plan.from_content(plan_with(algorithm={"name": "oka", **taken})), PEOPLE).task()
    assert plain.tie_seed is told.tie_seed is None, "it takes a seed instead"
    assert not told.weighted, "but this it takes"
    bare = prepare(Plan.from_content(plan_with(algorithm={"name": "datafly", **taken})), PEOPLE)
    assert bare.task().weighted
    for one, other in zip(bare.task().potentials, plain.potentials, strict=True):
        assert np.array_equal(one, other), "Datafly knows no weights"


def test_a_lower_bound_is_in_percent_of_the_same_whole_as_the_alteration():
    """Weights guide, and count in neither; what does not guide changes nothing."""
    weighted = {"name": "gaa", "attribute_weights": {"age": 3.0}}
    guided = prepare(Plan.from_content(plan_with(algorithm=weighted)), PEOPLE)
    other = prepare(Plan.from_content(plan_with(algorithm={"name": "datafly"})), PEOPLE)
    metric = metric_named(guided.plan.algorithm.metric)
    found = lower_bound(guided.task_of_bound())
    root = run(Plan.from_content(plan_with(privacy=[{"model": "k-anonymity", "k": 6}])), PEOPLE)
    assert root.alteration == 100
    assert 0 < found.percent() <= alteration.value(run(guided.plan, PEOPLE).recoding, metric) < 100
    assert found.loss < found.possible
    assert found == lower_bound(other.task_of_bound())
    assert lower_bound(root.prepared.task_of_bound()).percent() == 100
    assert guided.task().potentials[0].tolist() != guided.task_of_bound().potentials[0].tolist()


def test_a_release_that_breaks_the_plan_is_never_handed_out():
    prepared = prepare(Plan.from_content(plan_with()), PEOPLE)
    broken = run_algorithm(lambda part, text: None, "gaa", prepared.task(), []).at(1)
    with pytest.raises(AssertionError, match="does not meet"):
        finished(prepared, broken, 0.0)


@examples(60)
@given(problems(max_records=14))
def test_a_source_counts_the_classes(problem):
    schema = Schema(dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER))
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    found = MemorySource(problem.frame(), schema, trees).classes
    expected = problem.classes()
    assert found.nodes.tolist() == expected.nodes.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.n_records == len(problem.rows)
    assert found.min_k == min(problem.sizes.values())
    assert found.unique_records == sum(size == 1 for size in problem.sizes.values())
    shown = measure_exposure(build_column_classes(problem.frame(), problem.columns))
    assert np.repeat(shown.sizes, shown.classes).tolist() == sorted(problem.sizes.values())
    assert (shown.n_records, shown.n_classes) == (len(problem.rows), len(problem.sizes))


def test_the_order_of_attributes_is_the_plans():
    content = plan_with()
    content["columns"] = dict(reversed(content["columns"].items()))
    assert prepare(Plan.from_content(content), PEOPLE).classes.attributes == ("sex", "age")


def test_coverage_names_the_most_frequent_first():
    column = pd.Series(["x", "y", "y", "F", None, "z", "z", "z"])
    assert find_uncovered_values(count_values(column), suppression(["F"])) == {
        "z": 3,
        "y": 2,
        "x": 1,
    }
    assert list(find_uncovered_values(count_values(column), suppression(["F"]))) == ["z", "y", "x"]


@examples(40)
@given(problems(max_records=10), st.data())
def test_a_preview_shows_rows_of_the_release_and_how_far_they_rose(problem, data):
    content = problem.plan(k=min(2, len(problem.rows)) or 2)
    if len(problem.rows) < 2:
        content = problem.plan(k=2)
        with pytest.raises(Unsatisfiable):
            run(Plan.from_content(content), problem.frame())
        return
    done = run(Plan.from_content(content), problem.frame())
    rows = data.draw(st.lists(st.integers(0, len(problem.rows) - 1), max_size=5))
    source, rows_given = done.prepared.source, np.array(rows, dtype=int)
    shown = source.release_rows(done.recoding, rows_given)
    released = done.released(order="table")
    assert shown.to_numpy().tolist() == released.iloc[rows].to_numpy().tolist()
    rise = compute_rise(source.row_class[rows_given], done.recoding)
    for row, risen in zip(rows, rise.tolist(), strict=True):
        for j, tree in enumerate(problem.trees):
            levels = tree.level[released.iloc[row, j]] - tree.level[problem.rows[row][j]]
            assert risen[j] == (levels / (tree.height - 1) if tree.height > 1 else 0)


def test_a_range_rises_by_the_share_of_values_that_it_covers():
    ages = ["20", "30", "40", "50", "60"]
    plan, table = one_column(ages, {"build": "suppression"})
    content = {**json.loads(plan.to_json()), "algorithm": {"name": "mondrian", "release": "ranges"}}
    done = run(Plan.from_content(content), table)
    assert sorted(done.released()["q"].unique()) == ["[20, 40]", "[50, 60]"]
    rise = compute_rise(done.prepared.source.row_class, done.recoding)
    assert rise[:, 0].tolist() == [0.5, 0.5, 0.5, 0.25, 0.25], "(3 − 1) and (2 − 1) of 5 − 1"


def test_hierarchy_paths_start_at_the_plan(tmp_path: Path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("F;person;*\nM;person;*\n", "utf-8")
    content = changed(*HIERARCHY, to="trees/sex.csv")
    done = run(Plan.from_content(content), PEOPLE, tmp_path)
    assert done.prepared.classes.hierarchies[1].labels == ("F", "M", "person", "*")


def test_a_column_that_the_plan_does_not_name_is_warned_about():
    """It passes through, as it might in next month's table, where it holds something else."""
    with pytest.warns(PrivacyWarning, match="does not name 'note'"):
        run(Plan.from_content(plan_with()), PEOPLE)


def test_weights_that_are_all_0_count_nothing():
    content = plan_with()
    content["columns"]["sex"]["hierarchy"] = {
        "nodes": [{"name": "*"}, *({"name": n, "parent": "*", "weight": 0} for n in ("F", "M"))]
    }
    content["columns"] = {"sex": content["columns"]["sex"]}
    content["algorithm"]["metric"] = "custom"
    with pytest.raises(MetricError, match="counts nothing"):
        run(Plan.from_content(content), PEOPLE)


def test_a_builder_does_not_follow_the_order_of_the_rows():
    """Ties are broken by the order of leaves, so that order must come from the values alone."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["M", "F"], 60),
            "job": rng.choice(["c", "a", "b"], 60),
            "age": rng.integers(20, 60, 60),
        }
    )
    columns = {
        "sex": {"build": "suppression"},
        "job": {"build": "suppression"},
        "age": {"build": "intervals", "widths": [10]},
    }
    plan = make_plan(
        {name: qi_with(tree) for name, tree in columns.items()},
        4,
        {"name": "gaa", "metric": "total"},
    )
    expected = run(plan, table).released(order="table")
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(60)
        found = run(plan, table.iloc[order]).released(index=True)
        assert found.sort_index().equals(expected)
