"""Studies and comparisons in a worker, which hands over each result at once."""

from collections.abc import Callable, Sequence
from typing import Any

from kanon.experiments.simulated.study import Study, StudyRun, run_study
from kanon.experiments.studies import (
    Experiment,
    Prediction,
    Training,
    run_experiment,
    run_prediction,
)
from kanon.experiments.sweep import PlannedRun, run_sweep
from kanon.learning.experiments import Fit
from kanon.metrics import Metric
from kanon.studio.jobs.worker import Progress
from kanon.studio.session.work import JobRequest, SessionState


def run_fits(progress: Progress, experiment: Experiment, fits: Sequence[Fit]) -> None:
    run_experiment(progress, experiment, fits, progress.keep)


def run_predictions(progress: Progress, prediction: Prediction, wanted: Sequence[Training]) -> None:
    run_prediction(progress, prediction, wanted, progress.keep)


def run_simulations(progress: Progress, study: Study, runs: Sequence[StudyRun]) -> None:
    run_study(progress, study, runs, progress.keep)


def run_lines(
    progress: Progress,
    runs: Sequence[PlannedRun],
    ks: Sequence[int],
    metrics: Sequence[Metric],
    also_at: Sequence[int] | None,
) -> None:
    run_sweep(progress, runs, ks, metrics, None, also_at, progress.keep)


def request_study(
    job_name: str,
    function: Callable[..., object],
    arguments: tuple[object, ...],
    keep: Callable[[SessionState, Any, Sequence[object]], SessionState],
    key: object,
) -> JobRequest:
    """Request a study whose partial results stay under ``key`` however it ends."""

    def then(work: SessionState, _: object) -> SessionState:
        return keep(work, key, work.running[job_name].job.parts)

    return JobRequest(
        job_name, function, arguments, then,
        limit="study_minutes", lane="study", study_key=str(key), noun="study",
    )  # fmt: skip
