"""Mondrian [LeFevre et al. 2006] over lists of classes: every cut that is tried, in its order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Literal

from kanon.base.kinds import read_numbers
from kanon.base.values import MISSING_LABEL
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import is_flat

Region = tuple[int, ...]
Meets = Callable[[Region], bool]


def list_leaves(tree: Hierarchy, node: int) -> list[int]:
    below = tree.children[node]
    return [leaf for child in below for leaf in list_leaves(tree, child)] if below else [node]


def has_numbers(tree: Hierarchy) -> bool:
    labels = tree.labels[: tree.n_leaves]
    return read_numbers([label for label in labels if label != MISSING_LABEL]) is not None


def compute_node_positions(tree: Hierarchy) -> list[float]:
    """Where each node of a tree stands: numbers by size, else leaves by their order."""
    labels = tree.labels[: tree.n_leaves]
    values = read_numbers([label for label in labels if label != MISSING_LABEL])
    if values is None:
        size = {leaf: float(leaf) for leaf in range(len(labels))}
    else:
        distinct = sorted(set(values.tolist()))
        gap = (distinct[-1] - distinct[0]) / (len(distinct) - 1) if len(distinct) > 1 else 1.0
        size = {
            leaf: distinct[-1] + gap if label == MISSING_LABEL else float(label)
            for leaf, label in enumerate(labels)
        }
    result = []
    for node in range(tree.n_nodes):
        below = [size[leaf] for leaf in list_leaves(tree, node)]
        result.append((min(below) + max(below)) / 2)
    return result


@dataclass(frozen=True, eq=False)
class PlainCut:
    """A cut that is tried; at the median up to it, below it, or with some classes that tie."""

    attribute: int
    parts: tuple[Region, ...]  # one alone where a cut by groups parts nothing
    place: Literal["groups", "up to", "below", "between"]


@dataclass(frozen=True, eq=False)
class RegionStep:
    """A region, and how it is cut; None if it stays."""

    region: Region
    cut: PlainCut | None


class Mondrian:
    def __init__(
        self,
        nodes: Sequence[Sequence[int]],
        counts: Sequence[int],
        trees: Sequence[Hierarchy],
        k: int,
        variant: str = "strict",
        meets: Meets = lambda region: True,  # whether a region meets all models beside k
        dimension: str = "widest",
        release: str = "hierarchy",
        sets: str = "whole",
    ) -> None:
        self.nodes, self.counts, self.trees = nodes, counts, trees
        self.k, self.variant, self.meets, self.dimension = k, variant, meets, dimension
        self.release, self.sets = release, sets
        self.at = [compute_node_positions(tree) for tree in trees]
        self.everything = tuple(range(len(counts)))
        self.spans = [self.spread(self.everything, j) for j in range(len(trees))]

    def steps(self) -> Iterator[RegionStep]:
        """Every region that is cut or stays; its parts come next, the first part first."""
        waiting = [self.everything]
        while waiting:
            region = waiting.pop()
            cut = next(filter(self.is_allowed, self.candidates(region)), None)
            yield RegionStep(region, cut)
            if cut is not None:
                waiting += reversed(cut.parts)

    @property
    def cuts(self) -> list[PlainCut]:
        return [step.cut for step in self.steps() if step.cut is not None]

    @property
    def regions(self) -> list[Region]:
        return [step.region for step in self.steps() if step.cut is None]

    def is_allowed(self, cut: PlainCut) -> bool:
        return len(cut.parts) > 1 and all(
            self.size(part) >= self.k and self.meets(part) for part in cut.parts
        )

    def size(self, region: Sequence[int]) -> int:
        return sum(self.counts[c] for c in region)

    def place(self, c: int, j: int) -> float:
        return self.at[j][self.nodes[c][j]]

    def spread(self, region: Sequence[int], j: int) -> float:
        places = [self.place(c, j) for c in region]
        return max(places) - min(places)

    def width(self, region: Sequence[int], j: int) -> float:
        spread = self.spread(region, j)
        return spread / self.spans[j] if spread else 0.0

    def loses(self, region: Region, j: int) -> Fraction:
        """The share of the values of a quasi-identifier that a region loses."""
        tree = self.trees[j]
        if self.release == "hierarchy" and not is_flat(tree):
            released = list_leaves(tree, self.find_common_node(region, j))
        elif self.sets == "tight" and not has_numbers(tree):
            released = [leaf for c in region for leaf in list_leaves(tree, self.nodes[c][j])]
        else:
            return Fraction(self.spread(region, j)) / Fraction(self.spans[j] or 1)
        return Fraction(len({*released}) - 1, max(tree.n_leaves - 1, 1))

    def measure_loss(self, parts: Sequence[Region]) -> Fraction:
        """The cells that parts lose, each counted as the share of the values that it loses."""
        columns = range(len(self.trees))
        return sum(
            (self.size(part) * self.loses(part, j) for part in parts for j in columns), Fraction(0)
        )

    def find_first_parts(self, region: Region, j: int) -> tuple[Region, ...]:
        """The parts of the first cut that k allows; the region itself where there is none."""
        for cut in self.list_cuts_on(region, j):
            if len(cut.parts) > 1 and min(map(self.size, cut.parts)) >= self.k:
                return cut.parts
        return (region,)

    def worth(self, region: Region, j: int) -> float | Fraction:
        """How early a quasi-identifier is tried: the higher, the earlier; 0 if it cannot be cut."""
        width = self.width(region, j)
        if self.dimension == "widest" or width == 0:
            return width
        if self.dimension == "most-distinct":
            return len({self.nodes[c][j] for c in region})
        parts = self.find_first_parts(region, j)
        if self.dimension == "best-balance":
            return self.size(region) - max(map(self.size, parts))
        cells = self.size(region) * len(self.trees)
        return cells - self.measure_loss(parts) + 1 if len(parts) > 1 else 0

    def candidates(self, region: Region) -> Iterator[PlainCut]:
        worths = [self.worth(region, j) for j in range(len(self.trees))]
        for j in sorted(range(len(worths)), key=lambda j: (-worths[j], j)):
            if worths[j] == 0:
                return
            yield from self.list_cuts_on(region, j)

    def is_by_groups(self, j: int) -> bool:
        return self.variant == "hierarchy" and not is_flat(self.trees[j])

    def list_cuts_on(self, region: Region, j: int) -> Iterator[PlainCut]:
        if self.is_by_groups(j):
            yield self.by_children(region, j)
            return
        half, median = self.size(region) / 2, self.median(region, j)
        below = tuple(c for c in region if self.place(c, j) < median)
        tied = tuple(c for c in region if self.place(c, j) == median)
        firsts: list[tuple[Literal["up to", "below", "between"], Region]]
        firsts = [("up to", below + tied), ("below", below)]
        if self.variant == "relaxed":
            ways = [below + tied[:n_tied] for n_tied in range(len(tied) + 1)]
            most_equal = min(reversed(ways), key=lambda way: abs(self.size(way) - half))
            firsts = [("between", most_equal), *firsts]
        for place, first in firsts:
            rest = tuple(c for c in region if c not in first)
            yield PlainCut(j, (tuple(sorted(first)), rest), place)

    def median(self, region: Region, j: int) -> float:
        """The lowest place that at least half of the records do not exceed."""
        half = self.size(region) / 2
        return min(
            v
            for v in {self.place(c, j) for c in region}
            if self.size([c for c in region if self.place(c, j) <= v]) >= half
        )

    def by_children(self, region: Region, j: int) -> PlainCut:
        """The classes below each child of where all values meet, and those that stand there."""
        tree, above = self.trees[j], self.find_common_node(region, j)
        parts = [
            tuple(c for c in region if tree.is_ancestor(child, self.nodes[c][j]))
            for child in tree.children[above]
        ]
        parts.append(tuple(c for c in region if self.nodes[c][j] == above))
        return PlainCut(j, tuple(filter(None, parts)), "groups")

    def find_common_node(self, region: Region, j: int) -> int:
        return reduce(self.trees[j].lca, (self.nodes[c][j] for c in region))

    def get_cut_node(self, cut: PlainCut) -> int:
        j, first = cut.attribute, cut.parts[0]
        if cut.place == "groups":
            return self.find_common_node(sum(cut.parts, ()), j)
        top = max(self.place(c, j) for c in first)
        return min(self.nodes[c][j] for c in first if self.place(c, j) == top)
