"""What is known of the columns of a stored table, and its groups, as an engine found them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon.classes import group_tuples
from kanon.errors import TableError, quoted
from kanon.schema import check_columns
from kanon.sources.memory import alphabetical
from kanon.sources.missing import mark_missing
from kanon.sources.typed_files import typed_column
from kanon.values import canonical_texts
from kanon.words import thin

__all__ = ["EXCERPT", "MOST_VALUES", "OURS", "Connected", "Values", "frame", "positions"]

OURS = "kanon:"
"""What the names of columns begin with that exist within a query alone."""

MOST_VALUES = 1_000_000
"""So many distinct values a column may have that is grouped by: its hierarchy has them all."""

EXCERPT = 200
"""The most records that a preview is made of."""

_COUNT = f"{OURS} records"


class Connected:
    """A connection to a table, and what was asked through it once."""

    def __init__(self, rows: Any, markers: tuple[str, ...], known: dict[str, Values]) -> None:
        self.rows = rows
        self.markers = markers
        self.known = known

    def values(self, column: str) -> Values:
        """The distinct values of a column, as the engine holds them and as text.

        Raises
        ------
        TableError
            They are more than a hierarchy can hold.
        """
        if column not in self.known:
            check_columns(self.rows.expression.columns, [column])
            rows = self.rows.expression
            grouped = rows.group_by(value=rows[column]).aggregate(records=rows.count())
            found = self.rows.fetch(grouped.limit(MOST_VALUES + 1))
            if found.num_rows > MOST_VALUES:
                raise TableError(
                    f"Column {quoted(column)} has more than {thin(MOST_VALUES)} distinct values, "
                    "too many for a hierarchy: make it an identifier, or coarser before."
                )
            self.known[column] = Values.read(column, found, self.markers)
        return self.known[column]

    def coded(
        self, columns: Sequence[str], leaving: Sequence[tuple[str, str | None]] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """The distinct tuples of codes and their counts; see :meth:`StoredTable.coded`."""
        import ibis

        rows = self.rows.expression
        for column, text in leaving:
            rows = rows.filter(self.values(column).staying(rows[column], text))
        grouped = rows.group_by(
            **{f"{OURS} value {j}": rows[column] for j, column in enumerate(columns)}
        ).aggregate(**{_COUNT: rows.count()})
        sizes = []
        for j, column in enumerate(columns):
            values = self.values(column)
            sizes.append(len(values.texts) + 1)
            codes = ibis.memtable(
                values.map_of(
                    f"{OURS} known {j}", f"{OURS} code {j}", values.codes.astype(np.int32)
                )
            )
            grouped = grouped.left_join(codes, [(f"{OURS} value {j}", f"{OURS} known {j}")])
        wanted = {
            f"{OURS} code {j}": grouped[f"{OURS} code {j}"].fill_null(0)
            for j in range(len(columns))
        }
        found = self.rows.fetch(grouped.select(**wanted, **{_COUNT: grouped[_COUNT]}))
        codes = np.stack(
            [found[f"{OURS} code {j}"].to_numpy().astype(np.int32) for j in range(len(columns))],
            axis=1,
        )
        counts = found[_COUNT].to_numpy().astype(np.int64)
        del found
        codes, counts, _ = group_tuples(codes, counts, sizes)
        return codes, counts


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column: as the engine holds them, as text, and as codes.

    Attributes
    ----------
    raw : pyarrow.Array, shape (u,)
        What the engine holds.
    texts : list of str
        The distinct texts in alphabetical order.
    codes : numpy.ndarray, shape (u,), int64
        Per raw value 0 if it is missing, else from 1 the position of its text.
    records : numpy.ndarray, shape (u,), int64
        Per raw value its number of records.
    """

    raw: Any
    texts: list[str]
    codes: np.ndarray
    records: np.ndarray

    @classmethod
    def read(cls, column: str, found: Any, markers: Sequence[str]) -> Values:
        """From what an engine grouped."""
        raw = found["value"].combine_chunks()
        cells = typed_column(pa.chunked_array([raw]), column)
        cells = mark_missing(pd.DataFrame({"value": cells}), markers)[0]["value"]
        codes, texts = canonical_texts(cells)
        return cls(raw, sorted(texts), alphabetical(texts)[codes], found["records"].to_numpy())

    def map_of(self, known: str, name: str, of_value: np.ndarray) -> Any:
        """What each raw value that is not NULL stands for, to be joined."""
        filled = self.raw.is_valid()
        return pa.table({known: self.raw.filter(filled), name: pa.array(of_value).filter(filled)})

    def code(self, text: str | None) -> int:
        """The code of a text, or of a missing cell."""
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
