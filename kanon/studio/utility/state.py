"""What the Utility page shows."""

from dataclasses import dataclass
from typing import Literal

from kanon.experiments.comparison import PAPER_K
from kanon.learning.experiments import FIRST_SEEDS, Trained
from kanon.learning.labels import TRAINING_SHARE
from kanon.studio.session.parts import StateSection

UtilityPart = Literal["changed", "matrix", "learning", "predicting"]

_KS = ", ".join(map(str, PAPER_K))


@dataclass(frozen=True)
class LearningView(StateSection):
    target: str | None = None  # the column to predict; None for one that fits
    trained: Trained = "original"  # the training table: the original, or the release for k = 100
    classifier: str = "mlp"
    score: str = ""  # empty for the one that fits the number of labels
    share: float = TRAINING_SHARE  # the share of records for training
    seeds: int = FIRST_SEEDS  # the number of classifiers, each trained from a different start
    ks: str = _KS  # as typed
    live: bool = True  # whether dead classifiers are left out


@dataclass(frozen=True)
class PredictingView(StateSection):
    algorithms: tuple[str, ...] = ("gaa", "mondrian", "optimal", "lattice-sweep")
    classifiers: tuple[str, ...] = (
        "logistic-regression",
        "decision-tree",
        "random-forest",
        "nearest-neighbours",
    )
    representation: str = "fillParent"  # of the releases
    ks: str = _KS  # as typed
    measure: str = ""  # on one axis of the scatter; empty for the best
    classifier: str = ""  # on the other axis; empty for the first


@dataclass(frozen=True)
class UtilityView(StateSection):
    part: UtilityPart = "changed"
    attribute: str = ""  # the column whose distribution is large; empty for the most changed
    representation: str = "oneClass"
