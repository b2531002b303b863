"""The runs of a sweep over the cores against the same runs one after the other."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, CaseError
from benchmarks.markdown import aim, spread, table
from benchmarks.plans import adult_path, adult_with_sensitive
from benchmarks.timing import alternately
from kanon.base.parallel import count_cores
from kanon.base.progress import ignore_progress
from kanon.experiments.comparison import PAPER_K as KS
from kanon.experiments.sweep import Configuration, PlannedRun, create_tasks, run_sweep
from kanon.measures.along import Curves, Points
from kanon.metrics import PUBLISHED, metric_named
from kanon.sources.opening import open_table
from kanon.strategies import STRATEGIES

__all__ = ["CASE"]

COLUMN = "marital-status"
CHOSEN = [name for name in STRATEGIES if name.startswith("s")]
REPETITIONS = 3
WORTH = 0.8
"""Of what the cores could give at best, so much should come."""


def _run() -> str:
    prepared = adult_with_sensitive(open_table(adult_path()).table, COLUMN, "nllm", max(KS))
    wanted = [Configuration(metric, one) for metric in PUBLISHED for one in CHOSEN]
    runs = [PlannedRun("gaa", task) for task in create_tasks(prepared, wanted)]
    metrics = [metric_named(name) for name in PUBLISHED]

    def swept(workers: int) -> list[Curves | Points]:
        return run_sweep(ignore_progress, runs, KS, metrics, workers)

    many = count_cores()
    (alone, together), (one, other) = alternately(
        lambda: swept(1), lambda: swept(many), repetitions=REPETITIONS
    )
    _check(one, other)
    faster = alone.best / together.best
    least = 1 + WORTH * (many - 1)
    return "\n\n".join(
        [
            f"{len(PUBLISHED)} metrics × {len(CHOSEN)} strategies with {COLUMN} as the sensitive "
            f"column, {len(runs)} runs to k = {max(KS)}, with all curves. Both have all numbers "
            "alike, in the same order.",
            table(
                ["what", "seconds"],
                [
                    ["one after the other", spread(alone)],
                    [f"on {many} cores", spread(together)],
                    ["ratio, best against best", f"{faster:.2f}"],
                    ["ratio of medians", f"{alone.median / together.median:.2f}"],
                ],
            ),
            aim(f"at least {least:.1f} times faster", f"{faster:.2f} times", faster >= least),
        ]
    )


def _check(one: list[Curves | Points], other: list[Curves | Points]) -> None:
    """Check that the number of threads has changed no number."""
    for mine, its in zip(one, other, strict=True):
        left, right = mine.at(KS), its.at(KS)
        if any(not np.array_equal(left[name], right[name]) for name in left):
            raise CaseError("A sweep on several cores has other numbers than one on one core.")


CASE = Case(
    name="adult-sweep-cores",
    about="seven metrics × seven strategies on Adult: over the cores against one after the other",
    classes=16_290,
    run=_run,
    needs_adult=True,
)
