"""The classifiers that can be trained, as scikit-learn has them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kanon.cards import Card

_NEIGHBOURS = 25
_LEAST_LEAF = 0.001


@dataclass(frozen=True)
class Classifier:
    """A classifier and how it is trained.

    Attributes
    ----------
    card
        What it is.
    make
        A fresh estimator for a seed and a number of records to train on.
    weighted
        Whether it is given every different row once, with the number of records as its weight.
        It then learns exactly what it would from the records themselves; the others are given
        every record, shuffled by the seed.
    seeded
        Whether the seed changes what it learns.
    """

    card: Card
    make: Callable[[int, int], Any]
    weighted: bool = False
    seeded: bool = True


# scikit-learn takes a second to load: only who trains something waits for it.
def _network(seed: int, records: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=(5, 2), activation="relu", solver="adam", learning_rate_init=1e-3,
        batch_size=min(200, records), n_iter_no_change=10, max_iter=500, random_state=seed,
    )  # fmt: skip


def _regression(seed: int, records: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _tree(seed: int, records: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_weight_fraction_leaf=_LEAST_LEAF, random_state=seed)


def _forest(seed: int, records: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(min_weight_fraction_leaf=_LEAST_LEAF, random_state=seed)


def _boosting(seed: int, records: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed)


def _neighbours(seed: int, records: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=min(_NEIGHBOURS, records), algorithm="brute")


CLASSIFIERS: Mapping[str, Classifier] = {
    one.card.name: one
    for one in (
        Classifier(
            Card(
                "mlp", "Neural network",
                "A small network with two hidden layers of 5 and 2 units: the published one.",
                "Viton, Mauger, Dequen, Guérin, Le Mahec 2021; scikit-learn, MLPClassifier",
            ),
            _network,
        ),
        Classifier(
            Card(
                "logistic-regression", "Logistic regression",
                "Every column of the matrix adds or takes away a fixed amount of the odds.",
                "scikit-learn, LogisticRegression",
            ),
            _regression, weighted=True, seeded=False,
        ),
        Classifier(
            Card(
                "decision-tree", "Decision tree",
                "Yes-or-no questions, one after the other; every answer keeps at least 0.1 % of "
                "the records.",
                "scikit-learn, DecisionTreeClassifier",
            ),
            _tree, weighted=True,
        ),
        Classifier(
            Card(
                "random-forest", "Random forest",
                "The mean of a hundred decision trees, each grown on a random part of the records.",
                "scikit-learn, RandomForestClassifier",
            ),
            _forest,
        ),
        Classifier(
            Card(
                "gradient-boosting", "Gradient boosting",
                "Up to a hundred small trees, each mending what those before it got wrong.",
                "scikit-learn, HistGradientBoostingClassifier",
            ),
            _boosting, seeded=False,
        ),
        Classifier(
            Card(
                "nearest-neighbours", "Nearest neighbours",
                f"What is most frequent among the {_NEIGHBOURS} training records most alike.",
                "scikit-learn, KNeighborsClassifier",
            ),
            _neighbours,
        ),
    )
}  # fmt: skip
"""Every classifier by name, the published one first."""
