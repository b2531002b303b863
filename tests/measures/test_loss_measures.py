"""Measures beyond alteration against what is counted record by record, and the metric entropy."""

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.algorithms import gaa
from kanon.algorithms.lattice_size import compute_nodes_by_level
from kanon.algorithms.task import Task
from kanon.errors import MetricError, PlanError
from kanon.experiments.sweep import sweep
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.measures import (
    alteration,
    average_class_size,
    c_avg,
    classification_metric,
    conditional_entropy,
    conditional_entropy_share,
    discernibility,
    general_loss,
    iloss,
    iloss_mean,
    level_of_generalisation,
    non_uniform_entropy,
    precision,
    relative_distance,
)
from kanon.measures.along import measure_curves, measure_points
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.linkage import find_matches
from kanon.measures.node_losses import (
    conditional_bits,
    leaf_share_lost,
    level_share,
    other_leaves_share,
    record_bits,
)
from kanon.measures.summary import measure_release
from kanon.measures.yardstick import convert_recoding
from kanon.metrics import METRICS, edge_weights, metric_named, potentials
from kanon.plan import Plan
from kanon.recoding import Recoding, Trace
from kanon.run import run
from kanon.sensitive import Sensitive
from oracles.plain_scan import scan
from support.measured_tables import AGES, SEX, Row, by_hand, of_leaves, recoded, releases
from support.random_tables import SEVEN, PlainTree, Problem, algorithms, examples, problems, raised

ENTROPY = metric_named("entropy")
LOSSES = (iloss, general_loss, non_uniform_entropy)
"""What never falls on the way up; precision never rises."""


# --- the plainest possible answers, from lists of records ---------------------------------------
def below(tree: PlainTree, node: str, column: list[str]) -> list[str]:
    """The values of a column that stand at a node or below it."""
    return [value for value in column if node in tree.paths[value]]


def bits(values: list[str]) -> float:
    """The entropy of a list of values."""
    n = len(values)
    return -sum(c / n * math.log2(c / n) for c in Counter(values).values())


def plain_numbers(
    trees: tuple[PlainTree, ...], before: list[Row], after: list[Row | None], k: int
) -> dict[str, float | None]:
    """All measures but those of levels, from the records before and after; None: suppressed."""
    n = len(before)
    roots = tuple(tree.root for tree in trees)
    lost, others, levels = Fraction(0), Fraction(0), Fraction(0)
    open_bits, most_bits, rarer = 0.0, 0.0, 0.0
    for j, tree in enumerate(trees):
        column = [row[j] for row in before]
        leaves, top = len(tree.leaves), tree.height - 1
        most_bits += n * bits(column)
        for old, row in zip(column, after, strict=True):
            new = (roots if row is None else row)[j]
            other = tree.leaves_covered[new] - 1
            lost += Fraction(other, leaves)
            others += Fraction(other, leaves - 1) if leaves > 1 else 0
            levels += Fraction(tree.level[new], top) if top else 0
            there = below(tree, new, column)
            open_bits += bits(there)
            rarer += math.log2(len(there) / len(below(tree, old, column)))
    left = [row for row in after if row is not None]
    classes, gone = set(left), n - len(left)
    cells = n * len(trees)
    average = len(left) / len(classes) if classes else None
    return {
        "iloss": float(lost),
        "iloss_mean": float(lost / cells),
        "general_loss": float(others / cells),
        "precision": float(1 - levels / cells),
        "conditional_entropy_bits": open_bits,
        "conditional_entropy_percent": 100 * open_bits / most_bits if most_bits else 0.0,
        "non_uniform_entropy_bits": rarer,
        "discernibility": sum(left.count(row) for row in left) + n * gone,
        "average_class_size": average,
        "c_avg": None if average is None else average / k,
    }


# --- random releases ----------------------------------------------------------------------------
@st.composite
def full_domain(draw, leaves: bool = False):
    """A table raised to one level per column, nobody suppressed."""
    problem = draw(problems(max_records=14))
    if leaves:
        problem = of_leaves(problem, draw)
    node = tuple(draw(st.integers(0, tree.height - 1)) for tree in problem.trees)
    to = {labels: tuple(map(raised, problem.trees, labels, node)) for labels in problem.sizes}
    return problem, node, recoded(problem, to, trace=Trace(node=node))


# --- the same numbers ---------------------------------------------------------------------------
@examples(120)
@given(releases(), st.integers(1, 5))
def test_measures_are_what_is_counted_record_by_record(case, k):
    problem, to, recoding = case
    expected = plain_numbers(
        problem.trees, list(problem.rows), [to[row] for row in problem.rows], k
    )
    found = measure_release(recoding, [METRICS["ncp"]], k)
    for name, value in expected.items():
        wanted = value if value is None else pytest.approx(value, rel=1e-12, abs=1e-9)
        assert found[name] == wanted, name
    assert found["level_of_generalisation"] is found["relative_distance"] is None
    json.dumps(found)


@examples(150)
@given(full_domain())
def test_levels_are_summed_where_all_records_have_them(case):
    problem, node, recoding = case
    shares = [Fraction(x, t.height - 1) for x, t in zip(node, problem.trees, strict=True) if x]
    assert level_of_generalisation.value(recoding) == sum(node)
    assert relative_distance.value(recoding) == pytest.approx(float(sum(shares)), rel=1e-12)
    json.dumps(measure_release(recoding, [METRICS["ncp"]]))
    elsewhere = convert_recoding(recoding, recoding.classes.hierarchies)
    assert level_of_generalisation.value(elsewhere) is None, "levels of other trees"
    for j, tree in enumerate(problem.hierarchies):
        plain = [raised(problem.trees[j], label, node[j]) for label in problem.trees[j].order]
        engine = [tree.labels[v] for v in compute_nodes_by_level(tree)[node[j]]]
        assert plain == engine, "the lattice raises as is said here"


@examples(120)
@given(releases(), st.lists(st.sampled_from("uvw"), min_size=14, max_size=14))
def test_the_classification_metric_counts_who_differs_from_most(case, secrets):
    problem, to, recoding = case
    secrets = secrets[: len(problem.rows)]
    values = sorted(set(secrets))
    of_row = [list(problem.sizes).index(row) for row in problem.rows]
    sensitive = Sensitive.from_records(
        "ill", values, False, of_row, [values.index(x) for x in secrets], len(problem.sizes)
    )
    found = replace(recoding, classes=replace(recoding.classes, sensitive=(sensitive,)))
    wrong = 0
    for row, secret in zip(problem.rows, secrets, strict=True):
        if to[row] is None:
            wrong += 1
            continue
        same = [s for r, s in zip(problem.rows, secrets, strict=True) if to[r] == to[row]]
        best = max(sorted(set(same)), key=same.count)
        wrong += secret != best
    assert classification_metric.value(found, "ill") == wrong / len(problem.rows)
    assert measure_release(found, [METRICS["ncp"]])["classification_metric"] == wrong / len(
        problem.rows
    )
    two = replace(
        found, classes=replace(found.classes, sensitive=(sensitive, replace(sensitive, name="x")))
    )
    each = measure_release(two, [METRICS["ncp"]])["sensitive"]
    assert [each[name]["classification_metric"] for name in ("ill", "x")] == (
        [wrong / len(problem.rows)] * 2
    )
    with pytest.raises(PlanError, match="not sensitive"):
        classification_metric.value(found, "q0")


# --- by hand ------------------------------------------------------------------------------------
def test_every_measure_by_hand():
    recoding = by_hand()
    # Ages: four at A (2 of 4 leaves), two at c, two at the root. Sex: F F F * M M * *.
    assert iloss.value(recoding) == 4 * 1 / 4 + 2 * 3 / 4 + 3 * 1 / 2
    assert iloss_mean.value(recoding) == 4 / 16
    # Ages count twice as much: of 8 · (2 + 1) weights.
    assert iloss.value(recoding, (2, 1)) == 2 * (4 * 1 / 4 + 2 * 3 / 4) + 3 * 1 / 2
    assert iloss_mean.value(recoding, (2, 1)) == 6.5 / 24
    assert iloss.value(recoding, (0, 1)) == 3 * 1 / 2 and iloss_mean.value(recoding, (0, 0)) == 0
    for wrong in ((1, -1), (1, math.nan), (1, math.inf), (1,), (1, 1, 1)):
        with pytest.raises(MetricError, match="at least 0 per quasi-identifier"):
            iloss.value(recoding, wrong)
    assert general_loss.value(recoding) == pytest.approx((4 / 3 + 2 + 3) / 16)
    assert precision.value(recoding) == 1 - (4 * 1 / 2 + 2 + 3) / 16
    # A holds a, a, b, b: 1 bit; the root four pairs: 2 bits. Sex: 3 F, 5 M.
    of_sex = -(3 / 8 * math.log2(3 / 8) + 5 / 8 * math.log2(5 / 8))
    assert conditional_entropy.value(recoding) == pytest.approx(4 * 1 + 2 * 2 + 3 * of_sex)
    assert conditional_entropy_share.value(recoding) == pytest.approx(
        100 * (8 + 3 * of_sex) / (8 * 2 + 8 * of_sex)
    )
    # a, b: from 2 records to 4. d: from 2 to 8. Three of the five M: from 5 to 8.
    assert non_uniform_entropy.value(recoding) == pytest.approx(4 + 2 * 2 + 3 * math.log2(8 / 5))
    # Classes of 3, 1 and 2 records; two records are suppressed.
    assert discernibility.value(recoding) == 9 + 1 + 4 + 2 * 8
    assert average_class_size.value(recoding) == 2
    assert c_avg.value(recoding, 4) == 0.5


def test_levels_by_hand():
    recoding = by_hand(trace=Trace(node=(1, 1)))
    assert level_of_generalisation.value(recoding) == 2
    assert relative_distance.value(recoding) == 1 / 2 + 1 / 1


def test_conditional_entropy_may_fall_on_the_way_up():
    """One of two beside ninety-eight others: in A a coin toss, in the whole table nearly known."""
    tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    found = conditional_bits(tree, np.array([1, 1, 98, 0, 0]))
    assert found[3] == 1.0 and 0.1 < found[4] < 0.2
    assert found[:3].tolist() == [0, 0, 0]


def test_one_value_leaves_nothing_open_whatever_the_roundings():
    """C log C / C is not always log C in floats."""
    tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    for count in range(1, 400):
        assert conditional_bits(tree, np.array([count, 0, 0, 0, 0])).tolist() == [0] * 5


# --- laws -----------------------------------------------------------------------------------------
def test_a_tree_of_one_node_has_nothing_to_lose():
    tree = PlainTree({"x": None}).build()
    assert leaf_share_lost(tree).tolist() == other_leaves_share(tree).tolist() == [0]
    assert level_share(tree).tolist() == record_bits(tree, np.array([1])).tolist() == [0]
    assert conditional_bits(tree, np.array([7])).tolist() == [0]


@examples(120)
@given(releases(), st.data())
def test_losses_never_fall_one_level_up(case, data):
    problem, to, lower = case
    labels = data.draw(st.sampled_from(list(problem.sizes)))
    j = data.draw(st.integers(0, len(problem.trees) - 1))
    now = to[labels] or tuple(tree.root for tree in problem.trees)
    above = problem.trees[j].parents[now[j]] or now[j]
    raised = (*now[:j], above, *now[j + 1 :])
    higher = recoded(problem, {**to, labels: raised if to[labels] else None})
    for measure in LOSSES:
        assert measure.value(higher) >= measure.value(lower) - 1e-9
    assert precision.value(higher) <= precision.value(lower) + 1e-12


@examples(120)
@given(full_domain(leaves=True))
def test_conditional_is_non_uniform_entropy_of_a_full_domain_release(case):
    """Where all records below a node become that node, its cells leave open what they lost."""
    _, _, recoding = case
    assert conditional_entropy.value(recoding) == pytest.approx(
        non_uniform_entropy.value(recoding), rel=1e-12, abs=1e-9
    )


@examples(120)
@given(releases())
def test_non_uniform_entropy_is_the_cost_that_the_metric_entropy_counts(case):
    problem, _, recoding = case
    most = non_uniform_entropy.value(recoded(problem, dict.fromkeys(problem.sizes)))
    percent = 100 * non_uniform_entropy.value(recoding) / most if most else 0
    assert alteration.value(recoding, ENTROPY) == pytest.approx(percent, rel=1e-9, abs=1e-9)


@examples(120)
@given(releases(leaves=True))
def test_precision_is_the_complement_of_total_on_leaves(case):
    problem, _, recoding = case
    if all(tree.height > 1 for tree in problem.trees):
        found = 1 - alteration.value(recoding, METRICS["total"]) / 100
        assert precision.value(recoding) == pytest.approx(found, abs=1e-12)


@examples(80)
@given(releases())
def test_suppressed_records_are_root_cells_but_no_class(case):
    problem, to, recoding = case
    roots = tuple(tree.root for tree in problem.trees)
    raised = recoded(problem, {labels: new or roots for labels, new in to.items()})
    for measure in (*LOSSES, precision, conditional_entropy, conditional_entropy_share):
        assert measure.value(recoding) == measure.value(raised)
    assert recoding.n_classes <= raised.n_classes


@examples(80)
@given(releases())
def test_the_order_of_columns_changes_no_digit(case):
    """Sums are rounded once."""
    problem, to, recoding = case
    turned = Problem(problem.trees[::-1], tuple(row[::-1] for row in problem.rows))
    other = recoded(turned, {x[::-1]: None if y is None else y[::-1] for x, y in to.items()})
    for measure in (*LOSSES, precision, conditional_entropy, conditional_entropy_share):
        assert measure.value(other) == measure.value(recoding)


def test_a_table_without_records_has_lost_nothing():
    problem = Problem((AGES,), (("a",),))
    nobody = problem.classes()
    nobody = replace(nobody, nodes=nobody.nodes[:0], counts=nobody.counts[:0])
    recoding = Recoding.from_targets(nobody, nobody.nodes)
    found = measure_release(recoding, [METRICS["ncp"], ENTROPY])
    assert (found["precision"], found["general_loss"], found["discernibility"]) == (1, 0, 0)
    assert found["conditional_entropy_percent"] == found["alteration"]["entropy"] == 0
    assert found["c_avg"] is found["min_k"] is None


# --- ranges ---------------------------------------------------------------------------------------
@st.composite
def ranged(draw):
    """A tree or a flat column, with ranges beside it, as (tree, ranges, hierarchy)."""
    tree = draw(problems(max_attributes=1, max_nodes=10)).trees[0]
    built = tree.build() if draw(st.booleans()) else build_flat_hierarchy(tree.leaves)
    ends = st.integers(0, built.n_leaves - 1)
    pairs = {tuple(sorted(pair)) for pair in draw(st.lists(st.tuples(ends, ends), max_size=5))}
    ranges = [LeafRange(lo, hi + 1, f"[{lo}, {hi}]") for lo, hi in sorted(pairs)]
    return built, ranges, add_ranges(built, ranges)


@examples(150)
@given(ranged(), st.data())
def test_sums_below_a_range_are_of_the_nodes_within(case, data):
    built, ranges, found = case
    size = found.n_nodes
    values = np.array(data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size)))
    sums = found.sum_below(values)
    assert sums[: built.n_nodes].tolist() == built.sum_below(values[: built.n_nodes]).tolist()
    for place, one in enumerate(ranges, start=built.n_nodes):
        within = (built.first >= one.first) & (built.last <= one.last)
        assert sums[place] == values[place] + values[: built.n_nodes][within].sum()
    assert found.sum_below(values > 4).tolist() == found.sum_below((values > 4) * 1).tolist()
    assert found.sum_below(values / 2).tolist() == (sums / 2).tolist()


@examples(80)
@given(ranged(), st.data())
def test_what_cells_lose_in_a_range(case, data):
    built, ranges, found = case
    size = built.n_leaves
    counts = np.array(data.draw(st.lists(st.integers(0, 6), min_size=size, max_size=size)))
    at = np.zeros(found.n_nodes, dtype=np.int64)
    at[:size] = counts
    open_bits, share = conditional_bits(found, at), leaf_share_lost(found)
    depth = potentials(ENTROPY, [found], [found.sum_below(at)])[0]
    for place, one in enumerate(ranges, start=built.n_nodes):
        there = [str(v) for v in range(one.first, one.last) for _ in range(counts[v])]
        assert open_bits[place] == pytest.approx(bits(there) if there else 0, abs=1e-12)
        assert share[place] == pytest.approx((one.last - one.first - 1) / size)
        if there:
            assert depth[place] == pytest.approx(math.log2(counts.sum() / len(there)))
        else:
            assert depth[place] == depth[found.parent[place]]


def test_a_release_of_ranges_is_measured_and_searched():
    """Ages 1, 2, 2, 3 and 9 in [1, 2] and [3, 9]."""
    tree = build_flat_hierarchy(["1", "2", "3", "9"])
    problem = Problem(
        (PlainTree({"*": None, "1": "*", "2": "*", "3": "*", "9": "*"}),),
        (("1",), ("2",), ("2",), ("3",), ("9",)),
    )
    classes = replace(problem.classes(), hierarchies=(tree,))
    ranges = (add_ranges(tree, [LeafRange(0, 2, "[1, 2]"), LeafRange(2, 4, "[3, 9]")]),)
    to = np.array([[5], [5], [6], [6]])
    recoding = Recoding.from_targets(classes, to, hierarchies=ranges)
    assert iloss.value(recoding) == 5 * 1 / 4
    assert precision.value(recoding) == 1 - 5 * (1 / 2) / 5
    third = bits(["1", "2", "2"])
    assert conditional_entropy.value(recoding) == pytest.approx(3 * third + 2 * 1)
    assert non_uniform_entropy.value(recoding) == pytest.approx(
        math.log2(3 / 1) + 2 * math.log2(3 / 2) + 2 * math.log2(2 / 1)
    )
    whole = math.log2(5) * 3 + 2 * math.log2(5 / 2)
    assert alteration.value(recoding, ENTROPY) == pytest.approx(
        100 * non_uniform_entropy.value(recoding) / whole
    )
    assert [find_matches(recoding.released, {"q0": x}).records for x in "1239"] == [3, 3, 2, 2]


# --- no class left --------------------------------------------------------------------------------
def test_without_a_class_nothing_is_the_smallest():
    problem = Problem((AGES, SEX), (("a", "F"), ("b", "M")))
    ill = Sensitive.from_records("ill", ["cold", "flu"], False, [0, 1], [0, 1], 2)
    classes = replace(problem.classes(), sensitive=(ill,))
    none = Recoding.from_targets(classes, classes.nodes, np.array([True, True]))
    some = Recoding.from_targets(classes, classes.nodes, np.array([True, False]))
    found = measure_release(none, [METRICS[name] for name in SEVEN], 2)
    for name in ("min_k", "average_class_size", "c_avg", "prosecutor", "entropy_l", "t_norm1"):
        assert found[name] is None, name
    assert (found["suppressed"], found["classification_metric"], found["precision"]) == (2, 1, 0)
    assert found["discernibility"] == 4
    points = measure_points({2: some, 3: none}, [METRICS["ncp"]])
    assert points.at([3, 2])["classes"].tolist() == [0, 1]
    for name in ("min_k", "entropy_l", "t_norm1"):
        last, first = points.at([3, 2])[name]
        assert np.isnan(last) and first in (0, 1)
    assert points.get_class_sizes([3, 2]).tolist() == [[0, 0], [1, 0]]


# --- the metric -----------------------------------------------------------------------------------
@examples(200)
@given(problems(max_records=16))
def test_potentials_of_entropy_are_counted_record_by_record(problem):
    classes = problem.classes()
    found = potentials(ENTROPY, classes.hierarchies, classes.records_below)
    weights = edge_weights(ENTROPY, classes.hierarchies, classes.records_below)
    for j, (plain, tree) in enumerate(zip(problem.trees, classes.hierarchies, strict=True)):
        column = [row[j] for row in problem.rows]
        count = {node: len(below(plain, node, column)) for node in plain.parents}
        assert classes.records_below[j].tolist() == [count[node] for node in tree.labels]
        assert found[j][tree.root] == weights[j][tree.root] == 0
        for node, above in plain.parents.items():
            if above is None:
                continue
            weight = math.log2(count[above] / count[node]) if count[node] else 0
            v = tree.node_of[node]
            assert weights[j][v] == pytest.approx(weight, rel=1e-12, abs=1e-12)
            assert found[j][v] == pytest.approx(
                found[j][tree.node_of[above]] + weight, rel=1e-12, abs=1e-12
            )
            if count[node] in (0, count[above]):
                assert weights[j][v] == 0, "nothing is lost where nobody else comes in"


def test_entropy_needs_the_records_of_the_table():
    tree = suppression(["a", "b"])
    with pytest.raises(MetricError, match="'entropy' needs the records of a table"):
        potentials(ENTROPY, [tree])
    with pytest.raises(ValueError, match="one count per node"):
        potentials(ENTROPY, [tree], [np.array([1, 2])])


def test_nobody_anywhere_costs_nothing():
    tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c"]}])
    assert potentials(ENTROPY, [tree], [np.zeros(5, dtype=int)])[0].tolist() == [0] * 5


@examples(80)
@given(problems(max_records=16), st.data())
def test_gaa_guided_by_entropy_takes_the_merges_of_a_plain_scan(problem, data):
    chosen = data.draw(algorithms(problem))
    weights = [chosen.get("attribute_weights", {}).get(name, 1.0) for name in problem.columns]
    classes = problem.classes()
    task = Task(
        classes,
        scale_metric_potentials(classes, ENTROPY, weights),
        len(problem.rows),
        chosen["cost"] == "weighted",
        chosen["tie_seed"],
    )
    found, expected = gaa.merge_path(task), scan(task)
    assert np.array_equal(found.parts, expected.parts)
    assert np.array_equal(found.nodes, expected.nodes)
    curves = measure_curves(found, [ENTROPY])
    for k in range(1, len(problem.rows) + 1):
        assert curves.alteration["entropy"][curves.row(k)] == pytest.approx(
            alteration.value(found.at(k), ENTROPY), rel=1e-9, abs=1e-9
        )


def test_entropy_guides_a_plan_and_is_measured_then_alone():
    problem = Problem((AGES, SEX), (("a", "F"), ("b", "F"), ("c", "M"), ("d", "M")))
    done = run(Plan.from_content(problem.plan(k=2, metric="entropy")), problem.frame())
    assert set(done.measures["alteration"]) == {*SEVEN, "entropy"}
    shown = [done.measures["alteration"][name] for name in SEVEN]
    assert done.measures["mean_alteration"] == pytest.approx(sum(shown) / 7), "of the seven"
    other = run(Plan.from_content(problem.plan(k=2)), problem.frame())
    assert set(other.measures["alteration"]) == {*SEVEN}
    assert done.measures["c_avg"] == pytest.approx(done.measures["average_class_size"] / 2)


def test_a_sweep_may_be_guided_by_entropy():
    problem = Problem((AGES, SEX), (("a", "F"), ("b", "F"), ("c", "M"), ("d", "M")))
    found = sweep(Plan.from_content(problem.plan(k=2)), problem.frame(), [2, 4], ["ncp", "entropy"])
    assert found["metric"].tolist() == ["ncp"] * 2 + ["entropy"] * 2
    assert found["alteration_entropy"].iloc[[1, 3]].tolist() == [100, 100]
