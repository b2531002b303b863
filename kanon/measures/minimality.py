"""Minimality: what follows from classes that were raised further than k alone requires.

Anyone who knows all quasi-identifiers, the hierarchies and the models knows more if nothing was
raised needlessly: if a class could be split into parts of k but was not, a part fails a model
beside k (the minimality attack of Wong, Fu, Wang, Pei 2007, VLDB).

- **Split.** In a *full-domain* release (``trace.node``): one quasi-identifier one level lower, in
  the whole table, where nothing is suppressed. Else: one class in two, the records below a child of
  the lowest node that covers them, in one quasi-identifier, against the others (in a column
  released in ranges without a hierarchy: lower values against higher). It counts if all parts have
  k records, or persons where these are known. Finer splits need no test: parts that meet a model
  still do when they are merged.
- **Needless.** Each split is tried on the true values. Where one meets all models, a conclusion is
  wrong, so those classes are counted separately. The full-domain searches ``incognito``,
  ``samarati``, ``ola``, ``flash``, ``mingen`` and ``optimal`` leave no such class (by the loss of a
  metric), nor does ``mondrian`` by its own cuts. All others are greedy, or get their levels from
  the user, and may.
- **Probability.** Before, all ways to deal the sensitive values of a class to its records are
  equally likely. After, only the ways remain in which no split that counts meets all models. It is
  exact, over tables of values by groups of records that no split separates, for classes of at most
  :data:`MOST_WAYS` such tables, of the :data:`MOST_CLASSES` with the most frequent values. Where
  a level of a full-domain release keeps several classes whole, any may be the reason: they are
  only counted, as are all classes where models concern several columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from kanon.classes import EquivalenceClasses
from kanon.hierarchy.ranges import is_flat
from kanon.kernels.mondrian import find_common_ancestors
from kanon.privacy.conjunction import find_broken
from kanon.privacy.model import SensitiveModel, largest
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive

MOST_CLASSES, MOST_WAYS = 60, 2_000
"""The most classes that are enumerated, and the most tables of values by groups of each."""

_MOST_PLACES = 100_000
"""The most original classes in splits that are tried; the smallest classes come first."""


class Conclusion(NamedTuple):
    """How likely values (by position) are for records that no split separates."""

    members: np.ndarray  # the original classes of the records
    values: np.ndarray
    before: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, eq=False)
class Minimality:
    """What a release reveals by not being finer: numbers of released classes, and conclusions."""

    n_telling: int  # classes that could be split into parts of k, but only by breaking a model
    records: int  # in these
    n_needless: int  # classes that could be split and still meet the models
    n_without_conclusion: int  # telling classes without conclusions, and classes too large to try
    conclusions: tuple[Conclusion, ...]

    @property
    def worst(self) -> tuple[float, float] | None:
        """The greatest probability that rose, before and after; None if none rose."""
        pairs = chain.from_iterable(
            zip(part.before.tolist(), part.after.tolist(), strict=True) for part in self.conclusions
        )
        rose = (pair for pair in pairs if pair[1] > pair[0] + 1e-9)
        return max(rose, key=lambda pair: (round(pair[1], 9), -pair[0]), default=None)


class _Split(NamedTuple):
    owner: int  # the released class; -1 for the whole table
    members: np.ndarray  # original classes
    part: np.ndarray  # per member, from 0


def measure_minimality(
    recoding: Recoding, models: Sequence[SensitiveModel], k: int
) -> Minimality | None:
    """Measure what readers can infer if they know that the release is minimal.

    k is in persons where they are known. None without a model beside k, or where classes stay in
    an engine.
    """
    if not models or recoding.classes.in_engine or not recoding.n_classes:
        return None
    whole = recoding.trace.node is not None
    splits, untried = (list(_split_table(recoding)), 0) if whole else _split_classes(recoding, k)
    needless, telling, tellers = 0, [], []
    for owner, (class_splits, holds) in _try_splits(recoding, models, k, splits).items():
        parts = _find_divided_classes(recoding, class_splits) if whole else [owner]
        needless += holds * len(parts)
        tellers += [] if holds else parts
        telling += [] if holds or len(parts) > 1 else [(parts[0], class_splits)]
    one_column = len({model.column for model in models}) == 1
    one_column &= not any(model.looks_at_several for model in models)
    known = list(_draw_conclusions(recoding, models, telling)) if one_column else []
    records, unreckoned = (int(recoding.counts[tellers].sum()), untried + len(tellers) - len(known))
    conclusions = tuple(chain.from_iterable(known))
    return Minimality(len(tellers), records, needless, unreckoned, conclusions)


# --- splits ---------------------------------------------------------------------------------
def _split_table(recoding: Recoding) -> Iterator[_Split]:
    members = np.arange(recoding.classes.n_classes)
    for j, level in enumerate(recoding.trace.node or ()):
        tree = recoding.classes.hierarchies[j]
        if level and not recoding.suppressed_records:
            lower = tree.at_level(level - 1)[recoding.classes.nodes[:, j]]
            _, part = np.unique(recoding.assigned * tree.n_nodes + lower, return_inverse=True)
            if part.max() >= recoding.n_classes:
                yield _Split(-1, members, part)


def _find_divided_classes(recoding: Recoding, splits: list[_Split]) -> list[int]:
    divided: set[int] = set()
    for split in splits:
        _, first = np.unique(split.part, return_index=True)
        divided.update(np.flatnonzero(np.bincount(recoding.assigned[first]) > 1).tolist())
    return sorted(divided)


def _split_classes(recoding: Recoding, k: int) -> tuple[list[_Split], int]:
    """Split each class in two along each hierarchy; count the classes too large to try."""
    owner, splits = recoding.assigned, []
    members = np.flatnonzero((owner >= 0) & (recoding.counts[owner] >= 2 * k))
    members = members[np.argsort(owner[members], kind="stable")]
    owner, counts = owner[members], recoding.classes.counts[members]
    begin = np.flatnonzero(np.diff(owner, prepend=-1))
    for j, tree in enumerate(recoding.classes.hierarchies):
        child = recoding.classes.nodes[members, j].astype(np.int64)
        cover = find_common_ancestors(tree.parent, child, begin)
        cover = np.repeat(cover, np.diff(begin, append=len(owner)))
        while (low := (child != cover) & (tree.parent[child] != cover)).any():
            child[low] = tree.parent[child[low]]
        keys, first, place = np.unique(
            owner * tree.n_nodes + child, return_index=True, return_inverse=True
        )
        sizes, row = np.bincount(place, counts), keys // tree.n_nodes
        ranges = bool(recoding.ranged) and is_flat(tree)
        if ranges:
            sizes = np.cumsum(sizes) - np.append(0, np.cumsum(sizes))[np.searchsorted(row, row)]
        fits = (sizes >= k) & (recoding.counts[row] - sizes >= k) & (child != cover)[first]
        # With two children, either against the other is the same split.
        fits &= ranges | (np.diff(row, prepend=-1) > 0) | (np.bincount(row)[row] > 2)
        for released, node in zip(row[fits], keys[fits] % tree.n_nodes, strict=True):
            rows = slice(*np.searchsorted(owner, [released, released + 1]))
            rest = child[rows] > node if ranges else child[rows] != node
            splits.append(_Split(int(released), members[rows], rest.astype(np.int64)))
    splits.sort(key=lambda split: len(split.members))
    n_tried = np.searchsorted(np.cumsum([len(split.members) for split in splits]), _MOST_PLACES)
    untried = {split.owner for split in splits[n_tried:]}
    return [split for split in splits if split.owner not in untried], len(untried)


def _try_splits(
    recoding: Recoding, models: Sequence[SensitiveModel], k: int, splits: list[_Split]
) -> dict[int, tuple[list[_Split], bool]]:
    """Find per class (-1: the table) its splits into parts of k, and if one meets the models."""
    result: dict[int, tuple[list[_Split], bool]] = {}
    if not splits:
        return result
    sizes = np.array([split.part.max() + 1 for split in splits])
    first = np.cumsum(sizes) - sizes
    members = np.concatenate([split.members for split in splits])
    part = np.concatenate([split.part for split in splits])
    part += np.repeat(first, [len(split.part) for split in splits])
    counts = np.bincount(part, recoding.classes.counts[members]).astype(np.int64)
    pairs = zip(recoding.classes.histograms, recoding.released.histograms, strict=True)
    histograms = [
        replace(histogram.only(members).grouped(part, len(counts)), total=table.total)
        for histogram, table in pairs
    ]
    no_nodes = np.zeros((len(counts), 0), dtype=np.int32)  # models depend on records alone
    parts = recoding.classes.regrouped(no_nodes, counts, histograms)
    holds = ~np.logical_or.reduceat(find_broken(models, parts), first)
    for place in np.flatnonzero(np.minimum.reduceat(parts.hiding, first) >= k):
        before, is_met = result.get(splits[place].owner, ([], False))
        result[splits[place].owner] = ([*before, splits[place]], is_met or bool(holds[place]))
    return result


# --- conclusions ----------------------------------------------------------------------------
def _draw_conclusions(
    recoding: Recoding, models: Sequence[SensitiveModel], telling: list[tuple[int, list[_Split]]]
) -> Iterator[list[Conclusion]]:
    sensitive = recoding.released.sensitive_named(models[0].column)
    shares = largest(sensitive, sensitive.count) / recoding.counts
    for place, splits in sorted(telling, key=lambda pair: -shares[pair[0]])[:MOST_CLASSES]:
        rows = slice(*sensitive.start[place : place + 2])
        inside = recoding.assigned[splits[0].members] == place
        columns = np.column_stack([split.part[inside] for split in splits])
        parts, group = np.unique(columns, axis=0, return_inverse=True)
        members, group = splits[0].members[inside], group.reshape(-1)
        sizes = np.bincount(group, recoding.classes.counts[members]).astype(np.int64)
        tables = deal_values(sizes, sensitive.count[rows], MOST_WAYS)
        if tables is None:
            continue
        fails = ~_find_holding(
            models, replace(sensitive, value=sensitive.value[rows]), parts, tables
        )
        logs = np.append(0, np.cumsum(np.log(np.arange(1, tables.max() + 1))))[tables]
        logs = logs.sum(axis=(1, 2))
        weights = fails * np.exp(logs[fails].min() - logs)  # the number of ways to deal this table
        likely = np.tensordot(weights / weights.sum(), tables, 1) / sizes[:, None]
        before = sensitive.count[rows] / recoding.counts[place]
        yield [
            Conclusion(members[group == row], sensitive.value[rows], before, after)
            for row, after in enumerate(likely)
        ]


def deal_values(sizes: np.ndarray, counts: np.ndarray, most: int) -> np.ndarray | None:
    """List all tables of groups by values with these row and column sums; None if beyond ``most``.

    >>> deal_values(np.array([1, 2]), np.array([2, 1]), 10).tolist()
    [[[0, 1], [2, 0]], [[1, 0], [1, 1]]]
    """
    tables = np.zeros((1, len(sizes), len(counts)), dtype=np.int64)
    remaining = np.array([counts])
    for row, size in enumerate(sizes[:-1]):
        missing = np.full(len(remaining), size)
        for value in range(len(counts)):
            least = np.maximum(missing - remaining[:, value + 1 :].sum(axis=1), 0)
            choices = np.minimum(missing, remaining[:, value]) - least + 1
            if choices.sum() > most:
                return None
            copies = np.repeat(np.arange(len(remaining)), choices)
            share = least[copies] + np.arange(len(copies)) - (np.cumsum(choices) - choices)[copies]
            tables, remaining, missing = tables[copies], remaining[copies], missing[copies] - share
            tables[:, row, value] = share
            remaining[:, value] -= share
    tables[:, -1] = remaining
    return tables


def _find_holding(
    models: Sequence[SensitiveModel], values: Sensitive, parts: np.ndarray, tables: np.ndarray
) -> np.ndarray:
    """Test for each table whether any split meets the models. ``values`` names its columns."""
    holds = np.zeros(len(tables), dtype=bool)
    for column in parts.T:
        mix = np.concatenate([tables[:, column == part].sum(axis=1) for part in np.unique(column)])
        row, value = np.nonzero(mix)
        start = np.append(0, np.cumsum(np.bincount(row, minlength=len(mix))))
        dealt = replace(values, start=start, value=values.value[value], count=mix[row, value])
        no_nodes = np.zeros((len(mix), 0), dtype=np.int32)
        classes = EquivalenceClasses((), (), no_nodes, mix.sum(axis=1), (dealt,))
        fits = ~find_broken(models, classes)
        holds |= fits.reshape(-1, len(tables)).all(axis=0)
    return holds
