"""The parts that the state of a session is made of. Nothing here knows Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pandas as pd

from kanon.base.formatting import thin
from kanon.charts.layout import Layout
from kanon.errors import PlanError
from kanon.metrics import PUBLISHED
from kanon.plan import MetricPlan
from kanon.privacy.model import SensitiveModel
from kanon.release.context import Context
from kanon.report.origin import Origin
from kanon.report.words import LONGEST, TERMS, Words, parse_words
from kanon.sources.reading import TableFile
from kanon.strategies import Scope

TEXT_TITLES: Mapping[str, str] = {"title": "Title", **TERMS}  # what each text is called on the page


@dataclass(frozen=True, eq=False)
class SessionPart:
    """A part of the state of a session: of each class a session has one, and only replaces it."""

    # What the controls of its fields are called, of those that something may depend on.
    LABELS: ClassVar[Mapping[str, str]] = {}

    def for_another_table(self) -> SessionPart | None:
        """What stays of it when another table is opened; None if it begins anew."""
        return None

    def read_again(self) -> SessionPart:
        return self


@dataclass(frozen=True, eq=False)
class Message(SessionPart):
    """The last thing that went wrong or happened, until something else is tried."""

    problem: str | None = None  # A sentence each
    notice: str | None = None
    # Beside which control it went wrong, where that one hides what is said above it.
    problem_at: str = ""


@dataclass(frozen=True, eq=False)
class SharedView(SessionPart):
    # The column that the pages on hierarchies and metrics look at; see :attr:`Work.looked_at`.
    column: str | None = None
    # How its hierarchy is shown, and whose weights stand on the edges: a metric's name, the drawn
    # ones, or none.
    tree_view: Literal["tree", "levels", "edges"] = "tree"
    shown: str = ""
    uploads: int = 0  # How often files were uploaded, so that their field is empty again
    started: bool = False  # Whether the first run was started by itself
    tour: int = 0  # The step of the guided tour that is shown; 0 without one


@dataclass(frozen=True, eq=False)
class RunSettings(SessionPart):
    LABELS: ClassVar[Mapping[str, str]] = {
        "algorithm": "Algorithm",
        "metric": "Metric",
        "strategy": "Strategy",
        "scope": "Whose l, t or k strategies look at",
        "sensitive": "Sensitive column",
        "cost": "A merge counts",
        "tie_seed": "Tie seed",
        "seed": "Seed",
        "options": "Details of the algorithm",
        "node": "Levels",
        "suppression": "Suppress at most, %",
        "keep_suppressed": "Keep the rows of suppressed records, blanked",
        "row_order": "Keep the table's order of rows",
        "models": "Also require",
        "k": "k",
        "attribute_weights": "How much does losing a column hurt?",
        "composed": "Metrics of your own",
    }

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
class CompareSettings(SessionPart):
    LABELS: ClassVar[Mapping[str, str]] = {
        "compared": "Metrics",
        "algorithms": "Algorithms",
        "strategies": "Strategies",
        "scopes": "Whose l, t or k strategies look at",
        "bands": "Show what ties decide",
    }

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


@dataclass(frozen=True, eq=False)
class Purpose(SessionPart):
    """What the release is for, whom its risk is measured by, and what a report says of it."""

    LABELS: ClassVar[Mapping[str, str]] = {
        "context": "What is it for?",
        "population_origin": "A table of the population",
    }

    # What is asked of the release by what it is for.
    context: Context = field(default_factory=lambda: Context(release="public"))
    # The table of the population that was uploaded, never written anywhere; and the fingerprint of
    # its file.
    population: TableFile | None = None
    population_origin: Origin | None = None
    # What was typed for a report, by the names of :class:`kanon.report.words.Words`; too long a
    # text stays as it is, so that it can be shortened.
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def people_counted(self) -> pd.DataFrame | None:
        """The population that counts: that of the page Privacy, unless the attacker knows."""
        if self.context.attacker == "prosecutor" or self.population is None:
            return None
        return self.population.table

    def words(self) -> Words:
        for name, text in self.texts.items():
            if len(text) > LONGEST:
                raise PlanError(
                    f"{TEXT_TITLES[name]} has {thin(len(text))} characters; a report takes up to "
                    f"{thin(LONGEST)}, so shorten it."
                )
        return parse_words(dict(self.texts), "The report")
