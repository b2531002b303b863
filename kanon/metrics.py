"""Metrics: a metric is a set of edge weights, made in two phases.

Every metric of Mauger, Le Mahec and Dequen (2020; 2023, Table 2) is an *intermediate cost* times
an attribute *multiplier*. Each intermediate cost is the difference, along an edge, of one number
per node that grows towards the root: its height F under the metric. So the cost of raising a value
v to an ancestor v' is ``(F(v') - F(v)) * multiplier``, whatever the path in between, and a cost
matrix is never needed to run. The metric ``entropy`` counts records in the same way, and ``custom``
what was drawn on the edges.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kanon.base.data_files import read_data
from kanon.cards import Card
from kanon.errors import MetricError, PlanError, quote
from kanon.hierarchy import Hierarchy
from kanon.hierarchy.intermediate_costs import INTERMEDIATES, RECORDS, ExactNumbers
from kanon.hierarchy.scaled_potentials import read_decimal


def _unit_factors(heights: Sequence[int]) -> list[Fraction]:
    """1 for every attribute."""
    return [Fraction(1)] * len(heights)


def _w1(heights: Sequence[int]) -> list[Fraction]:
    """w1(j) = 1 - (h_j - 1)^m / sum over i of (h_i - 1)^m; 1 if m = 1 or all h = 1."""
    powers = [(height - 1) ** len(heights) for height in heights]
    if len(heights) == 1 or not any(powers):
        return _unit_factors(heights)
    return [1 - Fraction(power, sum(powers)) for power in powers]


def _w2(heights: Sequence[int]) -> list[Fraction]:
    """w2(j) = h_max / h_j."""
    return [Fraction(max(heights), height) for height in heights]


MULTIPLIERS: Mapping[str, Callable[[Sequence[int]], list[Fraction]]] = {
    "none": _unit_factors,
    "w1": _w1,
    "w2": _w2,
}
"""The second phase: a factor per attribute, from the heights of all hierarchies."""


@dataclass(frozen=True)
class Metric:
    """A metric: an intermediate cost times a multiplier, or the weights drawn on the edges."""

    card: Card
    #: a key of :data:`INTERMEDIATES`; empty for drawn weights, :data:`RECORDS` where these count
    intermediate: str
    multiplier: str  #: a key of :data:`MULTIPLIERS`

    @property
    def name(self) -> str:
        """The name in plans."""
        return self.card.name

    @property
    def counts_records(self) -> bool:
        """Whether its weights depend on the table, and not on the hierarchies alone."""
        return self.intermediate == RECORDS


_WEIGHTS = ("intermediate", "multiplier")


def _read_metrics(entries: Mapping[str, dict[str, Any]]) -> tuple[Metric, ...]:
    metrics = []
    for name, entry in entries.items():
        texts = {key: text for key, text in entry.items() if key not in _WEIGHTS}
        metrics.append(Metric(Card(name, **texts), *(entry[key] for key in _WEIGHTS)))
    return tuple(metrics)


_DATA = read_data(__file__)
_SEVEN, _BESIDE = _read_metrics(_DATA["published"]), _read_metrics(_DATA["beside"])

_CUSTOM = Metric(
    Card("custom", "Custom", "Counts the weights drawn on the edges.", "your own"),
    intermediate="",
    multiplier="none",
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (*_SEVEN, *_BESIDE, _CUSTOM)}
"""Every named metric."""

PUBLISHED: tuple[str, ...] = tuple(metric.name for metric in _SEVEN)
"""The seven metrics of the documents, in their order."""

BESIDE: tuple[str, ...] = tuple(metric.name for metric in _BESIDE)
"""Metrics from other papers, for every table; they guide and measure beside the seven."""


def metric_named(name: str, composed: Mapping[str, Metric] | None = None) -> Metric:
    """The metric of a name, among those of this module and the composed ones of a plan.

    A MetricError lists those that exist.

    >>> metric_named("ncp").intermediate
    'leaves-normalised'
    """
    metrics = {**METRICS, **(composed or {})}
    if name not in metrics:
        raise MetricError(f"The metric {quote(name)} is unknown; choose from {', '.join(metrics)}.")
    return metrics[name]


def multipliers(metric: Metric, hierarchies: Sequence[Hierarchy]) -> np.ndarray:
    """The factor of each attribute. Shape (m,)."""
    return np.array([float(factor) for factor in _exact_multipliers(metric, hierarchies)])


def _exact_multipliers(metric: Metric, hierarchies: Sequence[Hierarchy]) -> list[Fraction]:
    return MULTIPLIERS[metric.multiplier]([tree.height for tree in hierarchies])


def characteristics(metric: Metric) -> dict[str, str]:
    """What sets a metric apart from others, in words; empty for drawn weights.

    What its intermediate cost counts, by which multiplier, and whether that cost is normalised:
    whether losing everything costs 1 in every hierarchy, however large.

    Source: Mauger, Le Mahec, Dequen 2023, Table 2.

    >>> characteristics(metric_named("wllm"))
    {'counts': 'leaves', 'multiplier': 'w1', 'normalised': 'no'}
    """
    if not metric.intermediate:
        return {}
    phase = INTERMEDIATES[metric.intermediate]
    return {
        "counts": phase.counts,
        "multiplier": metric.multiplier,
        "normalised": "yes" if phase.is_normalised else "no",
    }


def potentials(
    metric: Metric, hierarchies: Sequence[Hierarchy], records: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, ...]:
    """D(v) per attribute and node: what it costs to raise v to the root.

    The cost of raising v to its ancestor v' is D(v) - D(v') >= 0.

    Source: Mauger, Le Mahec, Dequen 2023, Definitions 8 to 14; for ``entropy`` Gionis, Tassa
    2009: the edge from x up to x' weighs log2(count(x') / count(x)) bits, count(x) being the
    records at x or below it; 0 above a node without records.

    Shape (N_j,), float64. In the metric's own unit; 0 at every root.

    Parameters
    ----------
    hierarchies
        The hierarchies of **all** quasi-identifiers: multipliers compare their heights.
    records : sequence of numpy.ndarray, each of shape (N_j,), optional
        Per attribute the number of records of the original table at each node or below it; only
        ``entropy`` looks at them.

    Raises
    ------
    MetricError
        The metric is ``custom`` and a hierarchy has no drawn weights, or it is ``entropy`` and
        there are no records.

    Examples
    --------
    >>> from kanon.hierarchy.build import suppression
    >>> potentials(metric_named("ncp"), [suppression(["a", "b", "c", "d"])])[0].tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0]
    >>> records = [np.array([4, 2, 2, 0, 8])]
    >>> tree = suppression(["a", "b", "c", "d"])
    >>> potentials(metric_named("entropy"), [tree], records)[0].tolist()
    [1.0, 2.0, 2.0, 0.0, 0.0]
    """
    if metric.counts_records:
        if records is None:
            raise MetricError(f"The metric {quote(metric.name)} needs the records of a table.")
        return tuple(map(_bits_to_root, hierarchies, records))
    return tuple(depth.convert_to_floats() for depth in exact_potentials(metric, hierarchies))


def exact_potentials(metric: Metric, hierarchies: Sequence[Hierarchy]) -> tuple[ExactNumbers, ...]:
    """:func:`potentials` as fractions, by the definition of a metric.

    There are none of ``entropy``, as logarithms are irrational. A drawn weight counts as the
    decimal number that it was written as.

    >>> from kanon.hierarchy.build import suppression
    >>> depth, = exact_potentials(metric_named("ncp"), [suppression(["a", "b", "c"])])
    >>> depth.get_number(0), depth.get_number(3)
    (Fraction(1, 1), Fraction(0, 1))
    """
    if not metric.intermediate:
        return tuple(map(_sum_drawn_weights, hierarchies))
    height_of = INTERMEDIATES[metric.intermediate].height
    if height_of is None:
        raise ValueError(f"{metric.name} has no exact potentials")
    depths = []
    for tree, factor in zip(hierarchies, _exact_multipliers(metric, hierarchies), strict=True):
        if tree.height == 1:  # a single node: nothing can be lost
            depths.append(ExactNumbers([Fraction(0)], np.zeros(tree.n_nodes, dtype=np.int64)))
            continue
        height = height_of(tree)
        top = height.get_number(tree.root)
        depths.append(height.map(lambda low, top=top, factor=factor: (top - low) * factor))  # type: ignore[misc]
    return tuple(depths)


def edge_weights(
    metric: Metric, hierarchies: Sequence[Hierarchy], records: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, ...]:
    """ω(v, parent(v)) >= 0 per attribute and node; 0 for the roots. Shapes (N_j,).

    Takes and raises what :func:`potentials` does.

    Source: Mauger, Le Mahec, Dequen 2023, Definitions 8 to 14.

    The tree of their paper of 2020, whose edge from f skips a level, beside one of two values. So
    m = 2, h = 3 and 2, w1 = 1 - 4/5 and 1 - 1/5, w2 = 1 and 3/2. There are no leaves below a leaf,
    3 below A, 2 below B and 6 below the root. So by NCP a loses 3/6 up to A, and A loses
    (6 - 3)/6; by WLLM a loses 3 * 1/5, by LLM F loses 2 * 3/2. By Distortion the upper of two
    levels counts 1 of 1/2 + 1: A loses 2/3 * 1/5.

    >>> from kanon.hierarchy.build import groups, suppression
    >>> tree = groups([{"A": ["a", "b", "c"], "B": ["d", "e"]}, {"*": ["A", "B", "f"]}])
    >>> sex = suppression(["F", "M"])
    >>> for name in PUBLISHED:
    ...     first, second = edge_weights(metric_named(name), [tree, sex])
    ...     weights = [*(first[tree.node_of[x]] for x in "aAdBf"), second[sex.node_of["F"]]]
    ...     print(f"{name:10}", *(f"{weight:.3f}" for weight in weights))
    distortion 0.067 0.133 0.067 0.133 0.200 0.800
    ncp        0.500 0.500 0.333 0.667 1.000 1.000
    total      0.500 0.500 0.500 0.500 1.000 1.000
    llm        3.000 3.000 2.000 4.000 6.000 3.000
    nllm       0.500 0.500 0.333 0.667 1.000 1.500
    wllm       0.600 0.600 0.400 0.800 1.200 1.600
    wnllm      0.100 0.100 0.067 0.133 0.200 0.800
    """
    return tuple(
        np.where(tree.parent < 0, 0.0, np.maximum(depth - depth[tree.parent], 0))
        for tree, depth in zip(hierarchies, potentials(metric, hierarchies, records), strict=True)
    )


def _bits_to_root(tree: Hierarchy, records: np.ndarray) -> np.ndarray:
    """D(v) = log2(count(root) / count(v)); that of the node above if no record is at v or below.

    Losing a value that all records have costs nothing; the rarer a value, the more it costs.
    """
    if records.shape != (tree.n_nodes,):
        raise ValueError(f"one count per node: shape {records.shape}, not ({tree.n_nodes},)")
    at_least_one = np.maximum(records, 1)
    depth: np.ndarray = np.log2(at_least_one[tree.root] / at_least_one)
    empty = np.flatnonzero(records == 0)
    # Parents have larger numbers: from the root downwards; ranges stand after the root.
    for node in (*empty[empty <= tree.root][::-1], *empty[empty > tree.root]):
        depth[node] = 0.0 if node == tree.root else depth[tree.parent[node]]
    return depth


def _sum_drawn_weights(tree: Hierarchy) -> ExactNumbers:
    if tree.weight is None and tree.n_nodes > 1:
        raise MetricError("The metric 'custom' needs a weight on every edge of every hierarchy.")
    values, place = [Fraction(0)], np.zeros(tree.n_nodes, dtype=np.int64)
    place_of = {Fraction(0): 0}
    for node in range(tree.root - 1, -1, -1):  # parents have larger numbers: root downwards
        above = values[place[tree.parent[node]]]
        weight = 0.0 if tree.weight is None else float(tree.weight[node])
        depth = above + read_decimal(weight)
        place[node] = place_of.setdefault(depth, len(values))
        if place[node] == len(values):
            values.append(depth)
    ranges = np.arange(tree.root + 1, tree.n_nodes)  # a range loses what the node above it does
    place[ranges] = place[tree.parent[ranges]]
    return ExactNumbers(values, place)


LONGEST_METRIC_NAME = 40  # the most characters in the name of a composed metric


def check_metric_name(name: str, others: Iterable[str] = ()) -> None:
    """Refuse a name of a composed metric that is blank, too long, or taken by another metric."""
    if not name.strip() or len(name) > LONGEST_METRIC_NAME:
        raise PlanError(f"A metric needs a name of 1 to {LONGEST_METRIC_NAME} characters.")
    published = {text.casefold() for m in METRICS.values() for text in (m.name, m.card.title)}
    if name.casefold() in published | {other.casefold() for other in others}:
        raise PlanError(f"The name {quote(name)} is taken; choose another name.")
