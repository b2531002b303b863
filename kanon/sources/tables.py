"""What the rest of kanon asks of a table, wherever its rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd

from kanon.base.kinds import ColumnKind
from kanon.base.values import DistinctCounts, Frequencies, ValueCounts
from kanon.classes import EquivalenceClasses
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive
from kanon.sources.coarsening import Coarsening


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A few records before and after, for a preview.

    Attributes
    ----------
    before, after
        The records as they were and as they are released, row by row the same.
    rise : numpy.ndarray, shape (rows, m)
        How far each quasi-identifier rose, as a share of its height: 0 where the value is as it
        was, 1 where a leaf rose to the root.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    rise: np.ndarray


class Source(Protocol):
    """A table with its roles and hierarchies: counted once, released as often as is asked for."""

    classes: EquivalenceClasses

    def histogram_of(self, column: str) -> Sensitive:
        """How often each value of any column occurs in each class."""

    @property
    def table(self) -> Table:
        """The records."""

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The identifiers that are replaced by random labels instead of dropped."""

    def passed_through(self) -> tuple[str, ...]:
        """The columns that leave as they are, sensitive ones among them."""

    def excerpt(self, recoding: Recoding, most: int, position: int | None = None) -> Excerpt:
        """At most so many records of the release, or of one released class, before and after."""


class Table(Protocol):
    """The records of a table: what they say is asked for in numbers, never as a whole."""

    in_engine: ClassVar[bool]  # whether an engine has the rows, and no file in memory

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def n_records(self) -> int:
        """n."""

    def head(self, rows: int) -> pd.DataFrame:
        """Some records, for a preview."""

    def distinct(self) -> dict[str, DistinctCounts]:
        """Per column how many distinct values it has."""

    def distinct_of(self, column: str) -> DistinctCounts:
        """How many distinct values one column has."""

    def frequencies(self, column: str) -> Frequencies:
        """How many values of a column have how many records; of any number of values."""

    def counted(self, column: str) -> ValueCounts:
        """The distinct values of a column with their numbers of records."""

    def with_kinds(self, kinds: Mapping[str, ColumnKind]) -> Table:
        """The same table, the texts of some columns read as of these kinds."""

    def incomplete(self, columns: Sequence[str]) -> int:
        """The number of records that lack a value in one of the columns."""

    def complete(self, columns: Sequence[str]) -> Table:
        """The table without the records that lack a value in one of the columns.

        Raises
        ------
        TableError
            No record is left.
        """

    def coarsened(self, parts: Sequence[Coarsening]) -> Table:
        """The table with some columns at a level of their hierarchies.

        Raises
        ------
        CoverageError
            A hierarchy lacks values of its column.
        TableError
            An engine has the rows.
        """

    def classes_of(
        self, columns: Sequence[str], sensitive: Sequence[str] = (), person: str | None = None
    ) -> EquivalenceClasses:
        """The classes by some columns as they are; a missing cell counts as a value.

        Raises
        ------
        PlanError
            Some records do not say whom they are about.
        """

    def group_sizes(self, columns: Sequence[str]) -> Frequencies:
        """How many classes by some columns have how many records; a missing cell is a value.

        Raises
        ------
        PlanError
            No column is named, or the table lacks one.
        TableError
            The table has no records, or an engine cannot group by so many values.
        """

    def without_suppressed(self) -> tuple[Table, int]:
        """A release without its blanked rows of suppressed records, and how many those were.

        They are marked by 1 in a column ``suppressed`` of nothing but 0 and 1. Counted as they
        stand they would form a class, which they are not.
        """
