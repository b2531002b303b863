"""Sweeps: each row is a run of its own, whatever goes on beside it."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import datafly, gaa
from kanon.errors import KanonError, MetricError, PlanError
from kanon.experiments.areas import build_areas_table
from kanon.experiments.sweep import (
    PlannedRun,
    combine_configurations,
    create_tasks,
    measure_sweep,
    replace_algorithm,
    run_sweep,
    sweep,
)
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import prepare, run
from support.plans import make_plan, qi
from support.random_tables import SEVEN, examples, problems

CRITERIA = ("min_k", "classes", "mean_alteration", "generalised_percent", "root_percent",
            "deleted_among_modified_percent")  # fmt: skip


@examples(40)
@given(problems(), st.sampled_from(["gaa", "gaa-small"]), st.data())
def test_every_row_is_a_run_of_its_own(problem, name, data):
    n = len(problem.rows)
    if n < 2:
        return
    ks = data.draw(st.lists(st.integers(2, n), min_size=1, max_size=4, unique=True))
    metrics = data.draw(st.lists(st.sampled_from(SEVEN), min_size=1, max_size=3, unique=True))
    tie_seed = data.draw(st.none() | st.integers(0, 9))
    content = problem.plan(name=name, tie_seed=tie_seed)
    found = sweep(Plan.from_content(content), problem.frame(), ks, metrics)
    assert found[["metric", "strategy", "k"]].values.tolist() == [
        [metric, "s1", k] for metric in metrics for k in ks
    ]
    for row in found.to_dict("records"):
        content["algorithm"]["metric"] = row["metric"]
        content["privacy"][0]["k"] = row["k"]
        alone = run(Plan.from_content(content), problem.frame()).measures
        for criterion in CRITERIA:
            assert row[criterion] == pytest.approx(alone[criterion], abs=1e-9), criterion
        for metric, value in alone["alteration"].items():
            assert row[f"alteration_{metric}"] == pytest.approx(value, abs=1e-9)


def small_plan(**algorithm) -> Plan:
    return make_plan(
        {"age": qi("intervals", widths=[5, 10]), "sex": qi()},
        2,
        {"name": "gaa", **algorithm},
        metrics={"mine": {"intermediate": "levels", "multiplier": "w2"}},
    )


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(3)
    ages, sexes = generator.integers(20, 70, 300), generator.choice(["F", "M"], 300)
    return pd.DataFrame({"age": ages, "sex": sexes})


@pytest.mark.parametrize("name", ["gaa", "gaa-small"])
def test_columns_are_those_of_the_contract(table, name):
    found = sweep(small_plan(name=name), table, [5, 3], ["mine", "ncp"])
    assert found.columns.tolist() == [
        *("metric", "strategy", "k", "min_k", "classes"),
        *(f"alteration_{metric}" for metric in [*SEVEN, "mine"]),
        *("mean_alteration", "generalised_percent", "root_percent"),
        "deleted_among_modified_percent",
    ]
    seven = found[[f"alteration_{metric}" for metric in SEVEN]]
    assert found["mean_alteration"].tolist() == pytest.approx(seven.mean(axis=1).tolist())
    assert (found["min_k"] >= found["k"]).all()


def test_what_an_algorithm_does_not_go_by_makes_no_run_of_its_own(table, monkeypatch):
    real, asked = datafly.anonymise, []

    def told(task, progress):
        asked.append(task.k)
        return real(task, progress)

    monkeypatch.setattr(datafly, "anonymise", told)
    found = sweep(small_plan(name="datafly"), table, [3, 5], ["ncp", "nllm"])
    assert sorted(asked) == [3, 5], "Datafly goes by no metric"
    assert found["metric"].tolist() == ["ncp", "ncp", "nllm", "nllm"]
    one, other = (part.drop(columns="metric") for _, part in found.groupby("metric"))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))


def test_the_smallest_class_is_a_whole_number_and_blank_where_no_class_is_left(table):
    content = json.loads(small_plan(name="levels", node={"age": 0, "sex": 0}).to_json())
    plan = Plan.from_content({**content, "suppression_limit": 1.0})
    found = sweep(plan, table, [2, 300], ["ncp"])
    assert found["min_k"].tolist() == [2, pd.NA]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["gaa", "mondrian", "datafly"])
@pytest.mark.parametrize("workers", [3, None])
def test_the_number_of_threads_changes_nothing(table, workers, name):
    alone = sweep(small_plan(name=name), table, [2, 10, 300], SEVEN, workers=1)
    together = sweep(small_plan(name=name), table, [2, 10, 300], SEVEN, workers=workers)
    pd.testing.assert_frame_equal(alone, together)


def test_a_run_in_parts_may_be_swept(table):
    """Its parts go one after the other within it, and the numbers are those of a run alone."""
    plan = small_plan(parts="2")
    found = sweep(plan, table, [2, 10, 300], ["ncp", "nllm"], workers=2)
    for metric in ("ncp", "nllm"):
        task = prepare(plan, table).guided_by(metric=metric).task()
        path = gaa.merge_path(task.for_k(300))
        rows = found[found["metric"] == metric]
        assert rows["classes"].tolist() == [path.at(k).n_classes for k in (2, 10, 300)]
        assert path.parted is not None


def test_progress_rises_to_the_end(table):
    told = []
    sweep(small_plan(), table, [2, 50], progress=lambda part, text: told.append((part, text)))
    parts = [part for part, _ in told]
    assert parts == sorted(parts)
    assert told[-1] == (1.0, "7 of 7 runs done")


def test_the_table_and_the_plan_stay_as_they_were(table):
    plan, before = small_plan(), table.copy()
    said = plan.to_json()
    sweep(plan, table, [2, 50])
    pd.testing.assert_frame_equal(table, before)
    assert plan.to_json() == said


def test_a_failure_ends_all_runs_and_is_what_is_raised(table, monkeypatch):
    class Broken(Exception):
        pass

    real, started = gaa.merge_path, []

    def sometimes(task, progress):
        started.append(task)
        if len(started) == 2:
            raise Broken
        return real(task, progress)

    monkeypatch.setattr(gaa, "merge_path", sometimes)
    with pytest.raises(Broken):
        sweep(small_plan(), table, [2, 50], workers=1)
    assert len(started) < 7, "runs that have not begun are not begun"


def test_tie_seeds_are_configurations_too(table):
    plan = small_plan(tie_seed=4)
    wanted = combine_configurations(plan, ["ncp"], ["s1"], [None, 1, 4])
    tasks = create_tasks(prepare(plan, table), wanted)
    assert [task.tie_seed for task in tasks] == [None, 1, 4]
    numbers = run_sweep(
        lambda part, text: None,
        [PlannedRun("gaa", task) for task in tasks],
        [5],
        [metric_named("ncp")],
    )
    last = sweep(plan, table, [5], ["ncp"])
    assert numbers[2].at([5])["alteration_ncp"].tolist() == last["alteration_ncp"].tolist()


def test_what_is_not_asked_for_is_not_run(table):
    with pytest.raises(PlanError, match="at least one tie seed"):
        combine_configurations(small_plan(), ["ncp"], ["s1"], [])
    with pytest.raises(PlanError, match="tie seed '4' is named twice"):
        combine_configurations(small_plan(), ["ncp"], ["s1"], [4, 4])
    assert run_sweep(lambda part, text: None, [], [5], []) == []


@pytest.mark.parametrize(
    ("changes", "error", "parts"),
    [
        ({"ks": [2.5]}, PlanError, ["'2.5'", "whole number"]),
        ({"ks": [True]}, PlanError, ["'True'", "whole number"]),
        ({"ks": ["5"]}, PlanError, ["whole number"]),
        ({"metrics": ["nclp"]}, MetricError, ["'nclp'", "distortion, ncp", "mine"]),
        ({"metrics": ["ncp", "llm", "ncp"]}, PlanError, ["'ncp'", "twice"]),
        ({"metrics": []}, PlanError, ["at least one metric"]),
        ({"metrics": ["custom"]}, MetricError, ["custom", "'age'"]),
        ({"strategies": ["s9"]}, PlanError, ["'s9'", "choose from s1"]),
        ({"strategies": []}, PlanError, ["at least one strategy"]),
    ],
)
def test_bad_input_is_one_sentence(table, changes, error, parts):
    with pytest.raises(KanonError) as raised:
        sweep(small_plan(), table, **{"ks": [5], **changes})
    assert type(raised.value) is error
    for part in parts:
        assert part in raised.value.sentence


@examples(15)
@given(problems(), st.data())
def test_areas_are_those_of_the_curves(problem, data):
    """Computed once more with pandas from the table of the sweep, ranks by what is shown."""
    n = len(problem.rows)
    if n < 4:
        return
    ks = data.draw(st.lists(st.integers(2, n), min_size=2, max_size=4, unique=True))
    metrics, names = ["ncp", "llm"], ["gaa", "datafly"]
    plan, frame = Plan.from_content(problem.plan()), problem.frame()
    found = build_areas_table(measure_sweep(plan, frame, ks, metrics, algorithms=names))
    ks = sorted(ks)
    low, high = ks[0], ks[-1]
    curves = sweep(plan, frame, ks, metrics, algorithms=names)
    for criterion in ("mean_alteration", "root_percent"):
        lines = curves.groupby(["algorithm", "metric"], sort=False)[criterion]
        areas = lines.apply(lambda line: np.trapezoid(line, ks) / (high - low))
        rows = found[(found["criterion"] == criterion) & (found["to_k"] == high)]
        rows = rows[rows["from_k"] == low]
        rows = rows.set_index("algorithm")
        assert rows.loc["gaa", "value"].tolist() == pytest.approx(areas["gaa"].tolist())
        assert rows.loc["datafly", "value"] == pytest.approx(areas["datafly", "ncp"])
        assert rows.loc["datafly", "metric"] == "", "no metric guides it"
        shown = pd.Series([round(value, 1) for value in rows["value"]])
        assert rows["rank"].tolist() == shown.rank(method="min").astype(int).tolist()
        alone = found[(found["criterion"] == criterion) & (found["from_k"] == high)]
        assert alone["value"].iloc[0] == pytest.approx(lines.last().iloc[0])


def test_another_algorithm_gets_what_it_takes_of_the_plan():
    plan = make_plan({"age": qi()}, 2, {"name": "mondrian", "tie_seed": 3, "seed": 4},
                     suppression_limit=0.2)  # fmt: skip
    flash = replace_algorithm(plan, "flash")
    assert (flash.algorithm.seed, flash.algorithm.tie_seed, flash.suppression_limit) == (4, 3, 0.2)
    assert replace_algorithm(plan, "gaa").suppression_limit is None
    assert replace_algorithm(plan, "mondrian") is plan
