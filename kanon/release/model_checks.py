"""The privacy models as a check counts them, sharing nothing with what made the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

_TOLERANCE = 1e-12  # levels this much apart, relatively, count as equal: both sides round


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
    def counted(cls, classes: np.ndarray, values: np.ndarray, records: np.ndarray) -> ClassMix:
        """From groups of so many records of a class and a value each, some of them alike."""
        width = int(values.max()) + 1
        pairs, at = np.unique(classes * width + values, return_inverse=True)
        count, sizes, total = (_sums(by, records) for by in (at, classes, values))
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


def _sums(by: np.ndarray, records: np.ndarray) -> np.ndarray:
    found = np.zeros(int(by.max()) + 1, np.int64)
    np.add.at(found, by, records)
    return found


def _at_least(levels: np.ndarray, wanted: float) -> tuple[float, bool]:
    return levels.min().item(), levels.min() >= wanted * (1 - _TOLERANCE)


def _at_most(levels: np.ndarray, wanted: float) -> tuple[float, bool]:
    return levels.max().item(), levels.max() <= wanted * (1 + _TOLERANCE) + 1e-12


def _k_anonymity(mix: ClassMix, k: int) -> tuple[float, bool]:
    return _at_least(mix.sizes, k)


def _distinct(mix: ClassMix, l: int) -> tuple[float, bool]:  # noqa: E741
    return _at_least(mix.values(), l)


def _entropy(mix: ClassMix, l: float) -> tuple[float, bool]:  # noqa: E741
    return _at_least(np.exp(-mix.sums(mix.p * np.log(mix.p))), l)


def _recursive(mix: ClassMix, c: float, l: int) -> tuple[float, bool]:  # noqa: E741
    falling = np.lexsort((-mix.count, mix.of))
    first = np.searchsorted(mix.of[falling], np.arange(len(mix.sizes)))
    rank = np.arange(len(falling)) - first[mix.of[falling]]
    rare = np.bincount(mix.of[falling], mix.count[falling] * (rank >= l - 1))
    with np.errstate(divide="ignore"):
        levels = mix.count[falling][first] / rare
    return levels.max().item(), levels.max() < c


def _alpha_k(mix: ClassMix, alpha: float, k: int) -> tuple[float, bool]:
    level, holds = _at_most(mix.p, alpha)
    return level, holds and _k_anonymity(mix, k)[1]


def _t_closeness(mix: ClassMix, t: float, distance: str) -> tuple[float, bool]:
    if distance == "emd-ordered":
        return _at_most(_ordered(mix), t)
    # A value that a class lacks is as far away as it is frequent.
    norm_1 = mix.sums(np.abs(mix.p - mix.q)) + 1 - mix.sums(mix.q)
    return _at_most(norm_1 if distance == "norm1" else norm_1 / 2, t)


def _ordered(mix: ClassMix) -> np.ndarray:
    """How far the shares have to be carried along the values, a step between neighbours being 1."""
    whole = np.cumsum(mix.total) / mix.total.sum()
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    # A class has the same share up to each value from one that it has to before the next.
    first = np.append(True, mix.of[1:] != mix.of[:-1])
    counted = np.cumsum(mix.count)
    share = (counted - (counted - mix.count)[first][mix.of]) / mix.sizes[mix.of]
    after = np.where(np.append(first[1:], True), len(whole), np.append(mix.value[1:], 0))
    meet = np.clip(np.searchsorted(whole, share), mix.value, after)
    carried = share * (2 * meet - mix.value - after) + sums[mix.value] + sums[after]
    levels = mix.sums(carried - 2 * sums[meet]) + sums[mix.value[first]]
    return np.asarray(levels / max(len(whole) - 1, 1))


def _delta(mix: ClassMix, delta: float) -> tuple[float, bool]:
    levels = np.abs(np.log(mix.p / mix.q))
    lacking = mix.values().min() < len(mix.total)
    return _at_most(np.array([np.inf]) if lacking else levels, delta)


def _basic_beta(mix: ClassMix, beta: float) -> tuple[float, bool]:
    return _at_most(np.maximum(mix.p / mix.q - 1, 0), beta)


def _enhanced_beta(mix: ClassMix, beta: float) -> tuple[float, bool]:
    gains = np.maximum(mix.p / mix.q - 1, 0)
    allowed = -np.log(mix.q) * (1 + _TOLERANCE) + 1e-12
    return _at_most(np.where(gains <= allowed, gains, np.inf), beta)


MODEL_CHECKS: Mapping[str, Callable[..., tuple[float, bool]]] = {
    "k-anonymity": _k_anonymity,
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-cl-diversity": _recursive,
    "alpha-k-anonymity": _alpha_k,
    "t-closeness": _t_closeness,
    "delta-disclosure": _delta,
    "basic-beta-likeness": _basic_beta,
    "enhanced-beta-likeness": _enhanced_beta,
}
