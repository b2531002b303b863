"""Every measure beyond the columns of ``CURVES.csv``, at the k of a comparison.

A sum over cells or classes is known at every k of a merge path (see :mod:`kanon.measures.running`),
any other measure where a release was made for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

import kanon.measures
from kanon.cards import Card, parts_of
from kanon.measures import (
    at_root,
    average_class_size,
    c_avg,
    classification_metric,
    deleted_among_modified,
    generalised,
)
from kanon.measures.overview import of_column, utility_cards
from kanon.measures.running import cell_sums, class_sums
from kanon.recoding import MergePath, Recoding


@cache
def further_cards() -> Mapping[str, Card]:
    found = dict(utility_cards())
    for module in (generalised, at_root, deleted_among_modified):  # in ``CURVES.csv``
        del found[module.CARD.name]
    return {**found, classification_metric.CARD.name: classification_metric.CARD}


@cache
def at_some_k() -> frozenset[str]:
    """The further measures that are no running sums: of a merge path, known at some k alone."""
    modules = parts_of(kanon.measures)
    return frozenset(
        name for name in further_cards()
        if modules[name] is not c_avg and _summed_over(modules[name]) is None
    )  # fmt: skip


def _summed_over(module: ModuleType) -> Callable[[Any], Any] | None:
    """What a measure adds up over cells or classes; None if it is no such sum."""
    return getattr(module, "losses", None) or getattr(module, "per_class", None)


def kept_as(name: str, column: str = "", columns: Sequence[str] = ()) -> str:
    """What the numbers of a further measure are kept under.

    >>> kept_as("precision"), kept_as("classification_metric", "ill", ["ill", "paid"])
    ('precision', 'classification_metric_ill')
    """
    of_column = name == classification_metric.CARD.name and len(columns) > 1
    return f"{name}_{column}" if of_column else name


def further_of(found: Mapping[str, Any], columns: Sequence[str]) -> dict[str, float]:
    its_own = classification_metric.CARD.name
    numbers = {name: found[name] for name in further_cards() if name != its_own}
    for column in columns:
        numbers[kept_as(its_own, column, columns)] = of_column(found, column, columns)[its_own]
    return {name: np.nan if number is None else number for name, number in numbers.items()}


def further_along(
    path: MergePath, releases: Iterable[tuple[int, Recoding]]
) -> dict[str, np.ndarray]:
    min_k, classes = path.distinct_k, path.classes
    at = np.searchsorted(path.smallest, min_k, side="left")
    found: dict[str, np.ndarray] = {}
    summed: dict[Any, np.ndarray] = {}  # several measures may be made of one sum
    at_some: dict[str, Any] = {}
    for name, module in parts_of(kanon.measures).items():
        if name not in further_cards() or module in (c_avg, classification_metric):
            continue
        over = _summed_over(module)
        if over is None:
            at_some[name] = module.value
            continue
        if over not in summed:
            summed[over] = (
                cell_sums(path, over(classes))
                if hasattr(module, "losses")
                else class_sums(path, over(path.counts))
            )
        sums = summed[over]
        found[name] = np.asarray(module.of_sum(sums[at], sums[:1], classes), dtype=float)
    columns = [each.name for each in classes.sensitive]
    seen = set()
    for k, recoding in releases:
        row = int(np.searchsorted(min_k, k, side="left"))
        if row in seen or row == len(min_k):
            continue
        seen.add(row)
        numbers = {name: value(recoding) for name, value in at_some.items()}
        for column in columns:
            name = kept_as(classification_metric.CARD.name, column, columns)
            numbers[name] = classification_metric.value(recoding, column)
        for name, number in numbers.items():
            if number is not None:
                found.setdefault(name, np.full(len(min_k), np.nan))[row] = number
    return found


def known_at(
    numbers: Mapping[str, np.ndarray], name: str, rows: np.ndarray, ks: Sequence[int]
) -> np.ndarray:
    if name == c_avg.CARD.name and average_class_size.CARD.name in numbers:
        return numbers[average_class_size.CARD.name][rows] / np.asarray(ks)
    return np.asarray(numbers[name][rows] if name in numbers else np.full(len(rows), np.nan))
