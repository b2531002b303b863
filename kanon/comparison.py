"""Configurations side by side: their criteria at every k, ranks, areas, and what ties decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from kanon.cards import Card
from kanon.measures import at_root, deleted_among_modified, generalised, minimum_k
from kanon.measures.along import Curves, Points
from kanon.measures.alteration import MEAN_CARD
from kanon.measures.comparing import Standing, check_interval, nauc, standing
from kanon.metrics import Metric, characteristics
from kanon.sweep import Configuration

__all__ = [
    "CRITERIA",
    "INTERVALS",
    "PAPER_K",
    "TIE_SEEDS",
    "Comparison",
    "Line",
    "before_and_after",
    "by_characteristic",
    "lines_of",
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


@dataclass(frozen=True, eq=False)
class Line:
    """One configuration of a comparison and what came of it.

    Attributes
    ----------
    configuration
        What it was made with.
    guide
        The metric that guided it.
    runs
        Its criteria per tie seed, its own first; no other ones if nobody asked.
    """

    configuration: Configuration
    guide: Metric
    runs: Mapping[int | None, Curves | Points]


def lines_of(
    wanted: Sequence[Configuration],
    found: Sequence[Curves | Points],
    measured: Sequence[Metric],
) -> tuple[Line, ...]:
    """One line per metric and strategy, with a run per tie seed, the first seed being its own.

    Parameters
    ----------
    wanted, found
        The configurations, and what came of each.
    measured
        The metrics, those that guided among them.
    """
    guides = {metric.name: metric for metric in measured}
    runs: dict[Configuration, dict[int | None, Curves | Points]] = {}
    for one, numbers in zip(wanted, found, strict=True):
        own = replace(one, tie_seed=wanted[0].tie_seed)
        runs.setdefault(own, {})[one.tie_seed] = numbers
    return tuple(Line(own, guides[own.metric], each) for own, each in runs.items())


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
        return all(len(line.runs) > 1 for line in self.lines)

    @property
    def every_k(self) -> bool:
        """Whether the lines are known at every k, not only where they were run."""
        return all(isinstance(run, Curves) for line in self.lines for run in line.runs.values())

    def only(self, metrics: Iterable[str], bands: bool) -> Comparison:
        """The same with the lines of some metrics alone, and with their bands or without."""
        wanted, kept = set(metrics), []
        for line in self.lines:
            if line.configuration.metric in wanted:
                own = line.configuration.tie_seed
                kept.append(line if bands else replace(line, runs={own: line.runs[own]}))
        return replace(self, lines=tuple(kept))

    def including(self, k: int) -> Comparison:
        """The same with one more k to show, where every k is known."""
        if k in self.ks or not self.every_k or not 2 <= k <= self.n_records:
            return self
        return replace(self, ks=tuple(sorted({*self.ks, k})))

    def nearest(self, k: int) -> int:
        """The k that can be shown and is nearest to k; of two, the smaller."""
        return min(self.ks, key=lambda known: (abs(known - k), known))

    @property
    def interval(self) -> tuple[int, int] | None:
        """The first of the proposed intervals, or as much of it as is known; None for one k."""
        low, high = INTERVALS[0]
        inside = [k for k in self.ks if low <= k <= high]
        known = inside if len(inside) > 1 else self.ks
        return (known[0], known[-1]) if len(known) > 1 else None

    def at(self, criterion: str, ks: Sequence[int]) -> np.ndarray:
        """A criterion of every line under every tie seed, its own first.

        Parameters
        ----------
        criterion
            Its name in ``CURVES.csv``.
        ks
            Some of ``ks``, or any up to n if every k is known.

        Returns
        -------
        numpy.ndarray, shape (lines, seeds, len(ks))
        """
        return np.array(
            [[run.at(ks)[criterion] for run in line.runs.values()] for line in self.lines],
            dtype=float,
        )

    def alterations(self, k: int, digits: int | None = None) -> Standing:
        """The alteration at k, in percent.

        A row per metric that measures, a column per metric that guided, by their names.

        Parameters
        ----------
        k
            One of ``ks``.
        digits
            Rank values rounded to so many digits; None for exact values.
        """
        rows = {
            metric.name: self.at(f"alteration_{metric.name}", [k])[:, :, 0]
            for metric in self.measured
        }
        return self._standing(rows, digits)

    def means(self) -> Standing:
        """The mean alteration in percent, a row per k, a column per metric that guided."""
        found = self.at("mean_alteration", self.ks)
        return self._standing({k: found[:, :, place] for place, k in enumerate(self.ks)})

    def areas(self, low: int, high: int) -> Standing:
        """The area under each curve on [low, high], in percent: NAUC.

        A row per criterion, a column per metric that guided, by their names. Over the k of the
        papers inside the interval and both of its ends.

        Raises
        ------
        PlanError
            The interval is empty, begins below 2 or ends beyond n, or some k were not computed.
        """
        check_interval(low, high, self.n_records)
        ks = sorted({low, high, *(k for k in PAPER_K if low < k < high)})

        def area(values: np.ndarray) -> float:
            return nauc(ks, values, low, high, self.n_records)

        rows = {
            name: np.apply_along_axis(area, 2, self.at(name, ks))
            for name, card in CRITERIA.items()
            if card.unit == "%"
        }
        return self._standing(rows)

    def table(self) -> pd.DataFrame:
        """Every number: one row per configuration, tie seed and k, as in ``CURVES.csv``."""
        parts = []
        for line in self.lines:
            about = {"metric": line.configuration.metric, "strategy": line.configuration.strategy}
            for seed, run in line.runs.items():
                parts.append(pd.DataFrame({**about, "tie_seed": seed, **run.at(self.ks)}))
        every = pd.concat(parts, ignore_index=True).astype({"tie_seed": "Int64"})
        return every if self.has_bands else every.drop(columns="tie_seed")

    def _standing(self, rows: Mapping[Any, np.ndarray], digits: int | None = None) -> Standing:
        """A row per thing measured, of shape (lines, seeds)."""
        names = [line.configuration.metric for line in self.lines]

        def frame(picked: dict[Any, np.ndarray]) -> pd.DataFrame:
            return pd.DataFrame.from_dict(picked, orient="index", columns=names)

        values = frame({row: each[:, 0] for row, each in rows.items()})
        if not self.has_bands:
            return standing(values, digits=digits)
        low = frame({row: each.min(axis=1) for row, each in rows.items()})
        high = frame({row: each.max(axis=1) for row, each in rows.items()})
        return standing(values, low, high, digits)


def before_and_after(before: Comparison, after: Comparison, k: int) -> pd.DataFrame:
    """What a change of hierarchies did to the releases at k, each measured by its own hierarchies.

    Parameters
    ----------
    before, after
        The comparisons; only what both of them have is put side by side.
    k
        The k; each takes the nearest that it knows.

    Returns
    -------
    pandas.DataFrame
        One row per metric that guided in both, by its name: the alteration as that metric counts
        and the mean alteration, in percent, before and after, and the ``k`` of each.

    Notes
    -----
    Percentages of different hierarchies have different yardsticks: of all that *these*
    hierarchies could lose. They show which way an edit goes, not that two releases are equal.
    """
    before, after = before.including(k), after.including(k)
    old = {line.guide.name: place for place, line in enumerate(before.lines)}
    new = {line.guide.name: place for place, line in enumerate(after.lines)}
    both = [name for name in new if name in old]
    rows = {}
    for name in both:
        row: dict[str, float] = {}
        for when, comparison, place in (
            ("before", before, old[name]),
            ("after", after, new[name]),
        ):
            near = comparison.nearest(k)
            for what in (f"alteration_{name}", "mean_alteration"):
                column = f"{'mean' if what == 'mean_alteration' else 'own'}_{when}"
                row[column] = float(comparison.at(what, [near])[place, 0, 0])
            row[f"k_{when}"] = near
        rows[name] = row
    columns = ["own_before", "own_after", "mean_before", "mean_after", "k_before", "k_after"]
    found = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return found.astype({"k_before": int, "k_after": int}).rename_axis("metric")


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
        One row per characteristic and value that occurs, its index; in the columns the number of
        ``metrics`` that have it and the mean area of each criterion. Drawn weights have no
        characteristics.

    Notes
    -----
    Source: Mauger, Le Mahec, Dequen 2023, section 4.2.
    """
    has: dict[tuple[str, str], list[int]] = {}
    for place, guide in enumerate(guides):
        for trait in characteristics(guide).items():
            has.setdefault(trait, []).append(place)
    rows = {
        trait: {"metrics": len(places), **areas.values.iloc[:, places].mean(axis=1)}
        for trait, places in sorted(has.items(), key=lambda item: item[0][0])
    }
    found = pd.DataFrame.from_dict(rows, orient="index", columns=["metrics", *areas.values.index])
    index = pd.MultiIndex.from_tuples(list(rows), names=["characteristic", "value"])
    return found.set_axis(index) if rows else found
