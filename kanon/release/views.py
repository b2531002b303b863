"""Releases as they are seen together, by anyone who knows the quasi-identifiers of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kanon.classes import EquivalenceClasses, group_tuples, tuple_keys
from kanon.release.common_classes import Release


# --- what a release shows of each ground class --------------------------------------------------
@dataclass(frozen=True, eq=False)
class ReleaseView:
    """A release as it is seen by anyone who knows the quasi-identifiers of every release."""

    release: Release
    ground: EquivalenceClasses
    at: np.ndarray
    known: tuple[str, ...]

    @cached_property
    def present(self) -> np.ndarray:
        return self.at >= 0

    def seen(self, without: str | None) -> list[tuple[np.ndarray, int]]:
        """Per ground class what is seen of it in place of its quasi-identifiers, as numbers from 0.

        0 where the release lacks the records. With each array goes a number above all in it.
        ``without`` is the column that is looked for, so it does not help to find anybody.
        """
        recoding = self.release.recoding
        names = recoding.classes.attributes
        found: list[tuple[np.ndarray, int]] = []
        if without in names:
            for j, tree in enumerate(recoding.hierarchies):
                if names[j] != without:
                    alike = np.array([tree.node_of[label] for label in tree.labels])  # as one reads
                    seen = alike[np.append(recoding.nodes[:, j], 0)[self.at]]
                    found.append((self._shown(seen), tree.n_nodes))
            found.append((self.present.astype(np.int64), 1))
        else:
            found.append((self._shown(self.at), recoding.n_classes))
        for j, (name, tree) in enumerate(
            zip(self.ground.attributes, self.ground.hierarchies, strict=True)
        ):
            known = name in self.known and name not in (*names, without)
            if known and self.release.tells_apart(name):
                found.append((self._shown(self.ground.nodes[:, j]), tree.n_nodes))
        return [(codes, size + 1) for codes, size in found]

    def describe(self, place: int) -> np.ndarray:
        """Per ground class a number for what the release tells of its value of a column.

        Values below labels that overlap share one, so that it is known of every row.
        """
        column, values = self.ground.attributes[place], self.ground.nodes[:, place]
        recoding = self.release.recoding
        if column not in recoding.classes.attributes:
            return values if self.release.shows(column) else 0 * values
        own = recoding.classes.attributes.index(column)
        tree, nodes = recoding.hierarchies[own], recoding.nodes[:, own]
        labels = np.unique(nodes)
        labels = labels[np.argsort(tree.first[labels])]
        reached = np.append(0, np.maximum.accumulate(tree.last[labels]))[:-1]
        begins = tree.first[labels][tree.first[labels] >= reached]
        return np.searchsorted(begins, tree.first[np.append(nodes, 0)[self.at]], side="right")

    def _shown(self, codes: np.ndarray) -> np.ndarray:
        return np.where(self.present, codes + 1, 0)


def grouped_by_sight(
    seen: Sequence[tuple[np.ndarray, int]], counts: np.ndarray, some: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tuples = np.stack([codes[some] for codes, _ in seen], axis=1)
    nodes, total, group = group_tuples(tuples, counts[some], [size for _, size in seen])
    groups = np.full(len(some), -1, dtype=np.int64)
    groups[some] = group
    return nodes, total, groups


def side_by_side(
    views: Sequence[ReleaseView], ground: EquivalenceClasses, column: str | None
) -> tuple[EquivalenceClasses, np.ndarray]:
    """The groups that look alike in all releases, and per ground class its group, -1 for none."""
    showing = [each for each in views if column is None or each.release.shows(column)]
    some = np.logical_or.reduce([each.present for each in showing])
    seen = [part for each in views for part in each.seen(column)]
    nodes, counts, groups = grouped_by_sight(seen, ground.counts, some)
    histograms = [each for each in ground.sensitive if each.name == column]
    of_groups = tuple(each.grouped(groups, len(counts)) for each in histograms)
    return EquivalenceClasses((), (), nodes, counts, of_groups), groups


# --- rows that can be matched -------------------------------------------------------------------
def number_cells(views: Sequence[ReleaseView]) -> np.ndarray:
    ground, parts = views[0].ground, []
    for place in range(len(ground.attributes)):
        values, edges = ground.nodes[:, place], []
        above = int(values.max()) + 1
        for view in views:
            described = view.describe(place) + above
            edges.append(np.stack([values, described])[:, view.present])
            above = int(described.max()) + 1
        ends = np.hstack(edges)
        graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(above, above))
        parts.append(connected_components(graph, directed=False)[1][values])
    sizes = [int(part.max()) + 1 for part in parts]
    return np.unique(tuple_keys(np.stack(parts, axis=1), sizes), return_inverse=True)[1]


CellsOfPairs: TypeAlias = Mapping[tuple[ReleaseView, ...], np.ndarray]


def find_matched(views: Sequence[ReleaseView], cells: CellsOfPairs) -> tuple[np.ndarray, bool]:
    """Which ground classes have rows that can be matched between two releases; whether all can."""
    counts = views[0].ground.counts
    matched, lined_up = np.zeros(len(counts), dtype=bool), True
    for pair in combinations(views, 2):
        alike = both = pair[0].present & pair[1].present
        if any(view.release.plan.order != "table" for view in pair):
            for view in pair:
                rows = np.bincount(cells[pair], counts * view.present)
                alike = alike & (rows[cells[pair]] == 1)
        matched |= alike
        lined_up &= np.array_equal(alike, both)
    return matched, lined_up
