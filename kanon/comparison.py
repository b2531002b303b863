"""Configurations side by side: their criteria at every k, ranks, areas, and what ties decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

import numpy as np
import pandas as pd

from kanon.cards import Card
from kanon.errors import PlanError
from kanon.measures import at_root, deleted_among_modified, generalised, minimum_k
from kanon.measures.along import Curves, Points
from kanon.measures.alteration import MEAN_CARD
from kanon.measures.comparing import Standing, nauc, standing
from kanon.metrics import Metric, characteristics
from kanon.sweep import Configuration

__all__ = [
    "CRITERIA",
    "INTERVALS",
    "PAPER_K",
    "TIE_SEEDS",
    "Comparison",
    "Line",
    "by_characteristic",
    "fitting_interval",
]

PAPER_K = (3, 4, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, 5000, 10000, 15000)
"""The fourteen k of Mauger, Le Mahec, Dequen 2023, section 4.2, and of Viton et al. 2021."""

INTERVALS = ((3, 2000), (3, 5000), (3, 15000))
"""The intervals of k over which areas are taken, as proposed by default."""

TIE_SEEDS = tuple(range(1, 11))
"""The seeds of a band: ten more orders in which ties are broken."""

CRITERIA: Mapping[str, Card] = {
    card.name: card
    for card in (
        MEAN_CARD,
        generalised.CARD,
        at_root.CARD,
        deleted_among_modified.CARD,
        minimum_k.CARD,
    )
}
"""What a comparison shows over k, by its name in ``CURVES.csv``."""

Number = Callable[[Curves | Points], float]
"""A number of one run."""


@dataclass(frozen=True, eq=False)
class Line:
    """One configuration of a comparison and what came of it.

    Attributes
    ----------
    configuration
        What it was made with.
    guide
        The metric that guided it.
    found
        Its criteria.
    ties
        The same under other tie seeds; empty if nobody asked.
    """

    configuration: Configuration
    guide: Metric
    found: Curves | Points
    ties: tuple[Curves | Points, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.guide.card.title

    def at(self, criterion: str, ks: Sequence[int]) -> np.ndarray:
        """A criterion at several k. Shape (len(ks),)."""
        return self.found.at(ks)[criterion].astype(float)

    def band(self, criterion: str, ks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest value of a criterion over all tie seeds, the line's own too."""
        every = np.array([run.at(ks)[criterion] for run in (self.found, *self.ties)], dtype=float)
        return every.min(axis=0), every.max(axis=0)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Configurations of one table, side by side.

    Attributes
    ----------
    lines
        The configurations.
    measured
        The metrics that every release was measured in.
    n_records
        n.
    ks
        The k that can be shown, rising.
    """

    lines: tuple[Line, ...]
    measured: tuple[Metric, ...]
    n_records: int
    ks: tuple[int, ...]

    @property
    def has_bands(self) -> bool:
        """Whether every line was run with other tie seeds too."""
        return all(line.ties for line in self.lines)

    @property
    def every_k(self) -> bool:
        """Whether the lines are known at every k, not only where they were run."""
        return all(isinstance(line.found, Curves) for line in self.lines)

    def only(self, metrics: Iterable[str], bands: bool) -> Comparison:
        """The same with the lines of some metrics alone, and with their bands or without."""
        wanted = set(metrics)
        kept = (line for line in self.lines if line.configuration.metric in wanted)
        return replace(
            self, lines=tuple(line if bands else replace(line, ties=()) for line in kept)
        )

    def nearest(self, k: int) -> int:
        """The k that can be shown and is nearest to k."""
        return min(self.ks, key=lambda known: (abs(known - k), known))

    def alterations(self, k: int, digits: int | None = None) -> Standing:
        """The alteration at k per metric that measures (rows) and that guided (columns).

        Parameters
        ----------
        k
            One of ``ks``.
        digits
            Rank values rounded to so many digits; None for exact values.
        """
        rows: dict[str, Number] = {}
        for metric in self.measured:
            rows[metric.card.title] = partial(_value, name=f"alteration_{metric.name}", k=k)
        return self._standing(rows, digits)

    def areas(self, low: int, high: int, digits: int | None = None) -> Standing:
        """The area under each curve on [low, high], in percent: NAUC.

        Per criterion (rows) and metric that guided (columns).

        Over the k of the papers inside the interval and both of its ends.

        Raises
        ------
        PlanError
            The interval is empty, begins below 2 or ends beyond n, or some k were not computed.
        """
        if low < 2:
            raise PlanError(f"The interval begins at k = {low}; k is at least 2.")
        ks = sorted({low, high, *(k for k in PAPER_K if low < k < high)})
        nauc(ks, [0.0] * len(ks), low, high, self.n_records)  # says what is wrong with it
        rows: dict[str, Number] = {}
        for name, card in CRITERIA.items():
            if card.unit == "%":
                rows[card.title] = partial(_area, name=name, ks=ks, n_records=self.n_records)
        return self._standing(rows, digits)

    def table(self) -> pd.DataFrame:
        """Every number: one row per configuration, tie seed and k, as in ``CURVES.csv``."""
        parts = []
        for line in self.lines:
            one = line.configuration
            seeds = [one.tie_seed, *TIE_SEEDS]
            for seed, run in zip(seeds, (line.found, *line.ties), strict=False):
                about = {"metric": one.metric, "strategy": one.strategy, "tie_seed": seed}
                parts.append(pd.DataFrame({**about, **run.at(self.ks)}))
        every = pd.concat(parts, ignore_index=True).astype({"tie_seed": "Int64"})
        return every if self.has_bands else every.drop(columns="tie_seed")

    def _standing(self, rows: Mapping[str, Number], digits: int | None) -> Standing:
        """A row per number, a column per line; each number under every tie seed."""
        names = [line.name for line in self.lines]
        seeds = [[line.found, *line.ties] for line in self.lines]
        found = {row: [[of(run) for run in runs] for runs in seeds] for row, of in rows.items()}

        def frame(pick: Callable[[list[float]], float]) -> pd.DataFrame:
            picked = {row: [pick(values) for values in line] for row, line in found.items()}
            return pd.DataFrame.from_dict(picked, orient="index", columns=names)

        values = frame(itemgetter(0))
        if not self.has_bands:
            return standing(values, digits=digits)
        return standing(values, frame(min), frame(max), digits)


def _value(run: Curves | Points, name: str, k: int) -> float:
    return float(run.at([k])[name][0])


def _area(run: Curves | Points, name: str, ks: Sequence[int], n_records: int) -> float:
    return nauc(ks, run.at(ks)[name], ks[0], ks[-1], n_records)


def fitting_interval(n_records: int) -> tuple[int, int]:
    """The first of the proposed intervals, or as much of it as the table has.

    >>> fitting_interval(30_162), fitting_interval(300)
    ((3, 2000), (3, 300))
    """
    low, high = INTERVALS[0]
    return min(low, max(2, n_records - 1)), min(high, n_records)


def by_characteristic(areas: Standing, guides: Sequence[Metric]) -> pd.DataFrame:
    """The mean area of the metrics that share a characteristic.

    Parameters
    ----------
    areas
        Per criterion and guide; the columns in the order of ``guides``.
    guides
        The metrics.

    Returns
    -------
    pandas.DataFrame
        One row per characteristic and value that occurs, with the number of metrics that have it
        and the mean area of each criterion. Drawn weights have no characteristics.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2023, section 4.2.
    """
    rows = []
    of_each = [characteristics(guide) for guide in guides]
    for what in dict.fromkeys(name for found in of_each for name in found):
        for value in dict.fromkeys(found[what] for found in of_each if what in found):
            has = [found.get(what) == value for found in of_each]
            means = areas.values.loc[:, has].mean(axis=1)
            rows.append({"characteristic": what, "value": value, "metrics": sum(has), **means})
    return pd.DataFrame(rows)
