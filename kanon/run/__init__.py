"""From a plan and a table to a release and its measures."""

from kanon.run.execution import Run, finished, release_at, run, run_prepared, write_stored
from kanon.run.preparation import PreparedRun, measured_metrics, prepare

__all__ = [
    "PreparedRun",
    "Run",
    "finished",
    "measured_metrics",
    "prepare",
    "release_at",
    "run",
    "run_prepared",
    "write_stored",
]
