"""One yardstick: releases made with one set of hierarchies, measured in another."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon.algorithms import gaa, gaa_small
from kanon.algorithms.task import Task
from kanon.base.progress import ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.ranges import LeafRange, add_ranges
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.measures.along import Curves, Points, measure_curves, measure_points
from kanon.measures.summary import measure_release
from kanon.measures.yardstick import convert_path, convert_recoding, match_nodes
from kanon.metrics import exact_potentials, metric_named
from kanon.privacy.entropy_l_diversity import EntropyLDiversity
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource
from support.random_tables import SEVEN, PlainTree, Problem, examples, trees

METRICS = [metric_named(name) for name in SEVEN]


def leaves_under(tree: PlainTree, node: str) -> set[str]:
    return {leaf for leaf in tree.leaves if node in tree.paths[leaf]}


def least_cover(other: PlainTree, leaves: set[str]) -> str:
    """The lowest node whose leaves include all given ones that the tree has; else the root."""
    shared = leaves & set(other.leaves)
    if not shared:
        return other.root
    covering = [node for node in other.parents if shared <= leaves_under(other, node)]
    return max(covering, key=lambda node: len(other.paths[node]))


def relabelled(tree: PlainTree, names: list[str], inner: str) -> PlainTree:
    """The tree with those names for its leaves, and names of its own for its inner nodes."""
    called = dict(zip(tree.leaves, names, strict=True))
    called |= {node: f"{inner}{node}" for node in tree.parents if node not in called}
    return PlainTree(
        {called[node]: None if above is None else called[above]
         for node, above in tree.parents.items()}
    )  # fmt: skip


@st.composite
def pairs(draw, same_leaves: bool = False) -> tuple[PlainTree, PlainTree]:
    """Two trees over leaves that they share, in part or all."""
    one, other = draw(trees(max_nodes=14)), draw(trees(max_nodes=14))
    n, m = len(one.leaves), len(other.leaves)
    if same_leaves:
        # The leaves that the second tree has too many stand under its root, or are left out.
        names = [f"l{place}" for place in range(n)]
        parents = dict(
            relabelled(other, draw(st.permutations([f"l{i}" for i in range(m)])), "o").parents
        )
        if m > n:
            assume(False)
        root = next(node for node, above in parents.items() if above is None)
        assume(root not in names or n == m == 1)
        parents |= {name: root for name in names if name not in parents}
        return relabelled(one, names, "t"), PlainTree(parents)
    pool = [f"l{place}" for place in range(max(n, m) + draw(st.integers(0, 3)))]
    first = draw(st.permutations(pool))[:n]
    second = draw(st.permutations(pool))[:m]
    return relabelled(one, first, "t"), relabelled(other, second, "o")


@examples(200)
@given(pairs())
def test_a_node_becomes_the_least_that_covers_its_leaves(pair):
    tree, other = pair
    found = match_nodes(tree.build(), other.build())
    assert found.shape == (len(tree.parents),)
    assert found.dtype == np.int32
    for node, place in tree.number.items():
        expected = least_cover(other, leaves_under(tree, node))
        assert other.order[found[place]] == expected, node


@examples(100)
@given(pairs(), st.data())
def test_a_range_becomes_the_least_that_covers_its_leaves(pair, data):
    tree, other = pair
    built, n = tree.build(), len(tree.leaves)
    first = data.draw(st.integers(0, n - 1))
    last = data.draw(st.integers(first + 1, n))
    ranged = add_ranges(built, [LeafRange(first, last, "from first to last")])
    met = match_nodes(ranged, other.build())[-1]
    assert other.order[met] == least_cover(other, set(built.labels[first:last]))


def test_a_leaf_here_may_be_a_group_there():
    tree = suppression(["x", "g"])
    other = groups([{"g": ["a", "b"]}, {"*": ["g", "x"]}])
    found = {tree.labels[v]: other.labels[u] for v, u in enumerate(match_nodes(tree, other))}
    assert found == {"x": "x", "g": "g", "*": "*"}


# --- Releases -----------------------------------------------------------------------------------
def table(first: PlainTree, second: PlainTree, rng: np.random.Generator) -> EquivalenceClasses:
    """A table of leaves with a sensitive column."""
    rows = tuple((str(rng.choice(first.leaves)), str(rng.choice(second.leaves))) for _ in range(40))
    problem = Problem((first, second), rows)
    frame = problem.frame().assign(ill=rng.choice(list("ABC"), len(rows)))
    roles = dict.fromkeys(problem.columns, Role.QUASI_IDENTIFIER) | {"ill": Role.SENSITIVE}
    named = dict(zip(problem.columns, problem.hierarchies, strict=True))
    return MemorySource(frame, Schema(roles), named).classes


def task_of(classes: EquivalenceClasses, **chosen) -> Task:
    depths = exact_potentials(metric_named("nllm"), classes.hierarchies)
    n = classes.n_records
    return Task(classes, scale_potentials(depths, n), n, **chosen)


@st.composite
def measured(draw) -> tuple[EquivalenceClasses, tuple[Hierarchy, Hierarchy]]:
    """A table, and other trees over the same leaves."""
    (a, b), (c, d) = draw(pairs(same_leaves=True)), draw(pairs(same_leaves=True))
    classes = table(a, c, np.random.default_rng(draw(st.integers(0, 2**32))))
    return classes, (b.build(), d.build())


@pytest.mark.nightly
@examples(35)
@given(measured())
def test_curves_in_other_terms_are_the_measures_in_other_terms(case):
    classes, yardstick = case
    path = gaa.merge_path(task_of(classes))
    curves = measure_curves(convert_path(path, yardstick), METRICS)
    for k in range(1, classes.n_records + 1):
        found = measure_release(convert_recoding(path.at(k), yardstick), METRICS)
        row = {name: values[0] for name, values in curves.at([k]).items()}
        assert row["min_k"] == path.at(k).min_k == found["min_k"]
        assert row["classes"] == path.at(k).n_classes == found["classes"]
        for name in ("root_percent", "generalised_percent", "mean_alteration",
                     "deleted_among_modified_percent"):  # fmt: skip
            assert row[name] == pytest.approx(found[name], abs=1e-9), name
        for metric, value in found["alteration"].items():
            assert row[f"alteration_{metric}"] == pytest.approx(value, abs=1e-9)
        assert row["entropy_l"] == pytest.approx(found["entropy_l"])
        assert row["t_norm1"] == pytest.approx(found["t_norm1"])


@examples(35)
@given(measured())
def test_cell_by_cell(case):
    """The released cells are what the definition says, and so is how many are roots."""
    classes, yardstick = case
    release = gaa.merge_path(task_of(classes)).at(3)
    found = convert_recoding(release, yardstick)
    assert isinstance(found, Recoding)
    at_root = 0
    for original, low, high in zip(
        classes.counts.tolist(), release.targets.tolist(), found.targets.tolist(), strict=True
    ):
        for tree, other, node, met in zip(classes.hierarchies, yardstick, low, high, strict=True):
            mine = {tree.labels[v] for v in range(tree.n_leaves) if above(tree, v, node)}
            its = {other.labels[v] for v in range(other.n_leaves) if above(other, v, met)}
            assert mine <= its
            for smaller in range(other.n_nodes):
                under = {other.labels[v] for v in range(other.n_leaves) if above(other, v, smaller)}
                if mine <= under:
                    assert its <= under
            at_root += original * (met == other.root)
    percent = 100 * at_root / classes.n_cells
    assert measure_release(found, METRICS)["root_percent"] == pytest.approx(percent)


def above(tree: Hierarchy, low: int, node: int) -> bool:
    """Whether a node is another one or above it."""
    while low != node and tree.parent[low] >= 0:
        low = int(tree.parent[low])
    return low == node


def test_a_sweep_measures_by_the_yardstick():
    """Curves of a path, points of single runs and of runs with models: each as measured alone."""
    rng = np.random.default_rng(3)
    leaves = [f"v{place}" for place in range(12)]
    fine = PlainTree({"*": None, **{f"g{i}": "*" for i in range(4)},
                      **{leaf: f"g{place % 4}" for place, leaf in enumerate(leaves)}})  # fmt: skip
    flat = PlainTree({"*": None, **dict.fromkeys(leaves, "*")})
    classes = table(fine, fine, rng)
    yardstick = (flat.build(), flat.build())
    plain = task_of(classes)
    others = task_of(classes, models=(EntropyLDiversity(1.8, "ill"),))
    ks = [2, 5, 20]
    runs = [
        PlannedRun(name, task, by)
        for name in ("gaa", "gaa-small")
        for task in (plain, others)
        for by in (None, yardstick)
    ]
    found = run_sweep(ignore_progress, runs, ks, METRICS)
    for planned, each in zip(runs, found, strict=True):
        releases = {}
        for k in ks:
            module = gaa if planned.algorithm == "gaa" else gaa_small
            task = Task(classes, plain.potentials, k, models=planned.task.models)
            release = module.anonymise(task)
            by = planned.measuring_hierarchies
            releases[k] = convert_recoding(release, by) if by else release
        expected = measure_points(releases, METRICS).at(ks)
        assert isinstance(each, Curves if planned.task is plain and module is gaa else Points)
        for name, values in each.at(ks).items():
            assert values.tolist() == pytest.approx(expected[name].tolist(), abs=1e-9), name
    # Of a flat tree every changed cell is a root.
    flat_numbers, own = found[1].at(ks), found[0].at(ks)
    assert flat_numbers["root_percent"].tolist() == flat_numbers["generalised_percent"].tolist()
    assert (flat_numbers["root_percent"] > own["root_percent"])[0]
