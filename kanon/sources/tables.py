"""The interfaces of tables and sources, wherever their rows are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from kanon.sources.repairs import Repair, RepairResult


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A few records before and after anonymisation, for a preview.

    Attributes
    ----------
    before, after
        The original and the released records, in the same order.
    rise : numpy.ndarray, shape (rows, m)
        How far each quasi-identifier rose, as a share of its height: 0 for an unchanged value, 1
        for a leaf that became the root.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    rise: np.ndarray


class Source(Protocol):
    """A table with its roles and hierarchies: counted once, released any number of times."""

    classes: EquivalenceClasses

    def build_column_histogram(self, column: str) -> Sensitive:
        """How often each value of any column occurs in each class."""

    @property
    def table(self) -> Table:
        """The records, without roles and hierarchies."""

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The identifiers that are replaced by random labels instead of dropped."""

    def list_unchanged_columns(self) -> tuple[str, ...]:
        """The columns that are released unchanged, including sensitive ones."""

    def get_excerpt(self, recoding: Recoding, most: int, position: int | None = None) -> Excerpt:
        """Some records of the release, or of one released class, before and after."""


class Table(Protocol):
    """The records of a table, which are read only as counts and small previews."""

    in_engine: ClassVar[bool]  # whether an engine has the rows, and no file in memory

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the table."""

    @property
    def n_records(self) -> int:
        """The number of records."""

    def head(self, rows: int) -> pd.DataFrame:
        """Some records, for a preview."""

    def distinct(self) -> dict[str, DistinctCounts]:
        """The number of distinct values of each column."""

    def count_distinct(self, column: str) -> DistinctCounts:
        """The number of distinct values of one column."""

    def frequencies(self, column: str) -> Frequencies:
        """How many values of a column have each number of records."""

    def count_column_values(self, column: str) -> ValueCounts:
        """The distinct values of a column with their numbers of records."""

    def set_kinds(self, kinds: Mapping[str, ColumnKind]) -> Table:
        """The same table, with the texts of some columns read as these kinds."""

    def incomplete(self, columns: Sequence[str]) -> int:
        """The number of records that lack a value in one of the columns."""

    def complete(self, columns: Sequence[str]) -> Table:
        """The table without the records that lack a value in one of the columns.

        Raises
        ------
        TableError
            No record is left.
        """

    def replace_by_groups(self, parts: Sequence[Coarsening]) -> Table:
        """The table with some columns at a level of their hierarchies.

        Raises
        ------
        CoverageError
            A hierarchy lacks values of its column.
        TableError
            An engine has the rows.
        """

    def build_classes(
        self, columns: Sequence[str], sensitive: Sequence[str] = (), person: str | None = None
    ) -> EquivalenceClasses:
        """The classes by unchanged columns; a missing cell counts as a value.

        Raises
        ------
        PlanError
            Some records lack their person.
        """

    def count_class_sizes(self, columns: Sequence[str]) -> Frequencies:
        """How many classes by some columns have each number of records; missing is a value.

        Raises
        ------
        PlanError
            No column is named, or the table lacks one.
        TableError
            The table has no records, or an engine cannot group by so many values.
        """

    def remove_suppressed(self) -> tuple[Table, int]:
        """A release without the blanked rows of suppressed records, and their number.

        A column ``suppressed`` of 0 and 1 marks them. They do not form a class.
        """

    @property
    def repairs(self) -> tuple[RepairResult, ...]:
        """What was done to repair the table, step by step."""

    @property
    def unrepaired(self) -> Table:
        """The table as it was read."""

    def repair(
        self, steps: Iterable[Repair] | None, kinds: Mapping[str, ColumnKind] | None = None
    ) -> Table:
        """See :meth:`kanon.sources.repairs.RepairableTable.repair`."""
