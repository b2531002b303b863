"""Distribution change: how far the values of each column are from how they were shared out."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from weakref import WeakKeyDictionary

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.measures.spread import leaf_counts
from kanon.recoding import Recoding

CARD = Card(
    name="distribution_change",
    title="Distribution change",
    summary="The share of the records that would need another value for a column to be shared out "
    "as in the original table, where a released value counts as each value that it may mean; in "
    "the mean over quasi-identifiers.",
    source="Total variation distance: Levin, Peres, Wilmer 2009; uniform spread: Xiao, Tao 2006",
    unit="share",
    direction="lower",
    lowest="0: every value is as frequent as it was",
    highest="1: nothing is released",
)


@dataclass(frozen=True, eq=False)
class Distribution:
    """How the values of one quasi-identifier are shared out, before and after.

    Attributes
    ----------
    name
        The column.
    tree
        Its hierarchy; ``labels[:n_leaves]`` are its values.
    before, after : numpy.ndarray, shape (L,)
        The estimated number of records of each leaf.
    suppressed
        The number of records that have no value any more.
    n_records
        n, the number of records of the original table.
    """

    name: str
    tree: Hierarchy
    before: np.ndarray
    after: np.ndarray
    suppressed: int
    n_records: int

    @property
    def values(self) -> tuple[str, ...]:
        """The leaves by name, in their order."""
        return self.tree.labels[: self.tree.n_leaves]

    @property
    def total_variation(self) -> float:
        """½ (Σ over leaves of |p - q| + suppressed / n), in [0, 1]; 0 without records."""
        apart = math.fsum([*np.abs(self.before - self.after).tolist(), float(self.suppressed)])
        return min(1.0, apart / (2 * self.n_records)) if self.n_records else 0.0


def distributions(recoding: Recoding) -> tuple[Distribution, ...]:
    """The distribution of every quasi-identifier, before and after, under uniform spread."""
    gone, n = recoding.suppressed_records, recoding.classes.n_records
    then = _original(recoding.classes)
    now = _leaves(
        recoding.hierarchies, map(_shown, recoding.hierarchies, recoding.cells, repeat(gone))
    )
    names = zip(recoding.classes.attributes, recoding.hierarchies, strict=True)
    return tuple(
        Distribution(name, tree, before, after, gone, n)
        for (name, tree), before, after in zip(names, then, now, strict=True)
    )


_KNOWN: WeakKeyDictionary[EquivalenceClasses, tuple[np.ndarray, ...]] = WeakKeyDictionary()


def _original(classes: EquivalenceClasses) -> tuple[np.ndarray, ...]:
    if classes not in _KNOWN:
        _KNOWN[classes] = _leaves(classes.hierarchies, classes.cells)
    return _KNOWN[classes]


def _shown(tree: Hierarchy, cells: np.ndarray, gone: int) -> np.ndarray:
    """The cells of the records that are released: those suppressed count at the root else."""
    return cells - gone * (np.arange(len(cells)) == tree.root)


def _leaves(trees: Iterable[Hierarchy], cells: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Per quasi-identifier the estimated number of records of each leaf; nobody can change it."""
    found = tuple(map(leaf_counts, trees, cells))
    for counts in found:
        counts.setflags(write=False)
    return found


def each(recoding: Recoding) -> Mapping[str, float]:
    """Per quasi-identifier its total variation distance from the original table, in [0, 1]."""
    return {one.name: one.total_variation for one in distributions(recoding)}


def value(recoding: Recoding) -> float:
    """The mean over quasi-identifiers of ½ (Σ over leaves of |p - q| + suppressed / n).

    p is the share of the original records that have the leaf, q the estimated records of the
    release that have it, divided by n too. A cell counts as each leaf below its node with equal
    chance, an original one as well. Suppressed records are a category of their own, which the
    original table lacks.

    Returns
    -------
    float
        In [0, 1]: 0 if every leaf is as frequent as it was, as in the identity; 1 if nothing is
        released. 0 without records or columns. All at the root is not the worst: it is 0 for a
        column whose values are equally frequent.
    """
    found = each(recoding)
    return math.fsum(found.values()) / len(found) if found else 0.0
