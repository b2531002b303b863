"""Our figures, for every reading of what the papers leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.against_scan import check_same
from benchmarks.fidelity.published import (
    CRITERIA,
    CURVES,
    INTERVAL,
    PUBLISHED_AREAS,
    PUBLISHED_TABLES,
    REQUESTED,
    to_whole,
)
from benchmarks.fidelity.scan import scan
from benchmarks.fresh import ROOT
from benchmarks.plans import content
from kanon.algorithms.merging import merge_greedily
from kanon.algorithms.task import Task
from kanon.base.parallel import run_side_by_side
from kanon.base.progress import Progress, ignore_progress
from kanon.classes import EquivalenceClasses
from kanon.experiments.comparison import PAPER_K, TIE_SEEDS
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.measures.along import Curves, Points, measure_curves
from kanon.measures.cells import scale_metric_potentials
from kanon.measures.comparing import nauc
from kanon.metrics import PUBLISHED, Metric, metric_named
from kanon.plan import Plan
from kanon.run import prepare
from kanon.sources.opening import open_table

__all__ = [
    "AREA_KS",
    "GROUPINGS",
    "HIERARCHIES",
    "OURS",
    "READINGS",
    "Findings",
    "Reading",
    "Result",
    "measure",
    "readings",
    "voters_areas",
]

HIERARCHIES = ROOT / "hierarchies"
OURS = "adult"
GROUPINGS = (OURS, "adult-us-statistics", "adult-un-standards")
AREA_KS = tuple(sorted({*INTERVAL, *(k for k in PAPER_K if INTERVAL[0] <= k <= INTERVAL[1])}))


@dataclass(frozen=True)
class Reading:
    """One reading of what the papers leave open.

    Attributes
    ----------
    grouping
        The folder of the hierarchies.
    algorithm
        ``gaa`` or ``gaa-small``.
    leaf
        nl of an original value, for the metrics that guide and measure.
    cost
        Of a merge: ``weighted`` by the records of each class, for ``representatives`` of them, or
        ``joint``: both weighted by the records of both.
    ties
        In ``canonical`` order, ``reversed``, or by a tie seed.
    """

    grouping: str = OURS
    algorithm: str = "gaa"
    leaf: int = 0
    cost: str = "weighted"
    ties: str | int = "canonical"

    @property
    def scanned(self) -> bool:
        """Whether kanon has no such option, so that the plain scan runs it."""
        return self.cost == "joint" or self.ties == "reversed"


READINGS: Mapping[str, tuple[Reading, ...]] = {
    "as written": (Reading(),),
    "nl(leaf) = 1": (Reading(leaf=1),),
    "ties reversed": (Reading(ties="reversed"),),
    "ten tie seeds": tuple(Reading(ties=seed) for seed in TIE_SEEDS),
    "(cost₁ + cost₂) · (\\|C₁\\| + \\|C₂\\|)": (Reading(cost="joint"),),
    "representatives": (Reading(cost="representatives"),),
    "`gaa-small`": (Reading(algorithm="gaa-small"),),
    "`gaa-small`, representatives": (Reading(algorithm="gaa-small", cost="representatives"),),
}
"""The rows of the page's table, with our hierarchies: one reading, or one per seed."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a reading gives. Metrics are in the order of :data:`kanon.metrics.PUBLISHED`.

    Attributes
    ----------
    tables
        Per k the alteration in percent, shape (7, 7): measured by guiding.
    least
        Per requested k the records of the smallest class, by the metric that guided. Shape (7,).
    curves
        Per criterion of figs. 10 to 13 and requested k its percentage, by the metric that guided.
        Shape (7,).
    areas
        The NAUC of each criterion of Table 3, by the metric that guided; None of an algorithm that
        is not that of the table. Shape (3, 7).
    """

    tables: Mapping[int, np.ndarray]
    least: Mapping[int, np.ndarray]
    curves: Mapping[str, Mapping[int, np.ndarray]]
    areas: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    results
        Per reading what it gives.
    voters
        The areas of the voters sample, as in :class:`Result`.
    """

    results: Mapping[Reading, Result]
    voters: np.ndarray

    def apart(self, reading: Reading, k: int, rounded: bool = True) -> np.ndarray:
        """Ours, rounded to whole percent or not, less the published figure. Shape (7, 7)."""
        ours = self.results[reading].tables[k]
        return (to_whole(ours) if rounded else ours) - PUBLISHED_TABLES[k]

    def off(self, reading: Reading, k: int, rounded: bool = True) -> float:
        """The mean absolute difference per cell of a figure."""
        return float(np.abs(self.apart(reading, k, rounded)).mean())

    def areas(self, reading: Reading = Reading()) -> np.ndarray:
        """The areas of a reading of ``gaa``. Shape (3, 7)."""
        found = self.results[reading].areas
        assert found is not None
        return found

    def areas_off(self, reading: Reading) -> float:
        """The mean absolute difference per cell of Table 3; not a number without areas."""
        if self.results[reading].areas is None:
            return np.nan
        return float(np.abs(self.areas(reading) - PUBLISHED_AREAS).mean())

    def all_off(self, reading: Reading) -> np.ndarray:
        """The mean absolute differences of figs. 6, 7, 8, rounded, and of Table 3. Shape (4,)."""
        return np.array(
            [*(self.off(reading, k) for k in PUBLISHED_TABLES), self.areas_off(reading)]
        )

    def row(self, title: str, grouping: str = OURS) -> np.ndarray:
        """The same for each reading of a row of :data:`READINGS`. Shape (readings, 4)."""
        return np.array(
            [self.all_off(replace(reading, grouping=grouping)) for reading in READINGS[title]]
        )


def readings() -> list[Reading]:
    """Every reading with every grouping."""
    return [
        replace(each, grouping=grouping)
        for grouping in GROUPINGS
        for several in READINGS.values()
        for each in several
    ]


def measure(table: pd.DataFrame, wanted: Sequence[Reading]) -> Findings:
    """Run the readings on Adult with each metric guiding, and measure in each metric.

    Raises
    ------
    CaseError
        The plain scan takes other merges than kanon where both have the same reading.
    """
    classes = {each: _classes(table, each) for each in {reading.grouping for reading in wanted}}
    if any(reading.scanned for reading in wanted):
        first = _task(classes[wanted[0].grouping], Reading(), metric_named(PUBLISHED[0]))
        check_same(scan(first), merge_greedily(first))
    runs = iter(
        run_side_by_side(
            [
                partial(_numbers, classes[reading.grouping], reading, guide)
                for reading in wanted
                for guide in range(len(PUBLISHED))
            ],
            ignore_progress,
            "run",
        )
    )
    results = {
        reading: _result(reading, [next(runs) for _ in PUBLISHED], len(table)) for reading in wanted
    }
    return Findings(results, voters_areas())


def voters_areas() -> np.ndarray:
    """The areas of the voters sample: all five columns are quasi-identifiers. Shape (3, 7)."""
    table = open_table(ROOT / "sample_data" / "voters.csv").table
    trees = {str(column): str(HIERARCHIES / "voters" / f"{column}.csv") for column in table.columns}
    chosen = content({**trees, "party": {"build": "suppression"}}, "nllm", 2)
    classes = prepare(Plan.from_content(chosen), table).classes
    works = [partial(_numbers, classes, Reading(), guide) for guide in range(len(PUBLISHED))]
    return _areas(run_side_by_side(works, ignore_progress, "run"), classes.n_records)


def _classes(table: pd.DataFrame, grouping: str) -> EquivalenceClasses:
    trees = {str(column): str(HIERARCHIES / grouping / f"{column}.csv") for column in table}
    return prepare(Plan.from_content(content(trees, "nllm", 2)), table).classes


def _metrics(leaf: int) -> list[Metric]:
    """The seven metrics under a reading of nl."""
    metrics = [metric_named(name) for name in PUBLISHED]
    if leaf == 0:
        return metrics
    return [
        replace(metric, intermediate=f"other-{metric.intermediate}")
        if metric.intermediate.startswith("leaves")
        else metric
        for metric in metrics
    ]


def _task(classes: EquivalenceClasses, reading: Reading, guide: Metric) -> Task:
    return Task(
        classes,
        scale_metric_potentials(classes, guide),
        k=INTERVAL[1],
        weighted=reading.cost == "weighted",
        tie_seed=reading.ties if isinstance(reading.ties, int) else None,
    )


def _ks(reading: Reading) -> list[int]:
    """At which k a reading is measured; the algorithm of fig. 9 at what its text names too."""
    if reading.algorithm == "gaa-small":
        literal = reading == Reading(algorithm="gaa-small")
        return sorted({*PUBLISHED_TABLES, *(REQUESTED if literal else ())})
    every = {*PUBLISHED_TABLES, *AREA_KS, *REQUESTED}
    return sorted(k for k in every if not reading.scanned or k <= INTERVAL[1])


def _numbers(
    classes: EquivalenceClasses, reading: Reading, guide: int, told: Progress
) -> Mapping[str, np.ndarray]:
    """The criteria of one run, with one metric guiding."""
    told(0.0, "")
    metrics, ks = _metrics(reading.leaf), _ks(reading)
    task = _task(classes, reading, metrics[guide])
    found: Curves | Points
    if reading.scanned:
        path = scan(task, joint=reading.cost == "joint", reversed_ties=reading.ties == "reversed")
        found = measure_curves(path, metrics)
    else:
        (found,) = run_sweep(told, [PlannedRun(reading.algorithm, task)], ks, metrics)
    return found.at(ks)


def _result(reading: Reading, runs: Sequence[Mapping[str, np.ndarray]], n_records: int) -> Result:
    """What the runs of a reading give, one per metric that guided."""
    ks = runs[0]["k"].tolist()
    cells = np.array([[run[f"alteration_{name}"] for run in runs] for name in PUBLISHED])
    named = {k: ks.index(k) for k in REQUESTED if k in ks}
    return Result(
        {k: cells[:, :, ks.index(k)] for k in PUBLISHED_TABLES},
        {k: np.array([run["min_k"][place] for run in runs]) for k, place in named.items()},
        {
            name: {k: np.array([run[name][place] for run in runs]) for k, place in named.items()}
            for name in CURVES
        },
        _areas(runs, n_records) if reading.algorithm == "gaa" else None,
    )


def _areas(runs: Sequence[Mapping[str, np.ndarray]], n_records: int) -> np.ndarray:
    """The NAUC over the k of the papers inside the interval. Shape (3, 7)."""
    places = [runs[0]["k"].tolist().index(k) for k in AREA_KS]
    return np.array(
        [
            [nauc(AREA_KS, run[criterion][places], *INTERVAL, n_records) for run in runs]
            for criterion in CRITERIA
        ]
    )
