"""Comparisons under what Anonymise requires, where each line has k of its own."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kanon.algorithms import mondrian
from kanon.charts.board import draw_board
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.sweep import run_sweep
from kanon.measures.along import Curves
from kanon.plan import Plan
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.privacy.t_closeness import TCloseness
from kanon.run import run as run_plan
from kanon.schema import Role
from kanon.studio.jobs.comparison import (
    build_comparison,
    describe_comparison,
    hash_comparison,
    list_missing_runs,
    list_run_keys,
    merge_compared_runs,
    plan_comparison_job,
    request_comparison,
)
from kanon.studio.jobs.configurations import describe_own_requirement, list_planned_lines
from kanon.studio.session.changed_settings import list_changed_labels, record_start_state
from kanon.studio.session.findings import ComparisonResult
from kanon.studio.session.hierarchy_choices import set_role
from kanon.studio.session.named_configurations import save_configuration
from kanon.studio.session.run_plan import apply_plan, build_plan
from kanon.studio.session.table_loading import open_sample, open_uploaded_table
from support.crashes import K, make_crashes, measure_alteration, plan_crashes
from support.works import with_fields

DISTINCT = {"model": "distinct-l-diversity", "l": 2}
pytestmark = pytest.mark.filterwarnings("ignore::kanon.errors.PrivacyWarning")


def compare(work):
    """The work after a comparison, and how many runs it made."""
    lines = list_planned_lines(work)
    todo = list_missing_runs(work, lines, also=work.settings.k)
    job = plan_comparison_job(work, lines, todo)
    found = run_sweep(lambda part, text="": None, job.runs, job.ks, job.metrics)
    return with_fields(work, runs=merge_compared_runs(work, lines, job, found)), len(todo)


@pytest.fixture
def work():
    return with_fields(open_sample("hospital", version=1), compared=("ncp",), metric="ncp")


def require(work, *models):
    (column,) = work.table.sensitive_columns
    return with_fields(work, models=tuple(model(2, column) for model in models))


@pytest.mark.nightly  # in every run: test_compare_page.py
def test_the_ranking_is_that_of_anonymise():
    """The order turns round with l; headline, table and a recount from labels say the same."""
    crashes, lines = make_crashes(), ("gaa", "optimal", "lattice-sweep")
    opened = open_uploaded_table(crashes.to_csv(index=False).encode(), "crashes.csv", version=1)
    work = apply_plan(opened, plan_crashes("gaa", DISTINCT))
    work = with_fields(work, compared=("nllm",), algorithms=lines)
    best, orders = {"k only": "Lattice sweep", "required": "GAA"}, {}
    for kind in best:
        work, made = compare(with_fields(work, k_only=kind == "k only"))
        comparison = describe_comparison(work).comparison
        assert made == 3
        assert tuple(line.configuration.algorithm for line in comparison.lines) == lines
        models = [] if kind == "k only" else [DISTINCT]
        values = comparison.compare_alterations(K).values.loc["nllm"]
        for name, line in zip(lines, comparison.lines, strict=True):
            made_by_plan = run_plan(plan_crashes(name, *models), crashes)
            measured = made_by_plan.measures
            assert values[line.name] == measured["alteration"]["nllm"]
            mean = comparison.compare_means().values.loc[K, line.name]
            assert mean == pytest.approx(measured["mean_alteration"], abs=1e-9)
            classes = made_by_plan.prepared.classes
            trees = dict(zip(classes.attributes, classes.hierarchies, strict=True))
            released = made_by_plan.released()
            assert values[line.name] == pytest.approx(measure_alteration(released, trees))
            groups = released.groupby(list(trees))["injury"].agg(["size", "nunique"])
            assert groups["size"].min() >= K
            assert (groups["nunique"].min() >= 2) is np.bool_(kind == "required")
        orders[kind] = values.rank().tolist()
        headline = draw_board(comparison).cursor["headlines"][comparison.ks.index(K)]
        assert f"with {best[kind]}, releases lose least" in headline
        assert headline.endswith(
            "Lines meet k only; Anonymise also requires distinct l-diversity with l = 2 for "
            "'injury'."
            if kind == "k only"
            else "Every line meets distinct l-diversity with l = 2 for 'injury'."
        )
    assert orders == {"k only": [2, 3, 1], "required": [1, 3, 2]}


def test_models_are_part_of_a_run_and_said_to_have_changed(work):
    plain, made = compare(work)
    assert made == 1 and describe_comparison(plain).comparison.requirement == ""
    lines = list_planned_lines(plain)
    comparison = build_comparison(plain, lines)
    result = ComparisonResult(comparison, hash_comparison(lines, comparison))
    plain = record_start_state(with_fields(plain, comparison=result), "comparison", plain)
    asked = require(plain, DistinctLDiversity)
    assert describe_comparison(asked).lacking == 1
    assert list_changed_labels(asked, "comparison", list_run_keys) == ["Also require"]
    k_only = with_fields(asked, k_only=True)
    assert describe_comparison(k_only).lacking == 0, "k alone is known"
    assert describe_comparison(k_only).key != describe_comparison(plain).key, "it says so"
    met, made = compare(asked)
    assert made == 1
    started = record_start_state(met, "comparison", met)
    more = with_fields(started, models=(*met.settings.models, TCloseness(1.5, "disease")))
    assert list_changed_labels(more, "comparison", list_run_keys) == ["Also require"]
    switched = with_fields(more, models=met.settings.models, k_only=True)
    assert list_changed_labels(switched, "comparison", list_run_keys) == ["k only"]


def test_without_models_the_toggle_changes_nothing(work):
    plain, _ = compare(work)
    (before, after) = (describe_comparison(with_fields(plain, k_only=on)) for on in (False, True))
    assert before.key == after.key
    pd.testing.assert_frame_equal(before.comparison.table(), after.comparison.table())
    assert "requirement" not in before.comparison.table().columns
    assert all(line.every_k for line in before.comparison.lines)


def test_a_model_without_its_column_is_named_as_not_met(work):
    asked = require(work, DistinctLDiversity)
    lost, _ = compare(set_role(asked, "disease", Role.INSENSITIVE))
    assert describe_comparison(lost).comparison.requirement == (
        "Lines meet k only; Anonymise also requires distinct l-diversity with l = 2 for 'disease'."
    )


def test_saved_lines_meet_what_all_lines_meet(work):
    asked = require(work, DistinctLDiversity)
    line, *_ = list_planned_lines(asked)
    saved = save_configuration(asked, line.plan, line.ground.trees, "old")
    other = with_fields(saved, models=(TCloseness(1.2, "disease"),))
    done, made = compare(other)
    own, kept = describe_comparison(done).comparison.lines
    assert made == 1, "the same settings under the same models are the same run"
    assert (
        own.at("mean_alteration", [3], "").tolist() == kept.at("mean_alteration", [3], "").tolist()
    )
    (old,) = other.kept.configurations
    assert describe_own_requirement(saved, old) == ""
    assert describe_own_requirement(other, old) == (
        "its plan requires distinct l-diversity with l = 2 for 'disease'; here it meets what all "
        "lines meet"
    )
    bare = save_configuration(work, list_planned_lines(work)[0].plan, line.ground.trees, "bare")
    assert describe_own_requirement(bare, bare.kept.configurations[0]) == ""
    assert "requires k only" in describe_own_requirement(
        require(bare, DistinctLDiversity), bare.kept.configurations[0]
    )


def test_a_line_that_cannot_meet_a_model_leaves_the_others(work):
    """Datafly suppresses records, and then t-closeness would be measured against another table."""
    asked = with_fields(
        work, models=(TCloseness(1.2, "disease"),), algorithms=("gaa", "datafly", "mondrian")
    )
    done, made = compare(asked)
    comparison = describe_comparison(done).comparison
    assert made == 3 and [line.configuration.algorithm for line in comparison.lines] == [
        "gaa",
        "mondrian",
    ]
    (sentence,) = comparison.left_out.values()
    assert list(comparison.left_out) == ["Datafly"] and "only if nothing is suppressed" in sentence
    assert describe_comparison(done).lacking == 0, "it is not tried again"
    assert np.isfinite(comparison.at("mean_alteration", [3, 4])).all()
    with pytest.raises(PlanError, match="only if nothing is suppressed"):
        request_comparison(with_fields(asked, algorithms=("datafly",)))
    assert "only if" in describe_comparison(with_fields(done, algorithms=("datafly",))).problem


def test_a_k_without_a_release_is_no_number(work, monkeypatch):
    real = mondrian.anonymise

    def refuse(task, *more):
        if task.k == 4:
            raise Unsatisfiable("There is none.")
        return real(task, *more)

    monkeypatch.setattr(mondrian, "anonymise", refuse)
    done, _ = compare(with_fields(work, algorithms=("gaa", "mondrian")))
    status = describe_comparison(done)
    gaa, other = status.comparison.lines
    assert status.lacking == 0 and not status.comparison.left_out
    values = status.comparison.at("mean_alteration", [3, 4, 5])[:, 0]
    assert np.isnan(values).tolist() == [[False] * 3, [False, True, False]]
    assert status.comparison.describe_lacks([4]) == "Mondrian has no value at k = 4: There is none."
    assert status.comparison.compare_alterations(4).values.columns.tolist() == [gaa.name]
    table = status.comparison.table()
    assert 4 not in table.loc[table["configuration"] == other.name, "k"].tolist()


def test_every_line_keeps_its_own_k(work):
    done, _ = compare(with_fields(work, algorithms=("gaa", "mondrian")))
    both = describe_comparison(done).comparison
    alone = [
        describe_comparison(with_fields(done, algorithms=(name,))).comparison
        for name in ("gaa", "mondrian")
    ]
    assert both.ks == alone[0].ks == tuple(range(2, 11))
    assert [both.list_ks(line) for line in both.lines] == [list(one.ks) for one in alone]
    assert both.shared_ks == (2, *(k for k in PAPER_K if k <= 10)), (
        "the papers' k, and the current one"
    )
    assert isinstance(both.lines[0].runs[None], Curves)
    for place, one in enumerate(alone):
        assert np.array_equal(
            both.at("mean_alteration", one.ks)[place], one.at("mean_alteration", one.ks)[0]
        )
    parts = [one.table() for one in alone]
    columns = ["k", "mean_alteration", "min_k"]
    for part, (_, rows) in zip(parts, both.table().groupby("algorithm", sort=False), strict=True):
        assert rows[columns].reset_index(drop=True).equals(part[columns])


@pytest.mark.nightly
def test_models_of_several_k_are_met_at_each(work):
    """At every k the board's minimum l and k come from releases that Anonymise makes."""
    asked = require(with_fields(work, algorithms=("gaa", "mondrian", "lattice-sweep")),
                    DistinctLDiversity)  # fmt: skip
    done, _ = compare(asked)
    comparison = describe_comparison(done).comparison
    content = json.loads(build_plan(asked).to_json())
    for line in comparison.lines:
        content["algorithm"]["name"] = line.configuration.algorithm
        assert comparison.list_ks(line) == [2, 3, 4, 5, 10]
        for k in comparison.list_ks(line):
            plan = Plan.from_content(content).with_k(k)
            measured = run_plan(plan, asked.table.records).measures
            (value,) = line.at("mean_alteration", [k], "disease")[0]
            assert value == pytest.approx(measured["mean_alteration"], abs=1e-9)


def test_a_comparison_without_k_in_common_still_has_pictures(work):
    done, _ = compare(with_fields(work, algorithms=("gaa", "mondrian"), k=7))
    comparison = describe_comparison(done).comparison
    mondrian_line = comparison.lines[1]
    odd = replace(comparison, ks=(2, 6, 7, 8))
    assert odd.list_ks(mondrian_line) == [7]
    assert draw_board(odd).cursor["headlines"][0].endswith("Mondrian has no value at k = 2.")
    assert odd.interval is None
