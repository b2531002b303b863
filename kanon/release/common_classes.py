"""Releases of one table on one ground: its classes by every column that rows are compared by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, thin
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, TableError, quoted
from kanon.hierarchy import ROOT_LABEL, Hierarchy
from kanon.plan import Plan
from kanon.recoding import Recoding, Trace
from kanon.run import Run
from kanon.schema import Role
from kanon.sensitive import Sensitive
from kanon.sources.coarsening import Coarsening
from kanon.sources.memory import as_table
from kanon.sources.tables import Table


@dataclass(frozen=True, eq=False)
class Release:
    """A release, as far as it matters to who holds several: classes and arrays, no rows."""

    plan: Plan  # what was asked for
    recoding: Recoding  # the class that each original class was released in
    passing: tuple[str, ...]  # the columns that the release shows as they are
    dropped: int = 0  # the number of records that were left out before for missing values
    # the sensitive columns that were coarsened before anything was counted, and how
    coarsened: tuple[Coarsening, ...] = ()

    @classmethod
    def of(cls, done: Run) -> Release:
        slim, made = replace(done.recoding, trace=Trace()), done.prepared
        return cls(made.plan, slim, made.source.passed_through(), made.dropped, made.coarsened)

    @property
    def n_records(self) -> int:
        return self.recoding.classes.n_records + self.dropped

    def shows(self, column: str) -> bool:
        """Whether each record has its own value of a column in the release."""
        return column in self.passing

    def tells_apart(self, column: str) -> bool:
        named = self.plan.columns.get(column)
        return self.shows(column) or bool(named is not None and named.pseudonym)


def list_known(releases: Sequence[Release]) -> tuple[str, ...]:
    """The columns by which somebody is looked for: the quasi-identifiers of any release."""
    return tuple(sorted({name for each in releases for name in each.plan.roles.quasi_identifiers}))


def list_comparable(releases: Sequence[Release]) -> tuple[str, ...]:
    times = Counter(name for each in releases for name in each.passing)
    return tuple(sorted({*list_known(releases), *(name for name in times if times[name] > 1)}))


def ground_of(releases: Sequence[Release], table: Table | pd.DataFrame) -> EquivalenceClasses:
    """The classes of the table by all comparable columns; by the known ones where too many."""
    known = as_table(table)
    if known.n_records != releases[0].n_records:
        raise PlanError(
            f"The releases are of {counted(releases[0].n_records, 'record')}, and the table has "
            f"{thin(known.n_records)}: give the table that they were made from."
        )
    first = releases[0]
    if first.coarsened and first.dropped:  # hierarchies may lack the values of dropped records
        known = known.complete(first.plan.roles.quasi_identifiers)
    known = known.coarsened(first.coarsened)
    try:
        return _count_classes(releases, known, list_comparable(releases))
    except (PlanError, TableError):  # too many, in an engine
        return _count_classes(releases, known, list_known(releases))


def _count_classes(
    releases: Sequence[Release], table: Table, columns: Sequence[str]
) -> EquivalenceClasses:
    roles = [each.plan.roles for each in releases]
    sensitive = sorted({name for one in roles for name in one.columns(Role.SENSITIVE)})
    texts = ([MISSING_LABEL, *sorted(table.counted(column).texts)] for column in columns)
    return replace(table.classes_of(columns, sensitive), hierarchies=tuple(map(_name_nodes, texts)))


def _name_nodes(labels: Sequence[str]) -> Hierarchy:
    nothing = np.zeros(len(labels) + 1, dtype=np.int32)
    return Hierarchy((*labels, ROOT_LABEL), nothing, nothing, nothing, nothing, None)


def check_coarsened(releases: Sequence[Release]) -> None:
    """Refuse releases that coarsen a column differently: a value of one is none of the other."""
    how = [each.plan.coarsened for each in releases]
    for column in dict.fromkeys(name for each in how for name in each):
        if any(each.get(column) != how[0].get(column) for each in how):
            raise PlanError(
                f"The sensitive column {quoted(column)} is coarsened otherwise in one release than "
                "in another, so what they tell together cannot be counted."
            )


def check_sizes(releases: Sequence[Release]) -> None:
    """Refuse releases of tables that have not as many records as the first."""
    if not releases:
        raise PlanError("No release is given; name at least one to see what it says.")
    sizes = [each.n_records for each in releases]
    for number, size in enumerate(sizes, 1):
        if size != sizes[0]:
            raise PlanError(
                f"Release 1 is of a table of {counted(sizes[0], 'record')} and release {number} of "
                f"one of {thin(size)}: only releases of one table can be combined."
            )


def placed(release: Release, ground: EquivalenceClasses) -> np.ndarray:
    """Per ground class its released class; -1 if its records are not in the release."""
    classes, assigned = release.recoding.classes, release.recoding.assigned
    other = PlanError(
        "The releases are not of one table, or it was read in different ways: only releases of "
        "one table can be combined."
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
    own, mine = group[: classes.n_classes], group[classes.n_classes :]
    class_of = np.full(group.max(initial=-1) + 1, -1, dtype=np.int64)
    class_of[own] = np.arange(classes.n_classes)
    original = class_of[mine]
    within = original >= 0
    found = np.zeros(classes.n_classes, dtype=np.int64)
    np.add.at(found, original[within], ground.counts[within])
    if not np.array_equal(found, classes.counts):
        raise other
    for each in ground.sensitive:  # as many records in each class may still be others
        known = [one for one in classes.sensitive if one.name == each.name]
        if any(not _alike(each.grouped(original, classes.n_classes), one) for one in known):
            raise other
    return np.where(within, assigned[original], -1)


def _alike(ground: Sensitive, own: Sensitive) -> bool:
    """Whether two histograms of the same classes are the same, by the texts of their values."""
    position = {text: place for place, text in enumerate(ground.values)}
    # Dropped records may have values of their own, and with them the values another order.
    place = np.array([position.get(text, -1) for text in own.values], dtype=np.int64)
    width = max(len(position), 1)
    mine = own.of_entry * width + place[own.value]
    order = np.argsort(mine)
    theirs = ground.of_entry * width + ground.value
    return np.array_equal(mine[order], theirs) and np.array_equal(own.count[order], ground.count)
