"""The parts that the state of a session is made of. Nothing here knows Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pandas as pd

from kanon.base.data_files import read_data
from kanon.base.fingerprint import compute_fingerprint
from kanon.base.formatting import write_count
from kanon.charts.layout import Layout
from kanon.errors import PlanError
from kanon.experiments.kept_comparisons import KeptComparison
from kanon.hierarchy import Hierarchy
from kanon.metrics import PUBLISHED
from kanon.plan import Plan
from kanon.plan_parts import MetricPlan
from kanon.privacy.known_columns import KAmongKnown
from kanon.privacy.model import Model
from kanon.release.common_classes import Release
from kanon.release.context import Context
from kanon.release.drift import DriftFinding
from kanon.report.changes import ReportRecord
from kanon.report.intruder_test import NO_ATTEMPTS, IntruderTest
from kanon.report.origin import Origin
from kanon.report.words import LONGEST, TERMS, Words, parse_words
from kanon.run import Run
from kanon.sources.reading import TableFile
from kanon.strategies import Scope
from kanon.teaching.playlist import Playlist

TEXT_TITLES: Mapping[str, str] = {"title": "Title", **TERMS}  # the label of each text

_LABELS = read_data(__file__, "labels.toml")


@dataclass(frozen=True, eq=False)
class StateSection:
    """A section of a session's state; a session has one of each class and only replaces it."""

    # The labels of the fields that results may depend on.
    LABELS: ClassVar[Mapping[str, str]] = {}

    def keep_for_new_table(self) -> StateSection | None:
        """What stays of it when another table is opened; None if nothing does."""
        return None

    def reset_after_reread(self) -> StateSection:
        return self


@dataclass(frozen=True, eq=False)
class Message(StateSection):
    """The last problem or notice, until something else is tried."""

    problem: str | None = None  # A sentence each
    notice: str | None = None
    problem_at: str = ""  # The control beside which it is shown; else it is at the head


@dataclass(frozen=True, eq=False)
class SharedView(StateSection):
    column: str | None = None  # The column that the pages Hierarchies and Metrics show
    tree_view: Literal["tree", "levels", "edges"] = "tree"
    shown: str = ""  # The weights on the edges: a metric's name, the drawn ones, or none
    uploads: int = 0  # Counts uploads, so that their field is empty again
    link: str = ""  # The link that was opened last, so that a reload does not open it again
    tour: int = 0  # The step of the guided tour that is shown; 0 without one
    playlist: Playlist | None = None  # The one that is open
    slide: int = 0  # The place in it, from 1, of what was opened last; 0 before the start
    on_projector: bool = False  # Whether Learn and Compare are one picture for a projector


@dataclass(frozen=True, eq=False)
class RunSettings(StateSection):
    LABELS: ClassVar[Mapping[str, str]] = _LABELS["RunSettings"]

    # By their names in a plan.
    algorithm: str = "gaa"
    metric: str = "nllm"
    strategy: str = "s1"
    scope: Scope = "table"
    cost: Literal["weighted", "representatives"] = "weighted"
    tie_seed: int | None = None
    k: int = 5
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # Of each algorithm
    suppression: float | None = None  # At most this share of the records; None: the default
    outliers: float | None = None  # At most this share of the records; None: no outliers
    keep_suppressed: bool = False  # Whether suppressed rows stay, blanked
    row_order: Literal["released", "table"] = "released"
    seed: int = 0
    node: Mapping[str, int] | None = None  # The picked level of each quasi-identifier
    sensitive: str | None = None  # The sensitive column that strategies and numbers look at
    models: tuple[Model, ...] = ()  # What every class or the whole release has to meet beside k
    composed: Mapping[str, MetricPlan] = field(default_factory=dict)  # The user's own metrics
    attribute_weights: Mapping[str, float] = field(default_factory=dict)  # 1 where none is set
    # The lowest and the highest released level of a column, where it is bounded; None: the root.
    level_bounds: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)

    @property
    def known(self) -> int | None:
        """How many quasi-identifiers k is about; None for all."""
        return next((m.known for m in self.models if isinstance(m, KAmongKnown)), None)


@dataclass(frozen=True, eq=False)
class CompareSettings(StateSection):
    LABELS: ClassVar[Mapping[str, str]] = _LABELS["CompareSettings"]

    compared: tuple[str, ...] = PUBLISHED
    algorithms: tuple[str, ...] = ()  # None: the one that is chosen
    strategies: tuple[str, ...] = ("s1",)
    scopes: tuple[Scope, ...] = ("table",)
    bands: bool = False  # Whether each line runs under several tie seeds
    k_only: bool = False  # Whether lines leave out the models that Anonymise requires
    rounded: bool = False  # Whether percentages are ranked rounded
    interval: tuple[int, int] | None = None  # The k of areas; None for all that fit
    k_preset: str = "fourteen"  # A name in ``K_PRESETS``
    visible_table: Literal[
        "areas", "places", "alterations", "closeness", "difference", "searches"
    ] = "areas"
    pair: tuple[str, str] = ("", "")  # The names of two lines whose difference is shown
    layout: Layout | None = None  # The panels of the board; None for those that fit


@dataclass(frozen=True, eq=False)
class Purpose(StateSection):
    """What the release is for, how its risk is measured, and what a report says of it."""

    LABELS: ClassVar[Mapping[str, str]] = _LABELS["Purpose"]

    context: Context = field(default_factory=lambda: Context(release="public"))
    population: TableFile | None = None  # An uploaded table, never written anywhere
    population_origin: Origin | None = None
    # The texts of a report, by the names of Words; a text that is too long can be shortened.
    texts: Mapping[str, str] = field(default_factory=dict)
    intruder_test: IntruderTest = NO_ATTEMPTS

    @property
    def counted_population(self) -> pd.DataFrame | None:
        """The population of the Privacy page, unless the attacker knows who is in the table."""
        if self.context.attacker == "prosecutor" or self.population is None:
            return None
        return self.population.table

    def words(self) -> Words:
        for name, text in self.texts.items():
            if len(text) > LONGEST:
                raise PlanError(
                    f"{TEXT_TITLES[name]} has {write_count(len(text))} characters; "
                    f"a report takes up to {write_count(LONGEST)}, so shorten it."
                )
        return parse_words(dict(self.texts), "The report")


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    key: str  # A fingerprint of all that it depends on
    title: str  # What its files are called
    release: Release  # What it shows of each class
    counts: bool = True  # Whether anyone may have got it
    plan: str = ""
    file: tuple[str, tuple[str, str]] | None = None  # Its name, what is hashed, and the hash

    @classmethod
    def from_run(cls, settings: str, title: str, run: Run) -> EarlierRelease:
        plan = run.prepared.plan
        key = compute_fingerprint(settings, plan.privacy, plan.order)
        return cls(key, title, Release.from_run(run))


@dataclass(frozen=True, eq=False)
class SavedConfiguration:
    title: str  # Its name
    plan: Plan  # All that it is, and its hierarchies as they were then
    trees: Mapping[str, Hierarchy]
    shown: bool = True  # Whether comparisons include it
    findings: tuple[DriftFinding, ...] = ()  # What is new for it in another table

    @property
    def fits(self) -> bool:
        return all(finding.kind == "models" for finding in self.findings if finding.stops)


@dataclass(frozen=True, eq=False)
class SavedItems(StateSection):
    """What stays while settings change: saved configurations, comparisons, earlier releases."""

    configurations: tuple[SavedConfiguration, ...] = ()
    deleted_configuration: SavedConfiguration | None = None  # The one that was deleted last
    # The hierarchies that measure all releases: "" for those in use, the name of a saved
    # configuration, None for each release's own.
    measuring_hierarchies: str | None = ""
    earlier_releases: tuple[
        EarlierRelease, ...
    ] = ()  # The releases that were downloaded or written
    comparisons: tuple[KeptComparison, ...] = ()
    deleted_comparison: KeptComparison | None = None  # The one that was deleted last
    # Two lists that are changed: releases just downloaded, and the downloaded reports.
    made: list[EarlierRelease] = field(default_factory=list)
    reports: list[ReportRecord] = field(default_factory=list)
