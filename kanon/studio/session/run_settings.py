"""What guides a run, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kanon.charts.layout import Layout
from kanon.metrics import PUBLISHED
from kanon.plan import MetricPlan
from kanon.privacy.model import SensitiveModel
from kanon.strategies import Scope


@dataclass(frozen=True, eq=False)
class RunSettings:
    """What guides a run."""

    # By their names in a plan; see :attr:`~kanon.studio.session.work.Work.strategy_used`.
    algorithm: str = "gaa"
    metric: str = "nllm"
    strategy: str = "s1"
    scope: Scope = "table"
    cost: Literal["weighted", "representatives"] = "weighted"
    tie_seed: int | None = None
    k: int = 5
    # What was chosen for the own parameters of each algorithm; the share of the records that may be
    # suppressed, None for what the algorithm does by itself; whether their rows stay, blanked; the
    # order in which rows leave, by its name in a plan; what algorithms that draw at random begin
    # with; the level of each quasi-identifier that the user picked, None without.
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suppression: float | None = None
    keep_suppressed: bool = False
    row_order: Literal["released", "table"] = "released"
    seed: int = 0
    node: Mapping[str, int] | None = None
    # The sensitive column that strategies and numbers look at; see
    # :attr:`~kanon.studio.session.work.Work.focus`.
    sensitive: str | None = None
    models: tuple[SensitiveModel, ...] = ()  # What every class has to meet beside k
    # The metrics composed by the user, by name.
    composed: Mapping[str, MetricPlan] = field(default_factory=dict)
    # How much more it hurts to lose a column; 1 where nothing is said.
    attribute_weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CompareSettings:
    """What is compared, and what is shown of it."""

    # The metrics to compare, the algorithms (none: the one that is chosen), the strategies and
    # whose l and t they look at; and whether under several tie seeds each.
    compared: tuple[str, ...] = PUBLISHED
    algorithms: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ("s1",)
    scopes: tuple[Scope, ...] = ("table",)
    bands: bool = False
    # Whether percentages are ranked rounded; the k from and to which areas are taken, None for one
    # that fits; and which k count, a name in ``K_PRESETS``.
    rounded: bool = False
    interval: tuple[int, int] | None = None
    counted_k: str = "fourteen"
    # Which table of a comparison is shown, and the names of the two lines whose difference is.
    table_shown: Literal[
        "areas", "places", "alterations", "closeness", "difference", "searches"
    ] = "areas"
    pair: tuple[str, str] = ("", "")
    # What stands on the board; None for what fits the comparison. What is seen larger below it: the
    # measures of the small multiples and of the scatter.
    layout: Layout | None = None
    larger: tuple[str, str] = ("mean_alteration", "l_percent")
