"""Configurations side by side: their criteria at every k, ranks, areas, and what ties decide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from kanon.base.formatting import CountedUnit, join_words, write_count
from kanon.cards import Card
from kanon.errors import PlanError
from kanon.experiments.criteria import CRITERIA, L_CARD, SUPPRESSED_CARD, T_CARD
from kanon.experiments.sweep import Configuration
from kanon.experiments.titles import create_titles, is_guided, name_configuration
from kanon.measures import minimum_k
from kanon.measures.along import (
    Curves,
    Points,
    build_numbers_table,
    convert_to_total_variation,
    name_privacy_column,
)
from kanon.measures.alteration import CARD as ALTERATION_CARD
from kanon.measures.classification_metric import CARD as CM_CARD
from kanon.measures.comparing import Difference, Standing, check_interval, nauc, rank_configurations
from kanon.measures.extended_measures import (
    find_measures_at_some_k,
    get_further_cards,
    name_measure,
)
from kanon.metrics import Metric, characteristics

PAPER_K = (3, 4, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, 5000, 10000, 15000)
"""The fourteen k of Mauger, Le Mahec, Dequen 2023, section 4.2, and of Viton et al. 2021."""

K_PRESETS: Mapping[str, tuple[int, ...]] = {
    "fourteen": PAPER_K,
    "thirteen": tuple(k for k in PAPER_K if k != 50),
    "eleven": tuple(k for k in PAPER_K if k != 50 and k <= 5000),
}
"""The k over which the papers take areas (Mauger, Le Mahec, Dequen 2023)."""

INTERVALS = ((3, 2000), (3, 5000), (3, 15000))
"""The intervals of k over which areas are taken, as proposed by default."""

TIE_SEEDS = tuple(range(1, 11))  # the seeds of a band: ten more orders in which ties are broken

_ALTERATION = "alteration_"
_DECIMALS = 1  # decimals of a percentage: what looks equal is equal


@dataclass(frozen=True, eq=False)
class Line:
    configuration: Configuration  # what it was made with
    guide: Metric  # the metric that guided it
    runs: Mapping[int | None, Curves | Points]  # its criteria per tie seed, its own first
    name: str = ""  # what tells it from every other line
    title: str = ""  # a short label
    # whether it is a saved configuration
    kept: bool = False
    # per sensitive column that its releases were measured by, the entropy l of the table as one
    # class
    best_l: Mapping[str, float] = field(default_factory=dict)
    board: int = 0  # which of two comparisons on one board it is of, 1 or 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or name_configuration(self.configuration))
        object.__setattr__(self, "title", self.title or self.guide.card.title)

    @property
    def every_k(self) -> bool:
        return all(isinstance(run, Curves) for run in self.runs.values())

    def knows(self, ks: Sequence[int]) -> np.ndarray:
        """Which of several k it has a release for, under every tie seed. Shape (len(ks),)."""
        return np.logical_and.reduce([run.knows(ks) for run in self.runs.values()])

    def explain_lack(self, k: int) -> str:
        """Why it has no release for a k, in a sentence; empty if that was not tried."""
        refusals = (run.refused.get(k, "") for run in self.runs.values() if isinstance(run, Points))
        return next(filter(None, refusals), "")

    def at(self, criterion: str, ks: Sequence[int], sensitive: str) -> np.ndarray:
        """A criterion under every tie seed, its own first; NaN where it has no release.

        Shape (seeds, len(ks)).
        """
        known = self.knows(ks)
        if known.all():
            return self._read(criterion, ks, sensitive)
        values = np.full((len(self.runs), len(ks)), np.nan)
        if known.any():
            values[:, known] = self._read(criterion, np.asarray(ks)[known].tolist(), sensitive)
        return values

    def get_class_sizes(self, ks: Sequence[int]) -> np.ndarray | None:
        """The records by size of their class, a row per k; NaN where it has no release."""
        run, known = next(iter(self.runs.values())), self.knows(ks)
        sizes = run.get_class_sizes(np.asarray(ks)[known].tolist()) if known.any() else None
        if sizes is None:
            return None
        rows = np.full((len(ks), sizes.shape[1]), np.nan)
        rows[known] = sizes
        return rows

    def _read(self, criterion: str, ks: Sequence[int], sensitive: str) -> np.ndarray:
        columns = list(self.best_l)
        if criterion in get_further_cards():
            column = name_measure(criterion, sensitive, columns)
            return np.array([run.get_further(column, ks) for run in self.runs.values()])
        criteria = [run.at(ks) for run in self.runs.values()]
        if criterion == L_CARD.name:
            name = name_privacy_column("entropy_l", sensitive, columns)
            return (
                100.0 * np.array([numbers[name] for numbers in criteria]) / self.best_l[sensitive]
            )
        if criterion == T_CARD.name:
            name = name_privacy_column("t_norm1", sensitive, columns)
            return 0.5 * np.array([numbers[name] for numbers in criteria])
        if criterion == SUPPRESSED_CARD.name:
            return np.array([run.get_suppressed(ks) for run in self.runs.values()])
        return np.array([numbers[criterion] for numbers in criteria], dtype=float)


def join_titles(titles: Sequence[str]) -> str:
    """Titles as one says them; of many, the first two.

    >>> join_titles(["A"]), join_titles(["A", "B"]), join_titles(["A", "B", "C", "D"])
    ('A', 'A and B', 'A, B and 2 more')
    """
    titles = titles if len(titles) <= 3 else [*titles[:2], f"{len(titles) - 2} more"]
    return join_words(titles)


def get_percent_factor(criterion: str) -> float:
    """The factor that scales a criterion to 0 to 100, so that all are ranked to the same digits."""
    return 100.0 if criterion == T_CARD.name else 1.0


def build_lines(
    configs: Sequence[Configuration],
    results: Sequence[Curves | Points],
    metrics: Sequence[Metric],
    best_l: Mapping[str, float] | None = None,
) -> tuple[Line, ...]:
    guides = {metric.name: metric for metric in metrics}
    runs: dict[Configuration, dict[int | None, Curves | Points]] = {}
    for config, numbers in zip(configs, results, strict=True):
        base = replace(config, tie_seed=configs[0].tie_seed)
        runs.setdefault(base, {})[config.tie_seed] = numbers
    titles = create_titles(list(runs), {name: guide.card.title for name, guide in guides.items()})
    return tuple(
        Line(base, guides[base.metric], results_by_seed, title=title, best_l=best_l or {})
        for (base, results_by_seed), title in zip(runs.items(), titles, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    lines: tuple[Line, ...]  # the configurations, each with a name of its own
    metrics: tuple[Metric, ...]  # the metrics that every release was measured in
    n_records: int  # n
    ks: tuple[int, ...]  # the k that can be shown, rising; a line may have no release for some
    sensitive: str = ""  # the sensitive column whose l and t are shown
    of: CountedUnit = "records"  # what k counts, and the minimum k that was reached
    # what its lines meet beside k or leave out, in a sentence; empty where only k is required
    requirement: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)  # lines without any release, and why

    @property
    def has_bands(self) -> bool:
        return all(len(line.runs) > 1 for line in self.lines)

    @property
    def every_k(self) -> bool:
        return all(line.every_k for line in self.lines)

    @property
    def shared_ks(self) -> tuple[int, ...]:
        known = np.logical_and.reduce([line.knows(self.ks) for line in self.lines])
        return tuple(np.asarray(self.ks)[known].tolist())

    def list_ks(self, line: Line) -> list[int]:
        ks: list[int] = np.asarray(self.ks)[line.knows(self.ks)].tolist()
        return ks

    def select_lines_at(self, ks: Sequence[int]) -> Comparison:
        lines = tuple(line for line in self.lines if line.knows(ks).all())
        return self if len(lines) == len(self.lines) else replace(self, lines=lines)

    def describe_lacks(self, ks: Sequence[int], reasons: bool = True) -> str:
        """Which lines have no release for one of these k; empty if all have."""
        titles_by_lack: dict[tuple[int, str], list[str]] = {}
        for line in self.lines:
            for k in np.asarray(ks)[~line.knows(ks)].tolist()[:1]:
                why = line.explain_lack(k) if reasons else ""
                titles_by_lack.setdefault((k, why), []).append(line.title)
        sentences = []
        for (k, why), titles in titles_by_lack.items():
            have = "has" if len(titles) == 1 else "have"
            lack = f"{join_titles(titles)} {have} no value at k = {write_count(k)}"
            sentences.append(f"{lack}: {why}" if why else f"{lack}.")
        return " ".join(sentences)

    def add_requirement(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table with what its lines meet as the last column, where more than k is required."""
        return table.assign(requirement=self.requirement) if self.requirement else table

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        if not self.lines:
            return ()
        first, *others = [line.best_l for line in self.lines]
        return tuple(column for column in first if all(column in bounds for bounds in others))

    @property
    def criteria(self) -> Mapping[str, Card]:
        runs = (run for line in self.lines for run in line.runs.values())
        suppresses = any(isinstance(run, Points) and run.suppressed is not None for run in runs)
        more = [SUPPRESSED_CARD] if suppresses else []
        more += [L_CARD, T_CARD] if self.sensitive in self.sensitive_columns else []
        min_k_card = replace(minimum_k.CARD, unit=self.of)
        return {**CRITERIA, **{card.name: card for card in (min_k_card, *more)}}

    @property
    def further(self) -> Mapping[str, Card]:
        of_column = self.sensitive in self.sensitive_columns
        return {
            name: card
            for name, card in get_further_cards().items()
            if of_column or name != CM_CARD.name
        }

    def has_values(self, criterion: str) -> bool:
        return bool(np.isfinite(self.at(criterion, self.ks)).any())

    def needs_measuring(self, criterion: str) -> bool:
        runs = (run for line in self.lines for run in line.runs.values())
        return criterion in find_measures_at_some_k() and any(
            isinstance(run, Curves) and not run.measured_at for run in runs
        )

    def card(self, criterion: str) -> Card:
        for metric in self.metrics:
            if criterion == f"{_ALTERATION}{metric.name}":
                title = f"Alteration measured by {metric.card.title}"
                return replace(ALTERATION_CARD, name=criterion, title=title)
        return {**self.further, **self.criteria}[criterion]

    def line(self, name: str) -> Line:
        return next(line for line in self.lines if line.name == name)

    def only(self, names: Iterable[str], bands: bool) -> Comparison:
        name_set, lines = set(names), []
        for line in self.lines:
            if line.name in name_set:
                tie_seed = line.configuration.tie_seed
                lines.append(line if bands else replace(line, runs={tie_seed: line.runs[tie_seed]}))
        return replace(self, lines=tuple(lines))

    def add_k(self, k: int) -> Comparison:
        """The comparison with another k, if a line has a release for it."""
        is_known = any(line.knows([k])[0] for line in self.lines)
        if k in self.ks or not 2 <= k <= self.n_records or not is_known:
            return self
        return replace(self, ks=tuple(sorted({*self.ks, k})))

    def nearest(self, k: int, line: Line | None = None) -> int:
        """The displayed k (of a line) that is nearest to k by ratio; of two, the smaller."""
        ks = self.ks if line is None else self.list_ks(line)
        return min(ks, key=lambda shown_k: (abs(math.log(shown_k / k)), shown_k))

    @property
    def interval(self) -> tuple[int, int] | None:
        """The first of the proposed intervals, or as much of it as is known; None for one k."""
        low, high = INTERVALS[0]
        shared_ks = self.shared_ks
        inside = [k for k in shared_ks if low <= k <= high]
        usable = inside if len(inside) > 1 else shared_ks
        return (usable[0], usable[-1]) if len(usable) > 1 else None

    def at(self, criterion: str, ks: Sequence[int]) -> np.ndarray:
        return np.array([line.at(criterion, ks, self.sensitive) for line in self.lines])

    @property
    def in_points(self) -> list[str]:
        """The criteria that are compared in points of a hundred: percentages, and t."""
        return [
            name for name, card in self.criteria.items() if card.unit == "%" or name == T_CARD.name
        ]

    def compare_alterations(self, k: int, digits: int | None = _DECIMALS) -> Standing:
        """The alteration by every metric at k, of the lines that have a release for it."""
        known = self.select_lines_at([k])
        rows = {
            metric.name: known.at(f"{_ALTERATION}{metric.name}", [k])[:, :, 0]
            for metric in self.metrics
        }
        return known._compute_standing(rows, digits=digits)

    def places(self, k: int) -> Standing:
        """Every criterion in percent at k, t 100 times: a row each, a column per line, by name.

        Lines without a release for k are left out.
        """
        known, names = self.select_lines_at([k]), self._list_percentages()
        rows = {name: get_percent_factor(name) * known.at(name, [k])[:, :, 0] for name in names}
        return known._compute_standing(rows, [self._is_higher_better(name) for name in names])

    def compare_means(self) -> Standing:
        values = self.at("mean_alteration", self.ks)
        return self._compute_standing({k: values[:, :, place] for place, k in enumerate(self.ks)})

    def list_area_ks(self, low: int, high: int, points: Sequence[int] = PAPER_K) -> list[int]:
        """The k between which the curves of an area are straight, the same for all lines."""
        check_interval(low, high, self.n_records)
        return sorted({low, high, *(k for k in points if low < k < high)})

    def areas(self, low: int, high: int, points: Sequence[int] = PAPER_K) -> Standing:
        """The areas of the lines that have a release for every k that they are taken over."""
        ks = self.list_area_ks(low, high, points)
        known = self.select_lines_at(ks)
        if not known.lines:
            ends = " to ".join(map(write_count, self.interval or ()))
            hint = f" Choose another interval, such as {ends}." if ends else ""
            raise PlanError(f"No line has a value at every k of this area.{hint}")

        def compute_area(values: np.ndarray) -> float:
            return nauc(ks, values, low, high, self.n_records)

        names = self._list_percentages()
        rows = {
            name: get_percent_factor(name)
            * np.apply_along_axis(compute_area, 2, known.at(name, ks))
            for name in names
        }
        return known._compute_standing(rows, [self._is_higher_better(name) for name in names])

    def difference(self, criterion: str, first: str, second: str) -> Difference:
        """The first of two lines minus the second at every k that both have; of t, 100 times."""
        both = self.only([first, second], bands=True)
        ks = both.shared_ks
        first_values, second_values = (
            get_percent_factor(criterion) * both.line(name).at(criterion, ks, self.sensitive)
            for name in (first, second)
        )
        low = high = None
        if len(first_values) > 1 and len(second_values) > 1:
            low = first_values.min(axis=0) - second_values.max(axis=0)
            high = first_values.max(axis=0) - second_values.min(axis=0)
        return Difference(
            ks,
            first_values[0] - second_values[0],
            low,
            high,
            self._is_higher_better(criterion),
        )

    def table(self) -> pd.DataFrame:
        parts = []
        privacy = [name for name in self.criteria if name not in {*CRITERIA, T_CARD.name}]
        alteration_names = {f"{_ALTERATION}{metric.name}" for metric in self.metrics}
        for line in self.lines:
            config, ks = line.configuration, self.list_ks(line)
            about = {
                "configuration": line.name,
                "metric": config.metric if is_guided(config) else None,
                "strategy": config.strategy,
                "scope": config.scope,
                "algorithm": config.algorithm,
            }
            shares = {name: line.at(name, ks, self.sensitive) for name in privacy}
            for place, (seed, run) in enumerate(line.runs.items()):
                numbers = {
                    name: values
                    for name, values in convert_to_total_variation(run.at(ks)).items()
                    if not name.startswith(_ALTERATION) or name in alteration_names
                }
                more = {name: values_by_seed[place] for name, values_by_seed in shares.items()}
                parts.append(build_numbers_table({**about, "tie_seed": seed, **numbers, **more}))
        table = pd.concat(parts, ignore_index=True).astype({"tie_seed": "Int64"})
        table = self.add_requirement(table)
        return table if self.has_bands else table.drop(columns="tie_seed")

    @property
    def guide(self) -> Metric | None:
        guides = {
            line.guide.name: line.guide for line in self.lines if is_guided(line.configuration)
        }
        (guide,) = guides.values() if len(guides) == 1 else (None,)
        return guide if guide in self.metrics else None

    def _list_percentages(self) -> list[str]:
        names = self.in_points
        alteration = [] if self.guide is None else [f"{_ALTERATION}{self.guide.name}"]
        return [*alteration, *names]

    def _is_higher_better(self, criterion: str) -> bool:
        return self.card(criterion).direction == "higher"

    def _compute_standing(
        self,
        rows: Mapping[Any, np.ndarray],
        higher: Sequence[bool] | None = None,
        digits: int | None = _DECIMALS,
    ) -> Standing:
        """A row per thing measured, of shape (lines, seeds); compared as they are shown."""
        names = [line.name for line in self.lines]

        def build_frame(values_by_row: dict[Any, np.ndarray]) -> pd.DataFrame:
            return pd.DataFrame.from_dict(values_by_row, orient="index", columns=names)

        values = build_frame({row: values_by_seed[:, 0] for row, values_by_seed in rows.items()})
        if not self.has_bands:
            return rank_configurations(values, digits=digits, higher=higher)
        low = build_frame({row: values_by_seed.min(axis=1) for row, values_by_seed in rows.items()})
        high = build_frame(
            {row: values_by_seed.max(axis=1) for row, values_by_seed in rows.items()}
        )
        return rank_configurations(values, low, high, digits, higher)


def compare_before_and_after(before: Comparison, after: Comparison, k: int) -> pd.DataFrame:
    before, after = before.add_k(k), after.add_k(k)
    old = {line.name for line in before.lines if not line.kept}
    shared_metrics = {metric.name for metric in before.metrics} & {
        metric.name for metric in after.metrics
    }
    rows: dict[str, dict[str, float]] = {}
    for line in after.lines:
        guide = line.guide.name
        is_comparable = not line.kept and is_guided(line.configuration) and line.name in old
        if not is_comparable or guide in rows or guide not in shared_metrics:
            continue
        rows[guide] = {}
        for when, comparison in (("before", before), ("after", after)):
            measured_line = comparison.line(line.name)
            near = comparison.nearest(k, measured_line)
            own, mean = (
                float(measured_line.at(criterion, [near], "")[0, 0])
                for criterion in (f"{_ALTERATION}{guide}", "mean_alteration")
            )
            rows[guide] |= {f"own_{when}": own, f"mean_{when}": mean, f"k_{when}": near}
    columns = ["own_before", "own_after", "mean_before", "mean_after", "k_before", "k_after"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.astype({"k_before": int, "k_after": int}).rename_axis("metric")


def compute_means_by_characteristic(areas: Standing, guides: Sequence[Metric]) -> pd.DataFrame:
    places_by_trait: dict[tuple[str, str], list[int]] = {}
    for place, guide in enumerate(guides):
        for trait in characteristics(guide).items():
            places_by_trait.setdefault(trait, []).append(place)
    rows = {
        trait: {"metrics": len(places), **areas.values.iloc[:, places].mean(axis=1)}
        for trait, places in sorted(places_by_trait.items(), key=lambda item: item[0][0])
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["metrics", *areas.values.index])
    index = pd.MultiIndex.from_tuples(list(rows), names=["characteristic", "value"])
    return table.set_axis(index) if rows else table
