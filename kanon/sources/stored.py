"""Tables that stay where they are: an engine groups and joins, and only groups are fetched.

The distinct values of a column are fetched once and read as text here, as in memory, so that every
engine has the same classes. The engine groups the rows by its own values and joins their codes to
the groups. A release is the way back: it joins codes, released classes and labels to the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property, reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from kanon.base.kinds import ColumnKind
from kanon.base.spelling import BLANK, KNOWN_MARKERS
from kanon.base.values import Frequencies, ValueCounts
from kanon.classes import EquivalenceClasses, count_cells_at
from kanon.errors import PlanError, TableError, list_names, quote
from kanon.schema import SUPPRESSED, check_columns
from kanon.sensitive import Sensitive
from kanon.settings import get_settings
from kanon.sources.addresses import Address
from kanon.sources.coarsening import Coarsening
from kanon.sources.engines import ENGINES
from kanon.sources.histograms import check_persons, sort_sensitive_values
from kanon.sources.limits import check_classes, require_records
from kanon.sources.memory import get_incomplete_error
from kanon.sources.read_settings import ReadSettings
from kanon.sources.repairs import Targets, convert_target
from kanon.sources.stored_values import (
    EXCERPT,
    ColumnValues,
    StoredAnswers,
    TableConnection,
    convert_to_frame,
    find_positions,
    sort_frequencies,
)
from kanon.sources.tables import Table


def open_stored(
    address: Address, engine: str | None = None, settings: ReadSettings | None = None
) -> StoredTable:
    address.check_table()
    if settings is not None and settings.footer:
        raise TableError(
            "An engine cannot leave out rows at the end (footer), because it does not keep "
            "the order: remove them from the file, or add --engine memory."
        )
    if engine is None:
        engine = "other" if address.kind in ("url", "sqlite") else "duckdb"
    if engine not in ENGINES:
        raise TableError(
            f"The engine {quote(engine)} is unknown: choose from {list_names(ENGINES)}."
        )
    return StoredTable(address, engine, settings or ReadSettings())


class StoredTable(Table):
    """A table whose rows stay where they are; see :class:`kanon.sources.tables.Table`."""

    in_engine: ClassVar[bool] = True

    def __init__(self, address: Address, engine: str, settings: ReadSettings) -> None:
        self.address, self.engine, self.settings = address, engine, settings
        self.omissions: tuple[tuple[str, str | None], ...] = ()
        self.kinds: Mapping[str, ColumnKind] = {}
        self._subsets: dict[Any, StoredTable] = {}
        # the table before the last repair, and what this replaces or drops
        self._before: tuple[StoredTable, str, Mapping[str | None, Any], bool] | None = None
        self.stamp = address.stamp
        self._answers = StoredAnswers()
        rows = self.opened.rows
        self.columns: tuple[str, ...] = tuple(rows.expression.columns)
        self.found: tuple[str, ...] = rows.found
        self.text: tuple[str | None, str | None] = rows.settings

    def _copy_without(self, omissions: tuple[tuple[str, str | None], ...]) -> StoredTable:
        copied = copy(self)
        if "opened" in self.__dict__:
            copied.__dict__["opened"] = self.opened
        for name in ("n_records", "_head"):
            copied.__dict__.pop(name, None)
        copied.omissions, copied._subsets, copied.latest = omissions, {}, None
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the connection."""
        return {name: value for name, value in self.__dict__.items() if name != "opened"}

    @cached_property
    def opened(self) -> TableConnection:
        return self._connect()

    def _connect(self, writes: Sequence[Path] = ()) -> TableConnection:
        self._check_unchanged()
        if self._before is not None:
            table, column, cells, drops = self._before
            before = table._connect(writes) if writes else table.opened
            rows = table._filter_staying(before.expression, table.omissions)
            values = table.values(column)
            if drops:
                rows = rows.filter(values.select_other_cells(rows[column], *cells))
            else:
                rows = values.replace_cells(rows, column, cells)
            return before.show_other_rows(rows, self._answers)
        rows = _import_engine(self.engine).open_rows(self.address, self.settings, writes)
        knows_nan = self.engine != "other"
        return TableConnection(rows, self.markers, self._answers, self._check_unchanged, knows_nan)

    def collect_answers(self, other: StoredTable) -> None:
        """Take over answers for the same table from another process."""
        self._answers.collect_answers(other._answers)

    def _check_unchanged(self) -> None:
        if self.address.stamp != self.stamp:
            raise self._get_change_error()

    def _get_change_error(self) -> TableError:
        name = quote(self.address.name)
        return TableError(f"{name} has changed since it was opened: open it again.")

    def copy_for_writing(self, folder: Path) -> StoredTable:
        opened = self._copy_without(self.omissions)
        if not self.opened.rows.writes_anywhere:
            opened.__dict__["opened"] = opened._connect([folder])
        if self.address.is_url and opened.n_records != self.n_records:
            raise self._get_change_error()
        return opened

    @property
    def markers(self) -> tuple[str, ...]:
        """The texts that count as a missing cell."""
        markers = self.settings.missing_markers
        return KNOWN_MARKERS if markers is None else tuple(dict.fromkeys([BLANK, *markers]))

    @cached_property
    def n_records(self) -> int:
        if not self.omissions:
            return self.opened.sizes["records"]
        return self.opened.count(self.expression)

    @property
    def expression(self) -> Any:
        """The rows, without the records that are left out."""
        return self._filter_staying(self.opened.expression, self.omissions)

    def _filter_staying(self, rows: Any, leaving: Sequence[tuple[str, str | None]]) -> Any:
        for column, text in leaving:
            rows = rows.filter(self.values(column).select_other_cells(rows[column], text))
        return rows

    def mark_missing_cells(self, rows: Any, column: str) -> Any:
        """A column of an expression, in which markers and NaN are missing cells."""
        cells = rows[column]
        if cells.type().is_floating() and self.engine != "other":  # databases may know no NaN
            return cells.isnan().ifelse(None, cells)
        if not cells.type().is_string():
            return cells
        used = sorted({marker.strip() for marker in self.markers})
        # By threes: DuckDB makes a join of a longer list, and then has no progress.
        is_marker = [cells.strip().isin(used[n : n + 3]) for n in range(0, len(used), 3)]
        return reduce(or_, is_marker).ifelse(None, cells)

    @cached_property
    def _head(self) -> pd.DataFrame:
        return self.fetch_first_rows(EXCERPT)

    def head(self, rows: int) -> pd.DataFrame:
        """Some records, at most 200."""
        return self._head.head(rows)

    def fetch_first_rows(self, most: int) -> pd.DataFrame:
        """The first records in the order in which the engine reads them."""
        return convert_to_frame(self.opened.fetch(self.expression.limit(most)), self.markers)

    def frequencies(self, column: str) -> Frequencies:
        key = (self.omissions, column)
        if key not in self._answers.frequencies:
            self._answers.frequencies[key] = self._compute_frequencies(column)
        return self._answers.frequencies[key]

    def _compute_frequencies(self, column: str) -> Frequencies:
        rows = self.expression
        groups = rows.group_by(value=rows[column]).aggregate(records=rows.count())
        cells = groups["value"]
        if cells.type().is_string():  # as in canonical_text
            cells = cells.strip()
            whole = cells.re_search(r"^[+-]?[0-9]+\.0$")
            cells = whole.ifelse(cells.re_replace(r"\.0$", ""), cells)
            cells = cells.isin(["-0", "+0"]).ifelse("0", cells)
            groups = groups.group_by(value=cells).aggregate(records=groups["records"].sum())
        cells = self.mark_missing_cells(groups, "value")
        alike = groups.filter(cells.notnull()).group_by("records")
        return sort_frequencies(
            self.opened.fetch(alike.aggregate(values=lambda table: table.count()))
        )

    def count_column_values(self, column: str) -> ValueCounts:
        records = self.count_records_by_code(column)
        known = zip(self.values(column).texts, records[1:].tolist(), strict=True)
        present = [(text, n) for text, n in known if n]
        present.sort(key=lambda pair: -pair[1])  # stable: among equals in alphabetical order
        return ValueCounts(dict(present), int(records[0]), self.kinds.get(column))

    def count_records_by_code(self, column: str) -> np.ndarray:
        """The number of records of each code of a column, int64; missing cells first."""
        values = self.values(column)
        if not self.omissions:
            codes, counts = values.codes, values.records
        else:
            wanted = self._find_grouping(column)
            tuples, counts = self.count_code_tuples(wanted)
            codes = tuples[:, wanted.index(column)]
        return count_cells_at(len(values.texts) + 1, codes, counts)

    def n_classes(self, columns: Sequence[str]) -> int:
        """The number of classes by some columns; the engine keeps those that it has counted."""
        known = self.get_known_class_count(columns)
        if known is None:
            known = self.opened.count(self.opened.classes(columns, self.omissions))
            self._answers.n_classes[self.omissions, tuple(columns)] = known
        return known

    def get_known_class_count(self, columns: Sequence[str]) -> int | None:
        """The number of classes by some columns if it is known, without a query."""
        key, answers = (self.omissions, tuple(columns)), self._answers
        if key in answers.n_classes:
            return answers.n_classes[key]
        if key in answers.frequencies:
            return answers.frequencies[key].distinct.values
        return len(answers.groups[key][1]) if key in answers.groups else None

    def estimate_most_classes(self, columns: Sequence[str]) -> int:
        """The most classes that some columns can have, by the numbers of their values."""
        combinations = math.prod(len(self.values(column).texts) + 1 for column in columns)
        return min(self.n_records, combinations)

    def set_kinds(self, kinds: Mapping[str, ColumnKind]) -> StoredTable:
        if {**self.kinds, **kinds} == self.kinds:
            return self
        copied = copy(self)
        copied.kinds, copied._subsets = {**self.kinds, **kinds}, {}
        return copied

    def _find_grouping(self, column: str) -> tuple[str, ...]:
        """The columns of a known grouping with this column, or the column alone."""
        groupings = [
            grouping for leaving, grouping in self._answers.groups if leaving == self.omissions
        ]
        return next((grouping for grouping in groupings if column in grouping), (column,))

    def count_code_tuples(self, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The distinct tuples of codes of some columns, and their numbers of records."""
        wanted = tuple(columns)
        return self._answers.get_groups(
            (self.omissions, wanted), lambda: self._count_tuples(wanted)
        )

    def _count_tuples(self, columns: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        if self.estimate_most_classes(columns) > get_settings().classes:
            check_classes(self.n_classes(columns))
        unseen = [(column, text) for column, text in self.omissions if column not in columns]
        codes, counts = self.opened.count_code_tuples(columns, unseen)
        for column, text in self.omissions:
            if column in columns:
                stay = codes[:, columns.index(column)] != self.values(column).code(text)
                codes, counts = codes[stay], counts[stay]
        return codes, counts

    def _list_incomplete(self, columns: Sequence[str]) -> tuple[tuple[str, None], ...]:
        check_columns(self.columns, columns)
        incomplete = [column for column in dict.fromkeys(columns) if self.values(column).missing]
        return tuple(
            (column, None) for column in incomplete if (column, None) not in self.omissions
        )

    def values(self, column: str) -> ColumnValues:
        known = self._answers.values.get(column)
        return self.opened.values(column) if known is None else known

    def incomplete(self, columns: Sequence[str]) -> int:
        lacking = self._list_incomplete(columns)
        if not lacking:
            return 0
        key = (self.omissions, lacking)
        if key not in self._answers.incomplete:
            complete = self.opened.count(self._filter_staying(self.expression, lacking))
            self._answers.incomplete[key] = self.n_records - complete
        return self._answers.incomplete[key]

    def complete(self, columns: Sequence[str]) -> StoredTable:
        lacking = self._list_incomplete(columns)
        if self.n_records and self.incomplete(columns) == self.n_records:
            blank = [name for name in columns if not self.count_distinct(name).n_filled]
            raise get_incomplete_error(blank)
        return self._drop_records(*lacking)

    def _drop_records(self, *more: tuple[str, str | None]) -> StoredTable:
        if not more:
            return self
        leaving = tuple(dict.fromkeys([*self.omissions, *more]))
        if leaving not in self._subsets:
            self._subsets[leaving] = self._copy_without(leaving)
        return self._subsets[leaving]

    def replace_by_groups(self, parts: Sequence[Coarsening]) -> StoredTable:
        """The table itself; engines do not coarsen columns."""
        if parts:
            raise TableError(
                f"The sensitive column {quote(parts[0].column)} cannot be coarsened by an engine: "
                "load the table into memory (--engine memory), or release the column unchanged."
            )
        return self

    def apply_targets(self, column: str, targets: Targets, drops: bool) -> StoredTable:
        values, kind = self.count_column_values(column), self.values(column).raw.type
        records = self.n_records
        if drops:
            records -= values.count_cells(targets)
        cells = {
            text: None if target is None else convert_target(target, kind, column)
            for text, target in targets.items()
        }
        table = self._copy_without(())
        table._answers = StoredAnswers(sizes={"records": records, "blank": 0})
        table._before = self, column, cells, drops
        table.__dict__.pop("opened", None)
        return table

    def build_classes(
        self, columns: Sequence[str], sensitive: Sequence[str] = (), person: str | None = None
    ) -> EquivalenceClasses:
        if not columns:
            raise PlanError("Name at least one column for measuring the exposure.")
        persons_columns = [] if person is None else [person]
        check_columns(self.columns, [*columns, *sensitive, *persons_columns])
        codes, counts = self.count_code_tuples(columns)
        require_records(len(counts))
        for column in persons_columns:
            check_persons(column, self.incomplete([column]))
        histograms = tuple(
            self.build_stored_histogram(column, columns, codes) for column in sensitive
        )
        persons = None if person is None else self.build_stored_histogram(person, columns, codes)
        return EquivalenceClasses(tuple(columns), (), codes, counts, histograms, persons)

    def count_class_sizes(self, columns: Sequence[str]) -> Frequencies:
        if not columns:
            raise PlanError("Name at least one column for measuring the exposure.")
        check_columns(self.columns, columns)
        require_records(self.n_records)
        key = (self.omissions, tuple(columns))
        if key not in self._answers.frequencies:
            self._answers.frequencies[key] = self._count_groups(columns)
        return self._answers.frequencies[key]

    def _count_groups(self, columns: Sequence[str]) -> Frequencies:
        try:
            return self.opened.count_class_sizes(columns, self.omissions)
        except TableError:  # too many values, or values without text
            if len(columns) > 1:
                raise
        alone = self.frequencies(columns[0])
        missing = self.n_records - alone.distinct.n_filled
        if not missing:
            return alone
        place = np.searchsorted(alone.sizes, missing)
        return Frequencies(
            np.insert(alone.sizes, place, missing), np.insert(alone.values, place, 1)
        )

    def build_stored_histogram(
        self, column: str, columns: Sequence[str], tuples: np.ndarray, lookup: Any = None
    ) -> Sensitive:
        codes, counts = self.count_code_tuples((*columns, column))
        nodes = codes[:, :-1]
        if lookup is not None:
            nodes = np.stack([lookup[j][nodes[:, j]] for j in range(nodes.shape[1])], axis=1)
        places = find_positions(tuples, nodes)
        return self.build_sensitive(column, places, codes[:, -1], counts, len(tuples))

    def build_sensitive(
        self, column: str, places: np.ndarray, codes: np.ndarray, counts: np.ndarray, number: int
    ) -> Sensitive:
        values = self.values(column)
        present = np.unique(codes)
        filled = present[present > 0]
        ordered, numeric, place = sort_sensitive_values(
            column, [values.texts[code - 1] for code in filled.tolist()],
            len(filled) < len(present), self.kinds.get(column),
        )  # fmt: skip
        position = np.zeros(len(values.texts) + 1, dtype=np.int64)
        position[filled], position[0] = place[:-1], place[-1]
        return Sensitive.from_counts(
            column, ordered, numeric, places, position[codes], counts, number
        )

    def remove_suppressed(self) -> tuple[StoredTable, int]:
        if SUPPRESSED not in self.columns:
            return self, 0
        marks = self.count_column_values(SUPPRESSED)
        if marks.missing or not {*marks.counts} <= {"0", "1"}:
            return self, 0
        suppressed = marks.counts.get("1", 0)
        return (self._drop_records((SUPPRESSED, "1")) if suppressed else self), suppressed


def _import_engine(engine: str) -> Any:
    try:
        return import_module(f"kanon.sources.engines.{engine}")
    except ImportError:
        raise TableError(
            "To work on a table where it is stored, you need a package that is not installed: run "
            f"pip install {'pyspark' if engine == 'spark' else '-r requirements.txt'}."
        ) from None
