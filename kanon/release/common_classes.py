"""Releases of one table on one ground: its classes by every column that any release treats.

Releases may differ in their hierarchies, in what they leave out and in the roles of columns. On the
ground each is an array: which of its classes has the records of a ground class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, thin
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, quoted
from kanon.hierarchy.ranges import flat
from kanon.plan import Plan
from kanon.recoding import Recoding, Trace
from kanon.run import Run
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive, order_of_values
from kanon.sources.memory import as_table
from kanon.sources.tables import Table


@dataclass(frozen=True, eq=False)
class Release:
    """A release, as far as it matters to who holds several: classes and arrays, no rows.

    Attributes
    ----------
    plan
        What was asked for; its roles say what the release shows of each column.
    recoding
        The class that each original class was released in.
    dropped
        The number of records that were left out before for missing values.
    """

    plan: Plan
    recoding: Recoding
    dropped: int = 0

    @classmethod
    def of(cls, done: Run) -> Release:
        """The release of a run, without what the run has worked out beside it."""
        slim = replace(done.recoding, trace=Trace())
        return cls(done.prepared.plan, slim, done.prepared.dropped)

    @property
    def n_records(self) -> int:
        """The number of records of the table."""
        return self.recoding.classes.n_records + self.dropped

    def _role(self, column: str) -> Role:
        """The role of a column; one that the plan does not name passes through."""
        named = self.plan.columns.get(column)
        return Role.INSENSITIVE if named is None else named.role

    def shows(self, column: str) -> bool:
        """Whether each record has its own value of a column in the release."""
        return self._role(column) in (Role.SENSITIVE, Role.INSENSITIVE)

    def tells_apart(self, column: str) -> bool:
        """Whether one sees which records have the same value: pseudonyms tell that too."""
        named = self.plan.columns.get(column)
        return self.shows(column) or bool(named is not None and named.pseudonym)


def needs_table(releases: Sequence[Release]) -> bool:
    """Whether the table has to be counted once more, by columns that no release was counted by."""
    return _widest(releases) is None


def _columns(releases: Sequence[Release]) -> tuple[list[str], list[str]]:
    """The quasi-identifiers of any release, and the sensitive columns of any."""
    roles = [each.plan.roles for each in releases]
    quasi = dict.fromkeys(name for one in roles for name in one.quasi_identifiers)
    sensitive = dict.fromkeys(name for one in roles for name in one.columns(Role.SENSITIVE))
    return sorted(quasi), sorted(sensitive)


def _widest(releases: Sequence[Release]) -> EquivalenceClasses | None:
    """The classes of a release that was counted by all columns that matter, if there is one."""
    quasi, sensitive = _columns(releases)
    for each in releases:
        classes = each.recoding.classes
        known = {one.name for one in classes.sensitive} | set(classes.attributes)
        # Who drops by fewer columns drops fewer records, so as many are the same ones.
        whole = not each.dropped or all(other.dropped == each.dropped for other in releases)
        if whole and set(quasi) <= set(classes.attributes) and set(sensitive) <= known:
            named = {one.name: one for one in classes.sensitive}
            found = [named.get(name) or _own_values(classes, name) for name in sensitive]
            return replace(classes, sensitive=tuple(found))
    return None


def _own_values(classes: EquivalenceClasses, column: str) -> Sensitive:
    """The histograms of a quasi-identifier in classes by itself: one value in each."""
    place = classes.attributes.index(column)
    labels = classes.hierarchies[place].labels
    nodes, codes = np.unique(classes.nodes[:, place], return_inverse=True)
    texts = [labels[node] for node in nodes]
    ordered, numeric = order_of_values(texts)
    position = {text: at for at, text in enumerate(ordered)}
    values = np.array([position[text] for text in texts], dtype=np.int64)[codes]
    each = np.arange(classes.n_classes)
    return Sensitive.from_counts(
        column, ordered, numeric, each, values, classes.counts, classes.n_classes
    )


def ground_of(
    releases: Sequence[Release], table: Table | pd.DataFrame | None
) -> EquivalenceClasses:
    """The classes by every column that is a quasi-identifier in any release.

    They have a histogram per column that is sensitive in any. Those of a release that was counted
    by all of these columns, or else the table's.

    Raises
    ------
    PlanError
        The table is needed and not given, or it has not as many records as the releases, or these
        coarsen columns of it.
    TableError
        The table cannot be counted by all of these columns.
    """
    found = _widest(releases)
    if found is not None:
        return found
    if table is None:
        raise PlanError(
            "The releases have different columns as quasi-identifiers or as sensitive: to combine "
            "them the table is needed too."
        )
    coarse = [name for each in releases for name in each.plan.coarsened]
    if coarse:
        raise PlanError(
            "The releases have different columns as quasi-identifiers or as sensitive, and "
            f"{quoted(coarse[0])} is coarsened, so what they tell together cannot be counted."
        )
    known = as_table(table)
    if known.n_records != releases[0].n_records:
        raise PlanError(
            f"The releases are of {counted(releases[0].n_records, 'record')}, and the table has "
            f"{thin(known.n_records)}: give the table that they were made from."
        )
    quasi, sensitive = _columns(releases)
    trees = {column: flat(known.counted(column).texts) for column in quasi}
    source = known.source(Schema(dict.fromkeys(quasi, Role.QUASI_IDENTIFIER)), trees)
    return replace(
        source.classes, sensitive=tuple(source.histogram_of(column) for column in sensitive)
    )


def check_coarsened(releases: Sequence[Release]) -> None:
    """Check that all releases coarsen the same columns in the same way.

    Raises
    ------
    PlanError
        They do not: then a value of one is no value of the other.
    """
    how = [each.plan.coarsened for each in releases]
    for column in dict.fromkeys(name for each in how for name in each):
        if any(each.get(column) != how[0].get(column) for each in how):
            raise PlanError(
                f"The sensitive column {quoted(column)} is coarsened otherwise in one release than "
                "in another, so what they tell together cannot be counted."
            )


def check_sizes(releases: Sequence[Release]) -> None:
    """Check that all releases are of as many records.

    Raises
    ------
    PlanError
        They are not, or there is none.
    """
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
    """Per ground class its released class; -1 if its records are not in the release.

    Raises
    ------
    PlanError
        The release is of another table than the ground.
    """
    classes, assigned = release.recoding.classes, release.recoding.assigned
    if classes.nodes is ground.nodes:  # the release that the ground was taken from
        return assigned
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
