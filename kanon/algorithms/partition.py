"""Cut classes into parts along the hierarchies, so that each can be merged by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanon.classes import EquivalenceClasses

_LEAST_SHARE = 0.25
"""No cut gives one side less than this share of the classes: parts should take alike long."""


def partition(
    classes: EquivalenceClasses, potentials: Sequence[np.ndarray], number: int, least: int = 1
) -> np.ndarray:
    """Cut classes into parts that never meet.

    As long as there are too few parts, the one of most classes is cut in two: into the classes
    that lie below some node of a hierarchy, and the others. Of two classes of the part drawn at
    random, one pays the edge above that node with probability 2 p (1 − p) if they are merged,
    where p is the share of the classes below it. So the cut is at the edge of most expected cost,
    w p (1 − p): two classes on different sides of it were least likely to be partners.

    Whatever is merged within a part stays off the tuples of every other part. What is below a
    node has its lowest common ancestors below it too; and a common ancestor of values that are
    not below it lies below it no more than they do. So every release of the parts is one of the
    table: no two of its classes look the same.

    Parameters
    ----------
    potentials
        Per quasi-identifier the potential of every node.
    number
        How many parts there should be. There are fewer where no cut is left.
    least
        So many records each part holds at least.

    Returns
    -------
    numpy.ndarray, shape (E,), int64
        The part of each class, from 0 on. Ties go to the first quasi-identifier, then to the
        lowest node, then to the oldest part: the order of the rows does not matter.

    Examples
    --------
    Sex costs more than town, so the first cut is there; each half is cut between two towns.

    >>> from kanon.hierarchy.build import suppression
    >>> trees = (suppression(["F", "M"]), suppression(["a", "b"]))
    >>> nodes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    >>> classes = EquivalenceClasses(("sex", "town"), trees, nodes, np.full(4, 5))
    >>> costs = [np.array([5, 5, 0]), np.array([1, 1, 0])]
    >>> partition(classes, costs, 2).tolist(), partition(classes, costs, 4).tolist()
    ([1, 1, 0, 0], [3, 1, 2, 0])
    >>> partition(classes, costs, 4, least=10).tolist()
    [1, 1, 0, 0]
    """
    parts = [np.arange(classes.n_classes)]
    whole: set[int] = set()  # those that cannot be cut
    while len(parts) < number and len(whole) < len(parts):
        largest = max(
            (place for place in range(len(parts)) if place not in whole),
            key=lambda place: len(parts[place]),
        )
        below = _cut(classes, potentials, parts[largest], least)
        if below is None:
            whole.add(largest)
            continue
        parts.append(parts[largest][below])
        parts[largest] = parts[largest][~below]
    found = np.zeros(classes.n_classes, dtype=np.int64)
    for place, part in enumerate(parts):
        found[part] = place
    return found


def _cut(
    classes: EquivalenceClasses, potentials: Sequence[np.ndarray], part: np.ndarray, least: int
) -> np.ndarray | None:
    """Which classes of a part lie below the node of the best cut; None if there is no cut."""
    counts = classes.counts[part]
    fewest, records = _LEAST_SHARE * len(part), counts.sum()
    best, where = 0.0, None
    for j, (tree, depth) in enumerate(zip(classes.hierarchies, potentials, strict=True)):
        values, inner = classes.nodes[part, j], slice(tree.root)
        below = tree.sum_below(np.bincount(values, minlength=tree.n_nodes))[inner]
        held = tree.sum_below(np.bincount(values, counts, tree.n_nodes))[inner]
        others = len(part) - below
        even = np.minimum(below, others) >= fewest
        allowed = even & (np.minimum(held, records - held) >= least)
        weight = (depth - depth[tree.parent])[inner]
        expected = np.where(allowed, weight * (below * others).astype(float), 0.0)
        if expected.size and expected.max() > best:
            best, where = float(expected.max()), (j, int(expected.argmax()))
    if where is None:
        return None
    j, node = where
    tree, every = classes.hierarchies[j], np.arange(classes.hierarchies[j].n_nodes)
    # Of a chain of single children, which share a range, the lower one has the smaller number.
    under = (tree.first >= tree.first[node]) & (tree.last <= tree.last[node]) & (every <= node)
    return np.asarray(under[classes.nodes[part, j]])
