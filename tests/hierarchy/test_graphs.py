"""Hierarchies as graphs of networkx, as GraphML and as node-link JSON."""

import json
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon.errors import HierarchyError
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.build import suppression
from kanon.hierarchy.files import parse_json, read_hierarchy, to_json
from kanon.hierarchy.graphs import can_write_graphml, parse_graphml, write_graphml, write_node_link
from support.paths import ROOT
from support.random_tables import examples, trees

MAMMALS = Hierarchy.from_entries(
    [
        ("Mammal", None, None), ("Felid", "Mammal", 3), ("Dog", "Mammal", 4),
        ("Lion", "Felid", 1), ("Cat", "Felid", 2),
    ]
)  # fmt: skip
XML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="node"
attr.name="label" attr.type="string"/><graph edgedefault="{kind}">{inside}</graph></graphml>"""


def test_a_tree_as_a_graph_by_hand():
    graph = MAMMALS.to_graph()
    assert list(graph.edges(data="weight")) == [
        ("Mammal", "Felid", 3), ("Mammal", "Dog", 4), ("Felid", "Lion", 1), ("Felid", "Cat", 2),
    ]  # fmt: skip
    assert dict(graph.nodes(data="level")) == {
        "Mammal": 2, "Felid": 1, "Lion": 0, "Cat": 0, "Dog": 0,
    }  # fmt: skip
    assert nx.is_arborescence(graph)
    assert list(suppression(["a"]).to_graph().edges(data=True)) == [("*", "a", {})]


@examples(100)
@given(trees(max_nodes=10), trees(max_nodes=10, weighted=True))
def test_there_and_back_is_the_same_tree(plain, weighted):
    for tree in (plain.build(), weighted.build()):
        assert Hierarchy.from_graph(tree.to_graph()) == tree
        assert parse_graphml(write_graphml(tree)) == tree
        assert parse_json(write_node_link(tree)) == tree
        assert parse_json(to_json(tree)) == tree


@examples(100)
@given(st.sets(st.text(min_size=1, max_size=4).map(str.strip), min_size=1, max_size=4))
@example({"a\nb\tc\rd", "<&>\"'", "é漢\U0001f600", "]]>"})
@example({"\x01"})
def test_any_label_survives_or_is_refused(labels):
    try:
        tree = suppression(sorted(labels))
    except HierarchyError:  # no text, or two that are one value
        return
    assert parse_json(write_node_link(tree)) == tree
    if can_write_graphml(tree):
        assert parse_graphml(write_graphml(tree)) == tree
    else:
        with pytest.raises(HierarchyError, match="control character"):
            write_graphml(tree)


def test_the_order_of_children_is_that_of_the_edges():
    graph = nx.DiGraph()
    graph.add_nodes_from(["a", "b", "*", 39.0])
    graph.add_edges_from([("*", "b"), ("*", 39.0), ("*", "a")])
    assert Hierarchy.from_graph(graph).labels == ("b", "39", "a", "*")


def test_numbers_of_numpy_are_weights():
    graph = nx.DiGraph()
    graph.add_edge("*", "a", weight=np.int64(2))
    assert Hierarchy.from_graph(graph).weight.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (nx.DiGraph(), "no nodes"),
        (nx.Graph([("*", "a")]), "not directed"),
        (nx.DiGraph([("*", "a"), ("b", "c"), ("c", "b")]), "'c', 'b' form a cycle"),
        (nx.DiGraph([("*", "*")]), "'\\*' form a cycle"),
        (nx.DiGraph([("*", "a"), ("*", "b"), ("a", "x"), ("b", "x")]), "'x', 'a', 'b'"),
        (nx.MultiDiGraph([("*", "x"), ("*", "x")]), "More than one edge"),
        (nx.DiGraph([("r", "a"), ("s", "b")]), "2 roots .*'r', 's'"),
        (nx.DiGraph([(1, "1.0")]), "listed twice"),
        (nx.DiGraph([("*", "")]), "empty name"),
        (nx.DiGraph([("*", "a", {"weight": -1}), ("*", "b", {"weight": 1})]), "'-1'"),
    ],
)
def test_a_graph_that_is_no_tree_is_refused(graph, sentence):
    with pytest.raises(HierarchyError) as refused:
        Hierarchy.from_graph(graph)
    assert re.search(sentence, refused.value.sentence)


def test_names_come_from_labels_if_all_nodes_have_one():
    node = '<node id="n{}"><data key="l">{}</data></node>'
    inside = node.format(0, "Any") + node.format(1, "x") + node.format(2, "y")
    inside += '<edge source="n0" target="n2"/><edge source="n0" target="n1"/>'
    text = XML.format(kind="directed", inside=inside)
    assert read_hierarchy(text.encode(), "a.graphml").hierarchy.labels == ("y", "x", "Any")
    with pytest.raises(HierarchyError, match="listed twice") as refused:
        parse_graphml(text.replace(">y<", ">x<"))
    assert refused.value.cells == ("x",)
    assert parse_graphml(text.replace('<data key="l">y</data>', "")).labels == ("n2", "n1", "n0")


def test_links_of_d3_are_edges_with_directions():
    content = {"nodes": [{"id": "*"}, {"id": 7}], "links": [{"source": "*", "target": 7}]}
    assert parse_json(json.dumps(content)).labels == ("7", "*")
    with pytest.raises(HierarchyError, match="not directed"):
        parse_json(json.dumps({**content, "directed": False}))


def test_json_of_kanon_stays_what_it_is_beside_edges():
    content = {"nodes": [{"name": "*"}, {"name": "a", "parent": "*"}], "edges": []}
    assert parse_json(json.dumps(content)).labels == ("a", "*")


@pytest.mark.parametrize(
    "text",
    [
        "", "no XML", "<graphml/>", "<graphml><graph>",
        XML.format(kind="directed", inside="<hyperedge/>"),
        XML.format(kind="directed", inside='<node id="a"><data key="?">x</data></node>'),
        XML.format(kind="directed", inside='<edge source="a" target="b" directed="false"/>'),
    ],
)  # fmt: skip
def test_what_is_no_graphml_is_said_so(text):
    with pytest.raises(HierarchyError, match="not valid GraphML"):
        parse_graphml(text)


def test_a_document_type_is_not_read():
    with pytest.raises(HierarchyError, match="document type"):
        parse_graphml('<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + "<g>&x;</g>")


@pytest.mark.parametrize(
    "edge", [{}, {"source": "*"}, {"source": {}, "target": "*"}, 7, ["*", "a"]]
)
def test_what_is_no_graph_in_json_is_said_so(edge):
    content = {"nodes": [{"id": "*"}], "edges": [edge]}
    with pytest.raises(HierarchyError, match='"source" and a "target"'):
        parse_json(json.dumps(content))


@pytest.mark.parametrize("label", [["a", "b"], True])
def test_a_name_in_a_file_is_text_or_a_number(label):
    content = {"nodes": [{"id": 1, "label": label}], "edges": []}
    with pytest.raises(HierarchyError, match="text or a number"):
        parse_json(json.dumps(content))


def test_the_limits_hold_for_graphs_too(limits):
    tree = read_hierarchy(ROOT / "hierarchies" / "adult" / "age.csv").hierarchy
    texts = write_graphml(tree), write_node_link(tree)
    limits(hierarchy_nodes=tree.n_nodes, hierarchy_levels=tree.height)
    assert parse_graphml(texts[0]) == parse_json(texts[1]) == tree
    for change in ({"hierarchy_nodes": tree.n_nodes - 1}, {"hierarchy_levels": tree.height - 1}):
        limits(**change)
        for read, text in zip((parse_graphml, parse_json), texts, strict=True):
            with pytest.raises(HierarchyError, match=next(iter(change))):
                read(text)
