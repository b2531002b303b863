"""Random trees, tables and plans, with the plainest possible answers about them.

No answer is computed with kanon: a :class:`PlainTree` is a dict from each node to its parent, and
its answers are the definitions written out, in exact fractions. The tests compare kanon with them.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.metrics import Metric, metric_named
from support.plans import plan_content, qi_with

SEVEN = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
COMPOSED = ("levels x w1", "levels x w2", "harmonic-levels x w2", "leaves x none")


def examples(number: int, in_gate: int | None = None) -> settings:
    """So many examples by ``make nightly``, fewer in every run; a busy machine is no failure.

    The environment variable ``KANON_EXAMPLES`` multiplies their number; below 1 it is no more
    than ``in_gate``, and otherwise at least four: the first that is tried is the plainest of all.
    """
    share = float(os.environ.get("KANON_EXAMPLES", "0.05"))
    most = number if in_gate is None or share >= 1 else in_gate
    return settings(
        max_examples=max(min(4, most), min(most, round(number * share))),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def seeds(number: int, in_gate: int) -> list:
    """Seeds from 0 on, all but the first of them by ``make nightly`` alone."""
    return [
        seed if seed < in_gate else pytest.param(seed, marks=pytest.mark.nightly)
        for seed in range(number)
    ]


@dataclass(frozen=True)
class PlainTree:
    """A tree as a dict from each node to its parent (None for the root), siblings in order."""

    parents: Mapping[str, str | None]
    weights: Mapping[str, float] | None = None

    @cached_property
    def root(self) -> str:
        return next(node for node, above in self.parents.items() if above is None)

    @cached_property
    def paths(self) -> dict[str, list[str]]:
        """Per node the nodes from it up to the root, both included."""
        found = {}
        for node in self.parents:
            path, above = [node], self.parents[node]
            while above is not None:
                path.append(above)
                above = self.parents[above]
            found[node] = path
        return found

    def children(self, node: str) -> list[str]:
        return [below for below, above in self.parents.items() if above == node]

    @cached_property
    def leaves(self) -> list[str]:
        return [node for node in self.parents if not self.children(node)]

    @cached_property
    def leaves_covered(self) -> dict[str, int]:
        """The number of leaves whose path goes through a node; 1 for a leaf."""
        return dict(Counter(node for leaf in self.leaves for node in self.paths[leaf]))

    @cached_property
    def leaves_below(self) -> dict[str, int]:
        """nl: the number of leaves below a node; 0 for a leaf."""
        every = ((leaf, self.paths[leaf]) for leaf in self.leaves)
        below = Counter(node for leaf, path in every for node in path if node != leaf)
        return {node: below[node] for node in self.parents}

    @cached_property
    def level(self) -> dict[str, int]:
        """Per node the longest path, in edges, from a leaf below it."""
        return {
            node: max(self.paths[x].index(node) for x in self.leaves if node in self.paths[x])
            for node in self.parents
        }

    @cached_property
    def height(self) -> int:
        """h: the number of nodes on the longest path."""
        return max(map(len, self.paths.values()))

    @cached_property
    def order(self) -> list[str]:
        """The nodes by number: leaves depth-first, then inner nodes in post-order."""

        def post_order(node: str) -> list[str]:
            return [x for below in self.children(node) for x in post_order(below)] + [node]

        every = post_order(self.root)
        return [x for x in every if x in self.leaves] + [x for x in every if x not in self.leaves]

    @cached_property
    def number(self) -> dict[str, int]:
        return {node: number for number, node in enumerate(self.order)}

    def lca(self, one: str, other: str) -> str:
        return next(node for node in self.paths[one] if node in self.paths[other])

    def nodes_entry(self) -> list[dict[str, Any]]:
        """The list ``nodes`` of a hierarchy in JSON."""
        return [
            {"name": node, "parent": above}
            if above is None or self.weights is None
            else {"name": node, "parent": above, "weight": self.weights[node]}
            for node, above in self.parents.items()
        ]

    def build(self) -> Hierarchy:
        """The tree as kanon's."""
        drawn = self.weights or {}
        return Hierarchy.from_entries(
            (node, above, drawn.get(node)) for node, above in self.parents.items()
        )


# --- What the table in model.md says, edge by edge ----------------------------------------------
def multiplier(kind: str, j: int, heights: Sequence[int]) -> Fraction:
    """w1, w2 or 1 of attribute j."""
    m = len(heights)
    if kind == "w1":
        total = sum((h - 1) ** m for h in heights)
        if m == 1 or total == 0:
            return Fraction(1)
        return 1 - Fraction((heights[j] - 1) ** m, total)
    return Fraction(max(heights), heights[j]) if kind == "w2" else Fraction(1)


def edge_weight(metric: str, trees: Sequence[PlainTree], j: int, node: str) -> Fraction:
    """ω(x, x') of the edge from a node to its parent, straight from the definition."""
    tree, above = trees[j], trees[j].parents[node]
    assert above is not None
    heights = [tree.height for tree in trees]
    h, low, high = tree.height, tree.level[node], tree.level[above]
    lost = tree.leaves_below[above] - tree.leaves_below[node]
    share = Fraction(lost, len(tree.leaves))
    w1, w2 = multiplier("w1", j, heights), multiplier("w2", j, heights)
    if metric == "custom":
        assert tree.weights is not None
        return Fraction(tree.weights[node])
    steps = sum(Fraction(1, h - i) for i in range(low + 1, high + 1))
    first = {
        "harmonic-levels": steps / sum(Fraction(1, h - i) for i in range(1, h)),
        "levels": Fraction(high - low, h - 1),
        "leaves": Fraction(lost),
        "leaves-normalised": share,
    }
    named = {
        "distortion": ("harmonic-levels", "w1"),
        "ncp": ("leaves-normalised", "none"),
        "total": ("levels", "none"),
        "llm": ("leaves", "w2"),
        "nllm": ("leaves-normalised", "w2"),
        "wllm": ("leaves", "w1"),
        "wnllm": ("leaves-normalised", "w1"),
    }
    intermediate, second = named[metric] if metric in named else metric.split(" x ")
    return first[intermediate] * {"w1": w1, "w2": w2, "none": 1}[second]


def metric_of(name: str) -> Metric:
    """A metric of a name, or one that is composed of two phases, ``levels x w1``."""
    if " x " not in name:
        return metric_named(name)
    return Metric(Card("mine", "mine", "", ""), *name.split(" x "))


def edge_weights(metric: str, trees: Sequence[PlainTree]) -> list[dict[str, Fraction]]:
    """The weights of all edges, per tree and by the node below the edge."""
    return [
        {node: edge_weight(metric, trees, j, node) for node in tree.parents if node != tree.root}
        for j, tree in enumerate(trees)
    ]


def path_cost(tree: PlainTree, weights: Mapping[str, Fraction], low: str, high: str) -> Fraction:
    """cost(v, v'): the sum of the weights on the path from v up to its ancestor v'."""
    path = tree.paths[low]
    return sum((weights[node] for node in path[: path.index(high)]), Fraction(0))


# --- Random ones --------------------------------------------------------------------------------
@st.composite
def trees(draw, max_nodes: int = 10, weighted: bool = False, prefix: str = "n") -> PlainTree:
    """Any tree: unbalanced, chains of single children, one node, everything under the root.

    Weights are quarters, so that sums are exact and many costs tie.
    """
    shape = draw(st.sampled_from(["any", "any", "any", "deep", "star", "chain"]))
    size = draw(st.integers(1, max_nodes))
    lowest = {"any": 0, "deep": -3, "star": 0, "chain": -1}[shape]
    above: list[int | None] = [None]
    for node in range(1, size):
        first = max(0, node + lowest) if lowest else 0
        last = 0 if shape == "star" else node - 1
        above.append(draw(st.integers(first, last)))
    listed = draw(st.permutations(range(size)))
    name = [f"{prefix}{node}" for node in range(size)]
    parents = {name[x]: None if above[x] is None else name[above[x]] for x in listed}
    if not weighted:
        return PlainTree(parents)
    drawn = {
        node: draw(st.integers(0, 12)) / 4 for node, parent in parents.items() if parent is not None
    }
    return PlainTree(parents, drawn)


@dataclass(frozen=True)
class Problem:
    """A table of labels with a tree per column."""

    trees: tuple[PlainTree, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def columns(self) -> list[str]:
        return [f"q{j}" for j in range(len(self.trees))]

    def frame(self) -> pd.DataFrame:
        """The table as pandas has it."""
        return pd.DataFrame(list(self.rows), columns=self.columns)

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        return tuple(tree.build() for tree in self.trees)

    def numbers(self, labels: Sequence[str]) -> tuple[int, ...]:
        """A tuple of labels as node numbers."""
        return tuple(tree.number[x] for tree, x in zip(self.trees, labels, strict=True))

    @cached_property
    def sizes(self) -> dict[tuple[str, ...], int]:
        """The classes in canonical order, with their numbers of records."""
        counted = Counter(self.rows)
        return {labels: counted[labels] for labels in sorted(counted, key=self.numbers)}

    def classes(self) -> EquivalenceClasses:
        """The classes as kanon has them, counted here."""
        return EquivalenceClasses(
            tuple(self.columns),
            self.hierarchies,
            np.array([self.numbers(labels) for labels in self.sizes], dtype=np.int32),
            np.array(list(self.sizes.values()), dtype=np.int64),
        )

    def plan(self, k: int = 2, **algorithm: Any) -> dict[str, Any]:
        """A plan for the table, as its JSON holds it, with the trees written out."""
        columns = {
            column: qi_with({"nodes": tree.nodes_entry()})
            for column, tree in zip(self.columns, self.trees, strict=True)
        }
        return plan_content(columns, k, {"name": "gaa", **algorithm})


@st.composite
def problems(
    draw, max_attributes: int = 3, max_records: int = 20, max_nodes: int = 8, weighted: bool = False
) -> Problem:
    """A table over random trees; inner nodes occur as values too, leaves more often."""
    m = draw(st.integers(1, max_attributes))
    drawn = tuple(
        draw(trees(max_nodes=max_nodes, weighted=weighted, prefix="abcdefgh"[j])) for j in range(m)
    )
    cells = [
        st.sampled_from(tree.leaves) | st.sampled_from([*tree.leaves, *tree.parents])
        for tree in drawn
    ]
    n = draw(st.integers(1, max_records))
    rows = draw(st.lists(st.tuples(*cells), min_size=n, max_size=n))
    return Problem(drawn, tuple(rows))


@st.composite
def algorithms(draw, problem: Problem, metrics: Sequence[str] = SEVEN) -> dict[str, Any]:
    """The choices of a plan under ``algorithm``, but for its name."""
    chosen: dict[str, Any] = {
        "metric": draw(st.sampled_from(metrics)),
        "cost": draw(st.sampled_from(["weighted", "representatives"])),
        "tie_seed": draw(st.none() | st.integers(0, 2**63 - 1)),
    }
    if draw(st.booleans()):
        weight = st.integers(0, 6).map(lambda quarters: quarters / 2)
        chosen["attribute_weights"] = {column: draw(weight) for column in problem.columns}
    return chosen


@st.composite
def plans(draw, problem: Problem) -> dict[str, Any]:
    """A whole plan for a table, as its JSON holds it."""
    chosen = draw(algorithms(problem))
    name = draw(st.sampled_from(["gaa", "gaa-small"]))
    plan = problem.plan(k=draw(st.integers(2, max(2, len(problem.rows)))), **chosen)
    plan["algorithm"]["name"] = name
    return json.loads(json.dumps(plan))


def raised(tree: PlainTree, value: str, level: int) -> str:
    """The highest ancestor-or-self of at most a level; itself if its own is higher."""
    low = [node for node in tree.paths[value] if tree.level[node] <= level]
    return low[-1] if low else value
