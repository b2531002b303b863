"""Measures against what is counted, row by row, from the original and the released table."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon import measures
from kanon.algorithms.solution import run_algorithm
from kanon.cards import Card, parts_of
from kanon.errors import PlanError
from kanon.measures import alteration, at_root, deleted_among_modified, generalised, minimum_k
from kanon.measures.along import measure_curves
from kanon.measures.comparing import nauc, rank_values
from kanon.measures.summary import measure_release
from kanon.metrics import METRICS, Metric
from kanon.plan import Plan
from kanon.privacy.k_anonymity import KAnonymity, check_k
from kanon.recoding import Recoding
from kanon.run import run
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from support import random_tables
from support.recodings import path_of, recodings

COUNTED = {
    "generalised_percent": generalised,
    "root_percent": at_root,
    "deleted_among_modified_percent": deleted_among_modified,
}


def released(problem: random_tables.Problem, recoding: Recoding) -> pd.DataFrame:
    """The released table, through the rows; suppressed records come back as all roots."""
    roles = dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER)
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    return MemorySource(problem.frame(), Schema(roles), trees).release(recoding)


def cells(problem: random_tables.Problem, table: pd.DataFrame) -> list[tuple[int, str, str]]:
    """Every quasi-identifier cell as (attribute, before, after)."""
    roots = [tree.root for tree in problem.trees]
    found = []
    for row, before in enumerate(problem.rows):
        after = table.loc[row].tolist() if row in table.index else roots
        found += [(j, *pair) for j, pair in enumerate(zip(before, after, strict=True))]
    return found


def percent(part: int | Fraction, whole: int | Fraction) -> float:
    return float(100 * Fraction(part) / Fraction(whole)) if whole else 0.0


def expected_measures(problem: random_tables.Problem, table: pd.DataFrame) -> dict:
    """All measures, from the cells."""
    every = cells(problem, table)
    raised = [cell for cell in every if cell[1] != cell[2]]
    ends = [tree.root for tree in problem.trees]
    altered = {}
    for name in random_tables.SEVEN:
        weights = random_tables.edge_weights(name, problem.trees)

        def cost(j: int, low: str, high: str, weights: list = weights) -> Fraction:
            return random_tables.path_cost(problem.trees[j], weights[j], low, high)

        lost = sum(cost(j, low, high) for j, low, high in every)
        possible = sum(cost(j, low, ends[j]) for j, low, _ in every)
        altered[name] = percent(lost, possible)
    counts = table.groupby(problem.columns).size() if len(table) else pd.Series(dtype=int)
    return {
        "records": len(problem.rows),
        "classes": len(counts),
        "min_k": int(counts.min()) if len(counts) else None,
        "suppressed": len(problem.rows) - len(table),
        "alteration": pytest.approx(altered, rel=1e-9, abs=1e-9),
        "mean_alteration": pytest.approx(sum(altered.values()) / 7, rel=1e-9, abs=1e-9),
        "generalised_percent": percent(len(raised), len(every)),
        "root_percent": percent(sum(high == ends[j] for j, _, high in every), len(every)),
        "deleted_among_modified_percent": percent(
            sum(high == ends[j] for j, _, high in raised), len(raised)
        ),
        "prosecutor": expected_prosecutor(counts) if len(counts) else None,
    }


def expected_prosecutor(counts: pd.Series) -> dict:
    """The risk of being found, record by record."""
    risks = [1 / size for size in counts for _ in range(size)]
    return pytest.approx(
        {
            "highest": max(risks),
            "mean": sum(risks) / len(risks),
            "threshold": 0.2,
            "share_above": sum(risk > 0.2 for risk in risks) / len(risks),
        }
    )


@random_tables.examples(250)
@given(recodings())
def test_measures_are_what_the_tables_say(case):
    problem, recoding = case
    found = measure_release(recoding, [METRICS[name] for name in random_tables.SEVEN])
    expected = expected_measures(problem, released(problem, recoding))
    counted = {*COUNTED} - {"min_k"}
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value) if name in counted else value), name
    beyond = {*parts_of(measures)} - {"classification_metric"}  # see test_loss_measures.py
    assert set(found) == set(expected) | beyond
    assert minimum_k.value(recoding) == expected["min_k"]
    for name, module in COUNTED.items():
        assert module.value(recoding) == found[name]


def test_losing_everything_is_100_percent_and_not_a_little_more():
    """Two thirds of 17 records, over itself: 100 times a float over the float may exceed 100."""
    tree = random_tables.PlainTree({"*": None, "a": "*", "b": "*", "c": "*"})
    problem = random_tables.Problem((tree,), (("a",),) * 17)
    recoding = Recoding.from_targets(problem.classes(), np.array([[3]]))
    others = Metric(Card("others", "", "", ""), "other-leaves-normalised", "none")
    assert alteration.value(recoding, others) == 100


def test_a_table_that_is_at_the_roots_already_has_nothing_to_lose():
    tree = random_tables.PlainTree({"*": None, "a": "*"})
    problem = random_tables.Problem((tree,), (("*",), ("*",)))
    recoding = Recoding.from_targets(problem.classes(), problem.classes().nodes)
    found = measure_release(recoding, [METRICS[name] for name in random_tables.SEVEN])
    assert set(found["alteration"].values()) == {0.0}
    assert found["root_percent"] == 100
    assert found["deleted_among_modified_percent"] == 0


@random_tables.examples(100)
@given(recodings(), st.data())
def test_alteration_never_falls_one_step_up(case, data):
    problem, recoding = case
    targets = recoding.targets.copy()
    row = data.draw(st.integers(0, len(targets) - 1))
    j = data.draw(st.integers(0, len(problem.trees) - 1))
    tree = problem.hierarchies[j]
    targets[row, j] = max(targets[row, j], tree.parent[targets[row, j]])
    higher = Recoding.from_targets(recoding.classes, targets)
    lower = Recoding.from_targets(recoding.classes, recoding.targets)
    for name in random_tables.SEVEN:
        more, less = (alteration.value(x, METRICS[name]) for x in (higher, lower))
        assert more >= less - 1e-9
    assert generalised.value(higher) >= generalised.value(lower)
    assert at_root.value(higher) >= at_root.value(lower)


@random_tables.examples(60)
@given(recodings())
def test_a_recoding_tells_where_every_class_went(case):
    problem, recoding = case
    frame = problem.frame()
    table = released(problem, recoding)
    order = [tree.order for tree in problem.trees]
    for labels, target, place in zip(
        problem.sizes, recoding.targets.tolist(), recoding.assigned.tolist(), strict=True
    ):
        rows = frame.index[(frame == pd.Series(labels, frame.columns)).all(axis=1)]
        assert (place < 0) == (not set(rows) & set(table.index))
        shown = tuple(names[v] for names, v in zip(order, target, strict=True))
        if place < 0:
            assert shown == tuple(tree.root for tree in problem.trees)
        else:
            assert {tuple(row) for row in table.loc[rows].to_numpy().tolist()} == {shown}
            assert recoding.nodes[place].tolist() == target


# --- Curves -------------------------------------------------------------------------------------
def check_curves(problem: random_tables.Problem, path, k_max: int) -> None:
    curves = measure_curves(path, [METRICS[name] for name in random_tables.SEVEN])
    for k in range(1, k_max + 1):
        row = curves.row(k)
        expected = measure_release(path.at(k), [METRICS[name] for name in random_tables.SEVEN])
        assert curves.min_k[row] == expected["min_k"]
        assert curves.n_classes[row] == expected["classes"]
        for name in random_tables.SEVEN:
            assert curves.alteration[name][row] == pytest.approx(
                expected["alteration"][name], rel=1e-9, abs=1e-9
            )
        for name in ("generalised", "at_root", "deleted_among_modified"):
            key = {"at_root": "root_percent"}.get(name, f"{name}_percent")
            assert getattr(curves, name)[row] == pytest.approx(expected[key], abs=1e-9)


@random_tables.examples(60)
@given(random_tables.problems(max_records=16), st.data())
def test_curves_of_a_path_that_ends_early_reach_its_end(problem, data):
    chosen = data.draw(random_tables.algorithms(problem))
    k_max = data.draw(st.integers(1, len(problem.rows)))
    check_curves(problem, path_of(problem, chosen, k_max), k_max)


@random_tables.examples(60)
@given(random_tables.problems(max_records=16))
def test_curves_have_one_row_per_release(problem):
    curves = measure_curves(
        path_of(problem, {"metric": "ncp", "cost": "weighted", "tie_seed": None},
                len(problem.rows)), [METRICS["ncp"]]
    )  # fmt: skip
    assert (np.diff(curves.min_k) > 0).all()
    assert (np.diff(curves.n_classes) < 0).all()
    assert (np.diff(curves.alteration["ncp"]) >= -1e-9).all()
    assert curves.min_k[-1] == len(problem.rows)


# --- Comparing ----------------------------------------------------------------------------------
@random_tables.examples(150)
@given(st.lists(st.integers(0, 40).map(lambda n: n / 4), max_size=9), st.none() | st.just(0))
def test_ranks_count_those_that_are_better(values, digits):
    compared = values if digits is None else [round(value) for value in values]
    assert rank_values(values, digits) == [
        1 + sum(x < value for x in compared) for value in compared
    ]


def test_ranks_of_the_published_row():
    """Distortion at k = 2 in the paper of 2020: ties share the smaller place."""
    assert rank_values([2, 2, 3, 5, 2, 4, 2]) == [1, 1, 5, 7, 1, 6, 1]
    assert rank_values([2.04, 2.01, 3, 5, 2.4, 4, 1.6]) == [3, 2, 5, 7, 4, 6, 1]
    assert rank_values([2.04, 2.01, 3, 5, 2.4, 4, 1.6], digits=0) == [1, 1, 5, 7, 1, 6, 1]


@random_tables.examples(150)
@given(st.lists(st.tuples(st.integers(2, 60), st.floats(0, 100)), min_size=2, max_size=9,
                unique_by=lambda point: point[0]), st.data())  # fmt: skip
def test_nauc_is_the_mean_height_of_the_curve(points, data):
    points.sort()
    low, high = sorted(
        data.draw(st.lists(st.sampled_from(points), min_size=2, max_size=2, unique=True))
    )
    area = 0.0
    for (k, value), (after, following) in pairwise(points):
        if low[0] <= k and after <= high[0]:
            area += (after - k) * (value + following) / 2
    found = nauc(*zip(*points, strict=True), low=low[0], high=high[0], n_records=60)
    assert found == pytest.approx(area / (high[0] - low[0]))


@pytest.mark.parametrize(
    ("low", "high", "n_records", "said"),
    [
        (3, 20, 19, ["k = 20", "19 records"]),
        (10, 10, 99, ["from 10 to 10 is empty"]),
        (20, 3, 99, ["from 20 to 3 is empty"]),
        (4, 20, 99, ["both ends, k = 4 and k = 20"]),
        (3, 15, 99, ["both ends, k = 3 and k = 15"]),
    ],
)
def test_nauc_refuses_what_it_cannot_know(low, high, n_records, said):
    with pytest.raises(PlanError) as caught:
        nauc([3, 5, 10, 20], [0, 1, 2, 3], low, high, n_records)
    assert all(part in caught.value.sentence for part in said)


# --- Cards, and the model that every release is held against ------------------------------------
def test_every_measure_has_a_card_and_a_value():
    found = parts_of(measures)
    assert set(found) >= {"alteration", "min_k", *COUNTED}
    for name, module in found.items():
        card = module.CARD
        assert (card.name, callable(module.value)) == (name, True)
        assert card.title and card.summary and card.source and card.unit
        assert card.arrow == {"lower": "↓ better", "higher": "↑ better"}[card.direction]


@pytest.mark.parametrize("k", [1, 0, -2, 2.0, True, "2", None])
def test_k_is_a_whole_number_of_at_least_2(k):
    for check in (check_k, KAnonymity):
        with pytest.raises(PlanError, match="at least 2"):
            check(k)


def test_a_heavy_edge_above_a_value_that_does_not_occur_changes_nothing():
    """Costs are whole numbers scaled by what occurs; else the absent value rounds all away."""
    light = {"a": 0.001, "b": 0.002}
    heavy = random_tables.PlainTree(
        {"*": None, "a": "*", "b": "*", "never": "*"}, {**light, "never": 1e15}
    )
    without = random_tables.PlainTree({"*": None, "a": "*", "b": "*"}, light)
    rows = tuple((value,) for value in ["a"] * 3 + ["b"] * 2)
    found = []
    for tree in (heavy, without):
        problem = random_tables.Problem((tree,), rows)
        plan = Plan.from_content(problem.plan(k=4, metric="custom"))
        done = run(plan, problem.frame())
        found.append(done.measures["alteration"]["custom"])
        path = run_algorithm(
            lambda part, text: None, "gaa", done.prepared.task(), [METRICS["custom"]]
        )
        assert path.curves.at([4])["alteration_custom"][0] == found[-1]
    assert found == [100, 100]
