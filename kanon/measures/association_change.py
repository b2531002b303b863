"""Association change: how much less, or more, columns seem to have to do with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.kernels.spread import associate
from kanon.measures.spread import JointColumn, columns_of, joint_counts
from kanon.recoding import Recoding

CARD = Card(
    name="association_change",
    title="Association change",
    summary="By how much Cramér's V, how closely two columns go together from 0 to 1, differs from "
    "that of the original table, in the mean over pairs of columns.",
    source="Cramér 1946; uniform spread: Xiao, Tao 2006",
    unit="Cramér's V",
    direction="lower",
    lowest="0: every two columns go together as they did",
    highest="1: columns that determined each other no longer do, or the reverse",
)

MOST_PAIRS = 2**20
"""Two columns are left out if there are more pairs of values than this: 8 MB of numbers."""

How = Literal["cramers-v", "mutual-information"]


@dataclass(frozen=True, eq=False)
class Associations:
    """How closely columns go together, two by two.

    Attributes
    ----------
    columns
        The quasi-identifiers, then the sensitive columns.
    cramers_v, bits : numpy.ndarray, shape (c, c)
        Cramér's V in [0, 1], and the mutual information in bits, at least 0; symmetric. Not a
        number on the diagonal, for two sensitive columns, and for what was left out.
    left_out
        The pairs that have more than :data:`MOST_PAIRS` pairs of values.
    """

    columns: tuple[str, ...]
    cramers_v: np.ndarray
    bits: np.ndarray
    left_out: tuple[tuple[str, str], ...] = ()

    def by(self, how: How) -> np.ndarray:
        """Cramér's V, or the mutual information."""
        return self.cramers_v if how == "cramers-v" else self.bits


class Change(NamedTuple):
    """How a pair of columns went together, and does now."""

    one: str
    other: str
    before: float
    after: float


def strongest(then: Associations, now: Associations, how: How = "cramers-v") -> Change | None:
    """The pair that changed most, the first of several; None if nothing changed."""
    first, last = then.by(how), now.by(how)
    apart = np.nan_to_num(np.triu(np.abs(first - last), 1))
    if not apart.any():
        return None
    i, j = divmod(int(apart.argmax()), len(then.columns))
    return Change(then.columns[i], then.columns[j], float(first[i, j]), float(last[i, j]))


def before(classes: EquivalenceClasses) -> Associations:
    """The associations of the original table, remembered as long as it is there."""
    if classes not in _KNOWN:
        _KNOWN[classes] = _associations(classes)
    return _KNOWN[classes]


_KNOWN: WeakKeyDictionary[EquivalenceClasses, Associations] = WeakKeyDictionary()


def after(recoding: Recoding) -> Associations:
    """The associations that a reader of the release expects, under uniform spread."""
    return _associations(recoding.released)


def value(recoding: Recoding) -> float | None:
    """The mean of |V before - V after| over pairs of columns, one a quasi-identifier at least.

    V = √(χ² / (N (min(r, c) - 1))) is Cramér's, of the estimated number of records of every pair
    of leaves, Σ over classes of |C| u_i ⊗ u_j with u = 1 / |v| below the class's node v and 0
    elsewhere; N is their sum, r and c the numbers of values that occur in them. A sensitive
    column's values are as they are. Suppressed records are in no class. V is 0 where a column has
    one value, or nothing is released.

    Returns
    -------
    float or None
        In [0, 1]: 0 if all associations are as they were, as in the identity, and without pairs.
        None if all pairs were left out, for having more than :data:`MOST_PAIRS` pairs of values.
    """
    then, now = before(recoding.classes), after(recoding)
    upper = np.triu_indices(len(then.columns), 1)
    apart = np.abs(then.cramers_v - now.cramers_v)[upper]
    apart = apart[~np.isnan(apart)]
    if not len(apart):
        return None if then.left_out else 0.0
    return math.fsum(apart.tolist()) / len(apart)


def _associations(classes: EquivalenceClasses) -> Associations:
    own = [column.name for column in columns_of(classes)]
    names = (*own, *(each.name for each in classes.sensitive))
    found = np.full((2, len(names), len(names)), np.nan)
    left_out = []
    for (i, j), one, other, counts in _pairs(classes):
        if one.n_leaves * other.n_leaves > MOST_PAIRS:
            left_out.append((names[i], names[j]))
            continue
        found[:, i, j] = found[:, j, i] = associate(joint_counts(one, other, counts))
    for array in found:
        array.setflags(write=False)
    return Associations(names, found[0], found[1], tuple(left_out))


def _pairs(
    classes: EquivalenceClasses,
) -> Iterator[tuple[tuple[int, int], JointColumn, JointColumn, np.ndarray]]:
    """Two columns, where they stand, and what their items count."""
    own = columns_of(classes)
    for i, j in combinations(range(len(own)), 2):
        yield (i, j), own[i], own[j], classes.counts
    for j, each in enumerate(classes.sensitive, start=len(own)):
        of_entry, whole = each.of_entry, np.arange(len(each.values), dtype=np.int32)
        values = JointColumn(each.name, each.value, whole, whole + 1, len(each.values))
        for i, column in enumerate(own):
            yield (i, j), replace(column, node=column.node[of_entry]), values, each.count
