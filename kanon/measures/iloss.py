"""Information loss: how many other values each cell could now mean, as a share of all values."""

from collections.abc import Sequence

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.errors import MetricError
from kanon.measures.cells import sum_losses
from kanon.measures.node_losses import leaf_share_lost
from kanon.measures.running import T
from kanon.recoding import Recoding

CARD = read_card(__file__)


def losses(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    """What a cell loses at each node: the other values, of all. Shapes (N_j,)."""
    return tuple(map(leaf_share_lost, classes.hierarchies))


def of_sum(total: T, before: T, classes: EquivalenceClasses) -> T:
    """What all cells lost is iloss."""
    return total


def value(recoding: Recoding, weights: Sequence[float] | None = None) -> float:
    """Σ over cells of w_j · (|v| - 1) / |root|, |v| being the leaves that the released v covers.

    Suppressed records count as root cells. As a mean per cell: ``iloss_mean``.

    The ``weights`` w_j ≥ 0 are 1 each by default, as in every figure of a report: the attribute
    weights of a plan only guide its search. A MetricError says if they do not fit.

    Source: Babu, Reddy, Kumar, Elliot, Jena 2013, equations 19 to 21.

    Two records, q raised to the root of two values (1/2 each), r to that of four (3/4 each):
    2 · 1/2 + 2 · 3/4 = 2.5; where r counts three times as much, 2 · 1/2 + 3 · 2 · 3/4 = 5.5.

    >>> from kanon.hierarchy.build import suppression
    >>> q, r = suppression(["a", "b"]), suppression(["c", "d", "e", "f"])
    >>> nodes = np.array([[0, 0], [1, 1]])
    >>> classes = EquivalenceClasses(("q", "r"), (q, r), nodes, np.array([1, 1]))
    >>> recoding = Recoding.from_targets(classes, np.array([[q.root, r.root]] * 2))
    >>> value(recoding), value(recoding, weights=(1, 3))
    (2.5, 5.5)
    """
    node_losses = losses(recoding.original)
    if weights is not None:
        if len(weights) != len(node_losses) or not all(0 <= weight < np.inf for weight in weights):
            raise MetricError("Give one weight of at least 0 per quasi-identifier.")
        node_losses = tuple(
            weight * column_losses
            for weight, column_losses in zip(weights, node_losses, strict=True)
        )
    return of_sum(sum_losses(recoding.cells, node_losses), 0.0, recoding.classes)
