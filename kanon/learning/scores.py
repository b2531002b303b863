"""How well predictions fit the labels of the records that validate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kanon.cards import Card
from kanon.learning.labels import Pairs

__all__ = ["SCORES", "by_chance", "default_score", "scores"]

SCORES: Mapping[str, Card] = {
    card.name: card
    for card in (
        Card(
            "auc", "AUC",
            "How often a record with the label is given a higher score than one without it: the "
            "area under the ROC curve; with more than two labels, the mean over them, one against "
            "the rest.",
            "Viton, Mauger, Dequen, Guérin, Le Mahec 2021; Hand, Till 2001", "", "higher",
            "0.5: as good as tossing a coin (below it, worse)", "1: every pair is told apart",
        ),
        Card(
            "accuracy", "Accuracy",
            "The share of the records whose label is predicted.",
            "Viton, Mauger, Dequen, Guérin, Le Mahec 2021", "", "higher",
            "0: every prediction is wrong", "1: every prediction is right",
        ),
        Card(
            "f1", "F1",
            "The harmonic mean of how many predictions of a label are right and how many of its "
            "records are found: of the rarer of two labels; with more, the mean over them.",
            "van Rijsbergen 1979", "", "higher",
            "0: no record of the label is found", "1: all are found, and nothing else",
        ),
    )
}  # fmt: skip
"""What predictions can be scored by."""


def default_score(n_labels: int) -> str:
    """AUC for two labels, accuracy for more, as published.

    >>> default_score(2), default_score(3)
    ('auc', 'accuracy')
    """
    return "auc" if n_labels == 2 else "accuracy"


def by_chance(score: str, pairs: Pairs) -> float:
    """What who knows nothing of a record reaches: 0.5 in AUC, the most frequent label's share.

    Not a number for F1, where that depends on what is guessed.

    >>> pairs = Pairs(np.array([0, 0]), np.array([0, 1]), np.array([30, 70]))
    >>> by_chance("accuracy", pairs), by_chance("auc", pairs)
    (0.7, 0.5)
    """
    if score == "auc":
        return 0.5
    if score == "f1" or not len(pairs.records):
        return float("nan")
    return float(np.bincount(pairs.label, pairs.records).max() / pairs.records.sum())


def scores(chances: np.ndarray, pairs: Pairs, positive: int) -> dict[str, float]:
    """Every score of some predictions, by name.

    Parameters
    ----------
    chances : numpy.ndarray, shape (R, L)
        Per class and label how likely the label is held to be; the likeliest one is predicted,
        among equals the first.
    pairs
        The records to predict, by class and label.
    positive
        With two labels the position of the one that is looked for.

    Returns
    -------
    dict
        Each in [0, 1]; not a number where nothing can be said: without records, AUC of records with
        one label, F1 of a label that no record has and none is predicted to have.

    Examples
    --------
    Two classes of two records: the first is thought to have label 1, and one of its records has.

    >>> both = Pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 2]))
    >>> scores(np.array([[0.2, 0.8], [0.9, 0.1]]), both, positive=1)
    {'auc': 0.8333333333333334, 'accuracy': 0.75, 'f1': 0.6666666666666666}
    """
    if not len(pairs.records):
        return dict.fromkeys(SCORES, float("nan"))
    size = chances.shape[1]
    wanted = range(size) if size > 2 else [positive]
    found = chances[pairs.group]
    weight = pairs.records.astype(float)
    guess = found.argmax(axis=1)
    right = guess == pairs.label
    areas, means = [], []
    for label in wanted:
        has = pairs.label == label
        if has.any() and not has.all():
            areas.append(_area(found[:, label], has, pairs.records))
        both = float(weight[right & has].sum())
        either = float(weight[has].sum() + weight[guess == label].sum())
        if either:
            means.append(2 * both / either)
    return {
        "auc": float(np.mean(areas)) if areas else float("nan"),
        "accuracy": float(weight[right].sum() / weight.sum()),
        "f1": float(np.mean(means)) if means else float("nan"),
    }


def _area(score: np.ndarray, has: np.ndarray, count: np.ndarray) -> float:
    """The area under the ROC curve of weighted records; of equal scores a half counts.

    In whole numbers up to the last division, so that the order of the records does not matter.
    """
    levels, place = np.unique(score, return_inverse=True)
    with_it = np.zeros(len(levels), dtype=np.int64)
    without = np.zeros(len(levels), dtype=np.int64)
    np.add.at(with_it, place[has], count[has])
    np.add.at(without, place[~has], count[~has])
    below = np.cumsum(without) - without
    twice = int((with_it * (2 * below + without)).sum())
    return twice / (2 * int(with_it.sum()) * int(without.sum()))
