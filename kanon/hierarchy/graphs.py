"""Hierarchies as graphs of networkx, and the two files that other programs draw graphs from."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from kanon.base.values import canonical_text
from kanon.errors import HierarchyError
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import settings

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_OR_EDGE = re.compile(r"<(?:[^\s<>:]+:)?(?:node|edge)\b")
_MOST_TAGS = 20  # per node: more than any program writes for a node and the edge above it
_UNREADABLE = (  # what networkx meets in a file that only looks like a graph
    nx.NetworkXException, SyntaxError, LookupError, TypeError, ValueError, AttributeError,
    RecursionError,
)  # fmt: skip


def to_graph(tree: Hierarchy) -> nx.DiGraph:
    """The tree as a graph of networkx, with edges parent → child.

    A node is its label and has its ``level``; an edge has a ``weight`` if weights are drawn.
    Children stand in their order.

    Examples
    --------
    >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 2)])
    >>> list(to_graph(tree).edges(data="weight"))
    [('*', 'a', 1.0), ('*', 'b', 2.0)]
    """
    graph = nx.DiGraph()
    for label, parent, weight in tree.entries():
        graph.add_node(label, level=int(tree.level[tree.node_of[label]]))
        if parent is not None:
            graph.add_edge(parent, label, **({} if weight is None else {"weight": weight}))
    return graph


def from_graph(graph: nx.DiGraph) -> Hierarchy:
    """A hierarchy from a graph of networkx with edges parent → child.

    A node is its label. An edge's attribute ``weight`` becomes the edge weight; all other
    attributes are left alone. Children stand in the order of their edges.

    Raises
    ------
    HierarchyError
        The graph has no nodes, no directions, a cycle, a node with two parents, or several roots;
        or a name or weight is none (see :meth:`Hierarchy.from_entries`).

    Examples
    --------
    >>> from_graph(nx.DiGraph([("*", "a"), ("*", "b")])).labels
    ('a', 'b', '*')
    """
    return _tree(graph, canonical_text)


def to_graphml(tree: Hierarchy) -> str:
    """Write a tree as GraphML, with its edge weights.

    Raises
    ------
    HierarchyError
        A label holds a character that XML has no place for.

    >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 2)])
    >>> parse_graphml(to_graphml(tree)) == tree
    True
    """
    if not fits_graphml(tree):
        raise HierarchyError(
            "The name {cells} has a control character, which GraphML cannot hold; save JSON.",
            [next(label for label in tree.labels if _NO_XML.search(label))],
        )
    return "\n".join(nx.generate_graphml(to_graph(tree))) + "\n"


def fits_graphml(tree: Hierarchy) -> bool:
    """Whether every label can stand in XML, which has no place for control characters."""
    return not any(map(_NO_XML.search, tree.labels))


def parse_graphml(text: str) -> Hierarchy:
    """Read GraphML: nodes are called by their data ``label`` if all have one, else by their id.

    Raises
    ------
    HierarchyError
        The text is no GraphML, has a document type, describes no tree, or describes one with more
        nodes than the settings allow.
    """
    # A document type may define entities that grow without end, or lie in other files.
    if "<!doctype" in text.lower():
        raise HierarchyError(
            "The GraphML file has a document type (<!DOCTYPE), which is not read; save it without."
        )
    check_number("nodes", (sum(1 for _ in _NODE_OR_EDGE.finditer(text)) + 1) // 2)
    if text.count("<") > _MOST_TAGS * (settings().hierarchy_nodes + 1):
        raise HierarchyError("The GraphML file holds far more than nodes and edges; save those.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a hierarchy has no use for, such as ports
            graph = nx.parse_graphml(text)
    except _UNREADABLE:
        raise HierarchyError("The hierarchy file is not valid GraphML.") from None
    return _of_file(graph)


def to_node_link(tree: Hierarchy) -> str:
    """Write a tree as node-link JSON, with its edge weights.

    >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 2)])
    >>> parse_node_link(json.loads(to_node_link(tree))) == tree
    True
    """
    content = nx.node_link_data(to_graph(tree), edges="edges")
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def parse_node_link(content: dict[str, Any]) -> Hierarchy:
    """Read node-link JSON: nodes are called by their ``label`` if all have one, else by their id.

    Raises
    ------
    HierarchyError
        The content is no such graph, describes no tree, or describes one with more nodes than the
        settings allow.
    """
    edges = "edges" if isinstance(content.get("edges"), list) else "links"  # of older files
    check_number("nodes", max(len(content["nodes"]), len(content[edges])))
    try:
        graph = nx.node_link_graph(content, directed=True, multigraph=False, edges=edges)
    except _UNREADABLE:
        raise HierarchyError(
            'A graph in JSON has nodes with an "id", and edges with a "source" and a "target".'
        ) from None
    return _of_file(graph)


def _of_file(graph: nx.Graph) -> Hierarchy:
    """The tree of a graph that was read: its names are texts or numbers."""
    labels = dict(graph.nodes(data="label"))
    if any(label is None for label in labels.values()):
        labels = {node: node for node in graph}
    if any(isinstance(x, bool) or not isinstance(x, str | int | float) for x in labels.values()):
        raise HierarchyError("The name of a node in a graph has to be text or a number.")
    tree = _tree(graph, lambda node: canonical_text(labels[node]))
    check_number("levels", tree.height)
    return tree


def _tree(graph: nx.Graph, name: Callable[[Any], str]) -> Hierarchy:
    """The tree of a graph whose nodes are called so."""
    _check_arborescence(graph, name)
    # Along the edges, as siblings stand in the order of theirs.
    entries = [
        (name(child), name(parent), _number(weight))
        for parent, child, weight in graph.edges(data="weight")
    ]
    root = next(name(node) for node, degree in graph.in_degree() if degree == 0)
    return Hierarchy.from_entries([(root, None, None), *entries])


def _check_arborescence(graph: nx.Graph, name: Callable[[Any], str]) -> None:
    """Check that a graph is an arborescence, and say where it is none."""
    if not graph:
        raise HierarchyError("The graph has no nodes; a hierarchy needs one per value.")
    if not graph.is_directed():
        raise HierarchyError(
            "The graph has no directions; the edges of a hierarchy lead from parent to child."
        )
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [name(edge[0]) for edge in nx.find_cycle(graph)]
        raise HierarchyError(
            "The edges between {cells} form a cycle; every path has to begin at one root.",
            cycle[:5],
        )
    crowded = next((node for node, degree in graph.in_degree() if degree > 1), None)
    if crowded is not None:
        parents = [name(node) for node in graph.predecessors(crowded)]
        raise HierarchyError(
            "More than one edge leads to a node ({cells}: the node, then where they begin); "
            "a node has one parent.",
            [name(crowded), *parents],
        )
    roots = [name(node) for node, degree in graph.in_degree() if degree == 0]
    if len(roots) > 1:
        raise HierarchyError(
            f"The graph has {len(roots)} roots ({{cells}}), to which no edge leads; it needs one "
            "root above all values.",
            roots,
        )


def _number(weight: Any) -> Any:
    """A number of numpy as one of Python."""
    return weight.item() if isinstance(weight, np.number) else weight
