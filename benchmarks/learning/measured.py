"""The published experiments and the agreements, on Adult and on the voters sample."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmarks.plans import adult_path, adult_with_sensitive, voters
from kanon.base.progress import ignore_progress
from kanon.experiments.comparison import PAPER_K
from kanon.experiments.studies import (
    LearntScores,
    Prediction,
    ReleaseMeasures,
    StudiedAlgorithm,
    Training,
    build_points_table,
    create_experiment,
    get_target_labels,
    run_experiment,
    run_prediction,
)
from kanon.learning.experiments import FIRST_SEEDS, Outcome, fits_of
from kanon.learning.scores import by_chance, default_score
from kanon.metrics import PUBLISHED, metric_named
from kanon.run import PreparedRun
from kanon.sources.opening import open_table

__all__ = [
    "ALGORITHMS",
    "CLASSIFIERS",
    "METRIC",
    "REPRESENTATION",
    "TABLES",
    "Findings",
    "Lesson",
    "measure",
]

METRIC = "nllm"
ALGORITHMS = ("gaa", "optimal", "mondrian", "k-member", "lattice-sweep")
CLASSIFIERS = ("logistic-regression", "decision-tree", "random-forest", "nearest-neighbours")
REPRESENTATION = "fillParent"
TABLES: Mapping[str, str] = {"adult": "salary-class", "voters": "party"}
"""The target per table."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What came of an experiment.

    Attributes
    ----------
    outcomes
        Per network its scores.
    ks
        The k.
    score
        What the table's target is scored by.
    labels
        The number of labels.
    most_frequent
        The share of the most frequent label among the records that validate.
    training, validation
        The number of records of either part.
    seconds
        The processor's time that it took, releases and all.
    """

    outcomes: tuple[Outcome, ...]
    ks: tuple[int, ...]
    score: str
    labels: int
    most_frequent: float
    training: int
    validation: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured.

    Attributes
    ----------
    lessons
        Per table and experiment (``original`` or ``release``) what came of it.
    points
        Per table a row per release; see :func:`kanon.experiments.studies.build_points_table`.
    seconds
        The processor's time that all of it took.
    records
        Per table its number of records.
    """

    lessons: Mapping[tuple[str, str], Lesson]
    points: Mapping[str, pd.DataFrame]
    seconds: float
    records: Mapping[str, int]


def prepared_table(name: str) -> PreparedRun:
    """A table with its target sensitive and all other columns quasi-identifiers.

    Raises
    ------
    CaseError
        Adult is missing.
    """
    if name == "voters":
        return voters(METRIC)
    return adult_with_sensitive(open_table(adult_path()).table, TABLES[name], METRIC, 2)


def lesson(name: str, trained: Any, seeds: int = FIRST_SEEDS) -> Lesson:
    """An experiment on a table, with the published network and the published k."""
    started = time.process_time()
    prepared = prepared_table(name)
    labels = get_target_labels(prepared, TABLES[name])
    experiment = create_experiment(prepared, PAPER_K, labels, "mlp", trained)
    results: list[Outcome] = []
    run_experiment(ignore_progress, experiment, fits_of(trained, "mlp", seeds), results.append)
    return Lesson(
        tuple(results),
        experiment.ks,
        default_score(len(labels.labels)),
        len(labels.labels),
        by_chance("accuracy", labels.validation),
        int(labels.training.records.sum()),
        int(labels.validation.records.sum()),
        time.process_time() - started,
    )


def points(name: str) -> pd.DataFrame:
    """Every release of a table measured by every measure and learnt from by every classifier."""
    prepared = prepared_table(name)
    labels = get_target_labels(prepared, TABLES[name])
    prediction = Prediction(
        tuple(StudiedAlgorithm(each, prepared.guided_by(name=each).task()) for each in ALGORITHMS),
        labels,
        prepared.source.build_column_histogram(TABLES[name]),
        tuple(metric_named(each) for each in PUBLISHED),
        REPRESENTATION,
    )
    ks = [k for k in PAPER_K if k <= prepared.classes.n_records]
    wanted = [
        Training(algorithm, k, classifier, 0)
        for algorithm in ALGORITHMS
        for k in ks
        for classifier in CLASSIFIERS
    ]
    results: list[ReleaseMeasures | LearntScores] = []
    run_prediction(ignore_progress, prediction, wanted, results.append)
    return build_points_table(results, default_score(len(labels.labels)))


def measure(workers: int = 1) -> Findings:
    """All experiments and agreements; the longest first, so many at once.

    Raises
    ------
    CaseError
        Adult is missing.
    """
    records = {name: prepared_table(name).classes.n_records for name in TABLES}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        agreed = {name: pool.submit(points, name) for name in reversed(TABLES)}
        wanted = [("adult", "release"), ("voters", "original"), ("adult", "original")]
        learnt = {key: pool.submit(lesson, *key) for key in wanted}
        lessons = {key: one.result() for key, one in learnt.items()}
        every = {name: agreed[name].result() for name in TABLES}
    spent = os.times()
    return Findings(lessons, every, spent.children_user + spent.children_system, records)
