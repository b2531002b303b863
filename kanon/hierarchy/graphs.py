"""Two files from which other programs draw graphs: GraphML and node-link JSON."""

import json
import re
import warnings
from typing import Any

import networkx as nx

from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError
from kanon.hierarchy.lines import check_number
from kanon.hierarchy.tree import Hierarchy
from kanon.settings import get_settings

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_OR_EDGE = re.compile(r"<(?:[^\s<>:]+:)?(?:node|edge)\b")
_MOST_TAGS = 20  # per node: more than any program writes for a node and its edge
_UNREADABLE = (  # raised by networkx for a file that only looks like a graph
    nx.NetworkXException, SyntaxError, LookupError, TypeError, ValueError, AttributeError,
    RecursionError,
)  # fmt: skip


def write_graphml(tree: Hierarchy) -> str:
    if not can_write_graphml(tree):
        raise HierarchyError(
            "The name {cells} has a control character, which GraphML cannot store. Save as JSON.",
            [next(label for label in tree.labels if _NO_XML.search(label))],
        )
    return "\n".join(nx.generate_graphml(tree.to_graph())) + "\n"


def can_write_graphml(tree: Hierarchy) -> bool:
    """Whether XML can store every label; it allows no control characters."""
    return not any(map(_NO_XML.search, tree.labels))


def parse_graphml(text: str) -> Hierarchy:
    """Read GraphML; the nodes' names are their data ``label`` if all have one, else their ids."""
    # A document type may define entities that grow without end, or refer to other files.
    if "<!doctype" in text.lower():
        raise HierarchyError(
            "The GraphML file has a document type (<!DOCTYPE). Save it without one."
        )
    check_number("nodes", (sum(1 for _ in _NODE_OR_EDGE.finditer(text)) + 1) // 2)
    if text.count("<") > _MOST_TAGS * (get_settings().hierarchy_nodes + 1):
        raise HierarchyError("The GraphML file has much besides nodes and edges. Save only those.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about features that hierarchies ignore, such as ports
            graph = nx.parse_graphml(text)
    except _UNREADABLE:
        raise HierarchyError("The hierarchy file is not valid GraphML.") from None
    return _build_from_graph(graph)


def write_node_link(tree: Hierarchy) -> str:
    content = nx.node_link_data(tree.to_graph(), edges="edges")
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def parse_node_link(content: dict[str, Any]) -> Hierarchy:
    """Read node-link JSON; the nodes' names are their ``label`` if all have one, else their ids."""
    edges = "edges" if isinstance(content.get("edges"), list) else "links"  # of older files
    check_number("nodes", max(len(content["nodes"]), len(content[edges])))
    try:
        graph = nx.node_link_graph(content, directed=True, multigraph=False, edges=edges)
    except _UNREADABLE:
        raise HierarchyError(
            'A graph in JSON needs nodes with an "id", and edges with a "source" and a "target".'
        ) from None
    return _build_from_graph(graph)


def _build_from_graph(graph: nx.Graph) -> Hierarchy:
    labels = dict(graph.nodes(data="label"))
    if any(label is None for label in labels.values()):
        labels = {node: node for node in graph}
    if any(isinstance(x, bool) or not isinstance(x, str | int | float) for x in labels.values()):
        raise HierarchyError("The name of a node has to be text or a number.")
    tree = Hierarchy.from_graph(graph, lambda node: convert_to_text(labels[node]))
    check_number("levels", tree.height)
    return tree
