"""What a worker is given for a study: each finding is handed over as soon as it is there."""

from __future__ import annotations

from collections.abc import Sequence

from kanon.experiments.simulated.study import Study, StudyRun, run_study
from kanon.experiments.studies import Experiment, Prediction, Wanted, predict, run_experiment
from kanon.learning.experiments import Fit
from kanon.studio.jobs.worker import Progress

__all__ = ["learn_fits", "learn_releases", "simulate_runs"]


def learn_fits(progress: Progress, experiment: Experiment, fits: Sequence[Fit]) -> None:
    """Run an experiment; see :func:`kanon.experiments.studies.run_experiment`."""
    run_experiment(progress, experiment, fits, progress.keep)


def learn_releases(progress: Progress, prediction: Prediction, wanted: Sequence[Wanted]) -> None:
    """Measure releases and learn from them; see :func:`kanon.experiments.studies.predict`."""
    predict(progress, prediction, wanted, progress.keep)


def simulate_runs(progress: Progress, study: Study, runs: Sequence[StudyRun]) -> None:
    """Make runs of the simulated study; see :func:`kanon.experiments.simulated.study.run_study`."""
    run_study(progress, study, runs, progress.keep)
