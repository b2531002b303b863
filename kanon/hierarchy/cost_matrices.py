"""Cost matrices for display: their nodes, their values, and the path behind a value.

The matrix of a large hierarchy is too large to draw or read. It then shows groups, and a cell is
the mean over the pairs of their values; readers begin with groups and go on to a subtree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd

from kanon.base.formatting import write_number
from kanon.hierarchy import Hierarchy

LARGEST_MATRIX = 200
"""The most nodes of a matrix whose rows remain distinguishable."""

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """A cost matrix for display.

    Attributes
    ----------
    nodes : tuple of int, length n
        The nodes of its rows, which are those of its columns.
    values : numpy.ndarray, shape (n, n)
        The cost of raising the row to its lowest common ancestor with the column, at least 0.
        In a difference of two matrices the values may be negative.
    grouped : bool
        Whether a row stands for all values of a group; its costs are then means.
    left_out : int
        How many values below the common ancestor of all nodes are below none of them.
    largest : float
        The largest cost in the whole hierarchy: what it costs to lose a value completely.
    decimals : int
        With how many decimals its costs are written, and those of its edges (see
        :func:`decimals_of`).
    """

    nodes: tuple[int, ...]
    labels: tuple[str, ...]
    values: np.ndarray
    grouped: bool
    left_out: int
    largest: float
    decimals: int

    def written(self, cost: float, percent: bool = False) -> str:
        """Write a cost with the decimals of this matrix; with ``percent``, a share as percent."""
        if percent:
            return cost_text(100 * cost, max(0, self.decimals - 2))
        return cost_text(cost, self.decimals)


def cut(tree: Hierarchy, focus: int, most: int = LARGEST_MATRIX) -> tuple[int, ...]:
    """The nodes that a matrix of the subtree of ``focus`` shows.

    All nodes of the subtree, by number (leaves first), if they are at most ``most``. Otherwise
    groups that are disjoint, from left to right: every value is raised to the lowest level at
    which at most ``most`` nodes remain. If even the children of ``focus`` are more, no grouping
    is possible: then those ``most`` children with the most leaves stay, and
    :attr:`CostMatrix.left_out` tells how many values are missing.

    >>> from kanon.hierarchy.build import groups
    >>> tree = groups([{"A": ["a", "b", "c"], "B": ["d"]}, {"*": ["A", "B", "e"]}])
    >>> [tree.labels[node] for node in cut(tree, tree.root)]
    ['a', 'b', 'c', 'd', 'e', 'A', 'B', '*']
    >>> [tree.labels[node] for node in cut(tree, tree.root, most=5)]
    ['a', 'b', 'c', 'd', 'e']
    >>> [tree.labels[node] for node in cut(tree, tree.root, most=4)]
    ['A', 'B', 'e']
    >>> [tree.labels[node] for node in cut(tree, tree.root, most=2)]
    ['A', 'B']

    Parameters
    ----------
    focus
        The node whose subtree is shown. A single child below it is passed through if the subtree
        is too large: it groups nothing.
    most
        The largest number of nodes, at least 2.
    """
    if most < 2:
        raise ValueError("A matrix needs room for at least 2 nodes.")
    while len(below := _find_subtree(tree, focus)) > most and len(tree.children[focus]) == 1:
        focus = tree.children[focus][0]
    if len(below) <= most:
        return tuple(below.tolist())
    nodes: np.ndarray | None = None
    for level in range(int(tree.level[focus]) - 1, -1, -1):
        level_nodes = below[(tree.level[below] <= level) & (tree.level[tree.parent[below]] > level)]
        if len(level_nodes) > most:
            break
        nodes = level_nodes
    if nodes is None:
        children = np.array(tree.children[focus])
        nodes = children[np.argsort(-tree.leaves_covered[children], kind="stable")[:most]]
    return tuple(nodes[np.argsort(tree.first[nodes])].tolist())


def _find_subtree(tree: Hierarchy, focus: int) -> np.ndarray:
    within = (tree.first >= tree.first[focus]) & (tree.last <= tree.last[focus])
    return np.flatnonzero(within[: focus + 1])


def grouped_matrix(tree: Hierarchy, potential: np.ndarray, nodes: Sequence[int]) -> np.ndarray:
    """The mean cost between the values of disjoint groups.

    M(U, V) = mean over leaves u below U and v below V of cost(u, LCA(u, v)). For two groups this
    is the mean cost of raising a value to its group, the sum over x below U of ω(x) · n(x) / n(U),
    n being the number of leaves of a node, plus D(U) − D(LCA(U, V)), D being the potential. Within
    one group, the edge above x counts for the pairs with u below x and v not: the sum over x below
    U of ω(x) · n(x) · (n(U) − n(x)) / n(U)².

    >>> from kanon.hierarchy.build import groups
    >>> from kanon.metrics import metric_named, potentials
    >>> tree = groups([{"A": ["a", "b"]}, {"*": ["A", "c", "d"]}])
    >>> depth, = potentials(metric_named("llm"), [tree])
    >>> grouped_matrix(tree, depth, [tree.node_of["A"], tree.node_of["c"]]).tolist()
    [[1.0, 4.0], [4.0, 0.0]]

    Parameters
    ----------
    potential : numpy.ndarray, shape (N,)
        Its part of :func:`kanon.metrics.potentials`.
    nodes
        n nodes, none of which is an ancestor of another.

    Returns
    -------
    numpy.ndarray, shape (n, n)
        At least 0, in the metric's own unit. Where a row is a leaf it holds that leaf's costs;
        every leaf counts once, however often it occurs in a table.

    Raises
    ------
    ValueError
        A node is an ancestor of another.

    Notes
    -----
    The mean of Mauger, Le Mahec, Dequen 2023, Definition 6, over pairs of leaves.
    """
    if not _is_disjoint(tree, nodes):
        raise ValueError("The groups of a matrix have to be disjoint.")
    groups = np.asarray(nodes)
    owner, edges = _find_edges_within(tree, groups)
    weights = potential[edges] - potential[tree.parent[edges]]
    below = tree.leaves_covered[edges] / tree.leaves_covered[owner]  # of the group's leaves
    to_group, within = (
        np.bincount(owner, weights * share, minlength=tree.n_nodes)[groups]
        for share in (below, below * (1 - below))
    )
    onwards = potential[groups][:, None] - potential[tree.common_ancestors(nodes)]
    values: np.ndarray = to_group[:, None] + onwards
    np.fill_diagonal(values, within)
    return values


def _is_disjoint(tree: Hierarchy, nodes: Sequence[int]) -> bool:
    """Whether no node is an ancestor of another, nor listed twice."""
    ordered = np.asarray(nodes)
    ordered = ordered[np.argsort(tree.first[ordered])]
    return bool((tree.last[ordered][:-1] <= tree.first[ordered][1:]).all())


def _find_edges_within(tree: Hierarchy, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    groups = groups[np.argsort(tree.first[groups])]
    nodes = np.arange(tree.root)
    # The group that a node may be below is the last one that begins before it.
    place = np.searchsorted(tree.first[groups], tree.first[nodes], side="right") - 1
    owner = groups[place]
    below = (place >= 0) & (tree.last[nodes] <= tree.last[owner]) & (nodes < owner)
    return owner[below], nodes[below]


def matrix_of(tree: Hierarchy, potential: np.ndarray, nodes: Sequence[int]) -> CostMatrix:
    """The cost matrix of some nodes: of groups if they are disjoint, otherwise node by node.

    >>> from kanon.hierarchy.build import suppression
    >>> from kanon.metrics import metric_named, potentials
    >>> tree = suppression(["a", "b", "c"])
    >>> depth, = potentials(metric_named("total"), [tree])
    >>> matrix_of(tree, depth, cut(tree, tree.root)).values.tolist()[0]
    [0.0, 1.0, 1.0, 1.0]

    Parameters
    ----------
    potential : numpy.ndarray, shape (N,)
        Its part of :func:`kanon.metrics.potentials`.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2023, Definition 6; see :func:`grouped_matrix` for groups.
    """
    node_array = np.asarray(nodes)
    edges = potential[: tree.root] - potential[tree.parent[: tree.root]]
    if _is_disjoint(tree, nodes):
        values = grouped_matrix(tree, potential, nodes)
        has_groups = bool((tree.level[node_array] > 0).any())
    else:
        values = potential[node_array][:, None] - potential[tree.common_ancestors(nodes)]
        has_groups = False
    return CostMatrix(
        nodes=tuple(int(node) for node in nodes),
        labels=tuple(tree.labels[node] for node in nodes),
        values=values,
        grouped=has_groups,
        left_out=_count_left_out(tree, node_array),
        largest=float(potential.max()),
        decimals=decimals_of(values, edges),
    )


def _count_left_out(tree: Hierarchy, nodes: np.ndarray) -> int:
    """Count the leaves below the common ancestor of some nodes that are below none of them."""
    above = reduce(tree.lca, (int(node) for node in nodes))
    is_covered = np.zeros(tree.n_leaves, dtype=bool)
    for node in nodes:
        is_covered[tree.first[node] : tree.last[node]] = True
    return int(tree.leaves_covered[above]) - int(is_covered.sum())


def as_share(matrix: CostMatrix) -> CostMatrix:
    """The same matrix as a share of the cost of losing a value completely, 0 to 1.

    So matrices of metrics in different units can be compared. All shares are 0 if the largest
    cost is 0.

    >>> half = as_share(CostMatrix((0,), ("a",), np.array([[3.0]]), False, 0, 6.0, 0))
    >>> half.values.tolist(), half.largest, half.decimals
    ([[0.5]], 1.0, 1)
    """
    values = matrix.values / (matrix.largest or 1.0)
    return replace(matrix, values=values, largest=1.0, decimals=decimals_of(values))


def difference(first: CostMatrix, second: CostMatrix) -> CostMatrix:
    """One matrix minus another of the same nodes: above 0 where the first costs more.

    Differences by rounding count as 0: metrics that are multiples of each other have equal
    shares. The decimals suffice for both matrices too.

    Raises
    ------
    ValueError
        The nodes differ.

    >>> one = CostMatrix((0,), ("a",), np.array([[3.0]]), False, 0, 6.0, 0)
    >>> difference(one, replace(one, values=one.values / 2)).values.tolist()
    [[1.5]]
    """
    if first.nodes != second.nodes or first.labels != second.labels:
        raise ValueError("Two matrices must have the same nodes.")
    largest = max(first.largest, second.largest)
    values = first.values - second.values
    values[np.abs(values) <= _ROUNDING * largest] = 0.0
    decimals = decimals_of(values, first.values, second.values)
    return replace(first, values=values, largest=largest, decimals=decimals)


def path_edges(
    tree: Hierarchy, weights: np.ndarray, low: int, high: int
) -> list[tuple[int, int, float]]:
    """The edges from a node up to one of its ancestors: both ends and the weight.

    Parameters
    ----------
    weights : numpy.ndarray, shape (N,)
        Its part of :func:`kanon.metrics.edge_weights`.

    Raises
    ------
    ValueError
        ``high`` is not an ancestor of ``low``.

    Notes
    -----
    The weights sum up to the cost: Mauger, Le Mahec, Dequen 2023, Definition 6.
    """
    if not tree.is_ancestor(high, low):
        raise ValueError(f"Node {high} is not an ancestor of node {low}.")
    nodes = tree.path(low)
    nodes = nodes[: nodes.index(high) + 1]
    return [(below, above, float(weights[below])) for below, above in pairwise(nodes)]


def path_text(
    tree: Hierarchy,
    weights: np.ndarray,
    low: int,
    high: int,
    *,
    start: float | None = None,
    decimals: int | None = None,
    longest: int = 40,
    most: int | None = None,
) -> str:
    """How a cost adds up, in one line: the steps from a node up to one of its ancestors.

    >>> from kanon.hierarchy.files import parse_nodes
    >>> tree = parse_nodes([
    ...     {"name": "Mammal"}, {"name": "Felid", "parent": "Mammal", "weight": 3},
    ...     {"name": "Cat", "parent": "Felid", "weight": 1}])
    >>> path_text(tree, tree.weight, tree.node_of["Cat"], tree.root)
    'Cat → Felid → Mammal: 1 + 3 = 4'
    >>> path_text(tree, tree.weight, tree.root, tree.root)
    'Mammal: 0'
    >>> path_text(tree, tree.weight, tree.node_of["Felid"], tree.root, start=1.0)
    'values → Felid → Mammal: 1 + 3 = 4'

    Parameters
    ----------
    start
        For a group: the mean cost of raising its values to it, where the path begins.
    decimals
        By default as many as this path alone needs.
    longest
        The most characters of a label; longer ones are shortened.
    most
        The most steps to write, at least 2; those before the last one are left out.
    """
    edges = path_edges(tree, weights, low, high)
    names = [_trim_label(tree.labels[low], longest)]
    costs = [] if start is None else [start]
    names = names if start is None else ["values", *names]
    names += [_trim_label(tree.labels[above], longest) for _, above, _ in edges]
    costs += [weight for *_, weight in edges]
    total = sum(costs)
    if decimals is None:
        decimals = decimals_of(np.array([*costs, total]))
    terms = [cost_text(cost, decimals) for cost in costs]
    if most is not None and len(costs) > most:
        names = [*names[:most], "…", names[-1]]
        terms = [*terms[: most - 1], "…", terms[-1]]
    total_text = cost_text(total, decimals)
    sums = f"{' + '.join(terms)} = {total_text}" if len(terms) > 1 else total_text
    return f"{' → '.join(names)}: {sums}"


def cell_text(
    tree: Hierarchy,
    weights: np.ndarray,
    matrix: CostMatrix,
    cell: tuple[int, int],
    *,
    longest: int = 40,
    most: int | None = None,
) -> str:
    """How the cost in a cell (row, column) adds up, as :func:`path_text` writes it.

    In a matrix of groups it starts from their mean cost.
    """
    low, column_node = (matrix.nodes[place] for place in cell)
    high, cost, start = tree.lca(low, column_node), float(matrix.values[cell]), None
    if matrix.grouped and tree.level[low] > 0:
        if high == low:
            label = _trim_label(tree.labels[low], longest)
            return f"between two values of {label} = {matrix.written(cost)}"
        start = cost - sum(weight for *_, weight in path_edges(tree, weights, low, high))
        start = start if start > 1e-9 * cost else 0.0  # less is a rounding
    return path_text(
        tree, weights, low, high, start=start, decimals=matrix.decimals, longest=longest, most=most
    )


def _trim_label(label: str, longest: int) -> str:
    return label if len(label) <= longest else label[: longest - 1] + "…"


def decimals_of(*costs: np.ndarray) -> int:
    """With how many decimals the costs of one picture are written, so that readers can add them.

    The fewest that show all costs exactly, if three significant digits of the smallest above 0,
    or one more, suffice; otherwise those three digits. Never more than six digits of the largest.

    >>> decimals_of(np.array([0, 1, 4.0])), decimals_of(np.array([0.625, 25 / 24, 5 / 3]))
    (0, 3)
    >>> decimals_of(np.array([0.25, 1])), decimals_of(np.array([3 / 16, 7 / 16]))
    (2, 4)
    >>> decimals_of(np.array([1 / 3, 1234.0]))
    2
    """
    sizes = np.unique(np.abs(np.concatenate([np.ravel(matrix) for matrix in costs])))
    sizes = sizes[sizes > _ROUNDING * sizes[-1]]
    if not len(sizes):
        return 0
    smallest, largest = (int(np.floor(np.log10(end))) for end in (sizes[0], sizes[-1]))
    most = max(0, min(2 - smallest, 5 - largest))
    exact = (
        places
        for places in range(most + 2)
        if (np.abs(sizes - sizes.round(places)) <= _ROUNDING * sizes[-1]).all()
    )
    return next(exact, most)


def cost_text(cost: float, decimals: int) -> str:
    """A cost with this many decimals; only tiny costs and those of a million or more differ.

    >>> cost_text(25 / 24, 3), cost_text(-0.25, 3), cost_text(0, 3), cost_text(0.00012, 3)
    ('1.042', '−0.250', '0', '0.00012')
    >>> cost_text(1234.5, 1) == "1\\u202f234.5", cost_text(2.5e9, 0)
    (True, '2.5e+09')
    """
    if abs(cost) <= _ROUNDING * 10.0**-decimals:
        return "0"
    text = f"{cost:,.{decimals}f}"
    if abs(cost) >= 1e6 or not text.strip("-0."):
        text = write_number(cost, 3)
    return text.replace(",", "\u202f").replace("-", "−")


def matrix_table(matrix: CostMatrix) -> pd.DataFrame:
    """The matrix as a table to save; each row is a value that is raised.

    >>> matrix_table(CostMatrix((0,), ("a",), np.array([[0.0]]), False, 0, 1, 0)).index.name
    'from \\\\ to'
    """
    rows = pd.Index(matrix.labels, name="from \\ to")
    return pd.DataFrame(matrix.values, index=rows, columns=list(matrix.labels))
