"""Classes at some levels as a table that an engine keeps, each class as a few whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from kanon.classes import EquivalenceClasses, count_cells_at, sum_tuples
from kanon.hierarchy import Hierarchy
from kanon.sources.limits import check_classes
from kanon.sources.stored_values import (
    QUERY_PREFIX,
    TableConnection,
    sort_frequencies,
    stack_columns,
)
from kanon.stored_classes import ClassSizes, StoredGroups, TupleNumbers

RECORDS = "records"  # the column of a kept table with the number of records of each class


def list_key_columns(numbers: TupleNumbers, of: str = "key") -> list[str]:
    return [f"{of} {place}" for place in range(len(numbers.numbers))]


def extract_scaled_value(table: Any, numbers: TupleNumbers, column: int, of: str = "key") -> Any:
    place, factor = numbers.place(column)
    number = table[f"{of} {place}"]
    scaled = number % (factor * numbers.sizes[column])
    return scaled - number % factor if factor > 1 else scaled


def replace_keys(
    table: Any,
    old: TupleNumbers,
    new: TupleNumbers,
    become: Sequence[np.ndarray],
    to: str = "key",
) -> Any:
    import ibis

    fixed = [0] * len(new.numbers)
    parts: list[list[str]] = [[] for _ in new.numbers]
    looked_up = []
    rows = table
    for j, values in enumerate(become):
        (_, before), (place, after) = old.place(j), new.place(j)
        if (values == values[0]).all():  # as at the root: nothing to look up
            fixed[place] += int(values[0]) * after
            continue
        nodes, name = np.arange(len(values)), f"{QUERY_PREFIX} part {j}"
        rows = rows.mutate(**{name: extract_scaled_value(rows, old, j)})
        if before != after or not np.array_equal(values, nodes):
            number, known = f"{QUERY_PREFIX} number {j}", f"{name}, known"
            lookup = pa.table({number: nodes * before, known: values.astype(np.int64) * after})
            looked_up.append((name, number, lookup))
            name = known
        parts[place].append(name)
    for name, number, lookup in looked_up:
        rows = rows.inner_join(ibis.memtable(lookup), [(name, number)])
    total = {
        name: reduce(add, (rows[p] for p in parts[place]), ibis.literal(fixed[place], "int64"))
        for place, name in enumerate(list_key_columns(new, to))
    }
    others = [name for name in table.columns if name not in total]
    selected = rows.select(*others, **{name: cell.cast("int64") for name, cell in total.items()})
    return selected.filter(True)  # so that the next join uses these columns, not earlier ones


def add_keys(
    connection: TableConnection,
    rows: Any,
    columns: Sequence[str],
    numbers: TupleNumbers,
    of_code: Sequence[np.ndarray],
    of: str,
) -> Any:
    import ibis

    sums: list[list[Any]] = [[] for _ in numbers.numbers]
    for j, (column, become) in enumerate(zip(columns, of_code, strict=True)):
        place, factor = numbers.place(j)
        known, part = f"{QUERY_PREFIX} known {j}", f"{QUERY_PREFIX} part {j}"
        values = connection.values(column)
        lookup = values.build_lookup(known, part, become[values.codes].astype(np.int64) * factor)
        rows = rows.left_join(ibis.memtable(lookup), [(column, known)])
        sums[place].append((part, int(become[0]) * factor))
    total = {
        name: reduce(add, (rows[part].fill_null(missing) for part, missing in sums[place]))
        for place, name in enumerate(list_key_columns(numbers, of))
    }
    return rows.mutate(**total)


def count_cells(connection: TableConnection, branches: Sequence[tuple[Any, Any]]) -> Any:
    import ibis

    queries = []
    for column, (rows, cells) in enumerate(branches):
        counted = rows.group_by(value=cells).aggregate(
            classes=lambda t: t.count(), records=lambda t: t[RECORDS].sum()
        )
        numbers = {name: counted[name].cast("int64") for name in ("value", "classes", "records")}
        queries.append(counted.select(column=ibis.literal(column, "int64"), **numbers))
    return connection.fetch(queries[0] if len(queries) == 1 else ibis.union(*queries))


class EngineGroups(StoredGroups):
    """Classes by nodes, as a table of their numbers that an engine keeps."""

    def __init__(
        self,
        connection: TableConnection,
        table: Any,
        attributes: tuple[str, ...],
        hierarchies: tuple[Hierarchy, ...],
    ) -> None:
        self.connection, self.table = connection, table
        self.attributes, self.hierarchies = attributes, hierarchies
        self.numbers = TupleNumbers([tree.n_nodes for tree in hierarchies])
        by_size = table.group_by(RECORDS).aggregate(values=lambda t: t.count())
        frequencies = sort_frequencies(connection.fetch(by_size))
        self.sizes = ClassSizes(frequencies.sizes, frequencies.values)

    def raise_nodes(self, raised: Sequence[np.ndarray]) -> EngineGroups:
        rows = replace_keys(self.table, self.numbers, self.numbers, raised)
        table = self.connection.keep(sum_records(rows, list_key_columns(self.numbers)))
        return EngineGroups(self.connection, table, self.attributes, self.hierarchies)

    def count_cells_below(self, k: int) -> tuple[np.ndarray, ...]:
        return self.count_cells_by_node(self.table.filter(self.table[RECORDS] < k))

    def count_cells_by_node(self, rows: Any) -> tuple[np.ndarray, ...]:
        """Per quasi-identifier the number of its cells at each node in rows of these classes."""
        branches = [
            (rows, extract_scaled_value(rows, self.numbers, j))
            for j in range(len(self.hierarchies))
        ]
        return self.sort_cells_by_node(count_cells(self.connection, branches), "records")

    def sort_cells_by_node(self, counted: Any, measure: str) -> tuple[np.ndarray, ...]:
        column, value, number = (counted[name].to_numpy() for name in ("column", "value", measure))
        cells = []
        for j, tree in enumerate(self.hierarchies):
            here = column == j
            nodes = value[here] // self.numbers.place(j)[1]
            cells.append(count_cells_at(tree.n_nodes, nodes, number[here]))
        return tuple(cells)

    def read_classes(self, least: int = 1) -> EquivalenceClasses:
        check_classes(self.sizes.select_at_least(least).n_classes)
        rows = self.table.filter(self.table[RECORDS] >= least) if least > 1 else self.table
        classes = self.connection.fetch(rows)
        nodes = self.numbers.decode_tuples(stack_columns(classes, list_key_columns(self.numbers)))
        counts = classes[RECORDS].to_numpy().astype(np.int64)
        nodes, counts = sum_tuples(nodes, counts, nodes)
        return EquivalenceClasses(self.attributes, self.hierarchies, nodes, counts)

    def drop(self) -> None:
        self.connection.drop(self.table)


def sum_records(rows: Any, names: Sequence[str]) -> Any:
    classes = rows.group_by(list(names)).aggregate(**{RECORDS: lambda t: t[RECORDS].sum()})
    return classes.mutate(**{RECORDS: classes[RECORDS].cast("int64")})
