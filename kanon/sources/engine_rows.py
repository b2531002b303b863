"""From rows to the numbers of their tuples, and on to the labels of what they are released as."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kanon.sources.engine_groups import keys, scaled
from kanon.sources.engine_order import NodeParts
from kanon.sources.stored_values import OURS, TableConnection
from kanon.stored_classes import TupleNumbers

if TYPE_CHECKING:
    from kanon.sources.engine_classes import EngineRecoding
    from kanon.sources.stored import StoredTable

RELEASED, GONE = f"{OURS} released", f"{OURS} gone"
"""The numbers of what a row is released as, and whether it is suppressed."""


def keyed(
    table: StoredTable,
    rows: Any,
    columns: Sequence[str],
    numbers: TupleNumbers,
    of_code: Sequence[np.ndarray],
    of: str,
) -> Any:
    """Rows with the numbers of the tuples that they become, as ``of 0``, …."""
    import ibis

    sums: list[list[Any]] = [[] for _ in numbers.numbers]
    for j, (column, become) in enumerate(zip(columns, of_code, strict=True)):
        place, each = numbers.place(j)
        known, part = f"{OURS} known {j}", f"{OURS} part {j}"
        values = table.values(column)
        given = values.map_of(known, part, become[values.codes].astype(np.int64) * each)
        rows = rows.left_join(ibis.memtable(given), [(column, known)])
        sums[place].append((part, int(become[0]) * each))
    total = {
        name: reduce(add, (rows[part].fill_null(missing) for part, missing in sums[place]))
        for place, name in enumerate(keys(numbers, of))
    }
    return rows.mutate(**total)


def with_released(
    table: StoredTable, rows: Any, recoding: EngineRecoding, keeps: bool = False
) -> Any:
    """Rows with the numbers of the tuples that they are released as."""
    classes, numbers = recoding.classes, recoding.groups.numbers
    columns, own = classes.attributes, recoding.groups.connection
    names = keys(numbers, RELEASED)
    if recoding.become is not None:
        become = [row[nodes] for row, nodes in zip(recoding.become, classes.of_code, strict=True)]
        rows = keyed(table, rows, columns, numbers, become, RELEASED)
    else:
        before, key = keys(numbers), f"{OURS} key"
        rows = keyed(table, rows, columns, numbers, classes.of_code, key)
        shown = {new: recoding.made[old]
                 for new, old in zip(names, keys(numbers, "released"), strict=True)}  # fmt: skip
        known = {f"{name}, known": recoding.made[name] for name in before}
        made = _moved(recoding.made.select(**known, **shown), own, table.opened)
        rows = rows.inner_join(made, list(zip(keys(numbers, key), known, strict=True)))
    if not recoding.suppressed_records:
        return rows.mutate(**{GONE: False}) if keeps else rows
    kept = recoding.staying_classes()
    kept = kept.rename(dict(zip([f"{name}, kept" for name in names], kept.columns, strict=True)))
    kept = _moved(kept, own, table.opened)
    pairs = [(name, f"{name}, kept") for name in names]
    if not keeps:
        return rows.semi_join(kept, pairs)
    rows = rows.left_join(kept, pairs)
    return rows.mutate(**{GONE: rows[f"{names[0]}, kept"].isnull()})


def with_labels(rows: Any, recoding: EngineRecoding, parts: NodeParts, keeps: bool) -> Any:
    """Rows with their released labels, ``kanon: label 0``, …, and with the keys to sort them by."""
    import ibis

    numbers = recoding.groups.numbers
    for j, tree in enumerate(recoding.hierarchies):
        _, each = numbers.place(j)
        value = scaled(rows, numbers, j, RELEASED)
        if keeps:
            value = rows[GONE].ifelse(int(tree.root) * each, value)
        labels = pa.DictionaryArray.from_arrays(np.arange(tree.n_nodes), pa.array(tree.labels))
        known, name = f"{OURS} node {j}, known", f"{OURS} label {j}"
        adds = {f"{key}, part {j}": of[j] for key, of in parts.items() if j in of}
        given = pa.table({known: np.arange(tree.n_nodes) * each, name: labels, **adds})
        # A list of other labels than those that are shown would go into the types of the release.
        used = pa.array(recoding.released_nodes[j])
        rows = rows.mutate(**{f"{OURS} node {j}": value})
        rows = rows.inner_join(ibis.memtable(given.take(used)), [(f"{OURS} node {j}", known)])
    sums = {key: reduce(add, (rows[f"{key}, part {j}"] for j in of)) for key, of in parts.items()}
    return rows.mutate(**sums)


def _moved(kept: Any, own: TableConnection, other: TableConnection) -> Any:
    """What a connection keeps, through another one."""
    import ibis

    return kept if own is other else other.keep(ibis.memtable(own.fetch(kept)))
