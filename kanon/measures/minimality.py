"""Minimality: what follows from classes that were raised further than k alone asks for.

Anyone who knows everybody's quasi-identifiers, the hierarchies and the models knows more if nothing
was raised needlessly: a class that could be split into parts of k was not, so a part breaks a model
beside k (the minimality attack of Wong, Fu, Wang, Pei 2007, VLDB).

- **Split.** In a *full-domain* release (``trace.node``): one quasi-identifier one level lower, in
  the whole table, where nothing is suppressed. Else: one class in two, the records below a child of
  the lowest node that covers them, in one quasi-identifier, against the others (in a column
  released in ranges without a hierarchy: lower values against higher). It counts if all parts have
  k records, or persons where these are known. Finer splits need no look: what meets a model still
  does when it is merged.
- **Needless.** Each split is tried on the true values. Where one meets all models, a conclusion is
  wrong, so those classes are counted apart. The full-domain searches ``incognito``, ``samarati``,
  ``ola``, ``flash``, ``mingen`` and ``optimal`` leave no such class (by the loss of a metric), nor
  does ``mondrian`` by its own cuts. All others are greedy, or told the levels, and may.
- **Probability.** Before, all ways to deal the sensitive values of a class to its records are
  equally likely. After, those are left in which no split that counts meets all models. It is exact,
  over tables of values by groups of records that no split tells apart, for classes of at most
  :data:`MOST_WAYS` such tables, of the :data:`MOST_CLASSES` with the most frequent values. Where
  a level of a full-domain release keeps several classes whole, any may be the reason: they are
  counted alone, as are all classes where models look at several columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy.ranges import is_flat
from kanon.kernels.mondrian import common_ancestors
from kanon.privacy.conjunction import broken
from kanon.privacy.model import SensitiveModel, largest
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive

MOST_CLASSES, MOST_WAYS = 60, 2_000
"""The most classes that are enumerated, and the most tables of values by groups of each."""

_MOST_PLACES = 100_000
"""The most original classes in splits that are tried; the smallest classes come first."""


class Conclusion(NamedTuple):
    """How likely values (by position) are for records that no split tells apart."""

    members: np.ndarray  # the original classes of the records
    values: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, eq=False)
class Minimality:
    """What a release tells by not being finer: numbers of released classes, and conclusions."""

    telling: int  # classes that could be split into parts of k, but not so that the models hold
    records: int  # in these
    needless: int  # classes that could be split and still meet the models
    unreckoned: int  # of the telling ones, or too large to try
    conclusions: tuple[Conclusion, ...]

    @property
    def worst(self) -> tuple[float, float] | None:
        """The greatest probability that rose, after what it was before; None if none rose."""
        pairs = chain.from_iterable(
            zip(one.before.tolist(), one.after.tolist(), strict=True) for one in self.conclusions
        )
        rose = (pair for pair in pairs if pair[1] > pair[0] + 1e-9)
        return max(rose, key=lambda pair: (round(pair[1], 9), -pair[0]), default=None)


class _Split(NamedTuple):
    of: int  # the released class; -1 for the whole table
    members: np.ndarray  # original classes
    part: np.ndarray  # per member, from 0


def measure_minimality(
    recoding: Recoding, models: Sequence[SensitiveModel], k: int
) -> Minimality | None:
    """Measure what a reader can infer who knows that the release is minimal.

    Parameters
    ----------
    models
        What was required beside k.
    k
        What was required, in persons where they are known.

    Returns
    -------
    Minimality or None
        None without a model beside k, or where classes stay in an engine.
    """
    if not models or recoding.classes.in_engine or not recoding.n_classes:
        return None
    whole = recoding.trace.node is not None
    splits, untried = (list(_table_splits(recoding)), 0) if whole else _class_splits(recoding, k)
    needless, telling, told = 0, [], []
    for of, (chosen, holds) in _try_splits(recoding, models, k, splits).items():
        parted = _parted_classes(recoding, chosen) if whole else [of]
        needless += holds * len(parted)
        told += [] if holds else parted
        telling += [] if holds or len(parted) > 1 else [(parted[0], chosen)]
    one_column = len({model.column for model in models}) == 1
    reckoned = list(_conclude(recoding, models, telling if one_column else []))
    records, unreckoned = int(recoding.counts[told].sum()), untried + len(told) - len(reckoned)
    conclusions = tuple(chain.from_iterable(reckoned))
    return Minimality(len(told), records, needless, unreckoned, conclusions)


# --- splits ---------------------------------------------------------------------------------
def _table_splits(recoding: Recoding) -> Iterator[_Split]:
    members = np.arange(recoding.classes.n_classes)
    for j, level in enumerate(recoding.trace.node or ()):
        tree = recoding.classes.hierarchies[j]
        if level and not recoding.suppressed_records:
            lower = tree.at_level(level - 1)[recoding.classes.nodes[:, j]]
            _, part = np.unique(recoding.assigned * tree.n_nodes + lower, return_inverse=True)
            if part.max() >= recoding.n_classes:
                yield _Split(-1, members, part)


def _parted_classes(recoding: Recoding, splits: list[_Split]) -> list[int]:
    parted: set[int] = set()
    for split in splits:
        _, first = np.unique(split.part, return_index=True)
        parted.update(np.flatnonzero(np.bincount(recoding.assigned[first]) > 1).tolist())
    return sorted(parted)


def _class_splits(recoding: Recoding, k: int) -> tuple[list[_Split], int]:
    """Each class in two along each hierarchy; and how many classes are too large to try."""
    of, splits = recoding.assigned, []
    members = np.flatnonzero((of >= 0) & (recoding.counts[of] >= 2 * k))
    members = members[np.argsort(of[members], kind="stable")]
    of, counts = of[members], recoding.classes.counts[members]
    begin = np.flatnonzero(np.diff(of, prepend=-1))
    for j, tree in enumerate(recoding.classes.hierarchies):
        child = recoding.classes.nodes[members, j].astype(np.int64)
        cover = common_ancestors(tree.parent, child, begin)
        cover = np.repeat(cover, np.diff(begin, append=len(of)))
        while (low := (child != cover) & (tree.parent[child] != cover)).any():
            child[low] = tree.parent[child[low]]
        keys, first, place = np.unique(
            of * tree.n_nodes + child, return_index=True, return_inverse=True
        )
        held, row = np.bincount(place, counts), keys // tree.n_nodes
        ranges = bool(recoding.ranged) and is_flat(tree)
        if ranges:
            held = np.cumsum(held) - np.append(0, np.cumsum(held))[np.searchsorted(row, row)]
        allowed = (held >= k) & (recoding.counts[row] - held >= k) & (child != cover)[first]
        # Of two children one against the other is the same.
        allowed &= ranges | (np.diff(row, prepend=-1) > 0) | (np.bincount(row)[row] > 2)
        for released, node in zip(row[allowed], keys[allowed] % tree.n_nodes, strict=True):
            own = slice(*np.searchsorted(of, [released, released + 1]))
            rest = child[own] > node if ranges else child[own] != node
            splits.append(_Split(int(released), members[own], rest.astype(np.int64)))
    splits.sort(key=lambda split: len(split.members))
    tried = np.searchsorted(np.cumsum([len(split.members) for split in splits]), _MOST_PLACES)
    untried = {split.of for split in splits[tried:]}
    return [split for split in splits if split.of not in untried], len(untried)


def _try_splits(
    recoding: Recoding, models: Sequence[SensitiveModel], k: int, splits: list[_Split]
) -> dict[int, tuple[list[_Split], bool]]:
    """Per class (-1: the table) its splits into parts of k, and whether one meets the models."""
    tried: dict[int, tuple[list[_Split], bool]] = {}
    if not splits:
        return tried
    sizes = np.array([split.part.max() + 1 for split in splits])
    first = np.cumsum(sizes) - sizes
    members = np.concatenate([split.members for split in splits])
    part = np.concatenate([split.part for split in splits])
    part += np.repeat(first, [len(split.part) for split in splits])
    counts = np.bincount(part, recoding.classes.counts[members]).astype(np.int64)
    pairs = zip(recoding.classes.histograms, recoding.released.histograms, strict=True)
    histograms = [
        replace(own.only(members).grouped(part, len(counts)), total=table.total)
        for own, table in pairs
    ]
    no_nodes = np.zeros((len(counts), 0), dtype=np.int32)  # models look at records alone
    parts = recoding.classes.regrouped(no_nodes, counts, histograms)
    holds = ~np.logical_or.reduceat(broken(models, parts), first)
    for place in np.flatnonzero(np.minimum.reduceat(parts.hiding, first) >= k):
        chosen, held = tried.get(splits[place].of, ([], False))
        tried[splits[place].of] = ([*chosen, splits[place]], held or bool(holds[place]))
    return tried


# --- what they tell -------------------------------------------------------------------------
def _conclude(
    recoding: Recoding, models: Sequence[SensitiveModel], telling: list[tuple[int, list[_Split]]]
) -> Iterator[list[Conclusion]]:
    released = recoding.released.sensitive_named(models[0].column)
    shares = largest(released, released.count) / recoding.counts
    for place, splits in sorted(telling, key=lambda pair: -shares[pair[0]])[:MOST_CLASSES]:
        own = slice(*released.start[place : place + 2])
        inside = recoding.assigned[splits[0].members] == place
        columns = np.column_stack([split.part[inside] for split in splits])
        parts, group = np.unique(columns, axis=0, return_inverse=True)
        members, group = splits[0].members[inside], group.reshape(-1)
        sizes = np.bincount(group, recoding.classes.counts[members]).astype(np.int64)
        tables = deal_values(sizes, released.count[own], MOST_WAYS)
        if tables is None:
            continue
        fails = ~_holding(models, replace(released, value=released.value[own]), parts, tables)
        logs = np.append(0, np.cumsum(np.log(np.arange(1, tables.max() + 1))))[tables]
        logs = logs.sum(axis=(1, 2))
        weights = fails * np.exp(logs[fails].min() - logs)  # how many ways have this table
        expected = np.tensordot(weights / weights.sum(), tables, 1) / sizes[:, None]
        before = released.count[own] / recoding.counts[place]
        yield [
            Conclusion(members[group == row], released.value[own], before, after)
            for row, after in enumerate(expected)
        ]


def deal_values(sizes: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray | None:
    """All tables of groups by values with these sums of rows and columns; None if more than most.

    >>> deal_values(np.array([1, 2]), np.array([2, 1]), 10).tolist()
    [[[0, 1], [2, 0]], [[1, 0], [1, 1]]]
    """
    tables = np.zeros((1, len(sizes), len(counts)), dtype=np.int64)
    left = np.array([counts])
    for row, size in enumerate(sizes[:-1]):
        needed = np.full(len(left), size)
        for value in range(len(counts)):
            least = np.maximum(needed - left[:, value + 1 :].sum(axis=1), 0)
            choices = np.minimum(needed, left[:, value]) - least + 1
            if choices.sum() > most:
                return None
            copies = np.repeat(np.arange(len(left)), choices)
            taken = least[copies] + np.arange(len(copies)) - (np.cumsum(choices) - choices)[copies]
            tables, left, needed = tables[copies], left[copies], needed[copies] - taken
            tables[:, row, value] = taken
            left[:, value] -= taken
    tables[:, -1] = left
    return tables


def _holding(
    models: Sequence[SensitiveModel], values: Sensitive, parts: np.ndarray, tables: np.ndarray
) -> np.ndarray:
    """Whether any split meets the models, in each table. ``values`` names its columns."""
    holds = np.zeros(len(tables), dtype=bool)
    for column in parts.T:
        held = np.concatenate([tables[:, column == part].sum(axis=1) for part in np.unique(column)])
        row, value = np.nonzero(held)
        start = np.append(0, np.cumsum(np.bincount(row, minlength=len(held))))
        dealt = replace(values, start=start, value=values.value[value], count=held[row, value])
        no_nodes = np.zeros((len(held), 0), dtype=np.int32)
        classes = EquivalenceClasses((), (), no_nodes, held.sum(axis=1), (dealt,))
        fits = ~broken(models, classes)
        holds |= fits.reshape(-1, len(tables)).all(axis=0)
    return holds
