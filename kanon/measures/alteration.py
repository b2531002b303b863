"""Alteration: how much of all that could be lost was lost, as a metric counts it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from kanon.cards import read_card
from kanon.measures.cells import compute_percent, scale_metric_potentials
from kanon.metrics import PUBLISHED, Metric
from kanon.recoding import Recoding

T = TypeVar("T", float, np.ndarray)

CARD = read_card(__file__)

MEAN_CARD = replace(
    CARD,
    name="mean_alteration",
    title="Mean alteration",
    summary="The alteration, averaged over the seven published metrics.",
)


def value(recoding: Recoding, metric: Metric) -> float:
    """alteration = 100 * cost(release) / cost(all at the root), in percent.

    The cost is the sum over records and quasi-identifiers of D(original) - D(released), with D
    the potential of the metric; suppressed records count as raised to the root. Costs are sums of
    whole numbers (see :mod:`kanon.hierarchy.scaled_potentials`), so equal costs have equal digits.

    In [0, 100]; 0 means unchanged, 100 that every quasi-identifier is at its root. It is 0 for a
    table that is at the roots already.
    """
    depths = scale_metric_potentials(recoding.original, metric)

    def sum_remaining(cells: Sequence[np.ndarray]) -> int:
        return sum(int(depth @ at) for depth, at in zip(depths, cells, strict=True))

    possible = sum_remaining(recoding.original.cells)
    return compute_percent(float(possible - sum_remaining(recoding.cells)), float(possible))


def split_by_column(recoding: Recoding, metric: Metric) -> dict[str, float]:
    """The part of the alteration that each quasi-identifier contributes; their sum is all of it.

    Per quasi-identifier 100 * its cost / cost(all at the root), in points of percent.
    """
    depths = scale_metric_potentials(recoding.original, metric)
    cells = zip(depths, recoding.original.cells, recoding.cells, strict=True)
    pairs = [(int(depth @ before), int(depth @ after)) for depth, before, after in cells]
    possible = float(sum(before for before, _ in pairs))
    return {
        column: compute_percent(float(before - after), possible)
        for column, (before, after) in zip(recoding.classes.attributes, pairs, strict=True)
    }


def compute_mean_alteration(alterations: Mapping[str, T]) -> T:
    """The mean of the alterations under several metrics, in percent.

    The mean keeps the metric that guided the release from being its only judge. It is over the
    published metrics, so a user's own metric does not change it; without any published one, over
    all that were measured.

    >>> compute_mean_alteration({"ncp": 10.0, "total": 20.0, "my own": 90.0})
    15.0
    """
    names = [name for name in PUBLISHED if name in alterations] or list(alterations)
    return sum(alterations[name] for name in names) / len(names)  # type: ignore[return-value]
