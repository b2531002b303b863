"""Studies in a worker, which hands over each result at once."""

from collections.abc import Callable, Sequence
from typing import Any

from kanon.experiments.simulated.study import Study, StudyRun, run_study
from kanon.experiments.studies import Experiment, Prediction, Training, predict, run_experiment
from kanon.learning.experiments import Fit
from kanon.studio.jobs.worker import Progress
from kanon.studio.session.work import Request, Work


def learn_fits(progress: Progress, experiment: Experiment, fits: Sequence[Fit]) -> None:
    run_experiment(progress, experiment, fits, progress.keep)


def learn_releases(progress: Progress, prediction: Prediction, wanted: Sequence[Training]) -> None:
    predict(progress, prediction, wanted, progress.keep)


def simulate_runs(progress: Progress, study: Study, runs: Sequence[StudyRun]) -> None:
    run_study(progress, study, runs, progress.keep)


def study_request(
    doing: str,
    function: Callable[..., object],
    arguments: tuple[object, ...],
    keep: Callable[[Work, Any, Sequence[object]], Work],
    key: object,
) -> Request:
    """Request a study whose partial results stay under ``key`` however it ends."""

    def then(work: Work, _: object) -> Work:
        return keep(work, key, work.running[doing].job.parts)

    return Request(
        doing, function, arguments, then,
        limit="study_minutes", lane="study", studying=str(key),
    )  # fmt: skip
