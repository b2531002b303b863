"""A release as numbers for a learner: one row per class, one column per node of each hierarchy.

Learners need numbers, and a released cell names a node of a tree. So every quasi-identifier Q
becomes a column *Q_val* for each node val of its hierarchy (not only for the leaves), and a
representation defines its entries. All records of a class have the same row: it is stored once,
and expanded to records only in batches, where a learner needs them.

>>> from kanon.hierarchy.build import groups
>>> race = groups([{"Felid": ["Cat", "Lion"]}, {"*": ["Felid", "Dog"]}])
>>> sizes = np.array([1, 2, 1])
>>> table = EquivalenceClasses(("race",), (race,), np.array([[0], [1], [2]]), sizes)
>>> raised = Recoding.from_targets(table, np.array([[3], [3], [2]]))
>>> columns_of(["race"], [race])
['race_Cat', 'race_Lion', 'race_Dog', 'race_Felid', 'race_*']
>>> represent("fillParent", raised).dense().tolist()
[[0.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0]]
>>> represent("proportional", raised).dense().round(2)[1].tolist()  # one cat, two lions
[0.33000001311302185, 0.6700000166893005, 0.0, 1.0, 1.0]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from kanon.cards import Card, read_cards
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, list_names, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.ranges import covers
from kanon.recoding import Recoding

REPRESENTATIONS: Mapping[str, Card] = MappingProxyType(read_cards(__file__))
"""The four representations, by name."""

_BATCH = 65_536  # the rows expanded at a time

_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Matrix:
    """One row of numbers per released class."""

    # shape (R, N), float32: in the order of ``recoding.nodes``, from 0 to 1, zeros not stored
    rows: csr_array
    columns: tuple[str, ...]  # the names that :func:`columns_of` gives, length N

    def dense(self) -> np.ndarray:
        """All entries, zeros too. Shape (R, N), float32."""
        entries: np.ndarray = self.rows.toarray()
        return entries

    def batches(self, of_record: np.ndarray, size: int = _BATCH) -> Iterator[np.ndarray]:
        """The rows of records, batch by batch, so that they are never all in memory.

        Parameters
        ----------
        of_record : numpy.ndarray, shape (n,)
            Per record the position of its released class.

        Raises
        ------
        ValueError
            A record is suppressed (-1), so it has no row, or its class does not exist.
        """
        classes = np.asarray(of_record)
        if len(classes) and not (classes.min() >= 0 and classes.max() < self.rows.shape[0]):
            raise ValueError(f"classes are numbered 0 to {self.rows.shape[0] - 1}")
        for start in range(0, len(classes), size):
            yield self.rows[classes[start : start + size]].toarray()


def columns_of(attributes: Sequence[str], hierarchies: Sequence[Hierarchy]) -> list[str]:
    """The columns of a representation: *Q_val* per quasi-identifier Q and node val of its tree.

    Ranges beside a tree have no columns. Where two would have the same name, the later one gets a
    number.

    >>> from kanon.hierarchy.build import suppression
    >>> columns_of(["a", "a_b"], [suppression(["b_c", "d"]), suppression(["c"])])
    ['a_b_c', 'a_d', 'a_*', 'a_b_c (2)', 'a_b_*']
    """
    names: set[str] = set()
    columns = []
    for attribute, tree in zip(attributes, hierarchies, strict=True):
        for label in tree.labels[: tree.root + 1]:
            columns.append(free_name(f"{attribute}_{label}", names))
            names.add(columns[-1])
    return columns


def free_name(name: str, used: set[str]) -> str:
    """The name, or the name with the first number that makes it unique.

    >>> free_name("a", {"a", "a (2)"}), free_name("b", {"a"})
    ('a (3)', 'b')
    """
    free, number = name, 1
    while free in used:
        number += 1
        free = f"{name} ({number})"
    return free


def represent(name: str, recoding: Recoding) -> Matrix:
    """A release as a matrix.

    Let v be the released value of a class in the attribute Q. Its entry in *Q_val* is

    - *oneClass*: 1 if val = v, else 0;
    - *fillParent*: 1 if val = v or val lies above v, else 0;
    - *fillChild*: 1 if val = v or val lies below v, else 0;
    - *proportional*: the share of the records of the class whose **original** value is val or
      lies below val.

    A released range is not a node and has no column. For *oneClass* and *fillParent* v is then the
    smallest node that covers the range; *fillChild* has a 1 at every node from there downwards
    whose leaves all lie within the range. *Proportional* uses original values, which are nodes.

    A suppressed record has no row. *oneClass* has one 1 per attribute; within one level of a
    balanced tree the entries of *proportional* sum to 1.

    Raises
    ------
    PlanError
        The representation is not one of :data:`REPRESENTATIONS`.

    Notes
    -----
    Source: Viton, Mauger, Dequen, Guérin, Le Mahec 2021; the first three are those of Inan,
    Kantarcioglu, Bertino 2009.
    """
    if name not in REPRESENTATIONS:
        raise PlanError(
            f"The representation {quote(name)} is unknown; choose from "
            f"{list_names(REPRESENTATIONS)}."
        )
    blocks, places = [], []
    for j, tree in enumerate(recoding.hierarchies):
        if name == "proportional":
            blocks.append(_compute_shares(recoding, j, tree))
            places.append(np.arange(recoding.n_classes))
        else:
            values, place = np.unique(recoding.nodes[:, j], return_inverse=True)
            blocks.append(_build_pattern(name, tree, values))
            places.append(place)
    parts = [block[place] for block, place in zip(blocks, places, strict=True)]
    rows = hstack(parts, format="csr", dtype=np.float32)
    rows.sort_indices()
    return Matrix(rows, tuple(columns_of(recoding.classes.attributes, recoding.hierarchies)))


def represent_original(classes: EquivalenceClasses, name: str) -> Matrix:
    """The unaltered table as a matrix: its classes are its own release.

    *Proportional* is then *fillParent*: all records of a class have its value.

    Raises
    ------
    PlanError
        The representation is unknown.
    """
    alone = np.arange(classes.n_classes, dtype=np.int64)
    return represent(name, Recoding(classes, classes.nodes, classes.counts, alone))


def _replace_ranges(tree: Hierarchy, nodes: np.ndarray) -> np.ndarray:
    """Replace each range by the smallest node that covers it."""
    covers: np.ndarray = np.where(nodes > tree.root, tree.parent[nodes], nodes)
    return covers


def _find_ancestors(tree: Hierarchy) -> csr_array:
    """Mark the nodes (columns) at or above each node (row). Shape (N, N), int64, sparse."""
    size = tree.root + 1
    low = above = np.arange(size)
    lows, aboves = [], []
    while len(low):
        lows.append(low)
        aboves.append(above)
        climbs = above < tree.root
        low, above = low[climbs], tree.parent[above[climbs]]
    places = np.concatenate(lows), np.concatenate(aboves)
    return csr_array((np.ones(len(places[0]), dtype=np.int64), places), shape=(size, size))


def _build_pattern(name: str, tree: Hierarchy, values: np.ndarray) -> csr_array:
    size = tree.root + 1
    nodes = _replace_ranges(tree, values)
    if name == "oneClass":
        once = np.ones(len(nodes), dtype=np.int64)
        return csr_array((once, (np.arange(len(nodes)), nodes)), shape=(len(nodes), size))
    if name == "fillParent":
        return _find_ancestors(tree)[nodes]
    below = _find_ancestors(tree).T.tocsr()
    # Far more nodes may be below the cover than in the range, so take a few rows at a time.
    few = max(1, _CELLS // size)
    parts = [
        _select_within(tree, values[first : first + few], below[nodes[first : first + few]])
        for first in range(0, len(values), few)
    ]
    return vstack(parts, format="csr") if parts else csr_array((0, size), dtype=np.int64)


def _select_within(tree: Hierarchy, values: np.ndarray, below: csr_array) -> csr_array:
    row, low = below.tocoo().coords
    fits = covers(tree, values[row], low)
    return csr_array((below.data[fits], (row[fits], low[fits])), shape=below.shape)


def _compute_shares(recoding: Recoding, j: int, tree: Hierarchy) -> csr_array:
    stays = recoding.assigned >= 0
    original = _replace_ranges(tree, recoding.classes.nodes[stays, j])
    shape = (recoding.n_classes, tree.root + 1)
    # Whole numbers until one division, so that equal counts are a share of exactly 1.
    at = csr_array((recoding.classes.counts[stays], (recoding.assigned[stays], original)), shape)
    sums = (at @ _find_ancestors(tree)).tocsr()
    of_entry = np.repeat(recoding.counts, np.diff(sums.indptr))
    return csr_array((sums.data / of_entry, sums.indices, sums.indptr), shape)
