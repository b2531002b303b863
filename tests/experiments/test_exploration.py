"""The lattice as a whole, against every node written out by hand."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import kanon.experiments.exploration
from kanon.algorithms import datafly, improved_greedy, mingen, optimal, samarati
from kanon.algorithms.lattice_size import count_nodes_per_height
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.errors import PlanError, Unsatisfiable
from kanon.experiments import exploration
from kanon.measures import alteration
from kanon.measures.cells import scale_metric_potentials
from kanon.metrics import metric_named
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.recoding import Recoding
from kanon.run import prepare
from kanon.studio.session.run_plan import build_plan
from kanon.studio.session.table_loading import open_sample
from support.random_tables import PlainTree, Problem, examples, problems, raised
from support.works import with_fields

NCP = metric_named("ncp")


def task_of(problem: Problem, k: int = 2, limit: int | None = None) -> Task:
    classes = problem.classes()
    return Task(classes, scale_metric_potentials(classes, NCP), k, suppression=limit)


def every_node(problem: Problem):
    tops = [tree.height - 1 for tree in problem.trees]
    return list(itertools.product(*(range(top + 1) for top in tops)))


def sizes_at(problem: Problem, node) -> Counter:
    """The classes at a node, counted record by record."""
    return Counter(
        tuple(raised(*each) for each in zip(problem.trees, row, node, strict=True))
        for row in problem.rows
    )


def reached_at(sizes: list[int], limit: int) -> int:
    """The largest k with at most so many records in smaller classes, one k after the other."""
    n = sum(sizes)
    return max(k for k in range(1, n + 1) if sum(s for s in sizes if s < k) <= limit)


def found_by_hand(problem: Problem, k: int, limit: int) -> dict:
    """Per node the records suppressed, the classes, and the k reached."""
    found = {}
    for node in every_node(problem):
        sizes = list(sizes_at(problem, node).values())
        kept = [size for size in sizes if size >= k]
        found[node] = sum(sizes) - sum(kept), len(kept), reached_at(sizes, limit)
    return found


def at_or_below(low, high) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))


def tuples(nodes: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(node) for node in nodes.tolist()]


cases = problems(max_records=12, max_nodes=7)
ks = some.integers(1, 5)
limits = some.none() | some.integers(0, 4)


# --- every node -------------------------------------------------------------------------------
def test_two_generalisations_may_be_minimal_and_mingen_takes_the_more_precise():
    """Figure 2.5 of de Spoelberch's report: names up to their root, or both columns once.

    Prec: 1 - (2/2 + 0/1) / 2 = 1/2 against 1 - (1/2 + 1/1) / 2 = 1/4.
    """
    names = PlainTree(
        {"*": None, "John M.": "*", "Timothy J.": "*", "JM 1": "John M.", "JM 2": "John M.",
         "TJ 1": "Timothy J.", "TJ 2": "Timothy J."}
    )  # fmt: skip
    ages = PlainTree({"[20-40]": None, "21": "[20-40]", "36": "[20-40]"})
    rows = (("JM 1", "21"), ("TJ 1", "21"), ("JM 2", "36"), ("TJ 2", "36"))
    task = task_of(Problem((names, ages), rows), limit=0)
    explored = exploration.measure_lattice(ignore_progress, task)
    assert sorted(explored.minimal) == [(1, 1), (2, 0)]
    assert mingen.anonymise(task).trace.node == (2, 0)


@given(problem=cases, k=ks, limit=limits)
@examples(60)
def test_every_node_is_what_it_is_by_hand(problem, k, limit):
    k = min(k, len(problem.rows))
    explored = exploration.measure_lattice(ignore_progress, task_of(problem, k, limit))
    found, by_hand = explored.assessment, found_by_hand(problem, k, limit or 0)
    assert explored.complete
    assert tuples(found.nodes) == sorted(by_hand)
    numbers = zip(found.suppressed, found.classes, found.reached, strict=True)
    assert [tuple(map(int, each)) for each in numbers] == [
        by_hand[node] for node in sorted(by_hand)
    ]


@given(problem=cases, k=ks, limit=limits)
@examples(40)
def test_the_loss_of_a_node_is_the_alteration_of_its_release(problem, k, limit):
    k = min(k, len(problem.rows))
    task = task_of(problem, k, limit)
    found = exploration.measure_lattice(ignore_progress, task).assessment
    for place, node in enumerate(tuples(found.nodes)):
        targets = [
            problem.numbers(
                [raised(*each) for each in zip(problem.trees, labels, node, strict=True)]
            )
            for labels in problem.sizes
        ]
        whole = Recoding.from_targets(task.classes, np.array(targets, dtype=np.int32))
        gone = (whole.counts < k)[whole.assigned]
        release = Recoding.from_targets(task.classes, np.array(targets, dtype=np.int32), gone)
        assert found.loss_suppressed[place] == alteration.value(release, NCP)
        satisfies = task.classes.counts[gone].sum() <= (limit or 0)
        assert found.loss[place] == alteration.value(release if satisfies else whole, NCP)


@given(problem=cases, k=ks, limit=limits)
@examples(60)
def test_minimal_nodes_are_those_with_none_below(problem, k, limit):
    k = min(k, len(problem.rows))
    explored = exploration.measure_lattice(ignore_progress, task_of(problem, k, limit))
    by_hand = found_by_hand(problem, k, limit or 0)
    satisfying = [node for node, (gone, _, _) in by_hand.items() if gone <= (limit or 0)]
    minimal = [
        node for node in satisfying
        if not any(at_or_below(other, node) and other != node for other in satisfying)
    ]  # fmt: skip
    assert list(explored.minimal) == sorted(minimal)
    assert explored.assessment.satisfying.sum() == len(satisfying)


@given(problem=cases, k=ks, limit=limits)
@examples(60)
def test_the_node_of_least_loss_is_that_of_the_optimal_search(problem, k, limit):
    k = min(k, len(problem.rows))
    task = task_of(problem, k, limit)
    explored = exploration.measure_lattice(ignore_progress, task)
    assert explored.least == optimal.anonymise(task).trace.node
    found = explored.assessment
    assert found.cost[found.places[explored.least]] == found.cost[found.satisfying].min()


def precision(problem: Problem, node) -> Fraction:
    """The share of levels lost, summed over cells, for all records raised to a node."""
    total = Fraction(0)
    for row in problem.rows:
        for tree, value, level in zip(problem.trees, row, node, strict=True):
            if tree.height > 1:
                gone = tree.level[raised(tree, value, level)] - tree.level[value]
                total += Fraction(gone, tree.height - 1)
    return total


@given(problem=cases, k=ks)
@examples(60)
def test_mingen_takes_one_of_the_tied_nodes(problem, k):
    k = min(k, len(problem.rows))
    task = task_of(problem, k)
    explored = exploration.measure_lattice(ignore_progress, task)
    lost = {node: precision(problem, node) for node in explored.minimal}
    assert set(explored.mingen_nodes) == {node for node in lost if lost[node] == min(lost.values())}
    assert mingen.anonymise(task).trace.node in explored.mingen_nodes
    for node in explored.mingen_nodes:
        assert mingen.anonymise(replace(task, node=node)).trace.node == node


def test_with_suppression_mingen_takes_none():
    task = task_of(PATIENTS, 2, limit=2)
    assert exploration.measure_lattice(ignore_progress, task).mingen_nodes == ()


# --- the walks --------------------------------------------------------------------------------
AGE = PlainTree({"*": None, "2x": "*", "3x": "*", "21": "2x", "22": "2x", "31": "3x", "35": "3x"})
SEX = PlainTree({"*": None, "F": "*", "M": "*"})
PATIENTS = Problem(
    (AGE, SEX), (("21", "F"), ("21", "M"), ("22", "F"), ("31", "M"), ("31", "F"), ("35", "M"))
)


def test_the_walks_on_a_table_by_hand():
    """Six patients, k = 2: from (0, 0), with six classes of one record each.

    Datafly may suppress two records; age has four values, then two, as sex has: age goes first.
    Raising age gives the classes 2x F (2), 2x M (1), 3x M (2), 3x F (1): two records are left.
    Improved greedy reaches k = 1 by either step; age has more values. Then k = 3 by sex, at (1, 1),
    and 3 by age, at (2, 0): both columns have two values, and the first is raised.
    Samarati tries height 1 (no), then 2, where (0, 2) does not exist, (1, 1) and (2, 0) satisfy.
    """
    explored = exploration.measure_lattice(ignore_progress, task_of(PATIENTS, 2))
    by_name = {walk.algorithm: walk for walk in explored.walks}
    steps = [(s.node, s.raised, s.distinct, s.suppressed) for s in by_name["datafly"].steps]
    assert steps == [((0, 0), None, 0, 6), ((1, 0), 0, 4, 2)]
    assert by_name["datafly"].limit == 2
    greedy = [(s.node, s.raised, s.distinct, s.reached) for s in by_name["improved-greedy"].steps]
    assert greedy == [((0, 0), None, 0, 1), ((1, 0), 0, 4, 1), ((2, 0), 0, 2, 3)]
    jumps = [(s.node, s.raised, s.suppressed) for s in by_name["samarati"].steps]
    assert jumps[0] == ((1, 0), None, 2)
    assert sum(jumps[-1][0]) == 2 and jumps[-1][2] == 0
    assert not by_name["samarati"].climbs and by_name["samarati"].first == 1


@given(problem=cases, k=ks, limit=limits)
@examples(40)
def test_walks_are_those_of_the_algorithms(problem, k, limit):
    k = min(k, len(problem.rows))
    task = task_of(problem, k, limit)
    explored = exploration.measure_lattice(ignore_progress, task)
    for module, walk in zip((datafly, samarati, improved_greedy), explored.walks, strict=True):
        trace = module.anonymise(task).trace
        assert walk.algorithm == module.CARD.name
        assert tuple(step.node for step in walk.steps) == trace.walk
        assert walk.evaluated == trace.evaluated
        by_hand = found_by_hand(problem, k, walk.limit)
        for before, step in itertools.pairwise(walk.steps):
            assert (step.suppressed, step.reached) == by_hand[step.node][::2]
            if step.raised is not None:
                j = step.raised
                column = [raised(problem.trees[j], row[j], before.node[j]) for row in problem.rows]
                assert step.distinct == len(set(column))
                assert step.node[j] == before.node[j] + 1
        assert walk.steps[-1].suppressed <= walk.limit


def test_a_walk_up_to_a_step():
    explored = exploration.measure_lattice(ignore_progress, task_of(PATIENTS, 2))
    climb, jump = explored.walk("improved-greedy"), explored.walk("samarati")
    assert [len(climb.get_steps_until(step)) for step in (0, 1, 2, 9, None)] == [1, 2, 3, 3, 3]
    assert [len(jump.get_steps_until(step)) for step in (0, 1, 2)] == [0, 1, 2]
    assert climb.last == 2 and jump.last == len(jump.steps)


# --- large lattices ---------------------------------------------------------------------------
@given(problem=cases, k=ks, limit=limits)
@examples(40)
def test_of_a_large_lattice_the_walks_and_the_least_are_the_same(problem, k, limit):
    k = min(k, len(problem.rows))
    task = task_of(problem, k, limit)
    whole = exploration.measure_lattice(ignore_progress, task)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kanon.experiments.exploration, "MOST_COUNTED_NODES", 0)
        part = exploration.measure_lattice(ignore_progress, task)
        patch.setattr(kanon.experiments.exploration, "_MOST_SEARCHED", 0)
        unsearched = exploration.measure_lattice(ignore_progress, task)
    assert not part.complete and part.minimal == part.mingen_nodes == ()
    assert part.satisfying_per_height is None
    assert part.least == whole.least
    assert unsearched.least is None
    for name in ("datafly", "improved-greedy"):
        assert part.walk(name) == whole.walk(name)
    assert (
        part.walk("samarati").steps == ()
        and "all nodes at a height" in part.walk("samarati").problem
    )
    walked = {step.node for walk in part.walks for step in walk.steps}
    assert set(part.assessment.places) == walked
    same = whole.assessment.only(walked)
    for field in ("nodes", "suppressed", "classes", "reached", "cost"):
        assert np.array_equal(getattr(same, field), getattr(part.assessment, field))


def test_an_outline_is_the_shape_alone():
    task = task_of(PATIENTS, 2)
    shape, whole = (
        exploration.create_outline(task),
        exploration.measure_lattice(ignore_progress, task),
    )
    assert (shape.size, shape.tops, shape.per_height) == (6, (2, 1), (1, 2, 2, 1))
    assert whole.per_height == shape.per_height
    assert len(shape.assessment.nodes) == 0 and not shape.complete


# --- shapes -----------------------------------------------------------------------------------
shapes = some.lists(some.integers(0, 3), min_size=1, max_size=4).map(tuple)


@given(tops=shapes)
@examples(60)
def test_ranks_number_the_nodes_of_each_height(tops):
    nodes = list(itertools.product(*(range(top + 1) for top in tops)))
    for height in range(sum(tops) + 1):
        row = [node for node in nodes if sum(node) == height]
        assert exploration.rank_nodes(tops, row) == list(range(len(row)))


@given(tops=shapes, steps=some.integers(0, 3), data=some.data())
@examples(60)
def test_a_neighbourhood_is_what_lies_straight_above_and_below(tops, steps, data):
    nodes = list(itertools.product(*(range(top + 1) for top in tops)))
    middle = data.draw(some.sampled_from(nodes))
    near = [
        node for node in nodes
        if (at_or_below(node, middle) or at_or_below(middle, node))
        and abs(sum(node) - sum(middle)) <= steps
    ]  # fmt: skip
    assert exploration.list_neighbours(tops, middle, steps) == near


def test_some_nodes_alone_are_what_they_are_among_all():
    task = task_of(PATIENTS, 2)
    whole = exploration.measure_lattice(ignore_progress, task).assessment
    some_nodes = [(2, 0), (0, 0)]
    found = exploration.measure_nodes(task, some_nodes)
    assert tuples(found.nodes) == [(0, 0), (2, 0)]
    assert found.loss.tolist() == whole.only(some_nodes).loss.tolist()


# --- what cannot be ---------------------------------------------------------------------------
def test_more_records_than_there_are_cannot_be_alike():
    with pytest.raises(Unsatisfiable, match="6 records"):
        exploration.measure_lattice(ignore_progress, task_of(PATIENTS, 7))


def hospital(**changes) -> Task:
    work = with_fields(open_sample("hospital"), algorithm="optimal", **changes)
    return prepare(build_plan(work), work.table.records).task()


def test_other_models_and_suppression_do_not_go_together():
    model = DistinctLDiversity(2, "disease")
    with pytest.raises(PlanError, match="suppress"):
        exploration.measure_lattice(ignore_progress, hospital(models=(model,), suppression=0.2))
    explored = exploration.measure_lattice(ignore_progress, hospital(models=(model,)))
    plain = exploration.measure_lattice(ignore_progress, hospital())
    assert explored.others == 1 and plain.others == 0
    assert (explored.assessment.satisfying <= plain.assessment.satisfying).all()
    assert explored.assessment.satisfying.sum() < plain.assessment.satisfying.sum()


def test_progress_rises_to_the_end():
    told = []
    exploration.measure_lattice(lambda part, text: told.append(part), hospital())
    assert told[-1] == 1.0 and all(0 <= part <= 1 for part in told)


@pytest.mark.nightly
def test_the_census_is_explored_as_a_whole():
    work = open_sample("census")
    task = prepare(build_plan(work), work.table.records).task()
    explored: exploration.Exploration = exploration.measure_lattice(ignore_progress, task)
    assert explored.size == len(explored.assessment.nodes) == 1080
    assert list(explored.per_height) == count_nodes_per_height(task.classes.hierarchies)
    assert explored.least in explored.minimal  # nothing is suppressed: loss rises with levels
