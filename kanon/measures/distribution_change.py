"""Distribution change: how far the values of each column are from their original frequencies."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kanon.cards import read_card
from kanon.hierarchy import Hierarchy
from kanon.measures.spread import estimate_leaf_counts
from kanon.recoding import Recoding

CARD = read_card(__file__)


@dataclass(frozen=True, eq=False)
class Distribution:
    """The frequencies of the values of one quasi-identifier, before and after."""

    name: str
    tree: Hierarchy
    before: np.ndarray  #: (L,): the estimated number of records of each leaf
    after: np.ndarray
    suppressed: int  #: the number of records that no longer have a value
    n_records: int  #: n, the number of records of the original table

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
    suppressed, n = recoding.suppressed_records, recoding.classes.n_records
    trees, now = recoding.hierarchies, []
    for tree, cells in zip(trees, recoding.cells, strict=True):
        released = cells - suppressed * (np.arange(len(cells)) == tree.root)
        now.append(estimate_leaf_counts(tree, released))
    then = map(estimate_leaf_counts, recoding.classes.hierarchies, recoding.classes.cells)
    names = zip(recoding.classes.attributes, trees, strict=True)
    return tuple(
        Distribution(name, tree, before, after, suppressed, n)
        for (name, tree), before, after in zip(names, then, now, strict=True)
    )


def each(recoding: Recoding) -> Mapping[str, float]:
    """Per quasi-identifier its total variation distance from the original table, in [0, 1]."""
    return {column.name: column.total_variation for column in distributions(recoding)}


def value(recoding: Recoding) -> float:
    """The mean over quasi-identifiers of ½ (Σ over leaves of |p - q| + suppressed / n).

    p is the share of the original records that have the leaf, q the estimated records of the
    release that have it, divided by n too. A cell counts as each leaf below its node with equal
    chance, an original one as well. Suppressed records are a category of their own, which the
    original table lacks.

    In [0, 1]: 0 if every leaf is as frequent as before, as in the identity; 1 if nothing is
    released. 0 without records or columns. All at the root is not the worst: it is 0 for a column
    with equally frequent values.
    """
    distances = each(recoding)
    return math.fsum(distances.values()) / len(distances) if distances else 0.0
