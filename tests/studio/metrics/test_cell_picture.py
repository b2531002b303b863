"""The picture of a cell: the edges that are marked are those of its sum, by the definition."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon.hierarchy.cost_matrices import matrix_of
from kanon.metrics import edge_weights as weights_of
from kanon.metrics import metric_named, potentials
from kanon.studio.metrics.page import Costs, MatrixView
from support.random_tables import SEVEN, edge_weights, examples, path_cost, trees


def costs_by(plain, metrics, **shown):
    """The costs of a tree of one attribute by some metrics, all nodes in rows and columns."""
    tree, guides = plain.build(), tuple(metric_named(metric) for metric in metrics)
    matrices = (matrix_of(tree, potentials(one, [tree])[0], range(tree.n_nodes)) for one in guides)
    weights = tuple(weights_of(one, [tree])[0] for one in guides)
    return Costs(tree, guides, weights, tuple(matrices), MatrixView(**shown))


@examples(100)
@given(trees(max_nodes=12, weighted=True), st.sampled_from([*SEVEN, "custom"]), st.data())
def test_the_marked_edges_are_those_climbed_to_the_common_ancestor(plain, metric, data):
    low, other = (data.draw(st.sampled_from(plain.order)) for _ in range(2))
    costs = costs_by(plain, [metric], cell=(low, other))
    high = plain.lca(low, other)
    climbed = plain.paths[low][: plain.paths[low].index(high)]
    labels = costs.tree.labels
    assert [labels[node] for node in costs.path] == [*climbed, high]
    assert [labels[node] for node in costs.climbed] == climbed
    weights = {} if plain.height == 1 else edge_weights(metric, [plain])[0]
    cost = path_cost(plain, weights, low, high) if climbed else Fraction(0)
    marked = sum(costs.weights[0][node] for node in costs.climbed)
    assert marked == pytest.approx(float(cost))
    assert costs.matrices[0].values[costs.cell] == pytest.approx(float(cost))
    assert costs.sentences()[0].endswith(costs.matrices[0].written(float(cost)))


@examples(50)
@given(trees(max_nodes=10), st.booleans())
def test_a_difference_is_said_with_what_it_is_the_difference_of(plain, share):
    costs = costs_by(plain, ["llm", "total"], mode="difference", share=share,
                     cell=(plain.order[0], plain.root))  # fmt: skip
    first, rest = costs.sentences()[-1].removeprefix("LLM − Total: ").split(" − ", 1)
    second, both = rest.split(" = ")
    ends = (" %", " %", " percentage points") if share else ("", "", "")
    one, other, apart = (
        float(text.removesuffix(end).replace("\u202f", "").replace("−", "-"))
        for text, end in zip((first, second, both), ends, strict=True)
    )
    assert one - other == pytest.approx(apart, abs=0.02 if share else 0.002)
    explained = " ".join(costs.explain_picture())
    assert "LLM minus the cost by Total" in explained and "Above 0, purple: LLM" in explained
    assert ("A share is in percent of the largest cost" in explained) == share
