"""Our studies: by the metric that guides, the scope, and what was drawn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.plans import adult_content
from kanon.base.progress import ignore_progress
from kanon.experiments.simulated.ranks import rank_strategies
from kanon.experiments.simulated.study import (
    CRITERIA,
    RUNS,
    STRATEGIES,
    RunResult,
    StudyRun,
    create_study,
    run_study,
)
from kanon.plan import Plan
from kanon.run import prepare
from kanon.strategies import SCOPES, Scope

__all__ = [
    "AS_IT_FITS",
    "FITTING",
    "GUIDES",
    "READINGS",
    "Findings",
    "Reading",
    "areas",
    "measure",
    "rank_table",
]

GUIDES = ("nllm", "total")


class Reading(NamedTuple):
    """What one study was made with.

    Attributes
    ----------
    guide, scope
        The metric that guides, and whose l and t count.
    seed
        0 for the columns of seed 0 and the canonical order of ties; any other is the seed of both.
    """

    guide: str
    scope: Scope
    seed: int = 0


READINGS = (
    *(Reading(guide, scope) for guide, scope in product(GUIDES, SCOPES)),
    *(Reading("nllm", scope, seed=1) for scope in SCOPES),
)
"""All studies of the page: the last two say what another draw and other ties change."""

FITTING: Mapping[str, tuple[str, Scope]] = {
    "s1": ("s1", "table"),
    "s2": ("s2", "class"),
    "s3": ("s3", "table"),
    "s4": ("s4", "class"),
    "s5": ("s6", "class"),
    "s6": ("s6", "table"),
    "s7": ("s7", "class"),
}
"""Per published strategy that of ours, and its scope, which fits it on Adult's real columns: see
docs/figures/strategies.md."""

AS_IT_FITS = "as fits"


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    studies
        Per reading what came of its runs.
    seconds
        How long they took together.
    """

    studies: Mapping[Reading, Sequence[RunResult]]
    seconds: float

    def of(self, guide: str, scope: str, seed: int = 0) -> list[RunResult]:
        """A study; at the scope :data:`AS_IT_FITS` each strategy is the one that fits it."""
        if scope != AS_IT_FITS:
            return list(self.studies[Reading(guide, scope, seed)])  # type: ignore[arg-type]
        results = []
        for run in RUNS:
            ours, own_scope = FITTING[run.strategy]
            areas_of = {each.run: each.areas for each in self.of(guide, own_scope, seed)}
            results.append(RunResult(run, areas_of[StudyRun(run.column, ours)]))
        return results


def measure(table: pd.DataFrame, readings: Sequence[Reading] = READINGS) -> Findings:
    """Make the studies of Adult: all nine columns are quasi-identifiers."""
    started = time.perf_counter()
    studies: dict[Reading, Sequence[RunResult]] = {}
    for reading in readings:
        plan = Plan.from_content(adult_content(reading.guide, 2))
        study = create_study(prepare(plan, table).guided_by(scope=reading.scope))
        task = replace(study.task, seed=reading.seed, tie_seed=reading.seed or None)
        results: list[RunResult] = []
        run_study(ignore_progress, replace(study, task=task), RUNS, results.append)
        studies[reading] = results
    return Findings(studies, time.perf_counter() - started)


def areas(found: Sequence[RunResult]) -> np.ndarray:
    """The mean areas over the columns. Shape (strategies, criteria)."""
    return np.array(
        [rank_strategies(found, name).values.mean()[list(STRATEGIES)] for name in CRITERIA]
    ).T


def rank_table(found: Sequence[RunResult], criterion: str) -> np.ndarray:
    """The rank of each strategy on each column. Shape (strategies, columns)."""
    return rank_strategies(found, criterion).ranks.to_numpy(dtype=float).T
