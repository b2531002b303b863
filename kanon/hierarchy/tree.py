"""The generalisation hierarchy: an immutable rooted tree, stored as integer arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kanon.base.values import convert_to_text
from kanon.errors import HierarchyError, quote

if TYPE_CHECKING:
    import networkx as nx

ROOT_LABEL = "*"
"""The usual label of the root: total loss."""

LARGEST_WEIGHT = 1e15
"""The largest edge weight; sums of larger ones over a table would lose digits."""


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A generalisation hierarchy of one quasi-identifier.

    Leaves are original values, the root is total loss. Leaves are numbered depth-first
    (0 .. L-1), inner nodes follow in post-order, so that **a parent's number is always larger
    than its child's** and the root is the last node. The tree may be unbalanced.

    >>> mammals = Hierarchy.from_entries([
    ...     ("Mammal", None, None), ("Felid", "Mammal", 3), ("Dog", "Mammal", 4),
    ...     ("Cat", "Felid", 1), ("Lion", "Felid", 1)])
    >>> mammals.labels
    ('Cat', 'Lion', 'Dog', 'Felid', 'Mammal')
    >>> mammals.labels[mammals.lca(0, 2)], mammals.height
    ('Mammal', 3)

    Attributes
    ----------
    labels : tuple of str, length N
        The label of each node, unique within the hierarchy.
    parent : numpy.ndarray, shape (N,), int32
        The parent of each node; -1 for the root.
    first, last : numpy.ndarray, shape (N,), int32
        The leaves below a node are the range ``first <= leaf < last``.
    level : numpy.ndarray, shape (N,), int32
        The longest path, in edges, from a leaf below the node up to it; 0 for leaves.
    weight : numpy.ndarray, shape (N,), float64, or None
        The drawn weight of the edge to the parent (0 for the root); None if none was drawn.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2020, section 2.
    """

    labels: tuple[str, ...]
    parent: np.ndarray
    first: np.ndarray
    last: np.ndarray
    level: np.ndarray
    weight: np.ndarray | None

    @classmethod
    def from_entries(cls, entries: Iterable[tuple[str, str | None, float | None]]) -> Hierarchy:
        """Build a tree from ``(label, label of the parent or None, weight or None)``.

        Siblings keep the order in which they are listed.

        Raises
        ------
        HierarchyError
            A label is empty, not valid text or listed twice, a parent is unknown, there is no root
            or more than one, the parents form a cycle, or a weight is missing, negative or not a
            number.
        """
        names: dict[str, int] = {}
        parents: list[str | None] = []
        weights: list[float | None] = []
        for label, parent, weight in entries:
            name = convert_to_text(label)
            if not name:
                raise HierarchyError("A node has an empty name; every node needs one.")
            if not _is_text(name):
                raise HierarchyError("A node has a name that is not valid text (UTF-8).")
            if name in names:
                raise HierarchyError(
                    "The node {cells} is listed twice; list every node once.", [name]
                )
            names[name] = len(names)
            parents.append(None if parent is None else convert_to_text(parent))
            weights.append(weight)
        labels = list(names)
        roots = [name for name, parent in zip(labels, parents, strict=True) if parent is None]
        unknown = [parent for parent in parents if parent is not None and parent not in names]
        if unknown:
            raise HierarchyError(
                "The parent {cells} is not a node of the tree; list it as one.", [unknown[0]]
            )
        if not names:
            raise HierarchyError("The hierarchy has no nodes; it needs one per value.")
        if len(roots) > 1:
            raise HierarchyError(
                f"The hierarchy has {len(roots)} roots ({{cells}}); it needs one root above "
                "all values.",
                roots,
            )
        children: list[list[int]] = [[] for _ in labels]
        for index, parent in enumerate(parents):
            if parent is not None:
                children[names[parent]].append(index)
        order = _list_depth_first(names[roots[0]], children) if roots else []
        if len(order) < len(labels):
            in_cycle = sorted(set(range(len(labels))) - set(order))
            raise HierarchyError(
                "The parents of {cells} form a cycle; every path has to end at one root.",
                [labels[index] for index in in_cycle[:5]],
            )
        return cls._number_nodes(labels, parents, weights, names, children, order)

    @classmethod
    def from_graph(
        cls, graph: nx.DiGraph, name: Callable[[Any], str] = convert_to_text
    ) -> Hierarchy:
        """A hierarchy from a graph of networkx with edges parent → child.

        An edge's attribute ``weight`` becomes the edge weight; all other attributes are ignored.
        Children keep the order of their edges. ``name`` makes the label of a node.

        >>> import networkx as nx
        >>> Hierarchy.from_graph(nx.DiGraph([("*", "a"), ("*", "b")])).labels
        ('a', 'b', '*')

        Raises
        ------
        HierarchyError
            The graph has no nodes, no directions, a cycle, a node with two parents, or several
            roots; or a name or weight is not valid (see :meth:`from_entries`).
        """
        if not graph.is_directed():
            raise HierarchyError(
                "The graph is not directed; the edges of a hierarchy lead from parent to child."
            )
        crowded = next((node for node, degree in graph.in_degree() if degree > 1), None)
        if crowded is not None:
            parents = [name(node) for node in graph.predecessors(crowded)]
            raise HierarchyError(
                "More than one edge leads to a node ({cells}: the node, then its parents). Keep "
                "one.",
                [name(crowded), *parents],
            )
        roots = [(name(node), None, None) for node, degree in graph.in_degree() if not degree]
        # Siblings keep the order of their edges.
        entries = [
            (name(child), name(parent), weight.item() if isinstance(weight, np.number) else weight)
            for parent, child, weight in graph.edges(data="weight")
        ]
        return cls.from_entries([*roots, *entries])

    def to_graph(self) -> nx.DiGraph:
        """The tree as a graph of networkx, with edges parent → child.

        A node is its label and has its ``level``; an edge has a ``weight`` if weights are drawn.
        Children keep their order.

        Examples
        --------
        >>> tree = Hierarchy.from_entries([("*", None, None), ("a", "*", 1), ("b", "*", 2)])
        >>> list(tree.to_graph().edges(data="weight"))
        [('*', 'a', 1.0), ('*', 'b', 2.0)]
        """
        import networkx as nx  # only for graphs, as it takes long to load

        graph = nx.DiGraph()
        for label, parent, weight in self.entries():
            graph.add_node(label, level=int(self.level[self.node_of[label]]))
            if parent is not None:
                graph.add_edge(parent, label, **({} if weight is None else {"weight": weight}))
        return graph

    @classmethod
    def _number_nodes(
        cls,
        entry_labels: list[str],
        parents: list[str | None],
        weights: list[float | None],
        names: dict[str, int],
        children: list[list[int]],
        order: list[int],
    ) -> Hierarchy:
        """Number the nodes: leaves first, then inner nodes in post-order."""
        entry_order = [index for index in order if not children[index]]
        entry_order += [index for index in order if children[index]]
        number = dict(zip(entry_order, range(len(entry_order)), strict=True))
        # Lists, as writing single cells is several times faster than in arrays.
        parent: list[int] = []
        first: list[int] = []
        last: list[int] = []
        level: list[int] = []
        for node, index in enumerate(entry_order):
            above = parents[index]
            parent.append(-1 if above is None else number[names[above]])
            below = [number[child] for child in children[index]]
            first.append(min([first[child] for child in below], default=node))
            last.append(max([last[child] for child in below], default=node + 1))
            level.append(max([level[child] for child in below], default=-1) + 1)
        weight = _check_weights(entry_labels, parents, weights)
        if weight is not None:
            weight = weight[entry_order]
            weight.setflags(write=False)
        labels = tuple(entry_labels[index] for index in entry_order)
        return cls(labels, _lock(parent), _lock(first), _lock(last), _lock(level), weight)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        if self.labels != other.labels or not np.array_equal(self.parent, other.parent):
            return False
        if self.weight is None or other.weight is None:
            return self.weight is other.weight
        return np.array_equal(self.weight, other.weight)

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        return f"<Hierarchy of {self.n_nodes} nodes, {self.n_leaves} leaves, height {self.height}>"

    @property
    def n_nodes(self) -> int:
        """N, the number of nodes."""
        return len(self.labels)

    @property
    def n_leaves(self) -> int:
        """L = nl(root), the number of leaves."""
        return int(self.last[self.root])

    @property
    def root(self) -> int:
        """The number of the root: always N - 1."""
        return self.n_nodes - 1

    @property
    def height(self) -> int:
        """h, the number of nodes on the longest path from a leaf to the root."""
        return int(self.level[self.root]) + 1

    @cached_property
    def leaves_covered(self) -> np.ndarray:
        """How many leaves each node covers; 1 for a leaf. Shape (N,)."""
        return self.last - self.first

    @cached_property
    def leaves_below(self) -> np.ndarray:
        """nl(v), the number of leaves below each node; 0 for a leaf. Shape (N,).

        An original value has no leaves below it, so it has lost nothing; an inner node over one
        leaf has nl = 1.

        >>> tree = Hierarchy.from_entries([("*", None, None), ("A", "*", None), ("a", "A", None),
        ...                                ("b", "*", None)])
        >>> tree.labels, tree.leaves_below.tolist(), tree.leaves_covered.tolist()
        (('a', 'b', 'A', '*'), [0, 0, 1, 2], [1, 1, 1, 2])
        """
        leaves = self.leaves_covered.copy()
        leaves[: self.n_leaves] = 0
        leaves.setflags(write=False)
        return leaves

    @cached_property
    def node_of(self) -> dict[str, int]:
        """The number of the node with a label."""
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in their order."""
        below: list[list[int]] = [[] for _ in self.labels]
        for node in sorted(range(self.root), key=lambda v: (self.first[v], v)):
            below[self.parent[node]].append(node)
        return tuple(tuple(nodes) for nodes in below)

    def sum_below(self, values: np.ndarray) -> np.ndarray:
        """Per node the sum of ``values`` over it and all nodes below it. Shape (N,).

        With the records per node this is the number of records at and below each node.

        >>> tree = Hierarchy.from_entries([("*", None, None), ("A", "*", None), ("a", "A", None),
        ...                                ("b", "A", None), ("c", "*", None)])
        >>> tree.labels, tree.sum_below(np.array([1, 2, 3, 10, 0])).tolist()
        (('a', 'b', 'c', 'A', '*'), [1, 2, 3, 13, 16])
        """
        total = np.array(values)
        if total.shape != (self.n_nodes,):
            raise ValueError(f"one value per node: shape {total.shape}, not ({self.n_nodes},)")
        if total.dtype == bool:
            total = total.astype(np.int64)
        # Level by level, as a parent's level is above its children's. Additions alone (no
        # differences of prefix sums), so that floats lose no digits.
        order = np.argsort(self.level, kind="stable")
        ends = np.cumsum(np.bincount(self.level))
        for start, end in itertools.pairwise((0, *ends.tolist()[:-1])):
            nodes = order[start:end]
            np.add.at(total, self.parent[nodes], total[nodes])
        return total

    def is_ancestor(self, above: int, below: int) -> bool:
        """Whether ``above`` is an ancestor of ``below`` or the same node.

        Chains of single children share a leaf range; the larger number is above.
        """
        return bool(
            self.first[above] <= self.first[below]
            and self.last[above] >= self.last[below]
            and above >= below
        )

    def lca(self, node: int, other: int) -> int:
        """The lowest common ancestor of two nodes.

        The smaller of two different numbers cannot be an ancestor of the larger, so it climbs.
        """
        while node != other:
            if node < other:
                node = int(self.parent[node])
            else:
                other = int(self.parent[other])
        return node

    def common_ancestors(self, nodes: Sequence[int]) -> np.ndarray:
        """LCA(u, v) for all pairs of some nodes. Shape (n, n).

        >>> tree = Hierarchy.from_entries([("*", None, None), ("A", "*", None), ("a", "A", None),
        ...                                ("b", "A", None), ("c", "*", None)])
        >>> tree.common_ancestors([0, 1, 2]).tolist()
        [[0, 3, 4], [3, 1, 4], [4, 4, 2]]
        """
        node_array = np.asarray(nodes)
        first, last = self.first[node_array], self.last[node_array]
        ancestors = np.empty((len(node_array), len(node_array)), dtype=np.int64)
        for row, node in enumerate(nodes):
            # From the root downwards: each step overwrites what lies below a lower ancestor.
            for above in reversed(self.path(node)):
                below = (first >= self.first[above]) & (last <= self.last[above])
                ancestors[row, below & (node_array <= above)] = above
        return ancestors

    def path(self, node: int) -> list[int]:
        """The nodes from ``node`` up to the root, both included."""
        nodes = [node]
        while nodes[-1] != self.root:
            nodes.append(int(self.parent[nodes[-1]]))
        return nodes

    def at_level(self, level: int) -> np.ndarray:
        """The highest ancestor of every node of at most one level; higher nodes stay. Shape (N,).

        See :func:`kanon.algorithms.lattice_size.compute_nodes_by_level`.

        >>> tree = Hierarchy.from_entries([("*", None, None), ("A", "*", None), ("a", "A", None),
        ...                                ("b", "A", None), ("c", "*", None)])
        >>> [tree.labels[node] for node in tree.at_level(1)]
        ['A', 'A', 'c', 'A', '*']
        """
        targets = list(range(self.n_nodes))
        levels, above = self.level.tolist(), self.parent.tolist()
        for node in reversed(targets[:-1]):  # parents first
            if levels[above[node]] <= level:
                targets[node] = targets[above[node]]
        return _lock(targets)

    def entries(self) -> list[tuple[str, str | None, float | None]]:
        """The tree as ``from_entries`` takes it, parents before children."""
        entries: list[tuple[str, str | None, float | None]] = []
        stack = [self.root]
        while stack:
            node = stack.pop()
            above = None if node == self.root else self.labels[self.parent[node]]
            weight = None if self.weight is None or above is None else float(self.weight[node])
            entries.append((self.labels[node], above, weight))
            stack.extend(reversed(self.children[node]))
        return entries


def _is_text(label: str) -> bool:
    """Whether a label can be written to a file: JSON may contain half of a surrogate pair."""
    try:
        return label.isascii() or bool(label.encode())
    except UnicodeEncodeError:
        return False


def _lock(cells: list[int]) -> np.ndarray:
    array = np.array(cells, dtype=np.int32)
    array.setflags(write=False)
    return array


def _list_depth_first(root: int, children: list[list[int]]) -> list[int]:
    """List the nodes in post-order, without recursion, for trees of any depth."""
    order: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children[node])
    return order[::-1]


def describe_weight(value: object) -> str:
    """The name of a weight in an error; a text could be a cell, so it is not repeated.

    >>> describe_weight(-1), describe_weight("Doe")
    ("The weight '-1'", 'The text in place of a weight')
    """
    plain = isinstance(value, int | float | np.number)
    return f"The weight {quote(value)}" if plain else "The text in place of a weight"


def _check_weights(
    labels: list[str], parents: list[str | None], weights: list[float | None]
) -> np.ndarray | None:
    """Check the edge weights and make an array, 0 at the root; None if no edge has one."""
    edges = [index for index, parent in enumerate(parents) if parent is not None]
    weighted_edges = [index for index in edges if weights[index] is not None]
    if not weighted_edges:
        return None
    if len(weighted_edges) < len(edges):
        absent = next(index for index in edges if weights[index] is None)
        raise HierarchyError(
            "The edge above {cells} has no weight although others have one. Give every edge a "
            "weight of at least 0, or give none of them a weight.",
            [labels[absent]],
        )
    array = np.zeros(len(labels))
    for index in edges:
        value = weights[index]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is None or not number or not 0 <= value <= LARGEST_WEIGHT:
            raise HierarchyError(
                f"{describe_weight(value)} above {{cells}} is not allowed; it has to be a number "
                f"from 0 to {LARGEST_WEIGHT:g}.",
                [labels[index]],
            )
        array[index] = value
    return array
