"""KACA: merges by hand, against its definition; the laws stand in test_clustering."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.plans import adult_task
from kanon.algorithms import gaa, kaca
from kanon.algorithms.task import Task
from oracles import plain_clustering
from support.random_tables import examples
from support.reference_tables import result


# --- By hand ------------------------------------------------------------------------------------
def merges(task: Task) -> list[str]:
    """The merges in their order: the class drawn, the nearest, and a third one if there is one."""
    work, made = kaca.merged(task)
    labels = task.classes.hierarchies[0].labels
    return [
        " ".join(labels[work.nodes[part, 0]] for part in parts if part >= 0)
        for parts in work.parts[:made]
    ]


@pytest.mark.parametrize(
    ("draws", "expected", "release"),
    [
        # Of a, b, c, d comes a: b costs 1 + 2 * 1, c as much, b is first. Their class A holds 3;
        # of c and d comes c: A is 2 * 1 away. d is left: A, of 5 by now, 2 * 6 + 5 * 3.
        ([(0, 4), (0, 2), (0, 1)], ["a b", "c A", "d A"], "a:* b:* c:* d:*"),
        # The same, but d comes before c: c costs 2 * 6 + 2 * 4 = 20, A 2 * 6 + 3 * 3 = 21.
        ([(0, 4), (1, 2)], ["a b", "d c"], "a:A b:A c:* d:*"),
        # c comes: a costs 2 * 1 + 1, b 2 * 1 + 2 * 1. Then d: b costs 20, the class of c and a 21.
        ([(2, 4), (1, 2)], ["c a", "d b"], "a:A b:* c:A d:*"),
        # d comes: a costs 2 * 6 + 1 * 4 = 16, b and c 20. Then c: b costs 4, the root 2 * 4.
        ([(3, 4), (1, 2)], ["d a", "c b"], "a:* b:A c:A d:*"),
    ],
)
def test_the_worked_table(draws, expected, release):
    """Unlike in greedy merging, a larger class may be drawn before a smaller one."""
    problem, depths = plain_clustering.worked_table()
    task = Task(problem.classes(), depths, 3, seed=plain_clustering.seed_that_draws(*draws))
    assert merges(task) == expected
    found = kaca.anonymise(task)
    assert plain_clustering.told(problem, found) == release
    assert found.trace.steps == len(expected)
    assert found.trace.evaluated == 0


# --- Equal to the definition --------------------------------------------------------------------
@examples(200)
@given(plain_clustering.cases(max_records=14), st.none() | st.integers(0, 9))
def test_it_equals_the_slow_version(case, tie_seed):
    problem, chosen, k, seed = case
    chosen = {**chosen, "tie_seed": tie_seed}
    merged = plain_clustering.plain(problem, chosen, k, seed).kaca()
    expected = merged.merges
    task = plain_clustering.task_of(problem, chosen, k, seed)
    work, made = kaca.merged(task)
    parts = [tuple(tuple(work.nodes[x]) if x >= 0 else None for x in y) for y in work.parts[:made]]
    assert parts == [tuple(x and problem.numbers(x) for x in each) for each in expected]
    found = kaca.anonymise(task)
    assert result(problem, found) == merged.at
    assert found.trace.steps == len(expected)


def test_a_hundred_tuples_equal_the_slow_version():
    problem, chosen = plain_clustering.many_tuples()
    parts: list[float] = []
    task = plain_clustering.task_of(problem, chosen, 30, 5)
    found = kaca.anonymise(task, lambda part, text: parts.append(part))
    assert result(problem, found) == plain_clustering.plain(problem, chosen, 30, 5).kaca().at
    assert len(parts) > 1
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] <= 1


@pytest.mark.nightly
@pytest.mark.adult
@pytest.mark.usefixtures("adult_path")
def test_adult_holds_k_and_loses_less_than_greedy_merging():
    """19 502 tuples, k = 10."""
    task = adult_task("nllm")
    task = Task(task.classes, task.potentials, 10)
    parts: list[float] = []
    found = kaca.anonymise(task, lambda part, text: parts.append(part))
    assert found.min_k == 10
    assert len(parts) > 50
    assert plain_clustering.loss_by_task(task, found) < plain_clustering.loss_by_task(
        task, gaa.anonymise(task)
    )
