"""The lattice sweep against slow, obvious versions of itself, and its laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kanon.algorithms.lattice_sweep_better as better
import kanon.algorithms.lattice_sweep_order as order
import kanon.algorithms.lattice_sweep_walk as walk
from benchmarks.plans import adult_task
from kanon.algorithms import gaa, lattice_sweep
from kanon.algorithms.lattice_sweep_better import total_loss
from kanon.algorithms.lower_bound import lower_bound
from kanon.errors import PlanError
from kanon.privacy.distinct_l_diversity import DistinctLDiversity
from kanon.recoding import Recoding
from oracles.plain_lattice_sweep import improved, in_group_order, swept
from support import model_tables
from support.random_tables import PlainTree, Problem, algorithms, examples, seeds
from support.reference_tables import (
    cases,
    chosen_task,
    exact_depths,
    integer_cost,
    result,
    scaled,
    worked,
)


# --- The fast effort equals the slow version ----------------------------------------------------
def check_fast(problem: Problem, chosen: dict, k: int) -> None:
    found = lattice_sweep.anonymise(chosen_task(problem, chosen, k))
    expected = swept(problem, scaled(problem, chosen), k)
    assert expected.aside == []
    assert result(problem, found) == expected.at
    assert found.trace.evaluated == len(expected.visits)
    assert found.trace.steps == sum(len(released) for _, released in expected.visits)
    if expected.joined:
        event("some tuples were left over")


@examples(60)
@given(cases(max_records=24), st.data())
def test_the_walk_equals_the_slow_version(case, data):
    problem, chosen = case
    for k in data.draw(st.sets(st.integers(1, len(problem.rows)), min_size=1, max_size=4)):
        check_fast(problem, chosen, k)


@examples(30)
@given(cases(max_records=24, max_attributes=4), st.data())
def test_the_walk_is_the_same_with_next_to_no_room(case, data):
    """Groups of halves that were made for one node make room for those of the next."""
    problem, chosen = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_MOST_BYTES", 1)
        patch.setattr(walk, "_CHUNK", 1)
        check_fast(problem, chosen, data.draw(st.integers(1, len(problem.rows))))


def test_a_tuple_need_not_fit_into_one_number():
    """Nine quasi-identifiers of 256 nodes each in one half: 256 ** 9 is 2 ** 72.

    If numbers wrapped around, the ninth would be lost, and two records that differ in it alone be
    released as they are.
    """
    leaves = [f"v{i}" for i in range(255)]
    tree = PlainTree({"*": None, **dict.fromkeys(leaves, "*")})
    for place in (0, 8, 9, 17):
        row = ["v7"] * 18
        other = [*row[:place], "v8", *row[place + 1 :]]
        problem = Problem((tree,) * 18, (tuple(row), tuple(other)))
        found = lattice_sweep.anonymise(chosen_task(problem, {"metric": "ncp"}, 2))
        together = (*row[:place], "*", *row[place + 1 :])
        assert set(result(problem, found).values()) == {together}


@examples(25)
@given(model_tables.tables(max_records=16), model_tables.models(), st.data())
def test_the_walk_with_other_models_equals_the_slow_version(table, wanted, data):
    problem, columns = table
    assume(not model_tables.breaks(columns, wanted, range(len(problem.rows))))
    drawn = data.draw(algorithms(problem, ["custom"]))
    guide = {**drawn, **model_tables.BY_COST}
    source = model_tables.source_of(problem, columns)
    task = model_tables.task_of(source, guide, wanted)
    greedy = model_tables.greedy_of(problem, columns, guide)
    others = [model for model in wanted if model in task.others]
    plain = swept(
        problem,
        exact_depths(problem, greedy.metric, greedy.attribute_weights),
        task.k,
        lambda rows: model_tables.breaks(columns, others, rows),
    )
    whole = greedy.merge(
        lambda rows: len(rows) < task.k or model_tables.breaks(columns, others, rows),
        begun=plain.groups,
    )
    if plain.aside:
        event("merged on as GAA does")
    if plain.joined:
        event("some tuples joined")
    found = lattice_sweep.anonymise(task)
    released = source.release(found)
    assert model_tables.rows_of(problem, released) == whole.released
    assert model_tables.released_breaks(released, problem.columns, wanted) == []
    assert found.trace.evaluated == len(plain.visits)


# --- The thorough effort equals the slow version ------------------------------------------------
def check_thorough(problem: Problem, chosen: dict, k: int) -> bool:
    """Compare both; whether the slow version improved on what it began with."""
    task = chosen_task(problem, chosen, k)
    cost = integer_cost(problem, scaled(problem, chosen))
    depths = scaled(problem, chosen)
    by_groups = swept(problem, depths, k, steps=in_group_order)
    found = lattice_sweep.finished(task, order.sweep_by_groups(task))
    assert result(problem, found) == by_groups.at
    assert found.trace.steps == sum(len(released) for _, released in by_groups.visits)
    releases = [swept(problem, depths, k).at, by_groups.at]

    def loss(release: dict) -> int:
        return sum(int(cost(low, high)) * problem.sizes[low] for low, high in release.items())

    start = min(releases, key=loss)
    expected = improved(problem, cost, k, start)
    thorough = lattice_sweep.anonymise(
        chosen_task(problem, chosen, k, options={"effort": "thorough"})
    )
    assert result(problem, thorough) == expected
    assert total_loss(task, thorough) == loss(expected) <= min(map(loss, releases))
    assert thorough.counts.min() >= k
    return loss(expected) < loss(start)


@examples(30)
@given(cases(max_records=24, max_attributes=3), st.data())
def test_the_thorough_effort_equals_the_slow_version(case, data):
    problem, chosen = case
    k = data.draw(st.integers(1, 1 + (len(problem.rows) - 1) // 3))
    if check_thorough(problem, chosen, k):
        event("improved")


@examples(15)
@given(cases(max_records=16, max_attributes=4), st.data())
def test_the_thorough_effort_is_the_same_with_next_to_no_room(case, data):
    problem, chosen = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_MOST_BYTES", 1)
        for module in (walk, order, better):
            patch.setattr(module, "_CHUNK", 1)
        check_thorough(problem, chosen, data.draw(st.integers(1, len(problem.rows))))


def many_classes(seed: int, records: int) -> tuple[Problem, dict]:
    """A table with enough classes that nearest ones differ, and a metric."""
    rng = np.random.default_rng(seed)
    leaves = [f"v{i}" for i in range(12)]
    groups = {leaf: f"g{i // 3}" for i, leaf in enumerate(leaves)}
    upper = {f"g{i}": f"h{i // 2}" for i in range(4)}
    tree = PlainTree({"*": None, "h0": "*", "h1": "*", **upper, **groups})
    two = PlainTree({"*": None, "x": "*", "y": "*", "z": "*"})
    a, b, c = (rng.integers(0, most, records) for most in (12, 12, 3))
    rows = tuple((leaves[x], leaves[y], "xyz"[z]) for x, y, z in zip(a, b, c, strict=True))
    return Problem((tree, tree, two), rows), {
        "metric": ["ncp", "total"][seed % 2],
        "attribute_weights": {},
    }


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.nightly) for i in (5, 9))])
def test_the_thorough_effort_on_more_classes(seed):
    """So many that several changes follow each other."""
    assert check_thorough(*many_classes(seed, 70), 2 + seed % 6)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 3])
def test_the_thorough_effort_with_too_little_room_on_more_classes(seed, monkeypatch):
    """What was grouped of one pool is not taken for the groups of the next."""
    monkeypatch.setattr(walk, "_MOST_BYTES", 2000)  # three parts of each half, or four
    check_thorough(*many_classes(seed, 70), 2 + seed)


# --- The effort closest -------------------------------------------------------------------------
@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(2, in_gate=1))
def test_the_effort_closest_is_between_the_bound_and_the_thorough_effort(seed):
    problem, chosen = many_classes(seed, 300)
    task = chosen_task(problem, chosen, 3 + seed, options={"effort": "closest"})
    before = task.classes.nodes.copy(), task.classes.counts.copy()
    told = []
    found = lattice_sweep.anonymise(task, lambda part, text: told.append(part))
    again = lattice_sweep.anonymise(task)
    thorough = lattice_sweep.anonymise(replace(task, options={"effort": "thorough"}))
    assert np.array_equal(found.targets, again.targets)
    assert all(map(np.array_equal, before, (task.classes.nodes, task.classes.counts)))
    assert found.counts.min() >= task.k
    assert found.suppressed_records == 0
    assert told == sorted(told)
    assert lower_bound(task).loss <= total_loss(task, found) < total_loss(task, thorough)


def test_too_large_pools_and_too_much_work_are_left_out():
    problem = two_columns()
    chosen = {"metric": "custom"}
    task = chosen_task(problem, chosen, 2, options={"effort": "thorough"})
    fast = total_loss(task, lattice_sweep.anonymise(chosen_task(problem, chosen, 2)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(better, "_LARGEST", 0)
        patch.setattr(better, "_MOST_WORK", 0)
        found = lattice_sweep.anonymise(task)
    assert found.counts.min() >= 2
    assert total_loss(task, found) <= fast


# --- Worked by hand -----------------------------------------------------------------------------
def named(problem: Problem, recoding: Recoding) -> dict[str, str]:
    return {" ".join(x): " ".join(y) for x, y in result(problem, recoding).items()}


def test_the_worked_table():
    """Gender costs 5; Cat and Lion to Felid 1, on to Mammal 3; Dog to Mammal 4.

    The nodes by loss: (0, 0) 0; (0, 1) six felids, 6; (0, 2) 6 · 4 + 2 · 4 = 32; (1, 0) 40;
    (1, 1) 46; (1, 2) 72. For k = 4: nothing at (0, 0); at (0, 1) the four male felids; at (0, 2)
    the four females.
    """
    problem = worked()
    chosen = {"metric": "custom", "cost": "weighted", "tie_seed": None}
    plain = swept(problem, scaled(problem, chosen), 4)
    assert plain.visits == [
        ((0, 0), []), ((0, 1), [("M", "Felid")]), ((0, 2), [("F", "Mammal")])
    ]  # fmt: skip
    found = lattice_sweep.anonymise(chosen_task(problem, chosen, 4))
    assert named(problem, found) == {
        "F Lion": "F Mammal", "F Dog": "F Mammal", "M Cat": "M Felid", "M Lion": "M Felid",
    }  # fmt: skip
    assert (found.trace.evaluated, found.trace.steps) == (3, 2)


def two_columns() -> Problem:
    """Seven records whose sweep for k = 2 differs from greedy merging."""
    one = PlainTree({"*": None, "A": "*", "a": "A", "b": "A", "c": "*"},
                    {"a": 1, "b": 1, "A": 4, "c": 5})  # fmt: skip
    two = PlainTree({"*": None, "x": "*", "y": "*"}, {"x": 3, "y": 3})
    rows = ["a x", "a x", "a y", "b x", "b y", "c x", "c y"]
    return Problem((one, two), tuple(tuple(row.split()) for row in rows))


def test_what_is_released_early_is_missing_later():
    """For k = 3 the nodes are, by loss: (0, 0) 0; (1, 0) five of A, 5; (0, 1) 7 · 3 = 21;
    (1, 1) 26; (2, 0) 7 · 5 = 35; (2, 1) 56.

    At (1, 0) the three records of A with x are released; those with y are two. At (0, 1) a, b
    have one record each, c two; at (1, 1) A has two, c two. At (2, 0) y has three: a, b and c.
    One record is left, "c x": to join "A x" costs it 5 and the three 4 each, 17; to join "* y"
    costs it 5 + 3, and the three 3 each, 17 too. "A x" comes first.
    """
    problem = two_columns()
    chosen = {"metric": "custom", "cost": "weighted", "tie_seed": None}
    plain = swept(problem, scaled(problem, chosen), 3)
    assert plain.visits == [
        ((0, 0), []), ((1, 0), [("A", "x")]), ((0, 1), []), ((1, 1), []), ((2, 0), [("*", "y")]),
    ]  # fmt: skip
    assert plain.joined == {("c", "x"): ("*", "x")}
    found = lattice_sweep.anonymise(chosen_task(problem, chosen, 3))
    assert named(problem, found) == {
        "a x": "* x", "b x": "* x", "c x": "* x", "a y": "* y", "b y": "* y", "c y": "* y",
    }  # fmt: skip
    assert (found.trace.evaluated, found.trace.steps) == (5, 2)


# --- Laws ---------------------------------------------------------------------------------------
def test_other_models_are_asked_of_every_group():
    """Two pairs that k allows; one of them has one disease alone, so it goes on and joins."""
    tree = PlainTree({"*": None, "a": "*", "b": "*", "c": "*"}, {"a": 1, "b": 1, "c": 1})
    problem = Problem((tree,), (("a",), ("a",), ("b",), ("b",), ("c",), ("c",)))
    columns = {"ill": ["A", "B", "A", "A", "A", "B"], "pay": [1.0] * 6}
    source = model_tables.source_of(problem, columns)
    task = model_tables.task_of(source, model_tables.BY_COST, [DistinctLDiversity(2, "ill")])
    found = lattice_sweep.anonymise(replace(task, k=2))
    assert result(problem, found) == {("a",): ("*",), ("b",): ("*",), ("c",): ("c",)}


@pytest.mark.parametrize("effort", ["thorough", "closest"])
def test_larger_efforts_refuse_other_models(effort):
    tree = PlainTree({"*": None, "a": "*", "b": "*"}, {"a": 1, "b": 1})
    problem = Problem((tree,), (("a",), ("b",)))
    columns = {"ill": ["A", "B"], "pay": [1.0, 1.0]}
    source = model_tables.source_of(problem, columns)
    task = model_tables.task_of(source, model_tables.BY_COST, [DistinctLDiversity(2, "ill")])
    with pytest.raises(PlanError, match="effort 'fast'"):
        lattice_sweep.check(replace(task, options={"effort": effort}))
    lattice_sweep.check(replace(task, options={"effort": "fast"}))


# --- Adult --------------------------------------------------------------------------------------
@pytest.mark.sampled(2)
@pytest.mark.adult
@pytest.mark.usefixtures("adult_path")
@pytest.mark.parametrize("k", [5, 100])
def test_the_walk_loses_less_than_greedy_merging_on_adult(k):
    task = replace(adult_task("ncp"), k=k)
    found, merged = lattice_sweep.anonymise(task), gaa.anonymise(task)
    assert found.counts.min() >= k
    assert found.suppressed_records == 0
    assert total_loss(task, found) < 0.9 * total_loss(task, merged)


@pytest.mark.adult
@pytest.mark.nightly
@pytest.mark.usefixtures("adult_path")
@pytest.mark.parametrize(("effort", "k"), [("thorough", 5), ("closest", 100)])
def test_more_effort_loses_less_on_adult(effort, k):
    told = []
    task = replace(adult_task("ncp"), k=k)
    larger = replace(task, options={"effort": effort})
    found = lattice_sweep.anonymise(larger, lambda part, text: told.append(part))
    again = lattice_sweep.anonymise(larger)
    assert np.array_equal(found.targets, again.targets)
    assert found.counts.min() >= k
    assert told == sorted(told)
    bound = lower_bound(task, closely=False).loss
    assert bound < total_loss(task, found) < total_loss(task, lattice_sweep.anonymise(task))
