"""Equal costs are equal: what exact fractions choose, where costs fit 64 bits and where not."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.plans import adult_task
from kanon.algorithms import (
    flash,
    gaa,
    incognito,
    k_member,
    kaca,
    lattice_sweep,
    mingen,
    oka,
    ola,
    optimal,
    samarati,
)  # fmt: skip
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.partitioned_merging import split_classes
from kanon.algorithms.task import Task
from kanon.hierarchy import scaled_potentials
from kanon.hierarchy.scaled_potentials import convert_to_potentials
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import run
from kanon.strategies import SCOPES, STRATEGIES
from oracles import plain_lattice
from oracles.plain_clustering import Plain, clusters_of
from oracles.plain_lattice import PlainLattice
from oracles.plain_lattice_sweep import swept
from oracles.plain_scan import scan
from support.plans import plan_content
from support.random_tables import (
    COMPOSED,
    SEVEN,
    PlainTree,
    Problem,
    edge_weights,
    examples,
    metric_of,
    path_cost,
)  # fmt: skip
from support.random_tables import problems as any_problems
from support.recodings import same_path
from support.reference_tables import Greedy, exact_depths, result
from support.strategy_tables import merges_of, task_of

# Thirds and halves, and heights that are equal: so ties are frequent, and roundings differ.
THREE = PlainTree({"*": None, "a": "*", "b": "*", "c": "*"})
TWO = PlainTree({"*": None, "x": "*", "y": "*"})
HIGH = PlainTree({"*": None, "A": "*", "B": "*", "a": "A", "b": "A", "c": "A", "d": "B", "e": "B"})
DEEP = PlainTree({"*": None, "P": "*", "Q": "P", "r": "*", "p": "Q", "q": "Q", "s": "P"})
FORESTS = [(THREE, TWO), (HIGH, THREE, TWO), (DEEP, HIGH), (HIGH, HIGH, THREE), (DEEP, THREE, TWO)]
BOTH = [(strategy, scope) for strategy in STRATEGIES for scope in SCOPES]
FITS = pytest.mark.parametrize("fits", [2**62, 2**25, 2**12], ids=["exact", "rounded", "coarse"])
"""Below what costs have to stay to be whole numbers; 2^62 in earnest."""


@st.composite
def problems(draw, max_records: int = 10) -> Problem:
    trees = draw(st.sampled_from(FORESTS))
    cells = [st.sampled_from([*tree.leaves, *tree.leaves, *tree.parents]) for tree in trees]
    rows = draw(st.lists(st.tuples(*cells), min_size=3, max_size=max_records))
    return Problem(tuple(tree for tree in trees), tuple(rows))


CHOICES = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(SEVEN + COMPOSED),
        "cost": st.sampled_from(["weighted", "representatives"]),
        "tie_seed": st.none() | st.integers(0, 9),
    }
)


@contextmanager
def numbers_below(fits: int) -> Iterator[None]:
    """Let whole numbers be rounded where they are not below a limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaled_potentials, "_FITS", fits)
        patch.setattr(scaled_potentials, "_BITS_OF_DIGITS", min(61, fits.bit_length() - 2))
        yield


def per_cell(problem: Problem, metric: str):
    """What raising a cell costs, as a fraction."""
    weights = edge_weights(metric, problem.trees)
    return lambda j, low, high: path_cost(problem.trees[j], weights[j], low, high)


def per_record(problem: Problem, metric: str):
    cost = per_cell(problem, metric)
    return lambda low, high: sum(
        (cost(j, *cells) for j, cells in enumerate(zip(low, high, strict=True))), Fraction(0)
    )


def plain_task(problem: Problem, chosen: dict[str, Any], k: int, **more: Any) -> Task:
    classes = problem.classes()
    depths = scale_metric_potentials(classes, metric_of(chosen["metric"]))
    weighted = chosen.get("cost", "weighted") == "weighted"
    return Task(classes, depths, k, weighted, chosen.get("tie_seed"), **more)


# --- Merging, by every strategy -----------------------------------------------------------------
def check_merges(problem: Problem, values: list[str], strategy: str, scope: str, chosen) -> None:
    greedy = Greedy(
        problem, values, strategy, scope, chosen["cost"] == "weighted", chosen["tie_seed"],
        metric=chosen["metric"],
    )  # fmt: skip
    plain = greedy.merge(lambda rows: len(rows) < len(problem.rows))
    task = task_of(problem, values, strategy, scope, **chosen)
    assert merges_of(problem, gaa.merge_path(task)) == plain.merges, (strategy, scope)


def values_of(problem: Problem, data: st.DataObject) -> list[str]:
    return [data.draw(st.sampled_from("uvw")) for _ in problem.rows]


@FITS
@examples(120)
@given(problems(), CHOICES, st.sampled_from(BOTH), st.data())
def test_merges_are_those_of_exact_fractions(fits, problem, chosen, one, data):
    with numbers_below(fits):
        check_merges(problem, values_of(problem, data), *one, chosen)


@pytest.mark.nightly
@examples(1000)
@given(problems() | any_problems(max_records=12), CHOICES, st.sampled_from(BOTH), st.data())
def test_merges_of_a_thousand_tables_with_many_ties_and_of_any_trees(problem, chosen, one, data):
    check_merges(problem, values_of(problem, data), *one, chosen)


# --- Clusters -----------------------------------------------------------------------------------
@FITS
@pytest.mark.parametrize("algorithm", [k_member, oka, kaca], ids=lambda one: one.CARD.name)
@examples(60)
@given(problem=problems(16), chosen=CHOICES, seed=st.integers(0, 99), k=st.integers(2, 6))
def test_clusters_are_those_of_exact_fractions(fits, algorithm, problem, chosen, seed, k):
    k = min(k, len(problem.rows))
    weighted = chosen["cost"] == "weighted"
    plain = Plain(
        problem, exact_depths(problem, chosen["metric"]), k, weighted, seed, chosen["tie_seed"]
    )
    with numbers_below(fits):
        task = plain_task(problem, chosen, k, seed=seed)
        if algorithm is kaca:
            assert result(problem, kaca.anonymise(task)) == plain.kaca().at
        elif algorithm is oka:
            made, _ = oka.made_clusters(task)
            assert sorted(map(sorted, clusters_of(problem, made.of))) == sorted(
                map(sorted, plain.oka())
            )
        else:
            found = clusters_of(problem, k_member.made_clusters(task).of)
            assert found == list(map(set, plain.k_member()))


# --- The lattice --------------------------------------------------------------------------------
@FITS
@pytest.mark.parametrize(
    "algorithm", [optimal, incognito, ola, flash, samarati, mingen], ids=lambda one: one.CARD.name
)
@examples(40)
@given(problem=problems(14), chosen=CHOICES, data=st.data())
def test_nodes_are_those_of_exact_fractions(fits, algorithm, problem, chosen, data):
    k = data.draw(st.integers(1, len(problem.rows)))
    limit = 0 if algorithm is mingen else data.draw(st.integers(0, 4))
    cost = per_cell(problem, chosen["metric"])
    lattice = PlainLattice(problem, k, limit)
    if algorithm is samarati:
        node = plain_lattice.samarati(lattice, lambda one: lattice.cells(one, cost))
    elif algorithm is mingen:
        node = plain_lattice.mingen(lattice, None, lambda one: lattice.cells(one, cost))
    else:
        _, node = plain_lattice.exhaustive(lattice, lambda one: lattice.cells(one, cost))
    with numbers_below(fits):
        task = plain_task(problem, chosen, k, suppression=limit)
        assert algorithm.anonymise(task).trace.node == node


@FITS
@examples(60)
@given(problem=problems(16), chosen=CHOICES, k=st.integers(2, 6))
def test_a_sweep_is_that_of_exact_fractions(fits, problem, chosen, k):
    k = min(k, len(problem.rows))
    expected = swept(problem, exact_depths(problem, chosen["metric"]), k)
    with numbers_below(fits):
        found = lattice_sweep.anonymise(plain_task(problem, chosen, k))
    assert result(problem, found) == expected.at


# --- Where merging is parted, and where Mondrian cuts -------------------------------------------
@FITS
@examples(60)
@given(problem=problems(16), metric=st.sampled_from(SEVEN + COMPOSED))
def test_the_first_cut_of_parts_is_that_of_exact_fractions(fits, problem, metric):
    cost, tuples = per_cell(problem, metric), list(problem.sizes)
    best, where = Fraction(0), None
    for j, tree in enumerate(problem.trees):
        for node in tree.order[:-1]:
            below = [node in tree.paths[labels[j]] for labels in tuples]
            few = min(sum(below), len(below) - sum(below))
            if few and 4 * few >= len(below):
                above = tree.parents[node]
                expected = cost(j, node, above) * sum(below) * (len(below) - sum(below))
                if expected > best:
                    best, where = expected, below
    with numbers_below(fits):
        found = split_classes(
            problem.classes(), plain_task(problem, {"metric": metric}, 2).potentials, 2
        )
    assert (found > 0).tolist() == (where or [False] * len(tuples))


def test_spreads_of_decimals_that_are_equal_are_equal():
    """0.1 to 0.4 of 0.1 to 1.0, and 0 to 1 of 0 to 3, are a third each: the first column is cut."""
    assert (0.4 - 0.1) / (1.0 - 0.1) > 1 / 3
    content = plan_content(
        {name: {"role": "quasi-identifier"} for name in ("whole", "decimal")}, 2, "mondrian"
    )
    frame = pd.DataFrame({"whole": [0, 0, 1, 1, 3, 3], "decimal": [0.1, 0.4, 0.1, 0.4, 1.0, 1.0]})
    released = run(Plan.from_content(content), frame).released(order="table")
    assert released["whole"].astype(str).tolist() == ["0", "0", "1", "1", "3", "3"]


# --- A table by hand ----------------------------------------------------------------------------
ZIP = PlainTree(
    {
        "*": None, "47*": "*", "48*": "*", "470": "47*", "471": "47*", "480": "48*",
        "4701": "470", "4702": "470", "4711": "471", "4801": "480",
    }
)  # fmt: skip
CITY = PlainTree({"*": None, "N": "*", "S": "*", "n1": "N", "n2": "N", "s1": "S"})
SIX = (
    ("n1", "4701"), ("n1", "4702"), ("n1", "4702"), ("n2", "4701"), ("s1", "4801"), ("s1", "4801"),
)  # fmt: skip
ILLS = ["flu", "flu", "cold", "cold", "flu", "cold"]
APART = {("N", "4701"), ("n1", "4702"), ("s1", "4801")}


@pytest.mark.parametrize(
    ("strategy", "released"),
    [
        # (n1, 4701) and (n2, 4701) hold one record, and the first of them is taken. With
        # (n1, 4702), of two records, it pays 3 * 1/3: one level of three in the zip. With
        # (n2, 4701) it pays 2 * 1/2: one level of two in the city. Both are 1.
        # S1 takes the first in tree order, (n1, 4702); (n2, 4701) then joins what came of it.
        ("s1", {("N", "470"), ("s1", "4801")}),
        # After it the worst class of the table, (n2, 4701), has l = 1 and t = 1: cold alone, where
        # half of the table has it. With (n2, 4701) every class has one flu and one cold.
        ("s2", APART),
        ("s5", APART),
    ],
)
def test_six_records_and_two_partners_that_cost_the_same(strategy, released):
    problem = Problem((CITY, ZIP), SIX)
    cost = per_record(problem, "total")
    assert 3 * cost(("n1", "4701"), ("n1", "470")) == 2 * cost(("n1", "4701"), ("N", "4701")) == 1
    task = task_of(problem, ILLS, strategy, k=2, metric="total")
    assert set(result(problem, gaa.anonymise(task)).values()) == released


# --- Adult --------------------------------------------------------------------------------------
def exact_potentials_of(task: Task, metric: str) -> list[np.ndarray]:
    """The potentials of every node by the definition, times their least common denominator."""
    trees = [
        PlainTree(
            {str(v): None if v == tree.root else str(tree.parent[v]) for v in range(tree.n_nodes)}
        )
        for tree in task.classes.hierarchies
    ]
    depths = [
        [path_cost(tree, weights, str(v), tree.root) for v in range(len(tree.parents))]
        for tree, weights in zip(trees, edge_weights(metric, trees), strict=True)
    ]
    denominator = math.lcm(*(depth.denominator for each in depths for depth in each))
    largest = int(max(map(max, depths)) * denominator)
    assert largest * task.classes.n_records * len(depths) < 2**62
    return [np.array([int(depth * denominator) for depth in each]) for each in depths]


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.parametrize("metric", SEVEN)
def test_adult_is_merged_as_an_exact_scan_merges_it(adult_path, metric):
    task = replace(adult_task(metric), k=2_000)
    expected = scan(
        replace(task, potentials=convert_to_potentials(exact_potentials_of(task, metric)))
    )
    found = merge_greedily(task)
    assert same_path(found, expected)
    if metric == "nllm":  # as exact fractions that another hand wrote from the papers found it
        altered = [alteration.value(found.at(2_000), metric_named(one)) for one in SEVEN]
        assert sum(altered) / 7 == pytest.approx(68.56, abs=0.005)
