"""Query error: how far counts are off that are taken from the release."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from kanon.cards import Card
from kanon.classes import EquivalenceClasses
from kanon.kernels.spread import answer
from kanon.recoding import Recoding

CARD = Card(
    name="query_error_percent",
    title="Query error",
    summary="How far a count of the records that match two or three conditions is off if it is "
    "taken from the release, in percent of the true count; half of 1,000 random counts are off by "
    "less.",
    source="LeFevre, DeWitt, Ramakrishnan 2006; Xiao, Tao 2006",
    unit="%",
    direction="lower",
    lowest="0 %: half of the counts are right at least",
    highest="no upper end; 100 %: as far off as the answer that there is nobody",
)

QUERIES = 1000
"""How many queries are asked; half of them for ranges, half for single cells."""

_MOST_ATTRIBUTES = 3
_LEAST_COUNT = 1 / 1000
"""A true count below this share of the records counts as this, or few records decide everything."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Questions of the form: how many records have these values in these columns?

    Attributes
    ----------
    attributes : numpy.ndarray, shape (Q, 3), int64
        The quasi-identifiers that a query is about; -1 where it is about fewer.
    low, high : numpy.ndarray, shape (Q, 3), int64
        The leaves ``low <= leaf < high`` that match.
    of_ranges : numpy.ndarray, shape (Q,), bool
        Whether the query is for ranges, or for a cell of a table grouped by its attributes.
    """

    attributes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    of_ranges: np.ndarray


@dataclass(frozen=True, eq=False)
class QueryStudy:
    """Queries, and how a release answers them.

    Attributes
    ----------
    queries
        What was asked.
    true, estimated : numpy.ndarray, shape (Q,)
        The count of the original table, and of the release.
    n_records
        n, the number of records of the original table.
    """

    queries: Queries
    true: np.ndarray
    estimated: np.ndarray
    n_records: int

    @cached_property
    def errors(self) -> np.ndarray:
        """|estimated - true| / max(true, 0.1 % of n), in percent. Shape (Q,)."""
        of = np.maximum(self.true, _LEAST_COUNT * self.n_records)
        apart = np.abs(self.estimated - self.true)
        return 100.0 * np.divide(apart, of, out=np.zeros(len(of)), where=of > 0)

    def quantile(self, share: float) -> float:
        """The error that this share of the queries stays below, in percent; 0 without queries."""
        return float(np.quantile(self.errors, share)) if len(self.errors) else 0.0


def queries(classes: EquivalenceClasses, seed: int = 0, number: int = QUERIES) -> Queries:
    """Random queries on a table; they depend on its classes and the seed alone.

    Each is about two or three quasi-identifiers, two as often as three, all choices equally
    likely; where there are fewer, about all of them. Of the first half, each matches in each of
    them a run of leaves, whose ends are the smaller and the larger of two leaves drawn with equal
    chance. Of the second, each matches one value per attribute, that of one record drawn at
    random; of a value that is no leaf, the leaves below it.

    Parameters
    ----------
    seed
        At least 0.
    number
        How many; none are asked of a table without records or quasi-identifiers.
    """
    m, n = len(classes.attributes), classes.n_records
    if not m or not n:
        number = 0
    rng = np.random.default_rng(seed)
    width = min(m, _MOST_ATTRIBUTES)
    asked = rng.random((number, m)).argsort(axis=1)[:, :width].astype(np.int64)
    if m >= _MOST_ATTRIBUTES:
        asked[rng.random(number) < 1 / 2, -1] = -1
    leaves = np.array([tree.n_leaves for tree in classes.hierarchies], dtype=np.int64)
    drawn = rng.random((number, width, 2))
    drawn_leaves = (drawn * leaves[asked][:, :, None]).astype(np.int64)
    low, high = drawn_leaves.min(axis=2), drawn_leaves.max(axis=2) + 1
    of_ranges = np.arange(number) < number - number // 2
    records = (rng.random(number) * n).astype(np.int64)
    of_record = np.searchsorted(np.cumsum(classes.counts), records, side="right")
    for j, tree in enumerate(classes.hierarchies):
        row, slot = np.nonzero((asked == j) & ~of_ranges[:, None])
        node = classes.nodes[of_record[row], j]
        low[row, slot], high[row, slot] = tree.first[node], tree.last[node]
    return Queries(asked, low, high, of_ranges)


def answers(classes: EquivalenceClasses, asked: Queries) -> np.ndarray:
    """Σ over classes of |C| Π over attributes of |range ∩ leaves| / |leaves|. Shape (Q,).

    The leaves are those that the class's node covers.

    Parameters
    ----------
    classes
        The classes of a table, or of a release of it: their hierarchies have the same leaves.
    """
    found: np.ndarray = np.zeros(len(asked.attributes))
    if not len(found):
        return found
    trees = classes.hierarchies
    starts = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    first = np.concatenate([tree.first for tree in trees])
    last = np.concatenate([tree.last for tree in trees])
    nodes = np.ascontiguousarray(classes.nodes.T)
    limits = asked.attributes, asked.low, asked.high
    answer(nodes, classes.counts, starts, first, last, *limits, found)
    return found


_KNOWN: WeakKeyDictionary[EquivalenceClasses, dict[int, tuple[Queries, np.ndarray]]] = (
    WeakKeyDictionary()
)


def study(recoding: Recoding, seed: int = 0) -> QueryStudy:
    """Ask the release what was asked of the original table.

    The queries and their true answers are remembered as long as the original classes are there.
    """
    classes = recoding.classes
    known = _KNOWN.setdefault(classes, {})
    if seed not in known:
        asked = queries(classes, seed)
        true = answers(classes, asked)
        true.setflags(write=False)  # it is shared by all studies of the table
        known[seed] = asked, true
    asked, true = known[seed]
    return QueryStudy(asked, true, answers(recoding.released, asked), classes.n_records)


def value(recoding: Recoding) -> float:
    """The median of |estimate - true| / max(true, 0.1 % of n) over 1,000 queries, in percent.

    The estimate is Σ over classes of |C| Π |range ∩ leaves| / |leaves|: a cell counts as each leaf
    that its node covers with equal chance. True counts are taken alike from the original classes.
    Suppressed records are in no class. See :func:`queries` for what is asked; the seed is 0.

    Returns
    -------
    float
        At least 0: the identity answers as the original table does. It may exceed 100, where more
        than twice as many records are counted as there are.
    """
    return study(recoding).quantile(1 / 2)
