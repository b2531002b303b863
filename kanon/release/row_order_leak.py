"""What a release gives away where its rows stand in the table's order, or can be put back into it.

Of a table that came sorted by age, an attacker knows that ages never fall along the file. Values
below what an earlier row has at least, or above what a later row has at most, are ruled out; where
one value is left, the order has given it back. Nothing is read off rows that stand out of line.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, thin
from kanon.base.kinds import TEXT, ColumnKind, moment_kinds, number_kinds
from kanon.base.values import canonical_texts
from kanon.errors import quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.natural_order import natural_order
from kanon.measures.cells import is_value
from kanon.recoding import Recoding, as_it_was
from kanon.release.remark_kinds import Remark
from kanon.schema import Role
from kanon.sensitive import order_of_values
from kanon.sources.memory import MemorySource
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source

_OUT_OF_LINE = 20  # of a sorted column at most one record in so many stands out of line
_VALUES = 8  # so many values restore an order; fewer stand in blocks
_FIRST_ROWS = 10_000  # so many rows of a table in an engine are looked at
_VALUES_READ = 100_000  # of more values the numbers in texts such as n9 and n10 are not read
_MOST_ROWS = 2_000_000  # of so many rows in an engine the classes come here to be counted


class OrderLeak(NamedTuple):
    """What the table's order gives away to an attacker who knows how the table was sorted."""

    columns: tuple[tuple[str, str, int, int], ...]  # name, verb, cells generalised and read off
    smallest: int  # records of the smallest class, as the attacker has narrowed it; 0 without any
    alone: int  # records that are a class of their own then


def longest_run(places: np.ndarray) -> np.ndarray:
    """Which numbers lie on a longest never-falling run of all. Shape (n,), bool."""
    least: list[int] = []  # per length the least number that a run of that length ends with
    ends, before = [-1], []
    for row, place in enumerate(places.tolist()):
        length = bisect_right(least, place)
        before.append(ends[length])
        least[length : length + 1], ends[length + 1 : length + 2] = [place], [row]
    run, row = np.zeros(len(places), dtype=bool), ends[-1]
    while row >= 0:
        run[row], row = True, before[row]
    return run


class RowOrder(NamedTuple):
    verb: str  # rises or falls
    places: np.ndarray  # of each value, turned so that the rows rise; -1 if it has none
    run: np.ndarray  # which rows are in line


def find_order(codes: np.ndarray, orders: Iterable[np.ndarray]) -> RowOrder | None:
    """The first order of values along which rows rise or fall; of a missing cell the code is -1."""
    for given in orders:
        for verb, places in (("rises", given), ("falls", given.max(initial=0) - given)):
            places = np.where(given < 0, -1, places)
            rows = np.append(places, -1)[codes]
            filled = rows >= 0
            rising = rows[filled]
            most = (len(rising) - np.bincount(rising, minlength=1).max()) / _OUT_OF_LINE
            falls = (np.diff(rising) < 0).sum()
            if most and falls <= 2 * most:  # of the two rows at a fall one stands out of line
                filled[filled] = longest_run(rising) if falls else True
                if len(rising) - filled.sum() <= most:
                    return RowOrder(verb, places, filled)
    return None


def measure_leak(
    recoding: Recoding, row_class: np.ndarray, kinds: Mapping[str, ColumnKind]
) -> OrderLeak:
    narrowed, columns = recoding.assigned[row_class], []
    for j, name in enumerate(recoding.classes.attributes):
        tree, before = recoding.hierarchies[j], recoding.classes.nodes[row_class, j]
        leaves, after = np.arange(tree.n_leaves), recoding.targets[row_class, j]
        orders = [*_orders(tree.labels[: tree.n_leaves], kinds.get(name)), leaves]
        orders = [np.where(is_value(tree, leaves), places, -1) for places in orders]
        found = find_order(np.where(before < tree.n_leaves, before, -1), orders)
        if found is None:
            continue
        top, places, run = len(leaves), found.places, found.run
        least = _least_places(tree, places, after, run)
        mirrored = np.where(places < 0, -1, top - places)
        greatest = top - _least_places(tree, mirrored, after[::-1], run[::-1])[::-1]
        raised = ~as_it_was(tree, after, before)
        read_off = int((raised & run & (least == greatest)).sum())
        columns.append((name, found.verb, int(raised.sum()), read_off))
        for bound in (least, greatest):
            narrowed = np.unique(narrowed * (top + 2) + bound, return_inverse=True)[1]
    records = np.unique(narrowed[recoding.assigned[row_class] >= 0], return_counts=True)[1]
    return OrderLeak(tuple(columns), min(records, default=0), int((records == 1).sum()))


def _orders(texts: Sequence[str], kind: ColumnKind | None) -> Iterator[np.ndarray]:
    """The place of each text by its size or the alphabet, and as people would sort it."""
    some = texts[:: len(texts) // 1000 + 1]  # to try all kinds on all texts would take a minute
    kind = kind or next(iter((*number_kinds(some), *moment_kinds(some))), TEXT)
    key = natural_order if len(texts) <= _VALUES_READ else str.casefold
    for ordered in (order_of_values(texts, kind)[0], sorted(texts, key=key)):
        place = {text: number for number, text in enumerate(ordered)}
        yield np.array([place[text] for text in texts], dtype=np.int64)


def _least_places(
    tree: Hierarchy, places: np.ndarray, nodes: np.ndarray, run: np.ndarray
) -> np.ndarray:
    below: dict[int, Sequence[int]] = {}
    for node in np.unique(nodes).tolist():
        some = np.unique(places[tree.first[node] : tree.last[node]])
        some = some[some >= min(some[-1], 0)]  # a missing cell is below nothing but itself
        gapless = some[-1] - some[0] == len(some) - 1  # a range takes no room
        below[node] = range(some[0], some[-1] + 1) if gapless else some.tolist()
    bounds, bound = [], 0
    for node, in_line in zip(nodes.tolist(), run.tolist(), strict=True):
        if in_line:
            bound = below[node][bisect_left(below[node], bound)]
        bounds.append(bound if in_line else below[node][0])
    return np.array(bounds, dtype=np.int64)


def order_remarks(
    source: Source, roles: Mapping[str, Role], recoding: Recoding, order: str
) -> Iterator[Remark]:
    """What the order of the rows gives away, and which columns that pass through restore it."""
    if isinstance(source, MemorySource):
        rows = source.rows_left(recoding, np.arange(source.table.n_records))
        cells, row_class, along = source.table.frame.iloc[rows], source.row_class[rows], "the table"
        shown, kinds = recoding.assigned[row_class] >= 0, source.table.kinds
    else:
        assert isinstance(source, StoredSource)
        cells, kinds = source.table.first_rows(_FIRST_ROWS), source.table.kinds
        first = f"the first {thin(_FIRST_ROWS)} rows of the table"
        shown, along = slice(None), first if len(cells) == _FIRST_ROWS else "the table"
        row_class = source.fetch_row_classes(recoding, _MOST_ROWS) if order == "table" else None
    restoring, given = {}, []
    for name, role in roles.items():
        if role in (Role.SENSITIVE, Role.INSENSITIVE):
            found = _cell_order(cells[name][shown], kinds.get(name))
            if found is not None and len(found.places) >= _VALUES:
                restoring[name] = found
    if not restoring and order != "table":
        return
    then = {Role.IDENTIFIER: "anyone who has its values in order knows whose row each is"}
    if row_class is None:
        then[Role.QUASI_IDENTIFIER] = "how much that gives back was not counted in the engine"
    else:
        leak = measure_leak(recoding, row_class, kinds)
        for name, verb, raised, read_off in leak.columns:
            back = f"that gives back {thin(read_off)} of {counted(raised, 'generalised value')}"
            back = back if raised else "it is released as it was"
            given.append(f"{quoted(name)} {verb} along the table: {back}.")
        if leak.smallest < (recoding.min_k or 0):
            becomes = f"The smallest class becomes {counted(leak.smallest, 'record')}"
            alone = counted(leak.alone, "record stands", "records stand")
            given.append(f"{becomes}, and {alone} alone.")
    for name in [name for name, role in roles.items() if role in then]:
        found = _cell_order(cells[name], kinds.get(name))
        if found is not None:
            given.append(f"{quoted(name)} {found.verb} along {along}: {then[roles[name]]}.")
    if order == "table":
        nothing = f"No quasi-identifier or identifier rises or falls along {along}, but anyone who "
        nothing += "knows that order, such as an employee, can tell whose row each is."
        said = " ".join(given) or nothing
        yield Remark("table-order", "", 1.0, f"The rows keep the table's order. {said}")
    for name, found in restoring.items():
        said = f"{quoted(name)} passes into the release unchanged and {found.verb} along {along}: "
        said += "anyone who sorts by it has the order back, but for rows that share a value."
        yield Remark("restores-order", name, float(found.run.mean()), " ".join([said, *given]))


def _cell_order(cells: pd.Series, kind: ColumnKind | None) -> RowOrder | None:
    step = len(cells) // _FIRST_ROWS
    if step > 1 and _cell_order(cells.iloc[::step], kind) is None:  # what is sorted is so there too
        return None
    if getattr(cells.dtype, "kind", "O") in "iufM":
        codes, values = pd.factorize(cells, sort=True)
        return find_order(codes, [np.arange(len(values))])
    codes, texts = canonical_texts(cells)
    return find_order(codes, _orders(texts, kind))
