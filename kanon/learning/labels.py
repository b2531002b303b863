"""The labels to learn, split once into training and validation records.

Counts per class are enough: records of one class with one label are the same to a learner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kanon.base.formatting import count_noun, write_count
from kanon.base.values import MISSING_LABEL
from kanon.errors import PlanError, TableError, quote
from kanon.recoding import Recoding
from kanon.sensitive import Sensitive

MOST_LABELS = 50
"""A column with more different values is not a target, as most would have few records."""

TRAINING_SHARE = 2 / 3  # of the records, as published; the others validate


class Pairs(NamedTuple):
    """The number of records per class and label; only pairs that occur."""

    group: np.ndarray  # the class
    label: np.ndarray  # the position of the label
    records: np.ndarray  # the number of records, at least 1

    def move_to_classes(self, into: np.ndarray, n_labels: int) -> Pairs:
        """Move the pairs to the classes that theirs became part of; -1 drops them."""
        group = into[self.group]
        stays = group >= 0
        keys = group[stays] * n_labels + self.label[stays]
        distinct, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, self.records[stays], len(distinct)).astype(np.int64)
        return Pairs(distinct // n_labels, distinct % n_labels, counts)


@dataclass(frozen=True, eq=False)
class LabelledRecords:
    target: str  # the column to predict
    labels: tuple[str, ...]  # its values, at least two
    # the records of both parts, by original class and label
    training: Pairs
    validation: Pairs
    unlabelled: int  # the number of records without a label

    @property
    def binary(self) -> bool:
        return len(self.labels) == 2

    @property
    def positive(self) -> int:
        """The position of the rarest label, the last of equally rare ones."""
        both = zip(self.training, self.validation, strict=True)
        _, label, records = (np.concatenate(parts) for parts in both)
        totals = np.bincount(label, records, len(self.labels))
        return int(len(totals) - 1 - np.argmin(totals[::-1]))

    def released(self, recoding: Recoding) -> tuple[Pairs, Pairs]:
        into, size = recoding.assigned, len(self.labels)
        return self.training.move_to_classes(into, size), self.validation.move_to_classes(
            into, size
        )


def split_labels(
    histogram: Sensitive, training_share: float = TRAINING_SHARE, seed: int = 0
) -> LabelledRecords:
    if not 0 < training_share < 1:
        raise PlanError(
            f"The share for training is {training_share:g}; it has to be above 0 and below 1."
        )
    codes = [
        place
        for place, value in enumerate(histogram.values)
        if value != MISSING_LABEL and histogram.total[place]
    ]
    _check_target(histogram, codes)
    random = np.random.default_rng(seed)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    of_entry = histogram.of_entry
    for place, code in enumerate(codes):
        entries = histogram.value == code
        group, count = of_entry[entries], histogram.count[entries]
        total = int(count.sum())
        n_training = min(max(round(training_share * total), 1), total - 1)
        trains = random.multivariate_hypergeometric(count, n_training, method="marginals")
        parts.append((group, np.full(len(group), place), trains, count - trains))
    group, label, trains, validates = (np.concatenate(part) for part in zip(*parts, strict=True))
    return LabelledRecords(
        histogram.name,
        tuple(histogram.values[code] for code in codes),
        _build_pairs(group, label, trains),
        _build_pairs(group, label, validates),
        int(histogram.total.sum() - histogram.total[codes].sum()),
    )


def _check_target(histogram: Sensitive, codes: list[int]) -> None:
    name = quote(histogram.name)
    if len(codes) < 2:
        raise TableError(
            f"The column {name} has {count_noun(len(codes), 'different value')}, so there is "
            "nothing to predict. Choose a target with at least two."
        )
    if len(codes) > MOST_LABELS:
        raise TableError(
            f"The column {name} has {write_count(len(codes))} different values. Choose a target "
            f"with at most {MOST_LABELS}, so that each has enough records."
        )
    totals = histogram.total[codes]
    if totals.min() < 2:
        alone = [histogram.values[code] for code in codes if histogram.total[code] < 2]
        raise TableError(
            f"The column {name}: {count_noun(len(alone), 'value')} ({{cells}}) "
            f"{'has' if len(alone) == 1 else 'have'} only one record; a target needs two records "
            "per value, one to train on and one to validate on.",
            alone,
        )


def _build_pairs(group: np.ndarray, label: np.ndarray, count: np.ndarray) -> Pairs:
    order = np.lexsort((label, group))
    rows = order[count[order] > 0]
    return Pairs(
        group[rows].astype(np.int64), label[rows].astype(np.int64), count[rows].astype(np.int64)
    )
