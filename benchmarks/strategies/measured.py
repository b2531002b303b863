"""Our areas, for every strategy, scope and order of ties."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmarks.plans import adult_with_sensitive
from benchmarks.strategies.published import INTERVAL
from kanon.base.progress import ignore_progress
from kanon.experiments.comparison import (
    K_PRESETS,
    PAPER_K,
    TIE_SEEDS,
    Comparison,
    build_lines,
    get_percent_factor,
)
from kanon.experiments.criteria import L_CARD, T_CARD
from kanon.experiments.sweep import PlannedRun, create_tasks, run_sweep
from kanon.experiments.titles import combine_settings, is_guided
from kanon.measures.alteration import MEAN_CARD
from kanon.measures.comparing import Standing
from kanon.metrics import PUBLISHED, metric_named
from kanon.privacy import entropy_l_diversity
from kanon.strategies import SCOPES, STRATEGIES, Scope

__all__ = ["COLUMNS", "CURVE_KS", "GUIDES", "KS", "NAMES", "Areas", "Findings", "Run", "measure"]

COLUMNS = ("age", "marital-status")
GUIDES = ("nllm", "total")
KS = K_PRESETS["thirteen"]
CURVE_KS = PAPER_K
"""The k at which the text speaks of a release; 50 is one of them, though areas are without it."""
NAMES = tuple(name for name in STRATEGIES if name != "k")
"""Those of Definition 17: the reverse has no published areas."""


@dataclass(frozen=True)
class Run:
    """What was run: the sensitive column, the metric that guides, the strategy and its scope.

    S1 looks at no class, so its scope is ``table``. L and T count no cost, so the metric only
    measures them.
    """

    column: str
    guide: str
    strategy: str
    scope: Scope


@dataclass(frozen=True, eq=False)
class Areas:
    """The areas of one run in percent: of alteration, l and t, and of the mean alteration.

    Attributes
    ----------
    own : numpy.ndarray, shape (4,)
        In the canonical order of ties. The metric that guides counts the alteration, as in [M23];
        the mean is over the seven metrics.
    low, high : numpy.ndarray, shape (4,)
        The least and the largest over all orders of ties.
    """

    own: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    areas
        Per run its areas.
    curves
        Per run the alteration, l and t at each of :data:`CURVE_KS`, in percent. Shape (3, ks).
    best_l
        Per sensitive column the entropy l of the table as one class.
    n_runs
        How many runs that took, all orders of ties counted.
    seconds
        How long they took.
    """

    areas: Mapping[Run, Areas]
    curves: Mapping[Run, np.ndarray]
    best_l: Mapping[str, float]
    n_runs: int
    seconds: float

    def of(self, column: str, strategy: str, scope: Scope, guide: str) -> Areas:
        """The areas of a run; for S1 of its only scope."""
        return self.areas[_run(column, strategy, scope, guide)]

    def curve(self, column: str, strategy: str, scope: Scope, guide: str) -> np.ndarray:
        """The curves of a run; for S1 of its only scope."""
        return self.curves[_run(column, strategy, scope, guide)]


def _run(column: str, strategy: str, scope: Scope, guide: str) -> Run:
    return Run(column, guide, strategy, "table" if strategy == "s1" else scope)


def measure(
    table: pd.DataFrame,
    columns: Sequence[str] = COLUMNS,
    guides: Sequence[str] = GUIDES,
    tie_seeds: Sequence[int] = TIE_SEEDS,
) -> Findings:
    """Run every strategy at both scopes on Adult, in canonical order and with the tie seeds."""
    started = time.perf_counter()
    results: dict[Run, Areas] = {}
    curves: dict[Run, np.ndarray] = {}
    best_l, n_runs = {}, 0
    for column in columns:
        prepared = adult_with_sensitive(table, column, guides[0], max(KS))
        (sensitive,) = prepared.classes.sensitive
        best_l[column] = float(entropy_l_diversity.each(sensitive.whole())[0])
        wanted = [
            replace(one, tie_seed=seed)
            for seed in (None, *tie_seeds)
            for one in combine_settings(guides, NAMES, list(SCOPES))
        ]
        n_runs += len(wanted)
        measured = [metric_named(name) for name in PUBLISHED]
        runs = [PlannedRun("gaa", task) for task in create_tasks(prepared, wanted)]
        lines = build_lines(
            wanted,
            run_sweep(ignore_progress, runs, KS, measured),
            measured,
            {column: best_l[column]},
        )
        for guide in guides:
            own = tuple(
                line
                for line in lines
                if line.configuration.metric == guide or not is_guided(line.configuration)
            )
            board = Comparison(own, tuple(measured), prepared.classes.n_records, KS, column)
            areas = board.areas(*INTERVAL, points=KS)
            rows = [f"alteration_{guide}", L_CARD.name, T_CARD.name, MEAN_CARD.name]
            for line in own:
                one = line.configuration
                run = Run(column, guide, one.strategy, one.scope)
                results[run] = _areas(areas, line.name, rows)
                curves[run] = np.array(
                    [
                        get_percent_factor(row) * line.at(row, CURVE_KS, column)[0]
                        for row in rows[:3]
                    ]
                )
    return Findings(results, curves, best_l, n_runs, time.perf_counter() - started)


def _areas(found: Standing, name: str, rows: Sequence[str]) -> Areas:
    low = found.values if found.low is None else found.low
    high = found.values if found.high is None else found.high
    own, least, most = (frame.loc[rows, name].to_numpy() for frame in (found.values, low, high))
    return Areas(own, least, most)
