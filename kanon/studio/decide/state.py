"""What the Decide page shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kanon.experiments.advisor.weights import DEFAULT_WEIGHTS
from kanon.measures.alteration import CARD
from kanon.privacy.model import SensitiveModel
from kanon.strategies import Scope
from kanon.studio.session.changed_settings import SettingsChange
from kanon.studio.session.parts import StateSection

DecidePart = Literal["purpose", "settings", "reverse", "study"]


@dataclass(frozen=True)
class AdviceView(StateSection):
    low: int | None = None  # the k; None for the k of the settings
    high: int | None = None  # the end of a range of k; None for no range
    # how much each concern matters, 0 to 10
    weights: Mapping[str, int] = field(
        default_factory=lambda: {
            name: round(5 * weight) for name, weight in DEFAULT_WEIGHTS.items()
        }
    )
    # whether configurations that meet part 1 come first
    limited: bool = True
    # the axis against the alteration; None for the one with the widest spread
    concern: Literal["l", "t"] | None = None


@dataclass(frozen=True)
class SimulatedView(StateSection):
    scope: Scope = "table"  # where strategies measure l and t
    criterion: str = CARD.name  # what the table ranks by
    uploads: int = 0  # how often a study file was loaded, so that its field is empty again


@dataclass(frozen=True)
class DecideView(StateSection):
    part: DecidePart = "purpose"
    uploads: int = 0  # how often a context file was loaded, so that its field is empty again
    given: SensitiveModel | None = None  # the model of the greatest k; None for the usual one
    most: int = 20  # the alteration, in percent, that the greatest k may cost
    # the last change of settings by each part, while it can be undone
    taken: Mapping[DecidePart, SettingsChange] = field(default_factory=dict)

    LABELS: ClassVar[Mapping[str, str]] = {"given": "Required model"}
