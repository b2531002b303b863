"""How well predictions fit the labels of the validation records."""

from collections.abc import Mapping

import numpy as np

from kanon.cards import Card, read_cards
from kanon.learning.labels import Pairs

SCORES: Mapping[str, Card] = read_cards(__file__)
"""The scores of predictions."""


def default_score(n_labels: int) -> str:
    """AUC for two labels, accuracy for more, as published.

    >>> default_score(2), default_score(3)
    ('auc', 'accuracy')
    """
    return "auc" if n_labels == 2 else "accuracy"


def by_chance(score: str, pairs: Pairs) -> float:
    """The score of a guess without knowledge: 0.5 in AUC, the most frequent label's share.

    NaN for F1, where it depends on the guess.

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
    """All scores of predictions, by name.

    Two classes of two records: the first is predicted to have label 1, and one of its records has.

    >>> both = Pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 2]))
    >>> scores(np.array([[0.2, 0.8], [0.9, 0.1]]), both, positive=1)
    {'auc': 0.8333333333333334, 'accuracy': 0.75, 'f1': 0.6666666666666666}

    Parameters
    ----------
    chances : numpy.ndarray, shape (R, L)
        The predicted probability per class and label; the likeliest label is predicted, the first
        among equals.
    positive
        With two labels, the position of the one to find.

    Returns
    -------
    dict
        Each in [0, 1]; NaN where it is undefined: without records, AUC of records with one label,
        F1 of a label that no record has and that is never predicted.
    """
    if not len(pairs.records):
        return dict.fromkeys(SCORES, float("nan"))
    from sklearn.metrics import f1_score, roc_auc_score  # slow to import

    size, weight = chances.shape[1], pairs.records
    labels = list(range(size)) if size > 2 else [positive]
    predictions = chances[pairs.group]
    predicted_label = predictions.argmax(axis=1)
    is_label = {label: pairs.label == label for label in labels}
    areas = [
        roc_auc_score(is_label[label], predictions[:, label], sample_weight=weight)
        for label in labels
        if is_label[label].any() and not is_label[label].all()
    ]
    f1 = f1_score(
        pairs.label,
        predicted_label,
        labels=labels,
        average="macro",
        sample_weight=weight,
        zero_division=np.nan,
    )
    return {
        "auc": float(np.mean(areas)) if areas else float("nan"),
        "accuracy": float(weight[predicted_label == pairs.label].sum() / weight.sum()),
        "f1": float(f1),
    }
