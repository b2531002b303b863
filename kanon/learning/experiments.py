"""The published experiments: what is learnt from one table and validated on releases of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from kanon.base.formatting import counted
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
"""So many networks are trained, as published."""


class Fit(NamedTuple):
    """One classifier to be trained.

    Attributes
    ----------
    representation
        What the table it is trained on is represented by.
    seed
        What it begins with.
    """

    representation: str
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one trained classifier predicts.

    Attributes
    ----------
    fit
        Which one.
    scores : numpy.ndarray, shape (K, 4, 3)
        Per k of the study, representation and score, in the order of :data:`REPRESENTATIONS` and
        :data:`SCORES`.
    before : numpy.ndarray, shape (3,)
        The scores on the validation records of the table that it was trained on.
    dead
        Whether it gives all of those the same answer, as a network does whose units have all
        fallen silent.
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
        What is to be learnt, and which records train.
    classifier
        A name in :data:`kanon.learning.classifiers.CLASSIFIERS`.
    trained
        Experiment 1 trains on the original table, experiment 2 on a release.
    trained_on
        Of experiment 2 that release.

    Notes
    -----
    A record trains or validates, never both, whatever the table it is taken from. Releases are made
    of all records. Suppressed records have no row, so they are in neither part.

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

    On the original table the proportional representation equals fillParent; experiment 1 trains
    on that one. Experiment 2 trains on each of the four. A classifier that no seed changes is
    trained once.

    >>> len(fits_of("original", "mlp", 10)), len(fits_of("release", "mlp", 10))
    (10, 40)
    >>> fits_of("original", "logistic-regression", 10)
    [Fit(representation='proportional', seed=0)]
    """
    some = range(seeds if CLASSIFIERS[classifier].seeded else 1)
    names = ["proportional"] if trained == "original" else list(REPRESENTATIONS)
    return [Fit(name, seed) for seed in some for name in names]


def run_fits(
    progress: Progress, study: ClassifierStudy, fits: Sequence[Fit], keep: Callable[[Outcome], None]
) -> None:
    """Train classifiers and validate each on every release in every representation.

    Parameters
    ----------
    keep
        Given each outcome as soon as there is one, so that what is done is not lost with the rest.
    """
    labels = study.labelled

    def scored(chances: np.ndarray, pairs: Pairs) -> list[float]:
        return [*scores(chances, pairs, labels.positive).values()]

    seen = []
    for recoding in study.recodings.values():
        matrices = [represent(name, recoding) for name in REPRESENTATIONS]
        seen.append((labels.released(recoding)[1], matrices))
    for place, one in enumerate(fits):
        title = REPRESENTATIONS[one.representation].title
        progress(place / len(fits), f"fit {place + 1} of {len(fits)}, {title}, seed {one.seed}")
        matrix, training, validation = _trained_on(study, one.representation)
        if not len(training.records):  # all of them were suppressed
            nothing = np.full((len(seen), len(REPRESENTATIONS), len(SCORES)), np.nan)
            keep(Outcome(one, nothing, np.full(len(SCORES), np.nan), dead=True))
            continue
        model = fit(study.classifier, matrix, training, len(labels.labels), one.seed)
        answers = model.chances(matrix)
        found = [
            [scored(model.chances(seen_as), pairs) for seen_as in matrices]
            for pairs, matrices in seen
        ]
        own = answers[validation.group]
        keep(
            Outcome(
                fit=one,
                scores=np.array(found).reshape(len(seen), len(REPRESENTATIONS), len(SCORES)),
                before=np.array(scored(answers, validation)),
                dead=not len(own) or not np.ptp(own, axis=0).any(),
            )
        )
    progress(1.0, f"{counted(len(fits), 'fit')} done")


def _trained_on(study: ClassifierStudy, name: str) -> tuple[Matrix, Pairs, Pairs]:
    labels = study.labelled
    if study.trained_on is None:
        return represent_original(study.classes, name), labels.training, labels.validation
    return represent(name, study.trained_on), *labels.released(study.trained_on)


def outcomes_table(ks: Sequence[int], outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Every score: a row per classifier, k and representation validated in.

    Columns ``trained_in, seed, dead, k, validated_in, auc, accuracy, f1``. Where k is missing, the
    row is of the table that the classifier was trained on.

    Parameters
    ----------
    ks
        The k of the study.
    """
    rows: list[dict[str, object]] = []
    names = list(SCORES)
    for one in outcomes:
        about = {"trained_in": one.fit.representation, "seed": one.fit.seed, "dead": one.dead}
        own = dict(zip(names, one.before.tolist(), strict=True))
        rows.append({**about, "k": None, "validated_in": one.fit.representation, **own})
        for place, k in enumerate(ks):
            for at, name in enumerate(REPRESENTATIONS):
                found = dict(zip(names, one.scores[place, at].tolist(), strict=True))
                rows.append({**about, "k": k, "validated_in": name, **found})
    columns = ["trained_in", "seed", "dead", "k", "validated_in", *names]
    return pd.DataFrame(rows, columns=columns).astype({"k": "Int64"})


class Band(NamedTuple):
    """The mean score over seeds, and how far they scatter.

    Attributes
    ----------
    mean, deviation : numpy.ndarray, shape (K,)
        Per k; the deviation is that of a sample (n − 1), not a number for a single seed.
    fits
        How many classifiers were counted.
    """

    mean: np.ndarray
    deviation: np.ndarray
    fits: int


def bands(
    outcomes: Iterable[Outcome], score: str, trained_in: str, live: bool = False
) -> dict[str, Band]:
    """Per representation validated in, the mean and deviation of a score at every k.

    Parameters
    ----------
    outcomes
        What came of the fits of a study.
    score
        One of :data:`kanon.learning.scores.SCORES`.
    trained_in
        Only those trained in this representation count.
    live
        Leave out those that came out dead.

    Returns
    -------
    dict
        Empty if none counts.
    """
    at = list(SCORES).index(score)
    counting = [
        one.scores[:, :, at]
        for one in outcomes
        if one.fit.representation == trained_in and not (live and one.dead)
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
