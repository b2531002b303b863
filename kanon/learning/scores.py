"""How well predictions fit the labels of the records that validate."""

from collections.abc import Mapping

import numpy as np

from kanon.cards import Card
from kanon.learning.labels import Pairs

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
    from sklearn.metrics import f1_score, roc_auc_score  # slow to import

    size, weight = chances.shape[1], pairs.records
    wanted = list(range(size)) if size > 2 else [positive]
    found = chances[pairs.group]
    predicted = found.argmax(axis=1)
    has = {label: pairs.label == label for label in wanted}
    areas = [
        roc_auc_score(has[label], found[:, label], sample_weight=weight)
        for label in wanted
        if has[label].any() and not has[label].all()
    ]
    f1 = f1_score(
        pairs.label,
        predicted,
        labels=wanted,
        average="macro",
        sample_weight=weight,
        zero_division=np.nan,
    )
    return {
        "auc": float(np.mean(areas)) if areas else float("nan"),
        "accuracy": float(weight[predicted == pairs.label].sum() / weight.sum()),
        "f1": float(f1),
    }
