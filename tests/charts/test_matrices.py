"""Cost matrices for showing: the worked cases, groups against every pair of leaves, the chart."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.charts.matrix import draw_matrices, format_cost_hovers, format_difference_hovers
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import groups, suppression
from kanon.hierarchy.cost_matrices import (
    LARGEST_MATRIX,
    as_share,
    cost_text,
    cut,
    decimals_of,
    difference,
    grouped_matrix,
    matrix_of,
    matrix_table,
    path_edges,
    path_text,
)
from kanon.metrics import edge_weights as weights_of
from kanon.metrics import metric_named, potentials
from kanon.studio.metrics import page as metrics_page
from support.random_tables import SEVEN, PlainTree, edge_weights, examples, path_cost, trees

MAMMALS = PlainTree(
    {"Mammal": None, "Felid": "Mammal", "Dog": "Mammal", "Cat": "Felid", "Lion": "Felid"},
    {"Cat": 1, "Lion": 1, "Dog": 4, "Felid": 3},
)
UNBALANCED = PlainTree(
    {"*": None, "A": "*", "B": "*", "f": "*", "a": "A", "b": "A", "c": "A", "d": "B", "e": "B"},
    {"A": 16, "B": 32, "f": 64, "a": 1, "b": 2, "c": 3, "d": 5, "e": 7},
)


def drawn(plain: PlainTree, metric: str = "custom") -> tuple[Hierarchy, np.ndarray, np.ndarray]:
    """A tree with its potential and its edge weights."""
    tree, guide = plain.build(), metric_named(metric)
    return tree, potentials(guide, [tree])[0], weights_of(guide, [tree])[0]


def whole(plain: PlainTree, metric: str = "custom"):
    tree, depth, _ = drawn(plain, metric)
    return matrix_of(tree, depth, cut(tree, tree.root))


# --- The worked cases ---------------------------------------------------------------------------
def test_the_unbalanced_tree():
    """[M20]: one leaf hangs under the root although the others sit deeper."""
    table = matrix_table(whole(UNBALANCED))
    assert table.index.name == "from \\ to"
    assert table.loc["a", "c"] == 1
    assert table.loc["a", "e"] == 1 + 16
    assert table.loc["B", "e"] == 0
    assert table.loc["e", "B"] == 7
    assert all(table.loc["f", x] == (0 if x == "f" else 64) for x in table.columns)
    assert (table.loc["*"] == 0).all()


def test_the_paths_of_the_first_example():
    tree, _, weights = drawn(MAMMALS)
    cat, felid, mammal = (tree.node_of[x] for x in ("Cat", "Felid", "Mammal"))
    assert path_edges(tree, weights, cat, mammal) == [(cat, felid, 1.0), (felid, mammal, 3.0)]
    assert path_text(tree, weights, cat, mammal) == "Cat → Felid → Mammal: 1 + 3 = 4"
    assert path_edges(tree, weights, felid, felid) == []
    with pytest.raises(ValueError, match="not an ancestor"):
        path_edges(tree, weights, mammal, cat)


# --- Which nodes --------------------------------------------------------------------------------
def test_a_small_subtree_is_shown_whole():
    tree = MAMMALS.build()
    assert cut(tree, tree.root) == (0, 1, 2, 3, 4)
    assert cut(tree, tree.node_of["Felid"]) == (0, 1, 3)
    assert cut(tree, tree.node_of["Dog"]) == (2,)


def wide(groups_: int, each: int) -> Hierarchy:
    """A root over groups of leaves."""
    names = {f"g{g}": [f"v{g}.{i}" for i in range(each)] for g in range(groups_)}
    return groups([names, {"*": list(names)}])


def test_a_large_tree_is_shown_by_the_lowest_level_that_fits():
    tree = wide(30, 40)
    shown = cut(tree, tree.root)
    assert [tree.labels[node] for node in shown] == [f"g{g}" for g in range(30)]
    assert len(cut(tree, shown[3])) == 41  # one group further down


def test_where_no_grouping_fits_the_largest_children_stay_and_the_rest_is_counted():
    big = {f"g{g}": [f"v{g}.{i}" for i in range(2)] for g in (1, 250)}
    names = [f"s{i}" for i in range(250)]
    tree = groups([big, {"*": [*names[:249], "g250", "g1", names[249]]}])
    shown = cut(tree, tree.root)
    assert len(shown) == LARGEST_MATRIX
    assert {"g250", "g1", "s0", "s197"} <= {tree.labels[node] for node in shown}
    matrix = matrix_of(tree, potentials(metric_named("ncp"), [tree])[0], shown)
    assert matrix.left_out == 52
    assert matrix.grouped


def test_single_children_are_passed_through():
    leaves = [f"v{i}" for i in range(250)]
    tree = Hierarchy.from_entries(
        [("*", None, None), ("all", "*", None), *((leaf, "all", None) for leaf in leaves)]
    )
    matrix = matrix_of(tree, np.r_[np.ones(250), 0, 0], cut(tree, tree.root))
    assert len(matrix.nodes) == 200
    assert matrix.left_out == 50
    assert not matrix.grouped


def test_a_matrix_needs_room():
    tree = MAMMALS.build()
    with pytest.raises(ValueError, match="at least 2"):
        cut(tree, tree.root, most=1)


@examples(200)
@given(trees(max_nodes=14), st.data())
def test_a_cut_covers_its_subtree(plain, data):
    tree = plain.build()
    focus = data.draw(st.integers(0, tree.root))
    most = data.draw(st.integers(2, 12))
    nodes = cut(tree, focus, most)
    assert 1 <= len(nodes) <= most
    assert len(set(nodes)) == len(nodes)
    assert all(tree.is_ancestor(focus, node) for node in nodes)
    below = [node for node in range(tree.n_nodes) if tree.is_ancestor(focus, node)]
    while len(below) > most and len(tree.children[focus]) == 1:
        below.remove(focus)
        focus = tree.children[focus][0]
    if len(below) <= most:
        assert list(nodes) == below
        return
    leaves = [leaf for leaf in below if leaf < tree.n_leaves]
    covered = [leaf for leaf in leaves for node in nodes if tree.is_ancestor(node, leaf)]
    matrix = matrix_of(tree, np.zeros(tree.n_nodes), nodes)
    assert len(covered) == len(set(covered)), "groups are disjoint"
    assert matrix.left_out == len(leaves) - len(covered)
    assert matrix.left_out == 0 or len(tree.children[focus]) > most
    assert list(nodes) == sorted(nodes, key=lambda node: tree.first[node])


# --- What stands in the cells -------------------------------------------------------------------
@examples(150)
@given(trees(max_nodes=12, weighted=True), st.sampled_from([*SEVEN, "custom"]))
def test_a_whole_matrix_is_the_cost_matrix(plain, metric):
    tree, depth, weights = drawn(plain, metric)
    matrix = matrix_of(tree, depth, range(tree.n_nodes))
    ancestors = tree.common_ancestors(range(tree.n_nodes))
    assert np.array_equal(matrix.values, depth[:, None] - depth[ancestors])
    assert not matrix.grouped
    for row, column in product(range(tree.n_nodes), repeat=2):
        high = int(ancestors[row, column])
        assert high == tree.lca(row, column)
        edges = path_edges(tree, weights, row, high)
        assert matrix.values[row, column] == pytest.approx(sum(w for *_, w in edges))


@st.composite
def antichains(draw, plain: PlainTree) -> list[str]:
    """Nodes none of which is above another: from the root, some are replaced by their children."""
    found = [plain.root]
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(found) - 1))
        found[at : at + 1] = plain.children(found[at]) or [found[at]]
    kept = draw(st.lists(st.sampled_from(found), min_size=1, unique=True))
    return draw(st.permutations(kept))


@examples(250)
@given(trees(max_nodes=14, weighted=True), st.sampled_from([*SEVEN, "custom"]), st.data())
def test_a_grouped_matrix_is_the_mean_over_all_pairs_of_leaves(plain, metric, data):
    names = data.draw(antichains(plain))
    tree, depth, _ = drawn(plain, metric)
    weights = {} if plain.height == 1 else edge_weights(metric, [plain])[0]
    found = grouped_matrix(tree, depth, [tree.node_of[name] for name in names])
    assert (found >= 0).all()
    leaves = {x: [leaf for leaf in plain.leaves if x in plain.paths[leaf]] for x in names}
    for (i, one), (j, other) in product(enumerate(names), repeat=2):
        costs = [
            path_cost(plain, weights, u, plain.lca(u, v))
            for u, v in product(leaves[one], leaves[other])
        ]
        mean = sum(costs, Fraction(0)) / len(costs)
        assert found[i, j] == pytest.approx(float(mean), rel=1e-12, abs=1e-12)


def test_groups_have_to_be_disjoint():
    tree, depth, _ = drawn(MAMMALS)
    with pytest.raises(ValueError, match="disjoint"):
        grouped_matrix(tree, depth, [tree.node_of["Felid"], tree.node_of["Cat"]])
    with pytest.raises(ValueError, match="disjoint"):
        grouped_matrix(tree, depth, [0, 0])


def test_shares_of_losing_a_value_completely():
    part = matrix_of(*drawn(MAMMALS)[:2], (0, 1, 3))
    assert as_share(part).values.max() == 0.25, "of the whole tree, not of what is shown"
    nothing = matrix_of(suppression(["a"]), np.zeros(2), (0, 1))
    assert as_share(nothing).values.tolist() == [[0, 0], [0, 0]]


def test_a_difference():
    one, other = whole(MAMMALS), whole(MAMMALS, "llm")
    assert difference(one, other).values.tolist() == (one.values - other.values).tolist()
    with pytest.raises(ValueError, match="same nodes"):
        difference(one, whole(UNBALANCED))


def test_metrics_that_are_multiples_of_each_other_do_not_differ_as_shares():
    """Roundings of 1e-16 would fill the whole scale of colours."""
    one = whole(MAMMALS)
    other = replace(one, values=one.values * (1 + 1e-15))
    assert (one.values != other.values).any()
    assert not difference(one, other).values.any()


@examples(150)
@given(trees(max_nodes=12, weighted=True), st.sampled_from([*SEVEN, "custom"]))
def test_costs_are_written_so_that_a_path_can_be_added_up(plain, metric):
    """1.458 was shown as 1.5 and 1.042 as 1: every edge has three digits, all the same decimals."""
    tree, depth, weights = drawn(plain, metric)
    matrix = matrix_of(tree, depth, range(tree.n_nodes))
    last = 10.0**-matrix.decimals
    for node in range(tree.root):
        text = matrix.written(float(weights[node]))
        if weights[node] == 0:
            assert text == "0"
        elif matrix.largest < 1000:  # of six digits, three are left
            assert len(text.replace(".", "").lstrip("0")) >= 3 or float(text) == pytest.approx(
                weights[node], rel=1e-9
            )
        edges = path_edges(tree, weights, node, tree.root)
        shown = sum(float(matrix.written(weight).replace("\u202f", "")) for *_, weight in edges)
        total = float(matrix.written(float(matrix.values[node, tree.root])).replace("\u202f", ""))
        assert abs(shown - total) <= (len(edges) + 1) * last / 2 + 1e-9 * total


def test_a_cost_is_never_shown_as_nothing_nor_with_digits_that_mean_nothing():
    assert [cost_text(x, 0) for x in (0, -0.0, 999.6, -2.0)] == ["0", "0", "1\u202f000", "−2"]
    assert cost_text(1e-5, 3) == "1e−05" and cost_text(1e-17, 3) == "0"
    assert decimals_of(np.array([0.0])) == 0
    assert decimals_of(np.array([1e-9, 250_000.0])) == 0


# --- The chart ----------------------------------------------------------------------------------
def chart_of(plain: PlainTree, names=("custom",), **options):
    tree = plain.build()
    parts = [drawn(plain, name) for name in names]
    matrices = [matrix_of(tree, depth, cut(tree, tree.root)) for _, depth, _ in parts]
    if options.get("difference"):
        hovers = [format_difference_hovers(tree, *matrices, share=options.get("share", False))]
    else:
        hovers = [
            format_cost_hovers(tree, weights, matrix, len(names))
            for (*_, weights), matrix in zip(parts, matrices, strict=True)
        ]
    return draw_matrices(matrices, list(names), hovers, **options)


def said(figure) -> str:
    return " | ".join(note.text for note in figure.layout.annotations)


def test_nothing_to_draw_is_no_division_by_zero():
    figure = chart_of(PlainTree({"x": None}), ("ncp",))
    assert figure.layout.coloraxis.cmax == 1


def test_a_chart_refuses_what_it_cannot_compare():
    matrix, other = whole(MAMMALS), whole(UNBALANCED)
    with pytest.raises(ValueError, match="Pass one or two"):
        draw_matrices([matrix], ["a"], [[]], difference=True)
    with pytest.raises(ValueError, match="Pass one or two"):
        draw_matrices([], [], [])
    with pytest.raises(ValueError, match="same nodes"):
        draw_matrices([matrix, other], ["a", "b"], [[], []])


def test_text_from_a_table_is_escaped():
    plain = PlainTree({"<b>*</b>": None, "<a href=x>": "<b>*</b>", "y": "<b>*</b>"})
    for options in ({}, {"share": True}, {"difference": True}):
        names = ("ncp", "llm") if options.get("difference") else ("ncp",)
        text = chart_of(plain, names, **options).to_json()
        for tag in ("<a href", "<b>*"):
            assert tag not in json.dumps(json.loads(text), ensure_ascii=False)
    tree = plain.build()
    matrix = matrix_of(tree, np.zeros(3), (0, 1, 2))
    texts = [[""] * 3] * 3
    assert "<i>" not in draw_matrices([matrix], ["<i>mine</i>"], [texts]).to_json()


@pytest.mark.parametrize("name", ["married", "same beginning and end"])
def test_no_two_labels_read_alike_and_no_title_is_cut(name):
    labels = [f"{name}, {middle} of the capital city" for middle in ("far", "mid", "low")]
    plain = PlainTree({"*": None, **dict.fromkeys(labels, "*")})
    tree = plain.build()
    matrix = matrix_of(tree, np.zeros(4), (0, 1, 2, 3))
    title = "Weighted non-uniform loss of labels and more: the cost of raising a value"
    figure = draw_matrices([matrix], [title], [[[""] * 4] * 4])
    assert len(set(figure.layout.yaxis.labelalias.values())) == len(set(figure.data[0].x)) == 4
    heads = [note.text for note in figure.layout.annotations if "<b>" in note.text]
    assert heads[0].replace("<br>", " ") == f"<b>{title}</b>"


def test_a_group_says_from_where_its_cost_comes():
    tree = wide(30, 40)
    depth, weights = (of(metric_named("llm"), [tree])[0] for of in (potentials, weights_of))
    matrix = matrix_of(tree, depth, cut(tree, tree.root))
    texts = format_cost_hovers(tree, weights, matrix)
    # A value loses 40 − 0 leaves up to g0 and 1 200 − 40 from there. Of pairs in g0 1 of 40 is of
    # one value, which costs nothing: 40 · 39/40 = 39.
    assert texts[0][1] == "values<br>→ g0<br>→ *:<br>40 + 1 160 = 1 200"
    assert texts[0][0] == "between two values of g0 = 39"
    assert "Rows and columns are groups" in said(draw_matrices([matrix], ["?"], [texts]))


# --- The listener -------------------------------------------------------------------------------
@pytest.fixture
def listener(monkeypatch):
    """A session in which the chart is drawn and a click can be sent."""
    memory, charts = {}, []
    monkeypatch.setattr(metrics_page.st, "plotly_chart", lambda figure, **_: charts.append(figure))
    monkeypatch.setattr(metrics_page.state, "get_widget_value", memory.get)
    monkeypatch.setattr(metrics_page.state, "set_widget_value", memory.__setitem__)
    mounted: dict = {}
    monkeypatch.setattr(metrics_page, "_cells", lambda **options: mounted.update(options))

    def draw(figure):
        picked: list[tuple[int, int]] = []

        def send(cell):
            memory["costs-cells"] = {"cell": cell}
            mounted["on_cell_change"]()
            return picked

        metrics_page.draw_cost_matrix(figure, "costs", lambda *cell: picked.append(cell))
        return charts[-1], mounted, send

    return draw


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"row": 1, "column": 4}, [(1, 4)]),
        ({"row": 1, "column": 5}, []),
        ({"row": -1, "column": 0}, []),
        ({"row": True, "column": 0}, []),
        ({"row": "1", "column": 0}, []),
        ({}, []),
        ([1, 2], []),
        (None, []),
    ],
)
def test_a_click_is_told_if_it_is_on_a_cell(listener, sent, told):
    _, mounted, send = listener(chart_of(MAMMALS))
    assert mounted["data"]["chart"] == "costs"
    assert send(sent) == told


def test_a_click_keeps_the_zoom_in_the_same_picture_alone(listener):
    figure = chart_of(MAMMALS)
    _, mounted, send = listener(figure)
    view = {"of": mounted["data"]["of"], "x": [0.5, 2.5], "y": [2.5, 0.5]}
    send({"row": 1, "column": 1, "view": view})
    drawn_again, mounted, _ = listener(figure)
    assert list(drawn_again.layout.xaxis.range) == [0.5, 2.5]
    assert figure.layout.xaxis.range is None, "the page's figure is left alone"
    assert mounted["data"]["zoomed"]
    assert listener(chart_of(UNBALANCED))[0].layout.xaxis.range is None
    mounted["on_out_change"]()
    assert listener(figure)[0].layout.xaxis.range is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ends", [None, [1], [1, "2"], [1, float("nan")], [1, 1e9], {"a": 1}])
def test_a_zoom_to_nowhere_is_none(listener, ends):
    _, mounted, send = listener(chart_of(MAMMALS))
    send({"row": 1, "column": 1, "view": {"of": mounted["data"]["of"], "x": ends, "y": [1, 0]}})
    assert listener(chart_of(MAMMALS))[0].layout.xaxis.range is None
