"""What can be known about the records of persons, and what a release shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kanon.base.values import encode_texts
from kanon.classes import EquivalenceClasses, group_tuples, number_tuples
from kanon.hierarchy import Hierarchy
from kanon.kernels.linkage import count_candidates, match_known_tuples
from kanon.privacy.population_matches import NOTHING, find_next, get_ranges
from kanon.recoding import Recoding
from kanon.sources.memory import MemorySource


@dataclass(frozen=True, eq=False)
class Records:
    """The cells of records that an attacker may know, or may see in a release.

    A known value matches a released cell that contains it: in a quasi-identifier a node at or
    above it, in a column that passes through the same value.

    Attributes
    ----------
    columns
        The m quasi-identifiers, then the p columns that are released unchanged.
    trees
        The hierarchies of the quasi-identifiers.
    nodes : numpy.ndarray, shape (n, m), int32
        Per record the nodes of its quasi-identifiers.
    codes : numpy.ndarray, shape (n, p), int64
        Per record the values of the other columns, as numbers; a missing cell is a value.
    persons : numpy.ndarray, shape (n,), int64
        Per record its person, as a number; each record its own where no column says it.
    """

    columns: tuple[str, ...]
    trees: tuple[Hierarchy, ...]
    nodes: np.ndarray
    codes: np.ndarray
    persons: np.ndarray

    @property
    def n_records(self) -> int:
        return len(self.persons)

    @property
    def n_quasi_identifiers(self) -> int:
        return len(self.trees)

    @cached_property
    def weights(self) -> np.ndarray:
        """What each record counts, so that every person counts 1 / (number of persons)."""
        _, person, records = np.unique(self.persons, return_inverse=True, return_counts=True)
        return 1 / (records[person] * len(records))

    def select(self, rows: np.ndarray) -> Records:
        """Some of the records."""
        return replace(
            self, nodes=self.nodes[rows], codes=self.codes[rows], persons=self.persons[rows]
        )


def read_records(
    source: MemorySource, recoding: Recoding, persons: np.ndarray
) -> tuple[Records, Records]:
    """The records of a table as they are, and those released, both in the table's order.

    Parameters
    ----------
    source
        The table from which the release was made.
    recoding
        The release.
    persons
        Per record of the table its person.
    """
    frame, classes = source.table.frame, source.classes
    passing = source.list_unchanged_columns()
    coded = [encode_texts(frame[column])[0] + 1 for column in passing]
    codes = np.stack(coded, axis=1) if coded else np.zeros((len(frame), 0), dtype=np.int64)
    trees = recoding.hierarchies
    known = Records(
        (*classes.attributes, *passing), trees, classes.nodes[source.row_class], codes, persons
    )
    assigned = recoding.assigned[source.row_class]
    rows = np.flatnonzero(assigned >= 0)
    return known, replace(known.select(rows), nodes=recoding.nodes[assigned[rows]])


def number_persons(source: MemorySource) -> np.ndarray:
    """Per record of a table its person, as a number. Shape (n,), int64."""
    if source.person is None:
        return np.arange(len(source.row_class))
    return encode_texts(source.table.frame[source.person])[0]


def count_matches(
    known: Records, released: Records, columns: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Count the released records that match each known one, and their persons. Shapes (n,).

    Parameters
    ----------
    columns
        The positions of the known columns.
    """
    quasi = [place for place in columns if place < known.n_quasi_identifiers]
    passing = [place - known.n_quasi_identifiers for place in columns if place not in quasi]
    n_known = known.n_records
    codes = np.concatenate([known.codes, released.codes])[:, passing]
    key = number_tuples(codes, [int(code.max(initial=0)) + 1 for code in codes.T])
    key = np.unique(key, return_inverse=True)[1]
    # Columns of few released nodes first: a misfit there excludes many tuples.
    quasi.sort(key=lambda place: len(np.unique(released.nodes[:, place])))
    trees = [known.trees[place] for place in quasi]
    sizes = [len(key) + 1, *(tree.n_nodes for tree in trees)]
    ones = np.ones(len(key), dtype=np.int64)
    low, _, of_known = group_tuples(
        np.column_stack([key[:n_known], known.nodes[:, quasi]]), ones[:n_known], sizes
    )
    high, records, of_released = group_tuples(
        np.column_stack([key[n_known:], released.nodes[:, quasi]]), ones[n_known:], sizes
    )
    spans = np.stack([np.searchsorted(high[:, 0], low[:, 0], side) for side in ("left", "right")])
    pairs = np.unique(np.column_stack([of_released, released.persons]), axis=0)
    start = np.searchsorted(pairs[:, 0], np.arange(len(high) + 1))
    matches, persons = count_candidates(
        _get_cells(trees, low[:, 1:])[0], *_get_cells(trees, high[:, 1:]),
        find_next(high[:, 1:]), spans, records, (start, pairs[:, 1]),
    )  # fmt: skip
    return matches[of_known], persons[of_known]


def guess_values(
    known: Records, released: Records, known_values: np.ndarray, released_values: np.ndarray
) -> np.ndarray:
    """How likely the best guess of a value is to be right, for each known record. Shape (n,).

    The guess is the most frequent value among the released records that match all
    quasi-identifiers, and of the whole release where none matches; chance decides between equally
    frequent ones.

    Parameters
    ----------
    known_values, released_values
        Per record its value, as a number.
    """
    n_values = int(max(known_values.max(initial=0), released_values.max(initial=0))) + 1
    order = np.argsort([len(np.unique(column)) for column in released.nodes.T], kind="stable")
    trees = [known.trees[place] for place in order]
    sizes = [tree.n_nodes for tree in trees]
    ones = np.ones(max(known.n_records, released.n_records), dtype=np.int64)
    low, number, of_known = group_tuples(
        np.column_stack([known.nodes[:, order], known_values]), ones[: known.n_records],
        [*sizes, n_values],
    )  # fmt: skip
    high, records, of_released = group_tuples(
        released.nodes[:, order], ones[: released.n_records], sizes
    )
    entries, counts, _ = group_tuples(
        np.column_stack([of_released, released_values]), ones[: released.n_records],
        [len(high), n_values],
    )  # fmt: skip
    start = np.searchsorted(entries[:, 0], np.arange(len(high) + 1))
    matches, _, _, ties, hits = match_known_tuples(
        _get_cells(trees, low[:, :-1])[0], *_get_cells(trees, high), find_next(high), records,
        (np.arange(len(low) + 1), low[:, -1].astype(np.int64), number),
        (start, entries[:, 1].astype(np.int64), counts), n_values,
        (np.zeros((2, 0), dtype=np.int64), NOTHING, NOTHING),
    )  # fmt: skip
    right = (hits > 0) / np.maximum(ties, 1)
    total = np.bincount(released_values, minlength=n_values)
    most = total == total.max()
    right[matches == 0] = (most / most.sum())[low[matches == 0, -1]]
    return right[of_known]


def _get_cells(trees: Sequence[Hierarchy], nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    columns, counts = tuple(map(str, range(len(trees)))), np.ones(len(nodes), dtype=np.int64)
    return get_ranges(EquivalenceClasses(columns, tuple(trees), nodes, counts))
