"""Our areas, for every strategy, scope and order of ties."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmarks.plans import adult_with_sensitive
from benchmarks.strategies.published import INTERVAL
from kanon.algorithms.task import no_progress
from kanon.comparison import (
    COSTLESS,
    K_PRESETS,
    L_CARD,
    T_CARD,
    TIE_SEEDS,
    Comparison,
    combined,
    lines_of,
)
from kanon.measures.comparing import Standing
from kanon.metrics import PUBLISHED, metric_named
from kanon.privacy import entropy_l_diversity
from kanon.strategies import SCOPES, STRATEGIES, Scope
from kanon.sweep import Planned, solve_sweep, tasks_of

__all__ = ["COLUMNS", "GUIDES", "KS", "NAMES", "Areas", "Findings", "Run", "measure"]

COLUMNS = ("age", "marital-status")
GUIDES = ("total", "nllm")
KS = K_PRESETS["thirteen"]
NAMES = tuple(name for name in STRATEGIES if name != "k")
"""Those of Definition 17: the reverse has no published areas."""


@dataclass(frozen=True)
class Run:
    """What was run: the sensitive column, the metric that guides, the strategy and its scope.

    S1 looks at no class, so its scope is ``table``; L and T count no cost, so their metric is the
    first one.
    """

    column: str
    guide: str
    strategy: str
    scope: Scope


@dataclass(frozen=True, eq=False)
class Areas:
    """The areas of one run: alteration, l and t in percent.

    Attributes
    ----------
    own : numpy.ndarray, shape (3,)
        In the canonical order of ties; alteration is the mean over the seven metrics.
    low, high : numpy.ndarray, shape (3,)
        The least and the largest over all orders of ties.
    as_guide
        The alteration as the metric that guides counts it, in the canonical order.
    """

    own: np.ndarray
    low: np.ndarray
    high: np.ndarray
    as_guide: float


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    areas
        Per run its areas.
    best_l
        Per sensitive column the entropy l of the table as one class.
    n_runs
        How many runs that took, all orders of ties counted.
    seconds
        How long they took.
    """

    areas: Mapping[Run, Areas]
    best_l: Mapping[str, float]
    n_runs: int
    seconds: float

    def of(self, column: str, strategy: str, scope: Scope, guide: str = GUIDES[0]) -> Areas:
        """The areas of a run; for S1 of its only scope, for L and T of their only metric."""
        metric = GUIDES[0] if strategy in COSTLESS else guide
        return self.areas[Run(column, metric, strategy, "table" if strategy == "s1" else scope)]


def measure(
    table: pd.DataFrame,
    columns: Sequence[str] = COLUMNS,
    guides: Sequence[str] = GUIDES,
    tie_seeds: Sequence[int] = TIE_SEEDS,
) -> Findings:
    """Run every strategy at both scopes on Adult, in canonical order and with the tie seeds."""
    started = time.perf_counter()
    found: dict[Run, Areas] = {}
    best_l, n_runs = {}, 0
    for column in columns:
        prepared = adult_with_sensitive(table, column, guides[0], max(KS))
        (sensitive,) = prepared.classes.sensitive
        best_l[column] = float(entropy_l_diversity.each(sensitive.whole())[0])
        wanted = [
            replace(one, tie_seed=seed)
            for seed in (None, *tie_seeds)
            for one in combined(guides, NAMES, list(SCOPES))
        ]
        n_runs += len(wanted)
        measured = [metric_named(name) for name in PUBLISHED]
        runs = [Planned("gaa", task) for task in tasks_of(prepared, wanted)]
        lines = lines_of(
            wanted, solve_sweep(no_progress, runs, KS, measured), measured, {column: best_l[column]}
        )
        for guide in guides:
            own = tuple(line for line in lines if line.configuration.metric == guide)
            board = Comparison(own, tuple(measured), prepared.classes.n_records, KS, column)
            areas = board.areas(*INTERVAL, points=KS)
            for line in own:
                one = line.configuration
                found[Run(column, guide, one.strategy, one.scope)] = _areas(areas, line.name, guide)
    return Findings(found, best_l, n_runs, time.perf_counter() - started)


def _areas(found: Standing, name: str, guide: str) -> Areas:
    rows = ["mean_alteration", L_CARD.name, T_CARD.name]
    low = found.values if found.low is None else found.low
    high = found.values if found.high is None else found.high
    own, least, most = (frame.loc[rows, name].to_numpy() for frame in (found.values, low, high))
    return Areas(own, least, most, float(found.values.loc[f"alteration_{guide}", name]))
