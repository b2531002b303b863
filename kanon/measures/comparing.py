"""Numbers over several releases: ranks, effects of ties, differences, the area under a curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun, write_count
from kanon.errors import PlanError


@dataclass(frozen=True, eq=False)
class Standing:
    values: pd.DataFrame  # the numbers
    ranks: pd.DataFrame  # the place of each number in its row, 1 the best
    higher: tuple[bool, ...]  # per row whether the higher number is the better one
    # the least and largest value over all tie seeds
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    # whether a number's band overlaps that of the best in its row, so that ties decide
    undecided: pd.DataFrame | None = None

    @property
    def mean_ranks(self) -> pd.Series:
        return self.ranks.mean()

    @property
    def behind(self) -> pd.DataFrame:
        """The position of each rank in its row: 0 for the best, 1 for the worst."""
        last = self.ranks.max(axis=1) - 1
        return (self.ranks - 1).div(last.where(last > 0, 1), axis=0)

    def table(self, **about: object) -> pd.DataFrame:
        columns = {"value": self.values, "rank": self.ranks}
        if self.low is not None and self.high is not None and self.undecided is not None:
            columns |= {"low": self.low, "high": self.high, "undecided": self.undecided}
        rows, names = self.values.shape
        return pd.DataFrame(
            {
                **about,
                "measured": self.values.index.repeat(names),
                "configuration": list(self.values.columns) * rows,
                **{name: frame.to_numpy().ravel() for name, frame in columns.items()},
            }
        )


def rank_configurations(
    values: pd.DataFrame,
    low: pd.DataFrame | None = None,
    high: pd.DataFrame | None = None,
    digits: int | None = None,
    higher: Sequence[bool] | None = None,
) -> Standing:
    """Rank the numbers in each row, and find where ties decide."""
    directions = tuple(higher) if higher is not None else (False,) * len(values)
    up = np.array(directions, dtype=bool)[:, None]
    # Where higher is better, negate the numbers, so that lower is better everywhere.
    rounded_values = round_to_digits(values.to_numpy(dtype=float), digits)
    keys = np.where(up, -rounded_values, rounded_values)
    keys = np.where(np.isnan(keys), np.inf, keys)  # nothing to measure: last
    shape = {"index": values.index, "columns": values.columns}
    place_table = pd.DataFrame([rank_values(row) for row in keys], **shape)
    if low is None or high is None:
        return Standing(values, place_table, directions)
    least, most = (round_to_digits(ends.to_numpy(dtype=float), digits) for ends in (low, high))
    below, above = np.where(up, -most, least), np.where(up, -least, most)
    undecided = pd.DataFrame(_find_ties(keys, below, above), **shape)
    return Standing(values, place_table, directions, low, high, undecided)


def _find_ties(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Find where ties decide between a value and the best, the lowest, in its row."""
    best, wide = values == values.min(axis=1, keepdims=True), high > low
    best_wide = (best & wide).any(axis=1, keepdims=True)
    reach = np.where(best, high, -np.inf).max(axis=1, keepdims=True)
    # A band includes its own value, so only its lower end can separate it from a better one. Where
    # neither band has a width, ties decide nothing.
    rest = ~best & (low <= reach) & (wide | best_wide)
    rivals = best & best_wide & (best.sum(axis=1, keepdims=True) > 1)
    return rest | rivals | (best & rest.any(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Difference:
    """One configuration minus another, over k, by one criterion."""

    ks: tuple[int, ...]  # the k, rising
    values: np.ndarray  # the first minus the second
    # its range over all tie seeds: the least of the first minus the largest of the second, and the
    # reverse
    low: np.ndarray | None
    high: np.ndarray | None
    higher: bool  # whether the higher number is the better one

    def find_leader(self, k: int) -> Literal["first", "second", "equal", "undecided"]:
        place = self.ks.index(k)
        value = self.values[place]
        if self.low is not None and self.high is not None:
            low, high = self.low[place], self.high[place]
            if low < high and low <= 0 <= high:
                return "undecided"
        if value == 0:
            return "equal"
        return "first" if (value > 0) == self.higher else "second"


def rank_values(alterations: Sequence[float], digits: int | None = None) -> list[int]:
    """The rank of each value, the least first; ties share the smaller rank."""
    compared = round_to_digits(np.asarray(alterations, dtype=float), digits)
    compared = np.where(np.isnan(compared), np.inf, compared)  # nothing to measure: last
    return [int((compared < value).sum()) + 1 for value in compared]


def round_to_digits(
    values: np.ndarray, digits: int | None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Round numbers as they are displayed, so that what looks equal is equal."""
    numbers = np.asarray(values, dtype=float)
    if digits is None:
        return numbers
    # numpy multiplies and divides, so it may round a half differently than the text.
    return np.array([round(value, digits) for value in numbers.ravel().tolist()]).reshape(
        numbers.shape
    )


def check_interval(low: int, high: int, n_records: int) -> None:
    if high > n_records:
        raise PlanError(
            f"The interval ends at k = {write_count(high)}, but the table has "
            f"{count_noun(n_records, 'record')}."
        )
    if low < 2:
        raise PlanError(f"The interval begins at k = {low}; k has to be at least 2.")
    if low >= high:
        raise PlanError(f"The interval from {low} to {high} is empty. Let it end at a larger k.")


def nauc(
    k: Sequence[int], values: Sequence[float] | np.ndarray, low: int, high: int, n_records: int
) -> float:
    """The normalised area under a curve: (1/(b - a)) * integral of f from a to b."""
    check_interval(low, high, n_records)
    points = {int(at): float(value) for at, value in zip(k, values, strict=True)}
    if low not in points or high not in points:
        raise PlanError(f"Compute the curve at both ends, k = {low} and k = {high}.")
    inside = sorted(at for at in points if low <= at <= high)
    area = np.trapezoid([points[at] for at in inside], inside)
    return float(area / (high - low))
