"""The rows of a release as its check counts them, independently of the code that made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PlainTree = dict[str, tuple[str, int]]  # per value or group the group above it, and its level
TOLERANCE = 1e-12  # the relative difference up to which levels count as equal, as both are rounded


@dataclass(frozen=True)
class ClassMix:
    """How often each value occurs in each class: ``count`` records of class ``of`` have ``value``.

    ``p`` is that as a share of the class, ``q`` the share of the value in the whole release.
    """

    of: np.ndarray
    value: np.ndarray
    count: np.ndarray
    sizes: np.ndarray
    total: np.ndarray

    @classmethod
    def count_groups(cls, classes: np.ndarray, values: np.ndarray, records: np.ndarray) -> ClassMix:
        """Sum groups of records, each of one class and one value; groups may repeat."""
        width = int(values.max()) + 1
        pairs, at = np.unique(classes * width + values, return_inverse=True)
        count, sizes, total = (_sum_by(by, records) for by in (at, classes, values))
        return cls(pairs // width, pairs % width, count, sizes, total)

    @property
    def p(self) -> np.ndarray:
        """The share of its class."""
        return self.count / self.sizes[self.of]

    @property
    def q(self) -> np.ndarray:
        """The share of its value in the release."""
        return (self.total / self.total.sum())[self.value]

    def sums(self, terms: np.ndarray) -> np.ndarray:
        """Per class the sum over its values."""
        return np.bincount(self.of, terms, minlength=len(self.sizes))

    def values(self) -> np.ndarray:
        """Per class the number of its values."""
        return np.bincount(self.of, minlength=len(self.sizes))


def _sum_by(by: np.ndarray, records: np.ndarray) -> np.ndarray:
    sums = np.zeros(int(by.max()) + 1, np.int64)
    np.add.at(sums, by, records)
    return sums


def check_at_least(levels: np.ndarray, limit: float) -> tuple[float, bool]:
    """The least level, and whether it is enough."""
    return levels.min().item(), levels.min() >= limit * (1 - TOLERANCE)


def check_at_most(levels: np.ndarray, limit: float) -> tuple[float, bool]:
    """The largest level, and whether it is low enough."""
    return levels.max().item(), levels.max() <= limit * (1 + TOLERANCE) + 1e-12
