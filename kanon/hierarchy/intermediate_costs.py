"""Intermediate costs: what a rise in a hierarchy counts, the first phase of a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kanon.hierarchy import Hierarchy


def _harmonic_levels(tree: Hierarchy) -> np.ndarray:
    """F(v) = sum over i = 1..level(v) of 1/(h - i), divided by the same sum up to h - 1."""
    steps = [1.0 / (tree.height - i) for i in range(1, tree.height)]
    sums = np.cumsum([0.0, *steps])
    return sums[tree.level] / sums[-1]


def _levels(tree: Hierarchy) -> np.ndarray:
    """F(v) = level(v) / (h - 1)."""
    return tree.level / (tree.height - 1)


def _leaves(tree: Hierarchy) -> np.ndarray:
    """F(v) = nl(v), the number of leaves below v; 0 for a leaf."""
    return tree.leaves_below.astype(np.float64)


def _leaves_normalised(tree: Hierarchy) -> np.ndarray:
    """F(v) = nl(v) / nl(root)."""
    return tree.leaves_below / tree.n_leaves


def _other_leaves(tree: Hierarchy) -> np.ndarray:
    """F(v) = |v| - 1, |v| being how many leaves v covers: nl with the reading nl(leaf) = 1."""
    return tree.leaves_covered - 1.0


def _other_leaves_normalised(tree: Hierarchy) -> np.ndarray:
    """F(v) = (|v| - 1) / |root|."""
    return (tree.leaves_covered - 1) / tree.n_leaves


def _other_leaves_share(tree: Hierarchy) -> np.ndarray:
    """F(v) = (|v| - 1) / (|root| - 1); 0 if the root has one leaf."""
    return (tree.leaves_covered - 1) / max(tree.n_leaves - 1, 1)


@dataclass(frozen=True)
class Intermediate:
    """The first phase of a metric: what a rise counts.

    Attributes
    ----------
    height
        F, one number per node, whose difference along an edge is the intermediate cost. None
        where it depends on the records of a table.
    title
        What is counted, as a choice on a page.
    formula
        The cost of an edge from x up to x′, as one line.
    told
        What a cell that rose costs, as it stands in a sentence.
    counts
        ``levels``, ``leaves`` or ``records``.
    normalised
        Whether losing everything costs as much in every hierarchy, however large: 1, or just below
        where a leaf counts as one leaf of itself.
    composed
        Whether metrics of one's own may be made of it.
    """

    height: Callable[[Hierarchy], np.ndarray] | None
    title: str
    formula: str
    told: str
    counts: str
    normalised: bool = True
    composed: bool = True


RECORDS = "records"
"""The intermediate cost of ``entropy``: it looks at a table, so it is none of those to compose."""


INTERMEDIATES: Mapping[str, Intermediate] = {
    "harmonic-levels": Intermediate(
        _harmonic_levels,
        title="harmonic levels",
        formula="Σ 1/(h − i) over the levels i that the edge rises / Σ 1/(h − i) over all",
        told="the share of harmonic levels that it rose",
        counts="levels",
    ),
    "levels": Intermediate(
        _levels,
        title="levels",
        formula="(level(x′) − level(x)) / (h − 1)",
        told="the share of levels that it rose",
        counts="levels",
    ),
    "leaves": Intermediate(
        _leaves,
        title="lost leaves",
        formula="nl(x′) − nl(x)",
        told="the number of values that it could now mean",
        counts="leaves",
        normalised=False,
    ),
    "leaves-normalised": Intermediate(
        _leaves_normalised,
        title="lost leaves / all leaves",
        formula="(nl(x′) − nl(x)) / nl(root)",
        told="the share of all values that it could now mean",
        counts="leaves",
    ),
    "other-leaves": Intermediate(
        _other_leaves,
        title="other leaves",
        formula="nl(x′) − nl(x), with nl(leaf) = 1",
        told="the number of other values that it could now mean",
        counts="leaves",
        normalised=False,
    ),
    "other-leaves-normalised": Intermediate(
        _other_leaves_normalised,
        title="other leaves / all leaves",
        formula="(nl(x′) − nl(x)) / nl(root), with nl(leaf) = 1",
        told="the other values that it could now mean, as a share of all values",
        counts="leaves",
    ),
    "other-leaves-share": Intermediate(
        _other_leaves_share,
        title="other leaves / all other leaves",
        formula="(nl(x′) − nl(x)) / (nl(root) − 1), with nl(leaf) = 1",
        told="the share of all other values that it could now mean",
        counts="leaves",
        composed=False,
    ),
    # A new intermediate cost stands here.
    RECORDS: Intermediate(
        None,
        title="records",
        formula="log2(count(x′) / count(x)), 0 if nobody is at x or below",
        told="log2 of how many times as many records it could now mean, in bits",
        counts="records",
        normalised=False,
        composed=False,
    ),
}
"""The first phase of every metric; the first four are those of the documents.

``nl`` counts the leaves below a node, none below a leaf: only so is LLM(C) = |C| Σ nl(v) h_max/h
of Mauger et al. 2020 the sum of its own edge weights. The other reading counts a leaf as one leaf
of itself; so it counts the *other* values that a cell could mean.
"""


COMPOSED: tuple[str, ...] = tuple(name for name, one in INTERMEDIATES.items() if one.composed)
"""Those of which a user may make metrics."""
