"""The lower bound, and the groups and prices that it comes from, against slow versions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import kanon.algorithms.distinct_groups as distinct_groups_module
import kanon.algorithms.lattice_sweep_walk as walk
import kanon.algorithms.prices as prices_module
from kanon.algorithms import lattice_sweep
from kanon.algorithms.distinct_groups import DistinctGroups, find_distinct_groups
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lower_bound import lower_bound
from kanon.algorithms.prices import Prices, compute_least_losses, find_good_prices
from kanon.algorithms.task import Task, own_potentials
from kanon.errors import PlanError, Unsatisfiable
from kanon.kernels.prices import weigh
from kanon.privacy.k_anonymity import KAnonymity
from oracles.plain_lattice_sweep import lattice, raised_tuple
from oracles.plain_least_loss import least, least_with_suppression
from support.random_tables import PlainTree, Problem, algorithms, examples, problems
from support.reference_tables import chosen_task, integer_cost


@st.composite
def cases(draw, **kwargs):
    problem = draw(problems(**kwargs))
    return problem, draw(algorithms(problem)), draw(st.integers(1, len(problem.rows)))


def square(rows: list[tuple[str, str]], k: int) -> Task:
    """A table of two columns whose values are alike but for their names."""
    parents = {"*": None, "ab": "*", "cd": "*", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
    problem = Problem((PlainTree(parents), PlainTree(parents)), tuple(rows))
    return chosen_task(problem, {"metric": "ncp"}, k)


# --- Groups -------------------------------------------------------------------------------------
def plain_groups(problem: Problem, task: Task) -> dict[frozenset, int]:
    """Per set of tuples that a node makes alike, and of k records, the least loss of all."""
    cost = integer_cost(problem, task.potentials)
    found: dict[frozenset, int] = {}
    for levels in lattice(problem):
        alike: dict = {}
        for labels in problem.sizes:
            alike.setdefault(raised_tuple(problem, labels, levels), set()).add(labels)
        for target, members in alike.items():
            if sum(problem.sizes[each] for each in members) >= task.k:
                lost = sum(int(cost(each, target)) * problem.sizes[each] for each in members)
                same = frozenset(members)
                found[same] = min(lost, found.get(same, lost))
    return found


def groups_found(problem: Problem, task: Task) -> dict[frozenset, int]:
    """The same as :func:`plain_groups`, as they are found."""
    groups = find_distinct_groups(task)
    trees, own, counts = problem.hierarchies, own_potentials(task), task.classes.counts
    tuples = [
        tuple(tree.labels[v] for tree, v in zip(trees, row, strict=True))
        for row in task.classes.nodes.tolist()
    ]
    found = {}
    for place, kept in enumerate(groups.kept.tolist()):
        members = groups.members[groups.begin[place] : groups.begin[place + 1]]
        assert (np.diff(members) > 0).all()
        same = frozenset(tuples[each] for each in members)
        assert same not in found
        found[same] = int(((own[members] - kept) * counts[members]).sum())
    return found


@examples(60)
@given(cases(max_records=14))
def test_the_groups_of_all_nodes_are_found_once(case):
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    assert groups_found(problem, task) == plain_groups(problem, task)


@examples(20)
@given(cases(max_records=14))
def test_the_groups_are_the_same_with_next_to_no_room(case):
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_MOST_BYTES", 1)
        patch.setattr(distinct_groups_module, "_FIRST_ROOM", 1)
        patch.setattr(distinct_groups_module, "_CHUNK", 1)
        assert groups_found(problem, task) == plain_groups(problem, task)


# --- Worth --------------------------------------------------------------------------------------
def plain_worth(records: list[tuple[int, int]], k: int) -> int:
    """What a group is worth: the most that k or more records bring, 0 if that is nothing.

    ``records``: per class how many there are, and what each brings.
    """
    every = sorted((brings for count, brings in records for _ in range(count)), reverse=True)
    return max([0, *(sum(every[:size]) for size in range(k, len(every) + 1))])


@pytest.mark.nightly
@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), min_size=1, max_size=12),
    st.integers(1, 20),
    st.integers(-3, 3),
)
def test_what_a_group_is_worth(records, k, kept):
    counts = np.array([count for count, _ in records])
    gain = np.array([brings for _, brings in records])
    size = len(records)
    worth, used = np.full(1, -1), np.zeros(size, dtype=np.int64)
    weigh(
        np.array([0, size]), np.arange(size, dtype=np.int32), np.array([kept]), counts, gain, k,
        np.zeros(size, dtype=np.int32), np.zeros((2, size), dtype=np.int64), worth, used,
    )  # fmt: skip
    assert worth[0] == plain_worth([(count, brings + kept) for count, brings in records], k)
    assert (used <= counts).all()
    if worth[0] > 0:
        assert used.sum() >= k
        assert used @ (gain + kept) == worth[0]
    else:
        assert not used.any()


# --- The bound ----------------------------------------------------------------------------------
@examples(30)
@given(cases(max_records=7))
def test_it_is_below_the_best_of_all_partitions(case):
    """The bound holds even if records with the same values are parted."""
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    cost = integer_cost(problem, task.potentials)
    quick, close = lower_bound(task, closely=False), lower_bound(task)
    of_records = least(problem, cost, k, [(labels, 1) for labels in problem.rows])
    of_classes = least(problem, cost, k, list(problem.sizes.items()))
    releases = [
        total_loss(task, lattice_sweep.anonymise(replace(task, options={"effort": effort})))
        for effort in ("fast", "thorough", "closest")
    ]
    assert (
        0
        <= quick.loss
        <= close.loss
        <= of_records
        <= of_classes
        <= releases[2]
        <= releases[1]
        <= releases[0]
    )
    assert close.closely and not quick.closely
    if close.loss == releases[2]:
        event("the bound is reached")
    if releases[2] < releases[1]:
        event("closest is better")


@examples(30)
@given(cases(max_records=5))
def test_it_holds_for_releases_that_suppress_records(case):
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    cost = integer_cost(problem, task.potentials)
    found = lower_bound(task)
    assert found.suppressing <= found.loss
    assert found.suppressing <= least_with_suppression(problem, cost, k)


@examples(40)
@given(cases(max_records=14))
def test_the_quick_one_equals_its_definition(case):
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    cost = integer_cost(problem, task.potentials)
    expected = 0
    for labels, records in problem.sizes.items():
        losses = []
        for levels in lattice(problem):
            target = raised_tuple(problem, labels, levels)
            group = sum(
                size
                for other, size in problem.sizes.items()
                if raised_tuple(problem, other, levels) == target
            )
            if group >= k:
                losses.append(int(cost(labels, target)))
        expected += min(losses) * records
    assert lower_bound(task, closely=False).loss == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_MOST_BYTES", 1)
        patch.setattr(distinct_groups_module, "_CHUNK", 1)
        assert lower_bound(task, closely=False).loss == expected


@examples(40)
@given(cases(max_records=25), st.booleans())
def test_it_is_that_of_all_groups_though_few_are_kept(case, little_room):
    """The groups that are left out at these prices are worth nothing."""
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prices_module, "_WIDE", 0.1)
        patch.setattr(prices_module, "_MOST_LOOKS", 12)
        if little_room:
            patch.setattr(prices_module, "_MOST_LISTED", 1)
        prices = find_good_prices(task)
    groups = find_distinct_groups(task)
    assert np.array_equal(prices.least_losses, compute_least_losses(groups, own_potentials(task)))
    whole = Prices(replace(prices.problem, groups=groups), prices.price)
    for suppressing in (False, True):
        assert prices.bound(suppressing) == whole.bound(suppressing)
    if len(prices.problem.groups.kept) < len(groups.kept):
        event("some groups are left out")


def relaxed(task: Task, groups: DistinctGroups) -> float:
    """The least loss if groups may be used in part, by linear programming."""
    own, counts = own_potentials(task).astype(float), task.classes.counts
    size, n_groups = len(own), len(groups.kept)
    sizes = np.diff(groups.begin)
    of, members = np.repeat(np.arange(n_groups), sizes), groups.members
    n_pairs = len(members)
    pairs = np.arange(n_pairs)
    cost = np.concatenate([(own[members] - groups.kept[of]) / own.max(), np.zeros(n_groups)])
    whole = np.zeros((size, n_pairs + n_groups))
    whole[members, pairs] = 1
    limits = np.zeros((n_pairs + n_groups, n_pairs + n_groups))
    limits[pairs, pairs], limits[pairs, n_pairs + of] = 1, -counts[members]
    limits[n_pairs + of, pairs] = -1
    limits[n_pairs + np.arange(n_groups), n_pairs + np.arange(n_groups)] = task.k
    found = linprog(cost, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=whole, b_eq=counts,
                    bounds=(0, None))  # fmt: skip
    assert found.success
    return found.fun * own.max()


@examples(25)
@given(cases(max_records=25))
def test_it_comes_near_the_linear_relaxation(case):
    """No prices prove more than the relaxation; the best ones prove as much."""
    problem, chosen, k = case
    task = chosen_task(problem, chosen, k)
    assume(own_potentials(task).any())
    most, found = relaxed(task, find_distinct_groups(task)), lower_bound(task).loss
    event(f"{100 * found / most:.0f} % of it" if most > 0 else "nothing is lost")
    assert 0.95 * most - len(problem.rows) <= found <= most * (1 + 1e-6) + len(problem.rows)


def test_where_every_record_could_keep_all_not_all_of_them_do():
    """Both a are kept as a pair, and * keeps all in any group; but it lacks a second record."""
    problem = Problem((PlainTree({"*": None, "a": "*"}),), (("a",), ("a",), ("*",)))
    task = chosen_task(problem, {"metric": "distortion"}, 2)
    lost = int(own_potentials(task).max())
    assert lower_bound(task, closely=False).loss == 0
    assert 0.95 * lost <= lower_bound(task).loss <= lost


def test_where_the_search_would_take_hours_the_quick_one_is_found(monkeypatch):
    rows = [(a, b) for a in "abcd" for b in "abcd"]
    task = square(rows, 2)
    assert lower_bound(task).closely
    monkeypatch.setattr(distinct_groups_module, "MOST_WORK", 9 * 16 - 1)
    found = lower_bound(task)
    assert not found.closely
    assert found == lower_bound(task, closely=False)
    with pytest.raises(PlanError, match=r"9 nodes, 16 different records\. Use effort 'thorough'"):
        lattice_sweep.check(replace(task, options={"effort": "closest"}))


def test_a_model_may_ask_for_more_than_k():
    rows = [(a, b) for a in "abcd" for b in "abcd"]
    larger = replace(square(rows, 2), models=(KAnonymity(5),))
    assert lower_bound(larger) == lower_bound(square(rows, 5))


def test_a_table_of_fewer_than_k_records_is_refused():
    with pytest.raises(Unsatisfiable, match="k = 3 cannot be reached: the table has 2 records"):
        lower_bound(square([("a", "a"), ("b", "b")], 3))
