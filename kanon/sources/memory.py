"""Tables in memory: their classes, and releases made from recodings."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon.base.kinds import ColumnKind
from kanon.base.values import (
    Frequencies,
    ValueCounts,
    encode_texts,
)
from kanon.classes import EquivalenceClasses, group_tuples
from kanon.errors import PlanError, TableError, list_names
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding
from kanon.schema import SUPPRESSED, Role, Schema, check_columns
from kanon.sensitive import Sensitive
from kanon.sources.coarsening import Coarsening
from kanon.sources.coverage import (
    count_column,
    count_records_per_value,
    count_texts,
    fit_tree,
)
from kanon.sources.histograms import (
    build_combined_histogram,
    build_histogram,
    build_person_histogram,
    build_value_tree,
)
from kanon.sources.limits import check_classes, check_days, require_records
from kanon.sources.missing import mark_blanks_missing
from kanon.sources.repairs import Targets, convert_target
from kanon.sources.rows import build_released_rows, compute_rise
from kanon.sources.tables import Excerpt, Source, Table
from kanon.sources.text_form import PLAIN, TextForm


def build_column_classes(
    table: pd.DataFrame,
    columns: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    kinds: Mapping[str, ColumnKind] | None = None,
    combines: bool = False,
) -> EquivalenceClasses:
    """The classes of a table by unchanged columns; a missing cell counts as a value."""
    if not columns:
        raise PlanError("Name at least one column for measuring the exposure.")
    persons = [] if person is None else [person]
    check_columns(list(table.columns), [*columns, *sensitive, *persons])
    require_records(len(table))
    places, sizes = [], []
    for column in columns:
        codes, texts = encode_texts(table[column])
        places.append(rank_alphabetically(texts)[codes])
        sizes.append(len(texts) + 1)
    once = np.ones(len(table), dtype=np.int64)
    nodes, counts, group = group_tuples(np.stack(places, axis=1), once, sizes)
    histograms = tuple(
        build_histogram(column, table[column], group, len(counts), (kinds or {}).get(column))
        for column in sensitive
    )
    return EquivalenceClasses(
        tuple(columns), (), nodes, counts, histograms,
        None if person is None
        else build_person_histogram(person, table[person], group, len(counts)),
        build_combined_histogram(table, histograms, group, kinds or {}) if combines else None,
    )  # fmt: skip


def rank_alphabetically(texts: Sequence[str]) -> np.ndarray:
    """Per text its alphabetical place from 1; the last entry is 0, for a missing cell."""
    place = np.zeros(len(texts) + 1, dtype=np.int64)
    ordered = sorted(range(len(texts)), key=texts.__getitem__)
    place[np.array(ordered, dtype=np.int64)] = np.arange(1, len(texts) + 1)
    return place


def find_incomplete_records(table: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Which records lack a value in one of the columns. Shape (n,), bool."""
    return table[list(columns)].isna().any(axis=1).to_numpy()


def get_incomplete_error(blank: Sequence[str]) -> TableError:
    """The error if no record is complete; ``blank`` are the columns without any value."""
    has = "has no value" if len(blank) == 1 else "have no values"
    advice = f"choose another role for {list_names(blank)}, which {has}, or " if blank else ""
    return TableError(
        "Every record lacks a value in at least one quasi-identifier, so dropping such records "
        f"leaves none: {advice}count missing as a value of its own (read.missing 'as-value' in a "
        "plan)."
    )


def remove_suppressed_rows(table: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """A release without the blanked rows of suppressed records, and their number.

    A column ``suppressed`` of 0 and 1 marks them. They do not form a class.
    """
    if SUPPRESSED not in table.columns:
        return table, 0
    codes, texts = encode_texts(table[SUPPRESSED])
    if (codes < 0).any() or not {*texts} <= {"0", "1"}:
        return table, 0
    is_suppressed = np.array([text == "1" for text in texts], dtype=bool)[codes]
    return table[~is_suppressed], int(is_suppressed.sum())


class MemoryTable(Table):
    """A pandas table; see :class:`kanon.sources.tables.Table`."""

    in_engine: ClassVar[bool] = False

    def __init__(
        self,
        frame: pd.DataFrame,
        form: TextForm = PLAIN,
        kinds: Mapping[str, ColumnKind] | None = None,
    ) -> None:
        self.frame = frame
        self.given = frame  # before columns were coarsened
        self.form = form
        self.kinds = kinds or {}
        self.has_row_numbers = is_row_numbering(frame.index)
        self._frequencies: dict[str, Frequencies] = {}
        self._incomplete: dict[tuple[str, ...], int] = {}

    def _replace_frame(self, frame: pd.DataFrame) -> MemoryTable:
        copied = copy(self)
        copied.frame = copied.given = frame
        copied._frequencies, copied._incomplete, copied.latest = {}, {}, None
        return copied

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.frame.columns)

    @property
    def n_records(self) -> int:
        return len(self.frame)

    def head(self, rows: int) -> pd.DataFrame:
        return self.frame.head(rows)

    def frequencies(self, column: str) -> Frequencies:
        if column not in self._frequencies:
            self._frequencies[column] = Frequencies.count_frequencies(
                count_records_per_value(self.frame[column])
            )
        return self._frequencies[column]

    def count_column_values(self, column: str) -> ValueCounts:
        check_columns(self.columns, [column])
        return count_column(self.frame[column], self.kinds.get(column))

    def set_kinds(self, kinds: Mapping[str, ColumnKind]) -> MemoryTable:
        copied = copy(self)
        copied.kinds = {**self.kinds, **kinds}
        return copied

    def incomplete(self, columns: Sequence[str]) -> int:
        wanted = tuple(columns)
        if wanted not in self._incomplete:
            self._incomplete[wanted] = int(find_incomplete_records(self.frame, columns).sum())
        return self._incomplete[wanted]

    def complete(self, columns: Sequence[str]) -> MemoryTable:
        frame = self.frame
        complete_rows = frame[~find_incomplete_records(frame, columns)]
        if len(frame) and not len(complete_rows):
            raise get_incomplete_error([name for name in columns if frame[name].isna().all()])
        return self._replace_frame(complete_rows)

    def replace_by_groups(self, parts: Sequence[Coarsening]) -> MemoryTable:
        frame = self.frame.assign(
            **{part.column: part.cells(self.frame[part.column]) for part in parts}
        )
        groups = {part.column for part in parts}  # groups have labels of their own
        if not parts:
            return self
        coarse = self._replace_frame(frame)
        coarse.given = self.frame
        coarse.kinds = {name: kind for name, kind in self.kinds.items() if name not in groups}
        return coarse

    def build_classes(
        self, columns: Sequence[str], sensitive: Sequence[str] = (), person: str | None = None
    ) -> EquivalenceClasses:
        return build_column_classes(self.frame, columns, sensitive, person, self.kinds)

    def count_class_sizes(self, columns: Sequence[str]) -> Frequencies:
        return Frequencies.count_frequencies(self.build_classes(columns).counts)

    def remove_suppressed(self) -> tuple[MemoryTable, int]:
        visible, suppressed = remove_suppressed_rows(self.frame)
        return self._replace_frame(visible), suppressed

    def apply_targets(self, column: str, targets: Targets, drops: bool) -> MemoryTable:
        cells = self.frame[column]
        codes, texts = encode_texts(cells)
        place_of: dict[str | None, int] = {None: -1} | {text: n for n, text in enumerate(texts)}
        places_by_target: dict[str | None, list[int]] = {}
        for text, target in targets.items():
            places_by_target.setdefault(target, []).append(place_of[text])
        if drops:
            is_hit = np.isin(codes, places_by_target.get(None, []))
            return self._replace_frame(self.frame[~is_hit])
        if isinstance(cells.dtype, pd.CategoricalDtype):
            cells = cells.astype(object)
        elif None in places_by_target and cells.dtype.kind in "iub":  # which hold no missing cell
            cells = cells.convert_dtypes()
        try:
            kind = pa.array(cells).type
        except pa.ArrowException:
            kind = pa.null()
        for target, places in places_by_target.items():
            value = pd.NA if target is None else convert_target(target, kind, column)
            cells = cells.mask(np.isin(codes, places), value)
        return self._replace_frame(self.frame.assign(**{column: cells}))


def is_row_numbering(index: pd.Index) -> bool:
    """Whether an index has no name and is a range, or 0, 1, … in another form."""
    plain = isinstance(index, pd.RangeIndex) or index.equals(pd.RangeIndex(len(index)))
    return plain and index.name is None


def convert_to_table(table: Table | pd.DataFrame) -> Table:
    """A pandas table as a :class:`MemoryTable`, blank texts missing; other tables unchanged."""
    if not isinstance(table, pd.DataFrame):
        return table
    for name, column in table.items():
        check_days(column, str(name))
    return MemoryTable(mark_blanks_missing(table))


def count_for_models(
    classes: EquivalenceClasses,
    trees: Mapping[str, Hierarchy],
    table: MemoryTable | None,
    row_class: np.ndarray,
) -> EquivalenceClasses:
    """Classes with the trees of sensitive values and, given the table, their combinations."""
    sensitive = list(classes.sensitive)
    for place, column in enumerate(sensitive):
        if column.name in trees:
            tree = build_value_tree(column.values, trees[column.name])
            sensitive[place] = replace(column, tree=tree)
    combined = None
    if table is not None:
        combined = build_combined_histogram(table.frame, sensitive, row_class, table.kinds)
    return replace(classes, sensitive=tuple(sensitive), combined=combined)


class MemorySource(Source):
    """A pandas table with the roles of its columns and the hierarchies of its quasi-identifiers."""

    def __init__(
        self,
        rows: pd.DataFrame | MemoryTable,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        pseudonyms: Sequence[str] = (),
        keep_suppressed: bool = False,
        person: str | None = None,
    ) -> None:
        given = rows if isinstance(rows, MemoryTable) else MemoryTable(rows)
        super().__init__(given, schema, hierarchies, pseudonyms, keep_suppressed)
        table, kinds = given.frame, given.kinds
        self.table: MemoryTable = given
        self.person = person
        self.has_row_numbers = given.has_row_numbers
        self._table = table
        columns = schema.quasi_identifiers
        trees, rows = [], []
        for column in columns:
            tree, nodes = _match_nodes(column, table[column], hierarchies[column])
            trees.append(tree)
            rows.append(nodes)
        nodes, counts, self._row_class = group_tuples(
            np.stack(rows, axis=1),
            np.ones(len(table), dtype=np.int64),
            [tree.n_nodes for tree in trees],
        )
        check_classes(len(counts))
        self._pseudonym = {column: _draw_pseudonyms(table[column]) for column in pseudonyms}
        sensitive = tuple(
            build_histogram(column, table[column], self._row_class, len(counts), kinds.get(column))
            for column in schema.columns(Role.SENSITIVE)
        )
        persons = None
        if person is not None:
            check_columns(list(table.columns), [person])
            persons = build_person_histogram(person, table[person], self._row_class, len(counts))
        self.classes = EquivalenceClasses(
            tuple(columns), tuple(trees), nodes, counts, sensitive, persons
        )

    @property
    def row_class(self) -> np.ndarray:
        """Per row of the table the original class of its record; read-only. Shape (n,), int64."""
        view = self._row_class.view()
        view.setflags(write=False)
        return view

    def get_released_positions(self, recoding: Recoding) -> np.ndarray:
        rows = self._list_released_rows(recoding)
        positions: np.ndarray = recoding.assigned[self._row_class[rows]]
        return positions

    def release(self, recoding: Recoding) -> pd.DataFrame:
        """The released table, aligned with the table: identifiers dropped, labels for values."""
        return self.release_rows(recoding, np.arange(len(self._table)))

    def persons_released(self, recoding: Recoding) -> pd.Series:
        return self._table[self.person].iloc[self._list_released_rows(recoding)]

    def release_rows(self, recoding: Recoding, rows: np.ndarray) -> pd.DataFrame:
        rows = self.select_released_rows(recoding, rows)
        labels = {column: labels[rows] for column, labels in self._pseudonym.items()}
        return build_released_rows(
            self._table.iloc[rows], self._row_class[rows], recoding, self._schema, labels,
            self._keep_suppressed,
        )  # fmt: skip

    def get_excerpt(self, recoding: Recoding, most: int, position: int | None = None) -> Excerpt:
        assigned = recoding.assigned[self._row_class]
        if position is not None:
            rows = np.flatnonzero(assigned == position)
        else:
            rows = self._list_released_rows(recoding)
        visible = self.select_released_rows(recoding, rows[:most])
        after = self.release_rows(recoding, visible)
        rise = compute_rise(self._row_class[visible], recoding)
        return Excerpt(self.table.given.iloc[visible], after, rise)

    def _list_released_rows(self, recoding: Recoding) -> np.ndarray:
        return self.select_released_rows(recoding, np.arange(len(self._table)))

    def select_released_rows(self, recoding: Recoding, rows: np.ndarray) -> np.ndarray:
        """The given rows that are in the release: all of them if suppressed rows stay."""
        if self._keep_suppressed:
            return rows
        return rows[recoding.assigned[self._row_class[rows]] >= 0]

    def build_column_histogram(self, column: str) -> Sensitive:
        check_columns(list(self._table.columns), [column])
        kind = self.table.kinds.get(column)
        return build_histogram(
            column, self._table[column], self._row_class, self.classes.n_classes, kind
        )

    def count_linked_records(
        self, column: str, recoding: Recoding
    ) -> tuple[np.ndarray, np.ndarray]:
        """Per pseudonym its number of released records, and of persons with the same classes.

        Two persons have the same classes if they have equally many records in each. The
        combinations are compared as 64-bit sums: among a million of them, two coincide by chance
        with a probability of 1 in 30 million.
        """
        rows = self._list_released_rows(recoding)
        person, _ = pd.factorize(self._pseudonym[column][rows])
        has_label = person >= 0
        person, released = person[has_label], recoding.assigned[self._row_class[rows[has_label]]]
        generator = np.random.default_rng(0)  # a fixed seed: a remark does not change
        of_class = generator.integers(2**64, size=recoding.n_classes + 1, dtype=np.uint64)
        sums = np.zeros(int(person.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(sums, person, of_class[released])  # -1, suppressed, is the last
        _, combination, persons = np.unique(sums, return_inverse=True, return_counts=True)
        return np.bincount(person, minlength=len(sums)), persons[combination]

    def count_distinct_values(self, column: str, recoding: Recoding) -> np.ndarray:
        """The number of distinct values of a column in each released class. Shape (R,), int64."""
        released = recoding.assigned[self._row_class]
        codes, texts = encode_texts(self._table[column])
        codes = np.where(codes < 0, len(texts) + np.arange(len(codes)), codes)
        width = len(texts) + len(codes)
        pairs = np.unique((released * width + codes)[released >= 0])
        return np.bincount(pairs // width, minlength=recoding.n_classes)

    def count_value_sizes(self, column: str, recoding: Recoding) -> np.ndarray:
        released = recoding.assigned[self._row_class]
        codes, values = pd.factorize(self._table[column])
        pairs = released * (len(values) + 1) + codes + 1
        _, sizes = np.unique(pairs[released >= 0], return_counts=True)
        return sizes


def _draw_pseudonyms(column: pd.Series) -> np.ndarray:
    """A random label per distinct identifier, from the system's randomness, never from a seed."""
    codes, texts = encode_texts(column)
    numbers = list(range(1, len(texts) + 1))
    secrets.SystemRandom().shuffle(numbers)
    labels = np.array([*(f"P_{number}" for number in numbers), None], dtype=object)
    return labels[codes]


def _match_nodes(column: str, values: pd.Series, tree: Hierarchy) -> tuple[Hierarchy, np.ndarray]:
    """The tree, with a leaf for missing cells if any, and the node of every cell of a column."""
    codes, texts = encode_texts(values)
    tree, missing = fit_tree(column, count_texts(codes, texts), bool((codes < 0).any()), tree)
    return tree, np.array([*(tree.node_of[text] for text in texts), missing], dtype=np.int32)[codes]
