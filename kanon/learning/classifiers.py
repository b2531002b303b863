"""The classifiers of scikit-learn that can be trained, and their training on classes."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from kanon.cards import Card, read_cards
from kanon.learning.labels import Pairs
from kanon.learning.representations import Matrix

_NEIGHBOURS = 25
_LEAST_LEAF = 0.001

_DIGITS = 6  # further digits depend on how a processor adds up


@dataclass(frozen=True)
class Classifier:
    """A classifier and how it is trained."""

    card: Card
    make: Callable[[int, int], Any]  # a fresh estimator, by a seed and the number of records
    # whether it gets every different row once, weighted by the number of records, from which it
    # learns exactly the same; the others get every record, shuffled by the seed
    weighted: bool = False
    seeded: bool = True  # whether the seed changes what it learns


# scikit-learn takes a second to load, so it is loaded only for training.
def _load_model(module: str, name: str, **settings: float | bool) -> Callable[[int, int], Any]:
    def make(seed: int, records: int) -> Any:
        return getattr(import_module(f"sklearn.{module}"), name)(random_state=seed, **settings)

    return make


def _build_network(seed: int, records: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=(5, 2), activation="relu", solver="adam", learning_rate_init=1e-3,
        batch_size=min(200, records), n_iter_no_change=10, max_iter=500, random_state=seed,
    )  # fmt: skip


def _build_neighbours(seed: int, records: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=min(_NEIGHBOURS, records), algorithm="brute")


_CARDS = read_cards(__file__)

CLASSIFIERS: Mapping[str, Classifier] = {
    "mlp": Classifier(_CARDS["mlp"], _build_network),
    "logistic-regression": Classifier(
        _CARDS["logistic-regression"],
        _load_model("linear_model", "LogisticRegression", max_iter=1000),
        weighted=True,
        seeded=False,
    ),
    "decision-tree": Classifier(
        _CARDS["decision-tree"],
        _load_model("tree", "DecisionTreeClassifier", min_weight_fraction_leaf=_LEAST_LEAF),
        weighted=True,
    ),
    "random-forest": Classifier(
        _CARDS["random-forest"],
        _load_model("ensemble", "RandomForestClassifier", min_weight_fraction_leaf=_LEAST_LEAF),
    ),
    "gradient-boosting": Classifier(
        _CARDS["gradient-boosting"],
        _load_model("ensemble", "HistGradientBoostingClassifier", early_stopping=False),
        seeded=False,
    ),
    "nearest-neighbours": Classifier(_CARDS["nearest-neighbours"], _build_neighbours),
}
"""Every classifier by name, the published one first."""


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A trained classifier, which predicts the labels of rows of classes."""

    estimator: Any  # as scikit-learn trained it
    known: np.ndarray  # the labels of its training, by position, in the estimator's order
    n_labels: int  # L

    def chances(self, matrix: Matrix) -> np.ndarray:
        """The predicted probability of each label per row. Shape (R, L); each row sums to 1."""
        rows = matrix.rows.shape[0]
        chances = np.zeros((rows, self.n_labels))
        if self.estimator is None:
            chances[:, self.known] = 1.0
            return chances
        every = np.arange(rows)
        start = 0
        for part in matrix.batches(every):
            chances[start : start + len(part), self.known] = self.estimator.predict_proba(part)
            start += len(part)
        rounded_chances: np.ndarray = np.round(chances, _DIGITS)
        return rounded_chances


def fit(name: str, matrix: Matrix, training: Pairs, n_labels: int, seed: int) -> FittedClassifier:
    """Train a classifier, by its name in :data:`CLASSIFIERS`, on the rows of classes."""
    labels = np.unique(training.label)
    if len(labels) == 1:
        return FittedClassifier(None, labels, n_labels)
    classifier = CLASSIFIERS[name]
    records = int(training.records.sum())
    estimator = classifier.make(seed, records)
    rows = matrix.dense()
    with warnings.catch_warnings():
        # The number of rounds is fixed, converged or not.
        warnings.filterwarnings("ignore", message=".*(?:converge|iterations).*")
        if classifier.weighted:
            weight = training.records.astype(float)
            estimator.fit(rows[training.group], training.label, sample_weight=weight)
        else:
            # Order matters for equally near records and within batches.
            order = np.random.default_rng(seed).permutation(records)
            of_record = np.repeat(training.group, training.records)[order]
            label = np.repeat(training.label, training.records)[order]
            estimator.fit(rows[of_record], label)
    return FittedClassifier(estimator, labels, n_labels)
