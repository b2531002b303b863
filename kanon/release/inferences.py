"""Remarks on what follows from a release: from columns, ranges, how it was made, and its order."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon.base.formatting import counted, percent, thin
from kanon.base.kinds import TEXT, ColumnKind, moment_kinds, number_kinds, sizes
from kanon.base.values import canonical_texts
from kanon.errors import PlanError, quoted
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.natural_order import natural_order
from kanon.hierarchy.ranges import RangedHierarchy
from kanon.measures.cells import is_value, original_cells
from kanon.measures.minimality import measure_minimality
from kanon.privacy.model import Model, SensitiveModel
from kanon.recoding import Recoding, as_it_was
from kanon.release.remark_kinds import Remark
from kanon.schema import Role
from kanon.sensitive import Sensitive, order_of_values
from kanon.sources.memory import MemorySource
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source, Table

_FOLLOWS = 0.9
"""A sensitive value follows from other columns if so much of what chance leaves open is decided."""

_EVIDENCE = 20
"""Pairs of records that chance alone would have to make different, for that to be evidence."""


def determined_by(column: str, recoding: Recoding, table: Table) -> str:
    """By which quasi-identifiers a sensitive value is nearly decided; nothing if by none."""
    for what, grouped in _groupings(column, recoding, table):
        found = same_value(grouped)
        if found is not None and found[0] - found[1] >= _FOLLOWS * (1 - found[1]):
            return (
                f"it follows from {what}: two records alike there share it in "
                f"{percent(100 * found[0])} of the cases, any two in {percent(100 * found[1])}"
            )
    return ""


def _groupings(column: str, recoding: Recoding, table: Table) -> Iterator[tuple[str, Sensitive]]:
    classes = recoding.classes
    if classes.in_engine:
        for name in classes.attributes:
            with suppress(PlanError):  # more pairs of values than come here
                yield quoted(name), table.classes_of([name], [column]).sensitive_named(column)
        return
    sensitive = classes.sensitive_named(column)
    for j, name in enumerate(classes.attributes):
        group = np.unique(classes.nodes[:, j], return_inverse=True)[1]
        yield quoted(name), sensitive.grouped(group, int(group.max(initial=-1)) + 1)
    yield "all quasi-identifiers", sensitive


def same_value(grouped: Sensitive) -> tuple[float, float] | None:
    """How often two records of one group, and any two records, share a sensitive value.

    >>> group, value = [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> same_value(Sensitive.from_records("ill", ["a", "b"], False, group * 9, value * 9, 2))
    (1.0, 0.490566...)
    """
    n, sizes, total = grouped.count, grouped.sizes, grouped.total
    pairs = float(sizes @ (sizes - 1))
    if not pairs:
        return None
    overall = float(total @ (total - 1)) / float(total.sum() * (total.sum() - 1))
    if (1 - overall) * pairs / 2 < _EVIDENCE:
        return None
    return float(n @ (n - 1)) / pairs, overall


def minimality_remarks(recoding: Recoding, models: Sequence[Model], k: int) -> Iterator[Remark]:
    """What :func:`measure_minimality` finds; nothing where no probability rises."""
    beside = [model for model in models if isinstance(model, SensitiveModel)]
    result = measure_minimality(recoding, beside, k)
    if result is None or not (result.worst or result.unreckoned):
        return
    column, known = beside[0].column, ""
    if result.worst:
        old, new = (percent(100 * share) for share in result.worst)
        where = "at worst, in the classes that were reckoned," if result.unreckoned else "at worst"
        known = f": {where} a person's {quoted(column)} is known with {new} instead of {old}"
    least = counted(k, "record" if recoding.classes.persons is None else "person")
    told = []
    if result.telling:
        told.append(
            f"{counted(result.telling, 'class', 'classes')} could be split into parts of at least "
            f"{least}, but no split of {'it' if result.telling == 1 else 'them'} meets "
            f"{' and '.join(model.sentence for model in beside)}. kanon makes minimal "
            "releases: it raises no more than needed. Anyone who knows this concludes that some "
            f"part breaks that{known}."
        )
    if result.unreckoned:
        unreckoned = counted(result.unreckoned, "class", "classes")
        told.append(f"What being minimal tells was not reckoned for {unreckoned}.")
    if result.needless:
        others = counted(result.needless, "other class", "other classes")
        told.append(f"In {others} such a conclusion is wrong, as a split meets the models.")
    yield Remark("minimality", column, result.records / int(recoding.counts.sum()), " ".join(told))


def remark_on_bounds(recoding: Recoding, k: int) -> Iterator[Remark]:
    for j, tree in enumerate(recoding.ranged):
        if not isinstance(tree, RangedHierarchy):
            continue
        column = recoding.classes.attributes[j]
        if tree.shows_means:
            counts = recoding.counts
            small = float(counts[counts <= 3].sum() / max(counts.sum(), 1))
            said = (
                f"{quoted(column)} shows the least and the greatest value of a class beside its "
                f"mean. In classes of at most 3 records, {percent(100 * small)} of the release, "
                "these are all values, or nearly."
            )
            yield Remark("means-beside", column, small, said)
        rare = dict(_rare_extremes(tree, original_cells(recoding)[j], k))
        if rare:
            said = (
                f"The ranges of {quoted(column)} show the {' and the '.join(rare)} value of the "
                f"table, and fewer than {counted(k, 'record')} {'have' if k > 1 else 'has'} it."
            )
            share = sum(rare.values()) / recoding.classes.n_records
            yield Remark("extremes", column, share, said)


def _rare_extremes(tree: RangedHierarchy, cells: np.ndarray, k: int) -> Iterator[tuple[str, int]]:
    """Which extreme values a range names as a bound although fewer than k records have them."""
    leaves = np.flatnonzero(cells[: tree.n_leaves] * is_value(tree, np.arange(tree.n_leaves)))
    places = sizes([tree.labels[leaf] for leaf in leaves]) or []
    for name, extreme in (("least", min), ("greatest", max)) if places else ():
        at = leaves[np.array(places) == extreme(places)]
        records = int(cells[at].sum())
        if records < k and not tree.bounds.isdisjoint(at.tolist()):
            yield name, records


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
