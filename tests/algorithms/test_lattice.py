"""The engine of full-domain searches against the definitions, counted by hand and by dicts."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon.algorithms.lattice_counts
from kanon.algorithms import lattice_size
from kanon.algorithms.lattice import Lattice
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import ignore_progress
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.kernels.lattice import ClassRuns, CountingRoom, count_classes, number_parts
from kanon.metrics import exact_potentials, metric_named
from oracles.plain_lattice import Node, PlainLattice, at_level, at_or_above
from support.lattice_losses import by_potential
from support.random_tables import PlainTree, Problem, examples, problems, trees


def task_of(problem: Problem, k: int, metric: str = "ncp", **more) -> Task:
    depths = scale_potentials(
        exact_potentials(metric_named(metric), problem.hierarchies), len(problem.rows)
    )
    return Task(problem.classes(), depths, k, **more)


def engine(problem: Problem, k: int, limit: int = 0) -> Lattice:
    return Lattice(task_of(problem, k), limit, ignore_progress)


# --- Raising to a level -------------------------------------------------------------------------
@examples(200)
@given(trees(max_nodes=14))
def test_values_are_raised_to_the_highest_ancestor_of_a_level(tree):
    found = lattice_size.compute_nodes_by_level(tree.build())
    assert found.dtype == np.int32
    assert found.shape == (tree.height, len(tree.order))
    for level, row in enumerate(found.tolist()):
        expected = [tree.number[at_level(tree, label, level)] for label in tree.order]
        assert row == expected


# --- The shape of the lattice -------------------------------------------------------------------
@examples(100)
@given(problems(max_attributes=4, max_records=1, max_nodes=6))
def test_the_shape_is_that_of_the_enumeration(problem):
    lattice, plain = engine(problem, 1), PlainLattice(problem, 1)
    every = list(plain.nodes())
    assert list(lattice.nodes()) == every
    assert lattice.tops == plain.tops
    assert lattice.bottom == plain.bottom
    assert lattice.size == lattice_size.count_lattice_nodes(problem.hierarchies) == len(every)
    heights = Counter(map(sum, every))
    counted = lattice_size.count_nodes_per_height(problem.hierarchies)
    assert counted == [heights[height] for height in range(len(heights))]
    assert sum(counted) == len(every)
    for height in range(-1, sum(plain.tops) + 2):
        assert list(lattice.list_nodes_at_height(height)) == plain.at_height(height)
    for node in every:
        assert lattice.above(node) == plain.above(node)
        assert sorted(lattice.list_nodes_below(node)) == [
            x for x in every if node in plain.above(x)
        ]


@examples(60)
@given(problems(max_attributes=3, max_records=1, max_nodes=5), st.data())
def test_what_is_between_two_nodes(problem, data):
    lattice = engine(problem, 1)
    every = list(lattice.nodes())
    low = data.draw(st.sampled_from(every))
    high = data.draw(st.sampled_from([x for x in every if at_or_above(x, low)]))
    for height in range(sum(high) - sum(low) + 2):
        found = list(lattice.list_nodes_between(low, high, height))
        assert found == [
            x
            for x in every
            if at_or_above(x, low) and at_or_above(high, x) and sum(x) - sum(low) == height
        ]
    marks = np.zeros(lattice.shape, dtype=int)
    marks[lattice.up_set(low)] += 1
    marks[lattice.down_set(high)] += 2
    for node in every:
        assert marks[node] == at_or_above(node, low) + 2 * at_or_above(high, node)


@given(heights=st.lists(st.integers(1, 6), min_size=1, max_size=7))
def test_the_bounds_of_the_paper(heights):
    """[B] eq. 10: at most (mean height + 1)^r nodes. Eq. 17: how few and how many of them
    are on the largest level where all heights are equal. A height there is the root's level.
    """
    trees = [tower(height) for height in heights]
    r, mean = len(heights), sum(heights) / len(heights) - 1
    assert lattice_size.count_lattice_nodes(trees) <= (mean + 1) ** r * (1 + 1e-12)
    alike = [tower(heights[0])] * r
    nodes = heights[0] ** r
    assert (
        nodes / ((heights[0] - 1) * r + 1)
        <= max(lattice_size.count_nodes_per_height(alike))
        <= nodes
    )


def test_the_largest_level_of_many_attributes():
    """Within a few percent for nine attributes as Adult's, less for more."""
    adult = [tower(h) for h in (5, 2, 2, 3, 4, 3, 3, 3, 2)]
    assert lattice_size.count_lattice_nodes(adult) == 12_960
    near = {0.04: [adult], 0.02: [[tower(4)] * 10, [tower(2)] * 20, [tower(3), tower(5)] * 6]}
    for most, lattices in near.items():
        for hierarchies in lattices:
            exact = max(lattice_size.count_nodes_per_height(hierarchies))
            assert lattice_size.estimate_largest_height(hierarchies) == pytest.approx(
                exact, rel=most
            )
    assert lattice_size.estimate_largest_height([tower(1)] * 3) == 1


def tower(height: int):
    """A tree of some height: a chain of single children."""
    parents = {"0": None, **{str(i): str(i - 1) for i in range(1, height)}}
    return PlainTree(parents).build()


def test_a_lattice_that_is_too_large_is_refused_with_its_size():
    lattice_size.check_size([tower(10)] * 7, "Flash")  # ten million is allowed
    with pytest.raises(PlanError) as caught:
        lattice_size.check_size([suppression(["a", "b"])] * 24, "Flash")
    assert lattice_size.MOST_NODES < 2**24
    names = (
        "Flash",
        write_count(2**24),
        write_count(10**7),
        "datafly",
        "improved-greedy",
        "gaa",
        "mondrian",
    )
    for name in names:
        assert name in caught.value.sentence


# --- What is counted at a node ------------------------------------------------------------------
@st.composite
def searches(draw, **kwargs):
    """A table, a k, a limit, and its nodes in some order."""
    problem = draw(problems(**kwargs))
    n = len(problem.rows)
    k = draw(st.integers(1, n + 1))
    limit = draw(st.integers(0, n + 1))
    plain = PlainLattice(problem, k, limit)
    order = draw(st.permutations(list(plain.nodes())))
    return problem, k, limit, plain, order


def sizes_at(lattice: Lattice, node: Node) -> list[int]:
    """The sizes of the classes at a node, rising."""
    return np.repeat(*lattice._counts.sizes(node)).tolist()


def check_node(lattice: Lattice, plain: PlainLattice, node: Node, metric: str = "ncp") -> None:
    """Everything that is known of a node is as the plain count has it."""
    found = lattice.evaluate(node)
    sizes = sorted(len(rows) for rows in plain.classes(node).values())
    kept = sorted(map(len, plain.kept(node)))
    gone = plain.suppressed(node)
    assert found.suppressed == len(gone)
    assert found.classes == len(kept)
    assert found.all_classes == len(sizes)
    assert found.squares == sum(size**2 for size in kept)
    assert found.all_squares == sum(size**2 for size in sizes)
    assert lattice.satisfies(node) == plain.satisfies(node)
    assert sizes_at(lattice, node) == sizes
    assert lattice.anonymity(node) == plain.anonymity(node)
    assert (lattice.anonymity(node) >= lattice.task.k) == (
        plain.satisfies(node) and lattice.task.k <= plain.n
    )
    assert lattice.distinct(node) == plain.distinct(node)
    trees, depths = plain.problem.trees, lattice.task.potentials
    left = sum(
        int(depths[j][trees[j].number[label]])
        for row in gone
        for j, label in enumerate(plain.raised(plain.problem.rows[row], node))
    )
    assert found.left == left
    cost = by_potential(plain.problem, lattice.task)
    assert int(lattice.losses[node]) == plain.cells_unsuppressed(node, cost)
    assert int(lattice.losses[node]) + left == plain.cells(node, cost)
    targets = [
        tuple(tree.order[v] for tree, v in zip(trees, target, strict=True))
        for target in lattice.targets(node).tolist()
    ]
    assert targets == [plain.raised(labels, node) for labels in plain.problem.sizes]


@examples(120)
@given(searches(max_nodes=6))
def test_every_node_is_counted_as_by_hand_in_any_order(search):
    """Whatever was counted before, so from whatever snapshot it is rolled up."""
    problem, k, limit, plain, order = search
    lattice = engine(problem, k, limit)
    for node in order[:60]:
        check_node(lattice, plain, node)
    assert lattice.visited == order[:60]


def wide(rows: int, attributes: int, leaves: int, seed: int = 0) -> Problem:
    """Many attributes and tuples: more pairs of halves than have a place of their own."""
    below = {f"v{i}": f"g{i % 4}" for i in range(leaves)}
    tree = PlainTree({"*": None, **dict.fromkeys(["g0", "g1", "g2", "g3"], "*"), **below})
    drawn = np.random.default_rng(seed).integers(0, leaves, (rows, attributes))
    return Problem((tree,) * attributes, tuple(tuple(f"v{v}" for v in row) for row in drawn))


def test_a_chain_of_very_many_levels_is_refused():
    names = [str(level) for level in range(12_000)]
    chain = [("0", None, None), *((name, str(int(name) - 1), None) for name in names[1:])]
    with pytest.raises(PlanError, match="12\u202f000 levels and 12\u202f000 nodes"):
        lattice_size.compute_nodes_by_level(Hierarchy.from_entries(chain))


@pytest.mark.nightly
def test_many_attributes_are_counted_as_by_hand():
    """By the hash of two parts, and where each pair has a place; rolled up, and from nothing."""
    problem = wide(900, 6, 24)
    plain = PlainLattice(problem, 3, 40)
    nodes = list(plain.nodes())
    chosen = [nodes[i] for i in np.random.default_rng(1).permutation(len(nodes))[:20]]
    lattice = engine(problem, 3, 40)
    pairs = [
        math.prod(
            half.parts(tuple(node[j] for j in half.columns))[2] for half in lattice._counts._halves
        )
        for node in chosen
    ]
    assert min(pairs) < 1 << 11 < max(pairs), "both ways of counting occur"
    for node in chosen:
        check_node(lattice, plain, node)
    assert lattice._counts._snapshots
    for node in chosen:
        alone = engine(problem, 3, 40)
        assert alone.evaluate(node) == lattice.evaluate(node)


@examples(100)
@given(st.data())
def test_parts_are_numbered_by_their_tuples(data):
    m = data.draw(st.integers(1, 4))
    width = data.draw(st.integers(1, 7))
    values = st.integers(0, width - 1)
    rows = data.draw(st.lists(st.tuples(*[values] * m), min_size=1, max_size=40))
    tuples = np.array(rows, dtype=np.int32)
    raised = np.array(data.draw(st.lists(values, min_size=m * width, max_size=m * width)), np.int32)
    depths = np.arange(m * width, dtype=np.int64) * 10**15
    starts = np.arange(m, dtype=np.int64) * width
    parts = np.empty(len(rows), dtype=np.int32)
    worth = np.empty(len(rows), dtype=np.int64)
    widths = np.full(m, width, dtype=np.int64)
    number = number_parts(tuples, raised, starts, widths, depths, parts, worth)
    seen: dict[tuple, int] = {}
    for row, part in zip(rows, parts.tolist(), strict=True):
        target = tuple(int(raised[j * width + v]) for j, v in enumerate(row))
        assert part == seen.setdefault(target, len(seen)), "numbered as they appear"
    assert number == len(seen)


@examples(150)
@given(st.data())
def test_classes_are_counted_by_the_pairs_of_their_parts(data):
    """All of them, the last part first; or none, once too many records are in small ones."""
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=12))
    size, m = sum(sizes), 6
    left_part, n_left = numbered(
        data.draw(st.lists(st.integers(0, 4), min_size=len(sizes), max_size=len(sizes)))
    )
    right_part, n_right = numbered(data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)))
    rights = data.draw(st.lists(st.integers(0, m - 1), min_size=size, max_size=size))
    counts = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    lefts = np.repeat(np.arange(len(sizes)), sizes)
    given_classes = runs(np.arange(len(sizes)), np.cumsum([0, *sizes]), rights, counts)
    found = runs(*(np.full(len(each), -7) for each in given_classes))
    rooms = (np.full(n, -7, dtype=np.int32) for n in (len(left_part), len(sizes), m))
    k, most = data.draw(st.integers(1, 20)), data.draw(st.integers(0, sum(counts)))
    room = CountingRoom(*rooms)
    expected: Counter = Counter()
    for left, right, count in zip(lefts, rights, counts, strict=True):
        expected[left_part[left], right_part[right]] += count
    few = sum(count for count in expected.values() if count < k)
    number = count_classes(
        given_classes, left_part, right_part, n_left, n_right, k, most, room, found
    )
    if few > most:
        assert number == -1
        return
    assert number == len(expected) == found.start[n_left]
    assert left_part[found.left[:n_left]].tolist() == list(range(n_left))[::-1]
    pairs = {
        (left_part[found.left[run]], right_part[found.right[i]]): found.counts[i]
        for run in range(n_left)
        for i in range(found.start[run], found.start[run + 1])
    }
    assert pairs == expected


def numbered(values: list[int]) -> tuple[np.ndarray, int]:
    """The same with numbers from 0 on, in the order of appearance; and how many there are."""
    known = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([known[value] for value in values], dtype=np.int32), len(known)


def runs(left, start, right, counts) -> ClassRuns:
    whole = (np.array(each, dtype=np.int32) for each in (left, start, right))
    return ClassRuns(*whole, np.array(counts, dtype=np.int64))


@examples(60)
@given(searches(max_nodes=6))
def test_a_node_that_was_seen_to_fail_is_counted_in_full_where_that_is_asked_for(search):
    """In whatever order both are asked; a node counts once."""
    problem, k, limit, _, order = search
    some = order[:20]
    asked, straight = engine(problem, k, limit), engine(problem, k, limit)
    for node in some:
        evaluation = straight.evaluate(node)
        assert asked.satisfies(node) == (evaluation.suppressed <= limit)
        assert straight.satisfies(node) == asked.satisfies(node)
    for node in some:
        assert asked.evaluate(node) == straight.evaluate(node)
        assert sizes_at(asked, node) == sizes_at(straight, node)
        assert asked.satisfies(node) == (asked.evaluate(node).suppressed <= limit)
    assert asked.visited == straight.visited == list(dict.fromkeys(some))


@examples(60)
@given(searches(max_nodes=6))
def test_suppression_and_satisfaction_are_monotone(search):
    """Predictive tagging: going up suppresses no more, and reaches no smaller k."""
    problem, k, limit, _, order = search
    lattice = engine(problem, k, limit)
    for node in order[:40]:
        here = lattice.evaluate(node)
        for one in lattice.above(node):
            above = lattice.evaluate(one)
            assert above.suppressed <= here.suppressed
            assert above.all_classes <= here.all_classes
            assert above.all_squares >= here.all_squares
            assert lattice.anonymity(one) >= lattice.anonymity(node)
            assert lattice.losses[one] >= lattice.losses[node]


def test_the_trace_of_a_release():
    tree = PlainTree({"*": None, **dict.fromkeys("abc", "*")})
    problem = Problem((tree, tree), (("a", "a"), ("a", "b"), ("b", "a"), ("c", "c")))
    lattice = engine(problem, 2, 1)
    lattice.evaluate((1, 0))
    lattice.evaluate((0, 1))
    lattice.evaluate((1, 0))
    release = lattice.release((0, 1), [(0, 0), (0, 1)])
    assert release.trace.node == (0, 1)
    assert release.trace.walk == ((0, 0), (0, 1))
    assert release.trace.visited.tolist() == [[1, 0], [0, 1]]
    assert release.trace.evaluated == 2
    assert release.trace.steps == 2
    assert release.counts.tolist() == [2]
    assert release.suppressed_records == 2


# --- Room: what is kept is bounded, and what was dropped is counted again -----------------------
@pytest.mark.nightly
def test_a_full_memory_changes_nothing(monkeypatch):
    problem = wide(300, 4, 12)
    for name in ("_MOST_SNAPSHOT_BYTES", "_MOST_PART_BYTES"):
        monkeypatch.setattr(kanon.algorithms.lattice_counts, name, 2_000)
    lattice, plain = engine(problem, 4, 20), PlainLattice(problem, 4, 20)
    for node in lattice.nodes():
        check_node(lattice, plain, node)
    kept = sum(each.nbytes for snapshot in lattice._counts._snapshots for each in snapshot)
    assert 0 < kept <= 2_000
    assert all(half.held <= 2_000 or len(half.known) == 1 for half in lattice._counts._halves)
