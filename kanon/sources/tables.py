"""Tables, and tables with roles and hierarchies, wherever their rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from kanon.base.kinds import ColumnKind
from kanon.base.values import DistinctCounts, Frequencies, ValueCounts
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, TableError, quote
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sensitive import Sensitive
from kanon.sources.coarsening import Coarsening
from kanon.sources.limits import require_records
from kanon.sources.repairs import Repair, RepairResult, Targets


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A few records before and after anonymisation, for a preview."""

    before: pd.DataFrame
    after: pd.DataFrame  # in the same order
    # how far each quasi-identifier rose, as a share of its height: 0 for an unchanged value, 1
    # for a leaf that became the root; shape (rows, m)
    rise: np.ndarray


class Table(ABC):
    """The records of a table, which are read only as counts and small previews."""

    in_engine: ClassVar[bool]  # whether an engine has the rows, and no file in memory
    columns: tuple[str, ...]  # their names, in the order of the table
    original: Any = None  # the table as it was read, of a repaired one
    repairs: tuple[RepairResult, ...] = ()  # what was done to repair it, step by step
    latest: Any = None  # repaired from this one, as a page asks for it again and again

    @property
    @abstractmethod
    def n_records(self) -> int:
        """The number of records."""

    @abstractmethod
    def head(self, rows: int) -> pd.DataFrame:
        """Some records, for a preview."""

    def distinct(self) -> dict[str, DistinctCounts]:
        """The number of distinct values of each column."""
        return {column: self.count_distinct(column) for column in self.columns}

    def count_distinct(self, column: str) -> DistinctCounts:
        """The number of distinct values of one column."""
        return self.frequencies(column).distinct

    @abstractmethod
    def frequencies(self, column: str) -> Frequencies:
        """How many values of a column have each number of records."""

    @abstractmethod
    def count_column_values(self, column: str) -> ValueCounts:
        """The distinct values of a column with their numbers of records."""

    @abstractmethod
    def set_kinds(self, kinds: Mapping[str, ColumnKind]) -> Self:
        """The same table, with the texts of some columns read as these kinds."""

    @abstractmethod
    def incomplete(self, columns: Sequence[str]) -> int:
        """The number of records that lack a value in one of the columns."""

    @abstractmethod
    def complete(self, columns: Sequence[str]) -> Self:
        """The table without the records that lack a value in one of the columns.

        Raises
        ------
        TableError
            No record is left.
        """

    @abstractmethod
    def replace_by_groups(self, parts: Sequence[Coarsening]) -> Self:
        """The table with some columns at a level of their hierarchies.

        Raises
        ------
        CoverageError
            A hierarchy lacks values of its column.
        TableError
            An engine has the rows.
        """

    @abstractmethod
    def build_classes(
        self, columns: Sequence[str], sensitive: Sequence[str] = (), person: str | None = None
    ) -> EquivalenceClasses:
        """The classes by unchanged columns; a missing cell counts as a value.

        Raises
        ------
        PlanError
            Some records lack their person.
        """

    @abstractmethod
    def count_class_sizes(self, columns: Sequence[str]) -> Frequencies:
        """How many classes by some columns have each number of records; missing is a value.

        Raises
        ------
        PlanError
            No column is named, or the table lacks one.
        TableError
            The table has no records, or an engine cannot group by so many values.
        """

    @abstractmethod
    def remove_suppressed(self) -> tuple[Self, int]:
        """A release without the blanked rows of suppressed records, and their number.

        A column ``suppressed`` of 0 and 1 marks them. They do not form a class.
        """

    @abstractmethod
    def apply_targets(self, column: str, targets: Targets, drops: bool) -> Self:
        """The table with values of a column replaced, or without their records."""

    @property
    def unrepaired(self) -> Self:
        """The table as it was read."""
        original: Self = self.original or self
        return original

    def repair(
        self, steps: Iterable[Repair] | None, kinds: Mapping[str, ColumnKind] | None = None
    ) -> Self:
        """The table as it was read with exactly these steps done, so that no step is done twice.

        Raises
        ------
        PlanError
            The table lacks a column.
        TableError
            No record is left, or a step cannot be done.
        """
        wanted = [
            (step, (kinds or {}).get(step.column) if step.compares_numbers else None)
            for step in steps or ()
        ]
        for known in filter(None, (self, self.unrepaired, self.unrepaired.latest)):
            if wanted == [(result.step, result.kind) for result in known.repairs]:
                return known
        table, results = self.unrepaired, []
        for place, (step, kind) in enumerate(wanted, 1):
            try:
                table, result = table._repair_once(step, kind)
            except (PlanError, TableError) as error:
                raise error.add_place(f"Step {place} of the repairs") from None
            results.append(result)
        table.original, table.repairs = self.unrepaired, tuple(results)
        self.unrepaired.latest = table
        return table

    def _repair_once(self, step: Repair, kind: ColumnKind | None) -> tuple[Self, RepairResult]:
        values = self.count_column_values(step.column)
        targets, unread = step.find_targets(values, kind)
        changed = values.count_cells(targets)
        if step.drop is not None and changed == values.n_records:
            raise TableError("it drops every record, so none is left.")
        absent = len(step.named_values) - len(targets) if step.named_values else 0
        result = RepairResult(step, kind, changed, absent, values.count_cells(unread))
        return self.apply_targets(step.column, targets, step.drop is not None), result


class Source(ABC):
    """A table with its roles and hierarchies: counted once, released any number of times."""

    classes: EquivalenceClasses

    def __init__(
        self,
        table: Table,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        pseudonyms: Sequence[str],
        keep_suppressed: bool,
    ) -> None:
        schema.check(table.columns)
        require_records(table.n_records)
        self.table, self._schema = table, schema
        self.pseudonyms = tuple(pseudonyms)  # identifiers replaced by random labels, not dropped
        self._keep_suppressed = keep_suppressed
        for column in schema.quasi_identifiers:
            if column not in hierarchies:
                raise PlanError(
                    f"The quasi-identifier {quote(column)} has no hierarchy; choose one for it."
                )

    @abstractmethod
    def build_column_histogram(self, column: str) -> Sensitive:
        """How often each value of any column occurs in each class."""

    def list_unchanged_columns(self) -> tuple[str, ...]:
        """The columns that are released unchanged, including sensitive ones."""
        recoded = {*self.classes.attributes, *self._schema.columns(Role.IDENTIFIER)}
        return tuple(str(column) for column in self.table.columns if column not in recoded)

    @abstractmethod
    def get_excerpt(self, recoding: Recoding, most: int, position: int | None = None) -> Excerpt:
        """Some records of the release, or of one released class, before and after."""
