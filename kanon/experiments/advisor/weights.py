"""A score for every configuration by the weights of concerns, and the Pareto front.

Concerns and scores are percentages from 0, the best, to 100: see docs/explanation/advisor.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from kanon.base.formatting import join_words, write_count
from kanon.errors import PlanError, quote
from kanon.experiments.comparison import Comparison, Line
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.hierarchy import LARGEST_WEIGHT
from kanon.measures.along import Curves
from kanon.measures.alteration import MEAN_CARD
from kanon.measures.pareto import find_pareto_front

DIGITS = 9  # losses are told apart to so many decimals, so that rounding errors decide nothing

_TOLERANCE = 1e-6  # a limit that is missed by no more points is met


def compute_losses(comparison: Comparison, ks: Sequence[int]) -> np.ndarray:
    parts = [comparison.at(MEAN_CARD.name, ks)]
    if comparison.sensitive:
        parts += [100.0 - comparison.at(L_CARD.name, ks), 100.0 * comparison.at(T_CARD.name, ks)]
    return np.stack(parts, axis=-1).round(DIGITS)


def compute_shortfall(losses: np.ndarray, limits: Mapping[str, float], best_l: float) -> np.ndarray:
    """By how many points releases miss the limits of l and t; 0 where they meet them."""
    shortfall = np.zeros(losses.shape[:-1])
    if losses.shape[-1] > 1 and "l" in limits:
        shortfall = np.maximum(shortfall, losses[..., 1] - (100.0 - 100.0 * limits["l"] / best_l))
    if losses.shape[-1] > 1 and "t" in limits:
        shortfall = np.maximum(shortfall, losses[..., 2] - 100.0 * limits["t"])
    return np.where(shortfall > _TOLERANCE, shortfall, 0.0)


def find_least_losses(
    comparison: Comparison, ks: Sequence[int], limits: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Per line and k the release of least loss, of those for that k or a larger one.

    With limits, or models that a line merges on for, that may be the release for a larger k.
    """
    at_k, losses = [], []
    for line in comparison.lines:
        known_ks = np.union1d(ks, list_k_from(line, min(ks))).astype(np.int64)
        line_losses = compute_losses(replace(comparison, lines=(line,)), known_ks.tolist())[0, 0]
        best_l = line.best_l.get(comparison.sensitive, 1.0)
        meets = known_ks >= limits.get("k", 0)
        meets &= compute_shortfall(line_losses, limits, best_l) == 0
        places = []
        for k in ks:
            large_enough = known_ks >= k
            both = large_enough & meets
            candidates = np.flatnonzero(both if both.any() else large_enough)
            places.append(candidates[line_losses[candidates, 0].argmin()])
        at_k.append(known_ks[places])
        losses.append(line_losses[places])
    return np.array(at_k), np.array(losses)


def list_k_from(line: Line, k: int) -> np.ndarray:
    (run,) = line.runs.values()
    if isinstance(run, Curves):
        return np.append(k, run.min_k[run.min_k > k])
    known_ks = run.numbers["k"]
    return np.asarray(known_ks[known_ks >= k])


CONCERNS = ("utility", "l", "t")  # what may matter, in the order of all arrays

LIMIT_NAMES = ("k", "l", "t")  # what may have a limit

DEFAULT_WEIGHTS: Mapping[str, float] = {"utility": 2.0, "l": 1.0, "t": 1.0}
"""To begin with: what is lost matters as much as the sensitive column, which has two concerns."""


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of every concern; 0 for one that was not named.

    >>> check_weights({"utility": 2, "t": 0.5})
    {'utility': 2.0, 'l': 0.0, 't': 0.5}
    """
    checked = dict.fromkeys(CONCERNS, 0.0) | _check_numbers("weight", weights, most=LARGEST_WEIGHT)
    if not any(checked.values()):
        raise PlanError(
            "All weights are 0, so no concern counts; give at least one of utility, l and t a "
            "weight above 0."
        )
    return checked


def check_limits(limits: Mapping[str, float]) -> dict[str, float]:
    checked = _check_numbers("limit", limits, LIMIT_NAMES)
    if not checked.get("k", 0.0).is_integer():
        raise PlanError(f"The limit for k is {checked['k']:g}; it has to be a whole number.")
    if checked.get("l", 1.0) < 1:
        raise PlanError(f"The limit for l is {checked['l']:g}, but no class has less than l = 1.")
    if checked.get("t", 0.0) > 1:
        raise PlanError(f"The limit for t is {checked['t']:g}, but no class has more than t = 1.")
    return checked


def _check_numbers(
    kind: str, numbers: Mapping[str, float], names: Sequence[str] = CONCERNS, most: float = math.inf
) -> dict[str, float]:
    allowed = "of at least 0" if most == math.inf else f"from 0 to {most:g}"
    for name, value in numbers.items():
        if name not in names:
            known = join_words(names)
            raise PlanError(f"The {kind} {quote(name)} is unknown; choose from {known}.")
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= most:
            raise PlanError(
                f"The {kind} of {name} is {quote(value)}; it has to be a number {allowed}."
            )
    return {name: float(value) for name, value in numbers.items()}


def compute_weight_shares(
    weights: Mapping[str, float], concerns: Sequence[str] = CONCERNS
) -> np.ndarray:
    checked = check_weights(weights)
    shares = np.array([checked[name] for name in concerns])
    if not shares.any():
        raise PlanError(
            "Without a sensitive column there is no l or t to compare, so only utility can count; "
            "give utility a weight above 0."
        )
    shares /= shares.max()  # so that the sum of the largest numbers is one too
    return np.asarray(shares / shares.sum())


def compute_scores(losses: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The weighted mean over the last axis, in percent; 0 is the best."""
    # Term by term: what is nowhere worse then never has the higher score by a rounding error.
    total = np.zeros(losses.shape[:-1])
    for place, share in enumerate(shares):
        total = total + share * losses[..., place]
    return np.asarray(np.round(total, DIGITS))


def compute_mean_over_k(each_k: np.ndarray) -> np.ndarray:
    return np.asarray(each_k.mean(axis=-2).round(DIGITS))


@dataclass(frozen=True, eq=False)
class Ranking:
    comparison: Comparison  # the configurations, and their criteria at every k
    ks: tuple[int, ...]  # those that the concerns are averaged over
    weights: Mapping[str, float]  # the weight of each concern, as given
    limits: Mapping[str, float]  # what k and l should be at least and t at most, at each of these k
    at_k: np.ndarray  # for which k the release is that counts
    each_k: np.ndarray  # what that one loses
    scores: np.ndarray  # the weighted means, in percent
    front: np.ndarray  # whether no other line is as good in every concern and better in one

    @property
    def ways(self) -> tuple[Line, ...]:
        return self.comparison.lines

    @property
    def concerns(self) -> tuple[str, ...]:
        return CONCERNS[: self.each_k.shape[-1]]

    @cached_property
    def losses(self) -> np.ndarray:
        return compute_mean_over_k(self.each_k)

    def worst(self, place: int) -> dict[str, float]:
        losses, values = self.each_k[place], {"k": float(self.at_k[place].min())}
        if self.comparison.sensitive:
            values |= {
                "l": self._compute_l(losses[:, 1].max()),
                "t": float(losses[:, 2].max()) / 100.0,
            }
        return values

    @cached_property
    def short_of(self) -> np.ndarray:
        """By how many points a line misses the limits of l and t at the worst of the k."""
        best = self._best_l if self.comparison.sensitive else 1.0
        return compute_shortfall(self.each_k.max(axis=1), self.limits, best)

    def _compute_l(self, loss: float) -> float:
        return float(100.0 - loss) / 100.0 * self._best_l

    @property
    def _best_l(self) -> float:
        return self.ways[0].best_l[self.comparison.sensitive]

    @property
    def meets(self) -> np.ndarray:
        enough = (self.at_k >= self.limits.get("k", 0)).all(axis=1)
        return np.asarray(enough & (self.short_of == 0))

    @property
    def nearest(self) -> int:
        """The line that misses the limits by least; of several the one of lowest score."""
        return int(np.lexsort((self._means, self.scores, self.short_of))[0])

    @cached_property
    def order(self) -> np.ndarray:
        """The places of the lines, the best first: those that meet the limits, then by score.

        Equal scores go by the mean of all concerns, so that the first is on the front.
        """
        return np.lexsort((self._means, self.scores, ~self.meets))

    @property
    def _means(self) -> np.ndarray:
        return compute_scores(self.losses, np.full(len(self.concerns), 1 / len(self.concerns)))

    def title(self, place: int) -> str:
        title, k = self.ways[place].title, int(self.at_k[place, 0])
        return title if len(self.ks) > 1 or k == self.ks[0] else f"{title} · k = {write_count(k)}"

    def k_for(self, place: int, k: int) -> int:
        line = self.ways[place]
        comparison, first = replace(self.comparison, lines=(line,)), int(list_k_from(line, k)[0])
        return int(find_least_losses(comparison, [first], self.limits)[0][0, 0])

    def apply_weights(self, weights: Mapping[str, float]) -> Ranking:
        new_scores = compute_scores(self.losses, compute_weight_shares(weights, self.concerns))
        return replace(self, weights=check_weights(weights), scores=new_scores)

    def figures(self, place: int) -> dict[str, float]:
        losses = self.losses[place]
        values = {"mean_alteration": float(losses[0])}
        if self.comparison.sensitive:
            values |= {"l": self._compute_l(losses[1]), "t": float(losses[2]) / 100.0}
        return values

    def table(self) -> pd.DataFrame:
        rows = []
        for rank, place in enumerate(self.order, 1):
            line = self.ways[place]
            configuration = line.configuration
            row: dict[str, object] = {
                "rank": rank,
                "way": self.title(place),
                "metric": configuration.metric
                if configuration.strategy not in ("l", "t")
                else None,
                "strategy": configuration.strategy,
                "scope": configuration.scope,
                "score": float(self.scores[place]),
                **self.figures(place),
            }
            if self.comparison.sensitive:
                row["l_percent"] = 100.0 - float(self.losses[place, 1])
                row["t_percent"] = float(self.losses[place, 2])
            row["front"] = bool(self.front[place])
            if len(self.ks) == 1:
                row["at_k"] = int(self.at_k[place, 0])
            if self.limits:
                row["meets_limits"] = bool(self.meets[place])
            rows.append(row)
        return pd.DataFrame(rows)


def rank_configurations(
    comparison: Comparison,
    ks: Sequence[int],
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    limits: Mapping[str, float] | None = None,
) -> Ranking:
    checked = check_limits(limits or {})
    at_k, each_k = find_least_losses(comparison, ks, checked)
    losses, concerns = compute_mean_over_k(each_k), CONCERNS[: each_k.shape[-1]]
    return Ranking(
        comparison,
        tuple(ks),
        check_weights(weights),
        checked,
        at_k,
        each_k,
        compute_scores(losses, compute_weight_shares(weights, concerns)),
        find_pareto_front(losses, ["lower"] * len(concerns)),
    )
