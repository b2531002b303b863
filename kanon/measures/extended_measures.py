"""Every measure beyond the columns of ``CURVES.csv``, at the k of a comparison.

Sums over cells or classes are known at every k of a merge path (see
:mod:`kanon.measures.running`), other measures only where a release was made for them.
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
from kanon.measures.overview import get_column_measures, get_utility_cards
from kanon.measures.running import sum_cells_along, sum_classes_along
from kanon.recoding import MergePath, Recoding


@cache
def get_further_cards() -> Mapping[str, Card]:
    cards = dict(get_utility_cards())
    for module in (generalised, at_root, deleted_among_modified):  # in ``CURVES.csv``
        del cards[module.CARD.name]
    return {**cards, classification_metric.CARD.name: classification_metric.CARD}


@cache
def find_measures_at_some_k() -> frozenset[str]:
    """The further measures that are not running sums, known only at some k of a merge path."""
    modules = parts_of(kanon.measures)
    return frozenset(
        name for name in get_further_cards()
        if modules[name] is not c_avg and _get_summand(modules[name]) is None
    )  # fmt: skip


def _get_summand(module: ModuleType) -> Callable[[Any], Any] | None:
    """Get what a measure sums over cells or classes; None if it is not such a sum."""
    return getattr(module, "losses", None) or getattr(module, "per_class", None)


def name_measure(name: str, column: str = "", columns: Sequence[str] = ()) -> str:
    """The name of the numbers of a further measure.

    >>> name_measure("precision"), name_measure("classification_metric", "ill", ["ill", "paid"])
    ('precision', 'classification_metric_ill')
    """
    per_column = name == classification_metric.CARD.name and len(columns) > 1
    return f"{name}_{column}" if per_column else name


def extract_further(measures: Mapping[str, Any], columns: Sequence[str]) -> dict[str, float]:
    per_column = classification_metric.CARD.name
    numbers = {name: measures[name] for name in get_further_cards() if name != per_column}
    for column in columns:
        numbers[name_measure(per_column, column, columns)] = get_column_measures(
            measures, column, columns
        )[per_column]
    return {name: np.nan if number is None else number for name, number in numbers.items()}


def measure_further_along(
    path: MergePath, releases: Iterable[tuple[int, Recoding]]
) -> dict[str, np.ndarray]:
    min_k, classes = path.distinct_k, path.classes
    at = np.searchsorted(path.smallest, min_k, side="left")
    numbers_by_name: dict[str, np.ndarray] = {}
    sums_by_loss: dict[Any, np.ndarray] = {}  # several measures may be made of one sum
    at_some: dict[str, Any] = {}
    for name, module in parts_of(kanon.measures).items():
        if name not in get_further_cards() or module in (c_avg, classification_metric):
            continue
        over = _get_summand(module)
        if over is None:
            at_some[name] = module.value
            continue
        if over not in sums_by_loss:
            sums_by_loss[over] = (
                sum_cells_along(path, over(classes))
                if hasattr(module, "losses")
                else sum_classes_along(path, over(path.counts))
            )
        sums = sums_by_loss[over]
        numbers_by_name[name] = np.asarray(module.of_sum(sums[at], sums[:1], classes), dtype=float)
    columns = [sensitive.name for sensitive in classes.sensitive]
    rows = set()
    for k, recoding in releases:
        row = int(np.searchsorted(min_k, k, side="left"))
        if row in rows or row == len(min_k):
            continue
        rows.add(row)
        numbers = {name: value(recoding) for name, value in at_some.items()}
        for column in columns:
            name = name_measure(classification_metric.CARD.name, column, columns)
            numbers[name] = classification_metric.value(recoding, column)
        for name, number in numbers.items():
            if number is not None:
                numbers_by_name.setdefault(name, np.full(len(min_k), np.nan))[row] = number
    return numbers_by_name


def get_known_at(
    numbers: Mapping[str, np.ndarray], name: str, rows: np.ndarray, ks: Sequence[int]
) -> np.ndarray:
    if name == c_avg.CARD.name and average_class_size.CARD.name in numbers:
        return numbers[average_class_size.CARD.name][rows] / np.asarray(ks)
    return np.asarray(numbers[name][rows] if name in numbers else np.full(len(rows), np.nan))
