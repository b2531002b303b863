"""Outliers of greedy merging: never at a loss, never too many, and by the definition."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa, gaa_small
from kanon.algorithms.catalogue import check_task
from kanon.algorithms.outliers import find_outlying_sets
from kanon.algorithms.solution import run_algorithm
from kanon.base.progress import ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, Unsatisfiable
from kanon.metrics import metric_named
from kanon.notebook import every_k
from kanon.plan import Plan
from kanon.privacy.k_anonymity import KAnonymity
from kanon.report.explanations import describe_plan
from kanon.run import prepare, run
from kanon.sources.opening import open_table
from kanon.strategies import LOOKS_AT
from support.model_tables import (
    BY_COST,
    guides,
    models,
    released_breaks,
    source_of,
    tables,
    task_of,
)
from support.paths import ROOT
from support.plans import make_plan, plan_content, qi_with
from support.random_tables import examples

HAMLET = {
    "nodes": [
        {"name": "*"},
        {"name": "A", "parent": "*", "weight": 10},
        {"name": "a1", "parent": "A", "weight": 1},
        {"name": "a2", "parent": "A", "weight": 1},
        {"name": "b", "parent": "*", "weight": 11},
    ]
}


def hamlet_plan(**more) -> Plan:
    return make_plan({"home": qi_with(HAMLET)}, 2, {"name": "gaa", "metric": "custom"}, **more)


def hamlet() -> pd.DataFrame:
    return pd.DataFrame({"home": ["a1", "b", "a2"]})


# --- By hand ------------------------------------------------------------------------------------
def test_one_record_far_away_is_suppressed():
    """a1 and a2 cost 1 each at A; with b all three lie at the root, of 33 that can be lost."""
    none = run(hamlet_plan(), hamlet())
    assert none.released()["home"].tolist() == ["*"] * 3
    assert none.alteration == pytest.approx(100)
    without = run(hamlet_plan(outliers={"records": 1}), hamlet())
    assert without.released()["home"].tolist() == ["A", "A"]
    assert without.measures["suppressed"] == 1
    assert without.alteration == pytest.approx(100 * (1 + 1 + 11) / 33)


def test_the_set_beside_the_main_branch_saves_what_the_rest_keeps():
    """Without b the two at A keep 10 each: 20 for one record; the set of A's would save 0."""
    task = prepare(hamlet_plan(), hamlet()).task()
    sets = find_outlying_sets(gaa.anonymise(task), task.potentials)
    unit = int(task.potentials.scale)
    assert sets.members.tolist() == [False, False, True]  # a1, a2, b
    assert sets.records.tolist() == [1]
    assert sets.saved_per_record.tolist() == [20 * unit]


@pytest.mark.parametrize("share, suppressed", [(0.33, 0), (0.34, 1), (1, 1)])
def test_a_share_is_rounded_down(share, suppressed):
    found = run(hamlet_plan(outliers=share), hamlet())
    assert found.measures["suppressed"] == suppressed


def test_blanked_rows_stay_where_the_plan_keeps_them():
    found = run(hamlet_plan(outliers=0.5, suppressed="keep"), hamlet()).released()
    assert sorted(zip(found["home"], found["suppressed"], strict=True)) == [
        ("*", 1), ("A", 0), ("A", 0),
    ]  # fmt: skip


def test_the_report_says_how_many_were_suppressed_and_why():
    terms = dict(describe_plan(run(hamlet_plan(outliers=0.5), hamlet())))
    assert terms["Suppression"] == (
        "At most 50.0 % of the records may be suppressed as outliers, if the others then lose less "
        "in total. 1 record (33.3 %) was suppressed."
    )
    terms = dict(describe_plan(run(hamlet_plan(outliers={"records": 0}), hamlet())))
    assert terms["Suppression"].startswith("At most 0 records may be suppressed as outliers")


# --- Laws ---------------------------------------------------------------------------------------
def kept_value(task, recoding) -> int:
    """What is not lost, with suppressed records at the root, added up record by record."""
    total = 0
    for place, count in enumerate(task.classes.counts.tolist()):
        group = int(recoding.assigned[place])
        if group >= 0:
            nodes = recoding.nodes[group].tolist()
            total += count * sum(int(d[v]) for d, v in zip(task.potentials, nodes, strict=True))
    return total


@examples(80)
@given(tables(max_records=16), models(), st.data())
def test_no_more_is_lost_and_the_models_hold(table, wanted, data):
    problem, columns = table
    guide, limit = data.draw(guides(problem)), data.draw(st.integers(1, 6))
    source = source_of(problem, columns)
    task = task_of(source, guide, wanted)
    for algorithm in (gaa, gaa_small):
        if algorithm is gaa_small and LOOKS_AT[task.strategy]:
            task = replace(task, strategy="s1")
        try:
            none = algorithm.anonymise(task)
        except Unsatisfiable:
            with pytest.raises(Unsatisfiable):
                algorithm.anonymise(replace(task, outliers=limit))
            continue
        some = algorithm.anonymise(replace(task, outliers=limit))
        assert kept_value(task, some) >= kept_value(task, none)
        assert some.suppressed_records == int(task.classes.counts[some.assigned < 0].sum()) <= limit
        released = source.release(some)
        assert len(released) == len(problem.rows) - some.suppressed_records
        assert released_breaks(released, problem.columns, wanted) == []
        by_hand = gaa.anonymise(replace(task, outliers=0)) if algorithm is gaa else none
        assert np.array_equal(by_hand.assigned, none.assigned)


@examples(25)
@given(tables(max_records=9), st.integers(2, 4), st.integers(1, 3))
def test_no_set_of_classes_loses_less_than_the_best_one(table, k, limit):
    """Brute force: GAA once without every set of original classes that the limit allows."""
    problem, columns = table
    if k > len(problem.rows):
        return
    task = task_of(source_of(problem, columns), BY_COST, [KAnonymity(k)])
    kept = []
    for size in range(limit + 1):
        for chosen in itertools.combinations(range(task.classes.n_classes), size):
            left_out = np.isin(np.arange(task.classes.n_classes), chosen)
            records = int(task.classes.counts[left_out].sum())
            if records <= limit and task.classes.n_records - records >= k:
                rest = replace(task, classes=task.classes.without(left_out))
                kept.append(kept_value(rest, gaa.anonymise(rest)))
    found = kept_value(task, gaa.anonymise(replace(task, outliers=limit)))
    assert kept[0] <= found <= max(kept)


@examples(60)
@given(tables(max_records=16), st.integers(2, 6))
def test_outlying_sets_are_those_of_the_definition(table, k):
    problem, columns = table
    if k > len(problem.rows):
        return
    task = task_of(source_of(problem, columns), BY_COST, [KAnonymity(k)])
    recoding = gaa.anonymise(task)
    sets = find_outlying_sets(recoding, task.potentials)
    originals, sizes = list(problem.sizes), list(problem.sizes.values())

    def value(labels) -> int:
        return sum(
            int(depth[tree.number[label]])
            for depth, tree, label in zip(task.potentials, problem.trees, labels, strict=True)
        )

    def lowest_common(members) -> list[str]:
        ends = []
        for j, tree in enumerate(problem.trees):
            paths = [tree.paths[originals[c][j]] for c in members]
            ends.append(next(node for node in paths[0] if all(node in path for path in paths)))
        return ends

    for group in range(recoding.n_classes):
        members = np.flatnonzero(recoding.assigned == group).tolist()
        tops, r = lowest_common(members), sum(sizes[c] for c in members)
        best = None
        for j, tree in enumerate(problem.trees):
            branches: Counter = Counter()
            branch_of = {}
            for c in members:
                path = tree.paths[originals[c][j]]
                above = path.index(tops[j])
                if above:
                    branch_of[c] = path[above - 1]
                    branches[path[above - 1]] += sizes[c]
            if not branches:
                continue
            main = min(branches, key=lambda node: (-branches[node], tree.number[node]))
            rest = [c for c in members if branch_of.get(c) == main]
            s = r - branches[main]
            if s == 0:
                continue
            saved = Fraction((r - s) * value(lowest_common(rest)) - r * value(tops), s)
            if best is None or saved > best[0]:
                best = saved, s, {*members} - {*rest}
        if best is None:
            assert sets.records[group] == 0
            continue
        assert sets.saved_per_record[group] == pytest.approx(float(best[0]))
        assert sets.records[group] == best[1]
        assert {c for c in members if sets.members[c]} == best[2]


@examples(15)
@given(tables(max_records=14), st.integers(2, 4), st.randoms())
def test_row_order_does_not_matter(table, k, chance):
    problem, _ = table
    if k > len(problem.rows):
        return
    content = problem.plan(k, metric="custom") | {"outliers": {"records": 3}}
    frame = problem.frame()
    places = list(range(len(frame)))
    chance.shuffle(places)
    weights = [w for tree in problem.trees for w in (tree.weights or {}).values()]
    if not any(weights):
        return
    plan = Plan.from_content(content)
    first, second = run(plan, frame), run(plan, frame.iloc[places].reset_index(drop=True))
    assert first.measures["suppressed"] == second.measures["suppressed"]
    assert first.released().equals(second.released())


def test_every_class_has_k_persons():
    """Both records at a1 are of p, and both at a2 of q: without r at b they meet at A."""
    frame = pd.DataFrame({"who": list("ppqqr"), "home": ["a1", "a1", "a2", "a2", "b"]})
    columns = {"who": {"role": "identifier"}, "home": qi_with(HAMLET)}
    plan = make_plan(columns, 2, "gaa", person="who", outliers={"records": 1})
    found = run(plan, frame)
    assert found.released()["home"].tolist() == ["A"] * 4
    assert found.recoding.released.min_persons == 2
    assert run(replace_outliers(plan, 0), frame).measures["suppressed"] == 0


def replace_outliers(plan: Plan, records: int) -> Plan:
    return Plan.from_content(plan.model_dump(mode="json") | {"outliers": {"records": records}})


# --- The key and what depends on it -------------------------------------------------------------
def test_plans_of_today_are_written_as_before():
    assert "outliers" not in hamlet_plan().to_json()
    assert Plan.from_json(hamlet_plan(outliers=0.01).to_json()).outliers == 0.01


@pytest.mark.parametrize(
    "limit, place",
    [(2, "outliers"), (-0.1, "outliers"), ("1 %", "outliers"), ({"records": -1}, "outliers.rec")],
)
def test_a_wrong_limit_is_named(limit, place):
    with pytest.raises(PlanError, match=f"Plan key {place}"):
        hamlet_plan(outliers=limit)


def test_other_algorithms_suppress_no_outliers():
    content = plan_content({"home": qi_with(HAMLET)}, 2, "optimal", outliers=1.0)
    found = run(Plan.from_content(content), hamlet())
    assert found.prepared.task().outliers is None
    assert found.measures["suppressed"] == 0


def test_outliers_are_chosen_for_each_k():
    task = prepare(hamlet_plan(outliers={"records": 1}), hamlet()).check()
    for k, suppressed in ((2, 1), (3, 0)):
        found = run_algorithm(ignore_progress, "gaa", task.for_k(k), [metric_named("custom")])
        assert found.path is None and found.known == (k,)
        assert found.at(k).suppressed_records == suppressed
    with pytest.raises(PlanError, match="'gaa' with outliers runs for one k at a time"):
        every_k(hamlet_plan(outliers={"records": 1}), hamlet())


def test_classes_in_an_engine_are_refused(monkeypatch):
    task = replace(prepare(hamlet_plan(), hamlet()).task(), outliers=1)
    monkeypatch.setattr(EquivalenceClasses, "in_engine", True)
    with pytest.raises(PlanError, match="Leave out the key 'outliers'"):
        check_task("gaa", task)


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.parametrize("k, most", [(5, 5.98), (10, 9.15), (100, 23.4)])
def test_less_is_lost_on_adult(k, most, adult_path):
    table = open_table(adult_path).table
    trees = {
        column: qi_with(str(ROOT / "hierarchies" / "adult" / f"{column}.csv"))
        for column in table.columns
    }
    found = run(make_plan(trees, k, outliers=0.01), table)
    assert found.recoding.min_k >= k
    assert found.measures["suppressed"] <= 301
    assert found.alteration <= most
