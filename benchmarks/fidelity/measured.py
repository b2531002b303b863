"""Our tables, for every reading of what the papers leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.fidelity.published import PUBLISHED_TABLES, Tables, apart
from benchmarks.fresh import ROOT
from benchmarks.plans import content
from kanon.algorithms.task import Task, no_progress
from kanon.metrics import PUBLISHED, metric_named, potentials
from kanon.plan import Plan
from kanon.run import Prepared, prepare
from kanon.sweep import Planned, solve_sweep

__all__ = ["Findings", "Reading", "measure", "readings"]

HIERARCHIES = ROOT / "hierarchies"
OURS = "adult"
GROUPINGS = (OURS, "adult-us-statistics", "adult-un-standards")
ALGORITHMS = ("gaa", "gaa-small")
COSTS = {"weighted": "every record", "representatives": "once per class"}
TIE_SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Reading:
    """One reading of what the papers leave open.

    Attributes
    ----------
    grouping
        The folder of the hierarchies.
    algorithm, cost, tie_seed
        As in a plan.
    only
        The one column whose tree is the grouping's while the others are ours; empty if all are.
    """

    grouping: str = OURS
    algorithm: str = "gaa"
    cost: str = "weighted"
    tie_seed: int | None = None
    only: str = ""


@dataclass(frozen=True)
class Findings:
    """What was measured.

    Attributes
    ----------
    tables
        Per reading its tables.
    shares
        Per metric (rows) the percentage of all that could be lost that each column of Adult holds,
        with our hierarchies.
    """

    tables: Mapping[Reading, Tables]
    shares: pd.DataFrame

    def apart(self, reading: Reading, k: int, rounded: bool = False) -> np.ndarray:
        """A reading less the published table. Shape (7, 7)."""
        return apart(self.tables[reading], k, rounded)

    def off(self, reading: Reading, k: int, rounded: bool = False) -> float:
        """The mean absolute difference per cell."""
        return float(np.abs(self.apart(reading, k, rounded)).mean())

    def span(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Per cell the least and the largest figure that gaa has with the groupings."""
        each = [self.tables[Reading(grouping)][k] for grouping in GROUPINGS]
        return np.min(each, axis=0), np.max(each, axis=0)


def readings() -> list[Reading]:
    """Every grouping, algorithm, cost and order of ties; gaa with one tree of another grouping."""
    whole = product(GROUPINGS, ALGORITHMS, COSTS, (None, *TIE_SEEDS))
    swapped = [
        Reading(grouping, only=path.stem)
        for grouping in GROUPINGS
        for path in sorted((HIERARCHIES / grouping).glob("*.csv"))
        if path.read_bytes() != (HIERARCHIES / OURS / path.name).read_bytes()
    ]
    return [*(Reading(*each) for each in whole), *swapped]


def measure(table: pd.DataFrame, wanted: Sequence[Reading]) -> Findings:
    """Run the readings on Adult with each metric guiding, and measure in each metric."""
    metrics, ks = [metric_named(name) for name in PUBLISHED], list(PUBLISHED_TABLES)
    tables = {}
    for algorithm in dict.fromkeys(reading.algorithm for reading in wanted):
        chosen = [reading for reading in wanted if reading.algorithm == algorithm]
        tasks = [task for reading in chosen for task in _tasks(table, reading)]
        runs = iter(
            solve_sweep(no_progress, [Planned(algorithm, task) for task in tasks], ks, metrics)
        )
        for reading in chosen:
            guided = [next(runs).at(ks) for _ in PUBLISHED]
            cells = np.array([[run[f"alteration_{name}"] for run in guided] for name in PUBLISHED])
            tables[reading] = dict(zip(ks, np.moveaxis(cells, 2, 0), strict=True))
    return Findings(tables, _shares(_prepared(table, Reading())))


def _prepared(table: pd.DataFrame, reading: Reading) -> Prepared:
    folders = {each: reading.grouping if reading.only in ("", each) else OURS for each in table}
    trees = {column: str(HIERARCHIES / folders[column] / f"{column}.csv") for column in table}
    return prepare(Plan.from_content(content(trees, "nllm", max(PUBLISHED_TABLES))), table)


def _tasks(table: pd.DataFrame, reading: Reading) -> list[Task]:
    """One per metric that guides."""
    prepared = _prepared(table, reading)
    tasks = (
        prepared.guided_by(metric=guide, strategy="s1", tie_seed=reading.tie_seed).task()
        for guide in PUBLISHED
    )
    return [replace(task, weighted=reading.cost == "weighted") for task in tasks]


def _shares(prepared: Prepared) -> pd.DataFrame:
    classes, rows = prepared.classes, []
    for name in PUBLISHED:
        depths = potentials(metric_named(name), classes.hierarchies)
        lost = [depth[classes.nodes[:, j]] @ classes.counts for j, depth in enumerate(depths)]
        rows.append(100 * np.array(lost) / sum(lost))
    return pd.DataFrame(rows, index=list(PUBLISHED), columns=list(classes.attributes))
