"""Query error: how wrong counts made on the release are."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.hierarchy.ranges import join_sets
from kanon.kernels.spread import estimate_answers
from kanon.recoding import Recoding

CARD = read_card(__file__)

QUERIES = 1000
"""The number of queries; half of them are for ranges, half for single cells."""

_MOST_ATTRIBUTES = 3
_LEAST_COUNT = 1 / 1000
"""True counts below this share of the records count as this, so that rare cases do not dominate."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Questions such as: how many records have these values in these columns?"""

    attributes: np.ndarray  #: (Q, 3) int64: the quasi-identifiers of a query; -1 for fewer
    low: np.ndarray  #: (Q, 3) int64: the leaves ``low <= leaf < high`` match
    high: np.ndarray
    of_ranges: np.ndarray  #: (Q,) bool: whether it is for ranges, or for a cell of a grouped table


@dataclass(frozen=True, eq=False)
class QueryStudy:
    """Queries, and the answers of a release."""

    queries: Queries
    true: np.ndarray  #: (Q,): the counts of the original table
    estimated: np.ndarray  #: (Q,): those of the release
    n_records: int  #: n, the number of records of the original table

    @cached_property
    def errors(self) -> np.ndarray:
        """|estimated - true| / max(true, 0.1 % of n), in percent. Shape (Q,)."""
        bases = np.maximum(self.true, _LEAST_COUNT * self.n_records)
        apart = np.abs(self.estimated - self.true)
        return 100.0 * np.divide(apart, bases, out=np.zeros(len(bases)), where=bases > 0)

    def quantile(self, share: float) -> float:
        """The error below which this share of the queries stays, in percent; 0 without queries."""
        return float(np.quantile(self.errors, share)) if len(self.errors) else 0.0


def queries(classes: EquivalenceClasses, seed: int = 0, number: int = QUERIES) -> Queries:
    """Random queries on a table, which depend only on its classes and the seed.

    Each concerns two or three quasi-identifiers, two as often as three, all choices equally
    likely; all of them where there are fewer. Each query of the first half matches, in each of
    them, the leaves from the smaller to the larger of two random leaves. Each of the second half
    matches the values of one random record; for a value that is not a leaf, the leaves below it.
    There are none for a table without records or quasi-identifiers.
    """
    m, n = len(classes.attributes), classes.n_records
    if not m or not n:
        number = 0
    rng = np.random.default_rng(seed)
    width = min(m, _MOST_ATTRIBUTES)
    attributes = rng.random((number, m)).argsort(axis=1)[:, :width].astype(np.int64)
    if m >= _MOST_ATTRIBUTES:
        attributes[rng.random(number) < 1 / 2, -1] = -1
    leaves = np.array([tree.n_leaves for tree in classes.hierarchies], dtype=np.int64)
    fractions = rng.random((number, width, 2))
    drawn_leaves = (fractions * leaves[attributes][:, :, None]).astype(np.int64)
    low, high = drawn_leaves.min(axis=2), drawn_leaves.max(axis=2) + 1
    of_ranges = np.arange(number) < number - number // 2
    records = (rng.random(number) * n).astype(np.int64)
    of_record = np.searchsorted(np.cumsum(classes.counts), records, side="right")
    for j, tree in enumerate(classes.hierarchies):
        row, slot = np.nonzero((attributes == j) & ~of_ranges[:, None])
        node = classes.nodes[of_record[row], j]
        low[row, slot], high[row, slot] = tree.first[node], tree.last[node]
    return Queries(attributes, low, high, of_ranges)


def answers(classes: EquivalenceClasses, questions: Queries) -> np.ndarray:
    """Σ over classes of |C| Π over attributes of |range ∩ leaves| / |leaves|. Shape (Q,).

    The leaves are those that the class's node covers; those of a table and its releases are one.
    """
    estimates: np.ndarray = np.zeros(len(questions.attributes))
    if not len(estimates):
        return estimates
    trees = classes.hierarchies
    starts = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    covered = np.concatenate([[tree.first, tree.last, tree.leaves_covered] for tree in trees], 1)
    nodes = np.ascontiguousarray(classes.nodes.T)
    limits = questions.attributes, questions.low, questions.high
    estimate_answers(nodes, classes.counts, starts, covered, join_sets(trees), *limits, estimates)
    return estimates


_CACHE: WeakKeyDictionary[EquivalenceClasses, dict[int, tuple[Queries, np.ndarray]]] = (
    WeakKeyDictionary()
)


def study(recoding: Recoding, seed: int = 0) -> QueryStudy:
    """Ask the release and the original table the same queries.

    The queries and their true answers are cached for the lifetime of the original classes.
    """
    classes = recoding.classes
    cache = _CACHE.setdefault(classes, {})
    if seed not in cache:
        questions = queries(classes, seed)
        true = answers(classes, questions)
        true.setflags(write=False)  # it is shared by all studies of the table
        cache[seed] = questions, true
    questions, true = cache[seed]
    return QueryStudy(questions, true, answers(recoding.released, questions), classes.n_records)


def value(recoding: Recoding) -> float:
    """The median of |estimate - true| / max(true, 0.1 % of n) over 1,000 queries, in percent.

    The estimate is Σ over classes of |C| Π |range ∩ leaves| / |leaves|: a cell counts as each leaf
    that its node covers with equal chance. True counts come from the original classes by the same
    formula. Suppressed records are in no class. See :func:`queries`; the seed is 0.

    At least 0: the identity answers like the original table. Above 100 where a count is more than
    twice the true one.
    """
    return study(recoding).quantile(1 / 2)
