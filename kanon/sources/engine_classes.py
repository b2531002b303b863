"""Equivalence classes that an engine keeps, and the recodings that it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from inspect import signature
from operator import or_
from typing import Any

import numpy as np
import pyarrow as pa

from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses, count_cells_at
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding, Trace
from kanon.sensitive import Sensitive
from kanon.sources.engine_groups import (
    RECORDS,
    EngineGroups,
    add_keys,
    count_cells,
    extract_scaled_value,
    list_key_columns,
    replace_keys,
    sum_records,
)
from kanon.sources.engine_order import KEY
from kanon.sources.stored import StoredTable
from kanon.sources.stored_values import QUERY_PREFIX, TableConnection, find_positions, stack_columns
from kanon.stored_classes import (
    ClassSizes,
    PartCells,
    PartCut,
    PartMerge,
    StoredClasses,
    StoredRecoding,
    TupleNumbers,
    is_below_node,
)

_PART = "part"

RELEASED_KEY, SUPPRESSED_ROW = f"{QUERY_PREFIX} released", f"{QUERY_PREFIX} gone"
"""Columns of a query: the numbers of the released class, and whether the row is suppressed."""


class EngineClasses(StoredClasses):
    """The classes of a stored table: see :class:`kanon.stored_classes.StoredClasses`."""

    def __init__(
        self,
        table: StoredTable,
        attributes: tuple[str, ...],
        hierarchies: tuple[Hierarchy, ...],
        of_code: Sequence[np.ndarray],
        sensitive: Sequence[str],
    ) -> None:
        cells = tuple(
            count_cells_at(tree.n_nodes, nodes, table.count_records_by_code(column))
            for column, tree, nodes in zip(attributes, hierarchies, of_code, strict=True)
        )
        roots = np.array([[tree.root for tree in hierarchies]], dtype=np.int32)
        whole = EquivalenceClasses(
            attributes, hierarchies, roots, np.array([table.n_records]),
            tuple(_build_whole_histogram(table, column) for column in sensitive),
        )  # fmt: skip
        super().__init__(whole, cells, table.n_classes(attributes))
        self.table = table
        self.of_code = tuple(of_code)
        self._groups: EngineGroups | None = None
        self._parts: dict[tuple[tuple[PartCut, bool], ...], PartCells] = {}

    @property
    def groups(self) -> EngineGroups:
        if self._groups is None:
            connection, leaving = self.table.opened, self.table.omissions
            codes = TupleNumbers([len(nodes) for nodes in self.of_code])
            counted = connection.classes(self.attributes, leaving)
            table = connection.keep(replace_keys(counted, codes, self.numbers, self.of_code))
            connection.drop_classes(self.attributes, leaving)
            self._groups = EngineGroups(connection, table, self.attributes, self.hierarchies)
        return self._groups

    def compute_released_histogram(self, recoding: EngineRecoding, column: str) -> Sensitive:
        table, numbers = self.table, recoding.groups.numbers
        names, value = list_key_columns(numbers, RELEASED_KEY), f"{QUERY_PREFIX} value"
        rows = recoding.add_released_keys(table, table.expression)
        counted = rows.group_by(**{name: rows[name] for name in names}, **{value: rows[column]})
        counts = table.opened.fetch(counted.aggregate(records=lambda t: t.count()))
        values = table.values(column)
        codes = values.find_codes(counts[value])
        places = find_positions(recoding.nodes, numbers.decode_tuples(stack_columns(counts, names)))
        return table.build_sensitive(
            column, places, codes, counts["records"].to_numpy(), recoding.n_classes
        )

    def raise_to_levels(self, raised: Sequence[np.ndarray], trace: Trace) -> EngineRecoding:
        return EngineRecoding(self, self.groups.raise_nodes(raised), tuple(raised), None, trace)

    # --- parts ----------------------------------------------------------------------------------
    def count_part_cells(self, cuts: Sequence[PartCut], part: int) -> PartCells:
        history = _get_history(cuts, part)
        if history not in self._parts:
            numbers = range(len(cuts) + 1)
            unknown = [n for n in numbers if _get_history(cuts, n) not in self._parts]
            self._count_parts(cuts, unknown)
        return self._parts[history]

    def _count_parts(self, cuts: Sequence[PartCut], wanted: Sequence[int]) -> None:
        groups, number = self.groups, max(wanted) + 1
        rows = self._number_parts(cuts)
        rows = rows.filter(rows[_PART].isin(wanted)) if cuts else rows
        places = [
            extract_scaled_value(rows, self.numbers, j) * number + rows[_PART]
            for j in range(len(self.attributes))
        ]
        cells = count_cells(groups.connection, [(rows, place) for place in places])
        value = cells["value"].to_numpy()
        part_of, values = value % number, value // number
        for part in wanted:
            part_cells = cells.filter(pa.array(part_of == part)).set_column(
                cells.column_names.index("value"), "value", pa.array(values[part_of == part])
            )
            self._parts[_get_history(cuts, part)] = PartCells(
                groups.sort_cells_by_node(part_cells, "classes"),
                groups.sort_cells_by_node(part_cells, "records"),
            )

    def _number_parts(self, cuts: Sequence[PartCut]) -> Any:
        import ibis

        rows = self.groups.table

        def find_part(part: int, after: int) -> Any:
            for new_part, cut in enumerate(cuts[after:], start=after + 1):
                if cut.part == part:
                    stays = find_part(part, new_part)
                    return self._is_below(rows, cut).ifelse(find_part(new_part, new_part), stays)
            return ibis.literal(part, "int64")

        return rows.mutate(**{_PART: find_part(0, 0)})

    def _is_below(self, table: Any, cut: PartCut) -> Any:
        is_under = is_below_node(self.hierarchies[cut.column], cut.node)
        factor = self.numbers.place(cut.column)[1]
        value = extract_scaled_value(table, self.numbers, cut.column)
        ends = np.flatnonzero(np.diff(is_under.astype(np.int8), prepend=0, append=0)) * factor
        runs = [value.between(first, last - 1) for first, last in ends.reshape(-1, 2).tolist()]
        return reduce(or_, runs)

    def merge_parts(
        self, cuts: Sequence[PartCut], sizes: Sequence[int], work: PartMerge, progress: Progress
    ) -> EngineRecoding:
        connection = self.groups.connection
        numbered = connection.keep(self._number_parts(cuts))
        self.groups.drop()
        self._groups = None  # counted again on demand
        try:
            merged = connection.run_by_part(
                numbered, _PART, dict(enumerate(sizes)), work, work.schema, progress
            )
        finally:
            connection.drop(numbered)
        groups = _group_released(connection, merged, self)
        steps = connection.fetch(merged.aggregate(steps=merged["steps"].sum()))["steps"][0].as_py()
        return EngineRecoding(self, groups, None, merged, Trace(steps=int(steps)), cuts=tuple(cuts))


def _build_whole_histogram(table: StoredTable, column: str) -> Sensitive:
    records = table.count_records_by_code(column)
    codes = np.flatnonzero(records)
    nothing = np.zeros(len(codes), dtype=np.int64)
    return table.build_sensitive(column, nothing, codes, records[codes], 1)


def _get_history(cuts: Sequence[PartCut], part: int) -> tuple[tuple[PartCut, bool], ...]:
    history, number = [], part
    for new_part, cut in reversed(list(enumerate(cuts, start=1))):
        if new_part == number:
            history.append((cut, True))
            number = cut.part
        elif cut.part == number:
            history.append((cut, False))
    return tuple(reversed(history))


def _group_released(own: TableConnection, table: Any, classes: EquivalenceClasses) -> EngineGroups:
    names = [name for name in table.columns if name.startswith("released ")]
    renamed = {name.replace("released", "key"): table[name] for name in names}
    rows = table.select(**{RECORDS: table[RECORDS], **renamed})
    return EngineGroups(
        own, own.keep(sum_records(rows, list(renamed))), classes.attributes, classes.hierarchies
    )


class EngineRecoding(StoredRecoding):
    """A recoding that an engine keeps: see :class:`kanon.stored_classes.StoredRecoding`."""

    def __init__(
        self,
        classes: EngineClasses,
        groups: EngineGroups,
        target_of_node: tuple[np.ndarray, ...] | None,
        made: Any,
        trace: Trace,
        cuts: tuple[PartCut, ...] = (),
        least: int = 1,
        suppressed_keys: np.ndarray | None = None,
    ) -> None:
        self._classes, self._trace = classes, trace
        self.groups = groups
        self.target_of_node = target_of_node
        self.made = made
        self.cuts = cuts
        self.least = least
        self.suppressed_keys = suppressed_keys

    @property
    def classes(self) -> EngineClasses:
        return self._classes

    @property
    def trace(self) -> Trace:
        return self._trace

    @property
    def ranged(self) -> tuple[Hierarchy, ...]:
        return ()

    @property
    def assigned(self) -> np.ndarray:
        """Not available: there would be one per original class."""
        raise self.classes.refusal

    def _copy_with(self, **changes: Any) -> EngineRecoding:
        names = signature(EngineRecoding).parameters
        return EngineRecoding(**{name: getattr(self, name) for name in names} | changes)

    def with_trace(self, trace: Trace) -> EngineRecoding:
        return self._copy_with(trace=trace)

    def suppressed_below(self, k: int, bad: np.ndarray | None = None) -> EngineRecoding:
        keys = None
        if bad is not None and bad.any():
            keys = self.groups.numbers.encode_tuples(self.nodes[bad])
        return self._copy_with(least=k, suppressed_keys=keys)

    # --- what was released ----------------------------------------------------------------------
    @cached_property
    def sizes(self) -> ClassSizes:
        sizes = self.groups.sizes.select_at_least(self.least)
        if self.suppressed_keys is None:
            return sizes
        return ClassSizes(*np.unique(self.counts, return_counts=True))

    @property
    def n_classes(self) -> int:
        return self.sizes.n_classes

    @property
    def squared_sizes(self) -> int:
        return int(self.sizes.sizes**2 @ self.sizes.classes)

    @property
    def min_k(self) -> int | None:
        return int(self.sizes.sizes[0]) if len(self.sizes.sizes) else None

    @property
    def suppressed_records(self) -> int:
        return self.classes.n_records - self.sizes.n_records

    @cached_property
    def _released_classes(self) -> EquivalenceClasses:
        classes = self.groups.read_classes(self.least)
        if self.suppressed_keys is None:
            return classes
        gone = {tuple(number) for number in self.suppressed_keys.tolist()}
        packed = self.groups.numbers.encode_tuples(classes.nodes).tolist()
        return classes.only(np.flatnonzero([tuple(number) not in gone for number in packed]))

    def read_classes(self) -> EquivalenceClasses:
        return self._released_classes

    @property
    def nodes(self) -> np.ndarray:
        return self._released_classes.nodes

    @property
    def counts(self) -> np.ndarray:
        return self._released_classes.counts

    @cached_property
    def released(self) -> EquivalenceClasses:
        classes = self._released_classes
        names = [histogram.name for histogram in self.classes.as_one_class.sensitive]
        histograms = tuple(self.classes.compute_released_histogram(self, name) for name in names)
        return EquivalenceClasses(
            classes.attributes, classes.hierarchies, classes.nodes, classes.counts, histograms
        )

    @cached_property
    def unchanged(self) -> tuple[np.ndarray, ...]:
        if self.target_of_node is not None and not self.suppressed_records:
            pairs = zip(self.classes.cells, self.target_of_node, strict=True)
            return tuple(
                np.where(targets == np.arange(len(targets)), cells, 0) for cells, targets in pairs
            )
        rows, numbers = self.mapping, self.classes.numbers
        if self.suppressed_records:
            rows = self.select_staying_rows(rows, "released")
        branches = []
        for j in range(len(self.hierarchies)):
            same = rows.filter(
                extract_scaled_value(rows, numbers, j)
                == extract_scaled_value(rows, numbers, j, "released")
            )
            branches.append((same, extract_scaled_value(same, numbers, j)))
        return self.groups.sort_cells_by_node(
            count_cells(self.groups.connection, branches), "records"
        )

    @property
    def mapping(self) -> Any:
        """A table of the original classes: ``key 0``, …, ``released 0``, … and ``records``."""
        if self.made is not None:
            return self.made
        numbers = self.classes.numbers
        table = self.classes.groups.table
        return replace_keys(table, numbers, numbers, self.target_of_node or (), to="released")

    def select_staying_rows(self, rows: Any, of: str) -> Any:
        classes, pairs = self.select_staying_classes(of)
        return rows.semi_join(classes, pairs)

    def select_staying_classes(self, of: str) -> tuple[Any, list[tuple[str, str]]]:
        """The released classes that are not suppressed, and what rows with their numbers join."""
        import ibis

        names, table = list_key_columns(self.groups.numbers), self.groups.table
        classes = table.filter(table[RECORDS] >= self.least).select(*names)
        if self.suppressed_keys is not None:
            gone = {
                f"{name}, gone": cells
                for name, cells in zip(names, self.suppressed_keys.T, strict=True)
            }
            suppressed = ibis.memtable(pa.table(gone))
            classes = classes.anti_join(suppressed, list(zip(names, gone, strict=True)))
        pairs = [(name, f"{name}, kept") for name in list_key_columns(self.groups.numbers, of)]
        return classes.rename({new: old for (_, new), old in zip(pairs, names, strict=True)}), pairs

    @cached_property
    def released_nodes(self) -> tuple[np.ndarray, ...]:
        return tuple(np.flatnonzero(cells) for cells in self.cells)

    @cached_property
    def cells(self) -> tuple[np.ndarray, ...]:
        rows = self.groups.table
        if self.suppressed_records:
            rows = self.select_staying_rows(rows, "key")
        cells = self.groups.count_cells_by_node(rows)
        for tree, at in zip(self.hierarchies, cells, strict=True):
            at[tree.root] += self.suppressed_records
        return cells

    # --- rows as they are released ------------------------------------------------------------
    def add_released_keys(
        self, table: StoredTable, rows: Any, keep_suppressed: bool = False
    ) -> Any:
        classes, numbers = self.classes, self.groups.numbers
        columns, own = classes.attributes, self.groups.connection
        names = list_key_columns(numbers, RELEASED_KEY)
        if self.target_of_node is not None:
            become = [
                row[nodes] for row, nodes in zip(self.target_of_node, classes.of_code, strict=True)
            ]
            rows = add_keys(table.opened, rows, columns, numbers, become, RELEASED_KEY)
        else:
            before, key = list_key_columns(numbers), f"{QUERY_PREFIX} key"
            rows = add_keys(table.opened, rows, columns, numbers, classes.of_code, key)
            known_as = zip(names, list_key_columns(numbers, "released"), strict=True)
            targets = {new: self.made[old] for new, old in known_as}
            known = {f"{name}, known": self.made[name] for name in before}
            lookup = _move_table(self.made.select(**known, **targets), own, table.opened)
            rows = rows.inner_join(
                lookup, list(zip(list_key_columns(numbers, key), known, strict=True))
            )
        if not self.suppressed_records:
            return rows.mutate(**{SUPPRESSED_ROW: False}) if keep_suppressed else rows
        classes_left, pairs = self.select_staying_classes(RELEASED_KEY)
        classes_left = _move_table(classes_left, own, table.opened)
        if not keep_suppressed:
            return rows.semi_join(classes_left, pairs)
        rows = rows.left_join(classes_left, pairs)
        return rows.mutate(**{SUPPRESSED_ROW: rows[pairs[0][1]].isnull()})

    def add_labels(self, rows: Any, ranks: Sequence[np.ndarray], keep_suppressed: bool) -> Any:
        """Rows with their released labels, ``kanon: label 0``, …, and their ranks to sort by."""
        import ibis

        numbers = self.groups.numbers
        for j, tree in enumerate(self.hierarchies):
            _, factor = numbers.place(j)
            value = extract_scaled_value(rows, numbers, j, RELEASED_KEY)
            if keep_suppressed:
                value = rows[SUPPRESSED_ROW].ifelse(int(tree.root) * factor, value)
            labels = pa.DictionaryArray.from_arrays(np.arange(tree.n_nodes), pa.array(tree.labels))
            known, name = f"{QUERY_PREFIX} node {j}, known", f"{QUERY_PREFIX} label {j}"
            adds = {f"{KEY} {j}": ranks[j]} if ranks else {}
            lookup = pa.table({known: np.arange(tree.n_nodes) * factor, name: labels, **adds})
            # Labels that do not occur would get into the types of the release.
            used = pa.array(self.released_nodes[j])
            rows = rows.mutate(**{f"{QUERY_PREFIX} node {j}": value})
            rows = rows.inner_join(
                ibis.memtable(lookup.take(used)), [(f"{QUERY_PREFIX} node {j}", known)]
            )
        return rows

    # --- further steps --------------------------------------------------------------------------
    def read_lowest_hashes(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        classes, wanted = self.classes, [*list_key_columns(self.classes.numbers), RECORDS]
        rows = self.groups.connection.fetch(self.made.order_by("hash").limit(most).select(*wanted))
        nodes = classes.numbers.decode_tuples(stack_columns(rows, wanted[:-1]))
        order = np.lexsort(nodes.T[::-1])
        nodes, counts = nodes[order], rows[RECORDS].to_numpy().astype(np.int64)[order]
        parts = np.zeros(len(nodes), dtype=np.int64)
        for new_part, cut in enumerate(self.cuts, start=1):
            is_under = is_below_node(classes.hierarchies[cut.column], cut.node)[
                nodes[:, cut.column]
            ]
            parts[(parts == cut.part) & is_under] = new_part
        return nodes, counts, parts

    def followed_by(self, further: Recoding) -> EngineRecoding:
        import ibis

        connection, numbers = self.groups.connection, self.groups.numbers
        before = list_key_columns(numbers, "released")
        after = [f"{QUERY_PREFIX} {name}" for name in list_key_columns(numbers)]
        old = numbers.encode_tuples(further.classes.nodes)
        new = numbers.encode_tuples(further.nodes)[further.assigned]
        known = [f"{name}, known" for name in before]
        lookup = pa.table(dict(zip([*known, *after], [*old.T, *new.T], strict=True)))
        rows = self.made.inner_join(ibis.memtable(lookup), list(zip(before, known, strict=True)))
        others = [name for name in self.made.columns if name not in before]
        wanted = {name: rows[moved] for name, moved in zip(before, after, strict=True)}
        table = connection.keep(rows.select(*others, **wanted))
        groups = _group_released(connection, table, self.classes)
        self.groups.drop()
        connection.drop(self.made)
        trace = replace(self.trace, steps=self.trace.steps + further.trace.steps)
        return self._copy_with(groups=groups, made=table, trace=trace)


def _move_table(table: Any, own: TableConnection, other: TableConnection) -> Any:
    import ibis

    return table if own is other else other.keep(ibis.memtable(own.fetch(table)))
