"""Metrics: the edge weights of the table in model.md, cost matrices, potentials as integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon import metrics
from kanon.cards import Card
from kanon.errors import HierarchyError, MetricError
from kanon.hierarchy.build import suppression
from kanon.hierarchy.intermediate_costs import COMPOSED
from kanon.hierarchy.ranges import LeafRange, add_ranges, build_flat_hierarchy
from kanon.hierarchy.scaled_potentials import scale_potentials
from kanon.metrics import (
    METRICS,
    MULTIPLIERS,
    PUBLISHED,
    Metric,
    metric_named,
    potentials,
)
from support.random_tables import (
    SEVEN,
    PlainTree,
    edge_weights,
    examples,
    multiplier,
    path_cost,
    trees,
)

FORESTS = st.lists(trees(max_nodes=9), min_size=1, max_size=4)
WEIGHTED = st.lists(trees(max_nodes=9, weighted=True), min_size=1, max_size=4)
MAMMALS = PlainTree(
    {"Mammal": None, "Felid": "Mammal", "Dog": "Mammal", "Cat": "Felid", "Lion": "Felid"},
    {"Cat": 1, "Lion": 1, "Dog": 4, "Felid": 3},
)


def matrix_of(plain: PlainTree, metric: str = "custom") -> tuple[np.ndarray, list[str]]:
    tree = plain.build()
    depth = potentials(metric_named(metric), [tree])[0]
    ancestors = tree.common_ancestors(range(tree.n_nodes))
    return depth[:, None] - depth[ancestors], list(tree.labels)


# --- The table of the seven metrics -------------------------------------------------------------
def test_the_seven_metrics_are_there():
    assert set(SEVEN) == set(PUBLISHED)
    assert set(METRICS) >= {*SEVEN, "entropy", "general-loss", "custom"}


@pytest.mark.parametrize("name", SEVEN)
@examples(150)
@given(FORESTS)
def test_edge_weights_are_those_of_the_table(name, forest):
    built = [plain.build() for plain in forest]
    found = metrics.edge_weights(metric_named(name), built)
    for tree, weights, expected in zip(built, found, edge_weights(name, forest), strict=True):
        assert weights.shape == (tree.n_nodes,)
        assert weights[tree.root] == 0
        for node, weight in expected.items():
            assert weights[tree.node_of[node]] == pytest.approx(float(weight), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", [*SEVEN, "custom"])
@examples(75)
@given(WEIGHTED)
def test_potentials_are_the_path_sums_to_the_root(name, forest):
    built = [plain.build() for plain in forest]
    found = potentials(metric_named(name), built)
    exact = edge_weights(name, forest)
    for plain, tree, depth, weights in zip(forest, built, found, exact, strict=True):
        assert depth[tree.root] == 0
        for node, path in plain.paths.items():
            for above in path:
                difference = depth[tree.node_of[node]] - depth[tree.node_of[above]]
                assert difference == pytest.approx(
                    float(path_cost(plain, weights, node, above)), rel=1e-12, abs=1e-12
                )


@examples(50)
@given(WEIGHTED)
def test_drawn_weights_are_kept_exactly(forest):
    built = [plain.build() for plain in forest]
    found = metrics.edge_weights(metric_named("custom"), built)
    for plain, tree, weights in zip(forest, built, found, strict=True):
        assert {x: weights[tree.node_of[x]] for x in plain.weights} == plain.weights


@pytest.mark.parametrize("kind", ["none", "w1", "w2"])
@given(st.lists(st.integers(1, 30), min_size=1, max_size=12))
@example([1]).via("m = 1")
@example([7]).via("m = 1")
@example([1, 1, 1]).via("all h = 1")
@example([1, 5]).via("one tree of a single node")
@example([30] * 12).via("large powers")
@examples(150)
def test_multipliers(kind, heights):
    assert MULTIPLIERS[kind](heights) == [multiplier(kind, j, heights) for j in range(len(heights))]


def test_w1_by_hand():
    assert MULTIPLIERS["w1"]([5, 2]) == [Fraction(1, 17), Fraction(16, 17)]
    assert MULTIPLIERS["w1"]([1, 1, 1]) == [1, 1, 1]
    assert MULTIPLIERS["w1"]([4]) == [1]
    assert MULTIPLIERS["w2"]([5, 2]) == [1, Fraction(5, 2)]


def test_w1_of_many_high_trees_is_exact():
    assert MULTIPLIERS["w1"]([1000] * 400) == [1 - Fraction(1, 400)] * 400


@pytest.mark.parametrize(
    ("name", "expected", "other"),
    [
        ("ncp", ["2/3", "2/3", "1", "1/3"], "1"),
        ("llm", ["2", "2", "3", "1"], "3"),
        ("nllm", ["2/3", "2/3", "1", "1/3"], "3/2"),
        ("wllm", ["2/5", "2/5", "3/5", "1/5"], "8/5"),
        ("wnllm", ["2/15", "2/15", "3/15", "1/15"], "4/5"),
    ],
)
def test_lost_leaves_by_hand(name, expected, other):
    """Felid has 2 leaves below it, Mammal 3, a leaf none; of two values a leaf loses 2.

    So Cat up to Felid 2 − 0, Dog up to Mammal 3 − 0, Felid up to Mammal 3 − 2. m = 2, h = 3 and 2:
    w1 = 1 − 4/5 and 1 − 1/5, w2 = 1 and 3/2.
    """
    sex = PlainTree({"*": None, "F": "*", "M": "*"})
    of_race, of_sex = metrics.edge_weights(metric_named(name), [MAMMALS.build(), sex.build()])
    exact = [float(Fraction(weight)) for weight in expected]
    assert MAMMALS.order[:4] == ["Cat", "Lion", "Dog", "Felid"]
    assert of_race == pytest.approx([*exact, 0], rel=1e-12)
    assert of_sex == pytest.approx([float(Fraction(other))] * 2 + [0], rel=1e-12)


@examples(150)
@given(FORESTS, st.data())
def test_llm_of_a_class_is_the_sum_of_the_edges_from_the_original_leaves(forest, data):
    """LLM(C) = |C| Σ nl(v) h_max / h, as Mauger et al. 2020 write it, without any edge."""
    values = [data.draw(st.sampled_from(plain.order)) for plain in forest]
    size = data.draw(st.integers(1, 4))
    highest = max(plain.height for plain in forest)
    whole = size * sum(
        plain.leaves_below[value] * Fraction(highest, plain.height)
        for plain, value in zip(forest, values, strict=True)
    )
    built = [plain.build() for plain in forest]
    found = 0.0
    for plain, tree, value, weights in zip(
        forest, built, values, metrics.edge_weights(metric_named("llm"), built), strict=True
    ):
        below = [leaf for leaf in plain.leaves if value in plain.paths[leaf]]
        for _ in range(size):  # the records of the class
            path = plain.paths[data.draw(st.sampled_from(below))]
            found += sum(weights[tree.node_of[node]] for node in path[: path.index(value)])
    assert found == pytest.approx(float(whole), rel=1e-12)


@examples(100)
@given(FORESTS)
def test_the_other_reading_counts_a_leaf_as_one_of_itself(forest):
    """The composed metric is NCP with nl(leaf) = 1: nl(v) = the leaves whose path holds v."""
    mine = Metric(Card("mine", "mine", "", ""), "other-leaves-normalised", "none")
    built = [plain.build() for plain in forest]
    for plain, tree, weights in zip(forest, built, metrics.edge_weights(mine, built), strict=True):
        nl = {node: sum(node in plain.paths[x] for x in plain.leaves) for node in plain.order}
        for node, above in plain.parents.items():
            rise = nl[above] - nl[node] if above else 0
            expected = rise / len(plain.leaves)
            assert weights[tree.node_of[node]] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_range_of_one_value_has_lost_nothing():
    """Of 3 values a range of two costs a leaf 2/3 and leaves 1/3 to lose, that of one costs 0."""
    tree = add_ranges(
        build_flat_hierarchy(["1", "2", "3"]), [LeafRange(0, 2, "[1, 2]"), LeafRange(2, 3, "[3]")]
    )
    (depth,) = potentials(metric_named("ncp"), [tree])
    assert tree.labels == ("1", "2", "3", "*", "[1, 2]", "[3]")
    assert depth == pytest.approx([1, 1, 1, 0, 1 / 3, 1], rel=1e-12)


@pytest.mark.parametrize("name", SEVEN)
def test_trees_of_one_node_cost_nothing(name):
    one = PlainTree({"x": None}).build()
    for forest in ([one], [one, one], [one, MAMMALS.build()]):
        found = potentials(metric_named(name), forest)
        assert found[0].tolist() == [0]
        assert all(np.isfinite(depth).all() for depth in found)


@pytest.mark.parametrize("intermediate", COMPOSED)
@pytest.mark.parametrize("kind", MULTIPLIERS)
def test_an_eighth_metric_is_composed_of_two_phases(intermediate, kind):
    forest = [MAMMALS, PlainTree({"*": None, "F": "*", "M": "*"})]
    built = [tree.build() for tree in forest]
    composed = Metric(Card("mine", "mine", "", ""), intermediate, kind)
    bare = Metric(Card("bare", "bare", "", ""), intermediate, "none")
    heights = [tree.height for tree in forest]
    first = metrics.edge_weights(bare, built)
    for j, weights in enumerate(metrics.edge_weights(composed, built)):
        assert weights == pytest.approx(first[j] * float(multiplier(kind, j, heights)), rel=1e-15)
    named = {"levels": "total", "leaves-normalised": "ncp"}.get(intermediate)
    if named:
        for found, expected in zip(first, edge_weights(named, forest), strict=True):
            assert sum(found) == pytest.approx(float(sum(expected.values())))


def test_custom_needs_weights():
    with pytest.raises(MetricError, match="weight on every edge"):
        potentials(metric_named("custom"), [suppression(["a"])])


# --- Cost matrices ------------------------------------------------------------------------------
def test_worked_matrix_of_the_paper_of_2023():
    matrix, labels = matrix_of(MAMMALS)
    assert labels == ["Cat", "Lion", "Dog", "Felid", "Mammal"]
    assert matrix.tolist() == [
        [0, 1, 4, 1, 4],
        [1, 0, 4, 1, 4],
        [4, 4, 0, 4, 4],
        [0, 0, 3, 0, 3],
        [0, 0, 0, 0, 0],
    ]


@examples(50)
@given(st.lists(st.integers(0, 40).map(lambda n: n / 8), min_size=8, max_size=8))
@example([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])
def test_worked_matrix_of_the_paper_of_2020(drawn):
    """Leaves a, b, c under A, d and e under B, f directly under the root: an edge skips a level."""
    a, b, c, d, e, f, A, B = drawn
    weights = dict(zip("abcdefAB", drawn, strict=True))
    top = {"*": None, "A": "*", "B": "*", "f": "*"}
    plain = PlainTree({**top, "a": "A", "b": "A", "c": "A", "d": "B", "e": "B"}, weights)
    matrix, labels = matrix_of(plain)
    assert labels == ["a", "b", "c", "d", "e", "f", "A", "B", "*"]
    assert matrix.tolist() == [
        [0, a, a, a + A, a + A, a + A, a, a + A, a + A],
        [b, 0, b, b + A, b + A, b + A, b, b + A, b + A],
        [c, c, 0, c + A, c + A, c + A, c, c + A, c + A],
        [d + B, d + B, d + B, 0, d, d + B, d + B, d, d + B],
        [e + B, e + B, e + B, e, 0, e + B, e + B, e, e + B],
        [f, f, f, f, f, 0, f, f, f],
        [0, 0, 0, A, A, A, 0, A, A],
        [B, B, B, 0, 0, B, B, 0, B],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]


@examples(150)
@given(trees(max_nodes=10, weighted=True))
def test_a_cost_matrix_is_the_cost_up_to_the_lowest_common_ancestor(plain):
    matrix, labels = matrix_of(plain)
    weights = {node: Fraction(weight) for node, weight in plain.weights.items()}
    for u, one in enumerate(labels):
        for v, other in enumerate(labels):
            assert matrix[u, v] == path_cost(plain, weights, one, plain.lca(one, other))


# --- Potentials as integers ---------------------------------------------------------------------
def largest_power(depths, n_records):
    """The largest s with n * m * max D * 2^s < 2^62, in exact arithmetic."""
    size = n_records * len(depths) * max(Fraction(x) for depth in depths for x in depth.tolist())
    power = 0
    while size * Fraction(2) ** power >= 2**62:
        power -= 1
    while size * Fraction(2) ** (power + 1) < 2**62:
        power += 1
    return power


@examples(300)
@given(
    st.lists(
        st.lists(st.floats(2.0**-30, 2.0**30), min_size=1, max_size=4), min_size=1, max_size=4
    ),
    st.integers(1, 10**8),
)
@example([[0.2, 0.0]], 5).via("5 * 0.2 is a little more than 1 as a float")
@example([[1.0]], 1)
@example([[1 / 3, 0.0]] * 3, 1)
@example([[1 - 2**-53]], 1)
@example([[1 + 2**-52]], 1)
@example([[0.1]], 10)
def test_potentials_are_scaled_by_the_largest_power_of_two_that_fits(values, n_records):
    depths = [np.array(part) for part in values]
    power = largest_power(depths, n_records)
    found = scale_potentials(depths, n_records)
    for scaled, depth in zip(found, depths, strict=True):
        assert scaled.dtype == np.int64
        assert scaled.tolist() == [round(Fraction(x) * Fraction(2) ** power) for x in depth]


@pytest.mark.parametrize("name", SEVEN)
@examples(40)
@given(FORESTS, st.integers(1, 10**7))
def test_scaled_potentials_keep_every_cost_in_range_and_in_order(name, forest, n_records):
    built = [plain.build() for plain in forest]
    depths = potentials(metric_named(name), built)
    found = scale_potentials(depths, n_records)
    assert n_records * len(built) * max(int(depth.max()) for depth in found) < 2**63
    for tree, depth, scaled in zip(built, depths, found, strict=True):
        assert scaled[tree.root] == 0
        assert (scaled[:-1] >= scaled[tree.parent[:-1]]).all(), "raising never pays"
        assert ((depth == 0) == (scaled == 0)).all()


def test_attribute_weights_scale_an_attribute():
    depths = [np.array([1.0, 0.0]), np.array([1.0, 0.0])]
    found = scale_potentials(depths, 10, [2.0, 0.5])
    assert found[0][0] == 4 * found[1][0]
    assert scale_potentials(depths, 10, [0.0, 1.0])[0].tolist() == [0, 0]
    assert [d.tolist() for d in scale_potentials(depths, 10, [0, 0])] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_bad_attribute_weights_are_refused(weight):
    with pytest.raises(MetricError, match="numbers from 0 to"):
        scale_potentials([np.array([1.0, 0.0])], 10, [weight])


def test_huge_weights_are_refused_or_work_but_never_overflow():
    """Weights near the largest float leave no room for a sum."""
    huge = PlainTree({"*": None, "A": "*", "a": "A"}, {"A": 1e308, "a": 1e308})
    try:
        depths = potentials(metric_named("custom"), [huge.build()])
        scaled = scale_potentials(depths, 10, [1.5])
    except (HierarchyError, MetricError) as error:
        assert "weight" in error.sentence
    else:
        assert scaled[0][0] > scaled[0][1] > scaled[0][2] == 0
