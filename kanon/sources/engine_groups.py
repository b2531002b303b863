"""Classes at some levels as a table that an engine keeps, each a few whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from kanon.classes import EquivalenceClasses, cells_at, sum_tuples
from kanon.hierarchy import Hierarchy
from kanon.settings import settings
from kanon.sources.stored_values import OURS, TableConnection, columns_of, sizes_of
from kanon.stored_classes import ClassSizes, StoredGroups, TupleNumbers, too_many_classes

RECORDS = "records"  # the column of a kept table that says how many records a class has


def keys(numbers: TupleNumbers, of: str = "key") -> list[str]:
    return [f"{of} {place}" for place in range(len(numbers.numbers))]


def scaled(table: Any, numbers: TupleNumbers, column: int, of: str = "key") -> Any:
    place, each = numbers.place(column)
    number = table[f"{of} {place}"]
    return (
        number % (each * numbers.sizes[column]) - number % each
        if each > 1
        else (number % numbers.sizes[column])
    )


def renumbered(
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
        nodes, part = np.arange(len(values)), f"{OURS} part {j}"
        rows = rows.mutate(**{part: scaled(rows, old, j)})
        if before != after or not np.array_equal(values, nodes):
            number, known = f"{OURS} number {j}", f"{part}, known"
            given = pa.table({number: nodes * before, known: values.astype(np.int64) * after})
            looked_up.append((part, number, given))
            part = known
        parts[place].append(part)
    for part, number, given in looked_up:
        rows = rows.inner_join(ibis.memtable(given), [(part, number)])
    total = {
        name: reduce(add, (rows[one] for one in parts[place]), ibis.literal(fixed[place], "int64"))
        for place, name in enumerate(keys(new, to))
    }
    kept = [name for name in table.columns if name not in total]
    found = rows.select(*kept, **{name: cell.cast("int64") for name, cell in total.items()})
    return found.filter(True)  # what is joined next is joined to these columns, not to those before


def keyed(
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
        place, each = numbers.place(j)
        known, part = f"{OURS} known {j}", f"{OURS} part {j}"
        values = connection.values(column)
        given = values.map_of(known, part, become[values.codes].astype(np.int64) * each)
        rows = rows.left_join(ibis.memtable(given), [(column, known)])
        sums[place].append((part, int(become[0]) * each))
    total = {
        name: reduce(add, (rows[part].fill_null(missing) for part, missing in sums[place]))
        for place, name in enumerate(keys(numbers, of))
    }
    return rows.mutate(**total)


def cells_by(connection: TableConnection, branches: Sequence[tuple[Any, Any]]) -> Any:
    import ibis

    asked = []
    for column, (rows, cells) in enumerate(branches):
        counted = rows.group_by(value=cells).aggregate(
            classes=lambda t: t.count(), records=lambda t: t[RECORDS].sum()
        )
        numbers = {name: counted[name].cast("int64") for name in ("value", "classes", "records")}
        asked.append(counted.select(column=ibis.literal(column, "int64"), **numbers))
    return connection.fetch(asked[0] if len(asked) == 1 else ibis.union(*asked))


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
        found = sizes_of(connection.fetch(by_size))
        self.sizes = ClassSizes(found.sizes, found.values)

    def raised(self, raised: Sequence[np.ndarray]) -> EngineGroups:
        rows = renumbered(self.table, self.numbers, self.numbers, raised)
        kept = self.connection.keep(summed(rows, keys(self.numbers)))
        return EngineGroups(self.connection, kept, self.attributes, self.hierarchies)

    def cells_below(self, k: int) -> tuple[np.ndarray, ...]:
        few = self.table.filter(self.table[RECORDS] < k)
        branches = [(few, scaled(few, self.numbers, j)) for j in range(len(self.hierarchies))]
        return self.at_nodes(cells_by(self.connection, branches), "records")

    def at_nodes(self, found: Any, what: str) -> tuple[np.ndarray, ...]:
        column, value, number = (found[name].to_numpy() for name in ("column", "value", what))
        cells = []
        for j, tree in enumerate(self.hierarchies):
            own = column == j
            nodes = value[own] // self.numbers.place(j)[1]
            cells.append(cells_at(tree.n_nodes, nodes, number[own]))
        return tuple(cells)

    def fetched(self, least: int = 1) -> EquivalenceClasses:
        number = self.sizes.at_least(least).n_classes
        if number > settings().classes:
            raise too_many_classes(number)
        rows = self.table.filter(self.table[RECORDS] >= least) if least > 1 else self.table
        found = self.connection.fetch(rows)
        nodes = self.numbers.unpacked(columns_of(found, keys(self.numbers)))
        counts = found[RECORDS].to_numpy().astype(np.int64)
        nodes, counts = sum_tuples(nodes, counts, nodes)
        return EquivalenceClasses(self.attributes, self.hierarchies, nodes, counts)

    def drop(self) -> None:
        self.connection.drop(self.table)


def summed(rows: Any, names: Sequence[str]) -> Any:
    found = rows.group_by(list(names)).aggregate(**{RECORDS: lambda t: t[RECORDS].sum()})
    return found.mutate(**{RECORDS: found[RECORDS].cast("int64")})
