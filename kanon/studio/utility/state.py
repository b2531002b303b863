"""What the page Utility shows, and what a session has learnt so far."""

from dataclasses import dataclass
from typing import Literal

from kanon.experiments.comparison import PAPER_K
from kanon.learning.experiments import FIRST_SEEDS, Trained
from kanon.learning.labels import TRAINING_SHARE
from kanon.studio.session.parts import SessionPart

UtilityPart = Literal["changed", "matrix", "learning", "predicting"]

_KS = ", ".join(map(str, PAPER_K))


@dataclass(frozen=True)
class LearningView:
    target: str | None = None  # the column to be predicted; None for one that fits
    trained: Trained = "original"  # on the original table, or on the release for k = 100
    classifier: str = "mlp"
    score: str = ""  # empty for the one that fits the number of labels
    share: float = TRAINING_SHARE  # the share of the records that train
    seeds: int = FIRST_SEEDS  # how many classifiers are trained, each from another start
    ks: str = _KS  # as they were typed
    live: bool = True  # whether dead classifiers are left out


@dataclass(frozen=True)
class PredictingView:
    algorithms: tuple[str, ...] = ("gaa", "mondrian", "optimal", "lattice-sweep")
    classifiers: tuple[str, ...] = (
        "logistic-regression",
        "decision-tree",
        "random-forest",
        "nearest-neighbours",
    )
    representation: str = "fillParent"  # what releases are represented by
    ks: str = _KS  # as they were typed
    measure: str = ""  # on one axis of the scatter; empty for the best
    classifier: str = ""  # on the other axis; empty for the first


@dataclass(frozen=True)
class UtilityView(SessionPart):
    part: UtilityPart = "changed"
    attribute: str = ""  # whose distribution is shown; empty for the one that changed most
    representation: str = "oneClass"
    learning: LearningView = LearningView()
    predicting: PredictingView = PredictingView()
