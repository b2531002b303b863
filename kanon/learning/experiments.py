"""The published experiments: train on one table, validate on releases of it."""

from collections.abc import Callable, Iterable, Sequence
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
    representation: str  # that of its training table
    seed: int  # of its random numbers


@dataclass(frozen=True, eq=False)
class Outcome:
    """The predictions of one trained classifier."""

    fit: Fit
    # per k of the study, representation and score, in the order of :data:`REPRESENTATIONS` and
    # :data:`SCORES`
    scores: np.ndarray
    before: np.ndarray  # the scores on the validation records of its training table
    # whether it gives all those records the same answer, as a network without active units does
    dead: bool


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
    progress: Progress,
    labels: LabelledRecords,
    classifier: str,
    trained_on: EquivalenceClasses | Recoding,
    releases: Sequence[Recoding],
    fits: Sequence[Fit],
    keep: Callable[[Outcome], None],
) -> None:
    """Train classifiers on the original table or on a release, and validate on every release.

    A record trains or validates, never both, in whatever table. Releases are made of all records.
    Suppressed records have no row, so they are in neither part. ``keep`` receives each outcome as
    soon as it is known, so that none is lost when others fail.

    Source: Viton, Mauger, Dequen, Guérin, Le Mahec 2021.
    """

    def compute_scores(chances: np.ndarray, pairs: Pairs) -> list[float]:
        return [*scores(chances, pairs, labels.positive).values()]

    inputs = []
    for recoding in releases:
        matrices = [represent(name, recoding) for name in REPRESENTATIONS]
        inputs.append((labels.released(recoding)[1], matrices))
    for place, task in enumerate(fits):
        title = REPRESENTATIONS[task.representation].title
        progress(place / len(fits), f"fit {place + 1} of {len(fits)}, {title}, seed {task.seed}")
        matrix, training, validation = _get_training_data(labels, trained_on, task.representation)
        if not len(training.records):  # all of them were suppressed
            nothing = np.full((len(inputs), len(REPRESENTATIONS), len(SCORES)), np.nan)
            keep(Outcome(task, nothing, np.full(len(SCORES), np.nan), dead=True))
            continue
        model = fit(classifier, matrix, training, len(labels.labels), task.seed)
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


def _get_training_data(
    labels: LabelledRecords, trained_on: EquivalenceClasses | Recoding, name: str
) -> tuple[Matrix, Pairs, Pairs]:
    if isinstance(trained_on, EquivalenceClasses):
        return represent_original(trained_on, name), labels.training, labels.validation
    return represent(name, trained_on), *labels.released(trained_on)


def outcomes_table(ks: Sequence[int], outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """All scores: a row per classifier, k and representation of the validation.

    Columns ``trained_in, seed, dead, k, validated_in, auc, accuracy, f1``. A row without k is of
    the training table of the classifier.
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
    """The mean score per k over seeds, and its deviation."""

    mean: np.ndarray
    deviation: np.ndarray  # that of a sample (n − 1), NaN for a single seed
    fits: int  # the number of classifiers


def bands(
    outcomes: Iterable[Outcome], score: str, trained_in: str, live: bool = False
) -> dict[str, Band]:
    """A score at every k by the representation of the validation; empty without classifiers.

    Only those trained in one representation count, without dead ones if ``live``.
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
