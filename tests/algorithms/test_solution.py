"""Solutions for single k, and what is joined of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms.solution import join_solutions, run_algorithm, solve_one_k
from kanon.base.progress import ignore_progress
from kanon.measures.along import join_points, measure_points
from kanon.metrics import metric_named
from kanon.plan import Plan
from kanon.run import prepare, run
from support.people_plans import PEOPLE, plan_with
from support.random_tables import examples

NCP = [metric_named("ncp")]
LIMITED = [{"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "l": 2}]


def prepared_for(name, **keys):
    return prepare(Plan.from_content(plan_with(algorithm={"name": name}, **keys)), PEOPLE)


def solved(name, k, path=None, **keys):
    return solve_one_k(ignore_progress, name, prepared_for(name, **keys).task(), k, NCP, path)


@pytest.mark.nightly
@examples(40)
@given(st.sets(st.integers(2, 6), min_size=1), st.sets(st.integers(2, 6), min_size=1))
def test_joined_points_are_those_of_all_k_measured_at_once(some, others):
    recodings = {k: solved("datafly", k).recoding for k in some | others}  # may suppress
    first, second, whole = (
        measure_points({k: recodings[k] for k in sorted(ks)}, NCP)
        for ks in (some, others, some | others)
    )
    joined = join_points(first, second)
    for mine, theirs in ((joined.numbers, whole.numbers), (joined.further, whole.further)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], name)
    np.testing.assert_array_equal(joined.class_sizes, whole.class_sizes)
    ks = sorted(some | others)
    assert joined.get_suppressed(ks).tolist() == whole.get_suppressed(ks).tolist()


def test_one_k_is_that_of_a_run_for_it():
    for name in ("mondrian", "gaa-small"):
        known = solved(name, 2)
        for k in (5, 3):
            known = join_solutions(known, solved(name, k))
        assert known.known == (2, 3, 5)
        for k in known.known:
            alone = run(prepared_for(name).plan.with_k(k), PEOPLE)
            assert np.array_equal(known.at(k).targets, alone.recoding.targets)
            (loss,) = known.curves.at([k])["alteration_ncp"]
            assert loss == alone.measures["alteration"]["ncp"]


def test_one_k_of_a_path_is_finished_for_the_models():
    prepared = prepared_for("gaa", privacy=LIMITED)
    path = run_algorithm(ignore_progress, "gaa", prepared.task(), NCP).path
    solution = solved("gaa", 3, path, privacy=LIMITED)
    alone = run(prepared.plan.with_k(3), PEOPLE)
    assert np.array_equal(solution.at(3).targets, alone.recoding.targets)


def test_a_solution_for_every_k_needs_no_other():
    every = run_algorithm(ignore_progress, "gaa", prepared_for("gaa").task(), NCP)
    assert join_solutions(every, solved("mondrian", 2)) is every
