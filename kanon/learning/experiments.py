"""The published experiments: train on one table, validate on releases of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from kanon.base.formatting import count_noun
from kanon.base.progress import Progress
from kanon.classes import EquivalenceClasses
from kanon.learning.classifiers import CLASSIFIERS, fit
from kanon.learning.labels import LabelledRecords, Pairs
from kanon.learning.representations import REPRESENTATIONS, Matrix, represent, represent_original
from kanon.learning.scores import SCORES, scores
from kanon.recoding import Recoding

Trained = Literal["original", "release"]

TRAINED_K = 100
"""The k of the release that the second experiment trains on, as published."""

FIRST_SEEDS = 10
"""The number of networks to train, as published."""


class Fit(NamedTuple):
    """One classifier to train.

    Attributes
    ----------
    representation
        The representation of its training table.
    seed
        The seed of its random numbers.
    """

    representation: str
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """The predictions of one trained classifier.

    Attributes
    ----------
    fit
        The classifier.
    scores : numpy.ndarray, shape (K, 4, 3)
        Per k of the study, representation and score, in the order of :data:`REPRESENTATIONS` and
        :data:`SCORES`.
    before : numpy.ndarray, shape (3,)
        The scores on the validation records of its training table.
    dead
        Whether it gives all those records the same answer, as a network without active units does.
    """

    fit: Fit
    scores: np.ndarray
    before: np.ndarray
    dead: bool


@dataclass(frozen=True, eq=False)
class ClassifierStudy:
    """An experiment: a classifier trained on one table, validated on the releases for several k.

    Attributes
    ----------
    classes
        The classes of the original table.
    recodings
        Per k its release, rising.
    labelled
        The labels to learn, and which records train.
    classifier
        A name in :data:`kanon.learning.classifiers.CLASSIFIERS`.
    trained
        Experiment 1 trains on the original table, experiment 2 on a release.
    trained_on
        That release, for experiment 2.

    Notes
    -----
    A record trains or validates, never both, in whatever table. Releases are made of all records.
    Suppressed records have no row, so they are in neither part.

    Source: Viton, Mauger, Dequen, Guérin, Le Mahec 2021.
    """

    classes: EquivalenceClasses
    recodings: Mapping[int, Recoding]
    labelled: LabelledRecords
    classifier: str = "mlp"
    trained: Trained = "original"
    trained_on: Recoding | None = None


def fits_of(trained: Trained, classifier: str, seeds: int) -> list[Fit]:
    """The classifiers of an experiment.

    On the original table the proportional representation equals fillParent, and experiment 1
    trains on it. Experiment 2 trains on each of the four. A classifier without random numbers is
    trained once.

    >>> len(fits_of("original", "mlp", 10)), len(fits_of("release", "mlp", 10))
    (10, 40)
    >>> fits_of("original", "logistic-regression", 10)
    [Fit(representation='proportional', seed=0)]
    """
    seed_range = range(seeds if CLASSIFIERS[classifier].seeded else 1)
    names = ["proportional"] if trained == "original" else list(REPRESENTATIONS)
    return [Fit(name, seed) for seed in seed_range for name in names]


def run_fits(
    progress: Progress, study: ClassifierStudy, fits: Sequence[Fit], keep: Callable[[Outcome], None]
) -> None:
    """Train classifiers and validate each on every release in every representation.

    Parameters
    ----------
    keep
        Receives each outcome as soon as it is known, so that none is lost when others fail.
    """
    labels = study.labelled

    def compute_scores(chances: np.ndarray, pairs: Pairs) -> list[float]:
        return [*scores(chances, pairs, labels.positive).values()]

    inputs = []
    for recoding in study.recodings.values():
        matrices = [represent(name, recoding) for name in REPRESENTATIONS]
        inputs.append((labels.released(recoding)[1], matrices))
    for place, task in enumerate(fits):
        title = REPRESENTATIONS[task.representation].title
        progress(place / len(fits), f"fit {place + 1} of {len(fits)}, {title}, seed {task.seed}")
        matrix, training, validation = _get_training_data(study, task.representation)
        if not len(training.records):  # all of them were suppressed
            nothing = np.full((len(inputs), len(REPRESENTATIONS), len(SCORES)), np.nan)
            keep(Outcome(task, nothing, np.full(len(SCORES), np.nan), dead=True))
            continue
        model = fit(study.classifier, matrix, training, len(labels.labels), task.seed)
        answers = model.chances(matrix)
        results = [
            [compute_scores(model.chances(release_matrix), pairs) for release_matrix in matrices]
            for pairs, matrices in inputs
        ]
        own = answers[validation.group]
        keep(
            Outcome(
                fit=task,
                scores=np.array(results).reshape(len(inputs), len(REPRESENTATIONS), len(SCORES)),
                before=np.array(compute_scores(answers, validation)),
                dead=not len(own) or not np.ptp(own, axis=0).any(),
            )
        )
    progress(1.0, f"{count_noun(len(fits), 'fit')} done")


def _get_training_data(study: ClassifierStudy, name: str) -> tuple[Matrix, Pairs, Pairs]:
    labels = study.labelled
    if study.trained_on is None:
        return represent_original(study.classes, name), labels.training, labels.validation
    return represent(name, study.trained_on), *labels.released(study.trained_on)


def outcomes_table(ks: Sequence[int], outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """All scores: a row per classifier, k and representation of the validation.

    Columns ``trained_in, seed, dead, k, validated_in, auc, accuracy, f1``. A row without k is of
    the training table of the classifier.

    Parameters
    ----------
    ks
        The k of the study.
    """
    rows: list[dict[str, object]] = []
    names = list(SCORES)
    for run in outcomes:
        about = {"trained_in": run.fit.representation, "seed": run.fit.seed, "dead": run.dead}
        own_scores = dict(zip(names, run.before.tolist(), strict=True))
        rows.append({**about, "k": None, "validated_in": run.fit.representation, **own_scores})
        for place, k in enumerate(ks):
            for at, name in enumerate(REPRESENTATIONS):
                release_scores = dict(zip(names, run.scores[place, at].tolist(), strict=True))
                rows.append({**about, "k": k, "validated_in": name, **release_scores})
    columns = ["trained_in", "seed", "dead", "k", "validated_in", *names]
    return pd.DataFrame(rows, columns=columns).astype({"k": "Int64"})


class Band(NamedTuple):
    """The mean score over seeds, and its deviation.

    Attributes
    ----------
    mean, deviation : numpy.ndarray, shape (K,)
        Per k; the deviation is that of a sample (n − 1), NaN for a single seed.
    fits
        The number of classifiers.
    """

    mean: np.ndarray
    deviation: np.ndarray
    fits: int


def bands(
    outcomes: Iterable[Outcome], score: str, trained_in: str, live: bool = False
) -> dict[str, Band]:
    """Per representation of the validation, the mean and deviation of a score at every k.

    Parameters
    ----------
    outcomes
        The outcomes of a study.
    score
        One of :data:`kanon.learning.scores.SCORES`.
    trained_in
        Only classifiers trained in this representation count.
    live
        Leave out dead ones.

    Returns
    -------
    dict
        Empty if none counts.
    """
    at = list(SCORES).index(score)
    counting = [
        outcome.scores[:, :, at]
        for outcome in outcomes
        if outcome.fit.representation == trained_in and not (live and outcome.dead)
    ]
    if not counting:
        return {}
    every = np.stack(counting)
    mean = every.mean(axis=0)
    deviation = every.std(axis=0, ddof=1) if len(every) > 1 else np.full_like(mean, np.nan)
    return {
        name: Band(mean[:, place], deviation[:, place], len(every))
        for place, name in enumerate(REPRESENTATIONS)
    }
