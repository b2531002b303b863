"""Equivalence classes: the only summary of a table that every algorithm and measure works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from kanon.base.formatting import Counted
from kanon.errors import PlanError, listing, quoted
from kanon.hierarchy import Hierarchy
from kanon.sensitive import Sensitive


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The distinct tuples of quasi-identifier values of a table, with their numbers of records.

    Attributes
    ----------
    attributes : tuple of str, length m
        The quasi-identifiers, in the plan's order.
    hierarchies : tuple of Hierarchy, length m
        Their hierarchies.
    nodes : numpy.ndarray, shape (E, m), int32
        Per class and quasi-identifier the node of its hierarchy. The classes stand in canonical
        order: lexicographic by node.
    counts : numpy.ndarray, shape (E,), int64
        The number of records of each class.
    sensitive : tuple of Sensitive
        The histograms of each sensitive attribute, in the plan's order.
    persons : Sensitive, optional
        How many records each person has in each class, where a plan says who the records are
        about; persons are numbered. Else None.
    """

    attributes: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    nodes: np.ndarray
    counts: np.ndarray
    sensitive: tuple[Sensitive, ...] = ()
    persons: Sensitive | None = None
    in_engine: ClassVar[bool] = False  # whether an engine keeps the classes: too many to come here

    def __post_init__(self) -> None:
        if self.persons is not None and self.persons.n_classes != len(self.counts):
            raise ValueError("the persons are those of other classes")

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
        """The size of the smallest class: the k that the table has; None without classes."""
        return int(self.counts.min()) if len(self.counts) else None

    @property
    def of(self) -> Counted:
        """What :attr:`hiding`, :attr:`highest_k` and :attr:`unique` count."""
        return "records" if self.persons is None else "persons"

    @property
    def hiding(self) -> np.ndarray:
        """How many hide each other in each class: its persons if they are known, else its records.

        Shape (E,), int64.
        """
        return self.counts if self.persons is None else np.diff(self.persons.start)

    @property
    def min_persons(self) -> int | None:
        """The fewest persons in a class; None without classes, and where they are not known."""
        known = self.persons is not None and len(self.counts) > 0
        return int(self.hiding.min()) if known else None

    @property
    def highest_k(self) -> int:
        """The k of the table as one class: its persons if they are known, else its records."""
        return self.n_records if self.persons is None else len(np.unique(self.persons.value))

    @property
    def one_record_each(self) -> bool:
        """Whether it is known that no person has several records."""
        return self.persons is not None and bool((self.persons.total <= 1).all())

    @property
    def unique_records(self) -> int:
        """The number of records that nobody shares all quasi-identifiers with."""
        return int((self.counts == 1).sum())

    @property
    def unique(self) -> int:
        """How many share a class with nobody: the persons who have one of their own, or records."""
        if self.persons is None:
            return self.unique_records
        return len(np.unique(self.persons.value[self.persons.start[:-1][self.hiding == 1]]))

    @cached_property
    def cells(self) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of its cells at each node, int64. Shapes (N_j,)."""
        return tuple(
            cells_at(tree.n_nodes, self.nodes[:, j], self.counts)
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
        return self.regrouped(roots, counts, (each.whole() for each in self.histograms))

    def only(self, chosen: np.ndarray) -> EquivalenceClasses:
        """Some of the classes, in that order; the totals of sensitive values stay the table's.

        Parameters
        ----------
        chosen : numpy.ndarray, int64
            Their positions, rising, so that they stand in canonical order too.
        """
        parts = (each.only(chosen) for each in self.histograms)
        return self.regrouped(self.nodes[chosen], self.counts[chosen], parts)

    def pooled(self, chosen: np.ndarray, group: np.ndarray, n_groups: int) -> EquivalenceClasses:
        """Some of the classes made into groups, as models see them: they have no tuples.

        Parameters
        ----------
        chosen : numpy.ndarray, int64
            Their positions.
        group : numpy.ndarray, int64
            Per chosen class the group that it becomes part of. Shares in a group are compared with
            those of the whole table: its totals stay.
        n_groups
            How many groups there are.
        """
        counts = np.bincount(group, self.counts[chosen], n_groups).astype(np.int64)
        histograms = (
            replace(each.only(chosen).grouped(group, n_groups), total=each.total)
            for each in self.histograms
        )
        return self.regrouped(np.zeros((n_groups, 0), dtype=np.int32), counts, histograms)

    def without(self, leaving: np.ndarray) -> EquivalenceClasses:
        """The table without the records of some classes; totals are those of the others.

        Parameters
        ----------
        leaving : numpy.ndarray, shape (E,), bool
            Which classes leave.
        """
        kept = np.flatnonzero(~leaving)
        group = np.where(leaving, -1, np.cumsum(~leaving) - 1)
        histograms = (part.grouped(group, len(kept)) for part in self.histograms)
        return self.regrouped(self.nodes[kept], self.counts[kept], histograms)

    @property
    def histograms(self) -> tuple[Sensitive, ...]:
        """Those of the sensitive attributes, and last that of the persons if they are known."""
        return self.sensitive if self.persons is None else (*self.sensitive, self.persons)

    def regrouped(
        self, nodes: np.ndarray, counts: np.ndarray, histograms: Iterable[Sensitive]
    ) -> EquivalenceClasses:
        """The same records in other classes.

        Parameters
        ----------
        nodes, counts
            The tuples and the numbers of records of those.
        histograms
            What became of each of :attr:`histograms`, in that order.
        """
        found = tuple(histograms)
        persons = None if self.persons is None else found[-1]
        sensitive = found[: len(self.sensitive)]
        return replace(self, nodes=nodes, counts=counts, sensitive=sensitive, persons=persons)

    def sensitive_named(self, column: str) -> Sensitive:
        """The histograms of a sensitive attribute.

        Raises
        ------
        PlanError
            The column is not one.
        """
        for each in self.sensitive:
            if each.name == column:
                return each
        known = listing((each.name for each in self.sensitive), most=12)
        raise PlanError(
            f"The column {quoted(column)} is not sensitive; "
            + (f"sensitive are {known}." if known else "no column is.")
        )


def cells_at(n_nodes: int, nodes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The number of records at each node, int64. Shape (n_nodes,).

    >>> cells_at(3, np.array([0, 2, 0]), np.array([1, 5, 1])).tolist()
    [2, 0, 5]
    """
    # Floats hold the numbers of records of any table, and add them up faster than integers.
    return np.bincount(nodes, weights=counts, minlength=n_nodes).astype(np.int64)


def tuple_keys(nodes: np.ndarray, node_counts: Sequence[int]) -> np.ndarray:
    """One integer per tuple, in the lexicographic order of the tuples.

    Where the product of the node counts would not fit into 63 bits, the prefixes found so far
    are ranked again.

    Parameters
    ----------
    nodes : numpy.ndarray, shape (n, m)
        Tuples of node numbers.
    node_counts
        The number of nodes of each attribute.

    >>> tuple_keys(np.array([[0, 2], [1, 0], [0, 2]]), [2, 3]).tolist()
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
    """Merge equal tuples.

    Returns
    -------
    nodes : numpy.ndarray, shape (E, m), int32
        The distinct tuples in canonical order.
    counts : numpy.ndarray, shape (E,), int64
        The summed counts.
    group : numpy.ndarray, shape (n,), int64
        Per given tuple its position among the distinct ones.
    """
    keys = tuple_keys(nodes, node_counts)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, group, counts)
    return nodes[first].astype(np.int32), total, group


def sum_tuples(
    tuples: np.ndarray, counts: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal tuples as :func:`group_tuples` does, faster where nobody asks which they were.

    Parameters
    ----------
    tuples : numpy.ndarray, shape (n, m)
        The tuples.
    counts : numpy.ndarray, shape (n,), int64
        Their counts.
    keys : numpy.ndarray, shape (n,) or (n, q)
        Per tuple one number or several, the same for equal tuples alone.

    Returns
    -------
    tuples : numpy.ndarray, shape (E, m)
        The distinct tuples in the order of their keys.
    counts : numpy.ndarray, shape (E,), int64
        The summed counts.

    >>> tuples = np.array([[1, 0], [0, 2], [1, 0]])
    >>> found, counts = sum_tuples(tuples, np.array([1, 2, 4]), np.array([3, 2, 3]))
    >>> found.tolist(), counts.tolist()
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
