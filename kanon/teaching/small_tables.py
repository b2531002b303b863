"""Tables small enough to work by hand: read from an exercise file, counted, raised."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import pandas as pd
from pydantic import Field, StringConstraints

from kanon.algorithms.lattice_size import compute_nodes_by_level
from kanon.base.checked_json import Strict
from kanon.classes import EquivalenceClasses
from kanon.errors import ExerciseError, KanonError, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.files import parse_nodes, to_nodes
from kanon.hierarchy.lines import check_number
from kanon.recoding import Recoding
from kanon.schema import Role, Schema
from kanon.sources.memory import MemorySource

MOST_RECORDS = 30  # the most records of a table that is worked by hand

MOST_COLUMNS = 12  # more do not fit on a sheet

T = TypeVar("T")

Cell = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ExerciseColumn(Strict):
    role: Role
    nodes: list[dict[str, Any]] | None = None


class ExerciseTable(Strict):
    columns: dict[Cell, ExerciseColumn] = Field(min_length=1, max_length=MOST_COLUMNS)
    records: list[list[Cell]] = Field(min_length=1, max_length=MOST_RECORDS)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, schema: Schema, hierarchies: Mapping[str, Hierarchy]
    ) -> ExerciseTable:
        columns = {
            name: ExerciseColumn(
                role=role,
                nodes=to_nodes(hierarchies[name]) if role is Role.QUASI_IDENTIFIER else None,
            )
            for name, role in schema.roles.items()
        }
        return cls(columns=columns, records=frame[list(columns)].astype(str).to_numpy().tolist())

    def build_small_table(self) -> SmallTable:
        for number, record in enumerate(self.records, start=1):
            if len(record) != len(self.columns):
                raise ExerciseError(
                    f"Record {number} has {len(record)} cells; it must have {len(self.columns)}, "
                    "one for each column."
                )
        frame = pd.DataFrame(self.records, columns=list(self.columns), dtype="str")
        trees = {}
        for name, column in self.columns.items():
            if column.role is not Role.QUASI_IDENTIFIER:
                continue
            if column.nodes is None:
                raise ExerciseError(
                    f"The quasi-identifier {quote(name)} has no tree; write it as its 'nodes'."
                )
            try:
                check_number("nodes", len(column.nodes))
                trees[name] = parse_nodes(column.nodes)
            except KanonError as error:
                raise error.add_place(f"Hierarchy of column {quote(name)}") from None
        schema = Schema({name: column.role for name, column in self.columns.items()})
        return SmallTable(frame, schema, MemorySource(frame, schema, trees))


@dataclass(frozen=True, eq=False)
class SmallTable:
    frame: pd.DataFrame  # the records
    schema: Schema  # the role of each column
    source: MemorySource  # the counted table: classes, trees, and the class of each record
    _results: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def classes(self) -> EquivalenceClasses:
        return self.source.classes

    def write_class(self, nodes: Sequence[int]) -> str:
        """The values of a class, by their nodes."""
        return format_tuple(self.get_labels(nodes))

    def get_labels(self, nodes: Sequence[int]) -> tuple[str, ...]:
        pairs = zip(self.classes.hierarchies, nodes, strict=True)
        return tuple(tree.labels[node] for tree, node in pairs)

    def get_or_compute(self, key: Hashable, compute: Callable[[], T]) -> T:
        if key not in self._results:
            self._results[key] = compute()
        result: T = self._results[key]
        return result


def raise_to_levels(classes: EquivalenceClasses, levels: Mapping[str, int]) -> Recoding:
    """Raise every value to the level of its column; other columns stay."""
    unknown_columns = [name for name in levels if name not in classes.attributes]
    if unknown_columns:
        raise ExerciseError(f"The column {quote(unknown_columns[0])} is not a quasi-identifier.")
    targets = classes.nodes.copy()
    for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True)):
        level = levels.get(name, 0)
        if not 0 <= level < tree.height:
            raise ExerciseError(
                f"The column {quote(name)} has no level {level}; its levels are 0 to "
                f"{tree.height - 1}."
            )
        targets[:, j] = compute_nodes_by_level(tree)[level][targets[:, j]]
    return Recoding.from_targets(classes, targets)


def format_tuple(labels: tuple[str, ...]) -> str:
    return f"({', '.join(labels)})"
