"""The parts that the state of a session is made of. Nothing here knows Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pandas as pd

from kanon.base.fingerprint import fingerprint_of
from kanon.base.formatting import thin
from kanon.charts.layout import Layout
from kanon.errors import PlanError
from kanon.hierarchy import Hierarchy
from kanon.metrics import PUBLISHED
from kanon.plan import MetricPlan, Plan
from kanon.privacy.model import SensitiveModel
from kanon.release.common_classes import Release
from kanon.release.context import Context
from kanon.release.drift import Finding
from kanon.report.changes import ReportRecord
from kanon.report.origin import Origin
from kanon.report.words import LONGEST, TERMS, Words, parse_words
from kanon.run import Run
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
        "cost": "Count a merge as",
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


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """A release that was downloaded or written."""

    key: str  # A fingerprint of all that it depends on
    title: str  # What its files are called
    release: Release  # What it shows of each class
    counts: bool = True  # Whether somebody may have got it; not if the user says that nobody did
    # Its plan; the name of the file, what its fingerprint is of, and the fingerprint.
    plan: str = ""
    file: tuple[str, tuple[str, str]] | None = None

    @classmethod
    def of(cls, settings: str, title: str, run: Run) -> EarlierRelease:
        plan = run.prepared.plan
        key = fingerprint_of(settings, plan.privacy, plan.order)
        return cls(key, title, Release.of(run))


@dataclass(frozen=True, eq=False)
class NamedConfiguration:
    title: str  # Its name
    plan: Plan  # All that it is, and its hierarchies as they were then
    trees: Mapping[str, Hierarchy]
    shown: bool = True  # Whether it stands among the lines that are compared
    # What is new for it in the table, if that is another one than it was made for.
    findings: tuple[Finding, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it could be run on the table, for some k."""
        return all(finding.kind == "models" for finding in self.findings if finding.stops)


@dataclass(frozen=True, eq=False)
class Collection(SessionPart):
    """What stays while settings change: configurations under a name, and releases handed out."""

    # The configurations that were kept, and the one that was removed last.
    pinned: tuple[NamedConfiguration, ...] = ()
    unpinned: NamedConfiguration | None = None
    # Whose hierarchies all releases are measured by: empty for those in use, the name of a kept
    # configuration, None for each by its own.
    yardstick: str | None = ""
    # The releases of this table that were downloaded or written; and those that were made into
    # files of late and are not among them yet, the one list that is changed.
    handed: tuple[EarlierRelease, ...] = ()
    made: list[EarlierRelease] = field(default_factory=list)
    # What the reports said that were downloaded, the last one last; a list that is changed too.
    reports: list[ReportRecord] = field(default_factory=list)
