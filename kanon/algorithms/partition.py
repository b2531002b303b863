"""Cut classes into parts along the hierarchies, so that each can be merged by itself."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from kanon.classes import EquivalenceClasses, cells_at
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.scaled_potentials import Potentials
from kanon.stored_classes import PartCells, PartCut, below

_ROUNDING = 1e-12  # what is expected of two cuts may differ by this share because it was rounded

CellsOfPart = Callable[[Sequence[PartCut], int], PartCells]
"""What a part holds, by the cuts made so far and its number."""


def partition(
    classes: EquivalenceClasses, potentials: Potentials, number: int, least: int = 1
) -> np.ndarray:
    """Cut classes into parts that never meet, each of at least ``least`` records."""
    members = [np.arange(classes.n_classes)]

    def cells(cuts: Sequence[PartCut], part: int) -> PartCells:
        for cut in cuts[len(members) - 1 :]:
            under = below(classes.hierarchies[cut.column], cut.node)
            inside = under[classes.nodes[members[cut.part], cut.column]]
            members.append(members[cut.part][inside])
            members[cut.part] = members[cut.part][~inside]
        some = members[part]
        counts, once = classes.counts[some], np.ones(len(some), dtype=np.int64)
        columns = list(zip(classes.hierarchies, classes.nodes[some].T, strict=True))
        return PartCells(
            tuple(cells_at(tree.n_nodes, nodes, once) for tree, nodes in columns),
            tuple(cells_at(tree.n_nodes, nodes, counts) for tree, nodes in columns),
        )

    cuts, _ = cuts_along(classes.hierarchies, potentials, number, least, cells)
    cells(cuts, 0)  # so that the last cut is made
    found = np.zeros(classes.n_classes, dtype=np.int64)
    for place, part in enumerate(members):
        found[part] = place
    return found


def cuts_along(
    hierarchies: Sequence[Hierarchy],
    potentials: Potentials,
    number: int,
    least: int,
    cells: CellsOfPart,
) -> tuple[list[PartCut], list[int]]:
    cuts: list[PartCut] = []
    sizes = [cells(cuts, 0).n_classes]
    whole: set[int] = set()  # those that cannot be cut
    while len(sizes) < number and len(whole) < len(sizes):
        largest = max(
            (place for place in range(len(sizes)) if place not in whole), key=sizes.__getitem__
        )
        found = _cut(hierarchies, potentials, cells(cuts, largest), least)
        if found is None:
            whole.add(largest)
            continue
        column, node, held = found
        cuts.append(PartCut(largest, column, node))
        sizes.append(held)
        sizes[largest] -= held
    return cuts, sizes


def _cut(
    hierarchies: Sequence[Hierarchy], potentials: Potentials, part: PartCells, least: int
) -> tuple[int, int, int] | None:
    """The column and the node of the best cut, and how many classes lie below it; None if none."""
    size, records = part.n_classes, part.records[0].sum()
    # Where potentials are irrational, what cannot be told from each other is equal.
    irrational = potentials.slack > 0 and not potentials.digits
    tolerance = 1 + Fraction(_ROUNDING) if irrational else 1
    fewest, best = size / 4, (Fraction(0), 0.0)  # fewest: parts should take alike long
    where = None
    for j, (tree, depth) in enumerate(zip(hierarchies, potentials, strict=True)):
        inner = slice(tree.root)
        below = tree.sum_below(part.classes[j])[inner]
        held = tree.sum_below(part.records[j])[inner]
        others = size - below
        even = np.minimum(below, others) >= fewest
        allowed = even & (np.minimum(held, records - held) >= least)
        weight = (depth - depth[tree.parent])[inner]
        expected = np.where(allowed, weight * (below * others).astype(float), 0.0)
        most = max(best[1], expected.max(initial=0.0))
        if not most:
            continue
        # Those that rounding may have put in the wrong order.
        for node in np.flatnonzero(expected >= most * (1 - _ROUNDING)).tolist():
            exact = _weight(potentials, j, node, int(tree.parent[node]))
            here = exact * int(below[node]) * int(others[node])
            if here > best[0] * tolerance:
                best, where = (here, float(expected[node])), (j, node, int(below[node]))
    return where


def _weight(potentials: Potentials, j: int, node: int, parent: int) -> Fraction:
    return potentials.exact(j, node) - potentials.exact(j, parent)
