"""Mondrian as a plain recursion over lists of classes: slow, and easy to check by reading.

The compiled loops have to make the same cuts. It is also what the benchmark counts ratios against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kanon.base.kinds import numbers
from kanon.base.values import MISSING_LABEL
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import is_flat

Region = list[int]
Meets = Callable[[Region], bool]


def leaves_of(tree: Hierarchy, node: int) -> list[int]:
    """The leaves below a node, itself if it is one."""
    below = tree.children[node]
    return [leaf for child in below for leaf in leaves_of(tree, child)] if below else [node]


def positions(tree: Hierarchy) -> list[float]:
    """Where each node of a tree stands: numbers by size, else leaves by their order."""
    labels = tree.labels[: tree.n_leaves]
    found = numbers([label for label in labels if label != MISSING_LABEL])
    if found is None:
        size = {leaf: float(leaf) for leaf in range(len(labels))}
    else:
        distinct = sorted(set(found.tolist()))
        gap = (distinct[-1] - distinct[0]) / (len(distinct) - 1) if len(distinct) > 1 else 1.0
        size = {
            leaf: distinct[-1] + gap if label == MISSING_LABEL else float(label)
            for leaf, label in enumerate(labels)
        }
    result = []
    for node in range(tree.n_nodes):
        below = [size[leaf] for leaf in leaves_of(tree, node)]
        result.append((min(below) + max(below)) / 2)
    return result


@dataclass
class PlainCut:
    """A cut: the quasi-identifier, the node that it is named by, and the parts."""

    attribute: int
    value: int
    parts: list[Region]


class Mondrian:
    """The recursion for one table.

    Parameters
    ----------
    nodes, counts, trees
        The classes.
    k, variant, dimension
        As in a plan.
    meets
        Whether a region meets all models beside k.
    """

    def __init__(
        self,
        nodes: Sequence[Sequence[int]],
        counts: Sequence[int],
        trees: Sequence[Hierarchy],
        k: int,
        variant: str = "strict",
        meets: Meets = lambda region: True,
        dimension: str = "widest",
    ) -> None:
        self.nodes, self.counts, self.trees = nodes, counts, trees
        self.k, self.variant, self.meets, self.dimension = k, variant, meets, dimension
        self.at = [positions(tree) for tree in trees]
        everything = list(range(len(counts)))
        self.spans = [self.spread(everything, j) for j in range(len(trees))]
        self.cuts: list[PlainCut] = []
        self.regions: list[Region] = []
        self.cut(everything)

    def size(self, region: Region) -> int:
        return sum(self.counts[c] for c in region)

    def place(self, c: int, j: int) -> float:
        return self.at[j][self.nodes[c][j]]

    def spread(self, region: Region, j: int) -> float:
        places = [self.place(c, j) for c in region]
        return max(places) - min(places)

    def width(self, region: Region, j: int) -> float:
        spread = self.spread(region, j)
        return spread / self.spans[j] if spread else 0.0

    def cut(self, region: Region) -> None:
        """Cut a region and its parts; one that cannot be cut is done."""
        for made in self.candidates(region):
            if all(self.size(part) >= self.k and self.meets(part) for part in made.parts):
                self.cuts.append(made)
                for part in made.parts:
                    self.cut(part)
                return
        self.regions.append(region)

    def worth(self, region: Region, j: int) -> float:
        """How early a quasi-identifier is tried: the more, the earlier; 0 if it cannot be cut."""
        width = self.width(region, j)
        if self.dimension == "widest" or width == 0:
            return width
        if self.dimension == "most-distinct":
            return len({self.nodes[c][j] for c in region})
        for cut in self.cuts_on(region, j):
            sizes = [self.size(part) for part in cut.parts]
            if min(sizes) >= self.k:
                return sum(sizes) - max(sizes)
        return 0

    def candidates(self, region: Region) -> Iterator[PlainCut]:
        """The cuts to try, in their order."""
        worths = [self.worth(region, j) for j in range(len(self.trees))]
        for j in sorted(range(len(worths)), key=lambda j: (-worths[j], j)):
            if worths[j] == 0:
                return
            yield from self.cuts_on(region, j)

    def cuts_on(self, region: Region, j: int) -> Iterator[PlainCut]:
        """The cuts to try on one quasi-identifier, in their order."""
        by_groups = self.variant == "hierarchy" and not is_flat(self.trees[j])
        yield from self.by_children(region, j) if by_groups else self.at_median(region, j)

    def at_median(self, region: Region, j: int) -> Iterator[PlainCut]:
        half = self.size(region) / 2
        median = min(
            v
            for v in {self.place(c, j) for c in region}
            if self.size([c for c in region if self.place(c, j) <= v]) >= half
        )
        below = [c for c in region if self.place(c, j) < median]
        tied = [c for c in region if self.place(c, j) == median]
        firsts = [below + tied, below]
        if self.variant == "relaxed":
            ways = [below + tied[:some] for some in range(len(tied) + 1)]
            firsts = [min(reversed(ways), key=lambda way: abs(self.size(way) - half)), *firsts]
        for first in firsts:
            if first and len(first) < len(region):
                top = max(self.place(c, j) for c in first)
                value = min(self.nodes[c][j] for c in first if self.place(c, j) == top)
                yield PlainCut(j, value, [sorted(first), [c for c in region if c not in first]])

    def by_children(self, region: Region, j: int) -> Iterator[PlainCut]:
        tree = self.trees[j]
        above = self.nodes[region[0]][j]
        for c in region:
            above = tree.lca(above, self.nodes[c][j])
        parts = [
            [c for c in region if tree.is_ancestor(child, self.nodes[c][j])]
            for child in tree.children[above]
        ]
        parts.append([c for c in region if self.nodes[c][j] == above])
        parts = [part for part in parts if part]
        if len(parts) > 1:
            yield PlainCut(j, above, parts)
