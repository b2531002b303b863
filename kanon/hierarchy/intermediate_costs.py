"""Intermediate costs: what raising a value in a hierarchy costs, the first phase of a metric."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kanon.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class ExactNumbers:
    """One rational number per node, stored as its distinct numbers."""

    values: list[Fraction]  # the distinct numbers
    place: np.ndarray  # per node the place of its number

    def map(self, change: Callable[[Fraction], Fraction]) -> ExactNumbers:
        return ExactNumbers(list(map(change, self.values)), self.place)

    def get_number(self, node: int) -> Fraction:
        return self.values[self.place[node]]

    def convert_to_floats(self) -> np.ndarray:
        """The numbers, each rounded once. Shape (N,), float64."""
        return np.array([float(value) for value in self.values], dtype=np.float64)[self.place]


def build_exact_numbers(keys: np.ndarray, exact: Callable[[int], Fraction]) -> ExactNumbers:
    distinct, place = np.unique(keys, return_inverse=True)
    return ExactNumbers([exact(int(key)) for key in distinct], place)


def _compute_harmonic_levels(tree: Hierarchy) -> ExactNumbers:
    """F(v) = sum over i = 1..level(v) of 1/(h - i), divided by the same sum up to h - 1."""
    steps = [Fraction(1, tree.height - i) for i in range(1, tree.height)]
    sums = list(itertools.accumulate(steps, initial=Fraction(0)))
    return build_exact_numbers(tree.level, lambda level: sums[level] / sums[-1])


def _compute_level_shares(tree: Hierarchy) -> ExactNumbers:
    """F(v) = level(v) / (h - 1)."""
    return build_exact_numbers(tree.level, lambda level: Fraction(level, tree.height - 1))


def _count_leaves_below(tree: Hierarchy) -> ExactNumbers:
    """F(v) = nl(v), the number of leaves below v; 0 for a leaf."""
    return build_exact_numbers(tree.leaves_below, Fraction)


def _compute_leaf_shares(tree: Hierarchy) -> ExactNumbers:
    """F(v) = nl(v) / nl(root)."""
    return build_exact_numbers(tree.leaves_below, lambda below: Fraction(below, tree.n_leaves))


def _count_other_leaves(tree: Hierarchy) -> ExactNumbers:
    """F(v) = |v| - 1, |v| being the number of leaves that v covers: nl, if nl(leaf) = 1."""
    return build_exact_numbers(tree.leaves_covered - 1, Fraction)


def _compute_other_leaves_of_all(tree: Hierarchy) -> ExactNumbers:
    """F(v) = (|v| - 1) / |root|."""
    return build_exact_numbers(
        tree.leaves_covered - 1, lambda other: Fraction(other, tree.n_leaves)
    )


def _compute_other_leaf_shares(tree: Hierarchy) -> ExactNumbers:
    """F(v) = (|v| - 1) / (|root| - 1); 0 if the root has one leaf."""
    most = max(tree.n_leaves - 1, 1)
    return build_exact_numbers(tree.leaves_covered - 1, lambda other: Fraction(other, most))


@dataclass(frozen=True)
class Intermediate:
    # F, one exact number per node; its difference along an edge is the intermediate cost
    height: Callable[[Hierarchy], ExactNumbers] | None
    title: str  # what is counted, as a choice on a page
    formula: str  # the cost of an edge from x up to x′, as one line
    told: str  # what a raised cell costs, as a part of a sentence
    counts: str  # ``levels``, ``leaves`` or ``records``
    # whether total loss costs the same in hierarchies of any size: 1, or just below where a leaf
    # counts as one leaf of itself
    is_normalised: bool = True
    composed: bool = True  # whether users may compose metrics of it


RECORDS = "records"
"""The intermediate cost of ``entropy``: it depends on a table, so users cannot compose it."""


INTERMEDIATES: Mapping[str, Intermediate] = {
    "harmonic-levels": Intermediate(
        _compute_harmonic_levels,
        title="harmonic levels",
        formula="Σ 1/(h − i) over the levels i that the edge rises / Σ 1/(h − i) over all",
        told="the share of harmonic levels by which it rose",
        counts="levels",
    ),
    "levels": Intermediate(
        _compute_level_shares,
        title="levels",
        formula="(level(x′) − level(x)) / (h − 1)",
        told="the share of levels by which it rose",
        counts="levels",
    ),
    "leaves": Intermediate(
        _count_leaves_below,
        title="lost leaves",
        formula="nl(x′) − nl(x)",
        told="the number of values that it could now mean",
        counts="leaves",
        is_normalised=False,
    ),
    "leaves-normalised": Intermediate(
        _compute_leaf_shares,
        title="lost leaves / all leaves",
        formula="(nl(x′) − nl(x)) / nl(root)",
        told="the share of all values that it could now mean",
        counts="leaves",
    ),
    "other-leaves": Intermediate(
        _count_other_leaves,
        title="other leaves",
        formula="nl(x′) − nl(x), with nl(leaf) = 1",
        told="the number of other values that it could now mean",
        counts="leaves",
        is_normalised=False,
    ),
    "other-leaves-normalised": Intermediate(
        _compute_other_leaves_of_all,
        title="other leaves / all leaves",
        formula="(nl(x′) − nl(x)) / nl(root), with nl(leaf) = 1",
        told="the other values that it could now mean, as a share of all values",
        counts="leaves",
    ),
    "other-leaves-share": Intermediate(
        _compute_other_leaf_shares,
        title="other leaves / all other leaves",
        formula="(nl(x′) − nl(x)) / (nl(root) − 1), with nl(leaf) = 1",
        told="the share of all other values that it could now mean",
        counts="leaves",
        composed=False,
    ),
    # Add new intermediate costs here.
    RECORDS: Intermediate(
        None,
        title="records",
        formula="log2(count(x′) / count(x)), 0 if no record is at x or below",
        told="log2 of how many times as many records it could now mean, in bits",
        counts="records",
        is_normalised=False,
        composed=False,
    ),
}
"""The first phase of every metric; the first four are those of the papers.

``nl`` counts the leaves below a node, none below a leaf: only then is LLM(C) = |C| Σ nl(v) h_max/h
of Mauger et al. 2020 the sum of its own edge weights. The other reading counts a leaf as one leaf
of itself, and so the *other* values that a cell could mean.
"""


COMPOSED: tuple[str, ...] = tuple(name for name, cost in INTERMEDIATES.items() if cost.composed)
"""The intermediate costs of which users may compose metrics."""
