"""Equivalence classes: the summary of a table that all algorithms and measures work on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from kanon.base.formatting import CountedUnit
from kanon.errors import PlanError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.sensitive import Sensitive, SensitiveValues


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The distinct tuples of quasi-identifier values of a table, with their numbers of records."""

    attributes: tuple[str, ...]  #: the m quasi-identifiers, in the plan's order
    hierarchies: tuple[Hierarchy, ...]  #: their hierarchies
    #: (E, m) int32: per class and quasi-identifier the node of its hierarchy, in canonical order:
    #: lexicographic by node
    nodes: np.ndarray
    counts: np.ndarray  #: (E,) int64: the number of records of each class
    sensitive: tuple[Sensitive, ...] = ()  #: per sensitive column its histograms, as in the plan
    #: how many records each person, a number, has in each class, where a plan names the column that
    #: identifies the person
    persons: Sensitive | None = None
    combined: Sensitive | None = None  #: of all sensitive values as one, where a model asks for it
    in_engine: ClassVar[bool] = False  # whether an engine keeps the classes, as they are many

    def __post_init__(self) -> None:
        if self.persons is not None and self.persons.n_classes != len(self.counts):
            raise ValueError("the persons belong to other classes")

    @property
    def n_records(self) -> int:
        """n, the number of records."""
        return int(self.counts.sum())

    @property
    def n_classes(self) -> int:
        """E, the number of classes."""
        return len(self.counts)

    @property
    def n_cells(self) -> int:
        """n * m, the number of quasi-identifier cells."""
        return self.n_records * len(self.attributes)

    @property
    def min_k(self) -> int | None:
        """The size of the smallest class, the k of the table; None without classes."""
        return int(self.counts.min()) if len(self.counts) else None

    @property
    def of(self) -> CountedUnit:
        """What :attr:`hiding`, :attr:`highest_k` and :attr:`unique` count."""
        return "records" if self.persons is None else "persons"

    @property
    def hiding(self) -> np.ndarray:
        """The number that hide each other in each class: persons if known, else records.

        Shape (E,), int64.
        """
        return self.counts if self.persons is None else np.diff(self.persons.start)

    @property
    def min_persons(self) -> int | None:
        """The fewest persons in a class; None without classes, and where persons are unknown."""
        has_persons = self.persons is not None and len(self.counts) > 0
        return int(self.hiding.min()) if has_persons else None

    @property
    def highest_k(self) -> int:
        """The k of the table as one class: its persons if known, else its records."""
        return self.n_records if self.persons is None else len(np.unique(self.persons.value))

    @property
    def one_record_each(self) -> bool:
        """Whether each person is known to have one record."""
        return self.persons is not None and bool((self.persons.total <= 1).all())

    @property
    def unique_records(self) -> int:
        """The number of records that share all quasi-identifiers with no other."""
        return int((self.counts == 1).sum())

    @property
    def unique(self) -> int:
        """The number of persons with a class of their own; of unique records without persons."""
        if self.persons is None:
            return self.unique_records
        return len(np.unique(self.persons.value[self.persons.start[:-1][self.hiding == 1]]))

    @cached_property
    def cells(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of its cells at each node, int64. Shapes (N_j,)."""
        return tuple(
            count_cells_at(tree.n_nodes, self.nodes[:, j], self.counts)
            for j, tree in enumerate(self.hierarchies)
        )

    @cached_property
    def records_below(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of records at each node or below it. Shapes (N_j,)."""
        pairs = zip(self.hierarchies, self.cells, strict=True)
        return tuple(tree.sum_below(cells) for tree, cells in pairs)

    @property
    def as_one_class(self) -> EquivalenceClasses:
        """The table as one class: every quasi-identifier at its root."""
        roots = np.array([[tree.root for tree in self.hierarchies]], dtype=np.int32)
        counts = np.array([self.n_records], dtype=np.int64)
        return self.regrouped(roots, counts, (histogram.whole() for histogram in self.histograms))

    def only(self, positions: np.ndarray) -> EquivalenceClasses:
        """Some of the classes; the totals of sensitive values stay those of the table.

        The positions rise, so that the classes stay in canonical order.
        """
        parts = (histogram.only(positions) for histogram in self.histograms)
        return self.regrouped(self.nodes[positions], self.counts[positions], parts)

    def pooled(self, positions: np.ndarray, group: np.ndarray, n_groups: int) -> EquivalenceClasses:
        """Merge some classes into groups for privacy models, without tuples.

        ``group`` has the group of each position. Totals stay those of the whole table, with which
        models compare the groups.
        """
        counts = np.bincount(group, self.counts[positions], n_groups).astype(np.int64)
        histograms = (
            replace(histogram.only(positions).grouped(group, n_groups), total=histogram.total)
            for histogram in self.histograms
        )
        return self.regrouped(np.zeros((n_groups, 0), dtype=np.int32), counts, histograms)

    def without(self, leaving: np.ndarray) -> EquivalenceClasses:
        """The table without the records of some classes, with its totals recounted."""
        remaining = np.flatnonzero(~leaving)
        group = np.where(leaving, -1, np.cumsum(~leaving) - 1)
        histograms = (part.grouped(group, len(remaining)) for part in self.histograms)
        return self.regrouped(self.nodes[remaining], self.counts[remaining], histograms)

    @property
    def histograms(self) -> tuple[Sensitive, ...]:
        """The histograms of the sensitive columns, of the persons and of combinations, if known."""
        further = (self.persons, self.combined)
        return (*self.sensitive, *(histogram for histogram in further if histogram is not None))

    def regrouped(
        self, nodes: np.ndarray, counts: np.ndarray, histograms: Iterable[Sensitive]
    ) -> EquivalenceClasses:
        """The same records in other classes, with each of :attr:`histograms` by these."""
        parts = iter(histograms)
        return replace(
            self,
            nodes=nodes,
            counts=counts,
            sensitive=tuple(next(parts) for _ in self.sensitive),
            persons=None if self.persons is None else next(parts),
            combined=None if self.combined is None else next(parts),
        )

    def sensitive_named(self, column: str) -> Sensitive:
        """The histograms of a sensitive column; a PlanError where it is not one."""
        for sensitive in self.sensitive:
            if sensitive.name == column:
                return sensitive
        names = list_names((sensitive.name for sensitive in self.sensitive), most=12)
        raise PlanError(
            f"The column {quote(column)} is not sensitive; "
            + (f"choose from {names}." if names else "no column is.")
        )

    def split_sensitive(
        self, columns: Sequence[str], others_known: bool
    ) -> tuple[Sensitive, np.ndarray]:
        """The histograms of sensitive columns whose values count together, and their classes.

        If ``others_known``, classes are split into parts that agree in all other sensitive columns.
        """
        combined = self.combined
        if combined is None or combined.codes is None:
            raise PlanError(
                "Sensitive columns are counted together only where a plan that asks for it is run."
            )
        sizes = [len(part.values) for part in self.sensitive]
        own = [place for place, part in enumerate(self.sensitive) if part.name in columns]
        others = [place for place in range(len(sizes)) if others_known and place not in own]
        parts, _, part_of_entry = group_tuples(
            np.column_stack([combined.of_entry, combined.codes[combined.value][:, others]]),
            combined.count,
            [self.n_classes, *(sizes[place] for place in others)],
        )
        column, code = self.sensitive[own[0]], combined.codes[:, own[0]]
        if len(own) > 1:
            column, code = _combine(
                [self.sensitive[place] for place in own], combined.codes[:, own]
            )
        entries = replace(
            column, start=np.arange(len(combined.value) + 1), value=code[combined.value],
            count=combined.count,
        )  # fmt: skip
        total = np.bincount(code, combined.total, len(column.values)).astype(np.int64)
        return replace(entries.grouped(part_of_entry, len(parts)), total=total), parts[:, 0]


def _combine(columns: Sequence[Sensitive], codes: np.ndarray) -> tuple[Sensitive, np.ndarray]:
    """A column of the combinations of values, and which one each row of places in columns is."""
    sizes = [len(column.values) for column in columns]
    _, first, code = np.unique(number_tuples(codes, sizes), return_index=True, return_inverse=True)
    # Combinations are counted, never shown; they read alike where their values do.
    values = SensitiveValues(map(str, range(len(first))))
    read = []
    for column, places in zip(columns, codes[first].T, strict=True):
        assert isinstance(column.values, SensitiveValues)
        read_as = column.values.read_as
        read.append(places if read_as is None else read_as[places])
    values.read_as = np.unique(number_tuples(np.stack(read, axis=1), sizes), return_inverse=True)[1]
    name = " × ".join(column.name for column in columns)
    return replace(columns[0], name=name, values=values, numeric=False, tree=None), code


def count_cells_at(n_nodes: int, nodes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The number of records at each node, int64. Shape (n_nodes,).

    >>> count_cells_at(3, np.array([0, 2, 0]), np.array([1, 5, 1])).tolist()
    [2, 0, 5]
    """
    # Floats are exact for the records of any table, and faster to add up than integers.
    return np.bincount(nodes, weights=counts, minlength=n_nodes).astype(np.int64)


def number_tuples(nodes: np.ndarray, node_counts: Sequence[int]) -> np.ndarray:
    """One integer per tuple, in the lexicographic order of the tuples.

    Where the product of the node counts would not fit into 63 bits, the prefixes so far are
    ranked again.

    >>> number_tuples(np.array([[0, 2], [1, 0], [0, 2]]), [2, 3]).tolist()
    [2, 3, 2]
    """
    keys = np.zeros(len(nodes), dtype=np.int64)
    largest = 1
    for column, size in enumerate(node_counts):
        if largest * size > 2**62:
            distinct, keys = np.unique(keys, return_inverse=True)
            largest = len(distinct)
        keys = keys * size + nodes[:, column]
        largest *= size
    return keys


def group_tuples(
    nodes: np.ndarray, counts: np.ndarray, node_counts: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge equal tuples; returns the distinct ones in canonical order, (E, m) int32.

    Also their summed counts, (E,) int64, and per tuple its position among them, (n,) int64.
    """
    keys = number_tuples(nodes, node_counts)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, group, counts)
    return nodes[first].astype(np.int32), total, group


def sum_tuples(
    tuples: np.ndarray, counts: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal tuples as :func:`group_tuples` does, but faster, without their groups.

    ``keys`` has per tuple one number or several, equal only for equal tuples. Returns the distinct
    tuples in the order of their keys, and the summed counts.

    >>> tuples = np.array([[1, 0], [0, 2], [1, 0]])
    >>> distinct, counts = sum_tuples(tuples, np.array([1, 2, 4]), np.array([3, 2, 3]))
    >>> distinct.tolist(), counts.tolist()
    ([[0, 2], [1, 0]], [2, 5])
    """
    keys = keys.reshape(len(tuples), -1)
    order = np.argsort(keys[:, 0]) if keys.shape[1] == 1 else np.lexsort(keys.T[::-1])
    keys, tuples, counts = keys[order], tuples[order], counts[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    if first.all():
        return tuples, counts
    return tuples[first], np.add.reduceat(counts, np.flatnonzero(first))
