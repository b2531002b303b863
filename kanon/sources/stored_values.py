"""Queries of a stored table: the values of its columns and its groups, and their answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, and_
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon.base.progress import Progress, ignore_progress
from kanon.base.values import Frequencies, encode_texts
from kanon.classes import group_tuples, sum_tuples
from kanon.errors import PlanError, TableError, quote
from kanon.schema import check_columns
from kanon.settings import describe_exceeded_limit, get_settings
from kanon.sources.limits import check_classes
from kanon.sources.memory import rank_alphabetically
from kanon.sources.missing import mark_missing
from kanon.sources.typed_files import convert_arrow_column
from kanon.stored_classes import PartWork, TupleNumbers

QUERY_PREFIX = "kanon:"  # prefix of columns that exist only within a query

EXCERPT = 200  # the most records of a preview

_COUNT = f"{QUERY_PREFIX} records"

_CACHE_BYTES = 1 << 28
"""The most bytes of groups that are cached, so that redrawing a page needs no query."""

Groups = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class StoredAnswers:
    """Answers of earlier queries; they are passed on to other processes."""

    sizes: dict[str, int] = field(default_factory=dict)  # ``records``, and ``blank`` rows
    values: dict[str, ColumnValues] = field(default_factory=dict)  # by column
    # by omitted records and columns: the latest groupings, and numbers
    groups: dict[Any, Groups] = field(default_factory=dict)
    incomplete: dict[Any, int] = field(default_factory=dict)
    frequencies: dict[Any, Frequencies] = field(default_factory=dict)
    n_classes: dict[Any, int] = field(default_factory=dict)

    def get_groups(self, key: Any, compute: Callable[[], Groups]) -> Groups:
        """A cached grouping, or a new one; the least recently used one is dropped."""
        groups = self.groups.pop(key, None) or compute()
        self.groups[key] = groups
        self._limit_groups()
        return groups

    def _limit_groups(self) -> None:
        def measure_groups() -> int:
            return sum(codes.nbytes + counts.nbytes for codes, counts in self.groups.values())

        while len(self.groups) > 1 and measure_groups() > _CACHE_BYTES:
            del self.groups[next(iter(self.groups))]

    def collect_answers(self, other: StoredAnswers) -> None:
        for name, known in vars(self).items():
            known.update(vars(other)[name])
        self._limit_groups()


class TableConnection:
    def __init__(
        self,
        rows: Any,
        markers: tuple[str, ...],
        answers: StoredAnswers,
        check: Callable[[], None] = lambda: None,
        knows_nan: bool = True,
    ) -> None:
        self._knows_nan = knows_nan
        self.rows = rows
        self.markers = markers
        self.asked = answers
        self._check = check
        self._classes: dict[Any, Any] = {}
        self._lock = threading.RLock()  # redrawn pages query from another thread

    def fetch(self, wanted: Any) -> Any:
        """Run an expression, one at a time, and return its few rows as an Arrow table."""
        with self._lock:
            self._check()
            return self.rows.fetch(wanted)

    def show_other_rows(self, rows: Any, answers: StoredAnswers) -> TableConnection:
        """The same connection, to other rows made from its own."""
        other = copy(self)
        other.rows, other.asked = replace(self.rows, expression=rows), answers
        other._classes = {}
        return other

    def count(self, rows: Any) -> int:
        return int(self.fetch(rows.aggregate(n=rows.count()))["n"][0].as_py())

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of ``records``, and of ``blank`` rows without any value."""
        known = self.asked.sizes
        if not known:
            rows = self.rows.expression
            first = self._is_blank(rows[rows.columns[0]])
            counts = self.fetch(rows.aggregate(n=rows.count(), first=first.sum())).to_pylist()[0]
            blank = 0
            if counts["first"]:  # rarely: only then all columns are read
                rows = rows.filter(self._has_blank_rows(rows))
                blank = self.count(rows)
            known |= {"records": counts["n"] - blank, "blank": blank}
        return known

    @property
    def expression(self) -> Any:
        """The rows, without blank ones."""
        rows = self.rows.expression
        return rows.filter(~self._has_blank_rows(rows)) if self.sizes["blank"] else rows

    def _has_blank_rows(self, rows: Any) -> Any:
        return reduce(and_, (self._is_blank(rows[column]) for column in rows.columns))

    def _is_blank(self, cells: Any) -> Any:
        if cells.type().is_string():
            return cells.isnull() | (cells.strip() == "")
        lacking = cells.isnull()
        has_nan = cells.type().is_floating() and self._knows_nan
        return lacking | cells.isnan() if has_nan else lacking

    def values(self, column: str) -> ColumnValues:
        known = self.asked.values
        if column not in known:
            check_columns(self.rows.expression.columns, [column])
            rows = self.expression
            grouped = rows.group_by(value=rows[column]).aggregate(records=rows.count())
            limit = get_settings().distinct_values
            fetched = self.fetch(grouped.limit(limit + 1))
            if fetched.num_rows > limit:
                what = (
                    f"Column {quote(column)} has more distinct values than a hierarchy can hold "
                    "(make it an identifier, or coarsen it in the table)"
                )
                raise TableError(describe_exceeded_limit("distinct_values", what))
            known[column] = ColumnValues.read(column, fetched, self.markers)
        return known[column]

    def count_code_tuples(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        listed, wanted, numbers = self._number_tuples(columns, leaving)
        most = get_settings().classes
        fetched = self.fetch(listed.limit(most + 1))
        check_classes(fetched.num_rows)
        # No record may be lost or counted twice, as with values that the engine confuses.
        expected = (self.values(columns[0]).records.sum(), None)
        if not leaving and pc.sum(fetched[_COUNT]).as_py() not in expected:
            raise TableError(
                "The engine finds a different number of records when it groups by several columns "
                "than when it groups by one: its answers cannot be trusted for this table. Export "
                "the table as Parquet."
            )
        tuples = stack_columns(fetched, wanted)
        counts = fetched[_COUNT].to_numpy().astype(np.int64)
        del fetched
        tuples, counts = sum_tuples(tuples, counts, tuples)
        return numbers.decode_tuples(tuples), counts

    def count_class_sizes(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]] = ()
    ) -> Frequencies:
        listed, wanted, _ = self._number_tuples(columns, leaving)
        classes = listed.group_by(wanted).aggregate(records=listed[_COUNT].sum())
        return sort_frequencies(
            self.fetch(classes.group_by("records").aggregate(values=classes.count()))
        )

    def classes(self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]) -> Any:
        key = (tuple(leaving), tuple(columns))
        if key not in self._classes:
            listed, wanted, _ = self._number_tuples(columns, leaving)
            names = {f"key {place}": listed[name] for place, name in enumerate(wanted)}
            rows = listed.select(**names, records=listed[_COUNT].cast("int64"))
            if any(self.values(column).ambiguous for column in columns):
                rows = rows.group_by([*names]).aggregate(records=lambda t: t["records"].sum())
                rows = rows.mutate(records=rows["records"].cast("int64"))
            self._classes[key] = self.keep(rows, text="Counting the classes")
        return self._classes[key]

    def drop_classes(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]
    ) -> None:
        self.drop(self._classes.pop((tuple(leaving), tuple(columns))))

    def keep(
        self, wanted: Any, progress: Progress = ignore_progress, text: str = "Counting"
    ) -> Any:
        """The rows of an expression, computed once and kept by the engine."""
        with self._lock:
            self._check()
            return self._workspace.keep(wanted, progress, text)

    def drop(self, kept: Any) -> None:
        with self._lock:
            self._workspace.drop(kept)

    def run_by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress,
    ) -> Any:  # fmt: skip
        with self._lock:
            text = "Merging classes in parts"
            return self._workspace.run_by_part(kept, part, sizes, work, schema, progress, text)

    @property
    def _workspace(self) -> Any:
        if self.rows.workspace is None:
            raise PlanError(
                "The engine that holds the table cannot keep tables of its own, so it cannot "
                "release a table with this many classes: copy the table to Parquet first."
            )
        return self.rows.workspace

    def _number_tuples(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]
    ) -> tuple[Any, list[str], TupleNumbers]:
        import ibis

        rows = self.expression
        for column, text in leaving:
            rows = rows.filter(self.values(column).select_other_cells(rows[column], text))
        grouped = rows.group_by(
            **{f"{QUERY_PREFIX} value {j}": rows[column] for j, column in enumerate(columns)}
        ).aggregate(**{_COUNT: rows.count()})
        numbers = TupleNumbers([len(self.values(column).texts) + 1 for column in columns])
        for number in numbers.numbers:
            for j, factor in number.items():
                values = self.values(columns[j])
                known, part = f"{QUERY_PREFIX} known {j}", f"{QUERY_PREFIX} part {j}"
                codes = ibis.memtable(values.build_lookup(known, part, values.codes * factor))
                grouped = grouped.left_join(codes, [(f"{QUERY_PREFIX} value {j}", known)])
        wanted = {
            f"{QUERY_PREFIX} number {place}": reduce(
                add, (grouped[f"{QUERY_PREFIX} part {j}"].fill_null(0) for j in number)
            )
            for place, number in enumerate(numbers.numbers)
        }
        selected = grouped.select(**wanted, **{_COUNT: grouped[_COUNT]})
        return selected, [*wanted], numbers


def stack_columns(table: Any, names: Sequence[str]) -> np.ndarray:
    return np.stack([table[name].to_numpy() for name in names], axis=1)


def sort_frequencies(table: Any) -> Frequencies:
    sizes, values = (table[name].to_numpy().astype(np.int64) for name in ("records", "values"))
    order = np.argsort(sizes)
    return Frequencies(sizes[order], values[order])


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The distinct values of a column: of the engine, as text, and as codes."""

    raw: Any  # the values of the engine
    texts: list[str]  # the distinct texts in alphabetical order
    codes: np.ndarray  # per raw value 0 if it is missing, else from 1 the position of its text
    records: np.ndarray  # per raw value its number of records

    @classmethod
    def read(cls, column: str, fetched: Any, markers: Sequence[str]) -> ColumnValues:
        raw = fetched["value"].combine_chunks()
        if pa.types.is_timestamp(raw.type) and raw.type.tz is not None:
            raise TableError(
                f"Column {quote(column)} holds times with a time zone, which an engine shows in a "
                "time zone of its own: convert them to local times or days."
            )
        try:
            cells = convert_arrow_column(pa.chunked_array([raw]), column)
            cells = mark_missing(pd.DataFrame({"value": cells}), markers)[0]["value"]
            codes, texts = encode_texts(cells)
        except (pa.ArrowException, ValueError, OverflowError):
            raise TableError(
                f"Column {quote(column)} holds values that cannot be written as text: convert it, "
                "or leave it out."
            ) from None
        if len(pc.unique(raw)) < len(raw):
            raise TableError(
                f"Column {quote(column)} has different values that its type treats as equal: "
                "convert it to text."
            )
        return cls(
            raw, sorted(texts), rank_alphabetically(texts)[codes], fetched["records"].to_numpy()
        )

    def build_lookup(self, known: str, name: str, of_value: np.ndarray) -> Any:
        filled = self.raw.is_valid()
        return pa.table({known: self.raw.filter(filled), name: pa.array(of_value).filter(filled)})

    @property
    def ambiguous(self) -> bool:
        filled = self.raw.is_valid().to_numpy(zero_copy_only=False)
        codes = np.append(self.codes[filled], [0] if self.raw.null_count else [])
        return len(np.unique(codes)) < len(codes)

    @property
    def missing(self) -> int:
        return int(self.records[self.codes == 0].sum())

    def find_codes(self, cells: Any) -> np.ndarray:
        places = pc.index_in(cells.combine_chunks().cast(self.raw.type), self.raw)
        codes = self.codes[places.fill_null(0).to_numpy()]
        return codes if self.raw.null_count else np.where(places.is_null(), 0, codes)

    def code(self, text: str | None) -> int:
        return 0 if text is None else self.texts.index(text) + 1

    def select_other_cells(self, cells: Any, *texts: str | None) -> Any:
        """Whether cells of an expression are none of these texts, or not missing."""
        import ibis

        removed = self._list_raw(texts)
        stay = cells.notin(removed) if removed else ibis.literal(True)
        return cells.notnull() & stay if None in texts else cells.isnull() | stay

    def replace_cells(self, rows: Any, column: str, values: Mapping[str | None, Any]) -> Any:
        """Rows of an expression with texts of a column replaced by other values of its type."""
        import ibis

        cells = rows[column]
        texts_by_value: dict[Any, list[str | None]] = {}
        for text, value in values.items():
            texts_by_value.setdefault(value, []).append(text)
        cases = [
            (cells.isin(self._list_raw(texts)), ibis.literal(value, type=cells.type()))
            for value, texts in texts_by_value.items()
        ]
        return rows.mutate(**{column: ibis.cases(*cases, else_=cells)}) if cases else rows

    def _list_raw(self, texts: Collection[str | None]) -> list[Any]:
        """The values of the engine that are one of these texts; None stands for missing cells."""
        wanted = {*texts}
        codes = [code for code, text in enumerate([None, *self.texts]) if text in wanted]
        values = self.raw.filter(pa.array(np.isin(self.codes, codes))).drop_null()
        return list(values.to_pylist())


def find_positions(tuples: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each wanted tuple among distinct tuples in canonical order."""
    both = np.vstack([tuples, wanted])
    sizes = (both.max(axis=0) + 1).tolist()
    _, _, group = group_tuples(both, np.zeros(len(both), dtype=np.int64), sizes)
    return group[len(tuples) :]


def convert_to_frame(rows: Any, markers: Sequence[str]) -> pd.DataFrame:
    """Rows as a pandas table, in which markers are missing cells."""
    columns = {name: convert_arrow_column(rows[name], name) for name in rows.column_names}
    return mark_missing(pd.DataFrame(columns), markers)[0]
