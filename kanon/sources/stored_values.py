"""What is known of the columns of a stored table, and its groups, as an engine found them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, and_
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon.base.progress import Progress, no_progress
from kanon.base.values import Frequencies, canonical_texts
from kanon.classes import group_tuples, sum_tuples
from kanon.errors import PlanError, TableError, quoted
from kanon.schema import check_columns
from kanon.settings import exceeded, settings
from kanon.sources.limits import check_classes
from kanon.sources.memory import alphabetical
from kanon.sources.missing import mark_missing
from kanon.sources.typed_files import typed_column
from kanon.stored_classes import PartWork, TupleNumbers

OURS = "kanon:"  # what the names of columns begin with that exist within a query alone

EXCERPT = 200  # the most records that a preview is made of

_COUNT = f"{OURS} records"

_KEPT = 1 << 28
"""So many bytes of groups are kept, so that a page that is drawn again asks for none."""

Groups = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class StoredAnswers:
    """What was asked about a table once; it goes along to another process."""

    # the numbers of ``records``, and of ``blank`` ones, which are none
    sizes: dict[str, int] = field(default_factory=dict)

    # the columns whose values were asked for
    values: dict[str, Values] = field(default_factory=dict)
    # the last groupings, by what they are of
    groups: dict[Any, Groups] = field(default_factory=dict)
    # numbers of incomplete records, how often values occur, and numbers of classes, by what they
    # are of
    incomplete: dict[Any, int] = field(default_factory=dict)
    frequencies: dict[Any, Frequencies] = field(default_factory=dict)
    n_classes: dict[Any, int] = field(default_factory=dict)

    def grouped(self, key: Any, make: Callable[[], Groups]) -> Groups:
        """A grouping that is known, or made now; the one asked for longest ago gives way."""
        found = self.groups.pop(key, None) or make()
        self.groups[key] = found
        self._bound()
        return found

    def _bound(self) -> None:
        while len(self.groups) > 1 and sum(map(_size, self.groups.values())) > _KEPT:
            del self.groups[next(iter(self.groups))]

    def learn(self, other: StoredAnswers) -> None:
        for name, known in vars(self).items():
            known.update(vars(other)[name])
        self._bound()


def _size(groups: Groups) -> int:
    return groups[0].nbytes + groups[1].nbytes


class TableConnection:
    def __init__(
        self,
        rows: Any,
        markers: tuple[str, ...],
        asked: StoredAnswers,
        check: Callable[[], None] = lambda: None,
        knows_nan: bool = True,
    ) -> None:
        self._knows_nan = knows_nan
        self.rows = rows
        self.markers = markers
        self.asked = asked
        self._check = check
        self._classes: dict[Any, Any] = {}
        self._asking = threading.RLock()  # a page that is drawn again asks from another thread

    def fetch(self, wanted: Any) -> Any:
        """Run an expression, one at a time; returns its few rows as an Arrow table."""
        with self._asking:
            self._check()
            return self.rows.fetch(wanted)

    def count(self, rows: Any) -> int:
        return int(self.fetch(rows.aggregate(n=rows.count()))["n"][0].as_py())

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of ``records``, and of rows without any value, which are ``blank``."""
        known = self.asked.sizes
        if not known:
            rows = self.rows.expression
            first = self._is_blank(rows[rows.columns[0]])
            counts = self.fetch(rows.aggregate(n=rows.count(), first=first.sum())).to_pylist()[0]
            blank = 0
            if counts["first"]:  # seldom: only then all columns are read
                rows = rows.filter(self._are_blank(rows))
                blank = self.count(rows)
            known |= {"records": counts["n"] - blank, "blank": blank}
        return known

    @property
    def expression(self) -> Any:
        """The rows, without blank ones."""
        rows = self.rows.expression
        return rows.filter(~self._are_blank(rows)) if self.sizes["blank"] else rows

    def _are_blank(self, rows: Any) -> Any:
        return reduce(and_, (self._is_blank(rows[column]) for column in rows.columns))

    def _is_blank(self, cells: Any) -> Any:
        if cells.type().is_string():
            return cells.isnull() | (cells.strip() == "")
        lacking = cells.isnull()
        return (
            lacking | cells.isnan() if cells.type().is_floating() and self._knows_nan else lacking
        )

    def values(self, column: str) -> Values:
        known = self.asked.values
        if column not in known:
            check_columns(self.rows.expression.columns, [column])
            rows = self.expression
            grouped = rows.group_by(value=rows[column]).aggregate(records=rows.count())
            most = settings().distinct_values
            found = self.fetch(grouped.limit(most + 1))
            if found.num_rows > most:
                raise TableError(
                    exceeded(
                        "distinct_values",
                        f"Column {quoted(column)} has more distinct values than a hierarchy can "
                        "hold (make it an identifier, or coarser before)",
                    )
                )
            known[column] = Values.read(column, found, self.markers)
        return known[column]

    def coded(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        listed, wanted, numbers = self._numbered(columns, leaving)
        most = settings().classes
        found = self.fetch(listed.limit(most + 1))
        check_classes(found.num_rows)
        # No record may be lost or counted twice, as by values that pass for others.
        expected = (self.values(columns[0]).records.sum(), None)
        if not leaving and pc.sum(found[_COUNT]).as_py() not in expected:
            raise TableError(
                "The engine counts other numbers of records by several columns than by one: its "
                "answers cannot be trusted for this table."
            )
        tuples = columns_of(found, wanted)
        counts = found[_COUNT].to_numpy().astype(np.int64)
        del found
        tuples, counts = sum_tuples(tuples, counts, tuples)
        return numbers.unpacked(tuples), counts

    def group_sizes(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]] = ()
    ) -> Frequencies:
        listed, wanted, _ = self._numbered(columns, leaving)
        classes = listed.group_by(wanted).aggregate(records=listed[_COUNT].sum())
        return sizes_of(self.fetch(classes.group_by("records").aggregate(values=classes.count())))

    def classes(self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]) -> Any:
        key = (tuple(leaving), tuple(columns))
        if key not in self._classes:
            listed, wanted, _ = self._numbered(columns, leaving)
            names = {f"key {place}": listed[name] for place, name in enumerate(wanted)}
            rows = listed.select(**names, records=listed[_COUNT].cast("int64"))
            if any(self.values(column).ambiguous for column in columns):
                rows = rows.group_by([*names]).aggregate(records=lambda t: t["records"].sum())
                rows = rows.mutate(records=rows["records"].cast("int64"))
            self._classes[key] = self.keep(rows, text="Counting the classes")
        return self._classes[key]

    def forget_classes(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]
    ) -> None:
        self.drop(self._classes.pop((tuple(leaving), tuple(columns))))

    def keep(self, wanted: Any, progress: Progress = no_progress, text: str = "Counting") -> Any:
        """What an expression yields, computed once and kept by the engine."""
        with self._asking:
            self._check()
            return self._workspace.keep(wanted, progress, text)

    def drop(self, kept: Any) -> None:
        with self._asking:
            self._workspace.drop(kept)

    def by_part(
        self, kept: Any, part: str, sizes: Mapping[int, int], work: PartWork, schema: pa.Schema,
        progress: Progress,
    ) -> Any:  # fmt: skip
        with self._asking:
            text = "Merging classes in parts"
            return self._workspace.by_part(kept, part, sizes, work, schema, progress, text)

    @property
    def _workspace(self) -> Any:
        if self.rows.workspace is None:
            raise PlanError(
                "The engine that has the table keeps no tables of its own, so a table of so many "
                "classes cannot be released there; copy it to Parquet files first."
            )
        return self.rows.workspace

    def _numbered(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]]
    ) -> tuple[Any, list[str], TupleNumbers]:
        import ibis

        rows = self.expression
        for column, text in leaving:
            rows = rows.filter(self.values(column).staying(rows[column], text))
        grouped = rows.group_by(
            **{f"{OURS} value {j}": rows[column] for j, column in enumerate(columns)}
        ).aggregate(**{_COUNT: rows.count()})
        numbers = TupleNumbers([len(self.values(column).texts) + 1 for column in columns])
        for number in numbers.numbers:
            for j, each in number.items():
                values = self.values(columns[j])
                known, part = f"{OURS} known {j}", f"{OURS} part {j}"
                codes = ibis.memtable(values.map_of(known, part, values.codes * each))
                grouped = grouped.left_join(codes, [(f"{OURS} value {j}", known)])
        wanted = {
            f"{OURS} number {place}": reduce(
                add, (grouped[f"{OURS} part {j}"].fill_null(0) for j in number)
            )
            for place, number in enumerate(numbers.numbers)
        }
        listed = grouped.select(**wanted, **{_COUNT: grouped[_COUNT]})
        return listed, [*wanted], numbers


def columns_of(found: Any, names: Sequence[str]) -> np.ndarray:
    return np.stack([found[name].to_numpy() for name in names], axis=1)


def sizes_of(found: Any) -> Frequencies:
    sizes, values = (found[name].to_numpy().astype(np.int64) for name in ("records", "values"))
    order = np.argsort(sizes)
    return Frequencies(sizes[order], values[order])


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column: as the engine holds them, as text, and as codes."""

    raw: Any  # what the engine holds
    texts: list[str]  # the distinct texts in alphabetical order
    codes: np.ndarray  # per raw value 0 if it is missing, else from 1 the position of its text
    records: np.ndarray  # per raw value its number of records

    @classmethod
    def read(cls, column: str, found: Any, markers: Sequence[str]) -> Values:
        raw = found["value"].combine_chunks()
        if pa.types.is_timestamp(raw.type) and raw.type.tz is not None:
            raise TableError(
                f"Column {quoted(column)} holds moments with a time zone, which an engine tells "
                "in a zone of its own: convert them to local times or days."
            )
        try:
            cells = typed_column(pa.chunked_array([raw]), column)
            cells = mark_missing(pd.DataFrame({"value": cells}), markers)[0]["value"]
            codes, texts = canonical_texts(cells)
        except (pa.ArrowException, ValueError, OverflowError):
            raise TableError(
                f"Column {quoted(column)} holds values that have no text: convert it, or leave it "
                "out."
            ) from None
        if len(pc.unique(raw)) < len(raw):
            raise TableError(
                f"Column {quoted(column)} has values that its type takes for the same."
            )
        return cls(raw, sorted(texts), alphabetical(texts)[codes], found["records"].to_numpy())

    def map_of(self, known: str, name: str, of_value: np.ndarray) -> Any:
        filled = self.raw.is_valid()
        return pa.table({known: self.raw.filter(filled), name: pa.array(of_value).filter(filled)})

    @property
    def ambiguous(self) -> bool:
        """Whether several raw values have one code."""
        filled = self.raw.is_valid().to_numpy(zero_copy_only=False)
        codes = np.append(self.codes[filled], [0] if self.raw.null_count else [])
        return len(np.unique(codes)) < len(codes)

    @property
    def missing(self) -> int:
        """The number of records that lack a value."""
        return int(self.records[self.codes == 0].sum())

    def codes_of(self, cells: Any) -> np.ndarray:
        places = pc.index_in(cells.combine_chunks().cast(self.raw.type), self.raw)
        return (
            self.codes[places.fill_null(0).to_numpy()]
            if self.raw.null_count
            else np.where(places.is_null(), 0, self.codes[places.fill_null(0).to_numpy()])
        )

    def code(self, text: str | None) -> int:
        return 0 if text is None else self.texts.index(text) + 1

    def staying(self, cells: Any, text: str | None) -> Any:
        """Whether cells of an expression are not this text, or not missing."""
        import ibis

        gone = self.raw.filter(pa.array(self.codes == self.code(text))).drop_null().to_pylist()
        stay = cells.notin(gone) if gone else ibis.literal(True)
        return cells.notnull() & stay if text is None else cells.isnull() | stay


def positions(tuples: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted tuple stands among distinct tuples in canonical order; all occur there.

    >>> positions(np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, 1], [1, 0]])).tolist()
    [1, 0, 1]
    """
    both = np.vstack([tuples, wanted])
    sizes = (both.max(axis=0) + 1).tolist()
    _, _, group = group_tuples(both, np.zeros(len(both), dtype=np.int64), sizes)
    return group[len(tuples) :]


def frame(found: Any, markers: Sequence[str]) -> pd.DataFrame:
    """Few rows as pandas has them, cells with a marker missing."""
    columns = {name: typed_column(found[name], name) for name in found.column_names}
    return mark_missing(pd.DataFrame(columns), markers)[0]
