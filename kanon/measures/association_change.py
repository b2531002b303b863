"""Association change: how much weaker, or stronger, columns seem to be associated."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kanon.base.kinds import read_numbers
from kanon.base.values import MISSING_LABEL
from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.measures.spread import (
    SpreadColumn,
    build_spread_columns,
    count_jointly,
    estimate_joint_counts,
)
from kanon.recoding import Recoding

CARD = read_card(__file__)

MOST_PAIRS = 2**20
"""Two columns with more pairs of values than this, 8 MB of numbers, are left out."""

BINS = 10
"""A column of more numbers than this is put into this many bins of equally many records."""

RECORDS_PER_VALUE = 2
"""A column with fewer records per value on average is near-unique and left out."""


@dataclass(frozen=True, eq=False)
class Associations:
    """How closely columns are associated, two by two."""

    columns: tuple[str, ...]  #: quasi-identifiers, then sensitive ones, without near-unique ones
    #: (c, c): Cramér's V in [0, 1], corrected for chance; symmetric. Not a number on the diagonal,
    #: for two sensitive columns, and for what was left out
    cramers_v: np.ndarray
    left_out: tuple[tuple[str, str], ...] = ()  #: with more than :data:`MOST_PAIRS` value pairs
    near_unique: tuple[str, ...] = ()  #: with fewer than :data:`RECORDS_PER_VALUE` per value
    binned: tuple[str, ...] = ()  #: the columns of numbers that were put into :data:`BINS` bins

    @property
    def pairs(self) -> int:
        """How many pairs of columns were counted."""
        return int(np.count_nonzero(~np.isnan(self.cramers_v))) // 2


class Change(NamedTuple):
    """The association of a pair of columns, before and after."""

    one: str
    other: str
    before: float
    after: float


def strongest(then: Associations, now: Associations) -> Change | None:
    """The pair that changed most, the first of several; None if nothing changed."""
    apart = np.nan_to_num(np.triu(np.abs(then.cramers_v - now.cramers_v), 1))
    if not apart.any():
        return None
    i, j = divmod(int(apart.argmax()), len(then.columns))
    first, last = float(then.cramers_v[i, j]), float(now.cramers_v[i, j])
    return Change(then.columns[i], then.columns[j], first, last)


def before(classes: EquivalenceClasses) -> Associations:
    """The associations of the original table, cached for its lifetime."""
    return _measure_original(classes)[1]


def after(recoding: Recoding) -> Associations:
    """The associations that a reader of the release expects, under uniform spread.

    Bins, near-unique columns and the highest φ² are those of the original table.
    """
    return _measure_associations(recoding.released, _measure_original(recoding.classes)[0])


def value(recoding: Recoding) -> float | None:
    """The mean of |V before - V after| over pairs of columns, one a quasi-identifier at least.

    V = √(max(0, φ² - chance) / (min(r', c') - 1)) is Cramér's, as Bergsma corrects it: without
    what independent columns reach by chance, on average.

    φ² = χ² / N is that of the estimated number of records of every pair of leaves, Σ over classes
    of |C| u_i ⊗ u_j with u = 1 / |v| below the class's node v and 0 elsewhere; N is their sum.
    Chance is (r - 1)(c - 1) / (N - 1), r and c being how many values the cells distinguish: see
    :attr:`kanon.measures.spread.SpreadColumn.n_distinguished`. Where cells are raised to several
    levels, often both columns at once, the mean of r c is that over records of the two at their
    levels. r' = r - (r - 1)² / (N - 1), and c', are those of the original table, before and after,
    so a release gains nothing by distinguishing fewer values.

    A column of more than :data:`BINS` numbers is put into bins of equally many original records,
    which take the place of its leaves: a number is in the bin of the middle of its records.
    Columns that are near-unique in the original table are left out. Suppressed records are in no
    class. V is 0 where a column has one value, or nothing is released.

    In [0, 1]: 0 if all associations are unchanged, as in the identity, and for one column. None if
    all pairs were left out, for a near-unique column or more than :data:`MOST_PAIRS` pairs of
    values.
    """
    then, now = before(recoding.classes), after(recoding)
    upper = np.triu_indices(len(then.columns), 1)
    apart = np.abs(then.cramers_v - now.cramers_v)[upper]
    apart = apart[~np.isnan(apart)]
    if not len(apart):
        return None if len(then.columns) + len(then.near_unique) > 1 else 0.0
    return math.fsum(apart.tolist()) / len(apart)


class _Scale(NamedTuple):
    bins: dict[str, np.ndarray | None]  # per column the bin of every leaf
    highest: dict[str, float]  # per column r' - 1
    near_unique: tuple[str, ...]  # the columns that are not counted, and in neither of these


_CACHE: WeakKeyDictionary[EquivalenceClasses, tuple[_Scale, Associations]] = WeakKeyDictionary()


def _measure_original(classes: EquivalenceClasses) -> tuple[_Scale, Associations]:
    if classes not in _CACHE:
        scale = _compute_scale(classes)
        _CACHE[classes] = scale, _measure_associations(classes, scale)
    return _CACHE[classes]


def _compute_scale(classes: EquivalenceClasses) -> _Scale:
    n = classes.n_records
    all_bins: dict[str, np.ndarray | None] = {}
    highest: dict[str, float] = {}
    near_unique = []
    for column in build_spread_columns(classes):
        bins = _choose_bins(column)
        spread = column if bins is None else column.merge_into_bins(bins)
        values = np.count_nonzero(column.at if bins is None else spread.records)
        if n < RECORDS_PER_VALUE * values:
            near_unique.append(column.name)
            continue
        more = _count_values(spread) - 1
        all_bins[column.name] = bins
        highest[column.name] = more - more**2 / max(n - 1, 1)
    return _Scale(all_bins, highest, tuple(near_unique))


def _choose_bins(column: SpreadColumn) -> np.ndarray | None:
    present = [place for place, text in enumerate(column.values) if text != MISSING_LABEL]
    sizes = read_numbers([column.values[place] for place in present])
    if sizes is None:
        return None
    rank = np.unique(sizes, return_inverse=True)[1]
    records = np.bincount(rank, weights=column.records[present])
    if np.count_nonzero(records) <= BINS:
        return None
    middle = np.cumsum(records) - records / 2
    bins = np.full(len(column.values), BINS)
    bins[present] = np.minimum(BINS * middle / records.sum(), BINS - 1).astype(int)[rank]
    return bins


def _measure_associations(classes: EquivalenceClasses, scale: _Scale) -> Associations:
    columns = [
        column if (bins := scale.bins[column.name]) is None else column.merge_into_bins(bins)
        for column in build_spread_columns(classes)
        if column.name in scale.bins
    ]
    names = tuple(column.name for column in columns)
    cramers_v, left_out = np.full((len(names), len(names)), np.nan), []
    for i, j in combinations(range(len(names)), 2):
        first, second = columns[i], columns[j]
        if first.of_entry is not None:
            continue  # two sensitive columns
        if first.shares.shape[1] * second.shares.shape[1] > MOST_PAIRS:
            left_out.append((names[i], names[j]))
            continue
        highest = min(scale.highest[names[i]], scale.highest[names[j]])
        cramers_v[i, j] = cramers_v[j, i] = _compute_cramers_v(first, second, highest)
    cramers_v.setflags(write=False)
    binned = tuple(name for name in names if scale.bins[name] is not None)
    return Associations(names, cramers_v, tuple(left_out), scale.near_unique, binned)


def _compute_cramers_v(first: SpreadColumn, second: SpreadColumn, highest: float) -> float:
    """V of two columns: φ² without its value by chance, as a share of the highest."""
    n = int(first.at.sum())
    if n < 2 or highest <= 0:
        return 0.0
    nodes = count_jointly(first, second)
    expected = np.outer(first.records, second.records) / n
    occurs = expected > 0
    apart = (estimate_joint_counts(first, second, nodes) - expected)[occurs]
    square = float((apart**2 / expected[occurs]).sum()) / n
    both = float(first.n_distinguished @ (nodes @ second.n_distinguished)) / n
    chance = (both - _count_values(first) - _count_values(second) + 1) / (n - 1)
    return math.sqrt(min(1.0, max(0.0, square - chance) / highest))


def _count_values(column: SpreadColumn) -> float:
    return float(column.n_distinguished @ column.at) / max(int(column.at.sum()), 1)
