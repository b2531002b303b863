"""Populations of a million generated people, samples of them, and what is estimated from these."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kanon.evidence.population_uniqueness import (
    PopulationUniqueness,
    estimate_population_uniqueness,
)

__all__ = ["FRACTIONS", "METHODS", "PEOPLE", "POPULATIONS", "SEEDS", "Outcome", "measure"]

PEOPLE = 1_000_000
FRACTIONS = (0.01, 0.05, 0.1, 0.2)
SEEDS = (1, 2, 3, 4, 5)
METHODS = ("pitman", "zayatz", "snb", "rule")

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Draws so many people: the number of each one's class."""


def draw_columns(
    random: np.random.Generator, people: int, values: Sequence[int], skew: float
) -> np.ndarray:
    """People by independent columns; the i-th of v values is as likely as 1 / i^skew.

    >>> draw_columns(np.random.default_rng(1), 6, (2, 3), 0.0).tolist()
    [5, 4, 1, 3, 2, 1]
    """
    classes = np.zeros(people, dtype=np.int64)
    for count in values:
        chances = np.arange(1, count + 1) ** -skew
        classes = classes * count + random.choice(count, people, p=chances / chances.sum())
    return classes


def draw_log_normal(
    random: np.random.Generator, people: int, cells: int, sigma: float
) -> np.ndarray:
    """People by cells whose chances are log-normal."""
    chances = np.exp(random.normal(0, sigma, cells))
    return random.choice(cells, people, p=chances / chances.sum())


def draw_gamma(random: np.random.Generator, people: int, cells: int, shape: float) -> np.ndarray:
    """People by cells whose chances are gamma distributed: the sizes are negative binomial."""
    chances = random.gamma(shape, 1, cells)
    return random.choice(cells, people, p=chances / chances.sum())


def draw_power(random: np.random.Generator, people: int, alpha: float) -> np.ndarray:
    """People by cells of which the i-th is as likely as (i + 1000)^(−1/α), as Pitman's are."""
    chances = (np.arange(3_000_000) + 1000.0) ** (-1 / alpha)
    return random.choice(len(chances), people, p=chances / chances.sum())


COLUMNS = {
    "3 columns": (90, 2, 300),
    "4 columns": (90, 2, 500, 20),
    "5 columns": (90, 2, 1000, 50, 6),
}
POPULATIONS: Mapping[str, Draw] = {
    **{
        f"{name}, skew {skew:g}": partial(draw_columns, values=values, skew=skew)
        for name, values in COLUMNS.items()
        for skew in (0.0, 0.5, 1.0, 1.5)
    },
    **{
        f"log-normal, {cells:,} cells, σ = {sigma}": partial(
            draw_log_normal, cells=cells, sigma=sigma
        )
        for cells, sigma in ((100_000, 1), (1_000_000, 2), (10_000_000, 1))
    },
    "gamma, 1,000,000 cells, shape 0.3": partial(draw_gamma, cells=1_000_000, shape=0.3),
    **{f"power law, α = {alpha}": partial(draw_power, alpha=alpha) for alpha in (0.5, 0.7, 0.9)},
}


@dataclass(frozen=True)
class Outcome:
    """What one sample of a population gives.

    Attributes
    ----------
    truth
        How many people are unique in the population.
    found
        What is estimated.
    """

    population: str
    fraction: float
    truth: int
    found: PopulationUniqueness

    def estimate(self, method: str) -> float | None:
        """The estimate of a method, or of the one that the rule chooses."""
        return self.found.estimates[self._named(method)].uniques

    def is_called_reliable(self, method: str) -> bool:
        """Whether the estimate is not called unreliable."""
        return self.found.estimates[self._named(method)].unreliable is None

    def is_off(self, method: str) -> bool:
        """Whether there is an estimate, and it is off by more than half of the truth."""
        estimate = self.estimate(method)
        return estimate is not None and abs(estimate - self.truth) > self.truth / 2

    def _named(self, method: str) -> str:
        return self.found.chosen if method == "rule" else method


def measure(
    names: Sequence[str] = (*POPULATIONS,), seeds: Sequence[int] = SEEDS, people: int = PEOPLE
) -> list[Outcome]:
    """Every population, from every seed, sampled at every fraction."""
    outcomes = []
    for name in names:
        print(name, file=sys.stderr, flush=True)
        for seed in seeds:
            random = np.random.default_rng([seed, *name.encode()])
            classes = np.unique(POPULATIONS[name](random, people), return_inverse=True)[1]
            truth = int((np.bincount(classes) == 1).sum())
            for fraction in FRACTIONS:
                drawn = random.choice(people, round(people * fraction), replace=False)
                sizes = np.bincount(classes[drawn])
                found = estimate_population_uniqueness(sizes[sizes > 0], fraction)
                outcomes.append(Outcome(name, fraction, truth, found))
    return outcomes
