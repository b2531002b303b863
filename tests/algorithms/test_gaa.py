"""Greedy merging against a slow, obvious version of itself, and the laws of every release."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa, gaa_small
from kanon.errors import Unsatisfiable
from kanon.reference import merging as reference
from support.random_tables import Problem, examples
from support.reference_tables import Merged, cases, reference_table, result, scaled, task, worked


# --- Equal to the reference ---------------------------------------------------------------------
def plain_release(problem: Problem, chosen: dict, k: int, merge=reference.gaa) -> dict:
    """Per class its tuple by the reference."""
    how = chosen["cost"] == "weighted", chosen["tie_seed"]
    table = reference_table(problem, scaled(problem, chosen), k, *how)
    return Merged(problem, table.originals, list(merge(table))).at


@examples(300)
@given(cases(), st.data())
def test_gaa_equals_the_reference(case, data):
    problem, chosen = case
    n = len(problem.rows)
    path = gaa.merge_path(task(problem, chosen, n))
    for k in data.draw(st.sets(st.integers(1, n), min_size=1, max_size=4)):
        assert result(problem, path.at(k)) == plain_release(problem, chosen, k)


@examples(200)
@given(cases(), st.data())
def test_gaa_small_equals_the_reference(case, data):
    problem, chosen = case
    for k in data.draw(st.sets(st.integers(1, len(problem.rows)), min_size=1, max_size=3)):
        found = result(problem, gaa_small.anonymise(task(problem, chosen, k)))
        assert found == plain_release(problem, chosen, k, reference.gaa_small)


# --- The worked table of greedy.md --------------------------------------------------------------
@pytest.mark.parametrize("cost", ["weighted", "representatives"])
def test_the_worked_table(cost):
    problem = worked()
    chosen = {"metric": "custom", "cost": cost, "tie_seed": None}
    expected = {
        ("F", "Lion"): ("F", "Mammal"),
        ("F", "Dog"): ("F", "Mammal"),
        ("M", "Cat"): ("M", "Felid"),
        ("M", "Lion"): ("M", "Felid"),
    }
    for k in (3, 4):
        assert result(problem, gaa.anonymise(task(problem, chosen, k))) == expected
    alone = gaa.anonymise(task(problem, chosen, 2))
    assert alone.counts.tolist() == [2, 2, 2, 2]
    assert result(problem, alone) == {labels: labels for labels in problem.sizes}
    for k in (5, 8):
        everything = gaa.anonymise(task(problem, chosen, k))
        assert set(result(problem, everything).values()) == {("*", "Mammal")}


# --- Laws ---------------------------------------------------------------------------------------
@examples(60)
@given(cases())
def test_the_path_tells_when_the_release_changes(case):
    """``smallest`` never falls, and a release's minimum k is one of ``distinct_k``."""
    problem, chosen = case
    n = len(problem.rows)
    path = gaa.merge_path(task(problem, chosen, n))
    assert (np.diff(path.smallest) >= 0).all()
    reached = []
    for k in range(1, n + 1):
        counted = Counter()
        for labels, target in result(problem, path.at(k)).items():
            counted[target] += problem.sizes[labels]
        reached.append(min(counted.values()))
        assert reached[-1] == path.at(k).min_k
    assert path.distinct_k.tolist() == sorted(set(reached))


@examples(60)
@given(cases(), st.data())
def test_a_path_that_ends_early_knows_every_release_up_to_its_end(case, data):
    problem, chosen = case
    k_max = data.draw(st.integers(1, len(problem.rows)))
    path = gaa.merge_path(task(problem, chosen, k_max))
    reached = {path.at(k).min_k for k in range(1, k_max + 1)}
    assert set(path.distinct_k.tolist()) == reached


# --- What cannot be done ------------------------------------------------------------------------
def test_a_path_refuses_a_k_beyond_its_end():
    one = task(worked(), {"metric": "ncp", "cost": "weighted", "tie_seed": None}, 3)
    path = gaa.merge_path(one)
    with pytest.raises(ValueError, match="ends at k = 3"):
        path.at(4)
    with pytest.raises(Unsatisfiable, match="8 records"):
        path.at(9)
