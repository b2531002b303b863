"""Intermediate costs: what raising a value in a hierarchy costs, the first phase of a metric."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kanon.base.data_files import read_data
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

_HEIGHTS: Mapping[str, Callable[[Hierarchy], ExactNumbers]] = {
    "harmonic-levels": _compute_harmonic_levels,
    "levels": _compute_level_shares,
    "leaves": _count_leaves_below,
    "leaves-normalised": _compute_leaf_shares,
    "other-leaves": _count_other_leaves,
    "other-leaves-normalised": _compute_other_leaves_of_all,
    "other-leaves-share": _compute_other_leaf_shares,
    # Add new intermediate costs here.
}

INTERMEDIATES: Mapping[str, Intermediate] = {
    name: Intermediate(_HEIGHTS.get(name), **texts) for name, texts in read_data(__file__).items()
}
"""The first phase of every metric; the first four are those of the papers."""

COMPOSED: tuple[str, ...] = tuple(name for name, cost in INTERMEDIATES.items() if cost.composed)
"""The intermediate costs of which users may compose metrics."""
