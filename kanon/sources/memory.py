"""The engine for tables in memory: one grouping in, one join out."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import CoverageError, PlanError, TableError, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.edit import add_leaf
from kanon.hierarchy.ranges import as_flat, is_flat
from kanon.recoding import Recoding
from kanon.schema import SUPPRESSED, Role, Schema, check_columns
from kanon.sensitive import Sensitive, order_of_values
from kanon.values import MISSING_LABEL, canonical_texts
from kanon.words import counted

__all__ = [
    "Exposure",
    "MemorySource",
    "classes_of_columns",
    "counted_values",
    "coverage",
    "exposure",
    "histograms",
    "lacking_values",
    "missing_records",
    "require_records",
    "unique_without_each",
    "with_missing_leaf",
    "without_missing",
    "without_suppressed",
]


@dataclass(frozen=True)
class Exposure:
    """How exposed the records of a table are by some of its columns.

    Attributes
    ----------
    n_records
        n.
    sizes : numpy.ndarray
        The size of every equivalence class, falling.
    """

    n_records: int
    sizes: np.ndarray

    @property
    def n_classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.sizes)

    @property
    def min_k(self) -> int:
        """The size of the smallest class: the k that the table has."""
        return int(self.sizes.min())

    @property
    def unique_records(self) -> int:
        """The number of records that nobody shares all the columns with."""
        return int((self.sizes == 1).sum())


def exposure(table: pd.DataFrame, columns: Sequence[str]) -> Exposure:
    """The class sizes of a table by some columns; a missing cell counts as a value of its own.

    Raises
    ------
    PlanError
        No column is named, or the table lacks one.
    TableError
        The table has no records.

    >>> exposure(pd.DataFrame({"a": ["x", "x", None]}), ["a"]).sizes.tolist()
    [2, 1]
    """
    return _exposure(_coded(table, columns))


def unique_without_each(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, int]:
    """The number of unique records if one of the columns were not there, for each of them.

    Empty for a single column. Raises as :func:`exposure` does.

    >>> unique_without_each(pd.DataFrame({"a": ["x", "y"], "b": ["z", "z"]}), ["a", "b"])
    {'a': 0, 'b': 2}
    """
    coded = _coded(table, columns)
    if len(columns) == 1:
        return {}
    return {
        column: _exposure(coded[:i] + coded[i + 1 :]).unique_records
        for i, column in enumerate(columns)
    }


def classes_of_columns(
    table: pd.DataFrame, columns: Sequence[str], sensitive: Sequence[str] = ()
) -> EquivalenceClasses:
    """The classes of a table by some columns, as it is; a missing cell counts as a value.

    No hierarchy is needed: the nodes are the positions of the texts in alphabetical order, a
    missing cell first. Raises as :func:`exposure` does.

    Parameters
    ----------
    table
        The table.
    columns
        The quasi-identifiers.
    sensitive
        The sensitive columns, whose histograms are wanted.

    >>> table = pd.DataFrame({"sex": ["M", "F", "F"], "ill": ["flu", "flu", "cold"]})
    >>> found = classes_of_columns(table, ["sex"], ["ill"])
    >>> found.counts.tolist(), found.sensitive[0].dense().tolist()
    ([2, 1], [[1, 1], [0, 1]])
    """
    check_columns(list(table.columns), sensitive)
    coded = _coded(table, columns)
    places = []
    for column, (codes, size) in zip(columns, coded, strict=True):
        texts = canonical_texts(table[column])[1]
        ordered = sorted(range(size - 1), key=texts.__getitem__)
        rank = np.zeros(size, dtype=np.int64)
        rank[np.array(ordered, dtype=np.int64) + 1] = np.arange(1, size)
        places.append(rank[codes])
    once = np.ones(len(table), dtype=np.int64)
    nodes, counts, group = group_tuples(np.stack(places, axis=1), once, [size for _, size in coded])
    return EquivalenceClasses(
        tuple(columns), (), nodes, counts,
        tuple(histograms(column, table[column], group, len(counts)) for column in sensitive),
    )  # fmt: skip


def _coded(table: pd.DataFrame, columns: Sequence[str]) -> list[tuple[np.ndarray, int]]:
    """Per column the code of each cell, 0 where it is missing, and the number of codes."""
    if not columns:
        raise PlanError("Name at least one column to measure the exposure by.")
    check_columns(list(table.columns), columns)
    require_records(table)
    read = (canonical_texts(table[column]) for column in columns)
    return [(codes + 1, len(texts) + 1) for codes, texts in read]


def _exposure(coded: Sequence[tuple[np.ndarray, int]]) -> Exposure:
    rows = np.stack([codes for codes, _ in coded], axis=1)
    once = np.ones(len(rows), dtype=np.int64)
    _, sizes, _ = group_tuples(rows, once, [count for _, count in coded])
    return Exposure(len(rows), np.sort(sizes)[::-1])


def require_records(table: pd.DataFrame) -> None:
    """Check that a table has records.

    Raises
    ------
    TableError
        It has none.
    """
    if not len(table):
        raise TableError("The table has no records.")


def missing_records(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Which records lack a value in one of the columns. Shape (n,), bool."""
    return table[list(columns)].isna().any(axis=1).to_numpy()


def without_missing(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The table without the records that lack a value in one of the columns.

    Raises
    ------
    TableError
        No record is left.
    """
    kept = table[~missing_records(table, columns)]
    if len(table) and not len(kept):
        raise TableError(
            "Every record lacks a quasi-identifier, so dropping records with missing values "
            "leaves none; treat missing as a value instead."
        )
    return kept


def without_suppressed(table: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """A release without its blanked rows of suppressed records, and how many those were.

    They are marked by 1 in a column ``suppressed`` of nothing but 0 and 1. Counted as they stand
    they would form a class, which they are not.

    >>> kept, gone = without_suppressed(pd.DataFrame({"sex": ["F", "*"], "suppressed": [0, 1]}))
    >>> kept["sex"].tolist(), gone
    (['F'], 1)
    """
    if SUPPRESSED not in table.columns:
        return table, 0
    codes, texts = canonical_texts(table[SUPPRESSED])
    if (codes < 0).any() or not {*texts} <= {"0", "1"}:
        return table, 0
    gone = np.array([text == "1" for text in texts], dtype=bool)[codes]
    return table[~gone], int(gone.sum())


def counted_values(column: pd.Series) -> dict[str, int]:
    """The distinct values of a column with their numbers of records, most frequent first.

    Missing cells are not counted; among equals, the first to appear comes first.

    >>> counted_values(pd.Series(["M", "F", None, "F"]))
    {'F': 2, 'M': 1}
    """
    return _counted(*canonical_texts(column))


def _counted(codes: np.ndarray, texts: Sequence[str]) -> dict[str, int]:
    """The same for a column that was read as text already."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    return {texts[i]: int(counts[i]) for i in np.argsort(-counts, kind="stable")}


def with_missing_leaf(column: str, counts: Mapping[str, int], tree: Hierarchy) -> Hierarchy:
    """The tree with a leaf for the missing cells of a column: under the root, unless it has one.

    Parameters
    ----------
    column
        The column's name, for messages.
    counts
        Its distinct values, missing cells left out.
    tree
        Its hierarchy.

    Raises
    ------
    TableError
        The name of that leaf is taken by a value or a group, or the tree is a single node.
    """
    if MISSING_LABEL in counts or tree.node_of.get(MISSING_LABEL, 0) >= tree.n_leaves:
        what = "cells that say" if MISSING_LABEL in counts else "its hierarchy has a group"
        raise TableError(
            f"Column {quoted(column)} has missing cells, and {what} '{MISSING_LABEL}'; rename "
            "those, or drop the records with missing cells."
        )
    if MISSING_LABEL in tree.node_of and tree.n_nodes > 1:
        return tree
    if tree.n_nodes == 1:
        raise TableError(
            f"Column {quoted(column)} has missing cells and its hierarchy is a single node, "
            "which leaves no place for them; drop those records instead."
        )
    found = add_leaf(tree, MISSING_LABEL)
    return as_flat(found) if is_flat(tree) else found


def coverage(column: pd.Series, hierarchy: Hierarchy) -> dict[str, int]:
    """The values of a column that its hierarchy lacks, with their numbers of records.

    Most frequent first; missing cells are not counted.

    >>> from kanon.hierarchy.build import suppression
    >>> coverage(pd.Series(["F", "X", "X"]), suppression(["F", "M"]))
    {'X': 2}
    """
    return lacking_values(counted_values(column), hierarchy)


def lacking_values(counts: Mapping[str, int], hierarchy: Hierarchy) -> dict[str, int]:
    """Of the values of a column, with their records, those that a hierarchy has no node for.

    >>> from kanon.hierarchy.build import suppression
    >>> lacking_values({"X": 2, "F": 1}, suppression(["F", "M"]))
    {'X': 2}
    """
    return {text: n for text, n in counts.items() if text not in hierarchy.node_of}


class MemorySource:
    """A pandas table with the roles of its columns and the hierarchies of its quasi-identifiers.

    Parameters
    ----------
    table
        The table. Neither its row order nor its index matters; it is never changed.
    schema
        The role of each column; columns that it does not name pass through.
    hierarchies
        A hierarchy per quasi-identifier. Where a column has missing cells, its tree gets a leaf
        ``(missing)`` under the root; drop those records first if they are not to be values.
    pseudonyms
        Identifiers that are replaced by random labels ``P_1`` … instead of dropped; the same
        person keeps the same label.
    keep_suppressed
        Whether suppressed records keep their rows in a release, blanked and marked; otherwise
        they leave it.

    Raises
    ------
    PlanError
        A column or a hierarchy is missing.
    CoverageError
        A column holds values that its hierarchy lacks; they are named with their records.
    TableError
        The table has no records.
    """

    def __init__(
        self,
        table: pd.DataFrame,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        pseudonyms: Sequence[str] = (),
        keep_suppressed: bool = False,
    ) -> None:
        schema.check(list(table.columns))
        require_records(table)
        self._table = table
        self._schema = schema
        self._keep_suppressed = keep_suppressed
        columns = schema.quasi_identifiers
        trees, rows = [], []
        for column in columns:
            if column not in hierarchies:
                raise PlanError(
                    f"The quasi-identifier {quoted(column)} has no hierarchy; choose one for it."
                )
            tree, nodes = _nodes(column, table[column], hierarchies[column])
            trees.append(tree)
            rows.append(nodes)
        nodes, counts, self._row_class = group_tuples(
            np.stack(rows, axis=1),
            np.ones(len(table), dtype=np.int64),
            [tree.n_nodes for tree in trees],
        )
        self._pseudonym = {column: _pseudonyms(table[column]) for column in pseudonyms}
        sensitive = tuple(
            histograms(column, table[column], self._row_class, len(counts))
            for column in schema.columns(Role.SENSITIVE)
        )
        self.classes = EquivalenceClasses(tuple(columns), tuple(trees), nodes, counts, sensitive)

    @property
    def row_class(self) -> np.ndarray:
        """Per row of the table the original class of its record; read-only. Shape (n,), int64.

        >>> from kanon.hierarchy.build import suppression
        >>> roles = Schema({"sex": Role.QUASI_IDENTIFIER})
        >>> table = pd.DataFrame({"sex": ["M", "F", "M"]})
        >>> MemorySource(table, roles, {"sex": suppression(["F", "M"])}).row_class.tolist()
        [1, 0, 1]
        """
        seen = self._row_class.view()
        seen.setflags(write=False)
        return seen

    def class_of_rows(self, recoding: Recoding) -> np.ndarray:
        """Per row of :meth:`release` the position of its released class, in the rows' order.

        Returns
        -------
        numpy.ndarray, shape (rows of the release,), int64
            -1 for a suppressed record, which has a row only if suppressed records are kept.
        """
        rows = self.rows_left(recoding, np.arange(len(self._table)))
        found: np.ndarray = recoding.assigned[self._row_class[rows]]
        return found

    def release(self, recoding: Recoding) -> pd.DataFrame:
        """The released table: rows in their order, identifiers dropped, labels for values.

        The index of the given table is kept. Suppressed records are left out. If they are kept,
        their quasi-identifiers are at the root, all else but pseudonyms is blank (with sensitive
        values the rows would be a class of their own), and a last column ``suppressed`` is 1 for
        them and 0 for all others. Whole numbers and truth values with blanks among them get the
        nullable type of the same width.
        """
        return self.release_rows(recoding, np.arange(len(self._table)))

    def release_rows(self, recoding: Recoding, rows: np.ndarray) -> pd.DataFrame:
        """The given rows of the release, for a preview; see :meth:`release`."""
        rows = self.rows_left(recoding, rows)
        gone = recoding.assigned[self._row_class[rows]] < 0
        identifiers = self._schema.columns(Role.IDENTIFIER)
        dropped = [column for column in identifiers if column not in self._pseudonym]
        part = self._table.iloc[rows].drop(columns=dropped)
        recoded = {*self.classes.attributes, *identifiers}
        if gone.any():
            for column in [name for name in part.columns if name not in recoded]:
                part[column] = _blanked(part[column], gone)
        for column, labels in self._pseudonym.items():
            part[column] = labels[rows]
        nodes = recoding.targets[self._row_class[rows]]
        trees = zip(self.classes.attributes, recoding.hierarchies, strict=True)
        for j, (column, tree) in enumerate(trees):
            labels = pd.array(list(tree.labels), dtype="str")
            part[column] = labels.take(nodes[:, j])
        if self._keep_suppressed:
            part[SUPPRESSED] = gone.astype(np.int64)
        return part

    def rows_left(self, recoding: Recoding, rows: np.ndarray) -> np.ndarray:
        """Those of the given rows that are in the release: all of them if suppressed ones stay."""
        if self._keep_suppressed:
            return rows
        return rows[recoding.assigned[self._row_class[rows]] >= 0]

    def rows_in(self, recoding: Recoding, position: int) -> np.ndarray:
        """The rows of the records of one released class, rising."""
        return np.flatnonzero(recoding.assigned[self._row_class] == position)

    def histogram_of(self, column: str) -> Sensitive:
        """How often each value of any column occurs in each class; see :func:`histograms`.

        Raises
        ------
        PlanError
            The table has no such column.
        TableError
            Some cells are missing and others say that they are.
        """
        check_columns(list(self._table.columns), [column])
        return histograms(column, self._table[column], self._row_class, self.classes.n_classes)

    def passed_through(self) -> dict[str, int]:
        """The columns that leave as they are, with their numbers of distinct values."""
        recoded = {*self.classes.attributes, *self._schema.columns(Role.IDENTIFIER)}
        return {
            str(column): int(self._table[column].nunique())
            for column in self._table.columns
            if column not in recoded
        }

    def original_rows(self, rows: np.ndarray) -> pd.DataFrame:
        """The given rows as they were, for a preview."""
        return self._table.iloc[rows]

    def rise_of_rows(self, recoding: Recoding, rows: np.ndarray) -> np.ndarray:
        """How far each cell of the given rows rose, as a share of its height in levels.

        A range has no height of its own: it counts by the share of all other leaves that it covers.

        Returns
        -------
        numpy.ndarray, shape (rows, m)
            0 where the value is as it was, 1 where a leaf rose to the root.
        """
        of_row = self._row_class[rows]
        before, after = self.classes.nodes[of_row], recoding.targets[of_row]
        rise = np.zeros(before.shape)
        for j, tree in enumerate(recoding.hierarchies):
            if tree.height > 1:
                levels = tree.level[after[:, j]] - tree.level[before[:, j]]
                ranges = after[:, j] > tree.root
                covered = (tree.leaves_below[after[:, j]] - 1) / max(tree.n_leaves - 1, 1)
                rise[:, j] = np.where(ranges, covered, levels / (tree.height - 1))
        return rise


def histograms(column: str, values: pd.Series, row_class: np.ndarray, size: int) -> Sensitive:
    """The histograms of a sensitive column; missing cells count as one value of their own.

    Parameters
    ----------
    column, values
        The column.
    row_class : numpy.ndarray, shape (n,)
        Per record its class, from 0.
    size
        The number of classes.

    Raises
    ------
    TableError
        Some cells are missing and others say that they are.
    """
    codes, texts = canonical_texts(values)
    if (codes < 0).any():
        if MISSING_LABEL in texts:
            raise TableError(
                f"Column {quoted(column)} has missing cells, and cells that say '{MISSING_LABEL}'; "
                "rename those."
            )
        codes, texts = np.where(codes < 0, len(texts), codes), [*texts, MISSING_LABEL]
    ordered, numeric = order_of_values(texts)
    place = {text: position for position, text in enumerate(ordered)}
    codes = np.array([place[text] for text in texts], dtype=np.int64)[codes]
    return Sensitive.from_records(column, ordered, numeric, row_class, codes, size)


def _blanked(column: pd.Series, gone: np.ndarray) -> pd.Series:
    """The column with blanks where records are gone, in a type that has room for them.

    >>> _blanked(pd.Series([1, 2], dtype="uint8"), np.array([True, False])).dtype
    UInt8Dtype()
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        nullable = pd.array(column.to_numpy())
        column = pd.Series(nullable, index=column.index)
    return column.mask(gone)


def _pseudonyms(column: pd.Series) -> np.ndarray:
    """A random label per distinct identifier; from the system's randomness, never from a seed.

    Who knew the seed and the list of persons could number them again.
    """
    codes, texts = canonical_texts(column)
    numbers = list(range(1, len(texts) + 1))
    secrets.SystemRandom().shuffle(numbers)
    labels = np.array([*(f"P_{number}" for number in numbers), None], dtype=object)
    return labels[codes]


def _nodes(column: str, values: pd.Series, tree: Hierarchy) -> tuple[Hierarchy, np.ndarray]:
    """The node of every cell of a column, and the tree, with a leaf for missing cells if any."""
    codes, texts = canonical_texts(values)
    lacking = lacking_values(_counted(codes, texts), tree)
    if lacking:
        records = sum(lacking.values())
        raise CoverageError(
            f"Column {quoted(column)}: its hierarchy lacks "
            f"{counted(len(lacking), 'distinct value')} ({{cells}}) of "
            f"{counted(records, 'record')}; add what is missing to it.",
            list(lacking),
        )
    if (codes < 0).any():
        tree = with_missing_leaf(column, dict.fromkeys(texts, 0), tree)
    node_of_code = np.array([tree.node_of[text] for text in texts] + [0], dtype=np.int32)
    if (codes < 0).any():
        node_of_code[-1] = tree.node_of[MISSING_LABEL]
    return tree, node_of_code[codes]
