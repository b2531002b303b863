"""What matters, as weights: a score for every way, and the front of those that nothing beats.

Three concerns, each a percentage from 0, the best, to 100, the worst:

    utility = the mean alteration over the seven published metrics
    l       = 100 - l of the least mixed class, as a share of what the table as one class has
    t       = the total variation distance of the most unusual class from the whole table

    score   = Σ w × concern / Σ w

Over several k each concern is its mean over them. A score is a percentage too: with equal weights
10 points of alteration weigh as much as 10 points of t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kanon.base.formatting import joined
from kanon.errors import PlanError, quoted
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.hierarchy import LARGEST_WEIGHT
from kanon.measures.alteration import MEAN_CARD
from kanon.measures.pareto import pareto_front

CONCERNS = ("utility", "l", "t")
"""What may matter, in the order of all arrays."""

USUAL: Mapping[str, float] = {"utility": 2.0, "l": 1.0, "t": 1.0}
"""To begin with: what is lost matters as much as the sensitive column, which has two concerns."""

_DIGITS = 9
"""Losses are told apart to so many decimals, so that a rounding error beats nobody."""


def checked_weights(given: Mapping[str, float]) -> dict[str, float]:
    """The weight of every concern; 0 for one that was not named.

    Raises
    ------
    PlanError
        A name is no concern, a weight is no number, negative or above
        :data:`~kanon.hierarchy.LARGEST_WEIGHT`, or all are 0.

    Examples
    --------
    >>> checked_weights({"utility": 2, "t": 0.5})
    {'utility': 2.0, 'l': 0.0, 't': 0.5}
    >>> checked_weights({"utility": 0})
    Traceback (most recent call last):
    kanon.errors.PlanError: All weights are 0, so nothing matters; give at least one of \
utility, l and t a weight above 0.
    """
    found = dict.fromkeys(CONCERNS, 0.0) | _numbers("weight", given, most=LARGEST_WEIGHT)
    if not any(found.values()):
        raise PlanError(
            "All weights are 0, so nothing matters; give at least one of utility, l and t a "
            "weight above 0."
        )
    return found


def checked_limits(given: Mapping[str, float]) -> dict[str, float]:
    """What l of every class should be at least, and t at most.

    Parameters
    ----------
    given
        Under ``l`` an entropy l of at least 1, under ``t`` a total variation distance from 0 to
        1; either may be left out.

    Raises
    ------
    PlanError
        A name is neither, or a number is none or out of its range.

    Examples
    --------
    >>> checked_limits({"l": 2, "t": 0.3})
    {'l': 2.0, 't': 0.3}
    """
    found = _numbers("limit", given, CONCERNS[1:])
    if found.get("l", 1.0) < 1:
        raise PlanError(f"The limit of l is {found['l']:g}, and no class has less than l = 1.")
    if found.get("t", 0.0) > 1:
        raise PlanError(f"The limit of t is {found['t']:g}, and no class has more than t = 1.")
    return found


def _numbers(
    what: str, given: Mapping[str, float], names: Sequence[str] = CONCERNS, most: float = math.inf
) -> dict[str, float]:
    allowed = "at least 0" if most == math.inf else f"at least 0 and at most {most:g}"
    for name, value in given.items():
        if name not in names:
            raise PlanError(f"The {what} {quoted(name)} is unknown; there are {joined(names)}.")
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= most:
            raise PlanError(
                f"The {what} of {name} is {quoted(value)}; it has to be a number of {allowed}."
            )
    return {name: float(value) for name, value in given.items()}


def shares_of(weights: Mapping[str, float], concerns: Sequence[str] = CONCERNS) -> np.ndarray:
    """The weights of some concerns as shares of 1.

    Raises
    ------
    PlanError
        See :func:`checked_weights`; or those that count are all 0.
    """
    checked = checked_weights(weights)
    found = np.array([checked[name] for name in concerns])
    if not found.any():
        raise PlanError(
            "Without a sensitive column there is no l and no t to compare, so nothing that "
            "matters is left; give utility a weight above 0."
        )
    found /= found.max()  # so that the sum of the largest numbers is one too
    return np.asarray(found / found.sum())


def scores(lost: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The weighted mean over the last axis, in percent; 0 is the best.

    >>> scores(np.array([[10.0, 50.0], [20.0, 30.0]]), np.array([0.5, 0.5])).tolist()
    [30.0, 25.0]
    """
    # Term by term: what is nowhere worse then never has the higher score by a rounding error.
    found = np.zeros(lost.shape[:-1])
    for place, share in enumerate(shares):
        found = found + share * lost[..., place]
    return np.asarray(np.round(found, _DIGITS))


def losses(comparison: Comparison, ks: Sequence[int]) -> np.ndarray:
    """What every way loses in every concern at every k, in percent.

    Returns
    -------
    numpy.ndarray, shape (ways, tie seeds, len(ks), 3)
        In the order of :data:`CONCERNS`; the first alone without a sensitive column.
    """
    parts = [comparison.at(MEAN_CARD.name, ks)]
    if comparison.sensitive:
        parts += [100.0 - comparison.at(L_CARD.name, ks), comparison.at(T_CARD.name, ks)]
    return np.stack(parts, axis=-1).round(_DIGITS)


def averaged(each_k: np.ndarray) -> np.ndarray:
    """The mean over the k, the axis before the last."""
    return np.asarray(each_k.mean(axis=-2).round(_DIGITS))


@dataclass(frozen=True, eq=False)
class WeighedWays:
    """Every way with its score.

    Attributes
    ----------
    comparison
        The ways, and their criteria at every k.
    ks
        Those that the concerns are averaged over.
    weights
        The weight of each concern, as given.
    limits
        What l should be at least and t at most, at each of these k.
    each_k : numpy.ndarray, shape (W, len(ks), C)
        See :func:`losses`.
    scores : numpy.ndarray, shape (W,)
        The weighted means, in percent; 0 is the best.
    front : numpy.ndarray of bool, shape (W,)
        Whether no other way is at least as good in every concern and better in one.
    """

    comparison: Comparison
    ks: tuple[int, ...]
    weights: Mapping[str, float]
    limits: Mapping[str, float]
    each_k: np.ndarray
    scores: np.ndarray
    front: np.ndarray

    @property
    def ways(self) -> tuple[Line, ...]:
        """The ways, in the order of all arrays."""
        return self.comparison.lines

    @property
    def concerns(self) -> tuple[str, ...]:
        """What was compared: everything, or the utility alone."""
        return CONCERNS[: self.each_k.shape[-1]]

    @cached_property
    def losses(self) -> np.ndarray:
        """What a way loses in every concern, averaged over the k, in percent. Shape (W, C)."""
        return averaged(self.each_k)

    def worst(self, place: int) -> dict[str, float]:
        """The l and t of a way at the worst of the k."""
        at = self.each_k[place]
        return {"l": self._l(at[:, 1].max()), "t": float(at[:, 2].max()) / 100.0}

    @cached_property
    def short_of(self) -> np.ndarray:
        """By how many points a way misses the limits at the worst of the k; 0 where it meets them.

        l counts as a share of the table's, in percent, and t in percent; the larger of the two.
        Shape (W,).
        """
        worst, missed = self.each_k.max(axis=1), np.zeros(len(self.ways))
        if self.comparison.sensitive and "l" in self.limits:
            allowed = 100.0 - 100.0 * self.limits["l"] / self._best_l
            missed = np.maximum(missed, worst[:, 1] - allowed)
        if self.comparison.sensitive and "t" in self.limits:
            missed = np.maximum(missed, worst[:, 2] - 100.0 * self.limits["t"])
        return np.where(missed > 1e-6, missed, 0.0)  # a limit that is met exactly is met

    def _l(self, lost: float) -> float:
        """The entropy l, from what is lost of it in percent."""
        return float(100.0 - lost) / 100.0 * self._best_l

    @property
    def _best_l(self) -> float:
        return self.ways[0].best_l[self.comparison.sensitive]

    @property
    def meets(self) -> np.ndarray:
        """Whether a way meets the limits at every one of the k. Shape (W,), bool."""
        return self.short_of == 0

    @property
    def nearest(self) -> int:
        """The place of the way that misses the limits by least; of several the one of least score.

        The first proposal where nothing was missed by anybody.
        """
        return int(np.lexsort((self._means, self.scores, self.short_of))[0])

    @cached_property
    def order(self) -> np.ndarray:
        """The places of the ways, the best first.

        Those that meet the limits come before the others. Then by score; of equal scores by the
        mean of all concerns, so that also where a concern has no weight the first is on the
        front; then as they were listed.
        """
        return np.lexsort((self._means, self.scores, ~self.meets))

    @property
    def _means(self) -> np.ndarray:
        return scores(self.losses, np.full(len(self.concerns), 1 / len(self.concerns)))

    def figures(self, place: int) -> dict[str, float]:
        """The alteration in percent, l and t (from 0 to 1) of a way, averaged over the k."""
        lost = self.losses[place]
        found = {"mean_alteration": float(lost[0])}
        if self.comparison.sensitive:
            found |= {"l": self._l(lost[1]), "t": float(lost[2]) / 100.0}
        return found

    def table(self) -> pd.DataFrame:
        """Every way, the best first: what it is, its figures, its score, and whether it is beaten.

        Columns ``rank, way, metric, strategy, scope, score, mean_alteration, l, t, l_percent,
        t_percent, front`` and, if there are limits, ``meets_limits``.
        """
        rows = []
        for rank, place in enumerate(self.order, 1):
            line = self.ways[place]
            own = line.configuration
            row: dict[str, object] = {
                "rank": rank,
                "way": line.title,
                "metric": own.metric if own.strategy not in ("l", "t") else None,
                "strategy": own.strategy,
                "scope": own.scope,
                "score": float(self.scores[place]),
                **self.figures(place),
            }
            if self.comparison.sensitive:
                row["l_percent"] = 100.0 - float(self.losses[place, 1])
                row["t_percent"] = float(self.losses[place, 2])
            row["front"] = bool(self.front[place])
            if self.limits:
                row["meets_limits"] = bool(self.meets[place])
            rows.append(row)
        return pd.DataFrame(rows)


def weigh(
    comparison: Comparison,
    ks: Sequence[int],
    weights: Mapping[str, float] = USUAL,
    limits: Mapping[str, float] | None = None,
) -> WeighedWays:
    """Score every way; nothing is run.

    Parameters
    ----------
    comparison
        The ways, as :func:`kanon.experiments.advisor.ways.compared` gives them.
    ks
        The k to average over.
    weights
        How much each concern matters; see :func:`checked_weights`.
    limits
        See :func:`checked_limits`; without a sensitive column they are left alone.

    Raises
    ------
    PlanError
        Weights or limits are not allowed.

    Notes
    -----
    The way of least score is on the front: one that beat it would have at most its score, and,
    where that is equal, a lower mean of all concerns.
    """
    each_k = losses(comparison, ks)[:, 0]
    lost, concerns = averaged(each_k), CONCERNS[: each_k.shape[-1]]
    return WeighedWays(
        comparison,
        tuple(ks),
        checked_weights(weights),
        checked_limits(limits or {}),
        each_k,
        scores(lost, shares_of(weights, concerns)),
        pareto_front(lost, ["lower"] * len(concerns)),
    )
