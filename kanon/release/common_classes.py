"""Several releases of the same table, compared by the table's classes on all comparable columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kanon.base.formatting import count_noun, write_count
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses, group_tuples, number_tuples
from kanon.errors import PlanError, TableError, quote
from kanon.hierarchy import ROOT_LABEL, Hierarchy
from kanon.plan import Plan
from kanon.recoding import Recoding, Trace
from kanon.run import Run
from kanon.schema import Role
from kanon.sensitive import Sensitive
from kanon.sources.coarsening import Coarsening
from kanon.sources.memory import convert_to_table
from kanon.sources.tables import Table


@dataclass(frozen=True, eq=False)
class Release:
    """What is needed of each release to combine them: classes and arrays, no rows."""

    plan: Plan
    recoding: Recoding  # the class that each original class was released in
    unchanged_columns: tuple[str, ...]  # the columns that the release shows as they are
    dropped: int = 0  # the number of records that were left out before for missing values
    # the sensitive columns that were coarsened before anything was counted, and how
    coarsened: tuple[Coarsening, ...] = ()

    @classmethod
    def from_run(cls, run: Run) -> Release:
        slim, prepared = replace(run.recoding, trace=Trace()), run.prepared
        return cls(
            prepared.plan,
            slim,
            prepared.source.list_unchanged_columns(),
            prepared.dropped,
            prepared.coarsened,
        )

    @property
    def n_records(self) -> int:
        return self.recoding.classes.n_records + self.dropped

    def is_passing(self, column: str) -> bool:
        """Whether each record has its own value of a column in the release."""
        return column in self.unchanged_columns

    def can_tell_apart(self, column: str) -> bool:
        named = self.plan.columns.get(column)
        return self.is_passing(column) or bool(named is not None and named.pseudonym)


def list_known_columns(releases: Sequence[Release]) -> tuple[str, ...]:
    """The columns by which people are looked for: the quasi-identifiers of any release."""
    return tuple(
        sorted({name for release in releases for name in release.plan.roles.quasi_identifiers})
    )


def list_comparable_columns(releases: Sequence[Release]) -> tuple[str, ...]:
    times = Counter(name for release in releases for name in release.unchanged_columns)
    return tuple(
        sorted({*list_known_columns(releases), *(name for name in times if times[name] > 1)})
    )


def count_ground_classes(
    releases: Sequence[Release], table: Table | pd.DataFrame
) -> EquivalenceClasses:
    """The classes of the table by all comparable columns; if too many, by the known ones."""
    first_plan = releases[0].plan
    if any((release.plan.repairs or []) != (first_plan.repairs or []) for release in releases):
        raise PlanError(
            "The releases were made from differently repaired tables, so their records cannot be "
            "matched: give their plans the same repairs."
        )
    kinds = first_plan.read.column_kinds
    table_or_part = convert_to_table(table).repair(first_plan.repairs, kinds)
    if table_or_part.n_records != releases[0].n_records:
        raise PlanError(
            f"The releases are of {count_noun(releases[0].n_records, 'record')}, but the table has "
            f"{write_count(table_or_part.n_records)}: choose the table that they were made from."
        )
    first = releases[0]
    if first.coarsened and first.dropped:  # hierarchies may lack the values of dropped records
        table_or_part = table_or_part.complete(first.plan.roles.quasi_identifiers)
    table_or_part = table_or_part.replace_by_groups(first.coarsened)
    try:
        return _count_classes(releases, table_or_part, list_comparable_columns(releases))
    except (PlanError, TableError):  # too many, in an engine
        return _count_classes(releases, table_or_part, list_known_columns(releases))


def _count_classes(
    releases: Sequence[Release], table: Table, columns: Sequence[str]
) -> EquivalenceClasses:
    roles = [release.plan.roles for release in releases]
    sensitive = sorted({name for role_map in roles for name in role_map.columns(Role.SENSITIVE)})
    texts = (
        [MISSING_LABEL, *sorted(table.count_column_values(column).texts)] for column in columns
    )
    return replace(
        table.build_classes(columns, sensitive), hierarchies=tuple(map(_name_nodes, texts))
    )


def _name_nodes(labels: Sequence[str]) -> Hierarchy:
    nothing = np.zeros(len(labels) + 1, dtype=np.int32)
    return Hierarchy((*labels, ROOT_LABEL), nothing, nothing, nothing, nothing, None)


def check_same_coarsening(releases: Sequence[Release]) -> None:
    """Refuse releases that coarsen a column differently: their values cannot be compared."""
    coarsened_of_releases = [coarsened.plan.coarsened for coarsened in releases]
    for column in dict.fromkeys(name for coarsened in coarsened_of_releases for name in coarsened):
        if any(
            coarsened.get(column) != coarsened_of_releases[0].get(column)
            for coarsened in coarsened_of_releases
        ):
            raise PlanError(
                f"The sensitive column {quote(column)} is coarsened differently in two releases, "
                "so what they reveal together cannot be counted."
            )


def check_record_numbers(releases: Sequence[Release]) -> None:
    """Refuse releases of tables that differ in their number of records."""
    if not releases:
        raise PlanError("No release was named; name at least one.")
    sizes = [release.n_records for release in releases]
    for number, size in enumerate(sizes, 1):
        if size != sizes[0]:
            raise PlanError(
                f"Release 1 is of a table with {count_noun(sizes[0], 'record')}, but release "
                f"{number} is of a table with {write_count(size)}: only releases of the same table "
                "can be combined."
            )


def match_ground_classes(release: Release, ground: EquivalenceClasses) -> np.ndarray:
    """Per ground class its released class; -1 if its records are not in the release."""
    classes, assigned = release.recoding.classes, release.recoding.assigned
    mismatch = PlanError(
        "The releases are not of the same table, or it was read in different ways: only releases "
        "of the same table can be combined."
    )
    nodes = np.empty((ground.n_classes, len(classes.attributes)), dtype=np.int64)
    for j, (column, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        place = ground.attributes.index(column)
        occur, codes = np.unique(ground.nodes[:, place], return_inverse=True)
        labels = ground.hierarchies[place].labels
        # Hierarchies differ between releases; their labels of original values do not.
        nodes[:, j] = np.array([tree.node_of.get(labels[node], -1) for node in occur])[codes]
    both = np.vstack([classes.nodes, nodes]) + 1
    sizes = [tree.n_nodes + 1 for tree in classes.hierarchies]
    _, _, group = group_tuples(both, np.zeros(len(both), np.int64), sizes)
    own, ground_group = group[: classes.n_classes], group[classes.n_classes :]
    class_of = np.full(group.max(initial=-1) + 1, -1, dtype=np.int64)
    class_of[own] = np.arange(classes.n_classes)
    original = class_of[ground_group]
    within = original >= 0
    counts = np.zeros(classes.n_classes, dtype=np.int64)
    np.add.at(counts, original[within], ground.counts[within])
    if not np.array_equal(counts, classes.counts):
        raise mismatch
    for sensitive in ground.sensitive:  # as many records in each class may still be others
        own_histograms = [
            own_sensitive
            for own_sensitive in classes.sensitive
            if own_sensitive.name == sensitive.name
        ]
        if any(
            not _has_same_histograms(sensitive.grouped(original, classes.n_classes), own_sensitive)
            for own_sensitive in own_histograms
        ):
            raise mismatch
    return np.where(within, assigned[original], -1)


def _has_same_histograms(ground: Sensitive, own: Sensitive) -> bool:
    """Whether two histograms of the same classes are the same, by the texts of their values."""
    position = {text: place for place, text in enumerate(ground.values)}
    # Dropped records may have values of their own, and with them the values another order.
    place = np.array([position.get(text, -1) for text in own.values], dtype=np.int64)
    width = max(len(position), 1)
    own_keys = own.of_entry * width + place[own.value]
    order = np.argsort(own_keys)
    ground_keys = ground.of_entry * width + ground.value
    return np.array_equal(own_keys[order], ground_keys) and np.array_equal(
        own.count[order], ground.count
    )


# --- what a release shows of each ground class --------------------------------------------------
@dataclass(frozen=True, eq=False)
class ReleaseView:
    """A release as anyone sees it who knows the quasi-identifiers of every release."""

    release: Release
    ground: EquivalenceClasses
    at: np.ndarray
    known: tuple[str, ...]

    @cached_property
    def present(self) -> np.ndarray:
        return self.at >= 0

    def list_seen_codes(self, without: str | None) -> list[tuple[np.ndarray, int]]:
        """Per ground class what is seen of it in place of its quasi-identifiers, as numbers from 0.

        0 where the release lacks the records. With each array goes a number above all in it.
        ``without`` is the column that is looked for, so it does not help to find anybody.
        """
        recoding = self.release.recoding
        names = recoding.classes.attributes
        columns: list[tuple[np.ndarray, int]] = []
        if without in names:
            for j, tree in enumerate(recoding.hierarchies):
                if names[j] != without:
                    alike = np.array([tree.node_of[label] for label in tree.labels])  # as one reads
                    seen = alike[np.append(recoding.nodes[:, j], 0)[self.at]]
                    columns.append((self._mark_present(seen), tree.n_nodes))
            columns.append((self.present.astype(np.int64), 1))
        else:
            columns.append((self._mark_present(self.at), recoding.n_classes))
        for j, (name, tree) in enumerate(
            zip(self.ground.attributes, self.ground.hierarchies, strict=True)
        ):
            known = name in self.known and name not in (*names, without)
            if known and self.release.can_tell_apart(name):
                columns.append((self._mark_present(self.ground.nodes[:, j]), tree.n_nodes))
        return [(codes, size + 1) for codes, size in columns]

    def number_described_values(self, place: int) -> np.ndarray:
        """Per ground class a number for what the release tells of its value of a column.

        Values below labels that overlap share one, so that it is known of every row.
        """
        column, values = self.ground.attributes[place], self.ground.nodes[:, place]
        recoding = self.release.recoding
        if column not in recoding.classes.attributes:
            return values if self.release.is_passing(column) else 0 * values
        own = recoding.classes.attributes.index(column)
        tree, nodes = recoding.hierarchies[own], recoding.nodes[:, own]
        labels = np.unique(nodes)
        labels = labels[np.argsort(tree.first[labels])]
        reached = np.append(0, np.maximum.accumulate(tree.last[labels]))[:-1]
        begins = tree.first[labels][tree.first[labels] >= reached]
        return np.searchsorted(begins, tree.first[np.append(nodes, 0)[self.at]], side="right")

    def _mark_present(self, codes: np.ndarray) -> np.ndarray:
        return np.where(self.present, codes + 1, 0)


def find_groups_by_sight(
    columns: Sequence[tuple[np.ndarray, int]], counts: np.ndarray, present: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tuples = np.stack([codes[present] for codes, _ in columns], axis=1)
    nodes, total, group = group_tuples(tuples, counts[present], [size for _, size in columns])
    groups = np.full(len(present), -1, dtype=np.int64)
    groups[present] = group
    return nodes, total, groups


def join_releases(
    views: Sequence[ReleaseView], ground: EquivalenceClasses, column: str | None
) -> tuple[EquivalenceClasses, np.ndarray]:
    """The groups that look alike in all releases, and per ground class its group, -1 for none."""
    showing = [view for view in views if column is None or view.release.is_passing(column)]
    present = np.logical_or.reduce([view.present for view in showing])
    columns = [part for view in views for part in view.list_seen_codes(column)]
    nodes, counts, groups = find_groups_by_sight(columns, ground.counts, present)
    histograms = [sensitive for sensitive in ground.sensitive if sensitive.name == column]
    of_groups = tuple(histogram.grouped(groups, len(counts)) for histogram in histograms)
    return EquivalenceClasses((), (), nodes, counts, of_groups), groups


# --- rows that can be matched -------------------------------------------------------------------
def number_shown_cells(views: Sequence[ReleaseView]) -> np.ndarray:
    ground, parts = views[0].ground, []
    for place in range(len(ground.attributes)):
        values, edges = ground.nodes[:, place], []
        above = int(values.max()) + 1
        for view in views:
            described = view.number_described_values(place) + above
            edges.append(np.stack([values, described])[:, view.present])
            above = int(described.max()) + 1
        ends = np.hstack(edges)
        graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(above, above))
        parts.append(connected_components(graph, directed=False)[1][values])
    sizes = [int(part.max()) + 1 for part in parts]
    return np.unique(number_tuples(np.stack(parts, axis=1), sizes), return_inverse=True)[1]


CellsOfPairs: TypeAlias = Mapping[tuple[ReleaseView, ...], np.ndarray]


def find_matched_rows(views: Sequence[ReleaseView], cells: CellsOfPairs) -> tuple[np.ndarray, bool]:
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
