"""Train a classifier on the rows of classes, and let it predict rows of classes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon.learning.classifiers import CLASSIFIERS
from kanon.learning.labels import Pairs
from kanon.learning.representations import Matrix

_DIGITS = 6  # what differs less is equal: the last digits depend on how a processor adds up


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    estimator: Any  # as scikit-learn trained it
    known: np.ndarray  # the labels that it has met, by position, in the estimator's order
    n_labels: int  # L

    def chances(self, matrix: Matrix) -> np.ndarray:
        """How likely each label is held to be, per row. Shape (R, L); each row sums to 1."""
        rows = matrix.rows.shape[0]
        found = np.zeros((rows, self.n_labels))
        if self.estimator is None:
            found[:, self.known] = 1.0
            return found
        every = np.arange(rows)
        start = 0
        for part in matrix.batches(every):
            found[start : start + len(part), self.known] = self.estimator.predict_proba(part)
            start += len(part)
        rounded: np.ndarray = np.round(found, _DIGITS)
        return rounded


def fit(name: str, matrix: Matrix, training: Pairs, n_labels: int, seed: int) -> FittedClassifier:
    known = np.unique(training.label)
    if len(known) == 1:
        return FittedClassifier(None, known, n_labels)
    classifier = CLASSIFIERS[name]
    records = int(training.records.sum())
    estimator = classifier.make(seed, records)
    rows = matrix.dense()
    with warnings.catch_warnings():
        # It has not converged after the rounds it was given: those are what was asked for.
        warnings.filterwarnings("ignore", message=".*(?:converge|iterations).*")
        if classifier.weighted:
            weight = training.records.astype(float)
            estimator.fit(rows[training.group], training.label, sample_weight=weight)
        else:
            # Among records that are equally near, or in one batch, the order decides.
            order = np.random.default_rng(seed).permutation(records)
            of_record = np.repeat(training.group, training.records)[order]
            label = np.repeat(training.label, training.records)[order]
            estimator.fit(rows[of_record], label)
    return FittedClassifier(estimator, known, n_labels)
