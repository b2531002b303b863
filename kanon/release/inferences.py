"""Remarks on what follows from a release: from columns, ranges, minimality and the row order."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count, write_percent
from kanon.base.kinds import (
    TEXT,
    ColumnKind,
    compute_sort_sizes,
    find_moment_kinds,
    find_number_kinds,
)
from kanon.base.values import encode_texts
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.natural_order import make_sort_key
from kanon.hierarchy.ranges import RangedHierarchy, list_covered_leaves
from kanon.measures.cells import is_value
from kanon.measures.minimality import measure_minimality
from kanon.privacy.model import Model, SensitiveModel
from kanon.recoding import Recoding, is_unchanged
from kanon.release.remark_kinds import Remark
from kanon.schema import Role
from kanon.sensitive import Sensitive, order_of_values
from kanon.sources.memory import MemorySource
from kanon.sources.stored_source import StoredSource
from kanon.sources.tables import Source, Table

_LEAST_DEPENDENCE = 0.9
"""The share of what chance leaves open that other columns decide if a value follows from them."""

_LEAST_PAIRS = 20
"""The fewest pairs of records that chance alone would make different, for that to be evidence."""


def describe_dependence(column: str, recoding: Recoding, table: Table) -> str:
    """The quasi-identifiers that nearly decide a sensitive value, in words; "" if none do."""
    for source_columns, grouped in _list_groupings(column, recoding, table):
        shares = measure_agreement(grouped)
        if shares is not None and shares[0] - shares[1] >= _LEAST_DEPENDENCE * (1 - shares[1]):
            return (
                f"it follows from {source_columns}: two records that are alike there have the same "
                f"value in {write_percent(100 * shares[0])} of the cases, any two in "
                f"{write_percent(100 * shares[1])}"
            )
    return ""


def _list_groupings(
    column: str, recoding: Recoding, table: Table
) -> Iterator[tuple[str, Sensitive]]:
    classes = recoding.classes
    if classes.in_engine:
        for name in classes.attributes:
            with suppress(PlanError):  # more pairs of values than come here
                yield quote(name), table.build_classes([name], [column]).sensitive_named(column)
        return
    sensitive = classes.sensitive_named(column)
    for j, name in enumerate(classes.attributes):
        group = np.unique(classes.nodes[:, j], return_inverse=True)[1]
        yield quote(name), sensitive.grouped(group, int(group.max(initial=-1)) + 1)
    yield "all quasi-identifiers", sensitive


def measure_agreement(grouped: Sensitive) -> tuple[float, float] | None:
    """How often two records of one group, and any two records, share a sensitive value.

    >>> group, value = [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> measure_agreement(Sensitive.from_records("ill", ["a", "b"], False, group * 9, value * 9, 2))
    (1.0, 0.490566...)
    """
    n, sizes, total = grouped.count, grouped.sizes, grouped.total
    pairs = float(sizes @ (sizes - 1))
    if not pairs:
        return None
    overall = float(total @ (total - 1)) / float(total.sum() * (total.sum() - 1))
    if (1 - overall) * pairs / 2 < _LEAST_PAIRS:
        return None
    return float(n @ (n - 1)) / pairs, overall


def check_minimality(recoding: Recoding, models: Sequence[Model], k: int) -> Iterator[Remark]:
    """Remark on what :func:`measure_minimality` finds, where some probability rises."""
    beside = [model for model in models if isinstance(model, SensitiveModel)]
    result = measure_minimality(recoding, beside, k)
    if result is None or not (result.worst or result.n_without_conclusion):
        return
    column, known = beside[0].column, ""
    if result.worst:
        old, new = (write_percent(100 * share) for share in result.worst)
        where = "at worst, in the classes computed," if result.n_without_conclusion else "at worst"
        known = f": {where} a person's {quote(column)} is {new} certain instead of {old}"
    least = count_noun(k, "record" if recoding.classes.persons is None else "person")
    sentences = []
    if result.n_telling:
        sentences.append(
            f"{count_noun(result.n_telling, 'class', 'classes')} could be split into parts of at "
            f"least {least}, but no split of {'it' if result.n_telling == 1 else 'them'} meets "
            f"{' and '.join(model.sentence for model in beside)}. kanon makes minimal releases: it "
            "generalises no more than needed. Anyone who knows this concludes that every split has "
            f"a part that does not meet the requirements{known}."
        )
    if result.n_without_conclusion:
        unreckoned = count_noun(result.n_without_conclusion, "class", "classes")
        sentences.append(f"For {unreckoned}, what a minimality attack reveals was not computed.")
    if result.n_needless:
        others = count_noun(result.n_needless, "other class", "other classes")
        sentences.append(f"In {others} such a conclusion is wrong: a split there meets the models.")
    yield Remark(
        "minimality", column, result.records / int(recoding.counts.sum()), " ".join(sentences)
    )


def check_range_bounds(recoding: Recoding, k: int) -> Iterator[Remark]:
    for j, tree in enumerate(recoding.ranged):
        if not isinstance(tree, RangedHierarchy):
            continue
        column = recoding.classes.attributes[j]
        if tree.shows_means:
            counts = recoding.counts
            small = float(counts[counts <= 3].sum() / max(counts.sum(), 1))
            text = (
                f"{quote(column)} shows the lowest and the highest value of each class beside its "
                f"mean. In classes of at most 3 records ({write_percent(100 * small)} of the "
                "release), these numbers give away all or nearly all original values."
            )
            yield Remark("means-beside", column, small, text)
        rare = dict(_find_rare_extremes(tree, recoding.original.cells[j], k))
        if rare:
            text = (
                f"The ranges of {quote(column)} show the {' and the '.join(rare)} value of the "
                f"table, which fewer than {count_noun(k, 'record')} {'have' if k > 1 else 'has'}."
            )
            share = sum(rare.values()) / recoding.classes.n_records
            yield Remark("extremes", column, share, text)


def _find_rare_extremes(
    tree: RangedHierarchy, cells: np.ndarray, k: int
) -> Iterator[tuple[str, int]]:
    """The extreme values that a range names as a bound although fewer than k records have them."""
    leaves = np.flatnonzero(cells[: tree.n_leaves] * is_value(tree, np.arange(tree.n_leaves)))
    places = compute_sort_sizes([tree.labels[leaf] for leaf in leaves]) or []
    for name, extreme in (("lowest", min), ("highest", max)) if places else ():
        at = leaves[np.array(places) == extreme(places)]
        records = int(cells[at].sum())
        if records < k and not tree.bounds.isdisjoint(at.tolist()):
            yield name, records


_ROWS_PER_OUTLIER = 20  # at most one record in this many of a sorted column stands out of line
_FEWEST_VALUES = 8  # values that restore an order; fewer only form blocks
_MOST_ENGINE_ROWS = 10_000  # rows of a table in an engine whose order is examined
_MOST_NATURAL_VALUES = 100_000  # with more values, numbers in texts such as n9 are not read
_MOST_CLASS_ROWS = 2_000_000  # rows of an engine whose classes are fetched to be counted


class OrderLeak(NamedTuple):
    """What the table's order gives away to anyone who knows how the table was sorted."""

    columns: tuple[tuple[str, str, int, int], ...]  # name, verb, cells generalised and read off
    smallest: int  # records of the smallest class, as the attacker has narrowed it; 0 without any
    n_unique: int  # records that are a class of their own then


def find_longest_run(places: np.ndarray) -> np.ndarray:
    """Mark the numbers on a longest never-falling run. Shape (n,), bool."""
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


def find_row_order(codes: np.ndarray, orders: Iterable[np.ndarray]) -> RowOrder | None:
    """The first order of values along which rows rise or fall; of a missing cell the code is -1."""
    for places_of_values in orders:
        for verb, places in (
            ("rises", places_of_values),
            ("falls", places_of_values.max(initial=0) - places_of_values),
        ):
            places = np.where(places_of_values < 0, -1, places)
            rows = np.append(places, -1)[codes]
            filled = rows >= 0
            rising = rows[filled]
            most = (len(rising) - np.bincount(rising, minlength=1).max()) / _ROWS_PER_OUTLIER
            falls = (np.diff(rising) < 0).sum()
            if most and falls <= 2 * most:  # of the two rows at a fall one stands out of line
                filled[filled] = find_longest_run(rising) if falls else True
                if len(rising) - filled.sum() <= most:
                    return RowOrder(verb, places, filled)
    return None


def measure_order_leak(
    recoding: Recoding, row_class: np.ndarray, kinds: Mapping[str, ColumnKind]
) -> OrderLeak:
    narrowed, columns = recoding.assigned[row_class], []
    for j, name in enumerate(recoding.classes.attributes):
        tree, before = recoding.hierarchies[j], recoding.classes.nodes[row_class, j]
        leaves, after = np.arange(tree.n_leaves), recoding.targets[row_class, j]
        orders = [*_list_orders(tree.labels[: tree.n_leaves], kinds.get(name)), leaves]
        orders = [np.where(is_value(tree, leaves), places, -1) for places in orders]
        row_order = find_row_order(np.where(before < tree.n_leaves, before, -1), orders)
        if row_order is None:
            continue
        top, places, run = len(leaves), row_order.places, row_order.run
        least = _find_least_places(tree, places, after, run)
        mirrored = np.where(places < 0, -1, top - places)
        greatest = top - _find_least_places(tree, mirrored, after[::-1], run[::-1])[::-1]
        raised = ~is_unchanged(tree, after, before)
        read_off = int((raised & run & (least == greatest)).sum())
        columns.append((name, row_order.verb, int(raised.sum()), read_off))
        for bound in (least, greatest):
            narrowed = np.unique(narrowed * (top + 2) + bound, return_inverse=True)[1]
    records = np.unique(narrowed[recoding.assigned[row_class] >= 0], return_counts=True)[1]
    return OrderLeak(tuple(columns), min(records, default=0), int((records == 1).sum()))


def _list_orders(texts: Sequence[str], kind: ColumnKind | None) -> Iterator[np.ndarray]:
    """The place of each text by its size or the alphabet, and as people would sort it."""
    sample = texts[:: len(texts) // 1000 + 1]  # to try all kinds on all texts would take a minute
    kind = kind or next(iter((*find_number_kinds(sample), *find_moment_kinds(sample))), TEXT)
    key = make_sort_key if len(texts) <= _MOST_NATURAL_VALUES else str.casefold
    for ordered in (order_of_values(texts, kind)[0], sorted(texts, key=key)):
        place = {text: number for number, text in enumerate(ordered)}
        yield np.array([place[text] for text in texts], dtype=np.int64)


def _find_least_places(
    tree: Hierarchy, places: np.ndarray, nodes: np.ndarray, run: np.ndarray
) -> np.ndarray:
    below: dict[int, Sequence[int]] = {}
    for node in np.unique(nodes).tolist():
        below_node = np.unique(places[list_covered_leaves(tree, np.array([node]))[1]])
        below_node = below_node[
            below_node >= min(below_node[-1], 0)
        ]  # a missing cell is below nothing but itself
        gapless = below_node[-1] - below_node[0] == len(below_node) - 1  # a range takes no room
        below[node] = range(below_node[0], below_node[-1] + 1) if gapless else below_node.tolist()
    bounds, bound = [], 0
    for node, in_line in zip(nodes.tolist(), run.tolist(), strict=True):
        if in_line:
            bound = below[node][bisect_left(below[node], bound)]
        bounds.append(bound if in_line else below[node][0])
    return np.array(bounds, dtype=np.int64)


def check_row_order(
    source: Source, roles: Mapping[str, Role], recoding: Recoding, order: str
) -> Iterator[Remark]:
    """Remark on what the row order gives away, and on unchanged columns that restore it."""
    if isinstance(source, MemorySource):
        rows = source.select_released_rows(recoding, np.arange(source.table.n_records))
        cells, row_class, along = source.table.frame.iloc[rows], source.row_class[rows], "the table"
        visible_rows, kinds = recoding.assigned[row_class] >= 0, source.table.kinds
    else:
        assert isinstance(source, StoredSource)
        cells, kinds = source.table.fetch_first_rows(_MOST_ENGINE_ROWS), source.table.kinds
        first = f"the first {write_count(_MOST_ENGINE_ROWS)} rows of the table"
        visible_rows, along = slice(None), first if len(cells) == _MOST_ENGINE_ROWS else "the table"
        row_class = source.get_row_classes(recoding, _MOST_CLASS_ROWS) if order == "table" else None
    restoring, sentences = {}, []
    for name, role in roles.items():
        if role in (Role.SENSITIVE, Role.INSENSITIVE):
            row_order = _find_cell_order(cells[name][visible_rows], kinds.get(name))
            if row_order is not None and len(row_order.places) >= _FEWEST_VALUES:
                restoring[name] = row_order
    if not restoring and order != "table":
        return
    conclusion_of_role = {
        Role.IDENTIFIER: "anyone who has its values in order knows whose row each is"
    }
    if row_class is None:
        conclusion_of_role[Role.QUASI_IDENTIFIER] = (
            "how much this reveals was not counted in the engine"
        )
    else:
        leak = measure_order_leak(recoding, row_class, kinds)
        for name, verb, raised, read_off in leak.columns:
            generalised = count_noun(raised, "generalised value")
            back = (
                f"this reveals the original value behind {write_count(read_off)} of {generalised}"
            )
            back = back if raised else "it is released as it was"
            sentences.append(f"In the order of the rows, {quote(name)} {verb}: {back}.")
        if leak.smallest < (recoding.min_k or 0):
            becomes = f"The smallest class shrinks to {count_noun(leak.smallest, 'record')}"
            alone = count_noun(leak.n_unique, "record is", "records are")
            sentences.append(f"{becomes}, and {alone} unique.")
    for name in [name for name, role in roles.items() if role in conclusion_of_role]:
        row_order = _find_cell_order(cells[name], kinds.get(name))
        if row_order is not None:
            sentences.append(
                f"In the order of {along}, {quote(name)} {row_order.verb}: "
                f"{conclusion_of_role[roles[name]]}."
            )
    if order == "table":
        nothing = f"No quasi-identifier or identifier rises or falls in the order of {along}, but "
        nothing += "anyone who knows that order, such as an employee, can tell whose row each is."
        text = " ".join(sentences) or nothing
        yield Remark("table-order", "", 1.0, f"The rows keep the table's order. {text}")
    for name, row_order in restoring.items():
        text = (
            f"{quote(name)} passes into the release unchanged and {row_order.verb} in the order of "
            f"{along}: anyone who sorts by this column restores the order, except among rows with "
            "the same value."
        )
        yield Remark(
            "restores-order", name, float(row_order.run.mean()), " ".join([text, *sentences])
        )


def _find_cell_order(cells: pd.Series, kind: ColumnKind | None) -> RowOrder | None:
    step = len(cells) // _MOST_ENGINE_ROWS
    if (
        step > 1 and _find_cell_order(cells.iloc[::step], kind) is None
    ):  # what is sorted is so there too
        return None
    if getattr(cells.dtype, "kind", "O") in "iufM":
        codes, values = pd.factorize(cells, sort=True)
        return find_row_order(codes, [np.arange(len(values))])
    codes, texts = encode_texts(cells)
    return find_row_order(codes, _list_orders(texts, kind))
