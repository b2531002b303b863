"""Greedy merging against a slow, obvious version of itself, and the laws of every release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms import gaa, gaa_small
from kanon.algorithms.task import Task
from kanon.errors import Unsatisfiable
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from oracles.plain_gaa import (
    Labels,
    cases,
    exact_cost,
    integer_cost,
    joined,
    merged,
    moves_up,
    result,
    scaled,
    task,
    worked,
)
from support.random_tables import (
    PlainTree,
    Problem,
    examples,
    problems,
)

# The slow version: dicts of tuples of labels


# Equal to the slow version


@examples(300)
@given(cases(), st.data())
def test_gaa_equals_the_slow_version_and_one_run_serves_every_k(case, data):
    problem, chosen = case
    n = len(problem.rows)
    path = gaa.merge_path(task(problem, chosen, n))
    for k in range(1, n + 1):
        alone = gaa.anonymise(task(problem, chosen, k))
        on_the_path = path.at(k)
        assert result(problem, on_the_path) == result(problem, alone)
        assert np.array_equal(on_the_path.nodes, alone.nodes)
        assert np.array_equal(on_the_path.counts, alone.counts)
        assert np.array_equal(on_the_path.assigned, alone.assigned)
    depths = scaled(problem, chosen)
    for k in data.draw(st.sets(st.integers(1, n), min_size=1, max_size=4)):
        expected = merged(
            problem,
            integer_cost(problem, depths),
            k,
            chosen["cost"] == "weighted",
            chosen["tie_seed"],
        )
        assert result(problem, path.at(k)) == expected


@examples(200)
@given(problems(weighted=True), st.booleans(), st.data())
def test_gaa_equals_the_slow_version_with_exact_costs(problem, weighted, data):
    assume(all(tree.weights for tree in problem.trees))
    chosen = {
        "metric": "custom",
        "cost": "weighted" if weighted else "representatives",
        "tie_seed": data.draw(st.none() | st.integers(0, 9)),
    }
    n = len(problem.rows)
    for k in data.draw(st.sets(st.integers(1, n), min_size=1, max_size=3)):
        found = result(problem, gaa.anonymise(task(problem, chosen, k)))
        assert found == merged(problem, exact_cost(problem), k, weighted, chosen["tie_seed"])


@examples(200)
@given(cases(), st.data())
def test_gaa_small_equals_the_slow_version(case, data):
    problem, chosen = case
    depths = scaled(problem, chosen)
    for k in data.draw(st.sets(st.integers(1, len(problem.rows)), min_size=1, max_size=3)):
        found = result(problem, gaa_small.anonymise(task(problem, chosen, k)))
        assert found == merged(
            problem,
            integer_cost(problem, depths),
            k,
            chosen["cost"] == "weighted",
            chosen["tie_seed"],
            small=True,
        )


def test_many_merges_need_more_than_one_stretch_of_the_compiled_loop():
    """More merges than the kernel makes before it reports: nothing is lost in between."""
    generator = np.random.default_rng(1)
    tree = PlainTree(
        {"*": None, **{f"g{i}": "*" for i in range(6)}, **{f"v{i}": f"g{i % 6}" for i in range(30)}}
    )
    rows = [tuple(f"v{i}" for i in row) for row in generator.integers(0, 30, (700, 2))]
    problem = Problem((tree, tree), tuple(rows))
    chosen = {"metric": "nllm", "cost": "weighted", "tie_seed": None}
    told = []
    path = gaa.merge_path(task(problem, chosen, 40), lambda part, text: told.append((part, text)))
    assert len(path.parts) > 300
    parts = [part for part, _ in told]
    assert len(told) > 1
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] <= 1
    cost = integer_cost(problem, scaled(problem, chosen))
    assert result(problem, path.at(40)) == merged(problem, cost, 40, True, None)


# The worked table of greedy.md


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


def test_a_merge_that_meets_a_third_class_joins_it():
    """Cat and Lion meet at Felid, where two records already are: one class, by one merge."""
    tree = PlainTree({"*": None, "Felid": "*", "Dog": "*", "Cat": "Felid", "Lion": "Felid"})
    rows = ["Cat", "Lion", "Felid", "Felid", *["Dog"] * 9]
    problem = Problem((tree,), tuple((row,) for row in rows))
    assert tree.order == ["Cat", "Lion", "Dog", "Felid", "*"]
    # Raising Cat to Felid costs 1, whether to meet Lion or Felid there; Lion comes first.
    depth = np.array([1, 0, 9, 0, 0], dtype=np.int64)
    path = gaa.merge_path(Task(problem.classes(), (depth,), 4))
    assert list(problem.sizes) == [("Cat",), ("Lion",), ("Dog",), ("Felid",)]
    assert path.parts.tolist() == [[0, 1, 3]]
    assert path.at(4).counts.tolist() == [9, 4]


# Laws


def releases(problem: Problem, chosen: dict) -> Iterator[tuple[int, pd.DataFrame]]:
    """The table that every k gives, through the rows."""
    frame = problem.frame()
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    roles = dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER)
    source = MemorySource(frame, Schema(roles), trees)
    weighted, depths = chosen["cost"] == "weighted", scaled(problem, chosen)
    for algorithm in (gaa, gaa_small):
        for k in range(1, len(problem.rows) + 1):
            given_task = Task(source.classes, depths, k, weighted, chosen["tie_seed"])
            yield k, source.release(algorithm.anonymise(given_task))


@examples(100)
@given(cases(max_records=12))
def test_every_release_is_k_anonymous_and_only_moves_up(case):
    problem, chosen = case
    for k, released in releases(problem, chosen):
        rows = [tuple(row) for row in released.itertuples(index=False, name=None)]
        assert len(rows) == len(problem.rows)
        assert min(Counter(rows).values()) >= k
        assert released.groupby(problem.columns).size().min() >= k
        for low, high in zip(problem.rows, rows, strict=True):
            assert moves_up(problem, low, high)
        together = {}
        for low, high in zip(problem.rows, rows, strict=True):
            assert together.setdefault(low, high) == high, "a whole class moves"


@examples(60)
@given(cases(max_records=12), st.data())
def test_neither_row_order_nor_index_matters(case, data):
    problem, chosen = case
    n = len(problem.rows)
    order = data.draw(st.permutations(range(n)))
    index = data.draw(
        st.sampled_from(
            [[0] * n, list(range(n))[::-1], [None] * n, [f"r{i % 2}" for i in range(n)]]
        )
    )
    frame = problem.frame()
    other = frame.iloc[list(order)].set_axis(pd.Index(index, dtype=object), axis=0)
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    schema = Schema(dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER))
    one, two = MemorySource(frame, schema, trees), MemorySource(other, schema, trees)
    weighted, depths = chosen["cost"] == "weighted", scaled(problem, chosen)
    for k in (2, max(2, n // 2)):
        if k > n:
            continue
        first, second = (
            source.release(
                gaa.anonymise(Task(source.classes, depths, k, weighted, chosen["tie_seed"]))
            )
            for source in (one, two)
        )
        assert second.index.tolist() == index
        assert second.to_numpy().tolist() == first.to_numpy()[list(order)].tolist()


@examples(60)
@given(cases(max_records=12))
def test_nothing_that_is_handed_over_is_changed(case):
    problem, chosen = case
    frame = problem.frame()
    before = frame.copy(deep=True)
    trees = dict(zip(problem.columns, problem.hierarchies, strict=True))
    schema = Schema(dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER))
    source = MemorySource(frame, schema, trees)
    one = Task(source.classes, scaled(problem, chosen), len(problem.rows))
    kept = [source.classes.nodes, source.classes.counts, *one.potentials]
    kept += [getattr(tree, name) for tree in problem.hierarchies for name in ("parent", "level")]
    copies = [array.copy() for array in kept]
    for algorithm in (gaa, gaa_small):
        source.release(algorithm.anonymise(one))
    pd.testing.assert_frame_equal(frame, before)
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))


@examples(40)
@given(cases(max_records=8, max_nodes=6))
def test_greedy_is_never_better_than_the_best_partition(case):
    """Every way to put the classes together: the cheapest that reaches k is a lower bound."""
    problem, chosen = case
    classes = list(problem.sizes)
    assume(len(classes) <= 6)
    cost = integer_cost(problem, scaled(problem, chosen))

    def partitions(items: list[Labels]) -> Iterator[list[list[Labels]]]:
        if not items:
            yield []
            return
        head, *rest = items
        for found in partitions(rest):
            yield [[head], *found]
            for i, block in enumerate(found):
                yield [*found[:i], [head, *block], *found[i + 1 :]]

    def block_cost(block: list[Labels]) -> int:
        target = block[0]
        for labels in block[1:]:
            target = joined(problem, target, labels)
        return sum(cost(labels, target) * problem.sizes[labels] for labels in block)

    for k in (2, 3, len(problem.rows)):
        if k > len(problem.rows):
            continue
        best = min(
            sum(map(block_cost, blocks))
            for blocks in partitions(classes)
            if all(sum(problem.sizes[x] for x in block) >= k for block in blocks)
        )
        for algorithm in (gaa, gaa_small):
            found = result(problem, algorithm.anonymise(task(problem, chosen, k)))
            assert sum(cost(x, y) * problem.sizes[x] for x, y in found.items()) >= best


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


# What cannot be done


def test_a_path_refuses_a_k_beyond_its_end():
    one = task(worked(), {"metric": "ncp", "cost": "weighted", "tie_seed": None}, 3)
    path = gaa.merge_path(one)
    with pytest.raises(ValueError, match="ends at k = 3"):
        path.at(4)
    with pytest.raises(Unsatisfiable, match="8 records"):
        path.at(9)


@pytest.mark.parametrize("algorithm", [gaa, gaa_small])
def test_a_table_of_one_class_stays_as_it_is(algorithm):
    tree = PlainTree({"*": None, "a": "*", "b": "*"})
    problem = Problem((tree, tree), (("a", "*"),) * 5)
    one = task(problem, {"metric": "ncp", "cost": "weighted", "tie_seed": 3}, 5)
    assert result(problem, algorithm.anonymise(one)) == {("a", "*"): ("a", "*")}


def test_tie_seeds_change_ties_and_nothing_else():
    """Four equal classes under one root: any pairing costs the same, and all of them occur."""
    tree = PlainTree({"*": None, **dict.fromkeys("abcd", "*")})
    problem = Problem((tree, tree), (("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")))
    found = set()
    for seed in range(60):
        chosen = {"metric": "ncp", "cost": "weighted", "tie_seed": seed}
        released = result(problem, gaa.anonymise(task(problem, chosen, 2)))
        assert released == result(problem, gaa.anonymise(task(problem, chosen, 2)))
        found.add(tuple(released.values()))
        assert sum(x == "*" for target in released.values() for x in target) == 4
    assert len(found) == 2
