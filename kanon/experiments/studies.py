"""What can be learnt from the releases of a plan, over k and over algorithms.

After Viton et al. 2021 (representations), and de Spoelberch (which measure predicts).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import check_task, short_title
from kanon.algorithms.solution import run_for_every_k
from kanon.algorithms.task import Task
from kanon.base.formatting import write_count
from kanon.base.progress import Progress, scale_progress
from kanon.cards import Card
from kanon.errors import PlanError, Unsatisfiable, quote
from kanon.learning.classifiers import CLASSIFIERS, fit
from kanon.learning.experiments import TRAINED_K, Fit, Outcome, Trained, run_fits
from kanon.learning.labels import TRAINING_SHARE, LabelledRecords, split_labels
from kanon.learning.representations import represent
from kanon.learning.scores import SCORES, scores
from kanon.measures import alteration, classification_metric
from kanon.measures.overview import get_utility_cards
from kanon.measures.summary import measure_release
from kanon.metrics import Metric
from kanon.recoding import Recoding
from kanon.run import PreparedRun
from kanon.schema import Role
from kanon.sensitive import Sensitive


def get_target_labels(
    prepared: PreparedRun, target: str, training_share: float = TRAINING_SHARE, seed: int = 0
) -> LabelledRecords:
    role = prepared.plan.roles.roles.get(target)
    if role is Role.QUASI_IDENTIFIER:
        raise PlanError(
            f"{quote(target)} is a quasi-identifier, which a release generalises; the target has "
            "to be released unchanged: make it sensitive or insensitive, or choose another column."
        )
    if role is Role.IDENTIFIER:
        raise PlanError(
            f"{quote(target)} is an identifier, which a release leaves out; choose another target."
        )
    return split_labels(prepared.source.build_column_histogram(target), training_share, seed)


# --- experiments over k and representations ---------------------------------------------------
@dataclass(frozen=True, eq=False)
class Experiment:
    # what makes the releases
    algorithm: str
    task: Task
    ks: tuple[int, ...]  # for which k, rising
    labels: LabelledRecords  # to learn, and which records train
    classifier: str = "mlp"
    trained_on: Trained = "original"


def choose_training_k(n_records: int) -> int:
    """The k that the second experiment trains on: 100, or n if there are fewer records."""
    return min(TRAINED_K, n_records)


def create_experiment(
    prepared: PreparedRun,
    ks: Iterable[int],
    labels: LabelledRecords,
    classifier: str = "mlp",
    trained: Trained = "original",
) -> Experiment:
    n = prepared.classes.highest_k
    usable_ks = _select_k(ks, n)
    task = prepared.task().for_k(max(*usable_ks, choose_training_k(n)))
    task.check()
    check_task(prepared.plan.algorithm.name, task)
    return Experiment(prepared.plan.algorithm.name, task, usable_ks, labels, classifier, trained)


def run_experiment(
    progress: Progress, experiment: Experiment, fits: Sequence[Fit], keep: Callable[[Outcome], None]
) -> None:
    progress(0.0, "making the releases")
    on_release = experiment.trained_on == "release"
    training_k = choose_training_k(experiment.task.classes.highest_k)
    ks = sorted({*experiment.ks, *([training_k] if on_release else [])})
    releases = run_for_every_k(
        scale_progress(progress, 0.0, _RELEASES_SHARE), experiment.algorithm, experiment.task, ks
    )
    run_fits(
        scale_progress(progress, _RELEASES_SHARE, 1.0),
        experiment.labels,
        experiment.classifier,
        releases[training_k] if on_release else experiment.task.classes,
        [releases[k] for k in experiment.ks],
        fits,
        keep,
    )


_RELEASES_SHARE = 0.02  # the share of the time that the releases take, about


def _select_k(ks: Iterable[int], most: int) -> tuple[int, ...]:
    usable_ks = tuple(sorted({k for k in ks if 2 <= k <= most}))
    if not usable_ks:
        raise PlanError(
            f"No k is left: choose at least one from 2 to {write_count(most)}, the largest that "
            "this table allows."
        )
    return usable_ks


# --- which measure predicts -------------------------------------------------------------------
class StudiedAlgorithm(NamedTuple):
    """An algorithm whose releases are measured and learnt from; the task's own k is not used."""

    algorithm: str
    task: Task


class Training(NamedTuple):
    algorithm: str
    k: int
    classifier: str
    seed: int


class ReleaseMeasures(NamedTuple):
    algorithm: str
    k: int
    values: Mapping[str, float]


class LearntScores(NamedTuple):
    """The scores of a classifier on a release, in the order of the scores; NaN without records."""

    wanted: Training
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Prediction:
    candidates: tuple[StudiedAlgorithm, ...]  # the algorithms
    labels: LabelledRecords  # what is to be learnt
    # the target's histogram per original class, for the measures that look at labels
    histogram: Sensitive
    metrics: tuple[Metric, ...]  # the metrics whose alteration is measured
    # what every release is represented by, for training and for validation
    representation: str = "fillParent"


def run_prediction(
    progress: Progress,
    prediction: Prediction,
    trainings_left: Sequence[Training],
    keep: Callable[[ReleaseMeasures | LearntScores], None],
) -> None:
    """Train classifiers on releases and validate each on the other records of the same release."""
    n_done = 0
    size = len(prediction.labels.labels)
    for algorithm, task in prediction.candidates:
        trainings = [training for training in trainings_left if training.algorithm == algorithm]
        ks = sorted({training.k for training in trainings})
        releases = _create_releases(progress, algorithm, task, ks, n_done / len(trainings_left))
        for training in trainings:
            if training.k not in releases:  # known to be impossible, so not tried again
                keep(LearntScores(training, (float("nan"),) * len(SCORES)))
                n_done += 1
        for k, recoding in releases.items():
            keep(ReleaseMeasures(algorithm, k, _measure_release(prediction, recoding, k)))
            matrix = represent(prediction.representation, recoding)
            training_records, validation_records = prediction.labels.released(recoding)
            for training in trainings:
                if training.k != k:
                    continue
                classifier = CLASSIFIERS[training.classifier].card.title
                text = f"{short_title(algorithm)}, k = {write_count(k)}, {classifier}"
                progress(
                    n_done / len(trainings_left),
                    f"fit {n_done + 1} of {len(trainings_left)}: {text}",
                )
                values = [float("nan")] * len(SCORES)
                if len(training_records.records) and len(validation_records.records):
                    model = fit(training.classifier, matrix, training_records, size, training.seed)
                    chances = model.chances(matrix)
                    positive = prediction.labels.positive
                    values = [*scores(chances, validation_records, positive).values()]
                keep(LearntScores(training, tuple(values)))
                n_done += 1
    progress(1.0, "done")


def _create_releases(
    progress: Progress, algorithm: str, task: Task, ks: Sequence[int], share: float
) -> dict[int, Recoding]:
    if not ks:
        return {}

    def show_release_progress(_: float, text: str) -> None:
        progress(share, f"{short_title(algorithm)}: {text}")

    try:
        return run_for_every_k(show_release_progress, algorithm, task, ks)
    except Unsatisfiable:
        releases: dict[int, Recoding] = {}
        for k in ks:
            with suppress(Unsatisfiable):
                releases |= run_for_every_k(show_release_progress, algorithm, task, [k])
        return releases


def _measure_release(prediction: Prediction, recoding: Recoding, k: int) -> dict[str, float]:
    measures = measure_release(recoding, prediction.metrics, k)
    labelled_classes = replace(recoding.classes, sensitive=(prediction.histogram,))
    wrong = classification_metric.value(
        replace(recoding, classes=labelled_classes), prediction.histogram.name
    )
    flat: dict[str, Any] = {
        **{
            f"{alteration.CARD.name}_{name}": value
            for name, value in measures["alteration"].items()
        },
        **{name: measures[name] for name in get_utility_cards()},
        classification_metric.CARD.name: wrong,
    }
    return {name: float(value) for name, value in flat.items() if value is not None}


def list_point_measures(metrics: Sequence[Metric]) -> dict[str, Card]:
    cards = {}
    for metric in metrics:
        name, title = f"{alteration.CARD.name}_{metric.name}", f"Alteration, {metric.card.title}"
        cards[name] = replace(alteration.CARD, name=name, title=title)
    label_card = classification_metric.CARD
    return {**cards, **get_utility_cards(), label_card.name: label_card}


def build_points_table(
    findings: Iterable[ReleaseMeasures | LearntScores], score: str
) -> pd.DataFrame:
    place = list(SCORES).index(score)
    measures_by_release: dict[tuple[str, int], Mapping[str, float]] = {}
    scores_by_release: dict[tuple[str, int], dict[str, list[float]]] = {}
    for finding in findings:
        if isinstance(finding, ReleaseMeasures):
            measures_by_release[finding.algorithm, finding.k] = finding.values
        else:
            key = (finding.wanted.algorithm, finding.wanted.k)
            per_classifier = scores_by_release.setdefault(key, {})
            per_classifier.setdefault(finding.wanted.classifier, []).append(finding.scores[place])
    release_counts = {
        name: sum(
            name in classifier_scores
            for key, classifier_scores in scores_by_release.items()
            if key in measures_by_release
        )
        for name in CLASSIFIERS
    }
    enough = max(1, max(release_counts.values()) / 2)
    names = [name for name, releases in release_counts.items() if releases >= enough]
    rows = [
        {
            "algorithm": key[0],
            "k": key[1],
            **measures_by_release[key],
            **{name: float(np.mean(classifier_scores[name])) for name in names},
        }
        for key, classifier_scores in scores_by_release.items()
        if key in measures_by_release and all(name in classifier_scores for name in names)
    ]
    table = pd.DataFrame(rows, columns=None if rows else ["algorithm", "k"])
    columns = [name for name in table.columns if name in names or not table[name].isna().any()]
    return table[columns]


def check_candidate(candidate: StudiedAlgorithm, ks: Sequence[int]) -> None:
    task = candidate.task.for_k(min(ks))
    task.check()
    check_task(candidate.algorithm, task)
