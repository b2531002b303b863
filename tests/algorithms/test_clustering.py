"""What holds for all that put classes together: the laws of every release, and the ends."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms import gaa, gaa_small, k_member, kaca, lattice_sweep, oka
from kanon.algorithms.task import Task
from oracles import plain_clustering
from support.random_tables import PlainTree, Problem, examples

pytestmark = pytest.mark.parametrize(
    "module",
    [gaa, gaa_small, k_member, kaca, lattice_sweep, oka],
    ids=lambda module: module.CARD.name,
)


# --- Laws ---------------------------------------------------------------------------------------
@examples(60)
@given(case=plain_clustering.cases(max_records=12))
def test_every_release_is_k_anonymous_and_only_moves_up(module, case):
    problem, chosen, k, seed = case
    plain_clustering.check_release(
        problem, k, module.anonymise(plain_clustering.task_of(problem, chosen, k, seed))
    )


@examples(40)
@given(case=plain_clustering.cases(max_records=12))
def test_nothing_that_is_handed_over_is_changed_and_a_seed_repeats_the_run(module, case):
    problem, chosen, k, seed = case
    plain_clustering.check_nothing_changes(
        module, plain_clustering.task_of(problem, chosen, k, seed)
    )


@examples(40)
@given(case=plain_clustering.cases(max_records=12, max_nodes=6))
def test_it_is_never_better_than_the_best_partition(module, case):
    problem, chosen, k, seed = case
    assume(len(problem.sizes) <= 6)
    slow = plain_clustering.plain(problem, chosen, k)
    found = module.anonymise(plain_clustering.task_of(problem, chosen, k, seed))
    assert plain_clustering.loss_of(slow, found) >= plain_clustering.least_loss(slow)


@pytest.mark.sampled(4)
@examples(30)
@given(case=plain_clustering.cases(max_records=12), data=st.data())
def test_other_models_hold_too(module, case, data):
    problem, _, k, _ = case
    assume(k > 1 and any(tree.height > 1 for tree in problem.trees))
    half = [("ache", "cold")[i % 2] for i in range(len(problem.rows))]
    plain_clustering.check_other_models(
        module.CARD.name, problem, k, data.draw(st.permutations(half))
    )


# --- The ends -----------------------------------------------------------------------------------
def test_one_record_each_is_the_table_itself(module):
    problem, depths = plain_clustering.worked_table()
    found = module.anonymise(Task(problem.classes(), depths, 1))
    assert plain_clustering.told(problem, found) == "a:a b:b c:c d:d"


def test_all_records_in_one_class(module):
    problem, depths = plain_clustering.worked_table()
    found = module.anonymise(Task(problem.classes(), depths, 7))
    assert plain_clustering.told(problem, found) == "a:* b:* c:* d:*"


def test_hierarchies_of_one_node_cost_nothing(module):
    problem = Problem((PlainTree({"x": None}), PlainTree({"y": None})), (("x", "y"),) * 3)
    chosen = {"metric": "ncp", "cost": "weighted", "tie_seed": None}
    assert module.anonymise(plain_clustering.task_of(problem, chosen, 2)).counts.tolist() == [3]
