"""How often each value of a sensitive column occurs in each class."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kanon.base.kinds import ColumnKind, compute_sort_sizes, read_numbers
from kanon.base.spelling import fold_spelling
from kanon.base.values import MISSING_LABEL


def order_of_values(texts: Sequence[str], kind: ColumnKind | None = None) -> tuple[list[str], bool]:
    """The distinct values of a sensitive column in order, and whether they are numbers.

    Numbers are sorted by size, dates by time, others (and equal numbers, such as 1.5 and 1.50) by
    the alphabet; missing cells, which count as one value, come last. ``kind`` says how the texts
    are read; by default :mod:`kanon.base.kinds` finds it.

    >>> order_of_values(["10", "9", "(missing)"])
    (['9', '10', '(missing)'], True)
    >>> order_of_values(["1.000,50", "999,90"])
    (['999,90', '1.000,50'], True)
    >>> order_of_values(["b", "10", "a"])
    (['10', 'a', 'b'], False)
    """
    present = sorted(text for text in texts if text != MISSING_LABEL)
    keys = compute_sort_sizes(present, kind)
    values = present
    if keys is not None:
        values = [present[place] for place in np.argsort(keys, kind="stable")]
    numeric = keys is not None and read_numbers(present, kind) is not None
    return values + [MISSING_LABEL] * (len(present) < len(texts)), numeric


class SensitiveValues(tuple[str, ...]):
    """The distinct values of a column, which find spellings of one value when needed."""

    @cached_property
    def read_as(self) -> np.ndarray | None:
        """Per value a number, equal for spellings of one value; None if all differ."""
        place: dict[Hashable, int] = {}
        numbers = [place.setdefault(fold_spelling(text), len(place)) for text in self]
        return None if len(place) == len(numbers) else np.array(numbers)


@dataclass(frozen=True, eq=False)
class ValueTree:
    """The groups of a hierarchy above each value of a sensitive column."""

    # per value its own number and those of its groups up to the root, which fills the rest
    chain: np.ndarray
    rise: np.ndarray  # per such number the levels up to the next group


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The histograms of one sensitive column, one per class, with only the values that occur.

    A class with two colds, and one with a cold and an angina.

    >>> ill = Sensitive.from_records(
    ...     "disease", ["angina", "cold"], False, [0, 0, 1, 1], [1, 1, 0, 1], 2)
    >>> ill.dense().tolist(), ill.total.tolist(), ill.sizes.tolist()
    ([[0, 2], [1, 1]], [1, 3], [2, 2])
    """

    name: str  #: the column
    values: tuple[str, ...]  #: v distinct values of the table, ordered by :func:`order_of_values`
    numeric: bool  #: whether the values are numbers, with distances between them
    start: np.ndarray  #: (R + 1,) int64: class c has the entries ``start[c]`` to ``start[c + 1]``
    value: np.ndarray  #: int32: per entry the position of a value, rising within a class
    count: np.ndarray  #: int64: per entry the number of records that have it, at least 1
    #: (v,) int64: the number of records of the whole table with each value, also for some of its
    #: classes: p(s, T) is ``total / total.sum()``
    total: np.ndarray
    tree: ValueTree | None = None  #: how far the values are apart, where a model asks for it
    codes: np.ndarray | None = None  #: (v, columns): of a combination each column's value

    @classmethod
    def from_records(
        cls,
        name: str,
        values: Sequence[str],
        numeric: bool,
        group: Sequence[int] | np.ndarray,
        codes: Sequence[int] | np.ndarray,
        n_classes: int,
    ) -> Sensitive:
        """Count the records of each class, by their classes and the positions of their values."""
        once = np.ones(len(codes), dtype=np.int64)
        return cls.from_counts(name, values, numeric, group, codes, once, n_classes)

    @classmethod
    def from_counts(
        cls,
        name: str,
        values: Sequence[str],
        numeric: bool,
        group: Sequence[int] | np.ndarray,
        codes: Sequence[int] | np.ndarray,
        counts: np.ndarray,
        n_classes: int,
    ) -> Sensitive:
        """Count groups of records: each entry stands for ``counts`` records."""
        values = values if isinstance(values, tuple) else tuple(values)
        width = max(len(values), 1)
        keys = np.asarray(group, dtype=np.int64) * width + np.asarray(codes, dtype=np.int64)
        if n_classes * width <= 8 * len(keys):
            occurs = np.bincount(keys, minlength=n_classes * width) > 0
            distinct, place = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]
        else:
            distinct, place = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sums, place, counts)
        start = np.searchsorted(distinct, np.arange(n_classes + 1) * width).astype(np.int64)
        value = (distinct % width).astype(np.int32)
        total = np.zeros(len(values), dtype=np.int64)
        np.add.at(total, value, sums)
        return cls(name, values, numeric, start, value, sums, total)

    def __post_init__(self) -> None:
        if not isinstance(self.values, SensitiveValues):
            object.__setattr__(self, "values", SensitiveValues(self.values))

    @cached_property
    def folded(self) -> Sensitive:
        """The histograms with spellings of one value as one, as diversity counts them.

        >>> ills = ["ASTHMA", "Asthma", "cold"]
        >>> ill = Sensitive.from_records("ill", ills, False, [0, 0, 1, 1], [0, 1, 1, 2], 2)
        >>> ill.folded.values, ill.folded.dense().tolist()
        (('ASTHMA', 'cold'), [[2, 0], [1, 1]])
        """
        assert isinstance(self.values, SensitiveValues)
        read_as = self.values.read_as
        if read_as is None:
            return self
        values = tuple(self.values[place] for place in np.unique(read_as, return_index=True)[1])
        histogram = Sensitive.from_counts(
            self.name, values, self.numeric,
            self.of_entry, read_as[self.value], self.count, self.n_classes,
        )  # fmt: skip
        total = np.bincount(read_as, self.total, len(values)).astype(np.int64)
        return replace(histogram, total=total)

    @property
    def n_classes(self) -> int:
        """R, the number of classes."""
        return len(self.start) - 1

    @property
    def of_entry(self) -> np.ndarray:
        """Per entry its class."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.start))

    @property
    def sizes(self) -> np.ndarray:
        """The number of records of each class. Shape (R,), int64."""
        return self.summed(self.count)

    def summed(self, per_entry: np.ndarray) -> np.ndarray:
        """The sum of a number per entry over each class; 0 for one without entries."""
        sums = np.zeros(self.n_classes, dtype=per_entry.dtype)
        has_entries = np.diff(self.start) > 0
        if has_entries.any():  # reduceat would give an empty class the entry that follows
            sums[has_entries] = np.add.reduceat(per_entry, self.start[:-1][has_entries])
        return sums

    def grouped(self, group: np.ndarray, n_groups: int) -> Sensitive:
        """The histograms of merged classes; a class of group -1 leaves the table and its total."""
        target = np.asarray(group)[self.of_entry]
        stays = target >= 0
        merged = Sensitive.from_counts(
            self.name, self.values, self.numeric,
            target[stays], self.value[stays], self.count[stays], n_groups,
        )  # fmt: skip
        return replace(merged, tree=self.tree, codes=self.codes)

    def only(self, classes: np.ndarray) -> Sensitive:
        """Some classes, in that order; the total stays that of the whole table."""
        lengths = np.diff(self.start)[classes]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
        entries = np.repeat(self.start[:-1][classes], lengths) + within
        return replace(self, start=start, value=self.value[entries], count=self.count[entries])

    def whole(self) -> Sensitive:
        """The histogram of the table as one class."""
        return self.grouped(np.zeros(self.n_classes, dtype=np.int64), 1)

    def dense(self) -> np.ndarray:
        """All counts, zeros too. Shape (R, v), int64: for few classes or values."""
        counts = np.zeros((self.n_classes, len(self.values)), dtype=np.int64)
        counts[self.of_entry, self.value] = self.count
        return counts
