"""Cells as text, so that 39, 39.0 and "39" are one value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.kinds import ColumnKind

MISSING_LABEL = "(missing)"
"""The label of missing cells where missing counts as a value."""


@dataclass(frozen=True)
class ValueCounts:
    """The distinct values of a column: all that hierarchies and suggestions need of it.

    >>> ValueCounts({"F": 2, "M": 1}, missing=1).n_records
    4
    """

    counts: Mapping[str, int]  # texts with their numbers of records, most frequent first
    missing: int = 0  # the number of missing cells
    # how the texts are read, where a user chose it
    chosen: ColumnKind | None = field(default=None, repr=False)

    @property
    def texts(self) -> list[str]:
        """The distinct texts."""
        return list(self.counts)

    @property
    def n_records(self) -> int:
        """The number of cells, missing ones too."""
        return sum(self.counts.values()) + self.missing

    def count_cells(self, texts: Iterable[str | None]) -> int:
        """The number of cells with one of these texts; None stands for missing cells."""
        return sum(self.missing if text is None else self.counts[text] for text in texts)


@dataclass(frozen=True)
class DistinctCounts:
    """How many distinct values a column has, and in how many cells."""

    values: int  # the number of distinct values
    n_filled: int  # the number of cells that are not missing


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How many values of a column have how many records, which says how rare they are.

    >>> surnames = Frequencies.count_frequencies([1, 1, 1, 4])
    >>> surnames.sizes.tolist(), surnames.values.tolist(), surnames.distinct
    ([1, 4], [3, 1], DistinctCounts(values=4, n_filled=7))
    >>> surnames.count_rarer_than(2), surnames.count_rarer_than(5)
    (3, 7)
    """

    sizes: np.ndarray  # the numbers of records that a value has, rising
    values: np.ndarray  # how many values have each number

    @classmethod
    def count_frequencies(cls, records: Sequence[int] | np.ndarray) -> Frequencies:
        """Count from the number of records of each value; values without records do not count."""
        counts = np.asarray(records, dtype=np.int64)
        return cls(*np.unique(counts[counts > 0], return_counts=True))

    @property
    def distinct(self) -> DistinctCounts:
        """The number of values, and of the cells that are not missing."""
        return DistinctCounts(int(self.values.sum()), int(self.sizes @ self.values))

    def count_rarer_than(self, k: int) -> int:
        """The number of records whose value fewer than k records share."""
        rare = self.sizes < k
        return int(self.sizes[rare] @ self.values[rare])


_WHOLE = re.compile(r"([+-]?\d+)\.0(0*)")


def convert_to_text(value: Any) -> str:
    """Return the one text of a value.

    >>> [convert_to_text(v) for v in (39, 39.0, "39", " 39.0 ", "007", True)]
    ['39', '39', '39', '39', '007', 'True']
    >>> from decimal import Decimal
    >>> convert_to_text("1.000"), convert_to_text(Decimal("1.00"))
    ('1.000', '1')
    >>> convert_to_text(pd.Timestamp("2021-03-04"))
    '2021-03-04'
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, datetime) and value.time() == time() and value.tzinfo is None:
        return str(value).partition(" ")[0]  # pandas has no date() of years beyond 9999
    if isinstance(value, (float, np.floating)):
        # .item() is the shortest text of a float32 too: numpy's own repr names the type.
        value = int(value) if float(value).is_integer() else str(value)
    text = str(value).strip()
    match = _WHOLE.fullmatch(text)
    if match and not (match[2] and isinstance(value, str)):
        text = match[1]
    return "0" if text in ("-0", "+0") else text


def encode_texts(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Encode a column as codes into its distinct canonical texts.

    >>> codes, texts = encode_texts(pd.Series([39, "39.0", None, "x"], dtype=object))
    >>> codes.tolist(), texts
    ([0, 0, -1, 1], ['39', 'x'])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        raw_codes = column.cat.codes.to_numpy().astype(np.int64)
        raw = list(column.cat.categories)
    elif column.dtype == object:
        # pandas takes True and 1 for equal; their texts differ.
        texts = column.map(convert_to_text, na_action="ignore")
        raw_codes, distinct = pd.factorize(texts)
        raw_codes, raw = raw_codes.astype(np.int64), list(distinct)
    else:
        raw_codes, distinct = pd.factorize(column)  # missing cells get -1
        raw_codes, raw = raw_codes.astype(np.int64), list(distinct)
    position: dict[str, int] = {}
    lookup = np.empty(len(raw) + 1, dtype=np.int64)
    lookup[-1] = -1
    for index, value in enumerate(raw):
        text = convert_to_text(value)
        lookup[index] = position.setdefault(text, len(position))
    return lookup[raw_codes], list(position)
