"""Number change: how far means, variances and correlations of numeric columns move."""

import math
import re
from typing import NamedTuple

import numpy as np

from kanon.base.kinds import read_numbers
from kanon.base.values import MISSING_LABEL
from kanon.cards import read_card
from kanon.classes import EquivalenceClasses
from kanon.hierarchy import Hierarchy
from kanon.recoding import Recoding

CARD = read_card(__file__)

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class Moment(NamedTuple):
    """A number about one column, or about two."""

    column: str
    number: str  # mean, variance or correlation
    other: str  # the column that it is correlated with; "" for a mean or a variance
    before: float
    after: float | None  # None if nothing is released, or it is too large for a float


def value(recoding: Recoding) -> float | None:
    """The mean of three means: those of the changes of means, variances and correlations.

    With m the mean, s² the variance and r Pearson's correlation, the changes are |m after - m
    before| / s before and |s² after / s² before - 1| of numeric quasi-identifiers, and |r after -
    r before| of pairs of them, or of one and a numeric sensitive column. s² divides by the number
    of records, not by one less. A released cell counts as the number that it shows; a group or
    range as the middle of its lowest and highest value. Suppressed records and missing cells are
    left out, of a correlation those that lack one of both; so are columns with one value. r is 0
    if one value is left.

    At least 0, which the identity has. None without such columns, or if nothing is released.
    """
    moments = compare_moments(recoding)
    spread = {part.column: math.sqrt(part.before) for part in moments if part.number == "variance"}
    changes: dict[str, list[float]] = {}
    for column, number, _, before, after in moments:
        if after is not None and spread.get(column):
            unit = {"mean": spread[column], "variance": before, "correlation": 1.0}[number]
            changes.setdefault(number, []).append(abs(after - before) / unit)
    means = [math.fsum(parts) / len(parts) for parts in changes.values()]
    return math.fsum(means) / len(means) if means and math.isfinite(math.fsum(means)) else None


def compare_moments(recoding: Recoding) -> tuple[Moment, ...]:
    """Means, variances and correlations as :func:`value` defines them, before and after."""
    after = _measure_moments(recoding.released) if recoding.n_classes else {}
    moments = []
    for key, before in _measure_moments(recoding.classes).items():
        is_left = key[1] == "correlation" and (key[0], "mean", "") in after
        moments.append(Moment(*key, before, after.get(key, 0.0 if is_left else None)))
    return tuple(moments)


def read_node_numbers(tree: Hierarchy) -> np.ndarray | None:
    """The number that each node or range stands for, nan if missing; None without numbers.

    >>> from kanon.hierarchy.build import intervals
    >>> tree = intervals(["3", "4", "9"], [5])
    >>> dict(zip(tree.labels, read_node_numbers(tree).tolist()))
    {'3': 3.0, '4': 4.0, '9': 9.0, '0-4': 3.5, '5-9': 9.0, '*': 6.0}
    """
    leaves = _read_column(tree.labels[: tree.n_leaves])
    if leaves is None:
        return None
    ends, leaves = np.stack([tree.first, tree.last], axis=1).ravel(), np.append(leaves, np.nan)
    lowest, highest = (end.reduceat(leaves, ends)[::2] for end in (np.fmin, np.fmax))
    numbers = np.asarray(lowest / 2 + highest / 2)
    for node in range(tree.n_leaves, tree.n_nodes):
        label = tree.labels[node].removesuffix(f" or {MISSING_LABEL}")
        if _NUMBER.fullmatch(label):
            numbers[node] = float(label)
        elif tree.node_of.get(label, node) < tree.n_leaves:  # a median, written in another way
            numbers[node] = leaves[tree.node_of[label]]
    return numbers


def _read_column(labels: tuple[str, ...]) -> np.ndarray | None:
    """The numbers of some labels, nan if missing; None if others are no numbers."""
    filled = np.array([label != MISSING_LABEL for label in labels])
    sizes = read_numbers([label for label in labels if label != MISSING_LABEL])
    if sizes is None:
        return None
    numbers = np.full(len(labels), np.nan)
    numbers[filled] = sizes
    return numbers


def _measure_moments(classes: EquivalenceClasses) -> dict[tuple[str, str, str], float]:
    """The finite means, variances and correlations, by column, number and other column."""
    columns = {
        name: numbers[classes.nodes[:, j]]
        for j, (name, tree) in enumerate(zip(classes.attributes, classes.hierarchies, strict=True))
        if (numbers := read_node_numbers(tree)) is not None
    }
    moments: dict[tuple[str, str, str], float] = {}
    for place, (name, values) in enumerate(columns.items()):
        mean, variance, _ = _measure_pair(values, values, classes.counts)
        moments |= {(name, "mean", ""): mean, (name, "variance", ""): variance}
        for other in [*columns][place + 1 :]:
            *_, moments[name, "correlation", other] = _measure_pair(
                values, columns[other], classes.counts
            )
        for part in classes.sensitive:
            if part.numeric and (numbers := _read_column(part.values)) is not None:
                *_, moments[name, "correlation", part.name] = _measure_pair(
                    values[part.of_entry], numbers[part.value], part.count
                )
    return {key: moment for key, moment in moments.items() if math.isfinite(moment)}


def _measure_pair(
    values: np.ndarray, others: np.ndarray, counts: np.ndarray
) -> tuple[float, float, float]:
    """The mean and variance of the first values, and their correlation with the others."""
    known = ~(np.isnan(values) | np.isnan(others))
    if not known.any():
        return math.nan, math.nan, math.nan
    sides, counts = (values[known], others[known]), counts[known]
    with np.errstate(over="ignore", invalid="ignore"):
        apart, others_apart = (side - np.average(side, weights=counts) for side in sides)
        square, others_square = ((side * side) @ counts for side in (apart, others_apart))
        product = math.sqrt(square) * math.sqrt(others_square)
        joint = float((apart * others_apart) @ counts)
    correlation = min(1.0, max(-1.0, joint / product)) if product else math.nan
    return float(np.average(sides[0], weights=counts)), float(square / counts.sum()), correlation
