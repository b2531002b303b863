"""What the page Utility shows, and what a session has learnt so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kanon.experiments.comparison import PAPER_K
from kanon.learning.experiments import FIRST_SEEDS, Trained
from kanon.learning.labels import TRAINING_SHARE

UtilityPart = Literal["changed", "matrix", "learning", "predicting"]

_KS = ", ".join(map(str, PAPER_K))


@dataclass(frozen=True)
class LearningView:
    """How a classifier is trained and scored over k.

    Attributes
    ----------
    target
        The column to be predicted; None for one that fits.
    trained
        On which table: the original, or the release for k = 100.
    classifier, score
        Their names; an empty score for what fits the number of labels.
    share
        The share of the records that train.
    seeds
        How many classifiers are trained, each from another beginning.
    ks
        The k as they were typed.
    live
        Whether those that came out dead are left out.
    """

    target: str | None = None
    trained: Trained = "original"
    classifier: str = "mlp"
    score: str = ""
    share: float = TRAINING_SHARE
    seeds: int = FIRST_SEEDS
    ks: str = _KS
    live: bool = True


@dataclass(frozen=True)
class PredictingView:
    """Which releases are measured and learnt from, and what is looked at.

    Attributes
    ----------
    algorithms, classifiers
        Their names.
    representation
        What releases are represented by.
    ks
        The k as they were typed.
    measure, classifier
        What stands on the axes of the scatter; empty for the best and the first.
    """

    algorithms: tuple[str, ...] = ("gaa", "mondrian", "optimal", "lattice-sweep")
    classifiers: tuple[str, ...] = (
        "logistic-regression",
        "decision-tree",
        "random-forest",
        "nearest-neighbours",
    )
    representation: str = "fillParent"
    ks: str = _KS
    measure: str = ""
    classifier: str = ""


@dataclass(frozen=True)
class UtilityView:
    """What is shown.

    Attributes
    ----------
    part
        Which part of the page is open.
    attribute
        The column whose distribution is looked at; empty for the one that changed most.
    representation
        The name of the representation that is looked at.
    learning, predicting
        What the other two parts show.
    """

    part: UtilityPart = "changed"
    attribute: str = ""
    representation: str = "oneClass"
    learning: LearningView = LearningView()
    predicting: PredictingView = PredictingView()
