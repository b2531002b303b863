"""MDAV: groups of k records that are near each other, from the outside inwards; numbers only."""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import reduce
from itertools import count
from math import ceil, lcm, log10

import numpy as np

from kanon.algorithms.algorithm_card import read_algorithm_card, read_parameter
from kanon.algorithms.level_bounds import keep_level_bounds
from kanon.algorithms.lines import ValueOrder, add_ranges_beside
from kanon.algorithms.repair_release import refuse_models
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.kinds import find_kind
from kanon.base.progress import Progress, ignore_progress
from kanon.base.values import MISSING_LABEL
from kanon.classes import EquivalenceClasses
from kanon.errors import PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.kernels.mdav import GROUPS, RECORDS, MdavRun, group_some
from kanon.recoding import Recoding, Trace

RANGES = read_parameter(__file__, "ranges")

CARD = read_algorithm_card(__file__, (RANGES,))

_DIGITS = 400  # a power of ten that is too large, or too near to 0, for a float

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
"""A number as programs write it, without a unit or marks of thousands."""

_MOST = 2**62  # no sum over all records may reach this


@dataclass(frozen=True, eq=False)
class NumberedColumn:
    """One quasi-identifier as whole numbers."""

    line: ValueOrder  # its values in order
    values: np.ndarray  # (E,) int64: (value - lowest) * unit of each class
    lowest: Fraction
    unit: Fraction
    weight: float  # of squared differences of values: 1 / variance; 0 of a column with one value
    digits: int  # the most decimals of its values
    label_of: dict[Fraction, str]  # how the hierarchy writes a number that it has

    @property
    def fine_digits(self) -> int:
        """Two decimals, or more where the values span less than 1."""
        span = Fraction(int(self.values.max())) / self.unit
        return 2 + (ceil(-log10(span)) if 0 < span < 1 else 0)

    def means(self, counts: np.ndarray, group: np.ndarray, digits: int) -> list[str]:
        """The mean of each group with at most so many decimals, written as the hierarchy does."""
        records, sums = np.zeros((2, int(group.max()) + 1), dtype=np.int64)
        np.add.at(records, group, counts)
        np.add.at(sums, group, counts * self.values)
        means = (
            round(self.lowest + Fraction(total, max(size, 1)) / self.unit, digits)
            for total, size in zip(sums.tolist(), records.tolist(), strict=True)
        )
        return [self.label_of.get(mean) or _format_number(mean, digits) for mean in means]


def describe_content(tree: Hierarchy, plain: bool = True) -> str:
    """What a column holds in place of (plain) numbers, dates or texts; "" if it holds numbers."""
    leaves = [label for label in tree.labels[: tree.n_leaves] if label != MISSING_LABEL]
    if find_kind(leaves).is_moment:  # 20240131 would be a number
        return "dates"
    numeric = ValueOrder.from_hierarchy(tree).numeric
    return "" if numeric and (not plain or all(map(_NUMBER.fullmatch, leaves))) else "texts"


def check(task: Task) -> None:
    """Refuse columns with texts or missing cells, and models beyond k-anonymity."""
    for name, tree in zip(task.classes.attributes, task.classes.hierarchies, strict=True):
        if content := describe_content(tree):
            raise PlanError(
                f"MDAV takes means, but {quote(name)} holds {content}; use k-member or Mondrian."
            )
        if MISSING_LABEL in tree.node_of:
            raise PlanError(
                f"MDAV takes means, but {quote(name)} has missing cells; leave their records out, "
                "or use k-member or Mondrian."
            )
    refuse_models((*task.others, *task.of_release), "MDAV", "only counts records")
    task.check()


@keep_level_bounds
def anonymise(task: Task, progress: Progress = ignore_progress) -> Recoding:
    """Group the records, and release per group and quasi-identifier its mean.

    Source: Domingo-Ferrer, Torra 2005, algorithm 2 (MDAV-generic).

    The mean of the records of the group, rounded to the decimals that the values of the column have
    (half to even); it stands for the range of the values in its class, which losses count. With the
    option ``ranges`` ``beside`` values ``[a, b], mean m``, the mean with at most two decimals; with
    ``outward`` the same, open where fewer than k records of the table lie at a bound or beyond it,
    the mean rounded as without a range. A value that a whole group has stays as it is. Groups with
    the same values are one class. ``trace.steps`` counts the groups.

    Eight ages. Farthest from their mean, 10, is 21.

    >>> from kanon.hierarchy.ranges import build_flat_hierarchy
    >>> ages = build_flat_hierarchy(["1", "2", "3", "10", "11", "12", "20", "21"])
    >>> nodes = np.arange(8, dtype=np.int32)[:, None]
    >>> classes = EquivalenceClasses(("age",), (ages,), nodes, np.ones(8, dtype=np.int64))
    >>> release = anonymise(Task(classes, (), k=3))
    >>> [release.hierarchies[0].labels[v] for v in release.nodes[:, 0]]
    ['18', '5']
    """
    columns, group = _group_records(task, progress)
    return released(task, columns, group, progress)


def released(
    task: Task,
    columns: list[NumberedColumn],
    group: np.ndarray,
    progress: Progress = ignore_progress,
) -> Recoding:
    """The release in which every group is in one class, as the option ``ranges`` says."""
    ranges, counts = task.option(RANGES), task.classes.counts
    alone, trace = ranges == "centroid", Trace(steps=int(group.max()) + 1)
    means = [
        column.means(counts, group, column.fine_digits if ranges == "beside" else column.digits)
        for column in columns
    ]
    if alone:  # anyone who reads the file sees groups with the same means as one class
        rows = list(zip(*means, strict=True))
        class_of = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        group = np.array([class_of[row] for row in rows])[group]
        means = [list(texts) for texts in zip(*class_of, strict=True)]
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    targets = np.empty(task.classes.nodes.shape, dtype=np.int64)
    trees: list[Hierarchy] = []
    for j, (column, texts) in enumerate(zip(columns, means, strict=True)):
        line, nodes = column.line, task.classes.nodes[order, j]
        raised, low, high = line.spans(nodes, starts)
        open_below = task.k if ranges == "outward" else 0
        spans = line.open_bounds(low, high, nodes, counts[order], open_below)
        if alone:
            labels = [line.tree.labels[node] for node in raised]
            raised[[label != text for label, text in zip(labels, texts, strict=True)]] = -1
        missing = np.flatnonzero(raised < 0)
        tree, raised[missing] = add_ranges_beside(
            line, [spans[g]._replace(mean=texts[g], mean_alone=alone) for g in missing]
        )
        targets[:, j] = raised[group]
        trees.append(tree)
        progress(
            1.0, f"{write_count(len(starts))} groups, values of {j + 1} columns of {len(columns)}"
        )
    return Recoding.from_targets(task.classes, targets, hierarchies=tuple(trees), trace=trace)


def partition(task: Task, progress: Progress = ignore_progress) -> np.ndarray:
    """The group of each class, numbered in the order in which the groups are made.

    While at least 3k records are in no group: r, the one farthest from their mean, gets its nearest
    around it until the group holds k; s, the one farthest from r, likewise. With at least 2k left,
    the farthest from their mean gets its nearest; what is left then is the last group. Distances
    are squared and Euclidean, of values in standard deviations of the table; ties go to the first
    in canonical order.

    Whole classes move, so a group may hold more than k, and three things can happen that cannot
    with single records: if s is in the group of r, or fewer than 2k records are left after that,
    no group is made around s; if fewer than k are left at the end, each of their classes joins the
    group whose mean is nearest.

    A value that is no leaf (the table is partly generalised) counts as the middle between its
    lowest and its highest number.
    """
    return _group_records(task, progress)[1]


def columns_of(classes: EquivalenceClasses) -> list[NumberedColumn]:
    """The quasi-identifiers as whole numbers, with what their squared differences count."""
    return [build_column(classes, j) for j in range(len(classes.attributes))]


def _group_records(task: Task, progress: Progress) -> tuple[list[NumberedColumn], np.ndarray]:
    check(task)
    classes = task.classes
    size, n = classes.n_classes, classes.n_records
    columns = columns_of(classes)
    values = np.stack([column.values for column in columns], axis=1)
    counts = classes.counts
    run = MdavRun(
        values,
        weights=np.array([column.weight for column in columns]),
        counts=counts,
        live=np.arange(size),
        sums=(counts[:, None] * values).sum(axis=0),
        group=np.full(size, -1, dtype=np.int64),
        group_sums=np.zeros(values.shape, dtype=np.int64),
        group_counts=np.zeros(size, dtype=np.int64),
        distance=np.zeros(size),
        nearest=np.zeros(size, dtype=np.int64),
        state=np.array([size, n, 0], dtype=np.int64),
    )
    all_grouped = False
    while not all_grouped:
        all_grouped = group_some(run, task.k, 5_000_000)
        n_left, groups = int(run.state[RECORDS]), int(run.state[GROUPS])
        progress(
            1 - n_left / n,
            f"{write_count(groups)} groups, {write_count(n_left)} records left of {write_count(n)}",
        )
    return columns, run.group


def build_column(classes: EquivalenceClasses, j: int) -> NumberedColumn:
    """A quasi-identifier as whole numbers: exact ones, unless their sum would not fit 62 bits.

    A missing cell counts as the lowest number, to be given no weight.
    """
    line, nodes = ValueOrder.from_hierarchy(classes.hierarchies[j]), classes.nodes[:, j]
    highest = np.minimum(line.highest, line.last_value)
    by_rank = {
        int(line.rank[leaf]): _parse_number(line.tree.labels[leaf])
        for leaf in line.by_rank[::-1]
        if line.tree.labels[leaf] != MISSING_LABEL
    }
    middle = {
        int(node): (by_rank[int(line.lowest[node])] + by_rank[int(highest[node])]) / 2
        for node in np.unique(nodes)
        if line.lowest[node] <= line.last_value
    }
    lowest = min(middle.values(), default=Fraction(0))
    span = max(middle.values(), default=lowest) - lowest
    unit = Fraction(reduce(lcm, (value.denominator for value in middle.values()), 1))
    if span * unit * classes.n_records >= _MOST:
        unit = Fraction(_MOST - 1, classes.n_records) / span
    scaled = np.zeros(line.tree.n_nodes, dtype=np.int64)
    for node, value in middle.items():
        scaled[node] = int((value - lowest) * unit)
    values, tree = scaled[nodes], line.tree
    parts = (value.denominator for node, value in middle.items() if node < tree.n_leaves)
    parts_of_one = reduce(lcm, parts, 1)
    digits = next(d for d in count() if 10**d % parts_of_one == 0)
    label_of = {
        by_rank[rank]: tree.labels[leaf]
        for leaf in line.by_rank[::-1]
        if (rank := int(line.rank[leaf])) in by_rank
    }
    weight = _inverse_variance(values, classes.counts)
    return NumberedColumn(line, values, lowest, unit, weight, digits, label_of)


def _parse_number(label: str) -> Fraction:
    """The number that a text means; 0 if its decimals would fill the memory.

    >>> _parse_number("2.50"), _parse_number("1e-99999999")
    (Fraction(5, 2), Fraction(0, 1))
    """
    try:
        number = Decimal(label)
    except InvalidOperation:  # an exponent that only floats know
        return Fraction(float(label))
    return Fraction(number) if abs(number.adjusted()) < _DIGITS else Fraction(float(label))


def _inverse_variance(values: np.ndarray, counts: np.ndarray) -> float:
    """1 / variance over all records, correctly rounded; 0 of a column with one value."""
    numbers, weights = values.tolist(), counts.tolist()
    n, total = sum(weights), sum(map(int.__mul__, numbers, weights))
    squares = sum(weight * number * number for weight, number in zip(weights, numbers, strict=True))
    spread = n * squares - total * total
    return float(Fraction(n * n, spread)) if spread else 0.0


def _format_number(number: Fraction, digits: int) -> str:
    """A number with at most so many decimals.

    >>> [_format_number(Fraction(*pair), 2) for pair in ((53, 3), (10, 1))]
    ['17.67', '10']
    """
    text = f"{float(round(number, digits)):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if digits else text
    return "0" if text == "-0" else text
