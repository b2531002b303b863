"""What can be learnt from the releases of a plan, over k and over algorithms: for a worker process.

After Viton et al. 2021 (representations), and de Spoelberch (which measure predicts).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kanon.algorithms.catalogue import check_task, short_title
from kanon.algorithms.solution import recodings_at
from kanon.algorithms.task import Task
from kanon.base.formatting import thin
from kanon.base.progress import Progress, stretch
from kanon.cards import Card
from kanon.errors import PlanError, Unsatisfiable, quoted
from kanon.learning.classifiers import CLASSIFIERS, fit
from kanon.learning.experiments import TRAINED_K, ClassifierStudy, Fit, Outcome, Trained, run_fits
from kanon.learning.labels import TRAINING_SHARE, LabelledRecords, labelled
from kanon.learning.representations import represent
from kanon.learning.scores import SCORES, scores
from kanon.measures import alteration, classification_metric
from kanon.measures.overview import utility_cards
from kanon.measures.summary import summary
from kanon.metrics import Metric
from kanon.recoding import Recoding
from kanon.run import PreparedRun
from kanon.schema import Role
from kanon.sensitive import Sensitive


def labels_of(
    prepared: PreparedRun, target: str, training_share: float = TRAINING_SHARE, seed: int = 0
) -> LabelledRecords:
    role = prepared.plan.roles.roles.get(target)
    if role is Role.QUASI_IDENTIFIER:
        raise PlanError(
            f"{quoted(target)} is a quasi-identifier, so a release blurs it; the target must be a "
            "column that leaves as it is: make it sensitive or insensitive, or choose another."
        )
    if role is Role.IDENTIFIER:
        raise PlanError(
            f"{quoted(target)} is an identifier and leaves the release; choose another target."
        )
    return labelled(prepared.source.histogram_of(target), training_share, seed)


# --- experiments over k and representations ---------------------------------------------------
@dataclass(frozen=True, eq=False)
class Experiment:
    # what makes the releases
    algorithm: str
    task: Task
    ks: tuple[int, ...]  # for which k, rising
    # see :class:`kanon.learning.experiments.ClassifierStudy`
    labelled: LabelledRecords
    classifier: str = "mlp"
    trained: Trained = "original"


def trained_k(n_records: int) -> int:
    """The k that the second experiment trains on: 100, or n if there are fewer records."""
    return min(TRAINED_K, n_records)


def experiment_of(
    prepared: PreparedRun,
    ks: Iterable[int],
    labels: LabelledRecords,
    classifier: str = "mlp",
    trained: Trained = "original",
) -> Experiment:
    n = prepared.classes.highest_k
    some = _up_to_n(ks, n)
    task = prepared.task().for_k(max(*some, trained_k(n)))
    task.check()
    check_task(prepared.plan.algorithm.name, task)
    return Experiment(prepared.plan.algorithm.name, task, some, labels, classifier, trained)


def run_experiment(
    progress: Progress, experiment: Experiment, fits: Sequence[Fit], keep: Callable[[Outcome], None]
) -> None:
    progress(0.0, "making the releases")
    on_release = experiment.trained == "release"
    own = trained_k(experiment.task.classes.highest_k)
    ks = sorted({*experiment.ks, *([own] if on_release else [])})
    made = recodings_at(stretch(progress, 0.0, _MADE), experiment.algorithm, experiment.task, ks)
    study = ClassifierStudy(
        experiment.task.classes,
        {k: made[k] for k in experiment.ks},
        experiment.labelled,
        experiment.classifier,
        experiment.trained,
        made[own] if on_release else None,
    )
    run_fits(stretch(progress, _MADE, 1.0), study, fits, keep)


_MADE = 0.02  # the share of the time that the releases take, about


def _up_to_n(ks: Iterable[int], most: int) -> tuple[int, ...]:
    some = tuple(sorted({k for k in ks if 2 <= k <= most}))
    if not some:
        raise PlanError(
            f"No k is left: choose at least one from 2 to {thin(most)}, the largest that this "
            "table allows."
        )
    return some


# --- which measure predicts -------------------------------------------------------------------
class StudiedAlgorithm(NamedTuple):
    """An algorithm whose releases are measured and learnt from; the task's own k is not used."""

    algorithm: str
    task: Task


class Training(NamedTuple):
    """A classifier to be trained on a release: which algorithm's, for which k, with which seed."""

    algorithm: str
    k: int
    classifier: str
    seed: int


class ReleaseMeasures(NamedTuple):
    """The measures of a release, by name; what does not apply to it is missing."""

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
    labelled: LabelledRecords  # what is to be learnt
    # the target's histogram per original class, for the measures that look at labels
    histogram: Sensitive
    metrics: tuple[Metric, ...]  # the metrics whose alteration is measured
    # what every release is represented by, for training and for validation
    representation: str = "fillParent"


def predict(
    progress: Progress,
    prediction: Prediction,
    wanted: Sequence[Training],
    keep: Callable[[ReleaseMeasures | LearntScores], None],
) -> None:
    """Train classifiers on releases and validate each on the other records of the same release."""
    done = 0
    size = len(prediction.labelled.labels)
    for algorithm, task in prediction.candidates:
        own = [one for one in wanted if one.algorithm == algorithm]
        ks = sorted({one.k for one in own})
        made = _made(progress, algorithm, task, ks, done / len(wanted))
        for one in own:
            if one.k not in made:  # known to be impossible, so nobody asks again
                keep(LearntScores(one, (float("nan"),) * len(SCORES)))
                done += 1
        for k, recoding in made.items():
            keep(ReleaseMeasures(algorithm, k, _measured(prediction, recoding, k)))
            matrix = represent(prediction.representation, recoding)
            training, validation = prediction.labelled.released(recoding)
            for one in own:
                if one.k != k:
                    continue
                classifier = CLASSIFIERS[one.classifier].card.title
                text = f"{short_title(algorithm)}, k = {thin(k)}, {classifier}"
                progress(done / len(wanted), f"fit {done + 1} of {len(wanted)}: {text}")
                found = [float("nan")] * len(SCORES)
                if len(training.records) and len(validation.records):
                    model = fit(one.classifier, matrix, training, size, one.seed)
                    chances = model.chances(matrix)
                    positive = prediction.labelled.positive
                    found = [*scores(chances, validation, positive).values()]
                keep(LearntScores(one, tuple(found)))
                done += 1
    progress(1.0, "done")


def _made(
    progress: Progress, algorithm: str, task: Task, ks: Sequence[int], done: float
) -> dict[int, Recoding]:
    if not ks:
        return {}

    def told(_: float, text: str) -> None:
        progress(done, f"{short_title(algorithm)}: {text}")

    try:
        return recodings_at(told, algorithm, task, ks)
    except Unsatisfiable:
        found: dict[int, Recoding] = {}
        for k in ks:
            try:
                found |= recodings_at(told, algorithm, task, [k])
            except Unsatisfiable:
                continue
        return found


def _measured(prediction: Prediction, recoding: Recoding, k: int) -> dict[str, float]:
    found = summary(recoding, prediction.metrics, k)
    labelled_classes = replace(recoding.classes, sensitive=(prediction.histogram,))
    wrong = classification_metric.value(
        replace(recoding, classes=labelled_classes), prediction.histogram.name
    )
    flat: dict[str, Any] = {
        **{f"{alteration.CARD.name}_{name}": each for name, each in found["alteration"].items()},
        **{name: found[name] for name in utility_cards()},
        classification_metric.CARD.name: wrong,
    }
    return {name: float(value) for name, value in flat.items() if value is not None}


def measures_of_points(metrics: Sequence[Metric]) -> dict[str, Card]:
    found = {}
    for metric in metrics:
        name, title = f"{alteration.CARD.name}_{metric.name}", f"Alteration, {metric.card.title}"
        found[name] = replace(alteration.CARD, name=name, title=title)
    label_card = classification_metric.CARD
    return {**found, **utility_cards(), label_card.name: label_card}


def points_table(found: Iterable[ReleaseMeasures | LearntScores], score: str) -> pd.DataFrame:
    """A row per release: its algorithm and k, every measure, and every classifier's score."""
    place = list(SCORES).index(score)
    measured: dict[tuple[str, int], Mapping[str, float]] = {}
    learned: dict[tuple[str, int], dict[str, list[float]]] = {}
    for one in found:
        if isinstance(one, ReleaseMeasures):
            measured[one.algorithm, one.k] = one.values
        else:
            key = (one.wanted.algorithm, one.wanted.k)
            per_classifier = learned.setdefault(key, {})
            per_classifier.setdefault(one.wanted.classifier, []).append(one.scores[place])
    scored = {
        name: sum(name in each for key, each in learned.items() if key in measured)
        for name in CLASSIFIERS
    }
    enough = max(1, max(scored.values()) / 2)
    names = [name for name, releases in scored.items() if releases >= enough]
    rows = [
        {
            "algorithm": key[0],
            "k": key[1],
            **measured[key],
            **{name: float(np.mean(each[name])) for name in names},
        }
        for key, each in learned.items()
        if key in measured and all(name in each for name in names)
    ]
    table = pd.DataFrame(rows, columns=None if rows else ["algorithm", "k"])
    kept = [name for name in table.columns if name in names or not table[name].isna().any()]
    return table[kept]


def check_candidate(candidate: StudiedAlgorithm, ks: Sequence[int]) -> None:
    task = candidate.task.for_k(min(ks))
    task.check()
    check_task(candidate.algorithm, task)
